//! The store in a directory: SQLite for the truth, Tantivy and vector files for the search.

mod changes;
mod check;
mod legs;
mod maintenance;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use crate::access::Access;
use crate::content::{Content, KnownNamespaces};
use crate::error::{Result, StoreError};
use crate::files::has_log;
use crate::filter::{Filter, Selection};
use crate::lexical::Lexical;
use crate::lock::{Hold, WriteLock};
use crate::recent::Recent;
use crate::record::PassageRef;
use crate::report::Coverage;
use crate::semantic::Semantic;
use crate::session::Session;
use crate::session::sqlite::{SqliteSession, now};
use crate::sqlite::{ContentState, Database, NAMESPACES, TransactionError};
use crate::store::{Usage, UsageLog};
use crate::usage::{self, EmbeddedUsageLog};

const DATABASE: &str = "tamis.db";
const LOCK: &str = "write.lock";
const EMBEDDING_LOCK: &str = "embedding.lock";
const LEXICAL: &str = "lexical";
const VECTORS: &str = "vectors";

/// The time to wait for another process that creates the database.
const CREATING: Duration = Duration::from_secs(10);

/// The [`Store`](crate::Store) in a directory of its own.
///
/// The directory holds `tamis.db`, the truth, with `lexical/` and `vectors/`, which are derived from it and may be deleted,
/// and `usage.db`. Several stores in several processes may be open on one directory. One of them writes at a time, under
/// `write.lock`, and one embeds in the background, under `embedding.lock`.
#[derive(Debug)]
pub struct EmbeddedStore {
    directory: PathBuf,
    access: Access,
    database: Database,
    lock: WriteLock,
    embedding: WriteLock,
    lexical: Lexical,
    semantic: Semantic,
    /// One publication at a time within the process.
    publishing: Mutex<()>,
    /// The selections of recent filters, by the state of the database.
    selections: Recent<(ContentState, Filter), Arc<Selection>>,
    /// The coverage of models under recent filters.
    coverages: Recent<(ContentState, String, Filter), Coverage>,
    namespaces: KnownNamespaces,
    usage: OnceLock<EmbeddedUsageLog>,
}

impl EmbeddedStore {
    /// Opens the store in a directory.
    ///
    /// # Errors
    ///
    /// [`Missing`](StoreError::Missing) when it is opened for reading and does not exist,
    /// [`ReadOnly`](StoreError::ReadOnly) when it is opened for writing and cannot be written,
    /// [`OtherVersion`](StoreError::OtherVersion) when another version of the program wrote it, [`Corrupt`](StoreError::Corrupt)
    /// when the file is not a database, or is empty where an index was.
    pub fn open(directory: impl AsRef<Path>, access: Access) -> Result<EmbeddedStore> {
        let directory = directory.as_ref();
        let path = directory.join(DATABASE);
        let lock = WriteLock::new(directory.join(LOCK));
        let database = match access {
            Access::ReadWrite => {
                std::fs::create_dir_all(directory)
                    .map_err(|error| StoreError::io(directory, "creating the directory", error))?;
                if !exists(&path)? {
                    // Of several processes that open at once, one creates the database; the others wait for it.
                    let hold = lock.wait(CREATING, &mut |_| !exists(&path).unwrap_or(true));
                    if !exists(&path)? {
                        let _hold = hold?;
                        Database::create(&path)?;
                    }
                }
                Database::open_writable(&path)?
            }
            Access::ReadOnly => {
                if !exists(&path)? {
                    return Err(StoreError::Missing { path: directory.to_owned() });
                }
                Database::open_read_only(&path)?
            }
        };
        let instance = database.instance();
        Ok(EmbeddedStore {
            directory: directory.to_owned(),
            access,
            lock,
            embedding: WriteLock::new(directory.join(EMBEDDING_LOCK)),
            lexical: Lexical::new(directory.join(LEXICAL), instance),
            semantic: Semantic::new(directory.join(VECTORS), instance),
            publishing: Mutex::default(),
            selections: Recent::default(),
            coverages: Recent::default(),
            namespaces: Mutex::default(),
            usage: OnceLock::new(),
            database,
        })
    }

    /// Returns the directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns the operations it was opened for.
    pub fn access(&self) -> Access {
        self.access
    }

