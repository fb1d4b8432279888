//! Flags of `tamis pack`.

use clap::Args;
use tamis::pack::PackRequest;

/// Flags of `tamis pack`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis pack \"how are retries scheduled\" --budget-tokens 4000 | pbcopy
  tamis pack session expiry --lang rust --path 'src/**'

The relevant results of a search in reading order, each section under its place, nothing twice. The last line names what \
did not fit.

Exit status: 0 found something, 1 found nothing, 2 an error.")]
pub struct PackArguments {
    /// A question, or some words
    #[arg(required = true, value_name = "QUERY")]
    pub words: Vec<String>,
    #[command(flatten)]
    pub request: PackRequest,
    /// Print the text, its sections and what was left out as JSON
    #[arg(long)]
    pub json: bool,
    /// Use the index as it is, without looking for changed files
    #[arg(long)]
    pub no_refresh: bool,
}
