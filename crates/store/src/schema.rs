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
    /// The version that the first migration makes. Databases of an earlier one are not upgraded.
    pub(crate) first: u32,
    /// Each makes the version after the one before it. A released one never changes.
    pub(crate) migrations: &'static [&'static str],
}

impl Schema {
    /// The version that this program writes.
    pub(crate) const fn version(&self) -> u32 {
        self.first - 1 + self.migrations.len() as u32
    }

    /// Returns the version of a database, 0 for an empty one.
    ///
    /// # Errors
    /// The database belongs to another program, was written by a newer version, or by one that is too old to be upgraded.
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
        if (1..self.first).contains(&found) {
            return Err(self.older(path, found));
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
            for (migration, to) in self.migrations.iter().zip(self.first..).filter(|(_, to)| *to > from) {
                transaction.execute_batch(migration)?;
                transaction.pragma_update(None, "user_version", to)?;
            }
            transaction.pragma_update(None, "application_id", self.application_id)
        };
        run().map_err(failed)?;
        transaction.commit().map_err(failed)
    }

    /// The error for a database of an earlier version that may not be upgraded.
    pub(crate) fn older(&self, path: &Path, found: u32) -> StoreError {
        let is_upgraded = !(1..self.first).contains(&found);
        StoreError::Older { path: path.to_owned(), found, supported: self.version(), is_upgraded }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &str = "CREATE TABLE notes(text TEXT NOT NULL)";
    const SECOND: &str = "ALTER TABLE notes ADD COLUMN stars INTEGER NOT NULL DEFAULT 3";
    const OLD: Schema = Schema { application_id: 1, first: 4, migrations: &[FIRST] };
    const NEW: Schema = Schema { application_id: 1, first: 4, migrations: &[FIRST, SECOND] };

    fn migrate(connection: &mut Connection, schema: &Schema) -> Result<()> {
        schema.migrate(connection, Path::new("notes.db"))
    }

    fn stars(connection: &Connection) -> Vec<(String, i64)> {
        crate::query::all(connection, "SELECT text, stars FROM notes", [], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap()
    }

    #[test]
    fn an_older_database_is_upgraded_and_keeps_its_rows() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, &OLD).unwrap();
        connection.execute_batch("INSERT INTO notes VALUES ('kept')").unwrap();
        migrate(&mut connection, &NEW).unwrap();
        migrate(&mut connection, &NEW).unwrap();
        assert_eq!(stars(&connection), [("kept".to_owned(), 3)]);
        assert_eq!(NEW.version_of(&connection, Path::new("notes.db")).unwrap(), 5);
        let newer = migrate(&mut connection, &OLD).unwrap_err();
        assert!(matches!(newer, StoreError::Newer { found: 5, supported: 4, .. }), "{newer}");
    }

    #[test]
    fn a_failed_migration_changes_nothing() {
        const BROKEN: Schema = Schema { migrations: &[FIRST, SECOND, "SELECT nonsense"], ..NEW };
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, &OLD).unwrap();
        migrate(&mut connection, &BROKEN).unwrap_err();
        assert_eq!(BROKEN.version_of(&connection, Path::new("notes.db")).unwrap(), 4);
        migrate(&mut connection, &NEW).unwrap();
        assert_eq!(stars(&connection), []);
    }

    #[test]
    fn a_database_from_before_the_first_version_is_refused_and_left_alone() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, &OLD).unwrap();
        connection.pragma_update(None, "user_version", 3).unwrap();
        let older = migrate(&mut connection, &NEW).unwrap_err();
        assert!(matches!(older, StoreError::Older { found: 3, supported: 5, .. }), "{older}");
        assert!(older.to_string().starts_with("notes.db: written with schema version 3"), "{older}");
        let version: u32 = connection.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
        assert_eq!(version, 3);
    }

    #[test]
    fn the_database_of_another_program_is_refused() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, &Schema { application_id: 2, ..OLD }).unwrap();
        assert!(matches!(migrate(&mut connection, &OLD), Err(StoreError::Corrupt { .. })));
    }
}
