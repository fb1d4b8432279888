//! The user's directory of models: `OWNER--NAME/COMMIT`, each with its record.

use std::path::{Path, PathBuf};
use std::{fs, io};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tamis_embed::{ModelSettings, SETTINGS_FILE};

use super::{ModelName, is_revision};
use crate::Error;
use crate::file::DirectoryLock;
use crate::index_location::UserDirectories;

/// Models in the making, below the directory. They become models by renaming.
pub(crate) const INCOMING: &str = ".incoming";

/// The fewest characters of a commit that name it.
const FEWEST: usize = 7;

/// The models that a user has added by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelsDirectory {
    path: PathBuf,
}

/// A model in the directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstalledModel {
    /// The directory of its files.
    pub directory: PathBuf,
    /// Its record.
    pub record: ModelRecord,
}

impl ModelsDirectory {
    /// Returns the user's directory of models, which need not exist: `models` in the cache. `None` without a home directory.
    pub fn new(directories: &UserDirectories) -> Option<Self> {
        directories.cache().map(|cache| ModelsDirectory { path: cache.join("models") })
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns every model, by name, the newest of each first. What is unreadable or unfinished is left out.
    pub fn installed(&self) -> Vec<InstalledModel> {
        let below = |path: &Path| {
            let entries = fs::read_dir(path).into_iter().flatten().flatten();
            entries.map(|entry| entry.path()).filter(|path| path.is_dir())
        };
        let repositories = below(&self.path).filter(|path| !path.ends_with(INCOMING));
        let directories = repositories.flat_map(|repository| below(&repository).collect::<Vec<_>>());
        let read = |directory: PathBuf| {
            Some(InstalledModel { record: ModelRecord::from_directory(&directory).ok()?, directory })
        };
        let mut models: Vec<InstalledModel> = directories.filter_map(read).collect();
        let order = |model: &InstalledModel| (model.record.model.clone(), std::cmp::Reverse(model.record.added));
        models.sort_by_key(order);
        models
    }

    /// Returns the newest model of that name and revision: a commit, the beginning of one, or the branch or tag that was asked for
    /// when it was added.
    pub fn find(&self, repository: &str, revision: Option<&str>) -> Option<InstalledModel> {
        self.installed().into_iter().find(|model| model.is(repository, revision))
    }

    /// Returns the directory of a commit.
    #[cfg(feature = "hub")]
    pub(crate) fn of_commit(&self, name: &ModelName, commit: &str) -> PathBuf {
        self.path.join(name.directory()).join(commit)
    }

    /// Removes a model's files.
    ///
    /// # Errors
    /// They cannot be removed, or another process is adding a model.
    pub fn remove(&self, model: &InstalledModel) -> Result<(), Error> {
        let failed = |error: std::io::Error| Error::path(&model.directory, format!("cannot be removed: {error}"));
        if !model.directory.starts_with(&self.path) {
            return Err(Error::path(&model.directory, "not in the directory of models, so it is left alone"));
        }
        let _lock = DirectoryLock::take(&self.path)?;
        fs::remove_dir_all(&model.directory).map_err(failed)?;
        if let Some(parent) = model.directory.parent() {
            // Other revisions keep it.
            let _ = fs::remove_dir(parent);
        }
        Ok(())
    }

    /// Returns the directory that a configuration means, or what is missing and the way to get it.
    pub(crate) fn directory_of(
        models: Option<&Self>,
        repository: &str,
        revision: Option<&str>,
    ) -> Result<PathBuf, String> {
        let found = models.and_then(|models| models.find(repository, revision));
        let revision = revision.map(|revision| format!("@{revision}")).unwrap_or_default();
        found.map(|model| model.directory).ok_or_else(|| {
            format!("{repository}{revision} is not on this machine; run `tamis model add {repository}{revision}`")
        })
    }
}

impl InstalledModel {
    /// Returns `true` if the model has that name, and that revision if one is named.
    pub fn is(&self, repository: &str, revision: Option<&str>) -> bool {
        let record = &self.record;
        let is_revision = |wanted: &str| {
            (wanted.len() >= FEWEST && record.revision.starts_with(wanted)) || record.asked.as_deref() == Some(wanted)
        };
        record.model == repository && revision.is_none_or(is_revision)
    }
}

/// Checks the keys of `provider = "hub"`: the name of a model and, if set, a revision. Returns the key at fault.
pub(crate) fn check(model: &str, revision: Option<&str>) -> Result<(), &'static str> {
    if model.contains('@') || model.parse::<ModelName>().is_err() {
        return Err("model");
    }
    match revision {
        Some(revision) if !is_revision(revision) => Err("revision"),
        _ => Ok(()),
    }
}

// The record beside a model's files.

/// The longest record that is read, in bytes.
const LONGEST: u64 = 1 << 20;

/// The use of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelKind {
    /// It makes vectors, for `index.models`.
    Embedder,
    /// It reads a query and a passage together, for `rerank.model`.
    Reranker,
}

/// A file of a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedFile {
    /// Its name in the model's directory.
    pub path: String,
    /// Its name in the repository.
    pub source: String,
    /// Its size.
    pub bytes: u64,
    /// Its SHA-256.
    pub sha256: String,
}

/// `tamis-model.json`: where a model comes from, and what was decided about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelRecord {
    /// Its owner and name.
    pub model: String,
    /// The commit of its files.
    pub revision: String,
    /// The branch or tag that was asked for.
    pub asked: Option<String>,
    /// The address of the hub.
    pub hub: String,
    /// Its use.
    pub kind: ModelKind,
    /// The licence in its model card.
    pub license: Option<String>,
    /// Length of its vectors; `None` for a reranker.
    pub dimension: Option<usize>,
    /// The number of tokens after which the rest of a text is ignored; `None` if the whole text counts.
    pub max_tokens: Option<usize>,
    /// Pooling and prefixes, and where they are from.
    #[serde(flatten)]
    pub settings: SourcedSettings,
    /// Its files.
    pub files: Vec<RecordedFile>,
    /// The time at which it was added.
    pub added: Timestamp,
}

/// The settings of a model, and where they are from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourcedSettings {
    /// Pooling and prefixes.
    #[serde(flatten)]
    pub values: ModelSettings,
    /// The origin of the pooling.
    pub pooling_from: Option<String>,
    /// The origin of the prefixes.
    pub prefixes_from: Option<String>,
}

impl ModelRecord {
    /// Returns the size of all files.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).fold(0, u64::saturating_add)
    }

    /// Reads the record of a model's directory.
    ///
    /// # Errors
    /// It is missing, or is not one.
    pub(crate) fn from_directory(directory: &Path) -> io::Result<Self> {
        let bytes = crate::file::untrusted::read_in(directory, Path::new(SETTINGS_FILE), LONGEST)?;
        Ok(serde_json::from_slice(&bytes)?)
    }

    /// Writes the record into a model's directory.
    #[cfg(feature = "hub")]
    pub(crate) fn write(&self, directory: &Path) -> io::Result<()> {
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        std::fs::write(directory.join(SETTINGS_FILE), text)
    }
}
