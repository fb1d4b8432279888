//! The store in PostgreSQL, for many servers and many writers.
//!
//! Every table that grows with the content has the namespace as the first column of its key, and nearly every statement names the
//! namespaces it concerns, so that the tables can be distributed by namespace.
//!
//! This file has the store and what it keeps between calls. `connection` bridges from blocking calls to the asynchronous client, to the
//! `servers` that `address` names; `error` explains what can go wrong on the way. `schema` creates the tables, and `row_security` confines
//! reading to namespaces a second time. `changes` writes documents, `namespaces` registers their namespaces and has the right to write
//! over several calls, [`content`](crate::content) reads documents, in statements of a `session`. `select` resolves filters. `words` and
//! `vectors` are the two legs, and `resident` holds what both keep in memory. `jobs` is the queue of trees to be indexed, `serving` serves
//! the servers of a team, `usage` is its log, and `sharding` distributes the tables.

mod address;
mod changes;
#[cfg(test)]
mod changes_tests;
mod connection;
#[cfg(test)]
mod connection_tests;
mod error;
#[cfg(feature = "evidence")]
mod evidence;
mod jobs;
#[cfg(test)]
mod legs_tests;
mod maintenance;
mod namespaces;
mod resident;
mod row_security;
mod schema;
mod select;
mod servers;
mod serving;
mod session;
mod sharding;
#[cfg(test)]
#[path = "../../tests/sharding/mod.rs"]
mod statements;
#[cfg(test)]
mod testing;
mod usage;
mod vectors;
mod words;

use std::sync::Mutex;
use std::sync::atomic::AtomicI32;

use deadpool_postgres::{GenericClient, Object};
use tokio_postgres::error::SqlState;

use crate::content::{Content, KnownNamespaces};
use crate::error::{Result, StoreError};
use crate::filter::Filter;
use crate::record::PassageRef;
use crate::session::{Row, Session, all};
use crate::vectors::{Effort, sample_ranks};
use connection::{Connections, Lasting};
use error::Failure;
use maintenance::Counted;
use resident::Legs;
use serving::Listening;
#[cfg(test)]
use sharding::tables;

pub use jobs::{Job, JobEnd, JobState, MOST_JOB_FAILURES, NextJob, TakenJob};
pub use serving::{NamespaceStatus, PostgresStatus};
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
    pub(crate) legs: Legs,
    pub(crate) namespaces: KnownNamespaces,
    pub(crate) listening: Listening,
    #[cfg(feature = "evidence")]
    pub(crate) guard: std::sync::Arc<crate::guard::Guard>,
}

impl PostgresStore {
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
        let is_distributed = connections.ask(async |connection| schema::are_distributed(connection).await)?;
        Ok(PostgresStore {
            #[cfg(feature = "evidence")]
            guard: std::sync::Arc::new(crate::guard::Guard::new(connections.address().as_ref())),
            connections,
            namespace: namespace.to_owned(),
            instance,
            is_distributed,
            holding: Holding::default(),
            counted: Counted::default(),
            legs: Legs::default(),
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

    #[cfg(feature = "evidence")]
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

    #[cfg(feature = "evidence")]
    fn put_evidence(
        &self,
        namespace: &str,
        origin: &str,
        records: &[crate::evidence::EvidenceRecord],
        changes: &[crate::record::Change],
    ) -> Result<crate::record::Applied> {
        let applied = self.connections.write(async |transaction| {
            let also = std::collections::BTreeSet::from([namespace.to_owned()]);
            let (mut applied, mut tasks) = self.apply_documents(transaction, changes, also).await?;
            let session = self.connections.session(transaction);
            crate::graph::write::<Failure>(&session, namespace, origin, records, &mut tasks).await?;
            tasks.apply(&session).await?;
            namespaces::count_evidence_change(transaction, &[namespace]).await?;
            applied.seq = self.change_number_in(transaction).await?;
            Ok(applied)
        })?;
        self.counted.wrote(records.len() as u64 + applied.passages_added);
        Ok(applied)
    }

    #[cfg(feature = "evidence")]
    fn run_sql(
        &self,
        namespace: &str,
        query: &crate::sql::SqlQuery,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<crate::sql::SqlRows> {
        self.query_evidence(namespace, query, cancelled)
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