    /// Takes the right to write, without waiting.
    fn hold(&self) -> Result<Hold<'_>> {
        self.check_writable()?;
        let hold = self.lock.hold()?;
        // The directory may hold another index by now, whose lock this is.
        self.database.check_replaced()?;
        Ok(hold)
    }

    /// Takes the right to write and runs `work` on the database.
    fn writing<T>(&self, work: impl FnOnce(&Database) -> Result<T>) -> Result<T> {
        let _hold = self.hold()?;
        work(&self.database)
    }

    fn check_writable(&self) -> Result<()> {
        match self.access {
            // The lock of a deleted directory could not even be named.
            Access::ReadWrite => self.database.check_replaced(),
            Access::ReadOnly => {
                Err(StoreError::ReadOnly { path: self.directory.clone(), reason: "opened for reading only".to_owned() })
            }
        }
    }

    /// Resolves a filter, or returns a recent result.
    fn resolve(&self, filter: &Filter) -> Result<Arc<Selection>> {
        let state = self.database.content_state(filter.is_by_properties())?;
        self.selections.retain(|(known, _)| known.seq == state.seq);
        if let Some(selection) = self.selections.get(|(known, of)| *known == state && of == filter) {
            return Ok(selection);
        }
        // A change in between makes the selection newer than its state, and it is then resolved again.
        let selection = Arc::new(self.database.resolve(filter)?);
        self.selections.push((state, filter.clone()), selection.clone());
        Ok(selection)
    }
}

impl Content for EmbeddedStore {
    type Error = TransactionError;

    fn read<T>(
        &self,
        _: &[&str],
        work: impl AsyncFn(&dyn Session<TransactionError>) -> Result<T, TransactionError>,
    ) -> Result<T> {
        self.database.snapshot(|connection| now(work(&SqliteSession::new(connection))))
    }

    fn write<T>(&self, work: impl AsyncFn(&dyn Session<TransactionError>) -> Result<T, TransactionError>) -> Result<T> {
        self.writing(|database| database.write(|connection| now(work(&SqliteSession::new(connection)))))
    }

    fn known_namespaces(&self) -> &KnownNamespaces {
        &self.namespaces
    }

    fn list_namespaces(&self) -> String {
        NAMESPACES.to_owned()
    }

    fn passing(&self, filter: &Filter) -> Result<Vec<PassageRef>> {
        self.database.select(&*self.resolve(filter)?)
    }

    #[cfg(feature = "evidence")]
    fn put_evidence(
        &self,
        namespace: &str,
        origin: &str,
        records: &[crate::evidence::EvidenceRecord],
        changes: &[crate::record::Change],
    ) -> Result<crate::record::Applied> {
        self.writing(|database| database.apply_evidence(namespace, origin, records, changes))
    }

    #[cfg(feature = "evidence")]
    fn run_sql(
        &self,
        namespace: &str,
        query: &crate::sql::SqlQuery,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<crate::sql::SqlRows> {
        self.database.query_sql(namespace, query, cancelled)
    }
}

impl Usage for EmbeddedStore {
    fn usage(&self) -> Result<&dyn UsageLog> {
        if let Some(log) = self.usage.get() {
            return Ok(log);
        }
        let log = EmbeddedUsageLog::open(&self.directory, self.access)?;
        Ok(self.usage.get_or_init(|| log))
    }
}

/// Returns `true` if there is a database at the path. An empty file does not count, and is an error beside the rest of
/// an index.
fn exists(path: &Path) -> Result<bool> {
    match std::fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(StoreError::io(path, "looking for the database", error)),
        Ok(metadata) if metadata.len() > 0 || !metadata.is_file() => return Ok(true),
        Ok(_) => {}
    }
    let directory = path.parent().unwrap_or(Path::new("."));
    let remains = remains(directory);
    if remains.is_empty() {
        return Ok(false);
    }
    let reason = format!("it is empty, but {} of an earlier index", remains.join(" and "));
    Err(StoreError::Corrupt { path: path.to_owned(), reason })
}

/// The files of an index in a directory, besides its database.
fn remains(directory: &Path) -> Vec<&'static str> {
    let holds = |name: &str| std::fs::metadata(directory.join(name)).is_ok_and(|metadata| metadata.len() > 0);
    let mut vectors = std::fs::read_dir(directory.join(VECTORS)).into_iter().flatten().flatten();
    let is_vectors = |path: PathBuf| path.extension().is_some_and(|extension| extension == "tvec");
    [
        (has_log(&directory.join(DATABASE)), "its log remains"),
        (holds("lexical/meta.json"), "lexical/ remains"),
        (vectors.any(|entry| is_vectors(entry.path())), "vectors/ remains"),
        (holds(usage::FILE), "usage.db remains"),
    ]
    .into_iter()
    .filter_map(|(found, name)| found.then_some(name))
    .collect()
}
