//! Namespaces: registering and removing them, changing their documents as a whole, and the right to write to them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use deadpool_postgres::{GenericClient, Transaction};
use tokio_postgres::types::Type;

use super::PostgresStore;
use super::connection::Lasting;
use super::failure::Failure;
use super::servers::{UNREACHABLE, UPDATE_LIST};
use super::session::{execute, query};
use super::words::in_memory::Difference;
use crate::cache::lock;
use crate::content::Content;
use crate::error::{Result, StoreError};
use crate::graph;
use crate::lexical::TermReader;
use crate::lock::UNNAMED_HOLDER;
use crate::record::Applied;
use crate::session::{Row, all};

/// The server's time in milliseconds since 1970, as SQL: the clocks of several clients differ. It is that of the statement, because a
/// distributed table cannot be updated with a function whose result changes within it.
pub(crate) const NOW_MS: &str = "(extract(epoch FROM statement_timestamp()) * 1000)::bigint";

/// Returns the numbers of namespaces, after registering those that need one.
pub(crate) async fn numbers<'n>(
    transaction: &Transaction<'_>,
    registered: &BTreeSet<&'n str>,
    others: impl IntoIterator<Item = &'n str>,
) -> Result<BTreeMap<String, i32>, Failure> {
    let wanted: BTreeSet<&str> = registered.iter().copied().chain(others).collect();
    let wanted: Vec<&str> = wanted.into_iter().collect();
    let select = "SELECT namespace, number FROM namespaces WHERE namespace = ANY($1)";
    let rows = query(transaction, select, &[&wanted]).await?;
    let mut numbers: BTreeMap<String, i32> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
    for name in registered.iter().filter(|name| !numbers.contains_key(**name)).copied().collect::<Vec<_>>() {
        let insert = "INSERT INTO namespaces(namespace, analysis) VALUES ($1, $2) RETURNING number";
        let row = transaction.query_one(insert, &[&name, &(TermReader::VERSION as i32)]).await?;
        numbers.insert(name.to_owned(), row.get(0));
    }
    Ok(numbers)
}

/// The change of a namespace's row by a change of its documents.
pub(crate) struct NamespaceChange {
    /// True if it counts as a change.
    pub counts: bool,
    pub difference: Difference,
}

impl NamespaceChange {
    /// Writes the row.
    pub async fn write(&self, transaction: &Transaction<'_>, namespace: &str) -> Result<(), Failure> {
        let update = format!(
            "UPDATE namespaces SET change_number = change_number + $2, changed_ms = {NOW_MS}, passages = passages + $3, \
             body_terms = body_terms + $4, name_terms = name_terms + $5, documents = documents + $6 WHERE namespace = $1"
        );
        let Difference { documents, passages, body_terms, name_terms, .. } = &self.difference;
        let count = i64::from(self.counts);
        execute(transaction, &update, &[&namespace, &count, passages, body_terms, name_terms, documents]).await?;
        Ok(())
    }
}

impl PostgresStore {
    /// The change number of the store: it grows with each commit, in whatever order the changes of several namespaces commit.
    pub(crate) async fn change_number_in(&self, client: &impl GenericClient) -> Result<u64, Failure> {
        let sum = format!(
            "SELECT (SELECT coalesce(sum(change_number), 0)::bigint FROM {}) \
             + (SELECT value::bigint FROM meta WHERE key = 'removed')",
            self.list()
        );
        let statement = client.prepare_cached(&sum).await?;
        Ok(client.query_one(&statement, &[]).await?.get::<_, i64>(0) as u64)
    }

    /// Counts a change of namespaces, so that caches of them are refreshed.
    pub(crate) async fn count_change(&self, transaction: &Transaction<'_>, names: &[&str]) -> Result<(), Failure> {
        let count = format!(
            "UPDATE namespaces SET change_number = change_number + 1, changed_ms = {NOW_MS} WHERE namespace = ANY($1)"
        );
        execute(transaction, &count, &[&names]).await?;
        self.note(transaction, names).await
    }

