//! The guard for untrusted SQL statements. It limits their view, their rights, their time and their memory.
//!
//! **View.** A statement sees the evidence of one namespace. A [`Confined`] connection has an empty database of its own in
//! memory. The index is attached to it, for reading, as a schema whose name holds 128 random bits and appears in no table,
//! message or plan. Temporary views, which shadow every other name, stand for the visible tables of the namespace. Every
//! other name in the index or in SQLite's modules is shadowed by a view that cannot be used. So no name leads to a table of
//! the index: without a schema it is a view, and the schema cannot be named. The authorizer alone would not suffice, because
//! the view that it reports as the reader is any name in FROM, and a table expression of the same name would pass for it.
//!
//! **Rights.** A statement can only read: the connection is read-only, and the authorizer ([`authorize`]) allows SELECT, the
//! visible tables and a list of functions.
//!
//! **Time.** SQLite polls every few hundred instructions for the time limit ([`watch`]). A single instruction can take long,
//! though: sorting is one. So a statement runs in a thread of its own, and its caller waits no longer than the limit. An
//! abandoned statement ends by itself: it gets no more memory, and every function takes linear time ([`allowed`]).
//!
//! **Memory.** A counting allocator ([`counting_allocator`](crate::counting_allocator)) bounds each statement, and slots
//! ([`slots`]) bound the number that run.

mod allowed;
mod authorize;
pub(crate) mod collect;
mod connection;
pub(crate) mod errors;
mod execute;
mod functions;
mod math;
mod pattern;
pub(crate) mod slots;
#[cfg(test)]
mod tests;
pub(crate) mod values;
pub(crate) mod watch;
#[cfg(test)]
mod worst_case_tests;

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use self::connection::Confined;
use self::slots::Slot;
use self::watch::Ended;
use crate::counting_allocator;
use crate::error::{Result, StoreError};
use crate::mutex::lock;
use crate::sql::{LEAST_SQL_BYTES, LONGEST_SQL_TIME, MOST_SQL_BYTES, MOST_SQL_ROWS, SqlQuery, SqlRows};

/// SQLite memory of a statement beyond that of its connection, in bytes.
const BYTES: usize = 32 << 20;
/// The longest statement, in bytes.
const LONGEST_TEXT: usize = 32 << 10;
/// The longest value or row of a statement, in bytes: four times the longest text of a fragment.
pub(crate) const LONGEST_VALUE: usize = 128 << 10;
/// The most columns.
pub(crate) const COLUMNS: usize = 100;
/// The deepest expression.
const DEPTH: usize = 200;
/// The most instructions of a statement's program.
const INSTRUCTIONS: usize = 25_000;
/// Connections kept for the next statement.
const IDLE: usize = 4;
/// The interval at which `cancelled` is polled.
pub(crate) const CANCEL_INTERVAL: Duration = Duration::from_millis(5);
/// Instructions of a statement: more than a fast machine executes within the longest time limit.
const STEPS: u64 = 1_000_000_000;

/// Limits that the caller cannot set.
#[derive(Debug, Clone, Copy)]
struct Limits {
    steps: u64,
}

/// Runs untrusted statements on one database.
pub(in crate::sqlite) struct Guard {
    path: PathBuf,
    immutable: bool,
    limits: Limits,
    idle: Mutex<Vec<(String, Confined)>>,
}

impl std::fmt::Debug for Guard {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Guard").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Guard {
    /// Makes a guard that threads can share.
    pub(in crate::sqlite) fn shared(path: &Path, immutable: bool) -> Arc<Guard> {
        Arc::new(Guard::new(path, immutable))
    }

    fn new(path: &Path, immutable: bool) -> Guard {
        Guard { path: path.to_owned(), immutable, limits: Limits { steps: STEPS }, idle: Mutex::default() }
    }

    /// Runs a statement on the evidence of a namespace.
    pub(in crate::sqlite) fn query(
        self: &Arc<Guard>,
        namespace: &str,
        query: &SqlQuery,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<SqlRows> {
        check(namespace, query)?;
        let (slot, waiter) = Slot::take(&self.caller(namespace), cancelled)?;
        let started = Instant::now();
        let confined = self.connection(namespace)?;
        let watch = confined.watch.clone();
        let number = watch.begin(query.timeout, &self.limits);
        let (guard, own, namespace) = (self.clone(), query.clone(), namespace.to_owned());
        let (sender, receiver) = sync_channel(1);
        std::thread::Builder::new()
            .name("tamis-sql".to_owned())
            .spawn(move || {
                counting_allocator::limit_this_thread(BYTES, slot.abandoned());
                let (result, sound) = execute::run(&confined, &own, &guard.path);
                confined.watch.end();
                if sound && confined.rollback().is_ok() {
                    guard.keep(namespace, confined);
                }
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

    /// Returns a connection that has begun to read: an idle one, or a new one.
    fn connection(&self, namespace: &str) -> Result<Confined> {
        let kept = {
            let mut idle = lock(&self.idle);
            idle.iter().position(|(of, _)| of == namespace).map(|at| idle.swap_remove(at).1)
        };
        if let Some(confined) = kept
            && confined.begin().is_ok_and(|current| current)
        {
            return Ok(confined);
        }
        let failed = |error| StoreError::sqlite(&self.path, error);
        let confined = Confined::open(&self.path, self.immutable, namespace).map_err(failed)?;
        if confined.begin().map_err(failed)? {
            return Ok(confined);
        }
        Err(StoreError::Busy { path: self.path.clone(), holder: "its tables are being changed".to_owned() })
    }

    fn keep(&self, namespace: String, confined: Confined) {
        let mut idle = lock(&self.idle);
        if idle.len() == IDLE {
            idle.remove(0);
        }
        idle.push((namespace, confined));
    }
}

/// Refuses statements and limits that need not reach SQLite.
pub(crate) fn check(namespace: &str, query: &SqlQuery) -> Result<()> {
    let refused = |error: String, hint: &str| Err(StoreError::Sql { error, hint: Some(hint.to_owned()) });
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
