//! The right to write over several calls: a lock of the server's session, held on a connection of its own.
//!
//! Single changes lock only their namespaces, so they work with and without it. The lock ends with its connection, also when the
//! process dies. Waiting stores queue at a second lock, the turn: only its holder tries to take the first. A store that releases the
//! lock and wants it back at once has to queue as well, so it starves nobody.
//!
//! A holder whose connection broke must change nothing more, since another store may hold the lock already and what this one has read
//! may be outdated. So each change of a holder takes a share of a third lock, the fence, until it commits, and then looks whether its
//! store still holds the right to write. A new holder passes the fence alone, so the changes of the one before it have ended.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use deadpool_postgres::{Object, Transaction};

use super::error::Failure;
use super::locks::key;
use super::store::PostgresStore;
use crate::error::{Result, StoreError};
use crate::lock::UNNAMED_HOLDER;
use crate::mutex::lock;

/// Pause between two attempts of the next store.
const NEXT: Duration = Duration::from_millis(10);
/// Pause between two attempts of the stores behind it.
const QUEUED: Duration = Duration::from_millis(40);

/// The longest that a store waits for its own threads to give up a right to write whose connection broke.
const GIVING_UP: Duration = Duration::from_secs(2);
/// The number of no process of the server.
const NOBODY: i32 = 0;

/// A share of the right to write.
#[derive(Debug)]
pub(super) struct Hold<'s> {
    store: &'s PostgresStore,
}

/// The key of the lock: the tree that the store was opened for has its own.
fn write_key(namespace: &str) -> i64 {
    key("write", namespace)
}

/// The key of the fence.
fn fence_key(namespace: &str) -> i64 {
    key("fence", namespace)
}

/// The key of the turn.
fn turn_key(namespace: &str) -> i64 {
    key("turn", namespace)
}

impl PostgresStore {
    /// Takes the right to write, or another share of it, without waiting. Fails if others wait for it.
    pub(super) fn hold(&self) -> Result<Hold<'_>> {
        let mut state = lock(&self.holding.state);
        if !state.is_held() {
            if state.holds > 0 {
                return Err(self.writer_lost());
            }
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
                let mut state = lock(&self.holding.state);
                if state.is_held() {
                    state.holds += 1;
                    break Ok(Hold { store: self });
                }
                if state.holds > 0 {
                    self.writer_lost()
                } else {
                    match self.try_take(&mut turn) {
                        Ok(connection) => {
                            state.connection = Some(connection);
                            state.holds += 1;
                            break Ok(Hold { store: self });
                        }
                        Err(error) => error,
                    }
                }
            };
            let goes_on = match &error {
                StoreError::Busy { holder, .. } => started.elapsed() < patience && waiting(holder),
                StoreError::WriterLost { .. } => started.elapsed() < patience.min(GIVING_UP),
                _ => false,
            };
            if !goes_on {
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
            match self.enter(&connection).await {
                Ok(process) => {
                    self.holding.process.store(process, Ordering::Release);
                    Ok(connection)
                }
                Err(failure) => {
                    unlock(connection, write_key(&self.namespace)).await;
                    Err(failure)
                }
            }
        })
    }

    /// Waits until the changes of the holder before have ended, and returns the number of the connection's process.
    async fn enter(&self, connection: &Object) -> Result<i32, Failure> {
        self.check_instance(connection).await?;
        let fence = fence_key(&self.namespace);
        let passed = connection.prepare_cached("SELECT pg_backend_pid() FROM pg_advisory_lock($1)").await?;
        let process = connection.query_one(&passed, &[&fence]).await?.get(0);
        let unlock = connection.prepare_cached("SELECT pg_advisory_unlock($1)").await?;
        connection.query_one(&unlock, &[&fence]).await?;
        Ok(process)
    }

    /// Makes sure that a change of this store is made under the right to write that it holds, if it holds one, until the transaction
    /// ends.
    pub(super) async fn check_hold(&self, transaction: &Transaction<'_>) -> Result<(), Failure> {
        let process = self.holding.process.load(Ordering::Acquire);
        if process == NOBODY {
            return Ok(());
        }
        let share = transaction.prepare_cached("SELECT pg_advisory_xact_lock_shared($1)").await?;
        let held = transaction
            .prepare_cached(
                "SELECT EXISTS (SELECT FROM pg_locks WHERE pid = $1 AND locktype = 'advisory' AND granted AND objsubid = 1 \
                 AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) \
                 AND classid = $2 AND objid = $3)",
            )
            .await?;
        transaction.execute(&share, &[&fence_key(&self.namespace)]).await?;
        let (class, object) = halves(write_key(&self.namespace));
        match transaction.query_one(&held, &[&process, &class, &object]).await?.get(0) {
            true => Ok(()),
            false => Err(self.writer_lost().into()),
        }
    }

    /// Waits until nobody else changes these namespaces, and keeps others waiting until the transaction ends. Every change of
    /// documents begins with it, so it also makes sure that the tables are still the ones that were opened, and that a right to write
    /// which the store holds was not lost.
    pub(super) async fn lock_namespaces(
        &self,
        transaction: &Transaction<'_>,
        names: impl IntoIterator<Item = &str>,
    ) -> Result<(), Failure> {
        self.check_hold(transaction).await?;
        let mut keys: Vec<i64> = names.into_iter().map(|name| key("namespace", name)).collect();
        // In one order everywhere, so that nobody waits in a circle.
        keys.sort_unstable();
        keys.dedup();
        let lock = transaction.prepare_cached("SELECT pg_advisory_xact_lock($1)").await?;
        for key in &keys {
            transaction.execute(&lock, &[key]).await?;
        }
        self.check_instance(transaction).await
    }

    fn writer_lost(&self) -> StoreError {
        StoreError::WriterLost { path: self.address().into() }
    }

    /// The error of a lock that another session holds.
    async fn busy(&self, connection: &Object) -> Result<Failure, Failure> {
        let select = "SELECT a.application_name, a.pid FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid \
             WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1 \
             AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()) \
             AND l.classid = $1 AND l.objid = $2";
        let (class, object) = halves(write_key(&self.namespace));
        let row = connection.query_opt(select, &[&class, &object]).await?;
        // It may have ended since, or only its turn has come.
        let holder = row.map_or_else(
            || UNNAMED_HOLDER.to_owned(),
            |row| {
                let name: Option<String> = row.get(0);
                let name = name.filter(|name| !name.is_empty());
                format!("{}, process {} of the server", name.as_deref().unwrap_or("a client"), row.get::<_, i32>(1))
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

/// The two numbers by which the server lists a lock.
fn halves(key: i64) -> (u32, u32) {
    let key = key as u64;
    ((key >> 32) as u32, key as u32)
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
        let mut state = lock(&self.store.holding.state);
        state.holds -= 1;
        if state.holds == 0
            && let Some(connection) = state.connection.take()
        {
            self.store.holding.process.store(NOBODY, Ordering::Release);
            self.store.release(connection, write_key(&self.store.namespace));
        }
    }
}
