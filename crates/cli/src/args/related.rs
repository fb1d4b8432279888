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
  tamis related 3f9a1c                       of a passage by its id, or by the beginning of it
  tamis related src/lock.rs:40               of the passage that holds a line
  tamis related src/lock.rs:40 --by reference -n 50
  tamis related issue:12:1 --state resolved  of an issue, what is like it and solved

Exit status: 0 something is related, 1 nothing is, 2 an error.")]
pub struct RelatedArguments {
    /// The id of a result, or a path with a line
    #[arg(value_name = "ID|PATH:LINE")]
    pub wanted: String,
    /// By what: vector (what is like it) or reference (what it uses and what uses it) [default: both]
    #[arg(long, value_name = "WHAT", value_parser = PossibleValuesParser::new(RelatedBy::NAMES), hide_possible_values = true)]
    pub by: Option<String>,
    /// Show at most N of each, 1 to 1000 [default: search.top_k, 10]
    #[arg(short = 'n', long, value_name = "N", value_parser = limit, allow_negative_numbers = true)]
    pub limit: Option<usize>,
    /// Of what is like it, only what passes; names are not filtered.
    #[command(flatten)]
    pub metadata: MetadataArguments,
    /// Print what is related as one JSON object
    #[arg(long)]
    pub json: bool,
    /// Look into the index as it is, without looking for changed files
    #[arg(long)]
    pub no_refresh: bool,
}
