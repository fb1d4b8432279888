//! An index of a tree: opened, brought up to date, looked at.
//!
//! A file's way: [`walk`](walk::walk) → read → split → commit → publish → embed → publish. The database is the truth
//! and is committed in batches, each document whole; a run that is stopped or killed leaves what was committed, and the
//! next one goes on.

mod plan;
mod read;
mod run;
mod walk;
mod watch;

use read::skips;
pub(crate) use read::{FILE_COLLECTIONS, SKIPPED};
pub(crate) use run::SPLITTER;
pub use run::{RunOptions, RunReport};
pub use watch::watch;

use crate::Error;
use crate::config::Config;
use crate::feedback::{Fitted, Usage};
use crate::location::Location;
use crate::models::Models;
use std::fs;
use std::time::{Duration, Instant};
use tamis_store::{Access, EmbeddedStore, Store, StoreError};

/// How long a run waits for another process that is writing.
const PATIENCE: Duration = Duration::from_secs(10);

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
    /// Answering the queries of an evaluation; counts queries.
    Answer,
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
}

/// An index of a tree.
pub struct Index {
    pub(crate) location: Location,
    pub(crate) namespace: String,
    pub(crate) config: Config,
    pub(crate) store: EmbeddedStore,
    pub(crate) models: Models,
    pub(crate) usage: Usage,
    pub(crate) fitted: Fitted,
    writable: bool,
}

impl Index {
    /// Opens the index at a location, making an empty one where there is none. Where the directory cannot be written
    /// and holds an index, that is opened for reading.
    ///
    /// # Errors
    /// The directory cannot be made or read, or the index was written by a newer version.
    pub fn open(location: Location, config: Config) -> Result<Self, Error> {
        let (store, writable) = match Self::open_writable(&location) {
            Ok(store) => (store, true),
            Err(Error::Store(StoreError::ReadOnly { path, reason })) => {
                match EmbeddedStore::open(&location.directory, Access::ReadOnly) {
                    Ok(store) => (store, false),
                    Err(StoreError::Missing { .. }) => {
                        let hint = format!("{reason}; put the index elsewhere with --index DIR or TAMIS_INDEX");
                        return Err(Error::path(&path, hint));
                    }
                    Err(error) => return Err(error.into()),
                }
            }
            Err(error) => return Err(error),
        };
        // The name under which the tree was first indexed stays, so that renaming a directory changes nothing.
        let namespace = match store.property("namespace")? {
            Some(namespace) => namespace,
            None => {
                if writable {
                    store.set_property("namespace", &location.namespace)?;
                }
                location.namespace.clone()
            }
        };
        let models = Models::new(&config);
        let usage = Usage::new(location.directory.clone(), writable);
        Ok(Index { location, namespace, config, store, models, usage, fitted: Fitted::default(), writable })
    }

    fn open_writable(location: &Location) -> Result<EmbeddedStore, Error> {
        let directory = &location.directory;
        let failed = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => {
                Error::Store(StoreError::ReadOnly { path: directory.clone(), reason: error.to_string() })
            }
            _ => Error::path(directory, format!("cannot be made: {error}")),
        };
        fs::create_dir_all(directory).map_err(failed)?;
        // The index ignores itself, so that nobody has to touch the project's own ignore file.
        let ignore = directory.join(".gitignore");
        if !ignore.exists() {
            fs::write(
                &ignore,
                "# Made by tamis. config.toml may be checked in; the rest is derived.\n*\n!.gitignore\n!config.toml\n",
            )
            .map_err(failed)?;
        }
        Ok(EmbeddedStore::open(directory, Access::ReadWrite)?)
    }

    /// Brings the index up to date with the tree. Another process that is writing is waited for, up to ten seconds: a
    /// search that refreshes is done long before.
    ///
    /// # Errors
    /// Another process is still writing, the directory is not writable, or a model fails. What was committed before
    /// stays.
    pub fn refresh(&self, options: RunOptions, observer: &dyn Observer) -> Result<RunReport, Error> {
        let started = Instant::now();
        let _writing = loop {
            match self.store.writer() {
                Err(StoreError::Busy { .. }) if started.elapsed() < PATIENCE && !observer.cancelled() => {
                    std::thread::sleep(Duration::from_millis(50));
                }
                writing => break writing?,
            }
        };
        run::run(self, options, observer)
    }

    /// Publishes and embeds the documents put so far, without looking at the tree.
    ///
    /// # Errors
    /// Another process is writing, the directory is not writable, or a model fails.
    pub fn complete(&self, options: RunOptions, observer: &dyn Observer) -> Result<RunReport, Error> {
        let _writing = self.store.writer()?;
        run::complete(self, options, observer)
    }

    /// Brings the index up to date as far as a search should wait for; where that cannot be done, says why and how
    /// stale the index is.
    ///
    /// # Errors
    /// As [`Index::refresh`], except that a busy or read-only index is searched as it is.
    pub fn refresh_for_search(&self, observer: &dyn Observer) -> Result<Freshness, Error> {
        let options = RunOptions { embed_at_most: self.config.search.refresh_embed as u64, reread: false };
        let reason = if self.writable {
            match self.refresh_now(options, observer) {
                Ok(report) => {
                    let stale = Some(if report.interrupted { run::stale(self)? } else { 0 });
                    return Ok(Freshness { report: Some(report), stale, reason: None });
                }
                Err(Error::Store(error @ (StoreError::Busy { .. } | StoreError::ReadOnly { .. }))) => error.to_string(),
                Err(error) => return Err(error),
            }
        } else {
            format!("{}: not writable", self.location.directory.display())
        };
        Ok(Freshness { report: None, stale: Some(run::stale(self)?), reason: Some(reason) })
    }

    fn refresh_now(&self, options: RunOptions, observer: &dyn Observer) -> Result<RunReport, Error> {
        let _writing = self.store.writer()?;
        run::run(self, options, observer)
    }

    /// How many files differ from the index.
    ///
    /// # Errors
    /// The tree or the store cannot be read.
    pub fn stale(&self) -> Result<u64, Error> {
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

    /// The name under which the tree's documents are stored.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The namespace that a search from here reads first; `None` where all are of equal standing.
    pub fn own_namespace(&self) -> Option<&str> {
        Some(&self.namespace)
    }

    /// The models of the configuration.
    pub fn models(&self) -> &Models {
        &self.models
    }

    /// The store underneath.
    pub fn store(&self) -> &dyn Store {
        &self.store
    }
}
