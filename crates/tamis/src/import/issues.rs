//! Imports issues: reads them, merges them with the stored ones, and commits them together.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::Instant;

use rayon::prelude::*;
use tamis_store::DocumentState;
use tamis_text::{Issue, IssueComment};

use super::{Content, ImportSummary, Imports, Outcome, Target, commit, namespace, only_tracker, origin, refuse};
use crate::Error;
use crate::collections::ISSUES;
use crate::error::UnreadableRecord;
use crate::handle::Index;
use crate::progress::{Observer, Stage};

/// The number of issues split between two checks for cancellation.
const ISSUES_A_BATCH: usize = 256;

/// An import of issues, all from one tracker.
#[derive(Clone, Debug, Default)]
pub struct IssueImport {
    /// Their origin: `github:OWNER/REPO`, or a name of the user's. A namespace holds issues of one origin.
    pub origin: String,
    /// The namespace of the issues, which need not exist yet; `None`: the one that the index is used in
    /// ([`Index::own_namespace`]).
    pub namespace: Option<String>,
    /// The issues, in any order. Of two with one number, the one updated later wins, and the comments of both are kept.
    pub issues: Vec<Issue>,
    /// Comments that came without their issue, each with its number. The issue may be given or stored.
    pub comments: Vec<(u64, IssueComment)>,
    /// The records of the input that could not be read.
    pub bad: Vec<UnreadableRecord>,
    /// Leaves out unreadable records instead of importing nothing.
    pub skip_bad: bool,
    /// Changes nothing and reports what would change.
    pub dry_run: bool,
}

impl IssueImport {
    /// Reads inputs of one tracker, each in the format that its content shows ([`tamis_text::read_issues`]). `origin` is their
    /// origin; `None`: the one that they name, or else the name of the first input.
    ///
    /// # Errors
    /// An input has none of the formats, or two inputs name different repositories.
    pub fn from_inputs(inputs: &[ImportInput], origin: Option<&str>) -> Result<IssueImport, Error> {
        let mut import = IssueImport::default();
        let mut said: Option<(String, &str)> = None;
        for input in inputs {
            let path = Path::new(&input.name);
            let archive =
                tamis_text::read_issues(&input.bytes).map_err(|error| Error::path(path, error.to_string()))?;
            if let Some(repository) = archive.tracker {
                match &said {
                    Some((other, of)) if *other != repository && origin.is_none() => {
                        let reason = format!(
                            "of {repository}, and {of} is of {other}: import one tracker at a time, or give both \
                             one origin"
                        );
                        return Err(Error::path(path, reason));
                    }
                    Some(_) => {}
                    None => said = Some((repository, &input.name)),
                }
            }
            let bad = archive.bad.into_iter().map(|record| UnreadableRecord {
                position: format!("{}: {}", input.name, record.position),
                reason: record.reason,
            });
            import.bad.extend(bad);
            import.issues.extend(archive.issues);
            import.comments.extend(archive.comments);
        }
        let named = || inputs.first().map(|input| file_name(&input.name));
        import.origin = match (origin, said) {
            (Some(given), _) => given.to_owned(),
            (None, Some((said, _))) => said,
            (None, None) => named().unwrap_or_default(),
        };
        Ok(import)
    }
}

impl Imports<'_> {
    /// Imports issues in one transaction. A stored issue is merged with the given one ([`Issue::merge`]): the later update wins,
    /// and comments of both are kept. An issue that stays the same is not written. Searches find the changes after the next
    /// [`Index::complete`].
    ///
    /// # Errors
    /// A record cannot be read, or its number is that of an issue of the other kind, and it must not be left out; the origin differs
    /// from that of the issues in the namespace; a namespace must be named; another process is still writing.
    pub fn issues(&self, import: &IssueImport, observer: &dyn Observer) -> Result<ImportSummary, Error> {
        let origin = origin(&import.origin)?;
        let namespace = namespace(self.index, import.namespace.as_deref())?;
        let target = Target::new(&namespace, ISSUES, origin);
        let bad = import.bad.iter().cloned().chain(without_number(&import.issues)).collect();
        let bad = refuse(bad, import.skip_bad)?;
        let _writing = if import.dry_run { None } else { Some(self.index.wait_to_write(observer)?) };
        only_tracker(self.index, &namespace, ISSUES, origin)?;
        let mut summary = ImportSummary { bad, ..target.summary(import.dry_run) };
        let started = Instant::now();
        let merged = merge(self.index, &namespace, import, &mut summary)?;
        summary.time("merge", started);

        let started = Instant::now();
        observer.stage(Stage::Import, merged.len() as u64);
        let mut outcomes = Vec::with_capacity(merged.len());
        for part in merged.chunks(ISSUES_A_BATCH) {
            if observer.cancelled() {
                return Ok(summary.stopped());
            }
            let part_of_them: Result<Vec<Outcome>, Error> = part.par_iter().map(|one| one.outcome(&target)).collect();
            outcomes.extend(part_of_them?);
            observer.advance(part.len() as u64);
        }
        summary.time("split", started);
        commit(self.index, outcomes, summary, observer)
    }
}

