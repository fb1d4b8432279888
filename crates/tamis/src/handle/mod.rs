//! The open index: its store, configuration, models and sources, opened once and borrowed by everything else.
//!
//! This module reads and writes no passage. `index` brings the store up to date, `search` reads it, `import` adds content from
//! elsewhere, and the applications build on those.

mod opening;
mod registry;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tamis_embed::Embedder;
use tamis_rank::Shift;
use tamis_store::{Filter, Findings, Progress, SharedSessions, Store, StoreError, Writing};

use crate::Error;
use crate::config::Config;
use crate::index_location::Location;
use crate::models::{ConfiguredReranker, Models};
use crate::progress::{Observer, Stage};
use crate::search::{ModelReranker, OnDemandVectors, Reranker};

pub use opening::IndexBuilder;
pub(crate) use opening::{UsageLogFile, now_ms, registry};
#[cfg(feature = "evidence")]
pub(crate) use opening::{holds_plain_files, open_writable};
pub(crate) use registry::{Registry, SOURCES_PROPERTY, plain, stored_roots};
pub use registry::{Source, SourceSettings, SourceState};

/// The longest wait of a short write for other processes that are writing.
const SHORT_WAIT: Duration = Duration::from_secs(10);

/// The longest wait of a whole run for other processes, each of which may be a whole run too.
pub(crate) const RUN_WAIT: Duration = Duration::from_secs(600);

/// How long a call waits before it says for whom. Another process often ends a step in less.
const QUIET_WAIT: Duration = Duration::from_secs(1);

/// An index of one directory tree, or of several repositories.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let directory = tempfile::tempdir()?;
/// # std::fs::write(directory.path().join("oven.md"), "# Oven\n\nHeat the oven to 220 degrees before baking.\n")?;
/// # let docs = directory.path();
/// let index = tamis::Index::builder(docs).set("index.models", "static").open()?;
/// index.refresh()?;
/// assert_eq!(index.search("how hot should the oven be")?.results[0].path, "oven.md");
/// # Ok(())
/// # }
/// ```
pub struct Index {
    pub(crate) location: Location,
    pub(crate) namespace: String,
    pub(crate) config: Config,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) models: Models,
    pub(crate) usage: UsageLogFile,
    /// What searches made, for later ones.
    pub(crate) kept: Kept,
    pub(crate) registry: Registry,
    /// Reads the first entries of each search, if there is one.
    pub(crate) reranker: Option<Arc<dyn Reranker>>,
    /// The reason why the index is read-only, if it is.
    pub(crate) obstacle: Option<StoreError>,
    /// The namespaces that imports have written to.
    imported: Mutex<BTreeSet<String>>,
}

/// What searches made and later ones use again, while the index is open.
#[derive(Default)]
pub(crate) struct Kept {
    pub(crate) shifts: FittedShifts,
    /// Vectors that searches made, for an index that cannot keep them.
    pub(crate) on_demand: OnDemandVectors,
}

impl Index {
    /// Opens the index of the tree that contains `path`, and creates an empty one if there is none. The tree, its index and the
    /// configuration are found as the `tamis` command finds them: the nearest directory with `.tamis` or `.git`, the environment
    /// (`TAMIS_…`), `.tamis/config.toml` and the user's `config.toml`.
    ///
    /// # Errors
    /// `path` is not a directory, the configuration is invalid, or the index cannot be created or read.
    pub fn open(path: impl AsRef<Path>) -> Result<Index, Error> {
        Index::builder(path).open()
    }

    /// Starts building the index of the tree that contains `path`.
    pub fn builder(path: impl AsRef<Path>) -> IndexBuilder {
        IndexBuilder::new(path.as_ref())
    }

    /// Opens the index at `location` under `config`, and creates an empty one if there is none. An index whose directory is
    /// read-only or whose disk is full is opened for reading.
    ///
    /// # Errors
    /// The directory cannot be created or read, or a newer version wrote the index.
    pub fn at(location: Location, config: Config) -> Result<Self, Error> {
        Self::with_embedders(location, config, Vec::new())
    }

    fn with_embedders(
        location: Location,
        config: Config,
        embedders: Vec<(String, Arc<dyn Embedder>)>,
    ) -> Result<Self, Error> {
        let (store, obstacle) = opening::store(&location, &config)?;
        let namespace = opening::namespace(&*store, &location, &config, obstacle.is_none())?;
        let registry = opening::registry(&*store, &namespace, &location, &config)?;
        let namespace = registry.holding(&location.start).map_or(namespace, |source| source.namespace.clone());
        let models = Models::with(&config, embedders);
        let reranker = configured_reranker(&config);
        let usage = UsageLogFile::new(store.clone());
        Ok(Index {
            location,
            namespace,
            config,
            store,
            models,
            usage,
            registry,
            reranker,
            obstacle,
            kept: Kept::default(),
            imported: Mutex::default(),
        })
    }

    /// Returns `true` if another index has replaced this one. Reads one file only.
    pub fn is_replaced(&self) -> bool {
        matches!(self.store.check_replaced(), Err(StoreError::Replaced { gone: false, .. }))
    }

