//! The right to write over several calls: a lock of the server's session, held on a connection of its own.
//!
//! Single changes lock only their namespaces, so they work with and without it. The lock ends with its connection, also when the
//! process dies. Waiting stores queue at a second lock, the turn: only its holder tries to take the first. A store that releases the
//! lock and wants it back at once has to queue as well, so it starves nobody.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use deadpool_postgres::Object;

use super::PostgresStore;
use super::error::Failure;
use super::locks::key;
use crate::error::{Result, StoreError};
use crate::mutex::lock;

/// Pause between two attempts of the next store.
const NEXT: Duration = Duration::from_millis(10);
/// Pause between two attempts of the stores behind it.
const QUEUED: Duration = Duration::from_millis(40);

/// The right to write, shared within a store.
#[derive(Debug, Default)]
pub(super) struct Holding(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    holds: usize,
    /// The connection whose session holds the lock.
    connection: Option<Object>,
}

impl State {
    /// True if a living session holds the lock. A session that broke has lost it.
    fn is_held(&self) -> bool {
        self.connection.as_ref().is_some_and(|connection| !connection.is_closed())
    }
}

/// A share of the right to write.
#[derive(Debug)]
pub(super) struct Hold<'s> {
    store: &'s PostgresStore,
}

/// The key of the lock: the tree that the store was opened for has its own.
fn write_key(namespace: &str) -> i64 {
    key("write", namespace)
}

/// The key of the turn.
fn turn_key(namespace: &str) -> i64 {
    key("turn", namespace)
}

impl PostgresStore {
    /// Takes the right to write, or another share of it, without waiting. Fails if others wait for it.
    pub(super) fn hold(&self) -> Result<Hold<'_>> {
        let mut state = lock(&self.holding.0);
        if !state.is_held() {
            let mut turn = Turn::default();
            let taken = self.try_take(&mut turn);
            self.end_turn(turn);
            state.connection = Some(taken?);
        }
        state.holds += 1;
        Ok(Hold { store: self })
    }

    /// Takes the right to write in turn, and gives up after `patience`. `waiting` receives the writer's name before each pause;
    /// returning false gives up.
    pub(super) fn wait_to_hold(&self, patience: Duration, waiting: &mut dyn FnMut(&str) -> bool) -> Result<Hold<'_>> {
        let started = Instant::now();
        let mut turn = Turn::default();
        let taken = loop {
            let error = {
                let mut state = lock(&self.holding.0);
                if state.is_held() {
                    state.holds += 1;
                    break Ok(Hold { store: self });
                }
                match self.try_take(&mut turn) {
                    Ok(connection) => {
                        state.connection = Some(connection);
                        state.holds += 1;
                        break Ok(Hold { store: self });
                    }
                    Err(error) => error,
                }
            };
            let StoreError::Busy { holder, .. } = &error else { break Err(error) };
            if started.elapsed() >= patience || !waiting(holder) {
                break Err(error);
            }
            std::thread::sleep(if turn.0.is_some() { NEXT } else { QUEUED });
        };
        self.end_turn(turn);
        taken
    }

    /// Takes the turn, then the lock; keeps the turn if it got only that.
    fn try_take(&self, turn: &mut Turn) -> Result<Object> {
        self.connections.wait(async {
            if turn.0.is_none() {
                let connection = self.connections.connection().await?;
                if !try_lock(&connection, turn_key(&self.namespace)).await? {
                    return Err(self.busy(&connection).await?);
                }
                turn.0 = Some(connection);
            }
            let connection = self.connections.connection().await?;
            if !try_lock(&connection, write_key(&self.namespace)).await? {
                return Err(self.busy(&connection).await?);
            }
            match self.check_instance(&connection).await {
                Ok(()) => Ok(connection),
                Err(failure) => {
                    unlock(connection, write_key(&self.namespace)).await;
                    Err(failure)
                }
            }
        })
    }

    /// The error of a lock that another session holds.
    async fn busy(&self, connection: &Object) -> Result<Failure, Failure> {
        let select = "SELECT a.application_name, a.pid FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid \
             WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1 \
             AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()) \
             AND l.classid = $1 AND l.objid = $2";
        let key = write_key(&self.namespace) as u64;
        let row = connection.query_opt(select, &[&((key >> 32) as u32), &(key as u32)]).await?;
        // It may have ended since, or only its turn has come.
        let holder = row.map_or_else(
            || "unnamed".to_owned(),
            |row| {
                let name: Option<String> = row.get(0);
                let name = name.filter(|name| !name.is_empty()).unwrap_or_else(|| "unnamed".to_owned());
                format!("{name}, process {} of the server", row.get::<_, i32>(1))
            },
        );
        Ok(StoreError::Busy { path: self.address().into(), holder }.into())
    }

    fn end_turn(&self, turn: Turn) {
        if let Some(connection) = turn.0 {
            self.release(connection, turn_key(&self.namespace));
        }
    }

    fn release(&self, connection: Object, key: i64) {
        let _ = self.connections.wait(async {
            unlock(connection, key).await;
            Ok(())
        });
    }
}

/// The connection whose session has the turn.
#[derive(Debug, Default)]
struct Turn(Option<Object>);

async fn try_lock(connection: &Object, key: i64) -> Result<bool, Failure> {
    let statement = connection.prepare_cached("SELECT pg_try_advisory_lock($1)").await?;
    Ok(connection.query_one(&statement, &[&key]).await?.get(0))
}

/// Ends a lock. A connection that does not end it is closed, which ends it too.
async fn unlock(connection: Object, key: i64) {
    let unlocked = connection.query_one("SELECT pg_advisory_unlock($1)", &[&key]).await;
    if !unlocked.is_ok_and(|row| row.get(0)) {
        drop(Object::take(connection));
    }
}

impl Drop for Hold<'_> {
    fn drop(&mut self) {
        let mut state = lock(&self.store.holding.0);
        state.holds -= 1;
        if state.holds == 0
            && let Some(connection) = state.connection.take()
        {
            self.store.release(connection, write_key(&self.store.namespace));
        }
    }
}
