//! The store in PostgreSQL, for many servers and many writers.
//!
//! Every table that grows with the content has the namespace as the first column of its key, and nearly every statement names the
//! namespaces it concerns, so that the tables can be distributed by namespace.
//!
//! | calls | the namespaces that their statements name |
//! | --- | --- |
//! | the documents, passages and evidence of one namespace | that one, and the transaction is confined to it (`row_security`) |
//! | records, attributes, passages, places and vectors by number | those that the caller says they are in; all if it says none |
//! | the two retrievers, `select`, coverage | those of the filter that have passages (`select::Scope`), and the transaction is confined to the filter's; all if it names none |
//! | `find`, origins, newest dates, models, summaries, checks, publishing | all |
//! | the list of namespaces and the change number | all, by the coordinator's list (`namespace_list`) where nodes hold the tables |
//! | writing | those of the documents, each of which is locked first (`namespaces`) |
//! | settings, and the right to write | the tree that the store was opened for |
//!
//! The embedded store runs the same calls without the confinement. There, a namespace is a column of documents and evidence alone.
//!
//! This file has the store and what it keeps between calls. `connection` bridges from blocking calls to the asynchronous client, to the
//! `servers` that `address` names; `failure` explains what can go wrong on the way. `schema` creates the tables, and `row_security`
//! confines reading to namespaces a second time. `changes` writes documents, `namespaces` registers their namespaces and has the right
//! to write over several calls, [`content`](crate::content) reads documents, in statements of a `session`. `select` resolves filters.
//! `words` and `vectors` are the two retrievers, and [`Retrievers`] and [`Resident`] hold what both keep in memory. `jobs` is the queue
//! of trees to be indexed, `serving` serves the servers of a team, `usage` is its log, `maintenance` checks and says what the database
//! holds, and `sharding` distributes the tables.

mod address;
mod changes;
mod connection;
mod failure;
mod jobs;
mod maintenance;
mod namespaces;
mod row_security;
mod schema;
mod select;
mod servers;
mod serving;
mod session;
mod sharding;
#[cfg(test)]
mod tests;
mod usage;
mod vectors;
mod words;

use std::collections::HashMap;
use std::sync::atomic::AtomicI32;
use std::sync::{Arc, Mutex};

use deadpool_postgres::{GenericClient, Object, Transaction};
use tokio::sync::{OwnedRwLockReadGuard, RwLock};
use tokio_postgres::error::SqlState;

use crate::cache::{Recent, lock};
use crate::content::{Changing, Content, KnownNamespaces, Model};
use crate::error::{Result, StoreError};
use crate::filter::Filter;
use crate::graph::TaskUpdates;
use crate::record::{Applied, PassageRef};
use crate::report::Coverage;
use crate::session::{Row, Session, all};
use crate::sql_guard::Guard;
use crate::store::Store;
use crate::vectors::{Effort, sample_ranks};
use connection::{Connections, Lasting};
use failure::Failure;
use maintenance::Counted;
use select::{Scope, Selection, State, resolve};
use serving::Listening;
use vectors::in_memory::VectorsInMemory;
use words::in_memory::WordsInMemory;

pub use jobs::{Job, JobEnd, JobState, MOST_JOB_FAILURES, NextJob, TakenJob};
pub use maintenance::{NamespaceStatus, PostgresStatus, Versions};
pub use sharding::Sharding;

/// Reads the random name that identifies the tables.
const READ_INSTANCE: &str = "SELECT value FROM meta WHERE key = 'instance'";

/// The [`Store`](crate::Store) in a PostgreSQL database.
#[derive(Debug)]
pub struct PostgresStore {
    pub(crate) connections: Connections,
    /// The tree that this store was opened for: its settings and its turn to write are its own.
    pub(crate) namespace: String,
    /// The random name of the tables that were opened.
    pub(crate) instance: String,
    /// True if the tables were distributed when they were opened. Whatever changes that gives the tables another name.
    pub(crate) is_distributed: bool,
    pub(crate) holding: Holding,
    pub(crate) counted: Counted,
    pub(crate) retrievers: Retrievers,
    pub(crate) namespaces: KnownNamespaces,
    pub(crate) listening: Listening,
    pub(crate) guard: Arc<Guard>,
}

