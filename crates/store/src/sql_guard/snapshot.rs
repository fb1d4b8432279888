//! A copy of one namespace's evidence, on which untrusted statements run.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};
use tempfile::TempDir;

use super::errors::{ended, refusal};
use super::rights::{decide, omit_modules, restrict};
use super::{Ended, STRIDE, Watch, functions};
use crate::error::{Result, StoreError};
use crate::sqlite::connection::{file_uri, open};
use crate::untrusted_sql::{SQL_TABLES, SqlTable};

/// The largest copy in memory, in bytes. A larger one is in a file.
const MOST_IN_MEMORY: usize = 32 << 20;
/// The largest copy, in bytes.
const MOST_BYTES: usize = 1 << 30;
/// Bytes of a page of a copy. A row of a quarter of it or less takes no page of its own.
const PAGE_BYTES: usize = 8 << 10;
/// Rows between two polls of `cancelled`.
const CANCEL_ROWS: usize = 1024;

/// The keys of the tables, and their indexes. The keys are those of the store without the namespace, so that rows come in the same
/// order. An index begins with the column of most values, by which SQLite sorts it fastest.
const KEYS: [(&str, &str, &str); 7] = [
    ("tasks", "id", ""),
    ("works", "id", ""),
    ("pages", "id", "work_id"),
    ("fragments", "id", "page_id, position"),
    ("claims", "id", "task_id"),
    ("edges", "source_type, source_id, target_type, target_id, relation", "target_id, target_type, relation"),
    ("embeddings", "", "target_id"),
];

/// Numbers the copies in memory, whose names other connections of this process could open.
static COPIES: AtomicU64 = AtomicU64::new(0);

/// Where a copy is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Memory,
    /// A file that its owner alone can read, in a directory of its own. It is removed with the copy, on Unix as soon as it is open, so
    /// that nothing is left of a program that is killed.
    File,
}

/// A database with the evidence of one namespace and nothing else.
pub(crate) struct Snapshot {
    /// Runs statements of others, and can only read.
    pub(crate) connection: Connection,
    pub(crate) watch: Arc<Watch>,
    pub(crate) namespace: String,
    pub(crate) place: Place,
    /// Fills the copy, which is attached to it as `copy`. No statement of others ever runs here.
    filler: Connection,
    /// The state of the store that the rows come from.
    state: String,
    /// The tables that have their rows.
    filled: Vec<&'static str>,
    /// True while a table has a part of its rows.
    partial: Cell<bool>,
    _directory: Option<TempDir>,
}

impl Snapshot {
    /// Makes a copy without rows.
    pub(crate) fn open(namespace: &str, place: Place) -> Result<Snapshot> {
        let (most, directory, uri) = match place {
            Place::Memory => {
                let number = COPIES.fetch_add(1, Ordering::Relaxed);
                (MOST_IN_MEMORY, None, format!("file:/tamis-sql-{number}?vfs=memdb"))
            }
            Place::File => {
                let io = |error| StoreError::io(&std::env::temp_dir(), "copying evidence", error);
                let directory = tempfile::Builder::new().prefix("tamis-sql-").tempdir().map_err(io)?;
                let file =
                    tempfile::NamedTempFile::new_in(&directory).and_then(|file| Ok(file.keep()?.1)).map_err(io)?;
                (MOST_BYTES, Some(directory), file_uri(&file, "cache=private"))
            }
        };
        let snapshot = Snapshot::open_at(namespace, place, &uri, most).map_err(failed)?;
        // On other systems a file that is open cannot be removed.
        let directory = directory.filter(|_| !cfg!(unix));
        Ok(Snapshot { _directory: directory, ..snapshot })
    }

    fn open_at(namespace: &str, place: Place, uri: &str, most: usize) -> rusqlite::Result<Snapshot> {
        let filler = open(":memory:", OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_URI)?;
        filler.execute("ATTACH ?1 AS copy", [uri])?;
        filler.execute_batch(&format!(
            "PRAGMA copy.page_size = {PAGE_BYTES}; PRAGMA copy.max_page_count = {}; PRAGMA copy.journal_mode = OFF; \
             PRAGMA copy.synchronous = OFF; {}",
            most / PAGE_BYTES,
            KEYS.map(|(table, key, _)| definition(table, key)).join(";")
        ))?;
        let mut connection = open(uri, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI)?;
        connection.set_prepared_statement_cache_capacity(0);
        connection.pragma_update(None, "temp_store", "MEMORY")?;
        omit_modules(&connection)?;
        let watch = Arc::new(Watch::new());
        functions::replace_built_in(&connection, &watch)?;
        restrict(&connection)?;
        let seen = watch.clone();
        connection.authorizer(Some(move |context: rusqlite::hooks::AuthContext<'_>| decide(context, &seen)))?;
        let seen = watch.clone();
        connection.progress_handler(STRIDE, Some(move || seen.is_over()))?;
        Ok(Snapshot {
            connection,
            watch,
            namespace: namespace.to_owned(),
            place,
            filler,
            state: String::new(),
            filled: Vec::new(),
            partial: Cell::new(false),
            _directory: None,
        })
    }
}

fn failed(error: rusqlite::Error) -> StoreError {
    StoreError::sqlite(&std::env::temp_dir(), error)
}

/// Fills a copy with rows of a store.
pub(crate) struct Filling<'a> {
    snapshot: &'a mut Snapshot,
    /// The tables that the statement may read.
    named: Vec<&'static SqlTable>,
    cancelled: &'a dyn Fn() -> bool,
    full: Cell<bool>,
}

impl<'a> Filling<'a> {
    /// Prepares to fill the tables that a statement names.
    pub(crate) fn new(snapshot: &'a mut Snapshot, sql: &str, cancelled: &'a dyn Fn() -> bool) -> Filling<'a> {
        // A statement reads only tables whose names it has, since a name in SQL has no other spelling than upper and lower case.
        let sql = sql.to_ascii_lowercase();
        let named = SQL_TABLES.iter().filter(|table| sql.contains(table.name)).collect();
        Filling { snapshot, named, cancelled, full: Cell::new(false) }
    }

