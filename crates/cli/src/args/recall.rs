//! Flags of `tamis recall`.

use super::values::{context, limit};
use super::{AimArguments, FormArguments, MetadataArguments, ScopeArguments, methods};
use clap::Args;
use clap::builder::PossibleValuesParser;
use tamis::Mode;

const EXAMPLES: &str = "\
Examples:
  tamis recall \"what did we decide about backups\"
  tamis recall \"who called about the invoice\" --since monday
  tamis recall deploy window --topic releases --explain
  tamis recall \"why did we move the job\" --collection sessions --context 3

Notes and conversations are searched with the settings of [memory]: older ones count less, what repeats another comes later,
and the best value says how far below it relevance ends. `tamis remember` adds a note.";

/// Flags of `tamis recall`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{}", methods::help()))]
pub struct RecallArguments {
    /// The question, or some words; several are joined
    #[arg(required = true, value_name = "QUERY")]
    pub query: Vec<String>,

    /// Where relevance ends: METHOD or METHOD:PARAM=VALUE,…; off: nowhere [default: memory.cut, top_score]
    #[arg(long, value_name = "METHOD[:PARAM=VALUE,…]")]
    pub cut: Option<String>,
    /// Show at most N results, 1 to 1000; never changes what is relevant [default: search.top_k, 10]
    #[arg(short = 'n', long, value_name = "N", value_parser = limit, allow_negative_numbers = true)]
    pub limit: Option<usize>,
    /// Words, meaning, or both
    #[arg(long, value_name = "MODE", value_parser = PossibleValuesParser::new(Mode::NAMES))]
    pub mode: Option<String>,
    /// Model of the semantic leg: auto, static, minilm, or one that a configuration file defines
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,

    #[command(flatten)]
    pub scope: ScopeArguments,
    /// Only these collections [default: memory.collections, notes and sessions]; repeat or separate with commas
    #[arg(long = "collection", value_name = "NAME", value_delimiter = ',', help_heading = "Filters")]
    pub collections: Vec<String>,
    #[command(flatten)]
    pub metadata: MetadataArguments,

    #[command(flatten)]
    pub form: FormArguments,
    /// Show N lines around the best line of each note, and N turns around that of each conversation, 0 to 500
    #[arg(long, value_name = "N", value_parser = context, allow_negative_numbers = true, help_heading = "Output")]
    pub context: Option<usize>,

    /// Search the index as it is, without looking for changed files
    #[arg(long)]
    pub no_refresh: bool,

    // Last, since its heading is also that of what follows.
    #[command(flatten)]
    pub aim: AimArguments,
}
