//! The request for an import from GitHub, and the access to GitHub.

use super::{Clock, GITHUB_API, Repository, SystemClock, Token};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

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

    pub(super) fn as_str(self) -> &'static str {
        match self {
            IssueStates::All => "all",
            IssueStates::Open => "open",
            IssueStates::Closed => "closed",
        }
    }
}

impl fmt::Display for IssueStates {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
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
    /// The longest wait for GitHub's rate limit. An import that would wait longer ends; the next one goes on.
    pub max_wait: Duration,
    /// True to read everything again, whatever is known from before.
    pub full: bool,
    /// True to embed with every model before the import ends, in place of the first one.
    pub wait: bool,
}

impl GithubImport {
    /// Requests a whole repository, with 500 reviews and waits of 15 minutes at most.
    #[must_use]
    pub fn new(repository: Repository) -> Self {
        GithubImport {
            repository,
            namespace: None,
            since: None,
            states: IssueStates::All,
            pulls: true,
            reviews: true,
            most_reviews: 500,
            max_wait: Duration::from_secs(15 * 60),
            full: false,
            wait: false,
        }
    }
}

/// The access to GitHub.
pub struct GithubAccess<'a> {
    /// The root of the API. Anything but `https://` is refused, except on this machine.
    pub api_url: String,
    /// The token of the caller. Public repositories can be read without one, more slowly.
    pub token: Option<Token>,
    /// The source of time, waiting and randomness.
    pub clock: &'a dyn Clock,
}

impl GithubAccess<'static> {
    /// Returns the access to GitHub itself.
    #[must_use]
    pub fn new(token: Option<Token>) -> Self {
        GithubAccess { api_url: GITHUB_API.to_owned(), token, clock: &SystemClock }
    }
}

impl fmt::Debug for GithubAccess<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("GithubAccess").field("token", &self.token).finish_non_exhaustive()
    }
}
