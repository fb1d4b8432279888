//! Imports content that is not a file of the tree: issues, wiki pages, conversations and commits.
//!
//! An import reads its whole input, compares it with the stored documents, and commits all changes in one transaction. Importing
//! the same input again changes nothing. Every imported document has an *origin*. Runs of the index leave documents with an
//! origin alone, and [`Imports::remove`] removes those of one origin. [`Index::complete`](crate::Index::complete) publishes and
//! embeds after an import, as after any other change.
//!
//! ```
//! use tamis::import::IssueImport;
//! use tamis_text::{Issue, IssueComment};
//! use tamis::{Index, RunOptions};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = tempfile::tempdir()?;
//! let index = Index::builder(directory.path()).set("index.models", "static").open()?;
//!
//! let mut issue = Issue::new(12, "Crash when the disk is full");
//! issue.comments.push(IssueComment::new("Free some space below /var and start it again."));
//! let import = IssueImport { origin: "github:ada/engine".into(), issues: vec![issue], ..Default::default() };
//! assert_eq!(index.imports().issues(&import, &())?.counts.added, 1);
//! assert_eq!(index.imports().issues(&import, &())?.counts.unchanged, 1);
//!
//! index.complete(RunOptions::WHOLE, &())?;
//! let answer = index.search("disk full")?;
//! assert_eq!(answer.results[0].path, "issue:12");
//! # Ok(())
//! # }
//! ```

pub(crate) mod commits;
mod conversations;
mod github;
pub(crate) mod issues;
#[cfg(feature = "wiki")]
mod pages;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use jiff::Timestamp;
use serde::Serialize;
use tamis_store::{Change, DocumentState, FileStat, NewDocument, Origin, TextForm};
use tamis_text::{Category, Document, Issue, Options};

use crate::Error;
use crate::collections::{COMMITS, ISSUES};
use crate::config::is_name;
use crate::handle::Index;
use crate::index::{SPLITTER, attributes, import_state_property, passages, publish_store};
use crate::progress::Observer;

pub use crate::error::{GithubError, UnreadableRecord};
pub use commits::{CommitImport, FileCommit};
pub use conversations::{ConversationImport, ImportedLog};
pub use github::{GITHUB_HOST, GithubCounts, GithubImport, GithubReport, IssueStates, Repository, Stopped};
pub use issues::{ImportInput, IssueImport, LARGEST_IMPORT};
#[cfg(feature = "wiki")]
pub use pages::{ImportedWiki, PageImport};

/// The prefixes of the paths of imported documents. No file has such a name.
const PATHS: [&str; 6] = ["issue:", "wiki:", "session:", "commit:", "fragment:", "claim:"];

/// Returns `true` if a path is that of an imported document, not of a file.
pub fn is_imported(path: &str) -> bool {
    PATHS.iter().any(|prefix| path.starts_with(prefix))
}

/// Imports content that is not a file of the tree, and lists and removes it. From [`Index::imports`].
#[derive(Clone, Copy)]
pub struct Imports<'a> {
    pub(crate) index: &'a Index,
}

// Chooses the namespace and the origin of an import, and keeps two issue trackers out of one namespace.

/// The most characters of an origin.
const LONGEST_ORIGIN: usize = 500;

/// Returns the namespace for documents: the one named, which need not exist yet, or else the index's own.
pub(crate) fn namespace(index: &Index, named: Option<&str>) -> Result<String, Error> {
    match named {
        Some(name) if is_name(name) => Ok(name.to_owned()),
        Some(name) => {
            let allowed = "1 to 200 characters, none of them `:`, `/`, `\\` or a control character";
            Err(Error::argument("namespace", format!("{name:?}"), allowed))
        }
        None => index.own_namespace().map(str::to_owned).ok_or_else(|| {
            let names = index.namespace_names().unwrap_or_default().join(", ");
            let allowed = format!("named, since the index holds several ({names}): one of them or a new one");
            Error::argument("namespace", "none", allowed)
        }),
    }
}