impl PostgresStore {
    /// Returns the store behind its traits.
    // Not inlined, for the same reason as that of the embedded store.
    #[inline(never)]
    #[must_use]
    pub fn into_dyn(self) -> Arc<dyn Store> {
        Arc::new(self)
    }

    /// Opens the store in the database at `postgres://USER:PASSWORD@HOST:PORT/DATABASE`, and creates its tables if there are none.
    /// `namespace` is the tree that is indexed or searched from: settings are kept for it, and writers of it take turns.
    ///
    /// # Errors
    /// The address cannot be read, the server cannot be reached or refuses, or the tables have another version.
    pub fn open(url: &str, namespace: &str) -> Result<PostgresStore> {
        let connections = Connections::new(url)?;
        schema::create(&connections)?;
        connections.prepare_row_security()?;
        let read = async |connection: &Object| Ok(connection.query_one(READ_INSTANCE, &[]).await?.get(0));
        let instance = connections.ask(read)?;
        let is_distributed = connections.ask(async |connection| servers::are_distributed(connection).await)?;
        Ok(PostgresStore {
            guard: Arc::new(Guard::new(connections.address().as_ref())),
            connections,
            namespace: namespace.to_owned(),
            instance,
            is_distributed,
            holding: Holding::default(),
            counted: Counted::default(),
            retrievers: Retrievers::default(),
            namespaces: Mutex::default(),
            listening: Listening::default(),
        })
    }

    /// Returns the trees that have settings in the database, by name.
    ///
    /// # Errors
    /// The server cannot be reached or refuses.
    pub fn trees(&self) -> Result<Vec<String>> {
        let select = "SELECT DISTINCT namespace FROM properties ORDER BY namespace";
        self.ask(async |session| all(session, select, &[], Row::next).await)
    }

    /// Returns the address without user and password.
    pub fn address(&self) -> &str {
        self.connections.address()
    }
}

impl Content for PostgresStore {
    type Error = Failure;

    fn ask<T>(&self, work: impl AsyncFn(&dyn Session<Failure>) -> Result<T, Failure>) -> Result<T> {
        self.connections.ask(async |connection| work(&self.connections.content(connection)).await)
    }

    fn read<T>(
        &self,
        namespaces: &[&str],
        work: impl AsyncFn(&dyn Session<Failure>) -> Result<T, Failure>,
    ) -> Result<T> {
        self.connections.read_of(namespaces, async |transaction| work(&self.connections.content(transaction)).await)
    }

    fn read_evidence<T>(
        &self,
        namespaces: &[&str],
        work: impl AsyncFn(&dyn Session<Failure>) -> Result<T, Failure>,
    ) -> Result<T> {
        self.connections.read_of(namespaces, async |transaction| work(&self.connections.session(transaction)).await)
    }

    fn write<T>(&self, work: impl AsyncFn(&dyn Session<Failure>) -> Result<T, Failure>) -> Result<T> {
        self.connections.write(async |transaction| work(&self.connections.content(transaction)).await)
    }

    fn settings(&self) -> &str {
        &self.namespace
    }

    fn known_namespaces(&self) -> &KnownNamespaces {
        &self.namespaces
    }

    fn list_namespaces(&self) -> String {
        let list = self.list();
        format!("SELECT namespace, root, machine, owner, shared, documents, passages FROM {list} ORDER BY namespace")
    }

    fn without_node(&self) -> Result<Vec<String>> {
        self.read_unreachable()
    }

    fn passing(&self, filter: &Filter) -> Result<Vec<PassageRef>> {
        self.connections.read_of(&filter.namespaces, async |transaction| select::select(transaction, filter).await)
    }

