//! The right to write over several calls: a lock of a transaction that stays open meanwhile. A pooler, too, leaves it the session.
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

use deadpool_postgres::Transaction;
use tokio_postgres::types::Type;

use super::connection::Lasting;
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
            state.transaction = Some(taken?);
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
                        Ok(transaction) => {
                            state.transaction = Some(transaction);
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
    fn try_take(&self, turn: &mut Turn) -> Result<Lasting> {
        self.connections.wait(async {
            if turn.0.is_none() {
                turn.0 = Some(self.try_lock(turn_key(&self.namespace)).await?);
            }
            let held = self.try_lock(write_key(&self.namespace)).await?;
            let process = self.enter(&held).await?;
            self.holding.process.store(process, Ordering::Release);
            Ok(held)
        })
    }

    /// Takes a lock, or fails with whoever holds the right to write.
    async fn try_lock(&self, key: i64) -> Result<Lasting, Failure> {
        let lasting = self.connections.lasting().await?;
        if lasting.try_lock(key).await? {
            return Ok(lasting);
        }
        let busy = self.busy(&lasting).await?;
        lasting.end().await;
        Err(busy)
    }

    /// Waits until the changes of the holder before have ended, and returns the number of the transaction's process. No other lock of
    /// this outlives it.
    async fn enter(&self, held: &Lasting) -> Result<i32, Failure> {
        held.batch_execute(&format!("SAVEPOINT entered; {}", self.connections.local_settings())).await?;
        self.check_instance(&**held).await?;
        let passed = "SELECT pg_backend_pid() FROM pg_advisory_xact_lock($1)";
        let process = held.query_typed_one(passed, &[(&fence_key(&self.namespace), Type::INT8)]).await?.get(0);
        held.batch_execute("ROLLBACK TO SAVEPOINT entered").await?;
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

    /// The error of a lock that another transaction holds.
    async fn busy(&self, lasting: &Lasting) -> Result<Failure, Failure> {
        let select = "SELECT a.application_name, a.pid FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid \
             WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1 \
             AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()) \
             AND l.classid = $1 AND l.objid = $2";
        let (class, object) = halves(write_key(&self.namespace));
        let row = lasting.query_opt(select, &[&class, &object]).await?;
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
        if let Some(transaction) = turn.0 {
            self.end(transaction);
        }
    }

    fn end(&self, transaction: Lasting) {
        let _ = self.connections.wait(async {
            transaction.end().await;
            Ok(())
        });
    }
}

/// The two numbers by which the server lists a lock.
fn halves(key: i64) -> (u32, u32) {
    let key = key as u64;
    ((key >> 32) as u32, key as u32)
}

/// The transaction that has the turn.
#[derive(Debug, Default)]
struct Turn(Option<Lasting>);

impl Drop for Hold<'_> {
    fn drop(&mut self) {
        let mut state = lock(&self.store.holding.state);
        state.holds -= 1;
        if state.holds == 0
            && let Some(transaction) = state.transaction.take()
        {
            self.store.holding.process.store(NOBODY, Ordering::Release);
            self.store.end(transaction);
        }
    }
}
