//! Flags of `tamis related`.

use clap::Args;
use tamis::related::RelatedRequest;

/// Flags of `tamis related`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis related 3f9a1c                       related to a passage, by its id or the beginning of it
  tamis related src/lock.rs:40               related to the passage of that line
  tamis related src/lock.rs:40 --by reference -n 50
  tamis related issue:12:1 --state resolved  solved issues like an issue

Exit status: 0 found something, 1 found nothing, 2 an error.")]
pub struct RelatedArguments {
    #[command(flatten)]
    pub request: RelatedRequest,
    /// Print the answer as one JSON object
    #[arg(long)]
    pub json: bool,
    /// Search the index as it is, without looking for changed files
    #[arg(long)]
    pub no_refresh: bool,
}
