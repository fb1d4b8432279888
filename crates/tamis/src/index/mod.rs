//! An index of one tree, or of several repositories: opened, brought up to date, looked at.
//!
//! A file's way: [`walk`](walk::walk) → read → split → commit → date → publish → embed → publish. The database is the truth
//! and is committed in batches, each document whole; a run that is stopped or killed leaves what was committed, and the
//! next one goes on.

mod collection;
mod dates;
mod embed;
mod plan;
mod read;
mod report;
mod rules;
mod run;
mod source;
mod walk;
mod watch;

pub(crate) use collection::Collections;
use read::skips;
pub(crate) use read::{FILE_COLLECTIONS, SKIPPED, attributes, is_file, passages};
pub use report::{RunReport, SourceReport};
pub use run::RunOptions;
pub(crate) use run::SPLITTER;
pub(crate) use source::Registry;
pub use source::{Source, SourceSettings, SourceState};
pub(crate) use walk::TEMPORARY;
pub use watch::watch;

use crate::Error;
use crate::config::Config;
use crate::feedback::{Fitted, Usage};
use crate::location::Location;
use crate::models::Models;
use jiff::Timestamp;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tamis_store::{Access, DocumentState, EmbeddedStore, NewNamespace, Store, StoreError, Writing};

/// How long other processes that are writing are waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long a run of its own waits for them: each of those may be a whole run as well.
const RUN_PATIENCE: Duration = Duration::from_secs(600);

/// The stages of a run, for progress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Listing files; how many there are is not known.
    Walk,
    /// Reading, splitting and committing; counts files.
    Read,
    /// Bringing the derived indexes up to date; counts passages.
    Publish,
    /// Embedding with the model named; counts passages.
    Embed(String),
    /// Reading, comparing and committing what is imported; counts documents.
    Import,
    /// Asking another host for what is named.
    Fetch(String),
    /// Waiting for the process that is named, which is writing the index.
    Queue(String),
    /// Sending nothing to another host until then, because it wants so.
    Wait(Timestamp),
    /// Answering the queries of an evaluation; counts queries.
    Answer,
    /// Measuring similarities of symbols; counts languages.
    Calibrate,
}

/// Sees a run's progress and can stop it.
pub trait Observer: Sync {
    /// A stage begins, with as many steps as `total`; 0: not known.
    fn stage(&self, stage: Stage, total: u64) {
        let _ = (stage, total);
    }

    /// So many more steps are done.
    fn advance(&self, steps: u64) {
        let _ = steps;
    }

    /// Whether the run shall stop at the next whole step.
    fn cancelled(&self) -> bool {
        false
    }
}

/// Refuses an index directory with anything in it but files and directories. One can come with a tree, and a link in it would
/// be written through, a pipe waited for.
fn holds_plain_files(directory: &Path) -> Result<(), Error> {
    // Both are never written through, and read with care.
    const OTHERS: [&str; 2] = ["config.toml", ".gitignore"];
    let Ok(entries) = fs::read_dir(directory) else { return Ok(()) };
    for entry in entries.flatten().filter(|entry| !OTHERS.iter().any(|name| entry.file_name() == *name)) {
        match entry.file_type() {
            Ok(kind) if kind.is_file() => {}
            Ok(kind) if kind.is_dir() => holds_plain_files(&entry.path())?,
            Ok(_) => {
                let reason = "a link, a pipe or a device, which no index has; remove it, or put the index elsewhere with \
                              --index DIR or TAMIS_INDEX";
                return Err(Error::path(&entry.path(), reason));
            }
            // It is gone again: another process is writing.
            Err(_) => {}
        }
    }
    Ok(())
}

/// Sees nothing and stops nothing.
impl Observer for () {}

/// What a search found out about the state of its index.
#[derive(Clone, Debug, Default)]
pub struct Freshness {
    /// What was done to bring it up to date.
    pub report: Option<RunReport>,
    /// Files known to differ from the index.
    pub stale: Option<u64>,
    /// Why the index was not brought up to date.
    pub reason: Option<String>,
    /// Whether that is a failure that somebody has to mend, and not another process at work or a directory to be read alone.
    pub failed: bool,
}

