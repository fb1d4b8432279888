//! The report of a run, in all and by source.

use crate::Error;
use crate::handle::Source;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

/// What a run did.
#[derive(Clone, Debug, Default, Serialize)]
pub struct RunReport {
    /// Files that are new.
    pub added: u64,
    /// Files whose content changed.
    pub changed: u64,
    /// Files that moved.
    pub moved: u64,
    /// Files that are gone.
    pub removed: u64,
    /// Files that are as they were.
    pub unchanged: u64,
    /// Passages written.
    pub passages: u64,
    /// Texts embedded, by model.
    pub embedded: BTreeMap<String, u64>,
    /// Texts whose vectors were in the user's cache, by model.
    pub cached: BTreeMap<String, u64>,
    /// The reason why the user's cache of vectors was passed over, where it was.
    pub uncached: Option<String>,
    /// Passages still without a vector, by model.
    pub pending: BTreeMap<String, u64>,
    /// Models that could not be used, each with the reason; what they lack stays pending.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub unusable: BTreeMap<String, String>,
    /// Files left out, by kind.
    pub skipped: BTreeMap<String, u64>,
    /// Files and directories that could not be read, with the reason.
    pub unreadable: Vec<String>,
    /// What people should know of a tree and can mend: ignore files that do not apply, names that cannot be indexed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// The reason why documents have no date of a commit, so that the dates of their files count.
    pub undated: Vec<String>,
    /// True if the run was stopped before its end; the next one goes on.
    pub interrupted: bool,
    /// The same by source; empty in an index of one tree.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<SourceReport>,
    /// Milliseconds by stage.
    pub timings_ms: BTreeMap<String, f64>,
}

impl RunReport {
    /// Returns `true` if the run changed anything in the index.
    pub fn changed_anything(&self) -> bool {
        let vectors = self.embedded.values().chain(self.cached.values());
        self.added + self.changed + self.moved + self.removed > 0 || vectors.copied().any(|count| count > 0)
    }

    /// Each model that could not be used, with the reason, in a sentence.
    pub fn unusable_models(&self) -> impl Iterator<Item = String> {
        let models = self.unusable.iter().map(|(model, reason)| (model.clone(), reason.clone()));
        models.map(|(model, reason)| Error::Model { model, reason }.to_string())
    }

    /// Takes down that a model cannot be used, which ends no run. Any other failure does.
    pub(super) fn tolerate<T>(&mut self, outcome: Result<T, Error>) -> Result<Option<T>, Error> {
        match outcome {
            Ok(done) => Ok(Some(done)),
            Err(Error::Model { model, reason }) => {
                self.unusable.insert(model, reason);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    pub(super) fn time(&mut self, stage: &str, since: Instant) {
        *self.timings_ms.entry(stage.to_owned()).or_default() += since.elapsed().as_secs_f64() * 1000.0;
    }

    /// What was done since the report was as `before`, all of it in one source.
    pub(super) fn since(&self, before: &RunReport, source: &Source) -> SourceReport {
        SourceReport {
            namespace: source.namespace.clone(),
            root: source.root.clone(),
            added: self.added - before.added,
            changed: self.changed - before.changed,
            moved: self.moved - before.moved,
            removed: self.removed - before.removed,
            unchanged: self.unchanged - before.unchanged,
            passages: self.passages - before.passages,
            remark: None,
        }
    }
}

/// What a run did in one source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SourceReport {
    /// The name under which its documents are stored.
    pub namespace: String,
    /// Its directory.
    pub root: PathBuf,
    /// Files that are new.
    pub added: u64,
    /// Files whose content changed.
    pub changed: u64,
    /// Files that moved.
    pub moved: u64,
    /// Files that are gone.
    pub removed: u64,
    /// Files that are as they were.
    pub unchanged: u64,
    /// Passages written.
    pub passages: u64,
    /// The reason why it was not brought up to date, and what to do.
    pub remark: Option<String>,
}