    /// The table that lists all namespaces, without asking nodes.
    pub(crate) fn list(&self) -> &'static str {
        if self.is_distributed { "namespace_list" } else { "namespaces" }
    }

    /// Notes what changed of namespaces, at the end of the transaction that changed it.
    pub(crate) async fn note(&self, transaction: &Transaction<'_>, namespaces: &[&str]) -> Result<(), Failure> {
        if self.is_distributed && !namespaces.is_empty() {
            execute(transaction, UPDATE_LIST, &[&namespaces]).await?;
        }
        Ok(())
    }

    /// Notes that a namespace was removed.
    async fn note_removed(&self, transaction: &Transaction<'_>, namespace: &str) -> Result<(), Failure> {
        if self.is_distributed {
            transaction.execute("DELETE FROM namespace_list WHERE namespace = $1", &[&namespace]).await?;
        }
        Ok(())
    }

    /// The namespaces that cannot be read now.
    pub(crate) fn read_unreachable(&self) -> Result<Vec<String>> {
        if !self.is_distributed {
            return Ok(Vec::new());
        }
        self.ask(async |session| all(session, UNREACHABLE, &[], Row::next).await)
    }

    /// Removes a namespace and its documents.
    pub(crate) async fn remove_namespace_in(
        &self,
        transaction: &Transaction<'_>,
        name: &str,
    ) -> Result<Applied, Failure> {
        self.lock_namespaces(transaction, [name]).await?;
        let count = "SELECT count(*), coalesce(sum(passages), 0)::bigint FROM documents WHERE namespace = $1";
        let row = transaction.query_one(count, &[&name]).await?;
        let (documents, passages): (i64, i64) = (row.get(0), row.get(1));
        for delete in graph::REMOVE.iter().chain(REMOVE) {
            transaction.execute(*delete, &[&name]).await?;
        }
        let delete = "DELETE FROM namespaces WHERE namespace = $1 RETURNING change_number";
        if let Some(row) = transaction.query_opt(delete, &[&name]).await? {
            // What it had counted counts on, and its removal too.
            let count = "UPDATE meta SET value = (value::bigint + $1)::text WHERE key = 'removed'";
            transaction.execute(count, &[&(row.get::<_, i64>(0) + 1)]).await?;
            self.note_removed(transaction, name).await?;
        }
        Ok(Applied {
            deleted: documents as u64,
            passages_deleted: passages as u64,
            seq: self.change_number_in(transaction).await?,
            ..Applied::default()
        })
    }

    /// Sets the dates of documents and returns how many changed.
    pub(crate) async fn set_dates_in(
        &self,
        transaction: &Transaction<'_>,
        namespace: &str,
        dates: &[(String, i64)],
    ) -> Result<u64, Failure> {
        self.lock_namespaces(transaction, [namespace]).await?;
        let paths: Vec<&str> =
            dates.iter().map(|(path, _)| path.as_str()).filter(|path| !path.contains('\0')).collect();
        let select = "SELECT path, dated_ns FROM documents WHERE namespace = $1 AND path = ANY($2)";
        let rows = transaction.query(select, &[&namespace, &paths]).await?;
        let mut stored: HashMap<String, Option<i64>> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
        let mut set: BTreeMap<&str, i64> = BTreeMap::new();
        let mut changed = 0;
        // A path can come twice.
        for (path, date) in dates {
            if let Some(known) = stored.get_mut(path).filter(|known| **known != Some(*date)) {
                *known = Some(*date);
                set.insert(path, *date);
                changed += 1;
            }
        }
        if !set.is_empty() {
            let update = "UPDATE documents d SET dated_ns = n.dated_ns \
                 FROM unnest($2::text[], $3::bigint[]) AS n(path, dated_ns) WHERE d.namespace = $1 AND d.path = n.path";
            let (paths, dates): (Vec<&str>, Vec<i64>) = set.into_iter().unzip();
            transaction.execute(update, &[&namespace, &paths, &dates]).await?;
        }
        Ok(changed)
    }
}