/// Returns an error for each issue without a number, which could not be stored.
fn without_number(issues: &[Issue]) -> impl Iterator<Item = UnreadableRecord> {
    let record = |(at, issue): (usize, &Issue)| UnreadableRecord {
        position: format!("issue {} ({:?})", at + 1, issue.title),
        reason: "number 0: issues are numbered from 1".to_owned(),
    };
    issues.iter().enumerate().filter(|(_, issue)| issue.number == 0).map(record)
}

/// An issue after the merge, with its stored state.
struct Merged {
    issue: Issue,
    state: Option<DocumentState>,
    /// The stored record, if there is one that can be read.
    record: Option<Issue>,
    /// True if the given state is earlier than the stored one.
    older: bool,
}

impl Merged {
    fn outcome(&self, target: &Target<'_>) -> Result<Outcome, Error> {
        let content = Content::record(&self.issue)?;
        let path = Issue::path(self.issue.number);
        Ok(match target.outcome(path, content, self.state.as_ref(), |options| self.issue.document(options)) {
            Outcome::Unchanged if self.older => Outcome::Older,
            outcome => outcome,
        })
    }
}

/// Merges the given issues and comments with the stored ones.
fn merge(
    index: &Index,
    namespace: &str,
    import: &IssueImport,
    summary: &mut ImportSummary,
) -> Result<Vec<Merged>, Error> {
    let mut merged: BTreeMap<u64, Merged> = BTreeMap::new();
    let mut refused = Vec::new();
    for given in import.issues.iter().filter(|issue| issue.number > 0) {
        let conflict = match merged.entry(given.number) {
            Entry::Occupied(mut known) => {
                let conflict = known.get().issue.conflict(given);
                if conflict.is_none() {
                    known.get_mut().issue.merge(given.clone());
                }
                conflict
            }
            Entry::Vacant(place) => {
                let (state, record) = at(index, namespace, given.number)?;
                let conflict = record.as_ref().and_then(|known| known.conflict(given));
                if conflict.is_none() {
                    place.insert(stored_with(given, state, record));
                }
                conflict
            }
        };
        refused.extend(conflict.map(|reason| UnreadableRecord { position: format!("{:?}", given.title), reason }));
    }
    summary.bad.extend(refuse(refused, import.skip_bad)?);
    let mut comments: BTreeMap<u64, Vec<IssueComment>> = BTreeMap::new();
    for (number, comment) in &import.comments {
        comments.entry(*number).or_default().push(comment.clone());
    }
    for (number, comments) in comments {
        let known = match merged.entry(number) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                let (state, record) = at(index, namespace, number)?;
                let Some(issue) = record.clone() else {
                    summary.without_issue.insert(number, comments.len() as u64);
                    continue;
                };
                place.insert(Merged { issue, state, record, older: false })
            }
        };
        known.issue.add_comments(comments);
    }
    summary.counts.comments = merged.values().map(new_comments).sum();
    Ok(merged.into_values().collect())
}

/// Merges a given issue with the stored one.
fn stored_with(given: &Issue, state: Option<DocumentState>, record: Option<Issue>) -> Merged {
    let Some(known) = record.clone() else {
        // Puts the comments in order and removes duplicates.
        let mut issue = Issue { comments: Vec::new(), ..given.clone() };
        issue.add_comments(given.comments.iter().cloned());
        return Merged { issue, state, record, older: false };
    };
    let older = given.updated_at < known.updated_at;
    let mut issue = known;
    if issue.updated_at.is_none() && given.updated_at.is_none() {
        // Neither has a time, so the one imported now counts as the later one.
        let mut later = given.clone();
        later.updated_at = Some(jiff::Timestamp::MAX);
        issue.merge(later);
        issue.updated_at = None;
    } else {
        issue.merge(given.clone());
    }
    Merged { issue, state, record, older }
}

