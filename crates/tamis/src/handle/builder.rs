//! Opens an index, by a path alone or step by step.

use super::Index;
use crate::Error;
use crate::config::{Config, Origins, UserDirectories};
use crate::location::Location;
use crate::search::Reranker;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tamis_embed::Embedder;

/// The environment variable that sets the index directory.
const INDEX_VARIABLE: &str = "TAMIS_INDEX";

/// The name of the user's configuration file in the user's configuration directory.
const USER_FILE: &str = "config.toml";

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
#[must_use]
pub struct IndexBuilder {
    path: PathBuf,
    directory: Option<PathBuf>,
    config: Option<Config>,
    settings: Vec<(String, String, String)>,
    embedders: Vec<(String, Arc<dyn Embedder>)>,
    reranker: Option<Arc<dyn Reranker>>,
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
        IndexBuilder {
            path: path.as_ref().to_owned(),
            directory: None,
            config: None,
            settings: Vec::new(),
            embedders: Vec::new(),
            reranker: None,
        }
    }
}

impl IndexBuilder {
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
            None => found(&location, self.settings)?,
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

/// Loads the configuration of a tree from the environment, its own file and the user's.
fn found(location: &Location, settings: Vec<(String, String, String)>) -> Result<Config, Error> {
    let directories = UserDirectories::here();
    let user = directories.configuration().map(Path::to_owned);
    let lossy = |value: OsString| value.to_string_lossy().into_owned();
    let origins = Origins {
        user: user.as_ref().map(|directory| directory.join(USER_FILE)),
        project: Some(location.config_file()),
        environment: std::env::vars_os().map(|(name, value)| (lossy(name), lossy(value))).collect(),
        directories,
        flags: settings,
    };
    Ok(Config::load(&origins, user)?)
}