/// Checks an origin and returns it in its stored form.
pub(crate) fn origin(given: &str) -> Result<&str, Error> {
    let name = given.trim();
    let fits = !name.is_empty() && name.chars().count() <= LONGEST_ORIGIN && !name.chars().any(char::is_control);
    match fits {
        true => Ok(name),
        false => {
            let allowed =
                format!("1 to {LONGEST_ORIGIN} characters that say where it came from, such as github:OWNER/REPO");
            Err(Error::argument("origin", format!("{given:?}"), allowed))
        }
    }
}

/// Makes sure that numbered documents in one collection of a namespace come from one origin. Otherwise issue 12 of one tracker
/// would replace that of another.
pub(crate) fn only_tracker(index: &Index, namespace: &str, collection: &str, origin: &str) -> Result<(), Error> {
    let here = |other: &&tamis_store::Origin| other.namespace == namespace && other.collection == collection;
    let Some(other) = index.store.origins()?.into_iter().find(|known| here(&known) && known.name != origin) else {
        return Ok(());
    };
    let allowed = format!(
        "{}, the origin of the {collection} in namespace {namespace}: two trackers number alike. Another tracker goes to a \
         namespace of its own; if it is the same one, its origin is {}",
        other.name, other.name
    );
    Err(Error::argument("origin", origin, allowed))
}

/// Returns the error for a document that would overwrite one of another origin.
pub(crate) fn held_by_another(path: &str, origin: &str, other: &str) -> Error {
    let allowed = format!(
        "{other}, the origin of {path}, if the two are the same; otherwise use another namespace to keep them apart"
    );
    Error::argument("origin", origin, allowed)
}

// The summary of an import.

/// The result of an import, or with [`ImportSummary::dry_run`] the expected result.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ImportSummary {
    /// The origin of the documents.
    pub origin: String,
    /// The namespace of the documents.
    pub namespace: String,
    /// The collection: `issues`, `wiki`, `sessions`, `commits` or `evidence`.
    pub collection: String,
    /// Its documents, comments and passages, counted.
    #[serde(flatten)]
    pub counts: ImportCounts,
    /// Records of evidence by kind: `task`, `work`, `page`, `fragment`, `claim`, `edge`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub records: BTreeMap<String, RecordCounts>,
    /// Comments left out because their issue is neither given nor stored, by the issue's number.
    pub without_issue: BTreeMap<u64, u64>,
    /// Records of a kind that is not imported, by kind, such as redirects and repeated turns.
    pub left_out: BTreeMap<String, u64>,
    /// Unreadable records that were left out.
    pub bad: Vec<UnreadableRecord>,
    /// True if nothing was changed and this is the expected result.
    pub dry_run: bool,
    /// True if the import was stopped before it changed anything.
    pub interrupted: bool,
    /// Milliseconds by stage.
    pub timings_ms: BTreeMap<String, f64>,
}

/// The documents of an import by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ImportCounts {
    /// New documents. Records of evidence count by the same rules.
    pub added: u64,
    /// Changed documents.
    pub updated: u64,
    /// Unchanged documents.
    pub unchanged: u64,
    /// Documents with a later state in the index, which stays.
    pub older: u64,
    /// New or changed comments of issues, including those of new issues.
    pub comments: u64,
    /// Passages that were written.
    pub passages: u64,
}

impl ImportSummary {
    /// Returns `true` if the import changed anything, or with [`ImportSummary::dry_run`] would change it.
    pub fn changed_anything(&self) -> bool {
        self.counts.added + self.counts.updated > 0
    }

    /// Returns the number of given documents.
    pub fn documents(&self) -> u64 {
        self.counts.added + self.counts.updated + self.counts.unchanged + self.counts.older
    }

    /// Returns the summary of the same import, stopped before it changed anything.
    pub(crate) fn stopped(self) -> ImportSummary {
        let ImportSummary { origin, namespace, collection, dry_run, timings_ms, .. } = self;
        ImportSummary { origin, namespace, collection, dry_run, timings_ms, interrupted: true, ..Self::default() }
    }

    pub(crate) fn time(&mut self, stage: &str, since: Instant) {
        *self.timings_ms.entry(stage.to_owned()).or_default() += since.elapsed().as_secs_f64() * 1000.0;
    }
}

