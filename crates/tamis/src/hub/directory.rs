//! The user's directory of models: `OWNER--NAME/COMMIT`, each with its record.

use super::ModelName;
use super::name::is_revision;
use super::record::ModelRecord;
use crate::Error;
use crate::file::DirectoryLock;
use crate::user_directories::UserDirectories;
use std::fs;
use std::path::{Path, PathBuf};

/// Models in the making, below the directory. They become models by renaming.
pub(super) const INCOMING: &str = ".incoming";

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
        let read = |directory: PathBuf| Some(InstalledModel { record: ModelRecord::read(&directory).ok()?, directory });
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
    pub(super) fn of_commit(&self, name: &ModelName, commit: &str) -> PathBuf {
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
