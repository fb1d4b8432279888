//! Reads any format of issues, which it recognises by the content.
//!
//! This module recognises the container: consecutive values of JSON, JSON Lines, a table. The fields of a record tell its
//! shape ([`shape`]), each source has a reader of its own, and `gather` puts the records together.

mod address;
mod fields;
mod gather;
mod github;
mod gitlab;
mod listed;
mod own;
mod record;
mod shape;
mod table;

use serde::Serialize;
use serde::de::IgnoredAny;
use serde_json::error::Category;
use serde_json::{Deserializer, Value};

use super::{Issue, IssueComment};
use crate::decode::decode;
use crate::mended_json::mended;
use crate::names::named;
use gather::Gathering;
use table::Table;

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
    let (text, _) = decode(bytes);
    let mut all = Gathering::default();
    match text.trim_start().chars().next() {
        None => return Err(IssueFormatError::Empty),
        Some('{') if is_line_by_line(&text) => lines(&text, &mut all),
        Some('{' | '[') => values(&text, &mut all)?,
        Some(_) => match Table::new(&text) {
            Some(table) => {
                all.is(IssueFormat::GitlabCsv);
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

/// The parser's message, without the place that it repeats.
fn what_is_wrong(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text.split(" at line ").next().unwrap_or(&text);
    match error.classify() {
        Category::Eof => format!("the JSON breaks off here ({text})"),
        _ => format!("not valid JSON ({text})"),
    }
}

fn beginning(text: &str) -> String {
    let line = text.trim_start().lines().next().unwrap_or_default();
    let shown: String = line.chars().take(SHOWN).collect();
    let more = if shown.len() < line.len() { "…" } else { "" };
    format!("a text that begins with {shown:?}{more}")
}
