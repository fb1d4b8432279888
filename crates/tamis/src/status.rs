//! What an index holds, and whether it is sound.

use crate::Error;
use crate::index::{Index, SKIPPED};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use tamis_store::{Findings, Progress, Summary};

/// The state of an index.
#[derive(Clone, Debug, Serialize)]
pub struct Status {
    /// The root of the tree.
    pub root: PathBuf,
    /// The directory of the index.
    pub directory: PathBuf,
    /// The name under which the tree's documents are stored.
    pub namespace: String,
    /// Files that differ from the index.
    pub stale: u64,
    /// Files that were read and left out, by kind.
    pub skipped: BTreeMap<String, u64>,
    /// Files with something that people should know about how they were read, and what.
    pub notes: Vec<(String, String)>,
    /// What the store holds.
    #[serde(flatten)]
    pub summary: Summary,
}

impl Index {
    /// What the index holds and how fresh it is.
    ///
    /// # Errors
    /// The tree or the store cannot be read.
    pub fn status(&self) -> Result<Status, Error> {
        let documents = self.store().documents(self.namespace())?;
        let mut skipped: BTreeMap<String, u64> = BTreeMap::new();
        for document in documents.iter().filter(|document| document.collection == SKIPPED) {
            *skipped.entry(document.role.clone()).or_default() += 1;
        }
        let notes = documents.into_iter().filter_map(|document| Some((document.path, document.note?))).collect();
        let mut summary = self.store().summary()?;
        summary.documents -= skipped.values().sum::<u64>().min(summary.documents);
        summary.collections.retain(|count| count.name != SKIPPED);
        Ok(Status {
            root: self.location().root.clone(),
            directory: self.location().directory.clone(),
            namespace: self.namespace().to_owned(),
            stale: self.stale()?,
            skipped,
            notes,
            summary,
        })
    }

    /// Looks for damage in the index. Reads everything and changes nothing.
    ///
    /// # Errors
    /// The store cannot be read at all.
    pub fn check(&self) -> Result<Findings, Error> {
        Ok(self.store().check()?)
    }

    /// Rebuilds what is derived and damaged or behind; returns what is still wrong afterwards.
    ///
    /// # Errors
    /// The index is not writable, or another process is writing.
    pub fn mend(&self, progress: &mut dyn FnMut(Progress)) -> Result<Findings, Error> {
        Ok(self.store().mend(progress)?)
    }
}