    /// Opens the index that has replaced this one; `None` if none has. A deleted index is not created again.
    ///
    /// # Errors
    /// The index is gone, or its replacement cannot be opened.
    pub fn successor(&self) -> Result<Option<Index>, Error> {
        match self.store.check_replaced() {
            Ok(()) => Ok(None),
            Err(StoreError::Replaced { gone: false, .. }) => {
                Index::at(self.location.clone(), self.config.clone()).map(Some)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the reason why the index is read-only, if its disk is full.
    pub fn full_disk(&self) -> Option<&StoreError> {
        self.obstacle.as_ref().filter(|obstacle| matches!(obstacle, StoreError::Full { .. }))
    }

    /// Returns the tree and the place of its index.
    pub fn location(&self) -> &Location {
        &self.location
    }

    /// Returns the configuration of the index.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Returns the namespace of new documents and recorded searches: [`Index::own_namespace`], or the name of the index if there
    /// is none.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Returns the repositories of the index, in the order in which they were named. An index of one tree has that tree only.
    pub fn sources(&self) -> Vec<&Source> {
        self.registry.sources().collect()
    }

    /// Returns the names of all namespaces: those of the sources, in their order, then those without a directory, by name.
    pub(crate) fn namespace_names(&self) -> Result<Vec<String>, Error> {
        let mut names: Vec<String> = self.registry.sources().map(|source| source.namespace.clone()).collect();
        let known: HashSet<&str> = self.registry.sources().map(|source| source.namespace.as_str()).collect();
        let others = self.store.namespaces()?.into_iter().map(|namespace| namespace.name);
        names.extend(others.filter(|name| !known.contains(name.as_str())));
        Ok(names)
    }

    /// Notes that an import wrote to a namespace.
    pub(crate) fn note_import(&self, namespace: &str) {
        self.imported.lock().unwrap_or_else(PoisonError::into_inner).insert(namespace.to_owned());
    }

    /// Returns the passages that this index embeds: all that its directory holds. In a database that many trees share, each embeds
    /// those of its own namespaces, and of those that it imported into.
    pub(crate) fn embedded_here(&self) -> Filter {
        if self.config.store.url.is_none() {
            return Filter::default();
        }
        let mut namespaces = self.imported.lock().unwrap_or_else(PoisonError::into_inner).clone();
        namespaces.insert(self.namespace.clone());
        namespaces.extend(self.registry.sources().map(|source| source.namespace.clone()));
        Filter { namespaces: namespaces.into_iter().collect(), ..Filter::default() }
    }

    /// Returns `true` if the index holds only the tree that contains [`Location::start`].
    pub fn is_of_one_tree(&self) -> bool {
        self.registry.is_single() && self.own_namespace().is_some()
    }

    /// Returns the root of the only tree of the index. Among several sources, returns the root around [`Location::start`].
    pub fn root(&self) -> &Path {
        match self.registry.sources().next() {
            Some(only) if self.registry.is_single() => &only.root,
            _ => &self.location.root,
        }
    }

    /// Returns a remark for people if the only tree of the index does not contain [`Location::start`].
    pub fn elsewhere(&self) -> Option<String> {
        let is_elsewhere = self.registry.is_single() && self.own_namespace().is_none();
        let (root, around) = (self.root().display(), self.location.root.display());
        is_elsewhere.then(|| format!("the index holds the files of {root}, not of {around}; its paths start there"))
    }

    /// Returns the namespace of the source that contains [`Location::start`]; `None` if none does.
    pub fn own_namespace(&self) -> Option<&str> {
        self.registry.holding(&self.location.start).map(|source| source.namespace.as_str())
    }

    /// Returns the namespace that a search reads first: the own one. In a database, that is also the one of the tree's name where another
    /// tree of that name fills it, such as another checkout.
    pub(crate) fn searched_namespace(&self) -> Option<&str> {
        let is_named = || self.config.store.namespace.is_some() || self.location.is_project();
        let named = || self.config.store.url.is_some() && self.registry.is_single() && is_named();
        self.own_namespace().or_else(|| named().then_some(self.namespace.as_str()))
    }

    /// Returns the models of the configuration.
    pub fn models(&self) -> &Models {
        &self.models
    }

    /// Returns the reranker that reads the best entries of a search: the one that the program or the configuration gives, if any.
    pub fn reranker(&self) -> Option<&dyn Reranker> {
        self.reranker.as_deref()
    }

    /// Returns `true` if the index can be written.
    pub(crate) fn is_writable(&self) -> bool {
        self.obstacle.is_none()
    }

    /// Waits for the right to write, up to ten seconds. Processes take turns.
    pub(crate) fn wait_to_write(&self, observer: &dyn Observer) -> Result<Writing<'_>, Error> {
        self.queue_to_write(SHORT_WAIT, observer, &|| true)
    }

    /// Waits for the right to write for a whole run, up to ten minutes. Processes take turns.
    pub(crate) fn wait_for_run(&self, observer: &dyn Observer) -> Result<Writing<'_>, Error> {
        self.queue_to_write(RUN_WAIT, observer, &|| true)
    }

    /// Waits for the right to write, as long as `wanted` says that it is still needed.
    pub(crate) fn queue_to_write(
        &self,
        patience: Duration,
        observer: &dyn Observer,
        wanted: &dyn Fn() -> bool,
    ) -> Result<Writing<'_>, Error> {
        let started = Instant::now();
        let mut named = String::new();
        let mut waiting = |holder: &str| {
            if named != holder && started.elapsed() >= QUIET_WAIT {
                observer.stage(Stage::Queue(holder.to_owned()), 0);
                holder.clone_into(&mut named);
            }
            !observer.cancelled() && wanted()
        };
        Ok(self.store.wait_to_write(patience, &mut waiting)?)
    }

