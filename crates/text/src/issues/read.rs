//! Reads any format of issues, which it recognises by the content.
//!
//! This module recognises the container: consecutive values of JSON, JSON Lines, a table. The fields of a record tell its
//! reader (`formats`), and [`Gathering`] puts the records together.

use std::collections::BTreeMap;

use serde::Serialize;
use serde::de::IgnoredAny;
use serde_json::{Deserializer, Value};

use super::comments::Comments;
use super::fields::{Fields, Reason, Repository, shown};
use super::formats::{Found, Table, listed_issue, reader};
use super::issue::APART;
use super::{Issue, IssueComment, IssueKind};
use crate::decode::{decode, mended, what_is_wrong};
use crate::document::named;

named! {
    /// A format of issues.
    IssueFormat is a "format of issues" {
        /// Pages of GitHub's REST API, as `gh api --paginate` writes them.
        GithubPages = "github_pages",
        /// The output of `gh issue list --json …` and `gh pr list --json …`.
        GhList = "gh_list",
        /// One object with the `issues` and `pulls` of a repository.
        Archive = "archive",
        /// GitLab's project export: `issues.ndjson`, `merge_requests.ndjson`.
        GitlabExport = "gitlab_export",
        /// Pages of GitLab's API.
        GitlabPages = "gitlab_pages",
        /// GitLab's export as a table.
        GitlabCsv = "gitlab_csv",
        /// The project's own: one [`Issue`] a line.
        JsonLines = "json_lines",
    }
}

/// The content of one input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct IssueArchive {
    /// Its format; the first one if it has several.
    pub format: IssueFormat,
    /// Their repository, as `OWNER/REPO`, if an address names it.
    pub repository: Option<String>,
    /// The tracker that they name: `github:OWNER/REPO`, or with the host, `github:HOST/OWNER/REPO`, where that is not github.com; so too
    /// `gitlab:` and `gitea:`.
    pub tracker: Option<String>,
    /// The issues by their numbers, each once, with their comments.
    pub issues: Vec<Issue>,
    /// Comments on issues outside the input, with their numbers, from pages that hold comments alone.
    pub comments: Vec<(u64, IssueComment)>,
    /// Unreadable records.
    pub bad: Vec<BadRecord>,
}

/// A record, or a part of one, that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BadRecord {
    /// Its place: `line 7`, `page 2, record 14`, `pulls, record 3, comment 1`.
    pub position: String,
    /// The reason.
    pub reason: String,
}

/// The reason an input holds no issues at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IssueFormatError {
    /// The input is empty.
    #[error("it is empty; {FORMATS}")]
    Empty,
    /// The JSON breaks off or is broken.
    #[error("line {line}, column {column}: {reason}")]
    Broken {
        /// The line, from 1.
        line: usize,
        /// The column, in bytes, from 1.
        column: usize,
        /// The reason.
        reason: String,
    },
    /// The input has another format.
    #[error("it is {seen}; {FORMATS}")]
    Unknown {
        /// Its beginning.
        seen: String,
    },
}

/// The readable formats, in the words of a message.
const FORMATS: &str = "issues are read from pages of GitHub's REST API (`gh api --paginate`), from `gh issue list --json` and \
     `gh pr list --json`, from an archive of a repository's issues and pulls, from GitLab's export (NDJSON or CSV) or pages of \
     its API, and from JSON Lines with one issue a line";

/// Lines of which one must be a value of JSON by itself for an input to be read line by line.
const LINES_LOOKED_AT: usize = 3;

/// Characters of an unknown input that an error shows.
const SHOWN: usize = 40;