    /// Begins to fill from a state of the store, and returns the tables that lack their rows. Two states are the same text only
    /// if the evidence is the same. A store that has to read again calls this again.
    pub(crate) fn begin(&mut self, state: &str) -> Result<Vec<&'static SqlTable>> {
        let is_other = self.snapshot.state != state && !self.snapshot.filled.is_empty();
        if is_other || self.snapshot.partial.get() {
            // A new copy, so that nothing is left of earlier rows, not even in unused pages.
            *self.snapshot = Snapshot::open(&self.snapshot.namespace, self.snapshot.place)?;
        }
        state.clone_into(&mut self.snapshot.state);
        Ok(self.named.iter().copied().filter(|table| !self.snapshot.filled.contains(&table.name)).collect())
    }

    /// Takes the rows of a table one by one.
    pub(crate) fn rows(&self, table: &SqlTable) -> Result<Rows<'_>> {
        self.snapshot.partial.set(true);
        let filler = &self.snapshot.filler;
        let places = vec!["?"; table.columns.len()].join(", ");
        let insert = filler
            .execute_batch("BEGIN")
            .and_then(|()| filler.prepare(&format!("INSERT INTO copy.{} VALUES ({places})", table.name)));
        Ok(Rows { insert: insert.map_err(failed)?, filling: self, added: 0 })
    }

    /// Ends a table that has all its rows.
    pub(crate) fn end(&mut self, table: &'static SqlTable) -> Result<()> {
        // At once for all rows, which takes less time than row by row.
        let (_, _, index) = KEYS.iter().find(|(name, ..)| *name == table.name).expect("each table has keys");
        if !index.is_empty() {
            let (name, columns) = (table.name, index.replace(", ", "_"));
            let create = format!("CREATE INDEX copy.{name}_{columns} ON {name}({index})");
            self.snapshot.filler.execute_batch(&create).map_err(|error| self.failed(error))?;
        }
        self.snapshot.filled.push(table.name);
        self.snapshot.partial.set(false);
        Ok(())
    }

    /// Returns `true` if the copy lacked room.
    pub(crate) fn is_full(&self) -> bool {
        self.full.get()
    }

    fn check_cancelled(&self) -> Result<()> {
        if (self.cancelled)() { Err(ended(Ended::Cancelled, Duration::ZERO)) } else { Ok(()) }
    }

    fn failed(&self, error: rusqlite::Error) -> StoreError {
        if error.sqlite_error_code() != Some(ErrorCode::DiskFull) {
            return failed(error);
        }
        self.full.set(true);
        refusal(
            format!(
                "the tables that the statement names are larger than {} MB, or the disk has no room for a copy of them",
                MOST_BYTES >> 20
            ),
            "name fewer of them (embeddings is the largest), or divide the evidence into several namespaces",
        )
    }
}

/// The rows of one table on their way into a copy.
pub(crate) struct Rows<'f> {
    insert: rusqlite::Statement<'f>,
    filling: &'f Filling<'f>,
    added: usize,
}

impl Rows<'_> {
    /// Adds a row with a value for each column. Fails if the copy becomes too large, or the caller cancels.
    pub(crate) fn add(&mut self, values: &[impl rusqlite::ToSql]) -> Result<()> {
        self.added += 1;
        if self.added.is_multiple_of(CANCEL_ROWS) {
            self.filling.check_cancelled()?;
        }
        let inserted = self.insert.execute(rusqlite::params_from_iter(values));
        inserted.map(drop).map_err(|error| self.filling.failed(error))
    }

    pub(crate) fn end(self) -> Result<()> {
        self.filling.snapshot.filler.execute_batch("COMMIT").map_err(|error| self.filling.failed(error))
    }
}

/// The statement that makes a table.
fn definition(name: &str, key: &str) -> String {
    let table = SQL_TABLES.iter().find(|table| table.name == name).expect("the keys are those of the visible tables");
    let columns = table.columns.iter().map(|column| format!("{} {}", column.name, column.kind));
    let columns = columns.collect::<Vec<_>>().join(", ");
    match key {
        "" => format!("CREATE TABLE copy.{name}({columns})"),
        key => format!("CREATE TABLE copy.{name}({columns}, PRIMARY KEY ({key})) WITHOUT ROWID"),
    }
}
