//! The log's file: how it is opened, made and upgraded.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use crate::error::{Result, StoreError};
use crate::schema_version::schema_version;

/// Migration n makes version n + 1. A released one never changes; each only adds.
pub(super) const MIGRATIONS: &[&str] = &[include_str!("migrations/0001.sql"), include_str!("migrations/0002.sql")];

/// The version that this program writes.
const SCHEMA_VERSION: u32 = MIGRATIONS.len() as u32;

/// What tells the log from any other database: "TAMU".
const APPLICATION_ID: i64 = 0x5441_4d55;

/// Pages of the write-ahead log from which a record writes it back, which waits for the disk. Most processes end before,
/// and then it is done on the way out.
const CHECKPOINT_PAGES: i64 = 2048;

/// Bytes of the write-ahead log from which it is written back at the end. What the next process has to read again stays
/// small, and most ends wait for nothing.
const CHECKPOINT_BYTES: u64 = 2 << 20;

/// Opens the log for writing and makes it where there is none.
pub(super) fn open_writable(path: &Path, busy_timeout: Duration) -> Result<Connection> {
    let failed = |error| StoreError::sqlite(path, error);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    crate::sqlite::count_memory();
    let mut connection = Connection::open_with_flags(path, flags).map_err(failed)?;
    let settings = |connection: &Connection| {
        connection.busy_timeout(busy_timeout)?;
        connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        connection.pragma_update(None, "foreign_keys", true)?;
        connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
        // SQLite's own checkpoint at the end would wait for the disk each time.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map(|_| ())
    };
    settings(&connection).map_err(failed)?;
    if version(&connection, path)? < SCHEMA_VERSION {
        migrate(&mut connection, path)?;
    }
    Ok(connection)
}

/// Opens an existing log for reading, also where its directory cannot be written. Migrations only add, so one of an
/// earlier version is read as it is.
pub(super) fn open_read_only(path: &Path, busy_timeout: Duration) -> Result<Connection> {
    let failed = |error| StoreError::sqlite(path, error);
    let open = |uri: &str, flags: OpenFlags| {
        let flags = flags | OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        crate::sqlite::count_memory();
        let connection = Connection::open_with_flags(uri, flags)?;
        connection.busy_timeout(busy_timeout)?;
        // Opening reads nothing yet.
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0))?;
        Ok(connection)
    };
    let connection = match open(&path.to_string_lossy(), OpenFlags::empty()) {
        Ok(connection) => connection,
        Err(error) => {
            let error = failed(error);
            if !matches!(error, StoreError::ReadOnly { .. } | StoreError::Full { .. }) {
                return Err(error);
            }
            // Without the right to write, or room, there is no shared memory for a write-ahead log. One that is empty can be done
            // without.
            if log_bytes(path) > 0 {
                return Err(StoreError::Unfinished { path: log_path(path) });
            }
            open(&crate::sqlite::immutable_uri(path), OpenFlags::SQLITE_OPEN_URI).map_err(failed)?
        }
    };
    match version(&connection, path)? {
        found @ 0 => Err(StoreError::Older { path: path.to_owned(), found, supported: SCHEMA_VERSION }),
        _ => Ok(connection),
    }
}

/// Writes the write-ahead log back where it has grown.
pub(super) fn checkpoint_if_large(connection: &Connection, path: &Path) {
    if log_bytes(path) >= CHECKPOINT_BYTES {
        // Nothing is lost by a checkpoint that does not happen.
        let _ = checkpoint(connection);
    }
}

/// Writes the write-ahead log back and empties it, so that the file alone holds everything; waits for nobody.
pub(super) fn checkpoint(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(Duration::ZERO)?;
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
}

fn log_path(path: &Path) -> PathBuf {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    PathBuf::from(log)
}

fn log_bytes(path: &Path) -> u64 {
    std::fs::metadata(log_path(path)).map_or(0, |log| log.len())
}

fn migrate(connection: &mut Connection, path: &Path) -> Result<()> {
    let failed = |error| StoreError::sqlite(path, error);
    // Another process may do the same: what holds is what the version says once the lock is ours.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    let from = version(&transaction, path)?;
    for (migration, to) in MIGRATIONS.iter().zip(1u32..).skip(from as usize) {
        transaction.execute_batch(migration).map_err(failed)?;
        transaction.pragma_update(None, "user_version", to).map_err(failed)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID).map_err(failed)?;
    transaction.commit().map_err(failed)
}

fn version(connection: &Connection, path: &Path) -> Result<u32> {
    schema_version(connection, path, APPLICATION_ID, SCHEMA_VERSION)
}
