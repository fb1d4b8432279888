//! The guard for untrusted SQL statements. It limits their view, their rights, their time and their memory.
//!
//! **View.** A statement runs on a copy of the evidence of one namespace ([`snapshot`]). Nothing else is in it, so nothing has to be
//! hidden. The store fills the tables that the statement names, all from one state, and fills a new copy when its state differs.
//!
//! **Rights.** A statement can only read: its connection opens the copy for reading, and the authorizer ([`execute`]) allows
//! SELECT, the visible tables and a list of functions.
//!
//! **Time.** SQLite polls every few hundred instructions for the time limit ([`limits`]). A single instruction can take long,
//! though: sorting is one. So a statement runs in a thread of its own, and its caller waits no longer than the limit. An
//! abandoned statement ends by itself: it gets no more memory, and every function takes linear time ([`functions`]).
//!
//! **Memory.** A counting allocator ([`counting_allocator`](crate::counting_allocator)) bounds each statement, and slots
//! ([`limits`]) bound the number that run.

mod errors;
mod execute;
mod functions;
mod limits;
mod snapshot;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::counting_allocator;
use crate::error::{Result, StoreError};
use crate::lock::lock;
use crate::sql::{LEAST_SQL_BYTES, LONGEST_SQL_TIME, MOST_SQL_BYTES, MOST_SQL_ROWS, SqlQuery, SqlRows};
use limits::{Ended, Slot};
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
/// Instructions of a statement: more than a fast machine executes within the longest time limit.
const STEPS: u64 = 1_000_000_000;

/// Limits that the caller cannot set.
#[derive(Debug, Clone, Copy)]
struct Limits {
    steps: u64,
}

/// Runs untrusted statements on the evidence of one store.
pub(crate) struct Guard {
    /// The store's file or address.
    path: PathBuf,
    limits: Limits,
    idle: Mutex<Vec<Snapshot>>,
}

impl std::fmt::Debug for Guard {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Guard").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Guard {
    pub(crate) fn new(path: &Path) -> Guard {
        Guard { path: path.to_owned(), limits: Limits { steps: STEPS }, idle: Mutex::default() }
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
        let number = watch.begin(query.timeout, &self.limits);
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
