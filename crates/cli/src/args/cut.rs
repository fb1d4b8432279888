//! Flags of `tamis cut`.

use super::values::{at_least_one, cut, finite, share};
use super::{AimArguments, methods};
use clap::Args;
use std::path::PathBuf;
use tamis::cut::Rule;

const EXAMPLES: &str = "\
Examples:
  curl … | jq -c '.hits.hits[]' | tamis cut --score _score
  my-vector-search \"query\" | tamis cut --score distance --method max_gap
  jq -c '.data.Get.Page[]' answer.json | tamis cut --score _additional.distance --method autocut:jumps=2
  tamis cut --method auto --background-sample random.csv --want all < hybrid.csv

Reads JSON Lines, or CSV or TSV with a header, or one score a line, and writes the relevant lines as they came. Lines
with a score come best first; lines without one have their similarity and bm25 made into one and are put in that order.
Nothing is written when any line is malformed.
Exit status: 0 some lines are kept, 1 none is, 2 an error.";

/// Flags of `tamis cut`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{}", methods::help()))]
pub struct CutArguments {
    /// Where relevance ends (--help lists the methods)
    #[arg(short, long, value_name = "METHOD[:PARAM=VALUE,…]", default_value = "background", value_parser = cut)]
    pub method: Box<dyn Rule>,
    /// Field that holds the score, dots leading into objects; higher is better, but for a field called distance
    /// [default: score, or else similarity and bm25]
    #[arg(short, long, value_name = "distance|similarity|NAME")]
    pub score: Option<String>,
    /// A lower score is better, whatever the field is called
    #[arg(long)]
    pub lower_is_better: bool,
    /// Share of the similarity where it is fused with bm25, 0 to 1; methods that are defined on another scale have their own
    #[arg(long, value_name = "SHARE", default_value = "0.5", value_parser = share, allow_negative_numbers = true)]
    pub fusion_weight: f64,
    /// Write at most N lines, whatever the cut keeps
    #[arg(short = 'n', long, value_name = "N", value_parser = at_least_one, allow_negative_numbers = true)]
    pub limit: Option<usize>,
    /// Sort the lines best first; without it, lines in another order are an error
    #[arg(long)]
    pub sort: bool,

    /// Mean score of results that have nothing to do with the query
    #[arg(long, value_name = "MEAN", value_parser = finite, allow_negative_numbers = true, help_heading = "Background")]
    pub background: Option<f64>,
    /// File with the scores of passages drawn at random, in the form of the input, to make the background from
    #[arg(long, value_name = "FILE", conflicts_with = "background", help_heading = "Background")]
    pub background_sample: Option<PathBuf>,
    /// With the method auto, do not ask first whether anything stands out at all
    #[arg(long, help_heading = "Background")]
    pub no_gate: bool,

    #[command(flatten)]
    pub aim: AimArguments,

    /// Print the cut as one JSON object instead of the lines: how many, why, and the lines' numbers in order
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Also print the method's own figures, on standard error
    #[arg(long, help_heading = "Output")]
    pub explain: bool,
}