/// Reads issues, pull requests, comments and reviews in any of the formats of [`IssueFormat`].
///
/// The format is recognized by content, not by name. An unreadable record is in [`IssueArchive::bad`], and all others
/// are read. [`Issue::merge`] joins two records of one number into one issue. Comments that come on pages of their own
/// join their issues. A byte order mark, UTF-16 and any line ends are fine. Takes time linear in the input.
///
/// ```
/// let pages = br#"[{"number":1,"title":"Crash","state":"closed","user":{"login":"ada"},
///     "html_url":"https://github.com/ada/engine/issues/1"}][{"number":0,"title":"?","user":null}]"#;
/// let read = tamis_text::read_issues(pages)?;
/// assert_eq!(read.repository.as_deref(), Some("ada/engine"));
/// assert_eq!((read.issues.len(), read.issues[0].author.as_deref()), (1, Some("ada")));
/// assert_eq!(read.bad[0].position, "page 2, record 1");
/// # Ok::<(), tamis_text::IssueFormatError>(())
/// ```
///
/// # Errors
///
/// The input is empty, its JSON breaks off or is invalid (except in JSON Lines, where that is a bad record), or nothing
/// in it is an issue or a comment.
pub fn read_issues(bytes: &[u8]) -> Result<IssueArchive, IssueFormatError> {
    if bytes.starts_with(b"\x1f\x8b") {
        return Err(IssueFormatError::Unknown { seen: "compressed with gzip: decompress it first".to_owned() });
    }
    let (text, _) = decode(bytes);
    let mut all = Gathering::default();
    match text.trim_start().chars().next() {
        None => return Err(IssueFormatError::Empty),
        Some('{') if is_line_by_line(&text) => lines(&text, &mut all),
        Some('{' | '[') => values(&text, &mut all)?,
        Some(_) => match Table::new(&text) {
            Some(table) => {
                all.format = Some(IssueFormat::GitlabCsv);
                table.each(|line, row| all.found(&format!("line {line}"), row));
            }
            None => return Err(IssueFormatError::Unknown { seen: beginning(&text) }),
        },
    }
    all.finish()
}

/// Returns `true` if each line is a value of its own. One of the first few may be broken, since the lines of a value
/// that spans several lines are all broken by themselves.
fn is_line_by_line(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty()).peekable();
    lines.next();
    let several = lines.peek().is_some();
    let alone = |line: &str| line.starts_with('{') && serde_json::from_str::<IgnoredAny>(line).is_ok();
    several && text.lines().filter(|line| !line.trim().is_empty()).take(LINES_LOOKED_AT).any(alone)
}

fn lines(text: &str, all: &mut Gathering) {
    for (at, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let place = format!("line {}", at + 1);
        match serde_json::from_str::<Value>(line)
            .or_else(|error| serde_json::from_str(&mended(line)).map_err(|_| error))
        {
            Ok(value) => all.value(&value, &place),
            Err(error) => all.note(&place, format!("column {}: {}", error.column(), what_is_wrong(&error))),
        }
    }
}

fn values(text: &str, all: &mut Gathering) -> Result<(), IssueFormatError> {
    let read = |text: &str| Deserializer::from_str(text).into_iter().collect::<Result<Vec<Value>, _>>();
    let values = read(text).or_else(|error| read(&mended(text)).map_err(|_| error));
    let values = values.map_err(|error| IssueFormatError::Broken {
        line: error.line(),
        column: error.column(),
        reason: what_is_wrong(&error),
    })?;
    let one = values.len() == 1;
    for (at, value) in values.iter().enumerate() {
        let place = match value {
            _ if one => String::new(),
            Value::Array(_) => format!("page {}", at + 1),
            _ => format!("record {}", at + 1),
        };
        all.value(value, &place);
    }
    Ok(())
}

fn beginning(text: &str) -> String {
    let line = text.trim_start().lines().next().unwrap_or_default();
    let shown: String = line.chars().take(SHOWN).collect();
    let more = if shown.len() < line.len() { "…" } else { "" };
    format!("a text that begins with {shown:?}{more}")
}

// Gathers all records of one input.

/// Number of field names that an error shows.
const KEYS_SHOWN: usize = 6;

/// The records read so far.
#[derive(Default)]
struct Gathering {
    format: Option<IssueFormat>,
    repository: Option<Repository>,
    /// Each issue without its comments, and the comments.
    issues: BTreeMap<u64, (Issue, Comments)>,
    alone: BTreeMap<u64, Vec<Alone>>,
    bad: Vec<BadRecord>,
    /// The first value that is not a record.
    strange: Option<String>,
}

