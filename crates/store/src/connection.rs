//! Opening SQLite connections, for all databases of the crate.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

/// Opens a database by path or URI. Every connection of the crate is opened here.
pub(crate) fn open(path: impl AsRef<Path>, flags: OpenFlags) -> rusqlite::Result<Connection> {
    // SQLite takes an allocator only before its first connection.
    #[cfg(feature = "evidence")]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_escaped_so_that_sqlite_reads_it_unchanged() {
        let uri = immutable_uri(Path::new("/a b/50%?/x#y/é.db"));
        assert_eq!(uri, "file:/a%20b/50%25%3f/x%23y/%c3%a9.db?immutable=1");
    }
}
