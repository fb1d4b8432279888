//! The store in PostgreSQL, for many servers and many writers.
//!
//! Every table that grows with the content has the namespace as the first column of its key, and nearly every statement names the
//! namespaces it concerns, so that the tables can be distributed by namespace.
//!
//! `connection` bridges from blocking calls to the asynchronous client, to the `servers` that `address` names and through an `outage`;
//! `faults` explains what can go wrong on the way. `schema` creates the tables, and `row_security` confines reading to namespaces a
//! second time. `changes` and `words` write documents, `documents` and `whole` read them. `scope`, `condition` and `select` resolve
//! filters. `lexical`, `bm25`, `best_by_words`, `word_index` and `words_in_memory` are the lexical leg, `vectors`, `unembedded`,
//! `coverage`, `nearest`, `vectors_in_memory` and `vector_index` the semantic one; `resident` holds what both keep in memory. `holding`
//! is the right to write over several calls, and `locks` keeps single changes of a namespace apart. `jobs` is the queue of trees to be
//! indexed, `listening` and `sessions` serve the servers of a team, and `sharding` distributes the tables.

mod address;
mod adopt;
mod best_by_words;
mod bm25;
mod changes;
#[cfg(test)]
mod changes_tests;
mod condition;
mod connection;
#[cfg(test)]
mod connection_tests;
mod copy;
mod coverage;
mod documents;
mod error;
mod evidence;
mod faults;
mod holding;
mod instance;
mod jobs;
#[cfg(test)]
mod jobs_tests;
mod legs;
#[cfg(test)]
mod legs_fixture;
#[cfg(test)]
mod legs_tests;
mod lexical;
mod listening;
#[cfg(test)]
mod listening_tests;
mod locks;
mod maintenance;
mod models;
mod namespaces;
mod nearest;
mod outage;
#[cfg(test)]
mod outage_tests;
mod password;
mod properties;
#[cfg(test)]
mod random_tests;
mod requirement;
mod resident;
mod row_security;
#[cfg(test)]
mod row_security_tests;
mod rows;
mod schema;
mod scope;
mod select;
mod servers;
mod sessions;
mod sharding;
mod statement;
#[cfg(test)]
#[path = "../../tests/sharding/mod.rs"]
mod statements;
mod statistics;
mod status;
#[cfg(test)]
mod testing;
mod tls;
mod unembedded;
mod usage;
mod vector_index;
mod vector_type;
mod vectors;
mod vectors_in_memory;
mod whole;
mod word_index;
mod words;
mod words_in_memory;
#[cfg(test)]
mod writers_tests;

use std::sync::Mutex;

use connection::Connections;
use holding::Holding;
pub use jobs::{Job, JobEnd, JobState, MOST_JOB_FAILURES, NextJob, TakenJob};
use legs::Legs;
use listening::Listening;
pub use schema::Migrated;
pub use sharding::Sharding;
#[cfg(test)]
use sharding::tables;
use statistics::Counted;
pub use status::{NamespaceStatus, PostgresStatus};

use crate::error::Result;
use crate::namespace::Namespace;

/// The [`Store`](crate::Store) in a PostgreSQL database.
#[derive(Debug)]
pub struct PostgresStore {
    connections: Connections,
    /// The tree that this store was opened for: its settings and its turn to write are its own.
    namespace: String,
    /// The random name of the tables that were opened.
    instance: String,
    holding: Holding,
    counted: Counted,
    legs: Legs,
    /// The namespaces at a change number. Every search reads them.
    namespaces: Mutex<Option<(u64, Vec<Namespace>)>>,
    listening: Listening,
    #[cfg(feature = "evidence")]
    guard: std::sync::Arc<crate::guard::Guard>,
}

impl PostgresStore {
    /// Opens the store in the database at `postgres://USER:PASSWORD@HOST:PORT/DATABASE`, and creates its tables if there are none.
    /// `namespace` is the tree that is indexed or searched from: settings are kept for it, and writers of it take turns.
    ///
    /// # Errors
    /// The address cannot be read, the server cannot be reached or refuses, or a newer version of the program wrote the tables.
    pub fn open(url: &str, namespace: &str) -> Result<PostgresStore> {
        let connections = Connections::new(url)?;
        connections.check_sessions()?;
        schema::migrate(&connections)?;
        connections.prepare_row_security()?;
        let instance = instance::read(&connections)?;
        Ok(PostgresStore {
            #[cfg(feature = "evidence")]
            guard: std::sync::Arc::new(crate::guard::Guard::new(connections.address().as_ref())),
            connections,
            namespace: namespace.to_owned(),
            instance,
            holding: Holding::default(),
            counted: Counted::default(),
            legs: Legs::default(),
            namespaces: Mutex::default(),
            listening: Listening::default(),
        })
    }

    /// Adds what a newer version of the program needs to the tables of a database. Opening does so as well.
    ///
    /// # Errors
    /// The database has no tables ([`Missing`](crate::StoreError::Missing)), a newer version of the program wrote tables that this
    /// one must not use, or the server cannot be reached or refuses.
    pub fn migrate(url: &str) -> Result<Migrated> {
        schema::migrate_existing(&Connections::new(url)?)
    }

    /// Returns the address without user and password.
    pub fn address(&self) -> &str {
        self.connections.address()
    }
}
