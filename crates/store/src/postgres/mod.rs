//! The store in PostgreSQL, for many servers and many writers.
//!
//! Every table has the namespace as the first column of its key, and every statement names the namespaces it concerns, so the tables
//! can be distributed by namespace. `connection` bridges from blocking calls to the asynchronous client, `schema` creates the tables,
//! and each other module implements one trait.

mod bm25;
mod condition;
mod connection;
mod error;
mod legs;
#[cfg(test)]
mod legs_tests;
mod lexical;
mod models;
mod nearest;
mod password;
mod properties;
mod resident;
mod schema;
mod scope;
mod select;
mod statement;
mod status;
#[cfg(test)]
mod testing;
mod usage;
mod vector_index;
mod vector_type;
mod vectors;
mod word_index;

use connection::Connections;
use legs::Legs;
pub use status::{NamespaceStatus, PostgresStatus};

use crate::error::Result;

/// The [`Store`](crate::Store) in a PostgreSQL database.
#[derive(Debug)]
pub struct PostgresStore {
    connections: Connections,
    /// The tree that this store was opened for: its settings and its turn to write are its own.
    namespace: String,
    legs: Legs,
}

impl PostgresStore {
    /// Opens the store in the database at `postgres://USER:PASSWORD@HOST:PORT/DATABASE`, and creates its tables if there are none.
    /// `namespace` is the tree that is indexed or searched from: settings are kept for it, and writers of it take turns.
    ///
    /// # Errors
    /// The address cannot be read, the server cannot be reached or refuses, or a newer version of the program wrote the tables.
    pub fn open(url: &str, namespace: &str) -> Result<PostgresStore> {
        let connections = Connections::new(url)?;
        schema::migrate(&connections)?;
        Ok(PostgresStore { connections, namespace: namespace.to_owned(), legs: Legs::default() })
    }

    /// Returns the address without user and password.
    pub fn address(&self) -> &str {
        self.connections.address()
    }
}
