//! Flags that choose the form of an answer.

use clap::Args;

/// The form of an answer.
#[derive(Debug, Args)]
pub struct OutputArguments {
    /// Explain the cut: candidates, curve, figures and timings
    #[arg(long, conflicts_with = "files", help_heading = "Output")]
    pub explain: bool,
    /// Print the answer as one JSON object
    #[arg(long, group = "form", help_heading = "Output")]
    pub json: bool,
    /// Print each result as one line of JSON
    #[arg(long, group = "form", help_heading = "Output", hide_short_help = true)]
    pub jsonl: bool,
    /// Print each result as PATH:LINE:COLUMN:TEXT, for editors
    #[arg(long, group = "form", conflicts_with = "explain", help_heading = "Output", hide_short_help = true)]
    pub vimgrep: bool,
    /// Print only the paths, best first
    #[arg(long, group = "form", help_heading = "Output")]
    pub files: bool,
}
