//! The database: connections for reading and the one for writing.
//!
//! `migrate` makes and upgrades it, `write` changes it (documents in a `batch`, passages named by `names`, what goes kept
//! by `retired` for a while), `read` answers what people ask, `replay` hands the derived indexes what they lack, `select`
//! resolves filters, `inspect` counts and checks; `namespaces` and `calibration` keep what is said of them; `evidence` is the
//! graph of claims and what speaks for and against them, and `guard` runs statements that somebody else wrote on it.

mod batch;
mod calibration;
mod evidence;
mod guard;
mod inspect;
mod migrate;
mod names;
mod namespaces;
mod read;
pub(crate) mod replay;
mod retired;
mod select;
mod write;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use crate::error::{Result, StoreError, lacks_room};
use crate::sql::{SqlQuery, SqlRows};
use crate::stamp::{FileId, Stamp};
use guard::Guard;

pub(crate) use guard::count_memory;
pub(crate) use migrate::SCHEMA_VERSION;
pub(crate) use replay::{ContentState, LexicalRow, ModelRow};

/// How long a statement waits for another connection's lock. Only commits, checkpoints and opening ever wait.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
/// Page cache of the writing connection, in KiB.
const WRITER_CACHE_KIB: i64 = 128 * 1024;
/// Page cache of a reading connection, in KiB.
const READER_CACHE_KIB: i64 = 16 * 1024;
/// How much of the file is mapped instead of read.
const MMAP_BYTES: i64 = 1 << 30;
/// Page size of a new database. Beside 4 KiB, rows of text and vectors leave less space over (a file 11 to 15% smaller) and
/// go in 10 to 20% faster; reading ten passages takes as long, and 16 KiB gains no more.
const PAGE_BYTES: i64 = 8192;
/// The log is written back when it has that many pages.
const CHECKPOINT_PAGES: i64 = 4096;
/// Connections kept for the next reader.
const IDLE_READERS: usize = 8;

/// An error inside a transaction: SQLite's, which lacks the path as yet, or ours.
#[derive(Debug)]
pub(crate) enum Fault {
    Sqlite(rusqlite::Error),
    Store(StoreError),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Fault {
        Fault::Sqlite(error)
    }
}

impl From<rusqlite::types::FromSqlError> for Fault {
    fn from(error: rusqlite::types::FromSqlError) -> Fault {
        Fault::Sqlite(error.into())
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Fault {
        Fault::Store(error)
    }
}

impl Fault {
    fn at(self, path: &Path) -> StoreError {
        match self {
            Fault::Sqlite(error) => StoreError::sqlite(path, error),
            Fault::Store(error) => error,
        }
    }
}

/// The database file and its connections.
#[derive(Debug)]
pub(crate) struct Database {
    path: PathBuf,
    instance: [u8; 16],
    /// The file that was opened: another one at the same path is another database.
    file: FileId,
    /// How the file looked when it was opened as one that does not change; `None` where changes are seen.
    frozen: Mutex<Option<Stamp>>,
    readers: Mutex<Vec<Connection>>,
    writer: Option<Mutex<Connection>>,
    guard: Mutex<Arc<Guard>>,
}

impl Database {
    /// Makes a new database in the place of one that is missing or empty. It is made whole beside its place first, so that
    /// nobody ever sees a part of it. The caller holds the right to write.
    pub(crate) fn make(path: &Path) -> Result<()> {
        let fresh = beside(path, ".new");
        let remove = |path: &Path| match std::fs::remove_file(path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(StoreError::io(path, "removing what an earlier attempt left", error))
            }
            _ => Ok(()),
        };
        let clean =
            |path: &Path| ["", "-wal", "-shm", "-journal"].iter().try_for_each(|suffix| remove(&beside(path, suffix)));
        clean(&fresh)?;
        let made = Database::open_writable(&fresh).map(drop).and_then(|()| {
            // Closing brings the log into the file. On a full disk it cannot, and the file alone would be half a database.
            if has_log(&fresh) {
                return Err(StoreError::Full { path: path.to_owned() });
            }
            // Nobody can read a log without its database, and SQLite would take it for the new one's.
            ["-wal", "-shm"].iter().try_for_each(|suffix| remove(&beside(path, suffix)))?;
            std::fs::rename(&fresh, path).map_err(|error| StoreError::io(path, "making the database", error))
        });
        if made.is_err() {
            // What made it fail is what has to be known; the next attempt cleans up as well.
            let _ = clean(&fresh);
        }
        made
    }

