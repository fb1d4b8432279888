//! Flags of `tamis import github`.

use super::values::moment;
use clap::Args;
use clap::builder::PossibleValuesParser;
use jiff::Timestamp;
use tamis::import::{GITHUB_API, IssueStates};

/// Flags of `tamis import github`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis import github rust-lang/cargo                      everything, then what has changed since
  GITHUB_TOKEN=$(gh auth token) tamis import github OWNER/REPO
  tamis import github OWNER/REPO --state closed --since 1y --no-pulls
  tamis import github OWNER/REPO --namespace repo-issues   apart from the issues of another repository
  tamis import github OWNER/REPO --api-url https://git.example.org/api/v3

A token is taken from GITHUB_TOKEN, else from GH_TOKEN; it needs the right to read alone, and nothing at GitHub is changed.
Without one, public repositories can be read at 60 requests an hour, with one at 5,000.
Ctrl-C stops at the next page; another import goes on from there.
Exit status: 0 all is there, 1 GitHub's limit ended it before, 2 an error, 130 stopped by Ctrl-C.")]
pub struct ImportGithubArguments {
    /// The repository, by its name or the address of its page
    #[arg(value_name = "OWNER/REPO")]
    pub repository: String,
    /// Only what was updated since then: how long ago (90d, 1y), a date, a date and time, or words (last month)
    #[arg(long, value_name = "DATE", value_parser = moment, allow_hyphen_values = true)]
    pub since: Option<Timestamp>,
    /// Only issues and pull requests in this state; those in the index are kept up to date in any
    #[arg(long, value_name = "STATE", default_value = "all", value_parser = PossibleValuesParser::new(IssueStates::NAMES))]
    pub state: String,
    /// Leave out pull requests
    #[arg(long)]
    pub no_pulls: bool,
    /// Do not ask for reviews, which costs a request for each pull request that changed
    #[arg(long)]
    pub no_reviews: bool,
    /// The namespace they go to, in place of the one you stand in; a new one is made
    #[arg(long, value_name = "NAME")]
    pub namespace: Option<String>,
    /// Read everything again, not only what has changed
    #[arg(long)]
    pub full: bool,
    /// Longest wait at GitHub's limits of requests, before the import ends for another one to go on [default: 15]
    #[arg(long, value_name = "MINUTES", allow_negative_numbers = true)]
    pub max_wait: Option<String>,
    /// Address of the API of a GitHub of your own; the token goes there
    #[arg(long, value_name = "URL", default_value = GITHUB_API)]
    pub api_url: String,
    /// Print what was done as JSON
    #[arg(long)]
    pub json: bool,
}
