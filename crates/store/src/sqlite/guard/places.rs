//! How many statements run at a time in the whole process, and whose.
//!
//! A statement whose time is over is left behind: who asked waits no longer, and its thread ends as soon as SQLite asks again
//! whether to go on. Such a thread gives its place to the next statement, so that long instructions keep nobody out. It still
//! counts, for one asker and for all, since it takes memory and a core: whoever left too many behind waits until some have
//! ended, and others do not.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use super::CANCEL_INTERVAL;
use crate::error::{Result, StoreError};
use crate::sqlite::lock;

/// The most statements that somebody waits for, at a time.
pub(super) const PLACES: usize = 4;
/// The most statements that one asker may have left behind and start another.
pub(super) const LEFT_BY_ONE: usize = 4;
/// The same for all askers together.
pub(super) const LEFT_BY_ALL: usize = 3 * LEFT_BY_ONE;
/// How long one waits for a place.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

static THREADS: Mutex<Threads> = Mutex::new(Threads { awaited: 0, left: BTreeMap::new() });
static FREED: Condvar = Condvar::new();

/// The threads that run statements.
#[derive(Debug)]
struct Threads {
    /// How many of them somebody waits for.
    awaited: usize,
    /// How many were left behind and go on, by asker.
    left: BTreeMap<String, usize>,
}

/// What there is no place for.
enum Full {
    Places,
    LeftByOne(usize),
    LeftByAll(usize),
}

impl Threads {
    fn full(&self, asker: &str) -> Option<Full> {
        let of_one = self.left.get(asker).copied().unwrap_or(0);
        let of_all: usize = self.left.values().sum();
        if self.awaited >= PLACES {
            Some(Full::Places)
        } else if of_one >= LEFT_BY_ONE {
            Some(Full::LeftByOne(of_one))
        } else if of_all >= LEFT_BY_ALL {
            Some(Full::LeftByAll(of_all))
        } else {
            None
        }
    }
}

impl Full {
    fn error(&self) -> StoreError {
        let error = match self {
            Full::Places => format!("{PLACES} other statements are running, and none of them ended in time"),
            Full::LeftByOne(left) => {
                format!("{left} of your statements ran out of time and have not ended yet")
            }
            Full::LeftByAll(left) => format!("{left} statements ran out of time and have not ended yet"),
        };
        StoreError::Sql { error, hint: Some("try again in a few seconds".to_owned()) }
    }
}

/// What becomes of a thread; changed only while [`THREADS`] is locked.
const AWAITED: u8 = 0;
const LEFT: u8 = 1;
const ENDED: u8 = 2;

#[derive(Debug)]
struct Seat {
    asker: String,
    state: AtomicU8,
}

/// The right to run a statement, until dropped. The thread that runs it has it.
#[derive(Debug)]
pub(super) struct Place(Arc<Seat>);

/// The other end of a [`Place`], for the one who waits.
#[derive(Debug)]
pub(super) struct Waiting(Arc<Seat>);

impl Place {
    /// Waits for one.
    pub(super) fn take(asker: &str, cancelled: &dyn Fn() -> bool) -> Result<(Place, Waiting)> {
        let give_up = Instant::now() + LONGEST_WAIT;
        let mut threads = lock(&THREADS);
        while let Some(full) = threads.full(asker) {
            let left = give_up.saturating_duration_since(Instant::now());
            if left.is_zero() || cancelled() {
                return Err(full.error());
            }
            let waited = FREED.wait_timeout(threads, left.min(CANCEL_INTERVAL));
            threads = waited.unwrap_or_else(std::sync::PoisonError::into_inner).0;
        }
        threads.awaited += 1;
        let seat = Arc::new(Seat { asker: asker.to_owned(), state: AtomicU8::new(AWAITED) });
        Ok((Place(seat.clone()), Waiting(seat)))
    }

    /// Tells whether nobody waits for the statement any more.
    pub(super) fn left(&self) -> impl Fn() -> bool + 'static {
        let seat = self.0.clone();
        move || seat.state.load(Ordering::Relaxed) == LEFT
    }
}

impl Waiting {
    /// Waits no longer: the place is free for the next, and the thread is one that was left behind.
    pub(super) fn leave(&self) {
        let mut threads = lock(&THREADS);
        if self.0.state.load(Ordering::Relaxed) == AWAITED {
            self.0.state.store(LEFT, Ordering::Relaxed);
            threads.awaited -= 1;
            *threads.left.entry(self.0.asker.clone()).or_default() += 1;
        }
        drop(threads);
        FREED.notify_all();
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut threads = lock(&THREADS);
        if self.0.state.swap(ENDED, Ordering::Relaxed) == LEFT {
            if let Some(left) = threads.left.get_mut(&self.0.asker) {
                *left -= 1;
            }
            threads.left.retain(|_, left| *left > 0);
        } else {
            threads.awaited -= 1;
        }
        drop(threads);
        FREED.notify_all();
    }
}
