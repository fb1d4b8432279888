//! The guard for untrusted SQL statements. It limits their view, their rights, their time and their memory.
//!
//! **View.** A statement runs on a copy of the evidence of one namespace ([`snapshot`]). Nothing else is in it, so nothing has to be
//! hidden. The store fills the tables that the statement names, all from one state, and fills a new copy when its state differs.
//!
//! **Rights.** A statement can only read: its connection opens the copy for reading, and the authorizer ([`snapshot`]) allows
//! SELECT, the visible tables and a list of functions.
//!
//! **Time.** SQLite polls every few hundred instructions for the time limit ([`Watch`]). A single instruction can take long,
//! though: sorting is one. So a statement runs in a thread of its own, and its caller waits no longer than the limit. An
//! abandoned statement ends by itself: it gets no more memory, and every function takes linear time ([`functions`]).
//!
//! **Memory.** A counting allocator ([`counting_allocator`](crate::counting_allocator)) bounds each statement, and slots
//! ([`Slot`]) bound the number that run.

mod errors;
mod execute;
mod functions;
mod rights;
mod snapshot;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use crate::cache::lock;
use crate::counting_allocator;
use crate::error::{Result, StoreError};
use crate::untrusted_sql::{LEAST_SQL_BYTES, LONGEST_SQL_TIME, MOST_SQL_BYTES, MOST_SQL_ROWS, SqlQuery, SqlRows};
use snapshot::{Place, Snapshot};

pub(crate) use snapshot::Filling;

/// SQLite memory of a statement beyond that of its copy, in bytes.
const BYTES: usize = 32 << 20;
/// The longest statement, in bytes.
const LONGEST_TEXT: usize = 32 << 10;
/// The longest value or row of a statement, in bytes: four times the longest text of a fragment.
const LONGEST_VALUE: usize = 128 << 10;
/// The most columns.
const COLUMNS: usize = 100;
/// The deepest expression.
const DEPTH: usize = 200;
/// The most instructions of a statement's program.
const INSTRUCTIONS: usize = 25_000;
/// Copies kept for the next statements.
const IDLE: usize = 4;
/// The interval at which `cancelled` is polled.
const CANCEL_INTERVAL: Duration = Duration::from_millis(5);
/// Runs untrusted statements on the evidence of one store.
pub(crate) struct Guard {
    /// The store's file or address.
    path: PathBuf,
    idle: Mutex<Vec<Snapshot>>,
}

impl std::fmt::Debug for Guard {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Guard").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Guard {
    pub(crate) fn new(path: &Path) -> Guard {
        Guard { path: path.to_owned(), idle: Mutex::default() }
    }

