//! The version of a database's schema: one mechanism for the three databases of the crate.
//!
//! `application_id` distinguishes our databases from those of other programs, and `user_version` is the version. A database of another
//! version is refused and left alone.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use crate::connection::read_schema;
use crate::error::{Result, StoreError};

/// The schema of one kind of database.
pub(crate) struct Schema {
    /// Four letters that identify the kind.
    pub(crate) application_id: i64,
    /// The version that this program reads and writes.
    pub(crate) version: u32,
    /// Creates the tables.
    pub(crate) tables: &'static str,
}

impl Schema {
    /// Checks an existing database. Returns `true` if it has the tables, `false` if it is empty.
    ///
    /// # Errors
    /// The database belongs to another program, or has another version.
    pub(crate) fn is_in(&self, connection: &Connection, path: &Path) -> Result<bool> {
        let failed = |error| StoreError::sqlite(path, error);
        let found: u32 = connection.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(failed)?;
        let id: i64 = connection.pragma_query_value(None, "application_id", |row| row.get(0)).map_err(failed)?;
        // Pragmas answer for an unreadable file too, so the schema is read in any case.
        let tables = read_schema(connection).map_err(failed)?;
        if id != self.application_id && (tables != 0 || found != 0) {
            let reason = "the database of another program".to_owned();
            return Err(StoreError::Corrupt { path: path.to_owned(), reason });
        }
        if found != 0 && found != self.version {
            return Err(StoreError::OtherVersion { path: path.to_owned(), found, needed: self.version });
        }
        Ok(found == self.version)
    }

    /// Fails if a database does not have the tables.
    pub(crate) fn expect(&self, connection: &Connection, path: &Path) -> Result<()> {
        match self.is_in(connection, path)? {
            true => Ok(()),
            false => Err(StoreError::OtherVersion { path: path.to_owned(), found: 0, needed: self.version }),
        }
    }

    /// Creates the tables in an empty database, in one transaction.
    pub(crate) fn create(&self, connection: &mut Connection, path: &Path) -> Result<()> {
        if self.is_in(connection, path)? {
            return Ok(());
        }
        let failed = |error| StoreError::sqlite(path, error);
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
        // Another process may have created them before the lock was ours.
        if self.is_in(&transaction, path)? {
            return Ok(());
        }
        let run = || {
            transaction.execute_batch(self.tables)?;
            transaction.pragma_update(None, "user_version", self.version)?;
            transaction.pragma_update(None, "application_id", self.application_id)
        };
        run().map_err(failed)?;
        transaction.commit().map_err(failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMA: Schema = Schema { application_id: 1, version: 4, tables: "CREATE TABLE notes(text TEXT NOT NULL)" };

    fn create(connection: &mut Connection, schema: &Schema) -> Result<()> {
        schema.create(connection, Path::new("notes.db"))
    }

    #[test]
    fn an_empty_database_gets_the_tables_once() {
        let mut connection = Connection::open_in_memory().unwrap();
        assert!(!SCHEMA.is_in(&connection, Path::new("notes.db")).unwrap());
        create(&mut connection, &SCHEMA).unwrap();
        connection.execute_batch("INSERT INTO notes VALUES ('kept')").unwrap();
        create(&mut connection, &SCHEMA).unwrap();
        assert!(SCHEMA.is_in(&connection, Path::new("notes.db")).unwrap());
        assert_eq!(crate::query::count(&connection, "SELECT count(*) FROM notes", []).unwrap(), 1);
    }

    #[test]
    fn a_failed_creation_changes_nothing() {
        let broken = Schema { tables: "CREATE TABLE notes(text TEXT NOT NULL); SELECT nonsense", ..SCHEMA };
        let mut connection = Connection::open_in_memory().unwrap();
        create(&mut connection, &broken).unwrap_err();
        assert!(!SCHEMA.is_in(&connection, Path::new("notes.db")).unwrap());
        create(&mut connection, &SCHEMA).unwrap();
    }

    #[test]
    fn a_database_of_another_version_is_refused_and_left_alone() {
        for found in [3, 5] {
            let mut connection = Connection::open_in_memory().unwrap();
            create(&mut connection, &Schema { version: found, ..SCHEMA }).unwrap();
            let refused = create(&mut connection, &SCHEMA).unwrap_err();
            assert!(
                matches!(refused, StoreError::OtherVersion { found: said, needed: 4, .. } if said == found),
                "{refused}"
            );
            assert!(refused.to_string().contains("mv notes.db notes.db.aside"), "{refused}");
            let version: u32 = connection.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
            assert_eq!(version, found);
        }
    }

    #[test]
    fn the_database_of_another_program_is_refused() {
        let mut connection = Connection::open_in_memory().unwrap();
        create(&mut connection, &Schema { application_id: 2, ..SCHEMA }).unwrap();
        assert!(matches!(create(&mut connection, &SCHEMA), Err(StoreError::Corrupt { .. })));
    }
}
