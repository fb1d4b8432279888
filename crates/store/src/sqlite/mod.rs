//! The database `tamis.db`, which holds the truth that the retrievers are derived from: its file and its connections, many for reading and
//! one for writing.
//!
//! - `changes` applies changes to documents and namespaces.
//! - `vectors` reads and writes vectors, `select` resolves filters, and `maintenance` counts, checks and prunes. What both databases read
//!   alike is in [`content`](crate::content).
//! - `catch_up` gives the derived indexes the changes they lack, and has the table `meta`.
//! - `session` runs the statements that both databases understand.
//! - `texts` compresses texts and gives passages their public identifiers.
//!
//! `connection` opens and reads any SQLite database, such as the log and the shared cache of vectors.

pub(crate) mod catch_up;
mod changes;
pub(crate) mod connection;
mod maintenance;
mod select;
pub(crate) mod session;
mod texts;
mod vectors;

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use crate::cache::lock;
use crate::error::{Result, StoreError, lacks_room};
use crate::files::{FileId, Stamp, beside, has_log, log_bytes, log_path};
use crate::sqlite::connection::{Schema, immutable_uri, open, read_schema};

pub(crate) use catch_up::{ContentState, LexicalRow};
pub(crate) use changes::NAMESPACES;
#[cfg(feature = "postgres")]
pub(crate) use changes::{same_identifier, validate, validate_path};
#[cfg(feature = "postgres")]
pub(crate) use texts::{Identity, PublicIds, prefixes};

/// Connections kept for the next reader.
const IDLE_READERS: usize = 8;

#[derive(Debug)]
pub(crate) struct Database {
    path: PathBuf,
    instance: [u8; 16],
    /// The file that was opened. Another file at the same path is another database.
    file: FileId,
    /// The file's stamp when it was opened as one that does not change; `None` if changes are seen.
    frozen: Mutex<Option<Stamp>>,
    readers: Mutex<Vec<Connection>>,
    writer: Option<Mutex<Connection>>,
    /// The text up to which every text had a vector of a model when it was last asked, by model.
    pub(crate) embedded_up_to: Mutex<HashMap<i32, i64>>,
    /// The order in which the texts without a vector are to be embedded, by model.
    pub(crate) embedding_orders: Mutex<HashMap<i32, VecDeque<i64>>>,
    pub(crate) guard: std::sync::Arc<crate::sql_guard::Guard>,
}

