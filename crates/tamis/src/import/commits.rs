//! Imports the commits of a tree, one document per commit.

use std::collections::HashMap;
use std::time::Instant;

use jiff::Timestamp;
use tamis_store::{AttributeCondition, Change, DocumentState, Filter, StoredPassage};
use tamis_text::{Category, Document, Kind, Options, OwnProperties, Passage, Role, estimate_tokens};

use super::{Content, ImportSummary, Imports, Target, commit_with, namespace};
use crate::Error;
use crate::collections::{COMMITS, SKIPPED};
use crate::git::{self, Commit};
use crate::handle::Index;
use crate::progress::{Observer, Stage};
use crate::search::moment;

/// The origin of commits.
const ORIGIN: &str = "git";

/// The beginning of the paths of commits, before [`DIGITS`] of the identifier.
const PATH: &str = "commit:";

/// Hexadecimal digits of an identifier in the path of a commit. Even the largest histories need fewer.
const DIGITS: usize = 12;

/// Fewest digits of an identifier that name a commit, as many as git prints.
const FEWEST: usize = 7;

/// Most paths of a commit that its text names. A commit that touches more is found by its message.
const PATHS_IN_TEXT: usize = 20;

/// Most paths of a commit that are remembered, so that a file can list its commits.
const PATHS: usize = 200;

/// Most commits of one import.
const MOST: usize = 1_000_000;

/// Most bytes of a patch that is shown.
const LONGEST_PATCH: usize = 256 * 1024;

/// The property that says that an index holds commits, which searches then leave out unless they are asked for.
const HELD: &str = "commits";

/// An import of commits.
#[derive(Clone, Debug, Default)]
pub struct CommitImport {
    /// The namespace whose tree the commits are of; `None`: the one that the index is used in.
    pub namespace: Option<String>,
    /// The earliest time of a commit; `None`: any.
    pub since: Option<Timestamp>,
    /// Most commits, the latest ones, at least 1; `None`: 10,000.
    pub limit: Option<usize>,
    /// Changes nothing and reports what would change.
    pub dry_run: bool,
}

impl CommitImport {
    /// The number of commits that an import without a limit reads.
    pub const LIMIT: usize = 10_000;
}

/// A commit that touched a file.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct FileCommit {
    /// Its path in the index, `commit:` and the first digits of its identifier.
    pub path: String,
    /// The first line of its message.
    pub title: String,
    /// Its author.
    pub author: Option<String>,
    /// Its time.
    pub dated_at: Option<String>,
}

