//! When a statement has to end.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::{BYTES, Limits, memory};
use crate::sqlite::lock;

/// SQLite asks after so many instructions whether to go on. The clock is read each time, which takes about a hundredth of
/// what the instructions take.
pub(super) const STRIDE: i32 = 200;

/// What ended a statement before its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Ended {
    Time = 1,
    Steps = 2,
    Memory = 3,
    Length = 4,
    Cancelled = 5,
}

/// Something that the statement named and may not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Denied {
    Table(String),
    Function(String),
    Action(&'static str),
}

/// What is known of the statement that a connection runs, seen by the thread that runs it and the one that waits for it.
#[derive(Debug)]
pub(super) struct Watch {
    born: Instant,
    /// When it has to end, in nanoseconds since `born`.
    until: AtomicU64,
    steps: AtomicU64,
    most_steps: AtomicU64,
    /// What SQLite held when it began.
    held: AtomicU64,
    /// How many statements have begun, and the number of the last one that is to stop.
    runs: AtomicU64,
    stopped: AtomicU64,
    ended: AtomicU8,
    foreign: AtomicBool,
    denied: Mutex<Option<Denied>>,
}

impl Watch {
    pub(super) fn new() -> Watch {
        Watch {
            born: Instant::now(),
            until: AtomicU64::new(0),
            steps: AtomicU64::new(0),
            most_steps: AtomicU64::new(0),
            held: AtomicU64::new(0),
            runs: AtomicU64::new(0),
            stopped: AtomicU64::new(0),
            ended: AtomicU8::new(0),
            foreign: AtomicBool::new(false),
            denied: Mutex::default(),
        }
    }

    /// A statement of somebody else's begins; gives its number. Until [`end`](Self::end), what the connection does is held to
    /// the rules.
    pub(super) fn begin(&self, timeout: Duration, limits: &Limits) -> u64 {
        let until = self.born.elapsed().saturating_add(timeout);
        self.until.store(u64::try_from(until.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
        self.steps.store(0, Ordering::Relaxed);
        self.most_steps.store(limits.steps, Ordering::Relaxed);
        self.held.store(u64::try_from(memory::held_by_process()).unwrap_or(0), Ordering::Relaxed);
        self.ended.store(0, Ordering::Relaxed);
        *lock(&self.denied) = None;
        self.foreign.store(true, Ordering::Relaxed);
        self.runs.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// What the connection does from here on is our own.
    pub(super) fn end(&self) {
        self.foreign.store(false, Ordering::Relaxed);
    }

    /// Whether a statement of somebody else's runs.
    pub(super) fn is_foreign(&self) -> bool {
        self.foreign.load(Ordering::Relaxed)
    }

    /// Nobody waits for the statement of this number any more. The connection may be at another one by now.
    pub(super) fn stop(&self, run: u64) {
        self.stopped.store(run, Ordering::Relaxed);
    }

    /// Asked every [`STRIDE`] instructions, and by functions that have much to do: whether to end the statement.
    pub(super) fn is_over(&self) -> bool {
        if !self.is_foreign() {
            return false;
        }
        let steps = self.steps.fetch_add(STRIDE as u64, Ordering::Relaxed);
        let now = u64::try_from(self.born.elapsed().as_nanos()).unwrap_or(u64::MAX);
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

    /// Where SQLite was in use before its allocator could be wrapped, what it holds in all is the only measure there is.
    fn takes_too_much(&self) -> bool {
        !memory::is_counted()
            && u64::try_from(memory::held_by_process())
                .is_ok_and(|held| held > self.held.load(Ordering::Relaxed) + BYTES as u64)
    }

    /// What ended the statement, when it was this.
    pub(super) fn ended(&self) -> Option<Ended> {
        [Ended::Time, Ended::Steps, Ended::Memory, Ended::Length, Ended::Cancelled]
            .into_iter()
            .find(|&why| why as u8 == self.ended.load(Ordering::Relaxed))
    }

    /// Keeps the first thing that was denied.
    pub(super) fn deny(&self, what: Denied) {
        lock(&self.denied).get_or_insert(what);
    }

    /// The first thing that was denied.
    pub(super) fn denied(&self) -> Option<Denied> {
        lock(&self.denied).clone()
    }
}
