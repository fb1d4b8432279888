//! Flags of `tamis evidence rank` and `tamis evidence search`.

use super::values::{at_least_one, share};
use clap::Args;
use clap::builder::PossibleValuesParser;
use tamis::evidence::EvidenceTarget;

/// Flags of `tamis evidence rank`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis evidence rank c1                     fragments that have to do with the claim c1
  tamis evidence rank c1 --cut auto --json | jq '.fragments[].id'
  tamis evidence rank c1 --link              the same, stored as neutral edges for somebody to judge

Exit status: 0 there are some, 1 there are none, 2 an error.")]
pub struct EvidenceRankArguments {
    /// The claim's name
    #[arg(value_name = "CLAIM")]
    pub claim: String,
    /// Only fragments with an edge to a claim of this task; repeat or separate with commas
    #[arg(long = "task", value_name = "ID", value_delimiter = ',')]
    pub tasks: Vec<String>,
    /// Where the fragments end: METHOD or METHOD:PARAM=VALUE,… [default: evidence.cut, kneedle]
    #[arg(long, value_name = "CUT")]
    pub cut: Option<String>,
    /// Most fragments given; never changes which ones have to do with the claim [default: all]
    #[arg(short = 'n', long, value_name = "N", value_parser = at_least_one, allow_negative_numbers = true)]
    pub limit: Option<usize>,
    /// Store a neutral edge for each fragment given that the graph has nothing of yet
    #[arg(long)]
    pub link: bool,
    /// Whose evidence, in an index that holds several namespaces
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

Exit status: 0 something is like it, 1 nothing is, 2 an error.")]
pub struct EvidenceSearchArguments {
    /// The text that claims or fragments are compared with
    #[arg(value_name = "TEXT", required = true)]
    pub query: Vec<String>,
    /// What is compared with it
    #[arg(long, value_name = "WHAT", default_value = "claims", value_parser = PossibleValuesParser::new(EvidenceTarget::NAMES))]
    pub target: String,
    /// Only claims of this task, or fragments with an edge to one of them
    #[arg(long, value_name = "ID")]
    pub task: Option<String>,
    /// Most matches, 1 to 50; never changes what is like the text [default: evidence.top_k, 10]
    #[arg(short = 'n', long, value_name = "N", allow_negative_numbers = true)]
    pub top_k: Option<String>,
    /// Least similarity, 0 to 1 [default: evidence.min_similarity, 0.5]
    #[arg(long, value_name = "SIMILARITY", value_parser = share, conflicts_with = "cut", allow_negative_numbers = true)]
    pub min_similarity: Option<f64>,
    /// Where the matches end, in place of a least similarity: METHOD or METHOD:PARAM=VALUE,…
    #[arg(long, value_name = "CUT")]
    pub cut: Option<String>,
    /// Whose evidence, in an index that holds several namespaces
    #[arg(long, value_name = "NAME")]
    pub namespace: Option<String>,
    /// Print the answer as one JSON object
    #[arg(long)]
    pub json: bool,
    /// Search the index as it is, without looking for changed files
    #[arg(long)]
    pub no_refresh: bool,
}