/// The result of an import for records of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RecordCounts {
    /// New records.
    pub added: u64,
    /// Changed records.
    pub updated: u64,
    /// Unchanged records.
    pub unchanged: u64,
}

/// Returns the unreadable records of an import if they may be left out.
///
/// # Errors
/// A record is unreadable and must not be left out.
pub(crate) fn refuse(bad: Vec<UnreadableRecord>, skip: bool) -> Result<Vec<UnreadableRecord>, Error> {
    if bad.is_empty() || skip { Ok(bad) } else { Err(Error::Unreadable { records: bad }) }
}

// The whole text of an imported document, built from its record.

impl Imports<'_> {
    /// Returns the text of an imported document if the line numbers of its passages refer to it. `None` if the passages hold the
    /// whole text.
    pub(crate) fn rendered(&self, namespace: &str, path: &str) -> Result<Option<String>, Error> {
        let state = self.index.store.document(namespace, path)?;
        let Some(state) = state.filter(|state| state.origin.is_some()) else { return Ok(None) };
        #[cfg(feature = "evidence")]
        if state.collection == tamis_store::EVIDENCE_COLLECTION {
            return self.evidence_text(namespace, path);
        }
        if state.collection == COMMITS {
            return self.commit_text(&state);
        }
        if state.collection != ISSUES {
            return Ok(None);
        }
        let record =
            self.index.store.records(std::slice::from_ref(&state.namespace), &[state.document])?.pop().flatten();
        let issue = record.and_then(|record| serde_json::from_str::<Issue>(&record).ok());
        Ok(issue.map(|issue| issue.rendered()))
    }

    /// Returns the text of a fragment or a claim.
    #[cfg(feature = "evidence")]
    fn evidence_text(&self, namespace: &str, path: &str) -> Result<Option<String>, Error> {
        use tamis_store::{Claim, EvidenceKey, EvidenceRecord, Fragment};
        let Some(key) = EvidenceKey::of_path(path) else { return Ok(None) };
        let record = self.index.store.evidence_at(namespace, &[key])?.pop().flatten();
        Ok(record.and_then(|record| match record {
            EvidenceRecord::Fragment(Fragment { text, .. }) | EvidenceRecord::Claim(Claim { text, .. }) => Some(text),
            _ => None,
        }))
    }
}

// The common part of all imports: compare each document with the stored one, and commit all changes in one transaction.

/// The destination of an import's documents, and the way they are split into passages.
#[derive(Clone)]
pub(crate) struct Target<'a> {
    pub namespace: &'a str,
    pub collection: &'a str,
    pub origin: &'a str,
    pub options: Options,
}

impl<'a> Target<'a> {
    pub fn new(namespace: &'a str, collection: &'a str, origin: &'a str) -> Self {
        Target { namespace, collection, origin, options: Options::default() }
    }

    /// Returns the summary of an import that has not done anything yet.
    pub fn summary(&self, dry_run: bool) -> ImportSummary {
        ImportSummary {
            origin: self.origin.to_owned(),
            namespace: self.namespace.to_owned(),
            collection: self.collection.to_owned(),
            dry_run,
            ..ImportSummary::default()
        }
    }

    /// Returns the outcome for one document. A document with the same content, split and origin as the stored one is unchanged,
    /// and is not built.
    pub fn outcome(
        &self,
        path: String,
        content: Content,
        known: Option<&DocumentState>,
        make: impl FnOnce(&Options) -> Document,
    ) -> Outcome {
        let content_hash = self.hash(&content);
        if known.is_some_and(|known| known.content_hash == content_hash && known.origin.as_deref() == Some(self.origin))
        {
            return Outcome::Unchanged;
        }
        let document = make(&self.options).into_plain();
        let form = if document.category == Category::Prose { TextForm::Prose } else { TextForm::Code };
        let document = Box::new(NewDocument {
            origin: Some(self.origin.to_owned()),
            language: document.language.map(str::to_owned),
            role: document.role.as_str().to_owned(),
            title: document.title.clone(),
            file: FileStat { size: content.text.len() as u64, ..FileStat::default() },
            dated_ns: document.dated_ns,
            severity: document.severity.clone(),
            content_hash,
            attributes: attributes(&document),
            record: content.is_record.then_some(content.text),
            passages: passages(document, form),
            ..NewDocument::new(self.namespace, self.collection, path)
        });
        if known.is_some() { Outcome::Updated(document) } else { Outcome::Added(document) }
    }