/// A comment that came without its issue.
struct Alone {
    place: String,
    on: Option<IssueKind>,
    comment: IssueComment,
}

impl Gathering {
    /// A single value: a page, a page of pages, an archive, a record.
    fn value(&mut self, value: &Value, place: &str) {
        match value {
            Value::Array(items) => self.page(items, place),
            Value::Object(object) => self.object(Fields(object), place),
            other => self.strange(place, shown(other), ", not an object"),
        }
    }

    fn page(&mut self, items: &[Value], place: &str) {
        if items.is_empty() {
            self.format.get_or_insert(IssueFormat::GithubPages);
        }
        for (at, item) in items.iter().enumerate() {
            let what = if item.is_array() { "page" } else { "record" };
            let place = joined(place, &format!("{what} {}", at + 1));
            match item {
                Value::Array(items) => self.page(items, &place),
                Value::Object(object) => self.record(Fields(object), &place),
                other => self.strange(&place, shown(other), ", not an object"),
            }
        }
    }

    fn object(&mut self, fields: Fields<'_>, place: &str) {
        let is_list = |name| fields.value(name).is_some_and(|(_, value)| value.is_array());
        if !fields.has("number") && (is_list("issues") || is_list("pulls")) {
            return self.archive(fields, place);
        }
        if fields.has("total_count")
            && let Some((_, Value::Array(items))) = fields.value("items")
        {
            return self.page(items, place);
        }
        let place = if place.is_empty() { "record 1" } else { place };
        if let Ok(Some(message)) = fields.text("message")
            && (fields.has("documentation_url") || fields.0.len() == 1)
        {
            return self.strange(place, format!("an answer that refuses: {message:?}"), "");
        }
        self.record(fields, place);
    }

    /// Everything of a repository in one object.
    fn archive(&mut self, fields: Fields<'_>, place: &str) {
        self.format.get_or_insert(IssueFormat::Archive);
        let name = fields.some_text("repo repository").unwrap_or_else(|reason| {
            self.note(&joined(place, "the archive"), reason);
            None
        });
        let repository = name.map(|name| Repository { host: None, name, software: None });
        for (name, kind) in [("issues", IssueKind::Issue), ("pulls", IssueKind::PullRequest)] {
            let items = fields.list(name).unwrap_or_default();
            for (at, item) in items.iter().enumerate() {
                let place = joined(place, &format!("{name}, record {}", at + 1));
                let read = Fields::new(item).and_then(|fields| listed_issue(fields, Some(kind)));
                let of_archive =
                    |found: Found| Found { repository: of_archive(&repository, found.repository), ..found };
                self.found(&place, read.map(of_archive));
            }
        }
    }

    fn record(&mut self, fields: Fields<'_>, place: &str) {
        match reader(fields) {
            Some((format, read)) => {
                self.format.get_or_insert(format);
                self.found(place, read(fields));
            }
            None => {
                let mut names: Vec<String> = fields.0.keys().take(KEYS_SHOWN).map(|name| format!("`{name}`")).collect();
                if fields.0.len() > KEYS_SHOWN {
                    names.push("…".to_owned());
                }
                let seen = match names.as_slice() {
                    [] => "an empty object".to_owned(),
                    names => format!("an object of {}", names.join(", ")),
                };
                self.strange(place, seen, ": no issue and no comment");
            }
        }
    }

    /// Notes a value that is not a record.
    fn strange(&mut self, place: &str, seen: String, why: &str) {
        self.note(if place.is_empty() { "record 1" } else { place }, format!("is {seen}{why}"));
        self.strange.get_or_insert(seen);
    }

    /// Adds a record, or the reason it is unreadable.
    fn found(&mut self, place: &str, read: Result<Found, Reason>) {
        let found = match read.and_then(|found| self.of_this_repository(found)) {
            Ok(found) => found,
            Err(reason) => return self.note(place, reason),
        };
        for (part, reason) in found.bad {
            self.note(&joined(place, &part), reason);
        }
        for (number, comment) in found.comments {
            let comment = Alone { place: place.to_owned(), on: found.comments_on, comment };
            self.alone.entry(number).or_default().push(comment);
        }
        if let Some(issue) = found.issue {
            self.issue(place, issue);
        }
    }

