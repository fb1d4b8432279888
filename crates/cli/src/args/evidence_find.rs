//! Flags of `tamis evidence rank` and `tamis evidence search`.

use super::values::{at_least_one, matches, share};
use clap::Args;
use clap::builder::PossibleValuesParser;
use tamis::evidence::EvidenceTarget;

/// Flags of `tamis evidence rank`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis evidence rank c1                     list the fragments about the claim c1
  tamis evidence rank c1 --cut auto --json | jq '.fragments[].id'
  tamis evidence rank c1 --link              and store them as neutral edges, to be judged

Exit status: 0 found some, 1 found none, 2 an error.")]
pub struct EvidenceRankArguments {
    /// Name of the claim
    #[arg(value_name = "CLAIM")]
    pub claim: String,
    /// Rank only fragments with an edge to a claim of this task; repeat or separate with commas
    #[arg(long = "task", value_name = "ID", value_delimiter = ',')]
    pub tasks: Vec<String>,
    /// Choose where relevance ends: METHOD or METHOD:PARAM=VALUE,… [default: evidence.cut, auto]
    #[arg(long, value_name = "CUT")]
    pub cut: Option<String>,
    /// Show at most N fragments; never changes what is relevant [default: all]
    #[arg(short = 'n', long, value_name = "N", value_parser = at_least_one, allow_negative_numbers = true)]
    pub limit: Option<usize>,
    /// Store a neutral edge for each fragment shown that has no edge yet
    #[arg(long)]
    pub link: bool,
    /// Use the evidence of this namespace, in an index of several
    #[arg(long, value_name = "NAME")]
    pub namespace: Option<String>,
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
    pub query: Vec<String>,
    /// Compare claims, or fragments
    #[arg(long, value_name = "WHAT", default_value = "claims", value_parser = PossibleValuesParser::new(EvidenceTarget::NAMES))]
    pub target: String,
    /// Compare only claims of this task, or fragments with an edge to one of them
    #[arg(long, value_name = "ID")]
    pub task: Option<String>,
    /// Show at most N matches, 1 to 50; never changes what is relevant [default: 10]
    #[arg(short = 'n', long, value_name = "N", value_parser = matches, allow_negative_numbers = true)]
    pub top_k: Option<usize>,
    /// Keep matches of at least this similarity, 0 to 1 [default: 0.5]
    #[arg(long, value_name = "SIMILARITY", value_parser = share, conflicts_with = "cut", allow_negative_numbers = true)]
    pub min_similarity: Option<f64>,
    /// Choose where relevance ends, in place of a least similarity: METHOD or METHOD:PARAM=VALUE,…
    #[arg(long, value_name = "CUT")]
    pub cut: Option<String>,
    /// Use the evidence of this namespace, in an index of several
    #[arg(long, value_name = "NAME")]
    pub namespace: Option<String>,
    /// Print the answer as one JSON object
    #[arg(long)]
    pub json: bool,
    /// Search the index as it is, without looking for changed files
    #[arg(long)]
    pub no_refresh: bool,
}
