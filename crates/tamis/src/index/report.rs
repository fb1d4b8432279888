//! The report of a run, in total and by source.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use schemars::JsonSchema;
use serde::Serialize;

use super::walk::{is_by_size, skip_by_path, walk};
use crate::Error;
use crate::collections::SKIPPED;
use crate::config::Config;
use crate::get::reason;
use crate::handle::Source;

/// Most files left out that a report names.
pub(crate) const MOST_NAMED: usize = 1_000;

/// The result of a run.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[schemars(rename = "RefreshReport")]
pub struct RunReport {
    /// Its files and passages, counted.
    #[serde(flatten)]
    pub counts: FileCounts,
    /// What was embedded, and what is left.
    #[serde(flatten)]
    pub embedding: EmbeddingReport,
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

/// The files of a run by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FileCounts {
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
}

/// What a run embedded, and what it left.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct EmbeddingReport {
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

impl FileCounts {
    /// Returns the number of files that the run listed.
    pub fn listed(&self) -> u64 {
        self.added + self.changed + self.moved + self.unchanged
    }

    /// Returns `true` if any file changed.
    pub fn changed_anything(&self) -> bool {
        self.added + self.changed + self.moved + self.removed > 0
    }

    fn since(&self, before: FileCounts) -> FileCounts {
        FileCounts {
            added: self.added - before.added,
            changed: self.changed - before.changed,
            moved: self.moved - before.moved,
            removed: self.removed - before.removed,
            unchanged: self.unchanged - before.unchanged,
            passages: self.passages - before.passages,
        }
    }
}

impl RunReport {
    /// Returns the number of files that the run listed or removed; 0 if it only embedded.
    pub fn files(&self) -> u64 {
        self.counts.listed() + self.counts.removed
    }

    /// Returns `true` if the run changed anything in the index.
    pub fn changed_anything(&self) -> bool {
        let vectors = self.embedding.embedded.values().chain(self.embedding.cached.values());
        self.counts.changed_anything() || vectors.copied().any(|count| count > 0)
    }

    /// Returns a sentence for each unusable model, with the reason.
    pub fn unusable_models(&self) -> impl Iterator<Item = String> {
        let models = self.embedding.unusable.iter().map(|(model, reason)| (model.clone(), reason.clone()));
        models.map(|(model, reason)| Error::Model { model, reason }.to_string())
    }

    /// Names a file that is left out, up to a number of them.
    pub(crate) fn name_left_out(&mut self, place: String, path: &str, kind: &str) {
        if self.left_out.len() < MOST_NAMED {
            self.left_out.insert(place, reason(path, kind));
        }
    }