impl Database {
    /// Creates the database in place of a missing or empty one. It is built beside its path first, so that nobody ever sees
    /// a part of it. The caller holds the right to write.
    pub(crate) fn create(path: &Path) -> Result<()> {
        let new = beside(path, ".new");
        let remove = |path: &Path| match std::fs::remove_file(path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(StoreError::io(path, "removing an earlier attempt", error))
            }
            _ => Ok(()),
        };
        let clean =
            |path: &Path| ["", "-wal", "-shm", "-journal"].iter().try_for_each(|suffix| remove(&beside(path, suffix)));
        clean(&new)?;
        let created = Database::open_writable(&new).map(drop).and_then(|()| {
            // Closing writes the log back. On a full disk that fails, and the file alone would be half a database.
            if has_log(&new) {
                return Err(StoreError::Full { path: path.to_owned() });
            }
            // A log without its database is useless, and SQLite would take it for the new one's.
            ["-wal", "-shm"].iter().try_for_each(|suffix| remove(&beside(path, suffix)))?;
            std::fs::rename(&new, path).map_err(|error| StoreError::io(path, "creating the database", error))
        });
        if created.is_err() {
            // The first error matters; the next attempt cleans up as well.
            let _ = clean(&new);
        }
        created
    }

    /// Opens the database for reading and writing.
    pub(crate) fn open_writable(path: &Path) -> Result<Database> {
        let before = FileId::from_path(path);
        let mut writer = writer(path).map_err(|error| StoreError::sqlite(path, error))?;
        SCHEMA.create(&mut writer, path)?;
        let instance = catch_up::instance(&writer).map_err(|error| StoreError::sqlite(path, error))?;
        Ok(Database { writer: Some(Mutex::new(writer)), ..Database::new(path, before, instance, None)? })
    }

    /// Opens an existing database for reading, even if its directory cannot be written or the disk is full.
    pub(crate) fn open_read_only(path: &Path) -> Result<Database> {
        let before = FileId::from_path(path);
        let (reader, frozen) = reader_of_any(path)?;
        SCHEMA.expect(&reader, path)?;
        let instance = catch_up::instance(&reader).map_err(|error| StoreError::sqlite(path, error))?;
        Ok(Database { readers: Mutex::new(vec![reader]), ..Database::new(path, before, instance, frozen)? })
    }

    /// A database without connections, of the file that was at the path `before` it was opened.
    fn new(path: &Path, before: Option<FileId>, instance: [u8; 16], frozen: Option<Stamp>) -> Result<Database> {
        let file = FileId::from_path(path).filter(|file| before.is_none_or(|before| before == *file));
        Ok(Database {
            path: path.to_owned(),
            instance,
            file: file.ok_or_else(|| StoreError::replaced(path))?,
            guard: std::sync::Arc::new(crate::sql_guard::Guard::new(path)),
            frozen: Mutex::new(frozen),
            readers: Mutex::default(),
            writer: None,
            embedded_up_to: Mutex::default(),
            embedding_orders: Mutex::default(),
        })
    }

    /// Fails if the opened file was deleted or replaced.
    pub(crate) fn check_replaced(&self) -> Result<()> {
        match FileId::from_path(&self.path) {
            Some(file) if file == self.file => Ok(()),
            _ => Err(StoreError::replaced(&self.path)),
        }
    }

    /// Returns the stamp of a file that is read as one that does not change. A file that changed is opened again.
    fn frozen(&self) -> Result<Option<Stamp>> {
        let mut frozen = lock(&self.frozen);
        if let Some(stamp) = *frozen
            && !self.looks_as(stamp)
        {
            let (reader, now) = reader_of_any(&self.path)?;
            *lock(&self.readers) = vec![reader];
            *frozen = now;
        }
        Ok(*frozen)
    }

    fn looks_as(&self, stamp: Stamp) -> bool {
        Stamp::from_path(&self.path) == Some(stamp) && !has_log(&self.path)
    }

    /// Opens another connection for reading.
    fn connect(&self, immutable: bool) -> Result<Connection> {
        let failed = |error| StoreError::sqlite(&self.path, error);
        let connection = reader(&self.path, immutable).map_err(failed)?;
        // The file may have been replaced a moment ago.
        match catch_up::instance(&connection).map_err(failed)? == self.instance {
            true => Ok(connection),
            false => Err(StoreError::replaced(&self.path)),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the random number that identifies this database.
    pub(crate) fn instance(&self) -> [u8; 16] {
        self.instance
    }

    /// Runs `work` on a connection for reading.
    pub(crate) fn read<T>(&self, work: impl FnOnce(&Connection) -> Result<T, TransactionError>) -> Result<T> {
        let (connection, frozen) = self.take_reader()?;
        let result = work(&connection).map_err(|error| error.at(&self.path));
        self.give_back(connection, frozen)?;
        result
    }

    /// Takes a connection for reading, with the stamp of a file that does not change.
    fn take_reader(&self) -> Result<(Connection, Option<Stamp>)> {
        self.check_replaced()?;
        let frozen = self.frozen()?;
        let idle = lock(&self.readers).pop();
        let connection = match idle {
            Some(connection) => connection,
            None => self.connect(frozen.is_some())?,
        };
        Ok((connection, frozen))
    }

    /// Gives a connection back.
    ///
    /// # Errors
    /// The file was to stay as it is and has changed, so nothing that was read counts.
    fn give_back(&self, connection: Connection, frozen: Option<Stamp>) -> Result<()> {
        if let Some(stamp) = frozen
            && !self.looks_as(stamp)
        {
            let holder = "another process, against which the directory has no room for a lock,".to_owned();
            return Err(StoreError::Busy { path: self.path.clone(), holder });
        }
        let same = *lock(&self.frozen) == frozen;
        let mut readers = lock(&self.readers);
        if same && readers.len() < IDLE_READERS {
            readers.push(connection);
        }
        Ok(())
    }

    /// Runs `work` in one read transaction, so that all of it sees the same state.
    pub(crate) fn snapshot<T>(&self, work: impl FnOnce(&Connection) -> Result<T, TransactionError>) -> Result<T> {
        self.read(|connection| {
            let transaction = connection.unchecked_transaction()?;
            let result = work(&transaction)?;
            transaction.finish()?;
            Ok(result)
        })
    }

    /// Runs `work` in one write transaction: all of it or nothing.
    pub(crate) fn write<T>(&self, work: impl FnOnce(&Connection) -> Result<T, TransactionError>) -> Result<T> {
        self.with_writer(|connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let result = work(&transaction)?;
            transaction.commit()?;
            Ok(result)
        })
    }

    /// Runs `work` on the writing connection, outside a transaction.
    pub(crate) fn with_writer<T>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T, TransactionError>,
    ) -> Result<T> {
        let writer = self.writer.as_ref().ok_or_else(|| StoreError::ReadOnly {
            path: self.path.clone(),
            reason: "opened for reading only".to_owned(),
        })?;
        self.check_replaced()?;
        work(&mut lock(writer)).map_err(|error| error.at(&self.path))
    }

    /// Returns the bytes on the disk, including the log.
    pub(crate) fn bytes(&self) -> u64 {
        std::fs::metadata(&self.path).map_or(0, |file| file.len()) + log_bytes(&self.path)
    }
}