    /// Hashes the content and the way it is split, so that an import after a change of either splits it anew.
    fn hash(&self, content: &Content) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        let settings = format!("version={SPLITTER} tokens={}", self.options.max_tokens);
        hasher.update(settings.as_bytes()).update(&[0]).update(content.text.as_bytes());
        *hasher.finalize().as_bytes()
    }
}

/// The content that a document is made from.
pub(crate) struct Content {
    text: String,
    is_record: bool,
}

impl Content {
    /// Creates content from a record, which is stored with the document as JSON.
    pub fn record(record: &impl Serialize) -> Result<Content, Error> {
        let failed =
            |error: serde_json::Error| Error::argument("record", error.to_string(), "something with a JSON form");
        Ok(Content { text: serde_json::to_string(record).map_err(failed)?, is_record: true })
    }

    /// Creates content from text that its passages hold as well.
    pub fn text(text: String) -> Content {
        Content { text, is_record: false }
    }
}

/// The outcome of an import for one document.
pub(crate) enum Outcome {
    /// The document is new.
    Added(Box<NewDocument>),
    /// It replaces the stored one.
    Updated(Box<NewDocument>),
    /// It equals the stored one.
    Unchanged,
    /// The stored one is newer and stays.
    Older,
}

/// Counts outcomes and commits them, all or nothing. A dry run only counts. The caller holds the right to write.
pub(crate) fn commit(
    index: &Index,
    outcomes: Vec<Outcome>,
    summary: ImportSummary,
    observer: &dyn Observer,
) -> Result<ImportSummary, Error> {
    commit_with(index, outcomes, Vec::new(), summary, observer)
}

/// As [`commit`], with other changes in the same transaction.
fn commit_with(
    index: &Index,
    outcomes: Vec<Outcome>,
    mut changes: Vec<Change>,
    mut summary: ImportSummary,
    observer: &dyn Observer,
) -> Result<ImportSummary, Error> {
    for outcome in outcomes {
        let (counter, document) = match outcome {
            Outcome::Added(document) => (&mut summary.counts.added, Some(document)),
            Outcome::Updated(document) => (&mut summary.counts.updated, Some(document)),
            Outcome::Unchanged => (&mut summary.counts.unchanged, None),
            Outcome::Older => (&mut summary.counts.older, None),
        };
        *counter += 1;
        if let Some(document) = document {
            summary.counts.passages += document.passages.len() as u64;
            changes.push(Change::Put(*document));
        }
    }
    if observer.cancelled() {
        return Ok(summary.stopped());
    }
    if !summary.dry_run && !changes.is_empty() {
        let started = Instant::now();
        index.note_import(&summary.namespace);
        index.store.apply(&changes)?;
        summary.time("commit", started);
    }
    Ok(summary)
}

// Lists and removes imported documents by their origin.

/// The documents from one origin in one collection of a namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[non_exhaustive]
pub struct Imported {
    /// Their origin: `github:OWNER/REPO`, or the name of a dump or of a log.
    pub origin: String,
    /// The namespace.
    pub namespace: String,
    /// The collection: `issues`, `wiki`, `sessions`, `commits` or `evidence`.
    pub collection: String,
    /// The number of issues, pages, sessions, commits, or fragments and claims.
    pub documents: u64,
    /// The number of their passages.
    pub passages: u64,
    /// The latest change to any of them, if known.
    #[schemars(with = "Option<String>")]
    pub updated: Option<Timestamp>,
}

impl From<Origin> for Imported {
    fn from(origin: Origin) -> Self {
        let Origin { name, namespace, collection, documents, passages, dated_ns } = origin;
        let time = |at: i64| Timestamp::from_nanosecond(i128::from(at)).ok();
        Imported { origin: name, namespace, collection, documents, passages, updated: dated_ns.and_then(time) }
    }
}

