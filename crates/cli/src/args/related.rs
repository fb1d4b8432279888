//! Flags of `tamis related`.

use super::MetadataArguments;
use super::values::limit;
use clap::Args;
use clap::builder::PossibleValuesParser;
use tamis::related::RelatedBy;

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
    /// Id of a result, or a path with a line
    #[arg(value_name = "ID|PATH:LINE")]
    pub wanted: String,
    /// Relate by vector (similar passages) or by reference (what it uses and what uses it) [default: both]
    #[arg(long, value_name = "WHAT", value_parser = PossibleValuesParser::new(RelatedBy::NAMES), hide_possible_values = true)]
    pub by: Option<String>,
    /// Show at most N of each kind, 1 to 1000 [default: search.top_k, 10]
    #[arg(short = 'n', long, value_name = "N", value_parser = limit, allow_negative_numbers = true)]
    pub limit: Option<usize>,
    /// Filters on similar passages; references are not filtered.
    #[command(flatten)]
    pub metadata: MetadataArguments,
    /// Print the answer as one JSON object
    #[arg(long)]
    pub json: bool,
    /// Search the index as it is, without looking for changed files
    #[arg(long)]
    pub no_refresh: bool,
}
