//! How an index is opened: from the settings of a builder, with its lock, its log of searches and its models.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tamis_embed::Embedder;
use tamis_store::{Access, EmbeddedStore, Namespace, QueryQuality, RecordedSearch, Store, StoreError, UsageLog};

use super::{Index, Registry, SHORT_WAIT, SOURCES_PROPERTY, plain};
use crate::Error;
use crate::config::{Config, Origins};
use crate::file::untrusted::read_in;
use crate::index_location::{Location, machine_name};
use crate::search::Reranker;

/// Opens the store. In a directory that is read-only or full it is opened for reading, and the reason comes with it.
pub(crate) fn store(location: &Location, config: &Config) -> Result<(Arc<dyn Store>, Option<StoreError>), Error> {
    if let Some(url) = &config.store.url {
        return Ok((database(url, &namespace_name(location, config))?, None));
    }
    holds_plain_files(&location.directory)?;
    match open_writable(&location.directory) {
        Ok(store) => Ok((store, None)),
        Err(Error::Store(obstacle @ (StoreError::ReadOnly { .. } | StoreError::Full { .. }))) => {
            match EmbeddedStore::open(&location.directory, Access::ReadOnly) {
                Ok(store) => Ok((store.into_dyn(), Some(obstacle))),
                Err(StoreError::Missing { .. }) => match obstacle {
                    StoreError::ReadOnly { path, reason } => Err(Error::index_directory(&path, reason)),
                    obstacle => Err(obstacle.into()),
                },
                Err(error) => Err(error.into()),
            }
        }
        Err(error) => Err(error),
    }
}

#[cfg(feature = "postgres")]
fn database(url: &str, namespace: &str) -> Result<Arc<dyn Store>, Error> {
    Ok(tamis_store::PostgresStore::open(url, namespace)?.into_dyn())
}

#[cfg(not(feature = "postgres"))]
fn database(_: &str, _: &str) -> Result<Arc<dyn Store>, Error> {
    Err(Error::argument("store.url", "postgres://…", "empty: this program was built without PostgreSQL"))
}

/// The name of a tree in a database that many trees share.
fn namespace_name(location: &Location, config: &Config) -> String {
    config.store.namespace.clone().unwrap_or_else(|| location.namespace.clone())
}

/// Returns the name under which the tree was first indexed. It stays, so renaming the directory changes nothing.
pub(crate) fn namespace(
    store: &dyn Store,
    location: &Location,
    config: &Config,
    writable: bool,
) -> Result<String, Error> {
    if config.store.url.is_some() {
        return Ok(namespace_name(location, config));
    }
    if let Some(namespace) = store.property("namespace")? {
        return Ok(namespace);
    }
    if writable {
        // Another process may be opening it for the first time too; the first name stays.
        let unnamed = || !matches!(store.property("namespace"), Ok(Some(_)));
        let writing = store.wait_to_write(SHORT_WAIT, &mut |_| unnamed());
        if let Some(namespace) = store.property("namespace")? {
            return Ok(namespace);
        }
        let _writing = writing?;
        store.set_property("namespace", &location.namespace)?;
    }
    Ok(location.namespace.clone())
}

/// Reads the sources of an index. One that holds another tree than the one around the user is of that tree: what it shows has that
/// tree's paths. A tree that is gone has moved here, and one on another machine is taken for its copy here.
pub(crate) fn registry(
    store: &dyn Store,
    namespace: &str,
    location: &Location,
    config: &Config,
) -> Result<Registry, Error> {
    let known = store.namespaces()?.into_iter().find(|known| known.name == namespace);
    let is_here = |known: &Namespace| known.machine.as_ref().is_none_or(|machine| *machine == machine_name());
    let root = known.filter(is_here).and_then(|known| Some(plain(&location.base().join(known.root?))));
    let root = root.filter(|root| root.is_dir()).unwrap_or_else(|| location.root.clone());
    Registry::parse(store.property(SOURCES_PROPERTY)?.as_deref(), namespace, &root, location, config)
}

