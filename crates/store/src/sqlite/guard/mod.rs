//! Statements that somebody else wrote: what they can see, how long they run, what they take.
//!
//! **What they can see** is the evidence of one namespace, and that by what they can name. A [`Confined`] connection has an
//! empty database of its own in memory. The index is attached to it, for reading, as a schema whose name holds 128 random bits
//! and stands in no table, no message and no plan. Temporary views, which come before any other name, stand for the visible
//! tables, each of one namespace; and for every other name that the index or SQLite's modules have, a view that cannot be
//! used. So no name leads to a table of the index: without a schema it is a view, and the schema cannot be named. (The
//! authorizer alone would not do. The view that it names as the reader is whatever stands in FROM, so that a table
//! expression of the same name would pass for it.)
//!
//! **What they can do** is read: the connection is opened for reading, and the authorizer ([`authorize`]) knows SELECT, the
//! visible tables and a list of functions.
//!
//! **How long they run** holds by two things. SQLite asks every few hundred instructions whether the time is over
//! ([`watch`]). An instruction can be long, though: sorting is a single one. So a statement runs in a thread of its own, and
//! who asked waits for it as long as was said and no longer. What is left behind ends by itself: it gets no more memory, and
//! no function takes more than linear time ([`allowed`]).
//!
//! **What they take** is bounded by an allocator that counts ([`memory`]), and by how many run at a time and how many may be
//! left behind ([`places`]).

mod allowed;
mod authorize;
mod connection;
mod errors;
mod functions;
mod math;
mod memory;
mod pattern;
mod places;
mod run;
#[cfg(test)]
mod tests;
mod values;
mod watch;
#[cfg(test)]
mod worst;

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use self::connection::Confined;
use self::places::Place;
use self::watch::Ended;
use super::lock;
use crate::error::{Result, StoreError};
use crate::sql::{LEAST_SQL_BYTES, LONGEST_SQL_TIME, MOST_SQL_BYTES, MOST_SQL_ROWS, SqlQuery, SqlRows};

pub(crate) use memory::install as count_memory;

/// What a statement may take of SQLite's memory beyond what its connection holds, in bytes.
const BYTES: usize = 32 << 20;
/// The longest statement, in bytes.
const LONGEST_TEXT: usize = 32 << 10;
/// The longest value or row that a statement can make, in bytes: four times the longest text of a fragment.
const LONGEST_VALUE: usize = 128 << 10;
/// The most columns.
const COLUMNS: usize = 100;
/// The deepest expression.
const DEPTH: usize = 200;
/// The most instructions of a statement's program.
const INSTRUCTIONS: usize = 25_000;
/// Connections kept for the next statement.
const IDLE: usize = 4;
/// How often `cancelled` is asked.
const CANCEL_INTERVAL: Duration = Duration::from_millis(5);
/// Instructions that a statement may take: more than a fast machine does in the longest time.
const STEPS: u64 = 1_000_000_000;

/// Limits of a statement that its caller has no say in.
#[derive(Debug, Clone, Copy)]
struct Limits {
    steps: u64,
}

/// Runs statements that somebody else wrote on one database.
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
    pub(in crate::sqlite) fn new(path: &Path, immutable: bool) -> Guard {
        Guard { path: path.to_owned(), immutable, limits: Limits { steps: STEPS }, idle: Mutex::default() }
    }

    /// Runs one on the evidence of a namespace.
    pub(in crate::sqlite) fn query(
        self: &Arc<Guard>,
        namespace: &str,
        query: &SqlQuery,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<SqlRows> {
        check(namespace, query)?;
        let (place, waiting) = Place::take(&self.asker(namespace), cancelled)?;
        let started = Instant::now();
        let confined = self.connection(namespace)?;
        let watch = confined.watch.clone();
        let number = watch.begin(query.timeout, &self.limits);
        let (guard, own, namespace) = (self.clone(), query.clone(), namespace.to_owned());
        let (sender, receiver) = sync_channel(1);
        std::thread::Builder::new()
            .name("tamis-sql".to_owned())
            .spawn(move || {
                memory::limit_this_thread(BYTES, place.left());
                let (result, sound) = run::run(&confined, &own, &guard.path);
                confined.watch.end();
                if sound && confined.rollback().is_ok() {
                    guard.keep(namespace, confined);
                }
                drop(place);
                // Nobody may be waiting any more.
                let _ = sender.send(result);
            })
            .map_err(|error| StoreError::io(&self.path, "starting a thread", error))?;
        let stop = || {
            waiting.leave();
            watch.stop(number);
        };
        let mut rows = wait(&receiver, query.timeout, cancelled, &stop)?;
        rows.elapsed_ms = started.elapsed().as_secs_f64() * 1e3;
        Ok(rows)
    }

    /// Who asks, as far as the guard can tell.
    fn asker(&self, namespace: &str) -> String {
        format!("{}\n{namespace}", self.path.display())
    }

    /// A connection that has begun to read: one that is kept, or a new one.
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
        Err(StoreError::Busy { path: self.path.clone(), holder: "its tables are just being changed".to_owned() })
    }

    fn keep(&self, namespace: String, confined: Confined) {
        let mut idle = lock(&self.idle);
        if idle.len() == IDLE {
            idle.remove(0);
        }
        idle.push((namespace, confined));
    }
}

/// Refuses what would not get as far as SQLite.
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
        let error = format!("the statement is {} bytes long, at most {LONGEST_TEXT} are taken", query.sql.len());
        return refused(error, "pass long lists as a JSON array in a parameter and read it with json_each(:parameter)");
    }
    if query.sql.contains('\0') {
        return refused("the statement holds a NUL character".to_owned(), "leave it out");
    }
    Ok(())
}

/// Waits for the rows for as long as the statement may take and a tenth of that, and stops it where they do not come.
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