    /// Opens the database for reading and writing.
    pub(crate) fn open_writable(path: &Path) -> Result<Database> {
        let before = FileId::of(path);
        let mut writer = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE, false)
            .and_then(|connection| {
                writer_pragmas(&connection)?;
                Ok(connection)
            })
            .map_err(|error| StoreError::sqlite(path, error))?;
        migrate::migrate(&mut writer, path).map_err(|fault| fault.at(path))?;
        let instance = instance(&writer).map_err(|error| StoreError::sqlite(path, error))?;
        Ok(Database {
            path: path.to_owned(),
            instance,
            file: same_file(path, before)?,
            frozen: Mutex::default(),
            readers: Mutex::default(),
            writer: Some(Mutex::new(writer)),
            guard: Mutex::new(Arc::new(Guard::new(path, false))),
        })
    }

    /// Opens an existing database for reading, also where its directory can not be written or the disk is full.
    pub(crate) fn open_read_only(path: &Path) -> Result<Database> {
        let before = FileId::of(path);
        let (reader, frozen) = open_reader(path)?;
        migrate::require_current(&reader, path).map_err(|fault| fault.at(path))?;
        let instance = instance(&reader).map_err(|error| StoreError::sqlite(path, error))?;
        Ok(Database {
            path: path.to_owned(),
            instance,
            file: same_file(path, before)?,
            guard: Mutex::new(Arc::new(Guard::new(path, frozen.is_some()))),
            frozen: Mutex::new(frozen),
            readers: Mutex::new(vec![reader]),
            writer: None,
        })
    }

    /// Fails where the file that was opened is gone, or another one stands in its place.
    pub(crate) fn check_place(&self) -> Result<()> {
        match FileId::of(&self.path) {
            Some(file) if file == self.file => Ok(()),
            _ => Err(StoreError::replaced(&self.path)),
        }
    }

    /// Whether it is read as a file that does not change, and still looks as it did. One that changed is opened again.
    fn frozen(&self) -> Result<Option<Stamp>> {
        let mut frozen = lock(&self.frozen);
        if let Some(stamp) = *frozen
            && !self.looks_as(stamp)
        {
            let (reader, now) = open_reader(&self.path)?;
            *lock(&self.readers) = vec![reader];
            *lock(&self.guard) = Arc::new(Guard::new(&self.path, now.is_some()));
            *frozen = now;
        }
        Ok(*frozen)
    }

    fn looks_as(&self, stamp: Stamp) -> bool {
        Stamp::of(&self.path) == Some(stamp) && !has_log(&self.path)
    }

    /// Another connection that reads the same database.
    fn connect(&self, immutable: bool) -> Result<Connection> {
        let failed = |error| StoreError::sqlite(&self.path, error);
        let connection = connect_reader(&self.path, immutable).map_err(failed)?;
        // The file may have been replaced a moment ago.
        match instance(&connection).map_err(failed)? == self.instance {
            true => Ok(connection),
            false => Err(StoreError::replaced(&self.path)),
        }
    }

    /// The database's file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The random number that tells this database from any other.
    pub(crate) fn instance(&self) -> [u8; 16] {
        self.instance
    }

    /// Runs `work` on a connection that can only read.
    pub(crate) fn read<T>(&self, work: impl FnOnce(&Connection) -> Result<T, Fault>) -> Result<T> {
        self.check_place()?;
        let frozen = self.frozen()?;
        let idle = lock(&self.readers).pop();
        let connection = match idle {
            Some(connection) => connection,
            None => self.connect(frozen.is_some())?,
        };
        let result = work(&connection).map_err(|fault| fault.at(&self.path));
        if let Some(stamp) = frozen
            && !self.looks_as(stamp)
        {
            let holder = "it was written while it was read from a directory without room for its lock".to_owned();
            return Err(StoreError::Busy { path: self.path.clone(), holder });
        }
        let same = *lock(&self.frozen) == frozen;
        let mut readers = lock(&self.readers);
        if same && readers.len() < IDLE_READERS {
            readers.push(connection);
        }
        result
    }

    /// Runs `work` in one transaction that can only read, so that all of it sees the same state.
    pub(crate) fn snapshot<T>(&self, work: impl FnOnce(&Connection) -> Result<T, Fault>) -> Result<T> {
        self.read(|connection| {
            let transaction = connection.unchecked_transaction()?;
            let result = work(&transaction)?;
            transaction.finish()?;
            Ok(result)
        })
    }

    /// Runs `work` in one transaction that can write: all of it or nothing.
    pub(crate) fn write<T>(&self, work: impl FnOnce(&Connection) -> Result<T, Fault>) -> Result<T> {
        self.with_writer(|connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let result = work(&transaction)?;
            transaction.commit()?;
            Ok(result)
        })
    }

    /// Runs `work` on the writing connection, outside of a transaction.
    pub(crate) fn with_writer<T>(&self, work: impl FnOnce(&mut Connection) -> Result<T, Fault>) -> Result<T> {
        let writer = self.writer.as_ref().ok_or_else(|| StoreError::ReadOnly {
            path: self.path.clone(),
            reason: "opened for reading only".to_owned(),
        })?;
        self.check_place()?;
        work(&mut lock(writer)).map_err(|fault| fault.at(&self.path))
    }

    /// Runs a statement of somebody else's on the evidence of a namespace.
    pub(crate) fn query_sql(&self, namespace: &str, query: &SqlQuery, cancelled: &dyn Fn() -> bool) -> Result<SqlRows> {
        self.check_place()?;
        self.frozen()?;
        let guard = lock(&self.guard).clone();
        guard.query(namespace, query, cancelled)
    }

    /// Bytes on the disk, the log counted.
    pub(crate) fn bytes(&self) -> u64 {
        [self.path.clone(), log_path(&self.path)]
            .iter()
            .filter_map(|path| std::fs::metadata(path).ok())
            .map(|metadata| metadata.len())
            .sum()
    }
}