impl Imports<'_> {
    /// Returns the imported documents, grouped by namespace, collection and origin.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn list(&self) -> Result<Vec<Imported>, Error> {
        Ok(self.index.store.origins()?.into_iter().map(Imported::from).collect())
    }

    /// Returns what [`Imports::remove`] would remove: everything from an origin, in one namespace if it is named.
    ///
    /// # Errors
    /// Nothing came from that origin; the message names those that exist.
    pub fn list_from(&self, origin: &str, namespace: Option<&str>) -> Result<Vec<Imported>, Error> {
        let all = self.list()?;
        let meant = |one: &&Imported| one.origin == origin && namespace.is_none_or(|named| named == one.namespace);
        let found: Vec<Imported> = all.iter().filter(meant).cloned().collect();
        if !found.is_empty() {
            return Ok(found);
        }
        let known: BTreeSet<String> = all
            .iter()
            .map(|one| match namespace {
                Some(_) => format!("{} (namespace {})", one.origin, one.namespace),
                None => one.origin.clone(),
            })
            .collect();
        let allowed = match known.is_empty() {
            true => "the origin of an import, and nothing was imported".to_owned(),
            false => format!("an origin of this index: {}", Vec::from_iter(known).join(", ")),
        };
        let value = namespace.map_or_else(|| format!("{origin:?}"), |name| format!("{origin:?} in namespace {name:?}"));
        Err(Error::argument("origin", value, allowed))
    }

    /// Removes everything from an origin, in one namespace if it is named, in one transaction. Evidence other than documents goes
    /// if nothing else refers to it. A namespace without a directory goes with its last document. Vectors stay for documents that
    /// come back. Returns the removed documents.
    ///
    /// # Errors
    /// Nothing came from that origin, or another process is writing.
    pub fn remove(
        &self,
        origin: &str,
        namespace: Option<&str>,
        observer: &dyn Observer,
    ) -> Result<Vec<Imported>, Error> {
        let _writing = self.index.wait_to_write(observer)?;
        let found = self.list_from(origin, namespace)?;
        let namespaces: BTreeSet<&String> = found.iter().map(|one| &one.namespace).collect();
        // The progress of a live import goes first: without it, the next import starts over.
        for namespace in &namespaces {
            self.index.store.set_property(&import_state_property(namespace, origin), "")?;
        }
        self.index.store.remove_origin(origin, &namespaces.iter().map(|name| (*name).clone()).collect::<Vec<_>>())?;
        let sources = self.index.sources();
        for namespace in self.index.store.namespaces()? {
            let has_directory = sources.iter().any(|source| source.namespace == namespace.name);
            let is_empty = namespace.documents == 0 && !self.has_evidence(&namespace.name)?;
            if namespaces.contains(&namespace.name) && is_empty && !has_directory {
                self.index.store.remove_namespace(&namespace.name)?;
            }
        }
        commits::note_removed_commits(self.index)?;
        match publish_store(&*self.index.store, observer) {
            // The next run publishes what is removed.
            Err(Error::Cancelled) => {}
            published => published?,
        }
        Ok(found)
    }

    /// Returns `true` if the namespace holds tasks, works or pages, which are not documents.
    #[cfg(feature = "evidence")]
    fn has_evidence(&self, namespace: &str) -> Result<bool, Error> {
        Ok(!self.index.store.evidence_summary(namespace, None)?.is_empty())
    }

    /// Returns `true`. Without the evidence graph we cannot know that a namespace is empty, so it stays.
    #[cfg(not(feature = "evidence"))]
    fn has_evidence(&self, _namespace: &str) -> Result<bool, Error> {
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_way_of_dividing_replaces_what_is_stored() {
        let target = |max_tokens| {
            let options = Options { max_tokens };
            Target { namespace: "house", collection: "issues", origin: "tracker", options }
        };
        let content = Content::record(&"The pump stops.").expect("JSON");
        assert_eq!(target(400).hash(&content), target(400).hash(&content));
        assert_ne!(target(400).hash(&content), target(100).hash(&content));
    }
}
