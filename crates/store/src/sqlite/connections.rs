//! Opening connections to the database.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use crate::connection::{immutable_uri, open, read_schema};
use crate::error::{StoreError, lacks_room};
use crate::files::{has_log, log_path};
use crate::stamp::Stamp;

/// The time a statement waits for another connection's lock. Only commits, checkpoints and opening ever wait.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
/// Page cache of the writing connection, in KiB.
const WRITER_CACHE_KIB: i64 = 128 * 1024;
/// Page cache of a reading connection, in KiB.
const READER_CACHE_KIB: i64 = 16 * 1024;
/// The largest file that is mapped instead of read. The pages of a mapping stay resident with their neighbours, and a search touches
/// pages all over the file: a server's memory would grow to the size of the database.
const LARGEST_MAPPED: u64 = 128 << 20;
/// Page size of a new database. Compared with 4 KiB, rows of text and vectors waste less space (a file 11 to 15% smaller)
/// and are written 10 to 20% faster; reading ten passages takes as long. 16 KiB gains no more.
const PAGE_BYTES: i64 = 8192;
/// The write-ahead log is written back at this many pages.
const CHECKPOINT_PAGES: i64 = 4096;

/// Opens a connection for writing, which may create the database.
pub(super) fn writer(path: &Path) -> rusqlite::Result<Connection> {
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE, false)?;
    connection.pragma_update(None, "page_size", PAGE_BYTES)?;
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "cache_size", -WRITER_CACHE_KIB)?;
    connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
    Ok(connection)
}

/// Opens a connection for reading. `immutable` declares that the file does not change.
pub(super) fn reader(path: &Path, immutable: bool) -> rusqlite::Result<Connection> {
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY, immutable)?;
    // Only readers map the file. A write that a full disk refuses can leave a hole in the file, and on some file systems
    // reading a hole through a mapping needs room of its own: the process would end with SIGBUS.
    let mapped = path.metadata().is_ok_and(|metadata| metadata.len() <= LARGEST_MAPPED);
    connection.pragma_update(None, "mmap_size", if mapped { LARGEST_MAPPED as i64 } else { 0 })?;
    connection.pragma_update(None, "cache_size", -READER_CACHE_KIB)?;
    Ok(connection)
}

/// Opens a connection for reading, even if the directory cannot be written or the disk is full. In that case the file
/// is read as one that does not change, and its current stamp is returned.
pub(super) fn reader_of_any(path: &Path) -> Result<(Connection, Option<Stamp>), StoreError> {
    let attempt = reader(path, false).and_then(|reader| read_schema(&reader).map(|_| reader));
    let error = match attempt {
        Ok(reader) => return Ok((reader, None)),
        Err(error) => error,
    };
    // Without the right to write, or room, SQLite cannot create the shared memory that a write-ahead log needs. Without a
    // log nothing is shared.
    if !is_denied(&error) && !lacks_room(&error) {
        return Err(StoreError::sqlite(path, error));
    }
    let stamp = Stamp::of(path);
    if has_log(path) {
        return Err(StoreError::Unfinished { path: log_path(path) });
    }
    Ok((reader(path, true).map_err(|error| StoreError::sqlite(path, error))?, stamp))
}

fn is_denied(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode;
    matches!(error.sqlite_error_code(), Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied))
}

fn connect(path: &Path, flags: OpenFlags, immutable: bool) -> rusqlite::Result<Connection> {
    let connection =
        if immutable { open(immutable_uri(path), flags | OpenFlags::SQLITE_OPEN_URI)? } else { open(path, flags)? };
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(64);
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    super::texts::register(&connection)?;
    Ok(connection)
}