/// A lock whose holder panicked guards nothing that could be half done: transactions roll back.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file whose name goes on with `suffix`.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

fn log_path(path: &Path) -> PathBuf {
    beside(path, "-wal")
}

/// Whether changes stand in the log that are not in the database's file yet.
pub(crate) fn has_log(path: &Path) -> bool {
    std::fs::metadata(log_path(path)).is_ok_and(|log| log.len() > 0)
}

/// The file at a path, which has to be the one from before it was opened.
fn same_file(path: &Path, before: Option<FileId>) -> Result<FileId> {
    match FileId::of(path) {
        Some(file) if before.is_none_or(|before| before == file) => Ok(file),
        _ => Err(StoreError::replaced(path)),
    }
}

/// A connection for reading, and how the file looks where it is read as one that does not change.
fn open_reader(path: &Path) -> Result<(Connection, Option<Stamp>)> {
    let attempt = connect_reader(path, false).and_then(|reader| {
        // Opening reads nothing yet.
        reader.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0))?;
        Ok(reader)
    });
    let error = match attempt {
        Ok(reader) => return Ok((reader, None)),
        Err(error) => error,
    };
    // Without the right to write, or room, SQLite can not make the shared memory that a log needs. Where there is no log
    // there is nothing to share, and the file can be read as one that does not change.
    if !is_denied(&error) && !lacks_room(&error) {
        return Err(StoreError::sqlite(path, error));
    }
    let stamp = Stamp::of(path);
    if has_log(path) {
        return Err(StoreError::Unfinished { path: log_path(path) });
    }
    Ok((connect_reader(path, true).map_err(|error| StoreError::sqlite(path, error))?, stamp))
}

fn is_denied(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode;
    matches!(error.sqlite_error_code(), Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied))
}

fn connect(path: &Path, flags: OpenFlags, immutable: bool) -> rusqlite::Result<Connection> {
    guard::count_memory();
    let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = if immutable {
        Connection::open_with_flags(immutable_uri(path), flags | OpenFlags::SQLITE_OPEN_URI)?
    } else {
        Connection::open_with_flags(path, flags)?
    };
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(64);
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    Ok(connection)
}

fn connect_reader(path: &Path, immutable: bool) -> rusqlite::Result<Connection> {
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY, immutable)?;
    // The connection that writes maps nothing. A write that a full disk refuses can leave a hole in the file, and on some
    // file systems reading a hole through a mapping needs room of its own: the process would end with SIGBUS.
    connection.pragma_update(None, "mmap_size", MMAP_BYTES)?;
    connection.pragma_update(None, "cache_size", -READER_CACHE_KIB)?;
    Ok(connection)
}

fn writer_pragmas(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "page_size", PAGE_BYTES)?;
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "cache_size", -WRITER_CACHE_KIB)?;
    connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
    Ok(())
}

