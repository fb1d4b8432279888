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

use crate::error::{Result, StoreError};
use crate::sql::{SqlQuery, SqlRows};
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
    immutable: bool,
    readers: Mutex<Vec<Connection>>,
    writer: Option<Mutex<Connection>>,
    guard: Arc<Guard>,
}

impl Database {
    /// Opens the database for reading and writing, and makes it where there is none.
    pub(crate) fn open_writable(path: &Path) -> Result<Database> {
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
            immutable: false,
            readers: Mutex::default(),
            writer: Some(Mutex::new(writer)),
            guard: Arc::new(Guard::new(path, false)),
        })
    }

    /// Opens an existing database for reading, also where its directory can not be written.
    pub(crate) fn open_read_only(path: &Path) -> Result<Database> {
        let attempt = connect_reader(path, false).and_then(|reader| {
            // Opening reads nothing yet.
            reader.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0))?;
            Ok(reader)
        });
        let (reader, immutable) = match attempt {
            Ok(reader) => (reader, false),
            Err(error) => {
                // Without the right to write, SQLite can not make the shared memory that a log needs. Where there is
                // no log there is nothing to share, and the file can be read as one that does not change.
                let log = log_path(path);
                if !is_denied(&error) {
                    return Err(StoreError::sqlite(path, error));
                }
                if std::fs::metadata(&log).is_ok_and(|log| log.len() > 0) {
                    return Err(StoreError::Unfinished { path: log });
                }
                (connect_reader(path, true).map_err(|error| StoreError::sqlite(path, error))?, true)
            }
        };
        migrate::require_current(&reader, path).map_err(|fault| fault.at(path))?;
        let instance = instance(&reader).map_err(|error| StoreError::sqlite(path, error))?;
        Ok(Database {
            path: path.to_owned(),
            instance,
            immutable,
            readers: Mutex::new(vec![reader]),
            writer: None,
            guard: Arc::new(Guard::new(path, immutable)),
        })
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
        let idle = lock(&self.readers).pop();
        let connection = match idle {
            Some(connection) => connection,
            None => {
                connect_reader(&self.path, self.immutable).map_err(|error| StoreError::sqlite(&self.path, error))?
            }
        };
        let result = work(&connection).map_err(|fault| fault.at(&self.path));
        let mut readers = lock(&self.readers);
        if readers.len() < IDLE_READERS {
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
        work(&mut lock(writer)).map_err(|fault| fault.at(&self.path))
    }

    /// Runs a statement of somebody else's on the evidence of a namespace.
    pub(crate) fn query_sql(&self, namespace: &str, query: &SqlQuery, cancelled: &dyn Fn() -> bool) -> Result<SqlRows> {
        self.guard.query(namespace, query, cancelled)
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

fn log_path(path: &Path) -> PathBuf {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    PathBuf::from(log)
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
    connection.pragma_update(None, "mmap_size", MMAP_BYTES)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    Ok(connection)
}

fn connect_reader(path: &Path, immutable: bool) -> rusqlite::Result<Connection> {
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY, immutable)?;
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
