//! The log's file: opening and creating it.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::connection::{immutable_uri, open, read_schema};
use crate::error::{Result, StoreError};
use crate::files::{has_log, log_path};
use crate::schema::Schema;

/// Identified by "TAMU".
const SCHEMA: Schema = Schema { application_id: 0x5441_4d55, version: 5, tables: include_str!("schema.sql") };

/// A record writes the write-ahead log back at this many pages, which waits for the disk. Most processes end before, and
/// closing does it.
const CHECKPOINT_PAGES: i64 = 2048;

/// Opens the log for writing and creates it if it is missing.
pub(super) fn open_writable(path: &Path, busy_timeout: Duration) -> Result<Connection> {
    let open = || {
        let connection = open(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)?;
        connection.busy_timeout(busy_timeout)?;
        connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        connection.pragma_update(None, "foreign_keys", true)?;
        connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
        // SQLite's own checkpoint on closing would wait for the disk each time.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        Ok(connection)
    };
    let mut connection = open().map_err(|error| StoreError::sqlite(path, error))?;
    SCHEMA.create(&mut connection, path)?;
    Ok(connection)
}

/// Opens an existing log for reading, also in a directory that cannot be written.
pub(super) fn open_read_only(path: &Path, busy_timeout: Duration) -> Result<Connection> {
    let failed = |error| StoreError::sqlite(path, error);
    let open = |uri: &str, flags: OpenFlags| {
        let connection = open(uri, flags | OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        connection.busy_timeout(busy_timeout)?;
        read_schema(&connection)?;
        Ok(connection)
    };
    let connection = match open(&path.to_string_lossy(), OpenFlags::empty()).map_err(failed) {
        // Without the right to write, or room, SQLite cannot create the shared memory of a write-ahead log. An empty log can
        // be ignored.
        Err(StoreError::ReadOnly { .. } | StoreError::Full { .. }) => {
            if has_log(path) {
                return Err(StoreError::Unfinished { path: log_path(path) });
            }
            open(&immutable_uri(path), OpenFlags::SQLITE_OPEN_URI).map_err(failed)?
        }
        opened => opened?,
    };
    SCHEMA.expect(&connection, path)?;
    Ok(connection)
}
