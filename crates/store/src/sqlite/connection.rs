//! SQLite connections, for all databases of the crate: opening them, the version of their schema, and reading rows.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, OptionalExtension, Params, Row, TransactionBehavior};

use crate::error::{Result, StoreError};

/// Opens a database by path or URI. Every connection of the crate is opened here.
pub(crate) fn open(path: impl AsRef<Path>, flags: OpenFlags) -> rusqlite::Result<Connection> {
    // SQLite takes an allocator only before its first connection.
    crate::counting_allocator::install();
    if flags.contains(OpenFlags::SQLITE_OPEN_CREATE) {
        // SQLite makes files that the group cannot write, whatever the user's mask says, and gives a log the mode of its database.
        // It reports what went wrong here.
        drop(std::fs::OpenOptions::new().write(true).create_new(true).open(&path));
    }
    // To SQLite a file of a single byte is an empty database, in which the next write begins a new one.
    if std::fs::metadata(&path).is_ok_and(|file| file.len() == 1) {
        let damaged = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_NOTADB);
        return Err(rusqlite::Error::SqliteFailure(damaged, Some("a single byte is left of it".to_owned())));
    }
    let connection = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    // Plans depend on no bound value. Otherwise SQLite prepares a kept statement again for each value, which took most of a search.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(connection)
}

/// Reads the schema. Opening a connection reads nothing yet, so a damaged or unreadable file shows up here.
pub(crate) fn read_schema(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
}

/// Writes the write-ahead log back and empties it, so that the file alone holds everything. Waits for nobody.
pub(crate) fn checkpoint(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(Duration::ZERO)?;
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
}

/// Runs SQLite's quick check and returns the first finding.
pub(crate) fn quick_check(connection: &Connection) -> rusqlite::Result<Option<String>> {
    let state: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    Ok((state != "ok").then_some(state))
}

/// Checks everything that SQLite can check, which takes longer, and returns the first finding: pages, rows, the entries of indexes, and
/// references.
pub(crate) fn whole_check(connection: &Connection) -> rusqlite::Result<Option<String>> {
    let state: String = connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
    if state != "ok" {
        return Ok(Some(state));
    }
    let dangling: i64 = connection.query_row("SELECT count(*) FROM pragma_foreign_key_check", [], |row| row.get(0))?;
    Ok((dangling > 0).then(|| format!("{dangling} rows refer to missing rows")))
}

/// The path as a URI that tells SQLite that the file does not change.
pub(crate) fn immutable_uri(path: &Path) -> String {
    file_uri(path, "immutable=1")
}

/// The path as a URI with a parameter. On Windows its backslashes are kept, because a path that begins with `\\?\` works
/// with no others.
pub(crate) fn file_uri(path: &Path, parameter: &str) -> String {
    use std::fmt::Write;
    let mut uri = "file:".to_owned();
    for &byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' => uri.push(char::from(byte)),
            _ if byte.is_ascii_alphanumeric() => uri.push(char::from(byte)),
            _ => {
                // Writing to a string cannot fail.
                let _ = write!(uri, "%{byte:02x}");
            }
        }
    }
    uri.push('?');
    uri.push_str(parameter);
    uri
}

/// The operations a store is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Searching only. The index must exist. Its directory may be read-only, and nothing is created in it.
    ReadOnly,
    /// Searching and writing. A missing index is created.
    ReadWrite,
}

/// The schema of one kind of database.
///
/// `application_id` distinguishes our databases from those of other programs, and `user_version` is the version. A database of another
/// version is refused and left alone.
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

/// Returns all rows of a statement, which is kept prepared.
pub(crate) fn all<T, C: FromIterator<T>>(
    connection: &Connection,
    sql: &str,
    values: impl Params,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<C> {
    connection.prepare_cached(sql)?.query_map(values, read)?.collect()
}

/// Passes the rows of a statement on, which is kept prepared.
pub(crate) fn each<E: From<rusqlite::Error>>(
    connection: &Connection,
    sql: &str,
    values: impl Params,
    mut read: impl FnMut(&Row<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(values)?;
    while let Some(row) = rows.next()? {
        read(row)?;
    }
    Ok(())
}

/// Returns the first row of a statement, which is kept prepared; `None` without rows.
pub(crate) fn one<T>(
    connection: &Connection,
    sql: &str,
    values: impl Params,
    read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Option<T>> {
    connection.prepare_cached(sql)?.query_row(values, read).optional()
}

/// Returns the number that a statement computes; the statement is kept prepared.
pub(crate) fn count(connection: &Connection, sql: &str, values: impl Params) -> rusqlite::Result<u64> {
    connection.prepare_cached(sql)?.query_row(values, |row| unsigned(row, 0))
}

/// Returns a column that is never negative. SQLite has signed integers alone.
pub(crate) fn unsigned(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    row.get::<_, i64>(column).map(|number| number as u64)
}

/// Runs a statement, which is kept prepared, and returns the number of rows it changed.
pub(crate) fn execute(connection: &Connection, sql: &str, values: impl Params) -> rusqlite::Result<usize> {
    connection.prepare_cached(sql)?.execute(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_escaped_so_that_sqlite_reads_it_unchanged() {
        let uri = immutable_uri(Path::new("/a b/50%?/x#y/é.db"));
        assert_eq!(uri, "file:/a%20b/50%25%3f/x%23y/%c3%a9.db?immutable=1");
    }

    #[test]
    fn a_failed_creation_changes_nothing() {
        let whole = Schema { application_id: 1, version: 4, tables: "CREATE TABLE notes(text TEXT NOT NULL)" };
        let broken = Schema { tables: "CREATE TABLE notes(text TEXT NOT NULL); SELECT nonsense", ..whole };
        let (mut connection, path) = (Connection::open_in_memory().unwrap(), Path::new("notes.db"));
        broken.create(&mut connection, path).unwrap_err();
        assert!(!whole.is_in(&connection, path).unwrap());
        whole.create(&mut connection, path).unwrap();
        assert!(whole.is_in(&connection, path).unwrap());
    }
}
