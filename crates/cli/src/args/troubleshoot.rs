//! Flags of `tamis troubleshoot`.

use clap::builder::PossibleValuesParser;
use clap::{ArgGroup, Args};
use std::path::PathBuf;

/// Flags of `tamis troubleshoot`.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("trouble").required(true).args(["title", "issue"]))]
#[command(after_help = "\
Examples:
  tamis troubleshoot --title \"Login fails after the update\" --body-file report.md
  git log -1 --format=%B | tamis troubleshoot --title \"Build is broken\" --body-file -
  tamis troubleshoot --issue 123 --markdown > context.md
  tamis troubleshoot --title \"Crash at start\" --threshold 0.5 --json | jq '.sources'

Exit status: 0 something like it was solved before, 1 nothing is known, 2 an error.")]
pub struct TroubleshootArguments {
    /// The trouble in a line
    #[arg(long, value_name = "TITLE")]
    pub title: Option<String>,
    /// All that is known of it
    #[arg(long, value_name = "TEXT", requires = "title", conflicts_with = "body_file")]
    pub body: Option<String>,
    /// All that is known of it, from a file; - is standard input
    #[arg(long, value_name = "FILE", requires = "title")]
    pub body_file: Option<PathBuf>,
    /// The trouble of an issue of the index, which itself is no answer
    #[arg(long, value_name = "N")]
    pub issue: Option<u64>,

    /// What a solved issue must stand up to: similarity, the floor of --threshold; cut, the gate and the cut of every search
    /// [default: triage.troubleshooting.keep_by, similarity]
    #[arg(long, value_name = "WHAT", value_parser = PossibleValuesParser::new(tamis::config::KeepBy::NAMES), hide_possible_values = true)]
    pub keep_by: Option<String>,
    /// Least similarity of a solved issue, 0 to 1 [default: triage.troubleshooting.similarity_threshold, 0.65]
    #[arg(long, value_name = "SIMILARITY", allow_negative_numbers = true)]
    pub threshold: Option<String>,
    /// Most solved issues, 1 to 10 [default: triage.troubleshooting.max_results, 3]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub max_results: Option<String>,
    /// Characters that their threads share, 1000 to 50000 [default: triage.troubleshooting.total_budget_chars, 12000]
    #[arg(long, value_name = "CHARACTERS", allow_negative_numbers = true)]
    pub budget: Option<String>,
    /// The namespace to search first, in an index that holds several
    #[arg(long, value_name = "NAME")]
    pub namespace: Option<String>,

    /// Print the answer as one JSON object
    #[arg(long, group = "form")]
    pub json: bool,
    /// Print the answer in Markdown, for a prompt or a comment
    #[arg(long, group = "form")]
    pub markdown: bool,
    /// Search the index as it is, without looking for changed files
    #[arg(long)]
    pub no_refresh: bool,
}
