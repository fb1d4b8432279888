//! Live import of issues, pull requests, comments and reviews from GitHub, through `gh`, GitHub's own command line.
//!
//! Login, hosts, tokens and the connection are the business of `gh`, which is asked for one page at a time and only reads. Every
//! page is in the index, with the place to continue from, before the next one is requested. A stopped or killed run continues
//! there, and a run after a finished one requests only the changes.
//!
//! `import` does an import, `progress` is its stored state, and `gh` runs the program.

mod gh;
mod import;
mod progress;

use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tamis_store::DocumentState;

use super::ImportSummary;
use crate::error::{GithubError, UnreadableRecord};
use crate::index::RunReport;

/// The host of GitHub itself.
pub const GITHUB_HOST: &str = "github.com";

/// The longest name of an owner or a repository; GitHub's own limits are 39 and 100.
const LONGEST: usize = 100;

/// A repository on GitHub: `OWNER/NAME`.
///
/// ```
/// use tamis::import::Repository;
///
/// let repository: Repository = "https://github.com/rust-lang/cargo.git".parse()?;
/// assert_eq!(repository.to_string(), "rust-lang/cargo");
/// # Ok::<(), tamis::import::GithubError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repository {
    owner: String,
    name: String,
}

impl FromStr for Repository {
    type Err = GithubError;

    /// Reads `OWNER/NAME`, or the address of the repository's page on github.com.
    fn from_str(text: &str) -> Result<Self, GithubError> {
        let wrong = || GithubError::Repository { given: text.to_owned() };
        let bare = text.trim();
        let bare = ["https://github.com/", "http://github.com/", "github.com/", "git@github.com:"]
            .into_iter()
            .find_map(|prefix| bare.strip_prefix(prefix))
            .unwrap_or(bare);
        let bare = bare.trim_end_matches('/');
        let (owner, name) = bare.strip_suffix(".git").unwrap_or(bare).split_once('/').ok_or_else(wrong)?;
        // Both parts go into an address unescaped, so no character may have a meaning there.
        let allowed = |part: &str| {
            (1..=LONGEST).contains(&part.len())
                && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
                && part.bytes().any(|byte| byte != b'.')
        };
        if !allowed(owner) || !allowed(name) {
            return Err(wrong());
        }
        Ok(Repository { owner: owner.to_owned(), name: name.to_owned() })
    }
}

impl fmt::Display for Repository {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.owner, self.name)
    }
}

/// The states of the issues to import. An issue already in the index is kept up to date whatever its state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IssueStates {
    /// All issues.
    #[default]
    All,
    /// Open ones.
    Open,
    /// Closed ones, among them merged pull requests.
    Closed,
}

impl IssueStates {
    /// The names of the states.
    pub const NAMES: [&'static str; 3] = ["all", "open", "closed"];

    fn as_str(self) -> &'static str {
        match self {
            IssueStates::All => "all",
            IssueStates::Open => "open",
            IssueStates::Closed => "closed",
        }
    }
}

impl FromStr for IssueStates {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        [IssueStates::All, IssueStates::Open, IssueStates::Closed]
            .into_iter()
            .find(|states| states.as_str() == text)
            .ok_or_else(|| format!("must be one of {}", Self::NAMES.join(", ")))
    }
}

/// An import from GitHub.
#[derive(Clone, Debug)]
pub struct GithubImport {
    /// The repository.
    pub repository: Repository,
    /// The host of the repository, which `gh` is logged in to.
    pub host: String,
    /// The `gh` to run; `None`: the first on the `PATH`.
    pub program: Option<PathBuf>,
    /// The namespace of its issues; `None`: the one that the index is used in
    /// ([`Index::own_namespace`](crate::Index::own_namespace)).
    pub namespace: Option<String>,
    /// Only issues updated since this time.
    pub since: Option<Timestamp>,
    /// Only issues in one of these states, and those already in the index.
    pub states: IssueStates,
    /// True to import pull requests.
    pub pulls: bool,
    /// True to request reviews: one request for each changed pull request, at most [`most_reviews`](Self::most_reviews).
    pub reviews: bool,
    /// The most pull requests whose reviews are requested; the next import requests more.
    pub most_reviews: usize,
    /// True to read everything again, whatever is known from before.
    pub full: bool,
    /// True to embed with every model before the import ends, in place of the first one.
    pub wait: bool,
}

impl GithubImport {
    /// Requests a whole repository at github.com, with 500 reviews at most.
    #[must_use]
    pub fn new(repository: Repository) -> Self {
        GithubImport {
            repository,
            host: GITHUB_HOST.to_owned(),
            program: None,
            namespace: None,
            since: None,
            states: IssueStates::All,
            pulls: true,
            reviews: true,
            most_reviews: 500,
            full: false,
            wait: false,
        }
    }
}

