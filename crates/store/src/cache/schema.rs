//! The cache's file: how it is opened, made, and moved aside when it is damaged.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use crate::error::{Result, StoreError};
use crate::schema_version::schema_version;

/// The one version there is. A cache of another one is begun anew, since nothing in it is worth a migration.
const SCHEMA_VERSION: u32 = 1;

/// What tells the cache from any other database: "TAMC".
const APPLICATION_ID: i64 = 0x5441_4d43;

/// Pages in which vectors of the usual lengths leave little unused: five of 384 entries, one of 1536.
const PAGE_BYTES: u32 = 8192;

/// How long another process is waited for.
const PATIENCE: Duration = Duration::from_millis(500);

const SCHEMA: &str = include_str!("schema.sql");

/// Opens the cache, made where there is none and made anew where it cannot be read.
pub(super) fn open(path: &Path) -> Result<Connection> {
    match open_as_it_is(path) {
        Err(StoreError::Corrupt { .. } | StoreError::Older { .. }) => {
            begin_anew(path)?;
            open_as_it_is(path)
        }
        opened => opened,
    }
}

/// Moves a cache that cannot be read aside, unless another process has done so meanwhile. Returns where it is now.
pub(super) fn begin_anew(path: &Path) -> Result<Option<PathBuf>> {
    let _alone = alone(path)?;
    if open_as_it_is(path).and_then(|connection| damage(&connection, path)).is_ok_and(|damage| damage.is_none()) {
        return Ok(None);
    }
    let aside = beside(path, ".damaged");
    std::fs::rename(path, &aside).map_err(|error| StoreError::io(path, "moving the damaged cache aside", error))?;
    for suffix in ["-wal", "-shm"] {
        match std::fs::remove_file(beside(path, suffix)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(StoreError::io(path, "removing what belongs to the damaged cache", error));
            }
            _ => {}
        }
    }
    Ok(Some(aside))
}

/// What is wrong inside the file, if anything is. Reads all of it.
pub(super) fn damage(connection: &Connection, path: &Path) -> Result<Option<String>> {
    match connection.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0)) {
        Ok(answer) if answer == "ok" => Ok(None),
        Ok(answer) => Ok(Some(answer)),
        Err(error) => match StoreError::sqlite(path, error) {
            StoreError::Corrupt { reason, .. } => Ok(Some(reason)),
            other => Err(other),
        },
    }
}

/// Writes the write-ahead log back; waits for nobody.
pub(super) fn checkpoint(connection: &Connection) {
    let checkpoint = || {
        connection.busy_timeout(Duration::ZERO)?;
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
    };
    // What is not written back now is written back by whoever is last.
    let _: rusqlite::Result<()> = checkpoint();
}

/// A file beside the cache.
pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

fn open_as_it_is(path: &Path) -> Result<Connection> {
    let failed = |error| StoreError::sqlite(path, error);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    crate::sqlite::count_memory();
    let mut connection = Connection::open_with_flags(path, flags).map_err(failed)?;
    let settings = |connection: &Connection| {
        connection.busy_timeout(PATIENCE)?;
        // Both hold only for a file that is yet to be made, and the second would wait for whoever writes another.
        if connection.pragma_query_value(None, "page_count", |row| row.get::<_, i64>(0))? == 0 {
            connection.pragma_update(None, "page_size", PAGE_BYTES)?;
            connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
        }
        connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
        // What a crash of the machine loses is only embedded once more.
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        // A connection to a file that another process moved aside must not take the new one's log with it at its end.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map(|_| ())
    };
    settings(&connection).map_err(failed)?;
    if version(&connection, path)? == 0 {
        make(&mut connection, path)?;
    }
    Ok(connection)
}

fn make(connection: &mut Connection, path: &Path) -> Result<()> {
    let failed = |error| StoreError::sqlite(path, error);
    // Another process may do the same: what holds is what the version says once the lock is ours.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    if version(&transaction, path)? == 0 {
        transaction.execute_batch(SCHEMA).map_err(failed)?;
        transaction.pragma_update(None, "user_version", SCHEMA_VERSION).map_err(failed)?;
        transaction.pragma_update(None, "application_id", APPLICATION_ID).map_err(failed)?;
    }
    transaction.commit().map_err(failed)
}

/// The version of the cache, or 0 of an empty one.
fn version(connection: &Connection, path: &Path) -> Result<u32> {
    match schema_version(connection, path, APPLICATION_ID, SCHEMA_VERSION)? {
        found @ 1.. if found < SCHEMA_VERSION => {
            Err(StoreError::Older { path: path.to_owned(), found, supported: SCHEMA_VERSION })
        }
        found => Ok(found),
    }
}

/// Keeps other processes from moving the cache aside as long as it lives.
fn alone(path: &Path) -> Result<File> {
    let path = beside(path, ".lock");
    let locked = || {
        let file = OpenOptions::new().create(true).append(true).open(&path)?;
        file.lock()?;
        Ok(file)
    };
    locked().map_err(|error| StoreError::io(&path, "locking", error))
}