    /// Records an unusable model, which does not end a run. Any other failure does.
    pub(crate) fn tolerate<T>(&mut self, outcome: Result<T, Error>) -> Result<Option<T>, Error> {
        match outcome {
            Ok(done) => Ok(Some(done)),
            Err(Error::Model { model, reason }) => {
                self.embedding.unusable.insert(model, reason);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    pub(crate) fn time(&mut self, stage: &str, since: Instant) {
        *self.timings_ms.entry(stage.to_owned()).or_default() += since.elapsed().as_secs_f64() * 1000.0;
    }

    /// Returns the changes since the counts were `before`, all of them in one source.
    pub(crate) fn since(&self, before: FileCounts, source: &Source) -> SourceReport {
        SourceReport {
            namespace: source.namespace.clone(),
            root: source.root.clone(),
            counts: self.counts.since(before),
            remark: None,
        }
    }
}

/// The result of a run for one source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SourceReport {
    /// The name under which its documents are stored.
    pub namespace: String,
    /// Its directory.
    pub root: PathBuf,
    /// Its files and passages, counted.
    #[serde(flatten)]
    pub counts: FileCounts,
    /// The reason why it was not brought up to date, and the way out.
    pub remark: Option<String>,
}

// What a run would read, found without an index.

/// Bytes a second of a first run with the quick model, on two cores.
const BYTES_A_SECOND: f64 = 6e6;
/// Seconds that each file costs besides.
const SECONDS_A_FILE: f64 = 0.0003;

/// More files, or more bytes, than this are not read without a confirmation: so large a tree is mostly a mistake.
pub(crate) const MOST_FILES: u64 = 200_000;
pub(crate) const MOST_BYTES: u64 = 5_000_000_000;

/// What a run would read of some directories.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Preview {
    /// The directories.
    pub directories: Vec<PathBuf>,
    /// Number of files to read.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Estimated seconds of a first run with the quick model.
    pub seconds: f64,
    /// Number of files left out by their name or size, by kind. More can be left out for their content.
    pub skipped: BTreeMap<String, u64>,
    /// The first of these files by their paths, each with the reason as a sentence.
    pub left_out: BTreeMap<String, String>,
    /// Files and directories that cannot be listed, with the reason.
    pub unreadable: Vec<String>,
    /// Remarks for people on faults that they can fix.
    pub remarks: Vec<String>,
}

impl Preview {
    /// Looks at directories as an index run does, without reading a file or writing anything. `index` is never part of them.
    ///
    /// # Errors
    /// A glob of the configuration is invalid.
    pub fn new(directories: &[PathBuf], index: &Path, config: &Config) -> Result<Preview, Error> {
        let mut preview = Preview { directories: directories.to_vec(), ..Preview::default() };
        for root in directories {
            let source = Source { root: root.clone(), ..Source::default() };
            let invalid = |error: ignore::Error| {
                Error::argument("index.ignore", format!("{:?}", config.index.ignore), format!("globs ({error})"))
            };
            let found = walk(&source, index, &config.index).map_err(invalid)?;
            let place = |path: &str| match directories.len() {
                1 => path.to_owned(),
                _ => root.join(path).display().to_string(),
            };
            let mut name = |path: &str, kind: &str| {
                if preview.left_out.len() < MOST_NAMED {
                    preview.left_out.insert(place(path), reason(path, kind));
                }
            };
            for (path, kind) in &found.left_out {
                name(path, kind);
            }
            for file in &found.files {
                match skip_by_path(&file.path, file.state.size, &config.index).filter(|skip| is_by_size(*skip)) {
                    Some(skip) => {
                        name(&file.path, skip.as_str());
                        *preview.skipped.entry(skip.as_str().to_owned()).or_default() += 1;
                    }
                    None => {
                        preview.files += 1;
                        preview.bytes += file.state.size;
                    }
                }
            }
            for (kind, count) in found.skipped {
                *preview.skipped.entry(kind.to_owned()).or_default() += count;
            }
            preview.unreadable.extend(found.unreadable.into_iter().map(|(_, reason)| reason));
            preview.remarks.extend(found.remarks);
        }
        preview.seconds = preview.bytes as f64 / BYTES_A_SECOND + preview.files as f64 * SECONDS_A_FILE;
        Ok(preview)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_preview_counts_what_a_run_would_read_and_writes_nothing() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let root = directory.path().to_owned();
        for (path, text) in [
            ("a.md", "# A\n"),
            ("sub/b.rs", "fn b() {}\n"),
            (".env", "A=fakevalue0000\n"),
            ("c.log", "x\n"),
            (".gitignore", "*.log\n"),
        ] {
            fs::create_dir_all(root.join(path).parent().expect("a parent")).expect("made");
            fs::write(root.join(path), text).expect("written");
        }
        fs::write(root.join("large.rs"), "// x\n".repeat(300_000)).expect("written");
        let preview = Preview::new(std::slice::from_ref(&root), &root.join(".tamis"), &Config::built_in()).expect("it");
        assert_eq!((preview.files, preview.bytes), (3, 4 + 10 + 6), "{preview:?}");
        assert_eq!(preview.left_out.keys().collect::<Vec<_>>(), [".env", "large.rs"]);
        assert_eq!(preview.skipped.values().sum::<u64>(), 2);
        assert!(preview.seconds > 0.0 && preview.seconds < 1.0 && !root.join(".tamis").exists());
    }
}
