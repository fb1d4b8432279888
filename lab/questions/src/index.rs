//! The index of a tree, and what it recorded of past searches.

use crate::list::List;
use crate::model::Model;
use crate::place::Place;
use anyhow::{Context, Result, bail, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use tamis::config::{Config, Origins, UserDirectories};
use tamis::import::{ImportInput, IssueImport};
use tamis::{Index, Location, RunOptions};
use tempfile::TempDir;

/// The directory of cached vectors, relative to the workspace, so that a second run need not embed everything again.
pub const CACHE: &str = "target/questions";

/// The files in which an index records searches begin like this.
const LOG: &str = "usage.db";

/// The index of one tree, in a temporary directory. The tree itself is only read.
pub struct IndexedTree {
    directory: TempDir,
    root: PathBuf,
    notes: bool,
    model: Model,
    /// The number of its passages.
    pub passages: u64,
    /// The number of its documents.
    pub documents: u64,
}

/// What an index recorded of past searches: the content of each file of the log.
#[derive(Clone, Default)]
pub struct Log(Vec<(String, Vec<u8>)>);

impl IndexedTree {
    /// Indexes a tree as a model requires.
    ///
    /// # Errors
    /// The tree is missing, or cannot be indexed completely.
    pub fn new(list: &List, place: &Place, model: Model) -> Result<IndexedTree> {
        let embed_at_most = if model == Model::MiniLm { u64::MAX } else { 0 };
        let options = RunOptions { embed_at_most, ..RunOptions::WHOLE };
        let directory = TempDir::new().context("cannot make a temporary directory")?;
        let (root, notes) = match place {
            Place::Tree { root, notes } => (root.clone(), *notes),
            // Issues are imported into the index of an empty directory.
            Place::Issues(_) | Place::Collection(_) => (directory.path().join("tree"), false),
            Place::Missing(reason) => bail!("{}: {reason}", list.name),
        };
        let mut tree = IndexedTree { directory, root, notes, model, passages: 0, documents: 0 };
        fs::create_dir_all(tree.root.as_path())?;
        let index = tree.open()?;
        let report = if let Place::Issues(file) = place {
            let import = IssueImport::from_inputs(&[ImportInput::file(file)?], None)?;
            let summary = index.imports().issues(&import, &())?;
            tree.passages = summary.counts.passages;
            tree.documents = import.issues.len() as u64;
            index.complete(options, &())?
        } else if let Place::Collection(path) = place {
            let documents = crate::collection::documents(path)?;
            index.put_documents(&documents)?;
            tree.documents = documents.len() as u64;
            let report = index.complete(options, &())?;
            tree.passages = index.passing(&tamis::SearchRequest::new("any"))?;
            report
        } else {
            let report = index.refresh_with(options, &())?;
            tree.passages = report.counts.passages;
            tree.documents = report.counts.added;
            report
        };
        ensure!(report.embedding.unusable.is_empty(), "{}: a model failed: {:?}", list.name, report.embedding.unusable);
        let pending = report.embedding.pending.get("minilm").copied().unwrap_or_default();
        ensure!(model != Model::MiniLm || pending == 0, "{}: {pending} passages without vectors", list.name);
        Ok(tree)
    }

    /// Opens the index, under the built-in configuration but for the models.
    ///
    /// # Errors
    /// The index cannot be opened.
    pub fn open(&self) -> Result<Index> {
        self.open_for(self.model)
    }

    /// Opens the index to be searched with another model, whose vectors it has.
    ///
    /// # Errors
    /// The index cannot be opened.
    pub fn open_for(&self, model: Model) -> Result<Index> {
        let mut flags = model.settings().to_vec();
        if self.notes {
            flags.push(("index.notes", "*.md"));
        }
        let flag = |(key, value): (&str, &str)| (key.to_owned(), value.to_owned(), "questions".to_owned());
        let cache = crate::place::root().join(CACHE);
        let origins = Origins {
            flags: flags.into_iter().map(flag).collect(),
            directories: UserDirectories::at(None, Some(cache)),
            ..Origins::default()
        };
        let location = Location::at(&self.root, Some(&self.index_directory()));
        Ok(Index::at(location, Config::load(&origins, None)?)?)
    }

    /// Returns what is recorded. No handle may be open.
    ///
    /// # Errors
    /// The files cannot be read.
    pub fn log(&self) -> Result<Log> {
        let mut files = Vec::new();
        for path in self.log_files()? {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            files.push((name, fs::read(&path)?));
        }
        Ok(Log(files))
    }

    /// Sets what is recorded. No handle may be open.
    ///
    /// # Errors
    /// The files cannot be written.
    pub fn set_log(&self, log: &Log) -> Result<()> {
        for path in self.log_files()? {
            fs::remove_file(path)?;
        }
        for (name, content) in &log.0 {
            fs::write(self.index_directory().join(name), content)?;
        }
        Ok(())
    }

    /// The model that it is searched with.
    #[must_use]
    pub fn model(&self) -> Model {
        self.model
    }

    /// The directory whose files are indexed.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    fn index_directory(&self) -> PathBuf {
        self.directory.path().join("index")
    }

    fn log_files(&self) -> Result<Vec<PathBuf>> {
        let entries = fs::read_dir(self.index_directory())?.collect::<std::io::Result<Vec<_>>>()?;
        let is_log = |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(LOG));
        Ok(entries.into_iter().map(|entry| entry.path()).filter(|path| is_log(path)).collect())
    }
}
