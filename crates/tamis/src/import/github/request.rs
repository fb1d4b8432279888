//! The request for an import from GitHub, and how GitHub is reached.

use super::{Clock, GITHUB_API, Repository, SystemClock, Token};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Which issues are taken in, by their state. One that is in the index is kept up to date whatever its state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IssueStates {
    /// All.
    #[default]
    All,
    /// Those that are open.
    Open,
    /// Those that are closed, merged pull requests among them.
    Closed,
}

impl IssueStates {
    /// Their names.
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
    /// The namespace that its issues go to; `None`: the one that the index is used in
    /// ([`Index::own_namespace`](crate::Index::own_namespace)).
    pub namespace: Option<String>,
    /// Only what was updated since.
    pub since: Option<Timestamp>,
    /// Only what is in one of these states, unless it is in the index.
    pub states: IssueStates,
    /// True if pull requests are taken in.
    pub pulls: bool,
    /// True if reviews are asked for, a request for each pull request that changed, as far as `github.reviews` allows.
    pub reviews: bool,
    /// Read everything again, whatever is known from before.
    pub full: bool,
}

impl GithubImport {
    /// All of a repository.
    #[must_use]
    pub fn new(repository: Repository) -> Self {
        GithubImport {
            repository,
            namespace: None,
            since: None,
            states: IssueStates::All,
            pulls: true,
            reviews: true,
            full: false,
        }
    }
}

/// How GitHub is reached.
pub struct GithubAccess<'a> {
    /// The root of the API. Anything but `https://` is refused, except on this machine.
    pub api_url: String,
    /// Says who asks; public repositories can be read without, more slowly.
    pub token: Option<Token>,
    /// Time, waiting and chance.
    pub clock: &'a dyn Clock,
}

impl GithubAccess<'static> {
    /// GitHub itself.
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
