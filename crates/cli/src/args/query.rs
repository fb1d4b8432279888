//! Flags that `tamis search` and `tamis recall` share.

use super::values::{context, limit};
use super::{CutGoalArguments, MetadataArguments, OutputArguments, scope::ScopeArguments};
use clap::Args;
use clap::builder::PossibleValuesParser;
use tamis::Mode;

/// A question, how it is searched, and the form of its answer.
#[derive(Debug, Args)]
pub struct QueryArguments {
    /// A question, or some words
    #[arg(required_unless_present_any = ["given", "after_dashes"], value_name = "QUERY")]
    pub query: Vec<String>,
    /// Words that are never options or paths
    #[arg(last = true, value_name = "WORDS", hide_short_help = true)]
    pub after_dashes: Vec<String>,
    /// Ask this; all other arguments are paths
    #[arg(short = 'e', long = "query", value_name = "QUERY", id = "given", hide_short_help = true)]
    pub given: Option<String>,

    /// Show at most N results, each a file, an issue or the like [default: 10, search.top_k]
    #[arg(short = 'n', long, value_name = "N", value_parser = limit, allow_negative_numbers = true)]
    pub limit: Option<usize>,
    /// Gather candidates by words, by meaning, or by both
    #[arg(long, value_name = "MODE", value_parser = PossibleValuesParser::new(Mode::NAMES), hide_short_help = true)]
    pub mode: Option<String>,
    /// Compare meaning with this model: auto, static, minilm, or one that a configuration file defines
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    pub model: Option<String>,
    /// Search the index as it is, without looking for changed files
    #[arg(long, hide_short_help = true)]
    pub no_refresh: bool,

    #[command(flatten)]
    pub scope: ScopeArguments,
    /// Search only these collections, such as code or docs; repeat or separate with commas
    #[arg(
        long = "collection",
        value_name = "NAME",
        value_delimiter = ',',
        help_heading = "Filters",
        hide_short_help = true
    )]
    pub collections: Vec<String>,
    #[command(flatten)]
    pub metadata: MetadataArguments,

    /// Choose where relevance ends (the methods are listed below), or off: list the first results
    #[arg(long, value_name = "METHOD[:PARAM=VALUE,…]", help_heading = "Cut", hide_short_help = true)]
    pub cut: Option<String>,
    #[command(flatten)]
    pub goal: CutGoalArguments,
    /// List the first results as they are ranked, without a cut or a gate; short for --cut off
    #[arg(
        long,
        conflicts_with_all = ["cut", "want", "strictness", "target_recall", "min_precision", "budget_tokens"],
        help_heading = "Cut",
        hide_short_help = true
    )]
    pub all: bool,
    /// Leave out the less likely results below the line
    #[arg(long, help_heading = "Cut", hide_short_help = true)]
    pub strict: bool,
    /// Keep the best even if nothing seems to be on topic
    #[arg(long, help_heading = "Cut", hide_short_help = true)]
    pub no_gate: bool,
    /// Answer without the reranker, whatever rerank.model says
    #[arg(long, help_heading = "Cut", hide_short_help = true)]
    pub fast: bool,

    #[command(flatten)]
    pub output: OutputArguments,
    /// Show N lines around the best line of each result, 0 to 500 [default: 6 lines in all]
    #[arg(long, value_name = "N", value_parser = context, allow_negative_numbers = true, help_heading = "Output", hide_short_help = true)]
    pub context: Option<usize>,
}