/// An index of one tree, or of several repositories.
pub struct Index {
    pub(crate) location: Location,
    pub(crate) namespace: String,
    pub(crate) config: Config,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) models: Models,
    pub(crate) usage: Usage,
    pub(crate) fitted: Fitted,
    pub(crate) registry: Registry,
    /// Why it can only be read.
    obstacle: Option<StoreError>,
}

impl Index {
    /// Opens the index at a location, making an empty one where there is none. Where the directory cannot be written, or its
    /// disk is full, and it holds an index, that is opened for reading.
    ///
    /// # Errors
    /// The directory cannot be made or read, or the index was written by a newer version.
    pub fn open(location: Location, config: Config) -> Result<Self, Error> {
        holds_plain_files(&location.directory)?;
        let (store, obstacle) = match Self::open_writable(&location) {
            Ok(store) => (store, None),
            Err(Error::Store(obstacle @ (StoreError::ReadOnly { .. } | StoreError::Full { .. }))) => {
                match EmbeddedStore::open(&location.directory, Access::ReadOnly) {
                    Ok(store) => (Arc::new(store) as Arc<dyn Store>, Some(obstacle)),
                    Err(StoreError::Missing { .. }) => match obstacle {
                        StoreError::ReadOnly { path, reason } => {
                            let hint = format!("{reason}; put the index elsewhere with --index DIR or TAMIS_INDEX");
                            return Err(Error::path(&path, hint));
                        }
                        obstacle => return Err(obstacle.into()),
                    },
                    Err(error) => return Err(error.into()),
                }
            }
            Err(error) => return Err(error),
        };
        let namespace = Self::name_of(&*store, &location, obstacle.is_none())?;
        let registry = Registry::read(store.property(source::PROPERTY)?.as_deref(), &namespace, &location, &config)?;
        let namespace = registry.holding(&location.start).map_or(namespace, |source| source.namespace.clone());
        let models = Models::new(&config);
        let usage = Usage::new(store.clone());
        Ok(Index { location, namespace, config, store, models, usage, fitted: Fitted::default(), registry, obstacle })
    }

    /// The name under which the tree was first indexed, which stays, so that renaming a directory changes nothing.
    fn name_of(store: &dyn Store, location: &Location, writable: bool) -> Result<String, Error> {
        if let Some(namespace) = store.property("namespace")? {
            return Ok(namespace);
        }
        if writable {
            // Another process may open it for the first time as well: the first name stays.
            let unnamed = || !matches!(store.property("namespace"), Ok(Some(_)));
            let writing = store.wait_to_write(PATIENCE, &mut |_| unnamed());
            if let Some(namespace) = store.property("namespace")? {
                return Ok(namespace);
            }
            let _writing = writing?;
            store.set_property("namespace", &location.namespace)?;
        }
        Ok(location.namespace.clone())
    }

    /// Whether another index stands in the place of this one now. Looks at one file only.
    pub fn is_replaced(&self) -> bool {
        matches!(self.store.check_replaced(), Err(StoreError::Replaced { gone: false, .. }))
    }