/// Opens the store in a directory for writing, and makes the directory if it is missing.
pub(crate) fn open_writable(directory: &Path) -> Result<Arc<dyn Store>, Error> {
    let failed = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => {
            Error::Store(StoreError::ReadOnly { path: directory.to_owned(), reason: error.to_string() })
        }
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
            Error::Store(StoreError::Full { path: directory.to_owned() })
        }
        _ => Error::path(directory, format!("cannot be made: {error}")),
    };
    fs::create_dir_all(directory).map_err(failed)?;
    // The index ignores itself, this file included, so that a search leaves nothing for git to show.
    let ignore = directory.join(".gitignore");
    const IGNORE: &str = "# Made by tamis. config.toml may be checked in; the rest is derived.\n*\n!config.toml\n";
    // One with other lines is the user's, and we do not write through a link in its place.
    let ours = |line: &str| line == "!.gitignore" || IGNORE.lines().any(|own| own == line);
    let is_due = match read_in(directory, Path::new(".gitignore"), 4096) {
        Ok(text) => text != IGNORE.as_bytes() && str::from_utf8(&text).is_ok_and(|text| text.lines().all(ours)),
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    };
    if is_due {
        crate::file::replace_whole(&ignore, IGNORE.as_bytes(), None, 0o666).map_err(failed)?;
    }
    Ok(EmbeddedStore::open(directory, Access::ReadWrite)?.into_dyn())
}

/// Refuses an index directory that holds anything but files and directories. Such a directory can come with a tree; the index
/// would write through a link in it and block on a pipe.
pub(crate) fn holds_plain_files(directory: &Path) -> Result<(), Error> {
    // Neither is ever written through, and both are read defensively.
    const OTHERS: [&str; 2] = ["config.toml", ".gitignore"];
    let Ok(entries) = fs::read_dir(directory) else { return Ok(()) };
    for entry in entries.flatten().filter(|entry| !OTHERS.iter().any(|name| entry.file_name() == *name)) {
        match entry.file_type() {
            Ok(kind) if kind.is_file() => {}
            Ok(kind) if kind.is_dir() => holds_plain_files(&entry.path())?,
            Ok(_) => {
                let reason = "a link, a pipe or a device, which no index has; remove it if it came with the tree";
                return Err(Error::index_directory(&entry.path(), reason));
            }
            // The file is gone again: another process is writing.
            Err(_) => {}
        }
    }
    Ok(())
}

// Opens an index, by a path alone or step by step.

/// The environment variable that sets the index directory.
const INDEX_VARIABLE: &str = "TAMIS_INDEX";

/// Opens an index with settings of its own. From [`Index::builder`].
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let directory = tempfile::tempdir()?;
/// # let (docs, elsewhere) = (directory.path(), directory.path().join("elsewhere"));
/// let index = tamis::Index::builder(docs)
///     .index_directory(elsewhere)
///     .set("index.models", "static")
///     .set("search.top_k", "20")
///     .open()?;
/// assert_eq!(index.config().search.top_k, 20);
/// # Ok(())
/// # }
/// ```
#[derive(Default)]
#[must_use]
pub struct IndexBuilder {
    path: PathBuf,
    directory: Option<PathBuf>,
    config: Option<Config>,
    settings: Vec<(String, String, String)>,
    embedders: Vec<(String, Arc<dyn Embedder>)>,
    reranker: Option<Arc<dyn Reranker>>,
}