    fn write_namespaces(
        &self,
        names: &[&str],
        work: impl AsyncFn(&dyn Session<Failure>) -> Result<(), Failure>,
    ) -> Result<()> {
        self.connections.write(async |transaction| {
            self.lock_namespaces(transaction, names.iter().copied()).await?;
            namespaces::numbers(transaction, &names.iter().copied().collect(), []).await?;
            work(&self.connections.content(transaction)).await?;
            self.count_change(transaction, names).await
        })
    }

    fn change(
        &self,
        changing: &Changing<'_>,
        evidence: impl AsyncFn(&dyn Session<Failure>, &mut TaskUpdates) -> Result<u64, Failure>,
    ) -> Result<Applied> {
        self.change_documents(changing, evidence)
    }

    fn guard(&self) -> &Arc<Guard> {
        &self.guard
    }
}

/// The right to write, shared within a store.
#[derive(Debug, Default)]
pub(crate) struct Holding {
    pub state: Mutex<Shares>,
    /// The process of the server that holds the lock, or held it until its connection broke. Changes read it apart from the state,
    /// whose owner may wait for the server.
    pub process: AtomicI32,
}

#[derive(Debug, Default)]
pub(crate) struct Shares {
    pub holds: usize,
    /// The transaction that holds the lock.
    pub transaction: Option<Lasting>,
}

impl Shares {
    /// True if the lock is held. A connection that broke has lost it.
    pub fn is_held(&self) -> bool {
        self.transaction.as_ref().is_some_and(|transaction| !transaction.is_closed())
    }
}

/// The sizes that decide how passages are found.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes {
    /// Up to this many passages of the namespaces searched, their words and all their vectors are kept in memory, and up to this many
    /// passages of a filter are listed.
    pub few: usize,
    /// The number of passages that the background of larger namespaces is measured on. Both numbers are those of the embedded store,
    /// so that it measures the same.
    pub sample: usize,
    /// The number of passages that a search for words reads first. Each further time it reads four times as many.
    pub first: u64,
    /// The number of searches for words of the same small namespaces that read the database, before their words are kept in memory: a
    /// single search may ask so often.
    pub patience: usize,
    /// The number of passages with a word from which the server's index of words chooses among them.
    pub many: u64,
}

impl Default for Sizes {
    fn default() -> Sizes {
        Sizes {
            few: Effort::default().exact_rows,
            sample: Effort::default().sample,
            first: 2_000,
            patience: 6,
            many: 20_000,
        }
    }
}

impl Sizes {
    /// The ranks of the sample among so many passages: those that the embedded store takes, whose rows are in the same order.
    pub fn ranks(&self, passages: usize) -> Vec<i64> {
        sample_ranks(passages, self.sample).map(|rank| rank as i64).collect()
    }
}

impl PostgresStore {
    /// Returns `true` if another store is in the same database, whatever address each was opened with.
    ///
    /// # Errors
    /// The server cannot be reached or refuses.
    pub fn is_same_database(&self, other: &PostgresStore) -> Result<bool> {
        Ok(self.identity()? == other.identity()?)
    }

    /// The tables, the database and the server. A backup that was restored elsewhere has the same tables.
    fn identity(&self) -> Result<(String, u32, String)> {
        self.connections.ask(async |connection| {
            let select =
                "SELECT oid, pg_postmaster_start_time()::text FROM pg_database WHERE datname = current_database()";
            let row = connection.query_one(select, &[]).await?;
            Ok((self.instance.clone(), row.get(0), row.get(1)))
        })
    }

    /// Fails if the tables were deleted or replaced since they were opened.
    pub(crate) async fn check_instance(&self, client: &impl GenericClient) -> Result<(), Failure> {
        let found: Result<Option<String>, Failure> = async {
            let statement = client.prepare_cached(READ_INSTANCE).await?;
            Ok(client.query_opt(&statement, &[]).await?.map(|row| row.get(0)))
        }
        .await;
        match found {
            Ok(Some(instance)) if instance == self.instance => Ok(()),
            Ok(Some(_)) => Err(self.replaced(false).into()),
            Ok(None) => Err(self.replaced(true).into()),
            Err(failure) if is_gone(&failure) => Err(self.replaced(true).into()),
            Err(failure) => Err(failure),
        }
    }

