//! The limits of statements: slots for those that run at once, and the watch that ends one.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use super::{BYTES, CANCEL_INTERVAL, Limits};
use crate::counting_allocator;
use crate::error::{Result, StoreError};
use crate::lock::lock;

/// Statements with a waiting caller that run at once.
pub(crate) const SLOTS: usize = 4;
/// Abandoned statements of one caller that still allow it to start another.
pub(crate) const ABANDONED_BY_ONE: usize = 4;
/// The same for all callers together. A caller that abandons everything it may run at once stays below.
pub(crate) const ABANDONED_BY_ALL: usize = ABANDONED_BY_ONE + SLOTS;
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
pub(crate) struct Slot(Arc<SlotState>);

/// The other end of a [`Slot`], owned by the waiting caller.
#[derive(Debug)]
pub(crate) struct SlotWaiter(Arc<SlotState>);

impl Slot {
    pub(crate) fn take(caller: &str, cancelled: &dyn Fn() -> bool) -> Result<(Slot, SlotWaiter)> {
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
    pub(crate) fn abandoned(&self) -> impl Fn() -> bool + 'static {
        let state = self.0.clone();
        move || state.state.load(Ordering::Relaxed) == ABANDONED
    }
}

impl SlotWaiter {
    /// Abandons the statement, which frees its slot for the next one.
    pub(crate) fn abandon(&self) {
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

/// SQLite polls after this many instructions. Reading the clock each time takes about a hundredth of their time.
pub(crate) const STRIDE: i32 = 200;

/// The reason a statement was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Ended {
    Time = 1,
    Steps = 2,
    Memory = 3,
    Length = 4,
    Cancelled = 5,
}

/// A name that the statement may not use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Denied {
    Table(String),
    Function(String),
    Action(&'static str),
}

/// The state of the statement on a connection, shared by the thread that runs it and the caller that waits.
#[derive(Debug)]
pub(crate) struct Watch {
    created: Instant,
    /// The time limit, in nanoseconds since `created`.
    until: AtomicU64,
    steps: AtomicU64,
    most_steps: AtomicU64,
    /// SQLite's memory at its start.
    held: AtomicU64,
    /// The number of statements so far, and the number of the last one to stop.
    runs: AtomicU64,
    stopped: AtomicU64,
    ended: AtomicU8,
    untrusted: AtomicBool,
    denied: Mutex<Option<Denied>>,
}

impl Watch {
    pub(crate) fn new() -> Watch {
        Watch {
            created: Instant::now(),
            until: AtomicU64::new(0),
            steps: AtomicU64::new(0),
            most_steps: AtomicU64::new(0),
            held: AtomicU64::new(0),
            runs: AtomicU64::new(0),
            stopped: AtomicU64::new(0),
            ended: AtomicU8::new(0),
            untrusted: AtomicBool::new(false),
            denied: Mutex::default(),
        }
    }

    /// Starts an untrusted statement and returns its number. The rules apply until [`end`](Self::end).
    pub(super) fn begin(&self, timeout: Duration, limits: &Limits) -> u64 {
        let until = self.created.elapsed().saturating_add(timeout);
        self.until.store(u64::try_from(until.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
        self.steps.store(0, Ordering::Relaxed);
        self.most_steps.store(limits.steps, Ordering::Relaxed);
        self.held.store(u64::try_from(counting_allocator::held_by_process()).unwrap_or(0), Ordering::Relaxed);
        self.ended.store(0, Ordering::Relaxed);
        *lock(&self.denied) = None;
        self.untrusted.store(true, Ordering::Relaxed);
        self.runs.fetch_add(1, Ordering::Relaxed) + 1
    }

    pub(crate) fn end(&self) {
        self.untrusted.store(false, Ordering::Relaxed);
    }

    /// Returns `true` while an untrusted statement runs.
    pub(crate) fn is_untrusted(&self) -> bool {
        self.untrusted.load(Ordering::Relaxed)
    }

    /// Stops the statement of this number, unless the connection runs another one by now.
    pub(crate) fn stop(&self, run: u64) {
        self.stopped.store(run, Ordering::Relaxed);
    }

    /// Returns `true` if the statement has to stop. Called every [`STRIDE`] instructions, and by long-running
    /// functions.
    pub(crate) fn is_over(&self) -> bool {
        if !self.is_untrusted() {
            return false;
        }
        let steps = self.steps.fetch_add(STRIDE as u64, Ordering::Relaxed);
        let now = u64::try_from(self.created.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let why = if self.stopped.load(Ordering::Relaxed) == self.runs.load(Ordering::Relaxed) {
            Ended::Cancelled
        } else if now >= self.until.load(Ordering::Relaxed) {
            Ended::Time
        } else if steps > self.most_steps.load(Ordering::Relaxed) {
            Ended::Steps
        } else if self.takes_too_much() {
            Ended::Memory
        } else {
            return false;
        };
        self.ended.store(why as u8, Ordering::Relaxed);
        true
    }

    /// Checks SQLite's total memory, the only measure where SQLite was in use before its allocator could be wrapped.
    fn takes_too_much(&self) -> bool {
        !counting_allocator::is_counted()
            && u64::try_from(counting_allocator::held_by_process())
                .is_ok_and(|held| held > self.held.load(Ordering::Relaxed) + BYTES as u64)
    }

    /// Returns the reason the statement was stopped, if it was.
    pub(crate) fn ended(&self) -> Option<Ended> {
        [Ended::Time, Ended::Steps, Ended::Memory, Ended::Length, Ended::Cancelled]
            .into_iter()
            .find(|&why| why as u8 == self.ended.load(Ordering::Relaxed))
    }

    pub(crate) fn deny(&self, what: Denied) {
        lock(&self.denied).get_or_insert(what);
    }

    pub(crate) fn denied(&self) -> Option<Denied> {
        lock(&self.denied).clone()
    }
}
