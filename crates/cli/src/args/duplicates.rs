//! Flags of `tamis duplicates`.

use clap::{ArgGroup, Args};
use std::path::PathBuf;

/// Flags of `tamis duplicates`.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("asked").required(true).args(["number", "title"]))]
#[command(after_help = "\
Examples:
  tamis duplicates 123                       of an issue of the index
  tamis duplicates --title \"Login fails\" --body-file report.md
  tamis duplicates 123 --state open --json | jq '.duplicates[].number'

Exit status: 0 something is likely the same, 1 nothing is, 2 an error.")]
pub struct DuplicatesArguments {
    /// The number of an issue of the index
    #[arg(value_name = "N")]
    pub number: Option<u64>,
    /// The title of an issue that is not in the index
    #[arg(long, value_name = "TITLE", conflicts_with = "number")]
    pub title: Option<String>,
    /// Its body
    #[arg(long, value_name = "TEXT", requires = "title", conflicts_with = "body_file")]
    pub body: Option<String>,
    /// Its body, from a file; - is standard input
    #[arg(long, value_name = "FILE", requires = "title")]
    pub body_file: Option<PathBuf>,
    /// Only issues in this state, such as open or closed; repeat or separate with commas [default: all]
    #[arg(long = "state", value_name = "STATE", value_delimiter = ',')]
    pub states: Vec<String>,
    /// Likeness to the nearest issue below which there is none, 0 to 1 [default: triage.duplicates.min_likeness]
    #[arg(long, value_name = "LIKENESS", allow_negative_numbers = true)]
    pub threshold: Option<String>,
    /// The namespace to search first, in an index that holds several
    #[arg(long, value_name = "NAME")]
    pub namespace: Option<String>,
    /// Print the answer as one JSON object
    #[arg(long)]
    pub json: bool,
    /// Search the index as it is, without looking for changed files
    #[arg(long)]
    pub no_refresh: bool,
}
