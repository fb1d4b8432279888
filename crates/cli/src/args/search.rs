//! Flags of `tamis search`.

use super::values::{base_language, context, language, limit};
use super::{AimArguments, FormArguments, MetadataArguments, ScopeArguments, methods};
use clap::Args;
use clap::builder::PossibleValuesParser;
use tamis::Mode;

const EXAMPLES: &str = "\
Examples:
  tamis search \"where are retries handled\"
  tamis search parse config --lang rust,python --path 'src/**' --path '!*_test*'
  tamis search timeout --cut kneedle:sensitivity=2 --explain
  tamis search \"which model is the default\" --want one
  tamis search billing --cut auto --target-recall 0.9 --budget-tokens 4000
  tamis search retry policy lang:rust --kind function --variant 'code:fn retry('
  tamis search crash on startup --state resolved --label bug --since 'last year'
  tamis search timeout --json | jq '.results[].path'

A setting comes from, strongest first: a flag, the environment (TAMIS_SEARCH_CUT, …), the project's
.tamis/config.toml, your own config.toml, the default. `tamis config` shows them all.";

/// Flags of `tamis search`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{}", methods::help()))]
pub struct SearchArguments {
    /// The question, or some words; several are joined
    #[arg(required = true, value_name = "QUERY")]
    pub query: Vec<String>,

    /// The same need in other words, as intent:…, paths:… (files where it may be) or code:… (its shape); repeatable
    #[arg(long = "variant", value_name = "[KIND:]WORDS")]
    pub variants: Vec<String>,

    /// Where relevance ends: METHOD or METHOD:PARAM=VALUE,… (--help lists the methods)
    #[arg(long, value_name = "METHOD[:PARAM=VALUE,…]")]
    pub cut: Option<String>,
    /// Keep a promise instead of what the cut would keep, calibrated on judged queries: recall=0.9
    #[arg(long, value_name = "PROMISE")]
    pub guarantee: Option<String>,
    /// Show at most N results, 1 to 1000; never changes what is relevant [default: search.top_k, 10]
    #[arg(short = 'n', long, value_name = "N", value_parser = limit, allow_negative_numbers = true)]
    pub limit: Option<usize>,
    /// Words, meaning, or both
    #[arg(long, value_name = "MODE", value_parser = PossibleValuesParser::new(Mode::NAMES))]
    pub mode: Option<String>,
    /// Model of the semantic leg: auto, static, minilm, or one that a configuration file defines
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,

    /// Only these languages, by name or file extension; repeat or separate with commas
    #[arg(long = "lang", value_name = "LANG", value_delimiter = ',', value_parser = language, help_heading = "Filters")]
    pub languages: Vec<Vec<&'static str>>,
    /// Only these kinds of passage, such as function, method, type, section; repeat or separate with commas
    #[arg(long = "kind", value_name = "KIND", value_delimiter = ',', value_parser = PossibleValuesParser::new(tamis::text::Kind::NAMES), hide_possible_values = true, help_heading = "Filters")]
    pub kinds: Vec<String>,
    /// Only passages that play this role: main, test, example, vendored, changelog, license or generated; repeatable
    #[arg(long = "role", value_name = "ROLE", value_delimiter = ',', value_parser = PossibleValuesParser::new(tamis::text::Role::NAMES), hide_possible_values = true, help_heading = "Filters")]
    pub roles: Vec<String>,
    /// Only symbols of this name, whole or its last parts (Store::open, open), or with a prefix (open*); repeatable
    #[arg(long = "symbol", value_name = "NAME", help_heading = "Filters")]
    pub symbols: Vec<String>,
    #[command(flatten)]
    pub scope: ScopeArguments,
    /// Only these collections, such as code or docs; repeat or separate with commas
    #[arg(long = "collection", value_name = "NAME", value_delimiter = ',', help_heading = "Filters")]
    pub collections: Vec<String>,
    #[command(flatten)]
    pub metadata: MetadataArguments,

    /// Prefer this language, without leaving others out; lang:NAME in the query does the same
    #[arg(long, value_name = "LANG", value_parser = base_language, help_heading = "Ranking")]
    pub prefer_lang: Option<&'static str>,
    /// Prefer the language of this file, the one being looked at
    #[arg(long, value_name = "FILE", help_heading = "Ranking")]
    pub from: Option<String>,
    /// Whether older passages come later: auto, on or off [default: rank.recency, auto: with the cut max_gap]
    #[arg(long, value_name = "WHEN", value_parser = PossibleValuesParser::new(["auto", "on", "off"]), hide_possible_values = true, help_heading = "Ranking")]
    pub recency: Option<String>,

    #[command(flatten)]
    pub form: FormArguments,
    /// Show N lines around the best line of each result, 0 to 500 [default: search.snippet_lines lines in all, 6]
    #[arg(long, value_name = "N", value_parser = context, allow_negative_numbers = true, help_heading = "Output")]
    pub context: Option<usize>,

    /// Search the index as it is, without looking for changed files
    #[arg(long)]
    pub no_refresh: bool,

    // Last, since its heading is also that of what follows.
    #[command(flatten)]
    pub aim: AimArguments,
}