/// What a removed namespace loses. Vectors stay for texts that come back, until they are
/// pruned.
const REMOVE: &[&str] = &[
    "DELETE FROM words WHERE namespace = $1",
    "DELETE FROM frequencies WHERE namespace = $1",
    "DELETE FROM coverages WHERE namespace = $1",
    "DELETE FROM passages WHERE namespace = $1",
    "DELETE FROM attributes WHERE namespace = $1",
    "DELETE FROM documents WHERE namespace = $1",
];

/// Pause between two attempts of the next store.
const NEXT: Duration = Duration::from_millis(10);
/// Pause between two attempts of the stores behind it.
const QUEUED: Duration = Duration::from_millis(40);

/// The longest that a store waits for its own threads to give up a right to write whose connection broke.
const GIVING_UP: Duration = Duration::from_secs(2);
/// The number of no process of the server.
const NOBODY: i32 = 0;

/// A share of the right to write.
///
/// Single changes lock only their namespaces, so they work with and without it. The lock ends with its connection, also when the
/// process dies. Waiting stores queue at a second lock, the turn: only its holder tries to take the first. A store that releases the
/// lock and wants it back at once has to queue as well, so it starves nobody.
///
/// A holder whose connection broke must change nothing more, since another store may hold the lock already and what this one has read
/// may be outdated. So each change of a holder takes a share of a third lock, the fence, until it commits, and then looks whether its
/// store still holds the right to write. A new holder passes the fence alone, so the changes of the one before it have ended.
#[derive(Debug)]
pub(crate) struct Hold<'s> {
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
    pub(crate) fn hold(&self) -> Result<Hold<'_>> {
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
    pub(crate) fn wait_to_hold(&self, patience: Duration, waiting: &mut dyn FnMut(&str) -> bool) -> Result<Hold<'_>> {
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
    async fn check_hold(&self, transaction: &Transaction<'_>) -> Result<(), Failure> {
        let process = self.holding.process.load(Ordering::Acquire);
        if process == NOBODY {
            return Ok(());
        }
        let share = "SELECT pg_advisory_xact_lock_shared($1)";
        let held = transaction
            .prepare_cached(
                "SELECT EXISTS (SELECT FROM pg_locks WHERE pid = $1 AND locktype = 'advisory' AND granted AND objsubid = 1 \
                 AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) \
                 AND classid = $2 AND objid = $3)",
            )
            .await?;
        execute(transaction, share, &[&fence_key(&self.namespace)]).await?;
        let (class, object) = halves(write_key(&self.namespace));
        match transaction.query_one(&held, &[&process, &class, &object]).await?.get(0) {
            true => Ok(()),
            false => Err(self.writer_lost().into()),
        }
    }

    /// Waits until nobody else changes these namespaces, and keeps others waiting until the transaction ends. Every change of
    /// documents begins with it, so it also makes sure that the tables are still the ones that were opened, and that a right to write
    /// which the store holds was not lost.
    pub(crate) async fn lock_namespaces(
        &self,
        transaction: &Transaction<'_>,
        names: impl IntoIterator<Item = &str>,
    ) -> Result<(), Failure> {
        self.check_hold(transaction).await?;
        let mut keys: Vec<i64> = names.into_iter().map(|name| key("namespace", name)).collect();
        // In one order everywhere, so that nobody waits in a circle.
        keys.sort_unstable();
        keys.dedup();
        let lock = "SELECT pg_advisory_xact_lock($1)";
        for key in &keys {
            execute(transaction, lock, &[key]).await?;
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

/// The key of a lock by what it locks.
pub(crate) fn key(kind: &str, name: &str) -> i64 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"tamis ").update(kind.as_bytes()).update(b"\0").update(name.as_bytes());
    hasher.finalize().as_bytes().first_chunk().map_or(0, |bytes| i64::from_le_bytes(*bytes))
}