    /// Returns the model of that name and the vector of a query.
    ///
    /// # Errors
    /// The model cannot be used, or makes other vectors than those of the index.
    pub(crate) fn embed_query(&self, name: &str, text: &str) -> Result<(Arc<dyn Embedder>, Vec<f32>), Error> {
        let (model, vector) = self.models.embed_query(name, text)?;
        self.check_dimension(name, &model.model().id, vector.len())?;
        Ok((model, vector))
    }

    /// Makes sure that vectors of a model fit those that the index has under its identifier. An endpoint may serve another model under
    /// the same name.
    ///
    /// # Errors
    /// They do not, so the model cannot be used.
    pub(crate) fn check_dimension(&self, name: &str, id: &str, received: usize) -> Result<(), Error> {
        if !self.models.is_remote(name) || received == 0 {
            return Ok(());
        }
        match self.store.models()?.into_iter().find(|known| known.id == id) {
            Some(known) if known.dimension != received => {
                let reason = format!(
                    "its vectors have {received} dimensions, those in the index have {}, so it serves another model; have it serve \
                     the former one again, or change `model` in [models.{name}], which embeds everything anew",
                    known.dimension
                );
                Err(Error::Model { model: name.to_owned(), reason })
            }
            _ => Ok(()),
        }
    }

    /// Waits until the change number is another one than `seen`, for `patience` at most, and returns the number then. A change in a
    /// database is noticed when it is published, or within a second.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn wait_for_change(&self, seen: Option<u64>, patience: Duration) -> Result<u64, Error> {
        Ok(self.store.wait_for_change(seen, patience)?)
    }

    /// Returns the sessions that all servers of the index share; `None` if a session belongs to the process that opened it.
    pub fn shared_sessions(&self) -> Option<&dyn SharedSessions> {
        self.store.shared_sessions()
    }

    /// Looks for damage in the index. Reads everything and changes nothing.
    ///
    /// # Errors
    /// The store cannot be read at all.
    pub fn check(&self) -> Result<Findings, Error> {
        Ok(self.store.check()?)
    }

    /// Rebuilds derived data that is damaged or behind. Returns the findings that remain.
    ///
    /// # Errors
    /// The index is not writable, or another process is writing.
    pub fn mend(&self, progress: &mut dyn FnMut(Progress) -> Result<(), StoreError>) -> Result<Findings, Error> {
        Ok(self.store.mend(progress)?)
    }
}

/// The reranker that `rerank.model` names, if it names one.
fn configured_reranker(config: &Config) -> Option<Arc<dyn Reranker>> {
    let model = ConfiguredReranker::from_config(config)?;
    let (name, is_calibrated) = (model.name().to_owned(), model.is_calibrated());
    let reranker = ModelReranker::new(name, Box::new(move || model.load()));
    Some(Arc::new(if is_calibrated { reranker.calibrated() } else { reranker }))
}

// What was last fitted to judgements, kept so that searches do not fit it again until there are others.

/// The last shifts of the model of relevance.
#[derive(Debug, Default)]
pub(crate) struct FittedShifts(pub Mutex<Option<Shifts>>);

/// The shifts of the model of relevance that judgements justify.
#[derive(Debug)]
pub(crate) struct Shifts {
    /// The judgements that they rest on, as the log numbers them.
    pub judgements: (i64, i64),
    /// Each by the searches that it holds for.
    pub by_key: HashMap<ShiftKey, Shift>,
}

/// The searches whose judgements speak for each other.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ShiftKey {
    pub namespace: String,
    pub model: Option<String>,
    pub mode: String,
    /// The reranker that read the first entries, if one did.
    pub reranker: Option<String>,
}

// Read access to namespaces.

/// The most passages compared when a caller gives the beginning of an identifier. That is enough to know whether exactly one
/// passage that the caller may read begins so.
pub(crate) const MOST_ALIKE: usize = 1000;

/// Returns `true` if a caller may read a namespace. `None` stands for every namespace.
pub(crate) fn readable(allowed: Option<&[String]>, namespace: &str) -> bool {
    allowed.is_none_or(|allowed| allowed.iter().any(|one| one == namespace))
}
