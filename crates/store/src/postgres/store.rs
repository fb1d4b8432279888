//! The store: opening it, and what it keeps between calls.

use std::sync::Mutex;
use std::sync::atomic::AtomicI32;

use deadpool_postgres::Object;

use super::connection::{Connections, Lasting};
use super::error::Failure;
use super::legs::Legs;
use super::listening::Listening;
use super::nodes;
use super::schema;
use super::select;
use super::statistics::Counted;
use crate::content::{Content, KnownNamespaces};
use crate::error::Result;
use crate::filter::Filter;
use crate::record::PassageRef;
use crate::session::{Row, Session, all};

/// Reads the random name that identifies the tables.
pub(super) const READ_INSTANCE: &str = "SELECT value FROM meta WHERE key = 'instance'";

/// The [`Store`](crate::Store) in a PostgreSQL database.
#[derive(Debug)]
pub struct PostgresStore {
    pub(super) connections: Connections,
    /// The tree that this store was opened for: its settings and its turn to write are its own.
    pub(super) namespace: String,
    /// The random name of the tables that were opened.
    pub(super) instance: String,
    /// True if the tables were distributed when they were opened. Whatever changes that gives the tables another name.
    pub(super) is_distributed: bool,
    pub(super) holding: Holding,
    pub(super) counted: Counted,
    pub(super) legs: Legs,
    pub(super) namespaces: KnownNamespaces,
    pub(super) listening: Listening,
    #[cfg(feature = "evidence")]
    pub(super) guard: std::sync::Arc<crate::guard::Guard>,
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
        let is_distributed = connections.ask(async |connection| nodes::are_distributed(connection).await)?;
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
            super::evidence::changed(transaction, &[namespace]).await?;
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
pub(super) struct Holding {
    pub state: Mutex<Shares>,
    /// The process of the server that holds the lock, or held it until its connection broke. Changes read it apart from the state,
    /// whose owner may wait for the server.
    pub process: AtomicI32,
}

#[derive(Debug, Default)]
pub(super) struct Shares {
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