impl Imports<'_> {
    /// Imports the commits of a namespace's tree in one transaction, one document per commit (`commit:` and twelve digits of its
    /// identifier) with its message and the paths that it touched, not their changes. Stored commits that the history no longer has,
    /// such as those before a rebase, are removed. Searches find commits after the next [`Index::complete`], where they ask for
    /// the collection `commits`, or when, why or by whom something was changed in the past.
    ///
    /// # Errors
    /// The limit is 0 or above a million; the namespace has no tree, or its tree no repository that git can read; another process is
    /// still writing.
    pub fn commits(&self, import: &CommitImport, observer: &dyn Observer) -> Result<ImportSummary, Error> {
        let limit = import.limit.unwrap_or(CommitImport::LIMIT);
        if !(1..=MOST).contains(&limit) {
            return Err(Error::argument("limit", limit.to_string(), format!("1 to {MOST}")));
        }
        let namespace = namespace(self.index, import.namespace.as_deref())?;
        let source =
            self.index.sources().into_iter().find(|source| source.namespace == namespace).ok_or_else(|| {
                let names: Vec<&str> = self.index.sources().iter().map(|source| source.namespace.as_str()).collect();
                let allowed = format!("one with a directory: {}", names.join(", "));
                Error::argument("namespace", format!("{namespace:?}"), allowed)
            })?;
        let started = Instant::now();
        let since = import.since.map(Timestamp::as_second);
        let commits = git::history(&source.root, limit, since, &|| observer.cancelled());
        let commits = commits.map_err(|problem| Error::path(&source.root, problem))?;
        let target = Target::new(&namespace, COMMITS, ORIGIN);
        let mut summary = target.summary(import.dry_run);
        summary.time("read", started);

        let _writing = if import.dry_run { None } else { Some(self.index.wait_to_write(observer)?) };
        let started = Instant::now();
        observer.stage(Stage::Import, commits.len() as u64);
        let documents = self.index.store.documents(&namespace)?;
        let mut known: HashMap<&str, &DocumentState> = documents
            .iter()
            .filter(|document| document.collection == COMMITS)
            .map(|document| (document.path.as_str(), document))
            .collect();
        let mut outcomes = Vec::with_capacity(commits.len());
        for commit in commits.iter().filter(|commit| !is_bare_merge(commit)) {
            if observer.cancelled() {
                return Ok(summary.stopped());
            }
            let path = path_of(&commit.hash);
            let content = Content::text(format!("{commit:?}"));
            let known = known.remove(path.as_str());
            outcomes.push(target.outcome(path, content, known, |options| document(commit, options)));
            observer.advance(1);
        }
        // A history that was rewritten since lacks some that it had; older ones than were read are still there.
        let oldest = commits.iter().map(|commit| commit.seconds).min().and_then(nanoseconds);
        let is_gone = |state: &&DocumentState| oldest.is_some() && state.dated_ns >= oldest;
        let gone = known.into_values().filter(is_gone).map(|state| Change::Delete { document: state.document });
        let gone: Vec<Change> = gone.collect();
        summary.time("split", started);
        if !import.dry_run {
            self.index.store.set_property(HELD, "1")?;
        }
        commit_with(self.index, outcomes, gone, summary, observer)
    }

    /// Returns the message of a stored commit, its author and time, and the patch of those of its files that the index holds; `None`
    /// where there is no such commit or nobody can show its patch.
    pub(super) fn commit_text(&self, state: &DocumentState) -> Result<Option<String>, Error> {
        let Some(hash) = state.path.strip_prefix(PATH).filter(|hash| is_hash(hash, DIGITS)) else { return Ok(None) };
        let sources = self.index.sources();
        let Some(source) = sources.iter().find(|source| source.namespace == state.namespace) else { return Ok(None) };
        let attributes = self.index.store.attributes(std::slice::from_ref(&state.namespace), &[state.document])?;
        let (mut paths, mut left_out) = (Vec::new(), 0);
        for attribute in attributes.iter().flatten().filter(|attribute| attribute.name == "path") {
            // What was left out of the index, secrets among it, must not be read by way of its history.
            let held = self.index.store.document(&state.namespace, &attribute.value)?;
            if held.is_some_and(|held| held.collection != SKIPPED) {
                paths.push(attribute.value.as_str());
            } else {
                left_out += 1;
            }
        }
        let passages = self.index.store.document_passages(&state.namespace, &state.path)?;
        let mut text = crate::get::whole_text(&passages);
        // After the message, whose lines the passages count.
        if let Some(StoredPassage { author, dated_ns, .. }) = passages.first() {
            let time = dated_ns.map(|at| moment(at).strftime("%Y-%m-%d %H:%M UTC").to_string());
            let known: Vec<String> = author.clone().into_iter().chain(time).collect();
            text.push_str(&format!("\n{}\n", known.join(", ")));
        }
        match left_out {
            0 => {}
            1 => text.push_str("[the patch of 1 file is left out, since it is not in the index]\n"),
            more => {
                text.push_str(&format!("[the patches of {more} files are left out, since they are not in the index]\n"))
            }
        }
        if paths.is_empty() {
            return Ok(Some(text));
        }
        match git::patch(&source.root, hash, &paths, LONGEST_PATCH) {
            Ok((patch, is_whole)) => {
                text.push('\n');
                text.push_str(&patch);
                if !is_whole {
                    text.push_str("\n[the rest of the patch is left out]\n");
                }
            }
            Err(problem) => text.push_str(&format!("\n[no patch: {problem}]\n")),
        }
        Ok(Some(text))
    }
}

/// Returns the filter without commits, if it does not ask for them and the index has any.
pub(crate) fn without_commits(index: &Index, mut filter: Filter) -> Filter {
    let is_held = || index.store.property(HELD).ok().flatten().is_some_and(|held| !held.is_empty());
    if filter.collections.is_empty() && is_held() {
        filter.path_globs.push(format!("!/{PATH}*"));
    }
    filter
}

/// Returns the paths of the commits of a namespace that begin as [`path_start`] says.
pub(crate) fn commits_from(index: &Index, namespace: &str, start: &str) -> Result<Vec<String>, Error> {
    let documents = index.store.documents(namespace)?.into_iter();
    let is_meant = |state: &DocumentState| state.collection == COMMITS && state.path.starts_with(start);
    Ok(documents.filter(is_meant).map(|state| state.path).collect())
}

/// Notes that the index holds no commits any more, if that is so.
pub(super) fn note_removed_commits(index: &Index) -> Result<(), Error> {
    let is_held = index.store.origins()?.iter().any(|origin| origin.collection == COMMITS);
    if !is_held {
        index.store.set_property(HELD, "")?;
    }
    Ok(())
}

/// Returns the last commits that touched a file, newest first, and their number in all.
pub(crate) fn commits_of(
    index: &Index,
    namespace: &str,
    path: &str,
    most: usize,
) -> Result<(Vec<FileCommit>, usize), Error> {
    if index.store.property(HELD)?.is_none_or(|held| held.is_empty()) {
        return Ok((Vec::new(), 0));
    }
    let filter = Filter {
        collections: vec![COMMITS.to_owned()],
        attributes: vec![AttributeCondition::new("path", [path])],
        ..Filter::namespace(namespace)
    };
    let ids: Vec<_> = index.store.select(&filter)?.into_iter().map(|found| found.passage).collect();
    let mut passages = index.store.passages(&[namespace.to_owned()], &ids)?;
    // A long message has several passages.
    passages.sort_by_key(|passage| (std::cmp::Reverse(passage.dated_ns), passage.path.clone(), passage.start_line));
    passages.dedup_by(|second, first| second.path == first.path);
    let count = passages.len();
    let commit = |passage: StoredPassage| FileCommit {
        title: passage.title.unwrap_or_default(),
        author: passage.author,
        dated_at: passage.dated_ns.map(|at| moment(at).to_string()),
        path: passage.path,
    };
    Ok((passages.into_iter().take(most).map(commit).collect(), count))
}