/// Returns the stored state and record of an issue.
fn at(index: &Index, namespace: &str, number: u64) -> Result<(Option<DocumentState>, Option<Issue>), Error> {
    let Some(state) = index.store.document(namespace, &Issue::path(number))? else { return Ok((None, None)) };
    let record = index.store.records(std::slice::from_ref(&state.namespace), &[state.document])?.pop().flatten();
    Ok((Some(state), record.and_then(|record| serde_json::from_str(&record).ok())))
}

/// Returns the number of comments that are new or differ from the stored record.
fn new_comments(merged: &Merged) -> u64 {
    let written = |comment: &IssueComment| serde_json::to_string(comment).unwrap_or_default();
    let known: HashSet<String> = merged.record.iter().flat_map(|record| &record.comments).map(written).collect();
    merged.issue.comments.iter().filter(|comment| !known.contains(&written(comment))).count() as u64
}

// The input of an import: named files, or a stream.

/// The largest input, in bytes.
pub const LARGEST_IMPORT: u64 = 2_000_000_000;

/// The content of one input, with a name for messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportInput {
    /// The file's name as the user wrote it, or the name of the stream.
    pub name: String,
    /// Its content.
    pub bytes: Vec<u8>,
}

impl ImportInput {
    /// Reads a whole file. Symbolic links are followed, since somebody named the file.
    ///
    /// # Errors
    /// The file is missing, is a directory, cannot be read, or is larger than [`LARGEST_IMPORT`].
    pub fn file(path: &Path) -> Result<ImportInput, Error> {
        let (file, size) = open(path)?;
        ImportInput::sized(path.display().to_string(), file, size)
    }

    /// Reads a stream to its end.
    ///
    /// # Errors
    /// The stream cannot be read, or is longer than [`LARGEST_IMPORT`] bytes.
    pub fn stream(name: impl Into<String>, stream: impl Read) -> Result<ImportInput, Error> {
        ImportInput::sized(name.into(), stream, 0)
    }

    fn sized(name: String, stream: impl Read, size: u64) -> Result<ImportInput, Error> {
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
        let failed = |error: std::io::Error| Error::path(Path::new(&name), format!("cannot be read: {error}"));
        // A file can grow while it is read, and a stream has no known size.
        stream.take(LARGEST_IMPORT + 1).read_to_end(&mut bytes).map_err(failed)?;
        match bytes.len() as u64 > LARGEST_IMPORT {
            true => Err(too_large(Path::new(&name))),
            false => Ok(ImportInput { name, bytes }),
        }
    }
}

/// Opens a file that somebody named, and returns its size in bytes.
///
/// # Errors
/// As [`ImportInput::file`].
pub(crate) fn open(path: &Path) -> Result<(File, u64), Error> {
    let failed = |error: std::io::Error| Error::path(path, format!("cannot be read: {error}"));
    let file = File::open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    match metadata {
        metadata if metadata.is_dir() => Err(Error::path(path, "a directory; name the files to import")),
        metadata if metadata.len() > LARGEST_IMPORT => Err(too_large(path)),
        metadata => Ok((file, metadata.len())),
    }
}

/// Returns the last part of a path, which people call the file's name.
pub(crate) fn file_name(name: &str) -> String {
    Path::new(name).file_name().map_or_else(|| name.to_owned(), |name| name.to_string_lossy().into_owned())
}

pub(crate) fn too_large(path: &Path) -> Error {
    let reason =
        format!("larger than {} GB, the most that is imported at once; divide it", LARGEST_IMPORT / 1_000_000_000);
    Error::path(path, reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_too_large_a_directory_or_not_there_is_named() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("all.json");
        // A sparse file takes no space.
        File::create(&path).and_then(|file| file.set_len(LARGEST_IMPORT + 1)).expect("made");
        let error = ImportInput::file(&path).expect_err("too large").to_string();
        assert!(error.contains("all.json: larger than 2 GB"), "{error}");
        let error = ImportInput::file(directory.path()).expect_err("a directory").to_string();
        assert!(error.contains("a directory; name the files"), "{error}");
        let error = ImportInput::file(&directory.path().join("no.json")).expect_err("not there").to_string();
        assert!(error.contains("no.json: cannot be read: "), "{error}");
    }
}