impl IndexBuilder {
    pub(super) fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), ..Self::default() }
    }

    /// Keeps the index in `directory` instead of `.tamis` in the tree. This overrides `TAMIS_INDEX`.
    pub fn index_directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// Uses this configuration instead of the one in files and the environment.
    pub fn config(mut self, config: Config) -> Self {
        self.config = Some(config);
        self
    }

    /// Sets one key of the configuration, over files and the environment. It has no effect with [`IndexBuilder::config`].
    pub fn set(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.settings.push((key.into(), value.into(), "IndexBuilder::set".to_owned()));
        self
    }

    /// Makes vectors with your own model, under a `name` that stands first among the models of the index. Its vectors are
    /// stored under the identifier in [`Embedder::model`].
    pub fn embedder(mut self, name: impl Into<String>, embedder: Arc<dyn Embedder>) -> Self {
        self.embedders.push((name.into(), embedder));
        self
    }

    /// Has `reranker` read the first entries of each search, and decides by its opinion together with the scores.
    pub fn reranker(mut self, reranker: Arc<dyn Reranker>) -> Self {
        self.reranker = Some(reranker);
        self
    }

    /// Opens the index, and creates an empty one if there is none.
    ///
    /// # Errors
    /// The path is not a directory, the configuration is invalid, or the index cannot be created or read.
    pub fn open(self) -> Result<Index, Error> {
        let variable = || std::env::var_os(INDEX_VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from);
        let directory = self.directory.or_else(variable);
        let location = Location::discover(&self.path, directory.as_deref())?;
        let mut config = match self.config {
            Some(config) => config,
            None => {
                let origins = Origins::of_process(&location, self.settings);
                let user = origins.directories.configuration().map(Path::to_owned);
                Config::load(&origins, user)?
            }
        };
        if let Some((name, _)) = self.embedders.first() {
            config.index.models = self.embedders.iter().map(|(name, _)| name.clone()).collect();
            config.search.model.clone_from(name);
        }
        let index = Index::with_embedders(location, config, self.embedders)?;
        Ok(match self.reranker {
            Some(reranker) => Index { reranker: Some(reranker), ..index },
            None => index,
        })
    }
}

// The usage log of an index, opened when first needed, and the identifiers of searches.

/// The alphabet of identifiers: digits and lower-case letters that are not easily confused.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// The length of an identifier in characters: 40 bits, which makes a collision unlikely even among ten thousand searches.
const IDENTIFIER: usize = 8;

/// The log of one index.
pub(crate) struct UsageLogFile {
    store: Arc<dyn Store>,
    problem: Mutex<Option<String>>,
}

impl UsageLogFile {
    pub fn new(store: Arc<dyn Store>) -> Self {
        UsageLogFile { store, problem: Mutex::default() }
    }

    /// Returns the log. If it cannot be opened, the next call tries again.
    pub fn log(&self) -> Result<&dyn UsageLog, Error> {
        Ok(self.store.usage()?)
    }

    /// Records a search with its quality figures, and returns its identifier. Recording never fails a search and hardly delays
    /// it: if the log cannot be written now, the search goes unrecorded and [`UsageLogFile::problem`] gives the reason.
    pub fn record(&self, mut search: RecordedSearch, mut quality: QueryQuality) -> Option<String> {
        search.id = identifier();
        search.at_ms = now_ms();
        quality.at_ms = search.at_ms;
        quality.search_id = Some(search.id.clone());
        let recorded = self.attempt(|| Ok(self.log()?.record_query(&search, Some(&quality))?));
        recorded.map(|()| search.id)
    }

    /// Runs what records something. Its failure fails nothing, and [`UsageLogFile::problem`] says why.
    pub fn attempt<T>(&self, record: impl FnOnce() -> Result<T, Error>) -> Option<T> {
        let (recorded, problem) = match record() {
            Ok(recorded) => (Some(recorded), None),
            Err(error) => (None, Some(error.to_string())),
        };
        *self.problem.lock().unwrap_or_else(PoisonError::into_inner) = problem;
        recorded
    }

    /// Returns the reason why the last search was not recorded.
    pub fn problem(&self) -> Option<String> {
        self.problem.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Returns the present time in milliseconds since 1970.
pub(crate) fn now_ms() -> i64 {
    i64::try_from(since_epoch().as_millis()).unwrap_or(i64::MAX)
}

fn since_epoch() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// Returns an identifier that no other search has, in this process or another.
fn identifier() -> String {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let mut hasher = blake3::Hasher::new();
    hasher.update(&since_epoch().as_nanos().to_le_bytes());
    hasher.update(&std::process::id().to_le_bytes());
    hasher.update(&COUNTER.fetch_add(1, Ordering::Relaxed).to_le_bytes());
    let bytes = hasher.finalize();
    bytes.as_bytes()[..IDENTIFIER].iter().map(|byte| char::from(ALPHABET[usize::from(byte % 32)])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn identifiers_are_short_and_differ() {
        let many: HashSet<String> = (0..2000).map(|_| identifier()).collect();
        assert_eq!(many.len(), 2000);
        assert!(many.iter().all(|id| id.len() == 8 && id.bytes().all(|byte| ALPHABET.contains(&byte))));
    }
}
