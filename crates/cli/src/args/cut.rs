//! Flags of `tamis cut`.

use super::methods;
use super::values::{at_least_one, cut};
use clap::Args;
use std::path::PathBuf;
use tamis::flags::{finite, share};
use tamis::search::CutGoal;
use tamis_cut::Rule;

const EXAMPLES: &str = "\
Examples:
  curl … | jq -c '.hits.hits[]' | tamis cut --score _score
  my-vector-search \"query\" | tamis cut --score distance --method max_gap
  jq -c '.data.Get.Page[]' answer.json | tamis cut --score _additional.distance
  tamis cut --background-sample random.csv --want all < hybrid.csv

The input is JSON Lines, a JSON array, CSV or TSV with a header, or one score a line; the relevant lines come out unchanged. Lines with \
a score must come best first. Lines without one are ordered by their similarity and bm25, fused. A malformed line stops \
everything, and nothing is written.
Exit status: 0 kept some lines, 1 kept none, 2 an error.";

/// Flags of `tamis cut`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{}", methods::help()))]
pub struct CutArguments {
    /// Choose where relevance ends (--help lists the methods)
    #[arg(short, long, value_name = "METHOD[:PARAM=VALUE,…]", default_value = "auto", value_parser = cut)]
    pub method: Box<dyn Rule>,
    /// Read the score from this field, with dots leading into objects; higher is better, except in a field called distance
    /// [default: score, else similarity and bm25]
    #[arg(short, long, value_name = "distance|similarity|NAME")]
    pub score: Option<String>,
    /// Treat a lower score as better, whatever the field is called
    #[arg(long)]
    pub lower_is_better: bool,
    /// Give similarity this share when it is fused with bm25, 0 to 1; methods on another scale have their own
    #[arg(long, value_name = "SHARE", default_value_t = tamis::lists::FUSION_WEIGHT, value_parser = share, allow_negative_numbers = true)]
    pub fusion_weight: f64,
    /// Write at most N lines; never changes what the cut keeps
    #[arg(short = 'n', long, value_name = "N", value_parser = at_least_one, allow_negative_numbers = true)]
    pub limit: Option<usize>,
    /// Sort the lines best first; without it, another order is an error
    #[arg(long)]
    pub sort: bool,

    /// Take this as the mean score of irrelevant results
    #[arg(long, value_name = "MEAN", value_parser = finite, allow_negative_numbers = true, help_heading = "Background")]
    pub background: Option<f64>,
    /// Read the scores of passages drawn at random from this file, in the form of the input
    #[arg(long, value_name = "FILE", conflicts_with = "background", help_heading = "Background")]
    pub background_sample: Option<PathBuf>,
    /// Skip the check of the method auto that anything stands out at all
    #[arg(long, help_heading = "Background")]
    pub no_gate: bool,

    #[command(flatten)]
    pub goal: CutGoal,

    /// Print the cut as one JSON object in place of the lines: how many, why, and the line numbers in order
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Print the method's own figures too, on standard error
    #[arg(long, help_heading = "Output")]
    pub explain: bool,
}
