//! Decides when a statement has to end.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::{BYTES, Limits};
use crate::counting_allocator;
use crate::mutex::lock;

/// SQLite polls after this many instructions. Reading the clock each time takes about a hundredth of their time.
pub(super) const STRIDE: i32 = 200;

/// The reason a statement was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Ended {
    Time = 1,
    Steps = 2,
    Memory = 3,
    Length = 4,
    Cancelled = 5,
}

/// A name that the statement may not use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Denied {
    Table(String),
    Function(String),
    Action(&'static str),
}

/// The state of the statement on a connection, shared by the thread that runs it and the caller that waits.
#[derive(Debug)]
pub(super) struct Watch {
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
    pub(super) fn new() -> Watch {
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

    /// Ends the untrusted statement.
    pub(super) fn end(&self) {
        self.untrusted.store(false, Ordering::Relaxed);
    }

    /// Returns `true` while an untrusted statement runs.
    pub(super) fn is_untrusted(&self) -> bool {
        self.untrusted.load(Ordering::Relaxed)
    }

    /// Stops the statement of this number, unless the connection runs another one by now.
    pub(super) fn stop(&self, run: u64) {
        self.stopped.store(run, Ordering::Relaxed);
    }

    /// Returns `true` if the statement has to stop. Called every [`STRIDE`] instructions, and by long-running
    /// functions.
    pub(super) fn is_over(&self) -> bool {
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
    pub(super) fn ended(&self) -> Option<Ended> {
        [Ended::Time, Ended::Steps, Ended::Memory, Ended::Length, Ended::Cancelled]
            .into_iter()
            .find(|&why| why as u8 == self.ended.load(Ordering::Relaxed))
    }

    /// Remembers the first denial.
    pub(super) fn deny(&self, what: Denied) {
        lock(&self.denied).get_or_insert(what);
    }

    /// Returns the first denial.
    pub(super) fn denied(&self) -> Option<Denied> {
        lock(&self.denied).clone()
    }
}
