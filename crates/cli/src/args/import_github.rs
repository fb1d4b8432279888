//! Flags of `tamis import github`.

use super::values::minutes;
use clap::Args;
use clap::builder::PossibleValuesParser;
use jiff::Timestamp;
use tamis::flags::moment;
use tamis::import::{GITHUB_API, IssueStates};

/// Flags of `tamis import github`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis import github rust-lang/cargo                      everything; the next time only the changes
  GITHUB_TOKEN=$(gh auth token) tamis import github OWNER/REPO
  tamis import github OWNER/REPO --state closed --since 1y --no-pulls
  tamis import github OWNER/REPO --namespace repo-issues   apart from another repository's issues
  tamis import github OWNER/REPO --api-url https://git.example.org/api/v3

The token comes from GITHUB_TOKEN, else from GH_TOKEN. It needs only the right to read; nothing on GitHub is changed. \
GitHub allows 60 requests an hour without a token (public repositories only) and 5,000 with one.
Ctrl-C stops at the next page; the next import continues there.
Exit status: 0 complete, 1 stopped at GitHub's limit, 2 an error, 130 stopped by Ctrl-C.")]
pub struct ImportGithubArguments {
    /// Repository, by its name or the address of its page
    #[arg(value_name = "OWNER/REPO")]
    pub repository: String,
    /// Import only what was updated since: how long ago (90d, 1y), a date, a date and time, or words (last month)
    #[arg(long, value_name = "DATE", value_parser = moment, allow_hyphen_values = true)]
    pub since: Option<Timestamp>,
    /// Import only issues and pull requests in this state; those in the index are updated in any state
    #[arg(long, value_name = "STATE", default_value = "all", value_parser = PossibleValuesParser::new(IssueStates::NAMES))]
    pub state: String,
    /// Leave out pull requests
    #[arg(long)]
    pub no_pulls: bool,
    /// Leave out reviews, which cost one request for each changed pull request
    #[arg(long)]
    pub no_reviews: bool,
    /// Import into this namespace in place of the current one; a new one is made
    #[arg(long, value_name = "NAME")]
    pub namespace: Option<String>,
    /// Read everything again, changed or not
    #[arg(long)]
    pub full: bool,
    /// Wait at most this long at GitHub's request limit, then stop for the next import to continue
    #[arg(long, value_name = "MINUTES", default_value = "15", value_parser = minutes, allow_negative_numbers = true)]
    pub max_wait: f64,
    /// Use the API of your own GitHub server at this address; the token is sent there
    #[arg(long, value_name = "URL", default_value = GITHUB_API)]
    pub api_url: String,
    /// Embed with every model before ending, in place of the first one
    #[arg(long)]
    pub wait: bool,
    /// Print what was done as JSON
    #[arg(long)]
    pub json: bool,
}
