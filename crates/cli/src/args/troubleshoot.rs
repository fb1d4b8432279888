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

Exit status: 0 found something, 1 found nothing, 2 an error.")]
pub struct TroubleshootArguments {
    /// Describe the problem in one line
    #[arg(long, value_name = "TITLE")]
    pub title: Option<String>,
    /// Describe the problem in full
    #[arg(long, value_name = "TEXT", requires = "title", conflicts_with = "body_file")]
    pub body: Option<String>,
    /// Read the full description from a file; - is standard input
    #[arg(long, value_name = "FILE", requires = "title")]
    pub body_file: Option<PathBuf>,
    /// Take the problem from an issue in the index; the issue itself is left out of the answer
    #[arg(long, value_name = "N")]
    pub issue: Option<u64>,

    /// Keep solved issues by cut (the gate and cut of every search, above a low --threshold) or by floor (--threshold alone)
    /// [default: triage.troubleshooting.keep_by, cut]
    #[arg(long, value_name = "WHAT", value_parser = PossibleValuesParser::new(tamis::config::KeepBy::NAMES), hide_possible_values = true)]
    pub keep_by: Option<String>,
    /// Keep solved issues of at least this similarity, 0 to 1 [default: triage.troubleshooting.similarity_threshold, by the model; with floor 0.65]
    #[arg(long, value_name = "SIMILARITY", allow_negative_numbers = true)]
    pub threshold: Option<String>,
    /// Keep at most N solved issues, 1 to 10 [default: triage.troubleshooting.max_results, 3]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub max_results: Option<String>,
    /// Share this many characters among their threads, 1000 to 50000 [default: triage.troubleshooting.total_budget_chars, 12000]
    #[arg(long, value_name = "CHARACTERS", allow_negative_numbers = true)]
    pub budget: Option<String>,
    /// Search this namespace first, in an index of several
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
