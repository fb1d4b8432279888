//! Flags of `tamis duplicates`.

use clap::{ArgGroup, Args};
use std::path::PathBuf;
use tamis::duplicates::DuplicatesRequest;

/// Flags of `tamis duplicates`.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("asked").required(true).args(["number", "title"]))]
#[command(after_help = "\
Examples:
  tamis duplicates 123                       list duplicates of an issue in the index
  tamis duplicates --title \"Login fails\" --body-file report.md
  tamis duplicates 123 --state open --json | jq '.duplicates[].number'

Exit status: 0 found a duplicate, 1 found none, 2 an error.")]
pub struct DuplicatesArguments {
    #[command(flatten)]
    pub request: DuplicatesRequest,
    /// Read the body from a file; - is standard input
    #[arg(long, value_name = "FILE", requires = "title")]
    pub body_file: Option<PathBuf>,
    /// Answer with nothing if the nearest issue is less like it than this, 0 to 1 [default: triage.duplicates.min_likeness]
    #[arg(long, value_name = "LIKENESS", allow_negative_numbers = true)]
    pub threshold: Option<String>,
    /// Print the answer as one JSON object
    #[arg(long)]
    pub json: bool,
    /// Search the index as it is, without looking for changed files
    #[arg(long)]
    pub no_refresh: bool,
}
