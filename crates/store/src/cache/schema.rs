//! The cache's file: opening it, creating it, and moving it aside when it is damaged.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::connection::quick_check;
use crate::error::{Result, StoreError};
use crate::files::beside;
use crate::schema::Schema;

/// Identified by "TAMC".
const SCHEMA: Schema = Schema { application_id: 0x5441_4d43, version: 1, tables: include_str!("schema.sql") };

/// Page size at which vectors of the usual dimensions waste little: five of 384 entries, one of 1536.
const PAGE_BYTES: u32 = 8192;

/// The time to wait for another process.
const PATIENCE: Duration = Duration::from_millis(500);

/// Opens the cache. A missing one is created, an unreadable one replaced.
pub(super) fn open(path: &Path) -> Result<Connection> {
    match open_as_it_is(path) {
        Err(StoreError::Corrupt { .. }) => {
            begin_anew(path)?;
            open_as_it_is(path)
        }
        opened => opened,
    }
}

/// Moves an unreadable cache aside, unless another process has done so. Returns its new path.
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
                return Err(StoreError::io(path, "removing the log of the damaged cache", error));
            }
            _ => {}
        }
    }
    Ok(Some(aside))
}

/// Returns a description of the damage inside the file, if there is any. Reads everything.
pub(super) fn damage(connection: &Connection, path: &Path) -> Result<Option<String>> {
    match quick_check(connection).map_err(|error| StoreError::sqlite(path, error)) {
        Err(StoreError::Corrupt { reason, .. }) => Ok(Some(reason)),
        checked => checked,
    }
}

fn open_as_it_is(path: &Path) -> Result<Connection> {
    let open = || {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let connection = crate::connection::open(path, flags)?;
        connection.busy_timeout(PATIENCE)?;
        // Both settings apply to a new file only, and the second would wait for a writer of an existing one.
        if connection.pragma_query_value(None, "page_count", |row| row.get::<_, i64>(0))? == 0 {
            connection.pragma_update(None, "page_size", PAGE_BYTES)?;
            connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
        }
        connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
        // A crash of the machine costs no more than embedding some texts again.
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        // On closing, a connection to a file that was moved aside would otherwise delete the log of the new file.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        Ok(connection)
    };
    let mut connection = open().map_err(|error| StoreError::sqlite(path, error))?;
    SCHEMA.create(&mut connection, path)?;
    Ok(connection)
}

/// Prevents other processes from moving the cache aside while it lives.
fn alone(path: &Path) -> Result<File> {
    let path = beside(path, ".lock");
    let locked = || {
        let file = OpenOptions::new().create(true).append(true).open(&path)?;
        file.lock()?;
        Ok(file)
    };
    locked().map_err(|error| StoreError::locking(&path, error))
}