    /// Fails if the tables were deleted or replaced since they were opened.
    pub(crate) fn check_opened(&self) -> Result<()> {
        self.connections.wait(async {
            match self.connections.asking(async |connection| self.check_instance(connection).await).await {
                Err(failure) if is_gone(&failure) => Err(self.replaced(true).into()),
                checked => checked,
            }
        })
    }

    fn replaced(&self, gone: bool) -> StoreError {
        let what = if gone { "it was deleted" } else { "it was replaced by another index" };
        StoreError::Replaced { path: self.address().into(), what, gone }
    }
}

/// Returns `true` if the tables or their database do not exist.
fn is_gone(failure: &Failure) -> bool {
    const GONE: [SqlState; 3] =
        [SqlState::UNDEFINED_TABLE, SqlState::UNDEFINED_DATABASE, SqlState::INVALID_SCHEMA_NAME];
    matches!(failure, Failure::Server(error) if error.code().is_some_and(|code| GONE.contains(code)))
}

/// Results that later searches use again, and the sizes that decide how they are found.
#[derive(Debug, Default)]
pub(crate) struct Retrievers {
    /// The selections of recent filters, by the state of their namespaces.
    pub selections: Recent<(State, Filter), Arc<Selection>>,
    /// The coverage of models under recent filters.
    pub coverages: Recent<(State, String, Filter), Coverage>,
    /// Vectors of passages.
    pub vectors: Resident<vectors::in_memory::Key, VectorsInMemory>,
    /// Words of passages.
    pub words: Resident<words::in_memory::Key, WordsInMemory>,
    /// The passage up to which all of a namespace had a vector of a model when they were last looked at, by their numbers.
    pub embedded: Mutex<HashMap<(i32, i32), i64>>,
    pub sizes: Sizes,
}

impl Retrievers {
    /// Resolves a filter, or returns a recent result.
    pub async fn selection(&self, transaction: &Transaction<'_>, filter: &Filter) -> Result<Arc<Selection>, Failure> {
        let scope = Scope::read(transaction, filter).await?;
        // Dates and attributes can change without a change number, and a filter by namespace costs nothing.
        if filter.is_by_properties() || filter.is_by_namespace() {
            return Ok(Arc::new(resolve(transaction, filter, scope, self.sizes).await?));
        }
        if let Some(known) = self.selections.get(|(state, of)| *state == scope.state && of == filter) {
            return Ok(known);
        }
        let state = scope.state.clone();
        self.selections.retain(|(known, of)| of != filter || *known == state);
        let selection = Arc::new(resolve(transaction, filter, scope, self.sizes).await?);
        self.selections.push((state, filter.clone()), selection.clone());
        Ok(selection)
    }

    /// The vectors of namespaces in memory, once read from the database: all of small ones, and those of a sample of large ones.
    pub async fn vectors(
        &self,
        transaction: &Transaction<'_>,
        scope: &Scope,
        model: &Model,
    ) -> Result<Held<VectorsInMemory>, Failure> {
        let catch_up = async |known| vectors::in_memory::catch_up(transaction, scope, model, self.sizes, known).await;
        self.vectors.hold(vectors::in_memory::key(scope, model), &scope.state, catch_up).await
    }
}

/// The most memory for each kind of content, in bytes.
const MOST_BYTES: usize = 512 << 20;

/// Cached that is kept.
pub(crate) trait Cached {
    /// About the memory that it takes.
    fn bytes(&self) -> usize;
}

/// The most keys that are remembered, with their content or without.
const MOST_KEYS: usize = 1_000;

/// Contents by what they are of, the last used one at the end.
#[derive(Debug)]
pub(crate) struct Resident<K, C> {
    entries: Mutex<Vec<Entry<K, C>>>,
}

#[derive(Debug)]
struct Entry<K, C> {
    key: K,
    place: Place<C>,
    /// How often the content may still be missed before it is read.
    patience: usize,
    /// How often it may be missed next time, after it had to make room.
    next_patience: usize,
}