    /// The index that stands in the place of this one now, where another process has replaced it; `None` where this is still
    /// the one. An index that was deleted is not made again.
    ///
    /// # Errors
    /// The index is gone, or the one in its place cannot be opened.
    pub fn successor(&self) -> Result<Option<Index>, Error> {
        match self.store.check_replaced() {
            Ok(()) => Ok(None),
            Err(StoreError::Replaced { gone: false, .. }) => {
                Index::open(self.location.clone(), self.config.clone()).map(Some)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Why the index can only be read, where its disk is full.
    pub fn full_disk(&self) -> Option<&StoreError> {
        self.obstacle.as_ref().filter(|obstacle| matches!(obstacle, StoreError::Full { .. }))
    }

    fn open_writable(location: &Location) -> Result<Arc<dyn Store>, Error> {
        let directory = &location.directory;
        let failed = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => {
                Error::Store(StoreError::ReadOnly { path: directory.clone(), reason: error.to_string() })
            }
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
                Error::Store(StoreError::Full { path: directory.clone() })
            }
            _ => Error::path(directory, format!("cannot be made: {error}")),
        };
        fs::create_dir_all(directory).map_err(failed)?;
        // The index ignores itself, so that nobody has to touch the project's own ignore file.
        let ignore = directory.join(".gitignore");
        const IGNORE: &str =
            "# Made by tamis. config.toml may be checked in; the rest is derived.\n*\n!.gitignore\n!config.toml\n";
        // A link in its place is not written through.
        if fs::symlink_metadata(&ignore).is_err() {
            crate::file::replace_whole(&ignore, IGNORE.as_bytes(), None, 0o666).map_err(failed)?;
        }
        Ok(Arc::new(EmbeddedStore::open(directory, Access::ReadWrite)?))
    }

    /// Adds directories, each of which becomes a namespace that is called like it (with a number after it where that name is
    /// taken), or changes what is known of it: whose it is, whether it is shared, what its prose is. Nothing of them is read before the next
    /// [`Index::refresh`]. Returns their namespaces. In an index that holds nothing yet, the tree around it is then only its
    /// place; it is one of several where it holds something or is named itself.
    ///
    /// # Errors
    /// A directory that is not there, or lies in another source, or holds one; a name of an owner that is not allowed;
    /// another process is writing.
    pub fn add_sources(&mut self, directories: &[PathBuf], settings: &SourceSettings) -> Result<Vec<String>, Error> {
        if let Some(owner) = settings.owner.as_deref().filter(|owner| !crate::config::is_name(owner)) {
            let allowed = "1 to 200 characters, none of them `:`, `/`, `\\` or a control character";
            return Err(Error::argument("owner", format!("{owner:?}"), allowed));
        }
        let mut roots = Vec::with_capacity(directories.len());
        for directory in directories {
            let root = dunce::canonicalize(directory).map_err(|error| Error::path(directory, error.to_string()))?;
            if !root.is_dir() {
                return Err(Error::path(directory, "not a directory; name directories to index"));
            }
            roots.push(root);
        }
        // The tree around the index, named alone, is what it holds anyway.
        let nothing_new =
            *settings == SourceSettings::default() && roots.iter().all(|root| *root == self.location.root);
        if self.registry.is_single() && nothing_new {
            return Ok(vec![self.namespace.clone()]);
        }
        let writing = self.wait_to_write(&())?;
        let mut registry = self.kept_registry()?;
        // What was imported into the tree's namespace stays there, without a directory.
        let is_file = |document: &DocumentState| document.origin.is_none();
        if registry.is_single() && !self.store.documents(&self.namespace)?.iter().any(is_file) {
            registry.clear();
        }
        let mut namespaces = Vec::with_capacity(roots.len());
        for root in &roots {
            namespaces.push(registry.add(root, settings)?);
        }
        self.register(&registry)?;
        drop(writing);
        self.take_up_sources()?;
        Ok(namespaces)
    }

    /// Takes a source out of the index, with all its documents, or a namespace without a directory that was imported.
    /// Returns how many documents those were.
    ///
    /// # Errors
    /// There is no such source, the configuration names it, or another process is writing.
    pub fn remove_source(&mut self, namespace: &str) -> Result<u64, Error> {
        let writing = self.wait_to_write(&())?;
        let mut registry = self.kept_registry()?;
        let is_source = registry.sources().any(|source| source.namespace == namespace);
        if is_source || !self.namespace_names()?.iter().any(|known| known == namespace) {
            registry.remove(namespace)?;
        }
        for origin in self.store.origins()?.iter().filter(|origin| origin.namespace == namespace) {
            self.store.set_property(&crate::import::state_property(namespace, &origin.name), "")?;
        }
        let removed = self.store.remove_namespace(namespace)?;
        dates::forget(self, namespace)?;
        self.store.set_property(&run::splitter_property(namespace), "")?;
        self.register(&registry)?;
        self.store.publish(&mut |_| {}).map_err(Error::not_published)?;
        drop(writing);
        self.take_up_sources()?;
        Ok(removed.deleted)
    }

    /// The list of sources as it is now: another process may have changed it since the index was opened.
    fn kept_registry(&self) -> Result<Registry, Error> {
        let kept = self.store.property(source::PROPERTY)?;
        let namespace = self.store.property("namespace")?.unwrap_or_else(|| self.namespace.clone());
        Registry::read(kept.as_deref(), &namespace, &self.location, &self.config)
    }

    /// Takes up the list of sources as it is kept now.
    fn take_up_sources(&mut self) -> Result<(), Error> {
        self.registry = self.kept_registry()?;
        self.namespace = match self.own_namespace() {
            Some(own) => own.to_owned(),
            None => self.store.property("namespace")?.unwrap_or_else(|| self.namespace.clone()),
        };
        Ok(())
    }

    /// Makes the store know what the list of sources says, where that has changed.
    fn register(&self, registry: &Registry) -> Result<(), Error> {
        let kept = registry.kept(&self.location);
        if self.store.property(source::PROPERTY)?.unwrap_or_default() == kept {
            return Ok(());
        }
        for Source { namespace, root, owner, shared, .. } in registry.sources() {
            self.store.put_namespace(&NewNamespace {
                name: namespace.clone(),
                root: Some(root.to_string_lossy().into_owned()),
                owner: owner.clone(),
                shared: *shared,
            })?;
        }
        Ok(self.store.set_property(source::PROPERTY, &kept)?)
    }

    /// Brings the index up to date with its sources. Waits in turn for other processes that are writing, up to ten minutes.
    ///
    /// # Errors
    /// Another process is still writing, the directory is not writable, or a model fails. What was committed before
    /// stays.
    pub fn refresh(&self, options: RunOptions, observer: &dyn Observer) -> Result<RunReport, Error> {
        let _writing = self.queue_to_write(RUN_PATIENCE, observer)?;
        run::run(self, options, observer)
    }

    /// Brings one file of a source up to date, by the rules of all files: it is looked at and no other. Waits as
    /// [`Index::refresh`] does.
    pub(crate) fn refresh_file(
        &self,
        source: &Source,
        path: &str,
        options: RunOptions,
        observer: &dyn Observer,
    ) -> Result<RunReport, Error> {
        let _writing = self.wait_to_write(observer)?;
        run::run_file(self, source, path, options, observer)
    }

    /// Whether a file of a source is one that a run would index.
    pub(crate) fn would_index(&self, source: &Source, path: &str) -> Result<bool, Error> {
        Ok(!run::list_file(self, source, path)?.files.is_empty())
    }

    /// What a run would find at the path of one file of a source.
    pub(crate) fn listed(&self, source: &Source, path: &str) -> Result<walk::Found, Error> {
        run::list_file(self, source, path)
    }

    /// Whether the index can be written.
    pub(crate) fn is_writable(&self) -> bool {
        self.obstacle.is_none()
    }

    /// The right to write. Other processes that are writing are waited for in turn, up to ten seconds.
    pub(crate) fn wait_to_write(&self, observer: &dyn Observer) -> Result<Writing<'_>, Error> {
        self.queue_to_write(PATIENCE, observer)
    }