    /// Runs a statement on the evidence of a namespace, whose rows `fill` reads from the store.
    pub(crate) fn query(
        self: &Arc<Guard>,
        namespace: &str,
        query: &SqlQuery,
        cancelled: &dyn Fn() -> bool,
        fill: impl Fn(&mut Filling<'_>) -> Result<()>,
    ) -> Result<SqlRows> {
        check(namespace, query)?;
        let (slot, waiter) = Slot::take(&self.caller(namespace), cancelled)?;
        let started = Instant::now();
        let mut snapshot = self.snapshot(namespace)?;
        let mut filling = Filling::new(&mut snapshot, &query.sql, cancelled);
        if let Err(error) = fill(&mut filling) {
            if !filling.is_full() || snapshot.place == Place::File {
                return Err(error);
            }
            snapshot = Snapshot::open(namespace, Place::File)?;
            fill(&mut Filling::new(&mut snapshot, &query.sql, cancelled))?;
        }
        let watch = snapshot.watch.clone();
        let number = watch.begin(query.timeout);
        let (guard, own) = (self.clone(), query.clone());
        let (sender, receiver) = sync_channel(1);
        std::thread::Builder::new()
            .name("tamis-sql".to_owned())
            .spawn(move || {
                counting_allocator::limit_this_thread(BYTES, slot.abandoned());
                let (result, sound) = execute::run(&snapshot, &own, &guard.path);
                snapshot.watch.end();
                // Its memory is free before the next statement starts.
                if sound {
                    guard.keep(snapshot)
                } else {
                    drop(snapshot)
                }
                counting_allocator::return_memory();
                drop(slot);
                // The caller may have stopped waiting.
                let _ = sender.send(result);
            })
            .map_err(|error| StoreError::io(&self.path, "starting a thread", error))?;
        let stop = || {
            waiter.abandon();
            watch.stop(number);
        };
        let mut rows = wait(&receiver, query.timeout, cancelled, &stop)?;
        rows.elapsed_ms = started.elapsed().as_secs_f64() * 1e3;
        Ok(rows)
    }

    /// Identifies the caller, as far as the guard knows it.
    fn caller(&self, namespace: &str) -> String {
        format!("{}\n{namespace}", self.path.display())
    }

    /// Returns a copy: an idle one, or a new one without rows.
    fn snapshot(&self, namespace: &str) -> Result<Snapshot> {
        let mut idle = lock(&self.idle);
        match idle.iter().rposition(|snapshot| snapshot.namespace == namespace) {
            Some(at) => Ok(idle.remove(at)),
            None => Snapshot::open(namespace, Place::Memory),
        }
    }

    fn keep(&self, snapshot: Snapshot) {
        let mut idle = lock(&self.idle);
        if idle.len() == IDLE {
            idle.remove(0);
        }
        idle.push(snapshot);
    }
}

/// Refuses statements and limits that need not reach SQLite.
fn check(namespace: &str, query: &SqlQuery) -> Result<()> {
    let refused = |error: String, hint: &str| Err(errors::refusal(error, hint));
    if namespace.contains('\0') {
        return Err(StoreError::Invalid { what: "namespace".to_owned(), reason: "holds a NUL character".to_owned() });
    }
    if query.limit == 0 || query.limit > MOST_SQL_ROWS {
        let error = format!("limit = {}: must be from 1 to {MOST_SQL_ROWS}", query.limit);
        return refused(error, "aggregate, or read on with LIMIT and OFFSET");
    }
    if query.timeout.is_zero() || query.timeout > LONGEST_SQL_TIME {
        let error =
            format!("timeout = {} ms: must be from 1 to {}", query.timeout.as_millis(), LONGEST_SQL_TIME.as_millis());
        return refused(error, "narrow down what is read in place of waiting longer");
    }
    if !(LEAST_SQL_BYTES..=MOST_SQL_BYTES).contains(&query.max_bytes) {
        let error = format!("max_bytes = {}: must be from {LEAST_SQL_BYTES} to {MOST_SQL_BYTES}", query.max_bytes);
        return refused(error, "read on with LIMIT and OFFSET where an answer is too large");
    }
    if query.sql.len() > LONGEST_TEXT {
        let error = format!("the statement is {} bytes long, at most {LONGEST_TEXT} are allowed", query.sql.len());
        return refused(error, "pass long lists as a JSON array in a parameter and read it with json_each(:parameter)");
    }
    if query.sql.contains('\0') {
        return refused("the statement holds a NUL character".to_owned(), "leave it out");
    }
    Ok(())
}

/// Waits for the rows a tenth longer than the time limit, then stops the statement.
fn wait(
    receiver: &Receiver<Result<SqlRows>>,
    timeout: Duration,
    cancelled: &dyn Fn() -> bool,
    stop: &dyn Fn(),
) -> Result<SqlRows> {
    let give_up = Instant::now() + timeout + timeout / 10;
    loop {
        let left = give_up.saturating_duration_since(Instant::now());
        match receiver.recv_timeout(left.min(CANCEL_INTERVAL)) {
            Ok(result) => return result,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(StoreError::Sql { error: "the statement failed".to_owned(), hint: None });
            }
            Err(RecvTimeoutError::Timeout) if left.is_zero() => {
                stop();
                return Err(errors::ended(Ended::Time, timeout));
            }
            Err(RecvTimeoutError::Timeout) if cancelled() => {
                stop();
                return Err(errors::ended(Ended::Cancelled, timeout));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

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
        errors::refusal(error, "try again in a few seconds")
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
    Memory = 2,
    Length = 3,
    Cancelled = 4,
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
            held: AtomicU64::new(0),
            runs: AtomicU64::new(0),
            stopped: AtomicU64::new(0),
            ended: AtomicU8::new(0),
            untrusted: AtomicBool::new(false),
            denied: Mutex::default(),
        }
    }

    /// Starts an untrusted statement and returns its number. The rules apply until [`end`](Self::end).
    fn begin(&self, timeout: Duration) -> u64 {
        let until = self.created.elapsed().saturating_add(timeout);
        self.until.store(u64::try_from(until.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
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
        let now = u64::try_from(self.created.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let why = if self.stopped.load(Ordering::Relaxed) == self.runs.load(Ordering::Relaxed) {
            Ended::Cancelled
        } else if now >= self.until.load(Ordering::Relaxed) {
            Ended::Time
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
        [Ended::Time, Ended::Memory, Ended::Length, Ended::Cancelled]
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
