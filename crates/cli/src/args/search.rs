//! Flags of `tamis search` and `tamis recall`.

use super::{QueryArguments, methods};
use clap::Args;
use clap::builder::PossibleValuesParser;
use tamis::search::{QueryParameters, SearchParameters};

const SEARCH_EXAMPLES: &str = "\
Examples:
  tamis search \"where are retries handled\"";

const MORE_SEARCH_EXAMPLES: &str = "  tamis search parse config --lang rust,python --path '!*_test*' --explain
  tamis search '\"connection reset\" path:src/** -test'
  tamis search timeout --cut kneedle:sensitivity=2 --explain
  tamis search \"which model is the default\" --want one
  tamis search billing --cut auto --target-recall 0.9 --budget-tokens 4000
  tamis search retry policy lang:rust --kind function --variant 'code:fn retry('
  tamis search crash on startup --state resolved --label bug --since 'last year'
  tamis search timeout --json | jq '.results[].path'
  tamis search retry --passages --limit 3

In a query, path:GLOB, symbol:NAME and kind:KIND are filters and lang:NAME is a preference; -word and \
-\"some phrase\" leave out passages that hold it, and of a \"phrase\" in quotes only passages that hold it \
remain, if any do. Anything else is a word to search for, and so is an option that the index has, as in \
java -jar.

A setting comes from, strongest first: a flag, the environment (TAMIS_SEARCH_CUT, …), the project's \
.tamis/config.toml, your own config.toml, the default. `tamis config` shows them all.";

/// Flags of `tamis search`.
#[derive(Debug, Args)]
#[command(
    after_help = SEARCH_EXAMPLES,
    after_long_help = format!("{SEARCH_EXAMPLES}\n{MORE_SEARCH_EXAMPLES}\n\n{}", methods::names())
)]
pub struct SearchArguments {
    #[command(flatten)]
    pub query: QueryArguments,
    #[command(flatten)]
    pub parameters: SearchParameters,

    /// Rank older passages lower: auto, on or off [default: rank.recency, auto: with the cut max_gap]
    #[arg(long, value_name = "WHEN", value_parser = PossibleValuesParser::new(["auto", "on", "off"]), hide_possible_values = true, help_heading = "Ranking", hide_short_help = true)]
    pub recency: Option<String>,
}

const RECALL_EXAMPLES: &str = "\
Examples:
  tamis recall \"what did we decide about backups\"
  tamis recall \"who called about the invoice\" --since monday";

const MORE_RECALL_EXAMPLES: &str = "  tamis recall deploy window --topic releases --explain
  tamis recall \"why did we move the job\" --collection sessions --context 3

The settings of [memory] apply. Of memories that say the same, the newest comes first and repetitions last; with
memory.decay_half_life_days, older ones count less. `tamis remember` adds a note.";

/// Flags of `tamis recall`.
#[derive(Debug, Args)]
#[command(
    after_help = RECALL_EXAMPLES,
    after_long_help = format!("{RECALL_EXAMPLES}\n{MORE_RECALL_EXAMPLES}\n\n{}", methods::names()),
    mut_arg("collections", |flag| {
        flag.help("Search only these collections; repeat or separate with commas [default: memory.collections, notes and sessions]")
    }),
    mut_arg("context", |flag| {
        flag.help("Show N lines around the best line of each note, and N turns around that of each conversation, 0 to 500")
    }),
    mut_arg("cut", |flag| {
        flag.help("Choose where relevance ends (the methods are named below); off keeps everything [default: memory.cut, auto]")
    })
)]
pub struct RecallArguments {
    #[command(flatten)]
    pub query: QueryArguments,
    #[command(flatten)]
    pub parameters: QueryParameters,
}