    fn queue_to_write(&self, patience: Duration, observer: &dyn Observer) -> Result<Writing<'_>, Error> {
        let mut named = String::new();
        let mut waiting = |holder: &str| {
            if named != holder {
                observer.stage(Stage::Queue(holder.to_owned()), 0);
                holder.clone_into(&mut named);
            }
            !observer.cancelled()
        };
        Ok(self.store.wait_to_write(patience, &mut waiting)?)
    }

    /// Publishes and embeds the documents put so far, without looking at any source. Waits in turn for other processes that
    /// are writing, up to ten minutes.
    ///
    /// # Errors
    /// Another process is still writing, the directory is not writable, or a model fails.
    pub fn complete(&self, options: RunOptions, observer: &dyn Observer) -> Result<RunReport, Error> {
        let _writing = self.queue_to_write(RUN_PATIENCE, observer)?;
        run::complete(self, options, observer)
    }

    /// Embeds what has no vector of a model of the configuration yet, in small steps, after each of which the observer is told
    /// and may wait. Others write in between.
    ///
    /// # Errors
    /// Another process goes on writing, the directory is not writable, or a model fails. What was committed before stays.
    pub fn embed_missing(&self, observer: &dyn Observer) -> Result<RunReport, Error> {
        let mut report = RunReport::default();
        embed::embed_missing(self, observer, &mut report)?;
        Ok(report)
    }

    /// Brings the index up to date as far as a search should wait for; where that cannot be done, says why and how
    /// stale the index is.
    ///
    /// # Errors
    /// The tree or a model cannot be read, or the index is damaged or gone. An index that cannot be written now, for whatever
    /// reason, is searched as it is.
    pub fn refresh_for_search(&self, observer: &dyn Observer) -> Result<Freshness, Error> {
        let options = RunOptions { embed_at_most: self.config.search.refresh_embed as u64, reread: false };
        let (reason, failed) = match &self.obstacle {
            None => match self.refresh_now(options, observer) {
                Ok(report) => {
                    let stale = Some(if report.interrupted { self.stale()? } else { 0 });
                    return Ok(Freshness { report: Some(report), stale, ..Freshness::default() });
                }
                Err(Error::Store(error @ (StoreError::Busy { .. } | StoreError::ReadOnly { .. }))) => {
                    (error.to_string(), false)
                }
                Err(Error::Store(error @ (StoreError::Corrupt { .. } | StoreError::Replaced { .. }))) => {
                    return Err(error.into());
                }
                Err(error @ (Error::Store(_) | Error::NotPublished { .. })) => (error.to_string(), true),
                Err(error) => return Err(error),
            },
            Some(StoreError::ReadOnly { .. }) => {
                (format!("{}: not writable", self.location.directory.display()), false)
            }
            Some(obstacle) => (obstacle.to_string(), true),
        };
        Ok(Freshness { report: None, stale: Some(self.stale()?), reason: Some(reason), failed })
    }

    fn refresh_now(&self, options: RunOptions, observer: &dyn Observer) -> Result<RunReport, Error> {
        let _writing = self.store.writer()?;
        run::run(self, options, observer)
    }

    /// How many files differ from the index.
    ///
    /// # Errors
    /// A source or the store cannot be read.
    pub fn stale(&self) -> Result<u64, Error> {
        Ok(run::stale(self)?.iter().map(|(_, _, files)| files).sum())
    }

    /// How many files of each source differ from the index, with whether it can be brought up to date.
    pub(crate) fn stale_by_source(&self) -> Result<Vec<(&Source, SourceState, u64)>, Error> {
        run::stale(self)
    }

    /// The tree and where its index is.
    pub fn location(&self) -> &Location {
        &self.location
    }

    /// The configuration it was opened with.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The namespace that documents are put into and searches are taken down under: [`Index::own_namespace`], or the name
    /// of the index where there is none.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The repositories that the index holds, in the order in which they were named; of an index of one tree, that tree.
    pub fn sources(&self) -> Vec<&Source> {
        self.registry.sources().collect()
    }

    /// The names of all namespaces: those of the sources, in their order, and those without a directory, by name.
    pub(crate) fn namespace_names(&self) -> Result<Vec<String>, Error> {
        let mut names: Vec<String> = self.registry.sources().map(|source| source.namespace.clone()).collect();
        for namespace in self.store.namespaces()? {
            if !names.contains(&namespace.name) {
                names.push(namespace.name);
            }
        }
        Ok(names)
    }

    /// Whether the index holds the tree around it and nothing else.
    pub fn is_of_one_tree(&self) -> bool {
        self.registry.is_single()
    }

    /// The namespace of the source that holds the directory from which the index was looked for ([`Location::start`]);
    /// that of an index of one tree in any case. `None` where there are several and none holds it.
    pub fn own_namespace(&self) -> Option<&str> {
        self.registry.holding(&self.location.start).map(|source| source.namespace.as_str())
    }

    /// The models of the configuration.
    pub fn models(&self) -> &Models {
        &self.models
    }

    /// The store underneath.
    pub fn store(&self) -> &dyn Store {
        &*self.store
    }
}
