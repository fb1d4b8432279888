//! Flags that `tamis search` and `tamis recall` share.

use super::OutputArguments;
use clap::Args;

/// The words of a question, how it is searched, and the form of its answer.
#[derive(Debug, Args)]
pub struct QueryArguments {
    /// A question, or some words
    #[arg(required_unless_present_any = ["given", "after_dashes"], value_name = "QUERY", hide_short_help = true)]
    pub words: Vec<String>,
    /// Words that are never options or paths
    #[arg(last = true, value_name = "WORDS", hide_short_help = true)]
    pub after_dashes: Vec<String>,
    /// Ask this; all other arguments are paths
    #[arg(
        short = 'e',
        long = "query",
        value_name = "QUERY",
        id = "given",
        allow_hyphen_values = true,
        hide_short_help = true
    )]
    pub given: Option<String>,

    /// Compare meaning with this model: auto, static, minilm, or one that a configuration file defines
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    pub model: Option<String>,
    /// Search the index as it is, without looking for changed files
    #[arg(long, hide_short_help = true)]
    pub no_refresh: bool,

    #[command(flatten)]
    pub output: OutputArguments,
}
