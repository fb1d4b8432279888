//! Flags of `tamis evidence rank` and `tamis evidence search`.

use clap::Args;
use tamis::evidence::{RankRequest, VectorSearchRequest};

/// Flags of `tamis evidence rank`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis evidence rank c1                     list the fragments about the claim c1
  tamis evidence rank c1 --cut auto --json | jq '.fragments[].id'
  tamis evidence rank c1 --link              and store them as neutral edges, to be judged

Exit status: 0 found some, 1 found none, 2 an error.")]
pub struct EvidenceRankArguments {
    #[command(flatten)]
    pub request: RankRequest,
    /// Print the answer as one JSON object
    #[arg(long)]
    pub json: bool,
    /// Search the index as it is, without looking for changed files
    #[arg(long)]
    pub no_refresh: bool,
}

/// Flags of `tamis evidence search`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis evidence search \"does folic acid prevent strokes\"
  tamis evidence search \"side effects\" --target fragments --task t1 --min-similarity 0.3
  tamis evidence search \"worms and soil\" --cut auto --json

Exit status: 0 found something, 1 found nothing, 2 an error.")]
pub struct EvidenceSearchArguments {
    /// Text to compare with
    #[arg(value_name = "TEXT", required = true)]
    pub words: Vec<String>,
    #[command(flatten)]
    pub request: VectorSearchRequest,
    /// Print the answer as one JSON object
    #[arg(long)]
    pub json: bool,
    /// Search the index as it is, without looking for changed files
    #[arg(long)]
    pub no_refresh: bool,
}
