//! The store in PostgreSQL, for many servers and many writers.
//!
//! Every table has the namespace as the first column of its key, and every statement names the namespaces it concerns, so the tables
//! can be distributed by namespace. `connection` bridges from blocking calls to the asynchronous client, `schema` creates the tables,
//! and each other module implements one trait.

mod connection;
mod error;
#[cfg(feature = "evidence")]
mod guard;
mod properties;
mod schema;
#[cfg(test)]
mod testing;

use connection::Connections;

use crate::error::Result;

/// The [`Store`](crate::Store) in a PostgreSQL database.
#[derive(Debug)]
pub struct PostgresStore {
    connections: Connections,
}

impl PostgresStore {
    /// Opens the store in the database at `postgres://USER:PASSWORD@HOST:PORT/DATABASE`, and creates its tables if there are none.
    ///
    /// # Errors
    /// The address cannot be read, the server cannot be reached or refuses, or a newer version of the program wrote the tables.
    pub fn open(url: &str) -> Result<PostgresStore> {
        let connections = Connections::new(url)?;
        schema::migrate(&connections)?;
        Ok(PostgresStore { connections })
    }

    /// Returns the address without user and password.
    pub fn address(&self) -> &str {
        self.connections.address()
    }
}