/// The time a statement waits for another connection's lock. Only commits, checkpoints and opening ever wait.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
/// Page cache of the writing connection, in KiB.
const WRITER_CACHE_KIB: i64 = 16 * 1024;
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
pub(crate) fn writer(path: &Path) -> rusqlite::Result<Connection> {
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
pub(crate) fn reader(path: &Path, immutable: bool) -> rusqlite::Result<Connection> {
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
fn reader_of_any(path: &Path) -> Result<(Connection, Option<Stamp>), StoreError> {
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
    let stamp = Stamp::from_path(path);
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
    texts::register(&connection)?;
    Ok(connection)
}

/// Identified by "TAMI".
pub(crate) const SCHEMA: Schema =
    Schema { application_id: 0x5441_4d49, version: 10, tables: include_str!("schema.sql") };

/// An error inside a transaction: SQLite's or damaged rows, which lack the path so far, or the store's own.
#[derive(Debug)]
pub(crate) enum TransactionError {
    Sqlite(rusqlite::Error),
    Damaged(String),
    Store(StoreError),
}

impl From<rusqlite::Error> for TransactionError {
    fn from(error: rusqlite::Error) -> TransactionError {
        TransactionError::Sqlite(error)
    }
}

impl From<rusqlite::types::FromSqlError> for TransactionError {
    fn from(error: rusqlite::types::FromSqlError) -> TransactionError {
        TransactionError::Sqlite(error.into())
    }
}

impl From<StoreError> for TransactionError {
    fn from(error: StoreError) -> TransactionError {
        TransactionError::Store(error)
    }
}

impl TransactionError {
    /// Adds the path of the database.
    pub(crate) fn at(self, path: &Path) -> StoreError {
        match self {
            TransactionError::Sqlite(error) => StoreError::sqlite(path, error),
            TransactionError::Damaged(reason) => StoreError::Corrupt { path: path.to_owned(), reason },
            TransactionError::Store(error) => error,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::Changing;
    use crate::record::{Change, NewDocument, NewPassage, TextForm};

    fn document(path: &str, text: &str) -> Change {
        let passages = vec![NewPassage::new("paragraph", 1..=1, text, TextForm::Prose)];
        Change::Put(NewDocument { passages, ..NewDocument::new("here", "docs", path) })
    }

    #[test]
    fn a_file_that_does_not_change_is_read_without_anything_beside_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("tämis 1%.db");
        let database = Database::open_writable(&path).unwrap();
        let changing = Changing { changes: &[document("a.md", "kept")], ..Changing::default() };
        database.change(&changing, async |_, _| Ok(0)).unwrap();
        drop(database);
        let reader = reader(&path, true).unwrap();
        let count: i64 = reader.query_row("SELECT count(*) FROM passages", [], |row| row.get(0)).unwrap();
        assert_eq!(count, 1);
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
    }
}
