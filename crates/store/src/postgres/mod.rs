//! The store in PostgreSQL, for many servers and many writers.
//!
//! Every table has the namespace as the first column of its key, and every statement names the namespaces it concerns, so the tables
//! can be distributed by namespace. `connection` bridges from blocking calls to the asynchronous client, `schema` creates the tables,
//! and each other module implements one trait.

mod condition;
mod connection;
mod error;
mod lexical;
mod properties;
mod schema;
mod scope;
mod select;
mod statement;
#[cfg(test)]
mod testing;
mod words;

use std::sync::Arc;

use connection::Connections;
use select::Selection;

use crate::error::Result;
use crate::filter::Filter;
use crate::recent::Recent;

/// The [`Store`](crate::Store) in a PostgreSQL database.
#[derive(Debug)]
pub struct PostgresStore {
    connections: Connections,
    /// The selections of recent filters, by the state of their namespaces.
    selections: Recent<(Vec<(i32, i64)>, Filter), Arc<Selection>>,
}

impl PostgresStore {
    /// Opens the store in the database at `postgres://USER:PASSWORD@HOST:PORT/DATABASE`, and creates its tables if there are none.
    ///
    /// # Errors
    /// The address cannot be read, the server cannot be reached or refuses, or a newer version of the program wrote the tables.
    pub fn open(url: &str) -> Result<PostgresStore> {
        let connections = Connections::new(url)?;
        schema::migrate(&connections)?;
        Ok(PostgresStore { connections, selections: Recent::default() })
    }

    /// Returns the address without user and password.
    pub fn address(&self) -> &str {
        self.connections.address()
    }
}
