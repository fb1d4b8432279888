//! Slots for statements: the number that run at once in the process, for each caller and in all.
//!
//! A statement that exceeds its time is abandoned: its caller stops waiting, and its thread ends as soon as SQLite polls
//! again. An abandoned thread gives its slot to the next statement, so that long instructions block nobody. It still takes
//! memory and a core, so abandoned threads are counted, for each caller and in all: a caller with too many waits until some
//! have ended, and other callers do not.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use super::CANCEL_INTERVAL;
use crate::error::{Result, StoreError};
use crate::mutex::lock;

/// Statements with a waiting caller that run at once.
pub(super) const SLOTS: usize = 4;
/// Abandoned statements of one caller that still allow it to start another.
pub(super) const ABANDONED_BY_ONE: usize = 4;
/// The same for all callers together. A caller that abandons everything it may run at once stays below.
pub(super) const ABANDONED_BY_ALL: usize = ABANDONED_BY_ONE + SLOTS;
/// The longest wait for a slot.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

static THREADS: Mutex<Threads> = Mutex::new(Threads { awaited: 0, abandoned: BTreeMap::new() });
static FREED: Condvar = Condvar::new();

/// The threads that run statements.
#[derive(Debug)]
struct Threads {
    /// The number with a waiting caller.
    awaited: usize,
    /// The number of abandoned ones that still run, by caller.
    abandoned: BTreeMap<String, usize>,
}

/// The limit that was reached.
enum Full {
    Slots,
    AbandonedByOne(usize),
    AbandonedByAll(usize),
}

impl Threads {
    fn full(&self, caller: &str) -> Option<Full> {
        let of_one = self.abandoned.get(caller).copied().unwrap_or(0);
        let of_all: usize = self.abandoned.values().sum();
        if self.awaited >= SLOTS {
            Some(Full::Slots)
        } else if of_one >= ABANDONED_BY_ONE {
            Some(Full::AbandonedByOne(of_one))
        } else if of_all >= ABANDONED_BY_ALL {
            Some(Full::AbandonedByAll(of_all))
        } else {
            None
        }
    }
}

impl Full {
    fn error(&self) -> StoreError {
        let error = match self {
            Full::Slots => format!("{SLOTS} other statements are running, and none of them ended in time"),
            Full::AbandonedByOne(running) => {
                format!("{running} of your statements ran out of time and have not ended yet")
            }
            Full::AbandonedByAll(running) => format!("{running} statements ran out of time and have not ended yet"),
        };
        StoreError::Sql { error, hint: Some("try again in a few seconds".to_owned()) }
    }
}

/// States of a thread, changed only while [`THREADS`] is locked.
const AWAITED: u8 = 0;
const ABANDONED: u8 = 1;
const ENDED: u8 = 2;

#[derive(Debug)]
struct SlotState {
    caller: String,
    state: AtomicU8,
}

/// The right to run a statement until dropped, owned by the thread that runs it.
#[derive(Debug)]
pub(super) struct Slot(Arc<SlotState>);

/// The other end of a [`Slot`], owned by the waiting caller.
#[derive(Debug)]
pub(super) struct SlotWaiter(Arc<SlotState>);

impl Slot {
    /// Waits for a slot.
    pub(super) fn take(caller: &str, cancelled: &dyn Fn() -> bool) -> Result<(Slot, SlotWaiter)> {
        let give_up = Instant::now() + LONGEST_WAIT;
        let mut threads = lock(&THREADS);
        while let Some(full) = threads.full(caller) {
            let left = give_up.saturating_duration_since(Instant::now());
            if left.is_zero() || cancelled() {
                return Err(full.error());
            }
            let waited = FREED.wait_timeout(threads, left.min(CANCEL_INTERVAL));
            threads = waited.unwrap_or_else(std::sync::PoisonError::into_inner).0;
        }
        threads.awaited += 1;
        let state = Arc::new(SlotState { caller: caller.to_owned(), state: AtomicU8::new(AWAITED) });
        Ok((Slot(state.clone()), SlotWaiter(state)))
    }

    /// Returns a test that is true once the caller has stopped waiting.
    pub(super) fn abandoned(&self) -> impl Fn() -> bool + 'static {
        let state = self.0.clone();
        move || state.state.load(Ordering::Relaxed) == ABANDONED
    }
}

impl SlotWaiter {
    /// Abandons the statement, which frees its slot for the next one.
    pub(super) fn abandon(&self) {
        let mut threads = lock(&THREADS);
        if self.0.state.load(Ordering::Relaxed) == AWAITED {
            self.0.state.store(ABANDONED, Ordering::Relaxed);
            threads.awaited -= 1;
            *threads.abandoned.entry(self.0.caller.clone()).or_default() += 1;
        }
        drop(threads);
        FREED.notify_all();
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut threads = lock(&THREADS);
        if self.0.state.swap(ENDED, Ordering::Relaxed) == ABANDONED {
            if let Some(count) = threads.abandoned.get_mut(&self.0.caller) {
                *count -= 1;
            }
            threads.abandoned.retain(|_, count| *count > 0);
        } else {
            threads.awaited -= 1;
        }
        drop(threads);
        FREED.notify_all();
    }
}