    fn issue(&mut self, place: &str, mut issue: Issue) {
        let number = issue.number;
        let given = std::mem::take(&mut issue.comments);
        if let Some((known, comments)) = self.issues.get_mut(&number) {
            let Some(reason) = known.conflict(&issue).filter(|_| !self.format.is_some_and(is_github)) else {
                known.merge(issue);
                comments.add(given);
                return;
            };
            self.note(place, reason);
            // The issue stays, whichever comes first.
            if issue.kind != IssueKind::Issue {
                return;
            }
        }
        let mut comments = Comments::default();
        comments.add(given);
        self.issues.insert(number, (issue, comments));
    }

    /// Numbers mean nothing outside of their tracker.
    fn of_this_repository(&mut self, mut found: Found) -> Result<Found, Reason> {
        match (&mut self.repository, found.repository.take()) {
            (Some(first), Some(repository)) if !first.is(&repository) => {
                return Err(format!(
                    "belongs to {repository}, but what comes before it belongs to {first}: give them apart"
                ));
            }
            (Some(first), Some(repository)) => first.learn(repository),
            (first @ None, repository) => *first = repository,
            (Some(_), None) => {}
        }
        Ok(found)
    }

    /// Notes an unreadable record.
    fn note(&mut self, place: &str, reason: impl Into<String>) {
        self.bad.push(BadRecord { position: place.to_owned(), reason: reason.into() });
    }

    fn finish(mut self) -> Result<IssueArchive, IssueFormatError> {
        let Some(format) = self.format else {
            let seen = self.strange.unwrap_or_else(|| "nothing that can be read".to_owned());
            return Err(IssueFormatError::Unknown { seen });
        };
        let mut comments = Vec::new();
        for (number, given) in std::mem::take(&mut self.alone) {
            let Some((issue, known)) = self.issues.get_mut(&number) else {
                comments.extend(given.into_iter().map(|alone| (number, alone.comment)));
                continue;
            };
            let (fitting, others): (Vec<_>, Vec<_>) =
                given.into_iter().partition(|alone| alone.on.is_none_or(|kind| kind == issue.kind));
            known.add(fitting.into_iter().map(|alone| alone.comment));
            let reason = format!("is a note on another {number} than the {} that is here: {APART}", issue.kind);
            let bad = others.into_iter().map(|alone| BadRecord { position: alone.place, reason: reason.clone() });
            self.bad.extend(bad);
        }
        let whole = |(issue, comments): (Issue, Comments)| Issue { comments: comments.sorted(), ..issue };
        Ok(IssueArchive {
            format,
            tracker: self.repository.as_ref().map(|repository| repository.tracker(is_gitlab(format))),
            repository: self.repository.map(|repository| repository.name),
            issues: self.issues.into_values().map(whole).collect(),
            comments,
            bad: self.bad,
        })
    }
}

/// GitLab numbers issues and merge requests separately.
fn is_gitlab(format: IssueFormat) -> bool {
    matches!(format, IssueFormat::GitlabExport | IssueFormat::GitlabPages | IssueFormat::GitlabCsv)
}

/// GitHub numbers both together, so two kinds are one issue of which a record says too little.
fn is_github(format: IssueFormat) -> bool {
    matches!(format, IssueFormat::GithubPages | IssueFormat::GhList | IssueFormat::Archive)
}

/// The repository of a record in an archive that names one, or none.
fn of_archive(archive: &Option<Repository>, found: Option<Repository>) -> Option<Repository> {
    match (archive.clone(), found) {
        (Some(mut named), Some(found)) if named.is(&found) => {
            named.learn(found);
            Some(named)
        }
        (named, found) => named.or(found),
    }
}

fn joined(outer: &str, inner: &str) -> String {
    if outer.is_empty() { inner.to_owned() } else { format!("{outer}, {inner}") }
}