/// The result of an import from GitHub.
#[derive(Clone, Debug, Default, Serialize)]
pub struct GithubReport {
    /// The requested repository.
    pub repository: String,
    /// The origin of the documents.
    pub origin: String,
    /// The namespace of the documents.
    pub namespace: String,
    /// The repository's present name, if it was renamed or moved.
    pub moved_to: Option<String>,
    /// The reason why everything was read again, if that was not requested and an earlier run exists.
    pub anew: Option<String>,
    /// Its issues, pull requests and comments, counted.
    #[serde(flatten)]
    pub counts: GithubCounts,
    /// Records from GitHub that are neither issues nor comments, and were left out.
    pub bad: Vec<UnreadableRecord>,
    /// Runs of `gh`, one a page.
    pub requests: u64,
    /// Duration of the import, in milliseconds.
    pub elapsed_ms: f64,
    /// The reason why the import ended early. Everything read before is kept.
    pub stopped: Option<Stopped>,
    /// The publishing and embedding afterwards.
    pub run: RunReport,
}

/// The issues and pull requests of an import by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct GithubCounts {
    /// New issues and pull requests.
    pub added: u64,
    /// Changed issues and pull requests; a new comment counts as a change.
    pub updated: u64,
    /// Unchanged issues and pull requests.
    pub unchanged: u64,
    /// New or changed comments, reviews and review comments.
    pub comments: u64,
    /// Passages of new or changed issues and pull requests.
    pub passages: u64,
    /// Issues and pull requests that the request excludes.
    pub left_out: u64,
    /// Comments of issues outside the index.
    pub without_issue: u64,
    /// Pull requests whose reviews were read.
    pub reviewed: u64,
    /// Issues and pull requests with details left for the next import.
    pub pending: u64,
    /// Issues and pull requests that were in the list but missing later: deleted or moved away.
    pub gone: u64,
}

/// The reason why an import ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum Stopped {
    /// The caller stopped it.
    Interrupted,
    /// GitHub's limit of requests is reached.
    RateLimit {
        /// The time to continue.
        until: Timestamp,
    },
}

impl GithubReport {
    /// Returns `true` if the import changed anything.
    pub fn changed_anything(&self) -> bool {
        self.counts.added + self.counts.updated > 0
    }

    /// Counts the changes to the issues of the origin. `before` has the hash of each issue before the import. Pages bring an
    /// issue more than once, and its comments separately, but it counts once.
    fn compare(&mut self, before: &HashMap<String, [u8; 32]>, after: &[DocumentState]) {
        for document in after.iter().filter(|document| document.origin.as_ref() == Some(&self.origin)) {
            let counter = match before.get(&document.path) {
                None => &mut self.counts.added,
                Some(hash) if *hash != document.content_hash => &mut self.counts.updated,
                Some(_) => {
                    self.counts.unchanged += 1;
                    continue;
                }
            };
            *counter += 1;
            self.counts.passages += u64::from(document.passages);
        }
    }

    /// Adds the counts of one page, except those of issues.
    fn add(&mut self, summary: ImportSummary) {
        self.counts.comments += summary.counts.comments;
        self.counts.without_issue += summary.without_issue.values().sum::<u64>();
        self.bad.extend(summary.bad);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn repositories_are_read_from_names_and_pages_or_refused() {
        for text in [
            "rust-lang/cargo", " rust-lang/cargo ", "https://github.com/rust-lang/cargo/",
            "git@github.com:rust-lang/cargo.git",
        ] {
            assert_eq!(text.parse::<Repository>().expect(text).to_string(), "rust-lang/cargo");
        }

        for text in [
            "", "cargo", "/cargo", "rust-lang/", "a/b/c", "a/..", "../b", "a b/c", "a/b?c", "a/ü",
            "https://gitlab.com/a/b",
        ] {
            let error = text.parse::<Repository>().expect_err(text).to_string();
            assert!(error.contains(&format!("{text:?}")) && error.contains("OWNER/NAME"), "{error}");
        }
    }

    proptest! {
        #[test]
        fn a_repository_that_is_read_stays_in_its_place_in_an_address(text in "\\PC{0,40}") {
            if let Ok(repository) = text.parse::<Repository>() {
                let text = repository.to_string();
                prop_assert_eq!(text.split('/').count(), 2);
                prop_assert!(!text.contains("..") || text.bytes().any(|byte| byte.is_ascii_alphanumeric()));
                prop_assert_eq!(text.parse::<Repository>().expect("read again"), repository);
            }
        }
    }
}
