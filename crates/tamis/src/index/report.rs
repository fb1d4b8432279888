//! The report of a run, in total and by source.

use crate::Error;
use crate::collections::SKIPPED;
use crate::handle::Source;
use crate::lookup::reason;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

/// Most files left out that a report names.
pub(super) const MOST_NAMED: usize = 1_000;

/// The result of a run.
#[derive(Clone, Debug, Default, Serialize)]
pub struct RunReport {
    /// New files.
    pub added: u64,
    /// Files whose content changed.
    pub changed: u64,
    /// Files that moved.
    pub moved: u64,
    /// Files that were removed.
    pub removed: u64,
    /// Unchanged files.
    pub unchanged: u64,
    /// Passages that were written.
    pub passages: u64,
    /// Number of texts embedded, by model.
    pub embedded: BTreeMap<String, u64>,
    /// Number of texts with vectors from the user's cache, by model.
    pub cached: BTreeMap<String, u64>,
    /// The reason why the user's cache of vectors was not used, if it was not.
    pub uncached: Option<String>,
    /// Number of passages still without a vector, by model.
    pub pending: BTreeMap<String, u64>,
    /// Unusable models, each with the reason. Their passages stay pending.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub unusable: BTreeMap<String, String>,
    /// Number of files left out, by kind.
    pub skipped: BTreeMap<String, u64>,
    /// The first of these files by their places, each with the reason as a sentence.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub left_out: BTreeMap<String, String>,
    /// Files and directories that could not be read, with the reason.
    pub unreadable: Vec<String>,
    /// Documents read in this run that have no readable text, such as an encrypted PDF.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<UnreadDocument>,
    /// Remarks for people on faults that they can fix: ignore files that do not apply, names that cannot be indexed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// The reasons why documents lack the date of a commit, so that the dates of their files count.
    pub undated: Vec<String>,
    /// True if the run was stopped early. The next one continues.
    pub interrupted: bool,
    /// The same by source; empty in an index of one tree.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<SourceReport>,
    /// Milliseconds by stage.
    pub timings_ms: BTreeMap<String, f64>,
}

/// A document whose text cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct UnreadDocument {
    /// The repository or project it belongs to.
    pub namespace: String,
    /// Path under its root.
    pub path: String,
    /// The reason, as a sentence.
    pub reason: String,
}

impl UnreadDocument {
    /// Returns the entry for a stored document, if it is a PDF or the like without readable text.
    pub(crate) fn new(namespace: &str, path: &str, collection: &str, role: &str) -> Option<Self> {
        let unread = collection == SKIPPED && tamis_text::is_document(path);
        unread.then(|| UnreadDocument {
            namespace: namespace.to_owned(),
            path: path.to_owned(),
            reason: reason(path, role),
        })
    }
}

impl RunReport {
    /// Returns the number of files that the run listed or removed; 0 if it only embedded.
    pub fn files(&self) -> u64 {
        self.added + self.changed + self.moved + self.removed + self.unchanged
    }

    /// Returns `true` if the run changed anything in the index.
    pub fn changed_anything(&self) -> bool {
        let vectors = self.embedded.values().chain(self.cached.values());
        self.added + self.changed + self.moved + self.removed > 0 || vectors.copied().any(|count| count > 0)
    }

    /// Returns a sentence for each unusable model, with the reason.
    pub fn unusable_models(&self) -> impl Iterator<Item = String> {
        let models = self.unusable.iter().map(|(model, reason)| (model.clone(), reason.clone()));
        models.map(|(model, reason)| Error::Model { model, reason }.to_string())
    }

    /// Names a file that is left out, up to a number of them.
    pub(super) fn name_left_out(&mut self, place: String, path: &str, kind: &str) {
        if self.left_out.len() < MOST_NAMED {
            self.left_out.insert(place, reason(path, kind));
        }
    }

    /// Records an unusable model, which does not end a run. Any other failure does.
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

    /// Returns its numbers alone, for [`RunReport::since`]: its lists grow with every source.
    pub(super) fn numbers(&self) -> RunReport {
        let &RunReport { added, changed, moved, removed, unchanged, passages, .. } = self;
        RunReport { added, changed, moved, removed, unchanged, passages, ..RunReport::default() }
    }

    /// Returns the changes since the report was as `before`, all of them in one source.
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

/// The result of a run for one source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SourceReport {
    /// The name under which its documents are stored.
    pub namespace: String,
    /// Its directory.
    pub root: PathBuf,
    /// New files.
    pub added: u64,
    /// Files whose content changed.
    pub changed: u64,
    /// Files that moved.
    pub moved: u64,
    /// Files that were removed.
    pub removed: u64,
    /// Unchanged files.
    pub unchanged: u64,
    /// Passages that were written.
    pub passages: u64,
    /// The reason why it was not brought up to date, and the way out.
    pub remark: Option<String>,
}