/// The path as a URI, which is how SQLite is told that a file does not change.
pub(crate) fn immutable_uri(path: &Path) -> String {
    file_uri(path, "immutable=1")
}

/// The path as a URI with a parameter. On Windows its backslashes stay what they are, since a path that begins with `\\?\`
/// is read with no others.
fn file_uri(path: &Path, parameter: &str) -> String {
    use std::fmt::Write;
    let mut uri = "file:".to_owned();
    for &byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' => uri.push(char::from(byte)),
            _ if byte.is_ascii_alphanumeric() => uri.push(char::from(byte)),
            _ => {
                // Writing to a string can not fail.
                let _ = write!(uri, "%{byte:02x}");
            }
        }
    }
    uri.push('?');
    uri.push_str(parameter);
    uri
}

fn instance(connection: &Connection) -> rusqlite::Result<[u8; 16]> {
    connection.query_row("SELECT value FROM meta WHERE key = 'instance'", [], |row| row.get(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Change, NewDocument, NewPassage, TextForm};

    fn document(path: &str, text: &str) -> Change {
        Change::Put(NewDocument {
            passages: vec![NewPassage::new("paragraph", 1..=1, text, TextForm::Prose)],
            ..NewDocument::new("here", "docs", path)
        })
    }

    #[test]
    fn a_full_disk_is_named_and_leaves_what_was_there() {
        let directory = tempfile::tempdir().unwrap();
        let database = Database::open_writable(&directory.path().join("tamis.db")).unwrap();
        database.apply(&[document("a.md", "kept")]).unwrap();
        // The database may not grow: to SQLite the same as a disk without space.
        let limit = |pages: i64| {
            database
                .with_writer(|writer| {
                    writer.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))?;
                    Ok(())
                })
                .unwrap();
        };
        limit(1);
        let error = database.apply(&[document("b.md", &"more ".repeat(10_000))]).unwrap_err();
        assert!(matches!(error, StoreError::Full { .. }), "{error}");
        assert_eq!(database.documents("here").unwrap().len(), 1);
        assert_eq!(database.integrity().unwrap().problems, []);
        limit(1 << 30);
        database.apply(&[document("b.md", &"more ".repeat(10_000))]).unwrap();
        assert_eq!(database.documents("here").unwrap().len(), 2);
    }

    #[test]
    fn an_identifier_that_is_taken_gets_longer() {
        let directory = tempfile::tempdir().unwrap();
        let database = Database::open_writable(&directory.path().join("tamis.db")).unwrap();
        database.apply(&[document("a.md", "one")]).unwrap();
        let id = database.document_passages("here", "a.md").unwrap()[0].id.clone();
        // Another passage takes the place of the one that would be found by the same twelve digits.
        database.apply(&[document("a.md", "two"), document("b.md", "three")]).unwrap();
        database
            .with_writer(|writer| {
                writer.execute("UPDATE passages SET public_id = ?1 WHERE text_bytes = 5", [&id])?;
                Ok(())
            })
            .unwrap();
        database.apply(&[document("a.md", "one")]).unwrap();
        let longer = database.document_passages("here", "a.md").unwrap()[0].id.clone();
        assert_eq!(longer.len(), 16);
        assert!(longer.starts_with(&id));
        let moved = Change::Move {
            document: database.document("here", "a.md").unwrap().unwrap().document,
            path: "c.md".into(),
            size: 1,
            modified_ns: 1,
        };
        database.apply(&[moved]).unwrap();
        assert_eq!(database.find(&id, 5).unwrap().len(), 1, "the whole identifier of one, found alone");
        assert_eq!(database.integrity().unwrap().problems, []);
    }

    #[test]
    fn a_path_is_spelt_so_that_sqlite_reads_it_as_it_is() {
        let uri = immutable_uri(Path::new("/a b/50%?/x#y/é.db"));
        assert_eq!(uri, "file:/a%20b/50%25%3f/x%23y/%c3%a9.db?immutable=1");
    }

    #[test]
    fn a_file_that_does_not_change_is_read_without_anything_beside_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("tämis 1%.db");
        let database = Database::open_writable(&path).unwrap();
        database.apply(&[document("a.md", "kept")]).unwrap();
        drop(database);
        let reader = connect_reader(&path, true).unwrap();
        let count: i64 = reader.query_row("SELECT count(*) FROM passages", [], |row| row.get(0)).unwrap();
        assert_eq!(count, 1);
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
    }
}
