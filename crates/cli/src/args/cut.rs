//! Flags of `tamis cut`.

use super::methods;
use super::values::{at_least_one, cut, finite};
use clap::Args;
use tamis::cut::Rule;

const EXAMPLES: &str = "\
Examples:
  curl … | jq -c '.hits.hits[]' | tamis cut --score _score
  my-vector-search \"query\" | tamis cut --score distance --method max_gap
  jq -c '.data.Get.Page[]' answer.json | tamis cut --score _additional.distance --method autocut:jumps=2

Reads JSON Lines, best first, and writes the relevant lines as they came. Nothing is written when any line is malformed.
Exit status: 0 some lines are kept, 1 none is, 2 an error.";

/// Flags of `tamis cut`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{}", methods::help()))]
pub struct CutArguments {
    /// Where relevance ends (--help lists the methods)
    #[arg(short, long, value_name = "METHOD[:PARAM=VALUE,…]", default_value = "background", value_parser = cut)]
    pub method: Box<dyn Rule>,
    /// Field that holds the score, dots leading into objects; higher is better, but for a field called distance
    #[arg(short, long, value_name = "distance|similarity|NAME", default_value = "score")]
    pub score: String,
    /// A lower score is better, whatever the field is called
    #[arg(long)]
    pub lower_is_better: bool,
    /// Mean score of results that have nothing to do with the query, for methods that ask
    #[arg(long, value_name = "MEAN", value_parser = finite, allow_negative_numbers = true)]
    pub background: Option<f64>,
    /// Write at most N lines, whatever the cut keeps
    #[arg(short = 'n', long, value_name = "N", value_parser = at_least_one, allow_negative_numbers = true)]
    pub limit: Option<usize>,
    /// Sort the lines best first; without it, lines in another order are an error
    #[arg(long)]
    pub sort: bool,
    /// Also print the method's own figures, on standard error
    #[arg(long)]
    pub explain: bool,
}
