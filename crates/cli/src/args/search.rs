//! Flags of `tamis search` and `tamis recall`.

use super::values::{base_language, language};
use super::{QueryArguments, methods};
use clap::Args;
use clap::builder::PossibleValuesParser;

const SEARCH_EXAMPLES: &str = "\
Examples:
  tamis search \"where are retries handled\"
  tamis search parse config --lang rust,python --path '!*_test*' --explain";

const MORE_SEARCH_EXAMPLES: &str = "  tamis search '\"connection reset\" path:src/** -test'
  tamis search timeout --cut kneedle:sensitivity=2 --explain
  tamis search \"which model is the default\" --want one
  tamis search billing --cut auto --target-recall 0.9 --budget-tokens 4000
  tamis search retry policy lang:rust --kind function --variant 'code:fn retry('
  tamis search crash on startup --state resolved --label bug --since 'last year'
  tamis search timeout --json | jq '.results[].path'
  tamis search retry --passages --limit 3

In a query, path:GLOB, symbol:NAME and kind:KIND are filters and lang:NAME is a preference; -word and
-\"some phrase\" leave out passages that hold it, and of a \"phrase\" in quotes only passages that hold it
remain, if any do. Anything else is a word to search for, and so is an option that the index has, as in
java -jar.

A setting comes from, strongest first: a flag, the environment (TAMIS_SEARCH_CUT, …), the project's
.tamis/config.toml, your own config.toml, the default. `tamis config` shows them all.";

/// Flags of `tamis search`.
#[derive(Debug, Args)]
#[command(
    after_help = SEARCH_EXAMPLES,
    after_long_help = format!("{SEARCH_EXAMPLES}\n{MORE_SEARCH_EXAMPLES}\n\n{}", methods::help())
)]
pub struct SearchArguments {
    #[command(flatten)]
    pub common: QueryArguments,

    /// Search only these languages, by name or file extension
    #[arg(long = "lang", value_name = "LANG", value_delimiter = ',', value_parser = language, help_heading = "Filters")]
    pub languages: Vec<Vec<&'static str>>,
    /// Search only these kinds of passage, such as function, method, type, section; repeat or separate with commas
    #[arg(long = "kind", value_name = "KIND", value_delimiter = ',', value_parser = PossibleValuesParser::new(tamis::text::Kind::NAMES), hide_possible_values = true, help_heading = "Filters", hide_short_help = true)]
    pub kinds: Vec<String>,
    /// Search only passages of this role: main, test, example, vendored, changelog, license or generated; repeatable
    #[arg(long = "role", value_name = "ROLE", value_delimiter = ',', value_parser = PossibleValuesParser::new(tamis::text::Role::NAMES), hide_possible_values = true, help_heading = "Filters", hide_short_help = true)]
    pub roles: Vec<String>,
    /// Search only symbols of this name: whole (Store::open), its last part (open), or a prefix (op*); repeatable
    #[arg(long = "symbol", value_name = "NAME", help_heading = "Filters", hide_short_help = true)]
    pub symbols: Vec<String>,

    /// Show every relevant passage by itself, not under the file, issue or session that it belongs to
    #[arg(long, help_heading = "Output", hide_short_help = true)]
    pub passages: bool,

    /// Keep this promise, calibrated on judged queries, in place of the cut's own choice: recall=0.9
    #[arg(long, value_name = "PROMISE", conflicts_with = "all", help_heading = "Cut", hide_short_help = true)]
    pub guarantee: Option<String>,

    /// Ask the same in other words too: intent:…, paths:… (likely files) or code:… (its shape); repeatable
    #[arg(long = "variant", value_name = "[KIND:]WORDS", help_heading = "Ranking", hide_short_help = true)]
    pub variants: Vec<String>,
    /// Rank this language higher without leaving others out; lang:NAME in the query does the same
    #[arg(long, value_name = "LANG", value_parser = base_language, help_heading = "Ranking", hide_short_help = true)]
    pub prefer_lang: Option<&'static str>,
    /// Rank the language of this file higher, such as the one you are editing
    #[arg(long, value_name = "FILE", help_heading = "Ranking", hide_short_help = true)]
    pub from: Option<String>,
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

The settings of [memory] apply: older notes count less, repetitions come later, and the cut is top_score unless --cut or
memory.cut says otherwise. `tamis remember` adds a note.";

/// Flags of `tamis recall`.
#[derive(Debug, Args)]
#[command(
    after_help = RECALL_EXAMPLES,
    after_long_help = format!("{RECALL_EXAMPLES}\n{MORE_RECALL_EXAMPLES}\n\n{}", methods::help()),
    mut_arg("collections", |flag| {
        flag.help("Search only these collections; repeat or separate with commas [default: memory.collections, notes and sessions]")
    }),
    mut_arg("context", |flag| {
        flag.help("Show N lines around the best line of each note, and N turns around that of each conversation, 0 to 500")
    }),
    mut_arg("cut", |flag| {
        flag.help("Choose where relevance ends (the methods are listed below); off keeps everything [default: memory.cut, top_score]")
    })
)]
pub struct RecallArguments {
    #[command(flatten)]
    pub common: QueryArguments,
}
