//! Flags of `tamis pack`.

use super::values::{at_least_one, language};
use clap::Args;

/// Flags of `tamis pack`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis pack \"how are retries scheduled\" --budget-tokens 4000 | pbcopy
  tamis pack session expiry --lang rust --path 'src/**'

The relevant results of a search in reading order, each section under its place, nothing twice. The last line names what
did not fit.

Exit status: 0 found something, 1 found nothing, 2 an error.")]
pub struct PackArguments {
    /// A question, or some words
    #[arg(required = true, value_name = "QUERY")]
    pub query: Vec<String>,
    /// Most tokens of the text, 50 to 1000000
    #[arg(long = "budget-tokens", value_name = "N", default_value_t = 4000, value_parser = clap::value_parser!(u64).range(50..=1_000_000))]
    pub budget: u64,
    /// Pack at most N results
    #[arg(short = 'n', long, value_name = "N", value_parser = at_least_one)]
    pub limit: Option<usize>,
    /// Pack only matching paths; !GLOB leaves paths out
    #[arg(long = "path", value_name = "GLOB")]
    pub paths: Vec<String>,
    /// Pack only these languages, by name or file extension
    #[arg(long = "lang", value_name = "LANG", value_delimiter = ',', value_parser = language)]
    pub languages: Vec<Vec<&'static str>>,
    /// Pack only these collections, such as code or docs; repeat or separate with commas
    #[arg(long = "collection", value_name = "NAME", value_delimiter = ',')]
    pub collections: Vec<String>,
    /// Print the text, its sections and what was left out as JSON
    #[arg(long)]
    pub json: bool,
    /// Use the index as it is, without looking for changed files
    #[arg(long)]
    pub no_refresh: bool,
}
