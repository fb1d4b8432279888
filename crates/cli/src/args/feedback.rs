//! Flags of `tamis feedback`.

use super::values::at_least_one;
use clap::Args;
use std::path::PathBuf;

/// Flags of `tamis feedback`.
#[derive(Debug, Args)]
#[command(
    override_usage = "tamis feedback [OPTIONS] QUERY_ID PASSAGE… --relevant\n       \
        tamis feedback [OPTIONS] QUERY_ID PASSAGE… --not\n       \
        tamis feedback [OPTIONS] --list | --import DIR | --forget QUERY_ID",
    after_help = "\
Examples:
  tamis search \"where are retries handled\"        prints the search's id at its end: [query 7k2m9qrt]
  tamis feedback 7k2m9qrt 1 2 --relevant          the first two results answer it
  tamis feedback 7k2m9qrt 3 --not                 the third does not
  tamis feedback 7k2m9qrt 3f9a1c --relevant       a passage by its id, shown or not
  tamis feedback --import judged/                 queries.jsonl and qrels/test.tsv, which name files by path

The same question obeys: what is relevant comes first, the rest goes below the line.
`tamis search --guarantee recall=0.9` is calibrated on judgements. They stay in the index directory.
Exit status: 0 done, 1 nothing to list, 2 an error, and then nothing is recorded."
)]
pub struct FeedbackArguments {
    /// Id of the search, as its answer shows it
    #[arg(
        value_name = "QUERY_ID",
        required_unless_present_any = ["list", "import", "forget"],
        conflicts_with_all = ["list", "import", "forget"],
        requires_all = ["passages", "relevance"]
    )]
    pub query_id: Option<String>,
    /// Passages, by rank in that answer or by id
    #[arg(value_name = "PASSAGE", requires = "query_id")]
    pub passages: Vec<String>,
    /// Record that they answer the query
    #[arg(long, group = "relevance", requires = "query_id")]
    pub relevant: bool,
    /// Record that they do not answer the query
    #[arg(long, group = "relevance", requires = "query_id")]
    pub not: bool,
    /// List the last searches, with the number of judgements of each
    #[arg(long, conflicts_with_all = ["import", "forget"], help_heading = "Other actions")]
    pub list: bool,
    /// Search each judged query of a directory in BEIR's layout, and record its judgements
    #[arg(long, value_name = "DIR", conflicts_with = "forget", help_heading = "Other actions")]
    pub import: Option<PathBuf>,
    /// Delete a search with its judgements
    #[arg(long, value_name = "QUERY_ID", help_heading = "Other actions")]
    pub forget: Option<String>,
    /// With --import, read the judgements in qrels/NAME.tsv
    #[arg(long, value_name = "NAME", default_value = "test", requires = "import")]
    pub split: String,
    /// With --list, show at most N searches
    #[arg(short = 'n', long, value_name = "N", default_value = "20", value_parser = at_least_one, requires = "list", allow_negative_numbers = true)]
    pub limit: usize,
    /// Print what was recorded, or the list, as JSON
    #[arg(long)]
    pub json: bool,
}