/// Returns the beginning of the path of the commit that a text names by its identifier or by the first digits of it, with or without
/// `commit:` before it. `None` for a text that names none.
pub(crate) fn path_start(text: &str) -> Option<String> {
    let hash = text.strip_prefix(PATH).unwrap_or(text);
    is_hash(hash, FEWEST).then(|| path_of(&hash.to_ascii_lowercase()))
}

/// Returns `true` for the path of a commit in an index.
pub(crate) fn is_commit(path: &str) -> bool {
    path.starts_with(PATH)
}

fn path_of(hash: &str) -> String {
    format!("{PATH}{}", hash.get(..DIGITS).unwrap_or(hash))
}

fn is_hash(text: &str, fewest: usize) -> bool {
    (fewest..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A merge that says nothing but what it merged.
fn is_bare_merge(commit: &Commit) -> bool {
    commit.paths.is_empty() && commit.message.lines().count() < 2 && commit.message.starts_with("Merge ")
}

fn nanoseconds(seconds: i64) -> Option<i64> {
    seconds.checked_mul(1_000_000_000)
}

/// A commit as a document: its message, then the paths that it touched.
fn document(commit: &Commit, options: &Options) -> Document {
    let title = commit.message.lines().next().filter(|line| !line.is_empty()).map(str::to_owned);
    let mut text = format!("{}\n", commit.message);
    if !commit.paths.is_empty() {
        text.push('\n');
    }
    for path in commit.paths.iter().take(PATHS_IN_TEXT) {
        text.push_str(&format!("{}\n", path.replace('\n', " ")));
    }
    match commit.paths.len().saturating_sub(PATHS_IN_TEXT) {
        0 => {}
        more => text.push_str(&format!("and {more} more\n")),
    }
    let dated_ns = nanoseconds(commit.seconds);
    let passage = |(start_line, lines): (usize, Vec<&str>)| Passage {
        start_line: start_line as u32,
        end_line: (start_line + lines.len() - 1) as u32,
        kind: Kind::Commit,
        symbol: None,
        heading: title.clone(),
        context: None,
        signature: None,
        text: lines.join("\n"),
        role: Role::Main,
        own: OwnProperties {
            author: Some(commit.author.clone()).filter(|author| !author.is_empty()),
            dated_ns,
            language: None,
            part: None,
        },
    };
    Document {
        language: None,
        category: Category::Prose,
        role: Role::Main,
        severity: None,
        dated_ns,
        attributes: commit.paths.iter().take(PATHS).map(|path| ("path".to_owned(), path.clone())).collect(),
        notes: Vec::new(),
        passages: parts(&text, options.max_tokens).into_iter().map(passage).collect(),
        title,
    }
}

/// Divides a text into runs of lines of at most so many tokens, each with the number of its first line.
fn parts(text: &str, max_tokens: usize) -> Vec<(usize, Vec<&str>)> {
    let mut parts: Vec<(usize, Vec<&str>)> = Vec::new();
    let mut tokens = 0;
    for (number, line) in (1..).zip(text.trim_end().lines()) {
        let more = estimate_tokens(line);
        match parts.last_mut().filter(|_| tokens + more <= max_tokens) {
            Some((_, lines)) => lines.push(line),
            None => {
                parts.push((number, vec![line]));
                tokens = 0;
            }
        }
        tokens += more;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_digits_name_a_commit_unless_several_begin_with_them() {
        let directory = tempfile::tempdir().expect("a directory");
        let index = Index::builder(directory.path()).set("index.models", "static").open().expect("opened");
        index.refresh().expect("indexed");
        let target = Target::new(&index.namespace, COMMITS, ORIGIN);
        let outcome = |hash: &str| {
            let commit = Commit { hash: hash.into(), message: format!("Change {hash}"), ..Commit::default() };
            target.outcome(path_of(hash), Content::text(hash.into()), None, |options| document(&commit, options))
        };
        let outcomes = ["1f2e3d4c5b6a", "1f2e3d4c5b7a", "1f2e3d500000"].map(outcome).into();
        commit_with(&index, outcomes, Vec::new(), target.summary(false), &()).expect("imported");
        let path = |wanted: &str| index.get(wanted).map(|excerpt| excerpt.path).map_err(|error| error.to_string());
        for wanted in ["1f2e3d5", "commit:1f2e3d5", "1F2E3D50000011112222"] {
            assert_eq!(path(wanted).as_deref(), Ok("commit:1f2e3d500000"), "{wanted}");
        }
        let several = path("1f2e3d4c5").expect_err("two begin with it");
        assert!(several.contains("longer: these commits begin with it: commit:1f2e3d4c5b6a, commit:1f2e3d4c5b7a"));
        assert!(path("commit:1f2e3d").is_err(), "six digits are too few");
    }
}
