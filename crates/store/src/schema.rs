//! Versions of a database's schema: one mechanism for the three databases of the crate.
//!
//! `application_id` distinguishes our databases from those of other programs, and `user_version` counts the migrations
//! that a database has had.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use crate::connection::read_schema;
use crate::error::{Result, StoreError};

/// The schema of one kind of database.
pub(crate) struct Schema {
    /// Four letters that identify the kind.
    pub(crate) application_id: i64,
    /// Migration n makes version n + 1. A released one never changes.
    pub(crate) migrations: &'static [Migration],
}

/// One step from a version to the next.
pub(crate) struct Migration {
    pub(crate) sql: &'static str,
    /// Runs after the SQL, for changes that SQL cannot express.
    pub(crate) then: Option<fn(&Connection) -> rusqlite::Result<()>>,
}

impl Migration {
    /// A step in SQL alone.
    pub(crate) const fn sql(sql: &'static str) -> Migration {
        Migration { sql, then: None }
    }
}

impl Schema {
    /// The version that this program writes.
    pub(crate) const fn version(&self) -> u32 {
        self.migrations.len() as u32
    }

    /// Returns the version of a database, 0 for an empty one.
    ///
    /// # Errors
    /// The database belongs to another program or was written by a newer version.
    pub(crate) fn version_of(&self, connection: &Connection, path: &Path) -> Result<u32> {
        let failed = |error| StoreError::sqlite(path, error);
        let found: u32 = connection.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(failed)?;
        let id: i64 = connection.pragma_query_value(None, "application_id", |row| row.get(0)).map_err(failed)?;
        // Pragmas answer for an unreadable file too, so the schema is read in any case.
        let tables = read_schema(connection).map_err(failed)?;
        if id != self.application_id && (tables != 0 || found != 0) {
            let reason = "the database of another program".to_owned();
            return Err(StoreError::Corrupt { path: path.to_owned(), reason });
        }
        if found > self.version() {
            return Err(StoreError::Newer { path: path.to_owned(), found, supported: self.version() });
        }
        Ok(found)
    }

    /// Creates the tables, or upgrades them, in one transaction.
    pub(crate) fn migrate(&self, connection: &mut Connection, path: &Path) -> Result<()> {
        if self.version_of(connection, path)? == self.version() {
            return Ok(());
        }
        let failed = |error| StoreError::sqlite(path, error);
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
        // Another process may have migrated before the lock was ours.
        let from = self.version_of(&transaction, path)?;
        let run = || {
            for (migration, to) in self.migrations.iter().zip(1u32..).skip(from as usize) {
                transaction.execute_batch(migration.sql)?;
                if let Some(then) = migration.then {
                    then(&transaction)?;
                }
                transaction.pragma_update(None, "user_version", to)?;
            }
            transaction.pragma_update(None, "application_id", self.application_id)
        };
        run().map_err(failed)?;
        transaction.commit().map_err(failed)
    }

    /// The error for a database of an earlier version that may not be upgraded.
    pub(crate) fn older(&self, path: &Path, found: u32) -> StoreError {
        StoreError::Older { path: path.to_owned(), found, supported: self.version() }
    }
}