/// Where the content of one key is, once it is read.
type Place<C> = Arc<RwLock<Option<Level<C>>>>;

/// Cached that stays while it is used.
pub(crate) type Held<C> = OwnedRwLockReadGuard<Option<Level<C>>, C>;

fn held<C>(level: OwnedRwLockReadGuard<Option<Level<C>>>) -> Held<C> {
    OwnedRwLockReadGuard::map(level, |level| match level {
        Some(level) => &level.content,
        None => unreachable!("the content was just read"),
    })
}

/// Cached as it was at a state of its namespaces.
#[derive(Debug)]
pub(crate) struct Level<C> {
    state: State,
    content: C,
}

impl<K, C> Default for Resident<K, C> {
    fn default() -> Resident<K, C> {
        Resident { entries: Mutex::default() }
    }
}

impl<K: PartialEq, C: Cached> Resident<K, C> {
    /// The content of a key at a state. `catch_up` brings earlier content up to it, or reads all of it.
    pub async fn hold(
        &self,
        key: K,
        state: &State,
        catch_up: impl AsyncFnOnce(Option<C>) -> Result<C, Failure>,
    ) -> Result<Held<C>, Failure> {
        let place = self.last_used(key, 0, |entry| entry.place.clone());
        let is_at = |level: &Option<Level<C>>| level.as_ref().is_some_and(|level| level.state == *state);
        let known = place.clone().read_owned().await;
        if is_at(&known) {
            return Ok(held(known));
        }
        drop(known);
        let mut known = place.clone().write_owned().await;
        if !is_at(&known) {
            let content = catch_up(known.take().map(|level| level.content)).await?;
            *known = Some(Level { state: state.clone(), content });
        }
        let known = held(known.downgrade());
        self.make_room(&place, known.bytes());
        Ok(known)
    }

    /// Returns `true` if there is content of a key, of whatever state. One that is being read counts.
    pub fn has(&self, key: &K) -> bool {
        let entries = lock(&self.entries);
        let place = entries.iter().find(|entry| entry.key == *key).map(|entry| &entry.place);
        place.is_some_and(|place| place.try_read().map_or(true, |known| known.is_some()))
    }

    /// Notes that the content of a key was missed. Returns `true` once it was missed so often that it should be read: after
    /// `patience` times at first, and later each time that it had to make room.
    pub fn is_missed(&self, key: K, patience: usize) -> bool {
        self.last_used(key, patience, |entry| {
            let is_missed = entry.patience == 0;
            entry.patience = entry.patience.saturating_sub(1);
            is_missed
        })
    }

    /// Forgets a key.
    pub fn forget(&self, key: &K) {
        lock(&self.entries).retain(|entry| entry.key != *key);
    }

    /// Makes a key the last used one. `patience` is that of a new one.
    fn last_used<T>(&self, key: K, patience: usize, use_entry: impl FnOnce(&mut Entry<K, C>) -> T) -> T {
        let mut entries = lock(&self.entries);
        let mut entry = match entries.iter().position(|entry| entry.key == key) {
            Some(position) => entries.remove(position),
            None => {
                if entries.len() == MOST_KEYS {
                    entries.remove(0);
                }
                Entry { key, place: Arc::default(), patience, next_patience: patience.saturating_mul(4) }
            }
        };
        let used = use_entry(&mut entry);
        entries.push(entry);
        used
    }

    /// Drops the contents used longest ago, until this one and the others fit. One in use counts nothing and stays.
    fn make_room(&self, used: &Place<C>, mut size: usize) {
        for entry in lock(&self.entries).iter_mut().rev().filter(|entry| !Arc::ptr_eq(&entry.place, used)) {
            if let Ok(mut known) = entry.place.try_write() {
                size += known.as_ref().map_or(0, |level| level.content.bytes());
                if size > MOST_BYTES && known.take().is_some() {
                    // Otherwise too many that take turns would be read again each time.
                    entry.patience = entry.next_patience;
                    entry.next_patience = entry.next_patience.saturating_mul(4);
                }
            }
        }
    }
}
