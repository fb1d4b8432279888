//! Flags of `tamis troubleshoot`.

use clap::builder::PossibleValuesParser;
use clap::{ArgGroup, Args};
use std::path::PathBuf;
use tamis::troubleshoot::TroubleshootRequest;

/// Flags of `tamis troubleshoot`.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("trouble").required(true).args(["title", "issue"]))]
#[command(after_help = "\
Examples:
  tamis troubleshoot --title \"Login fails after the update\" --body-file report.md
  git log -1 --format=%B | tamis troubleshoot --title \"Build fails\" --body-file -
  tamis troubleshoot --issue 123 --markdown > context.md
  tamis troubleshoot --title \"Crash at start\" --json | jq '.sources'

Exit status: 0 found something, 1 found nothing, 2 an error.")]
pub struct TroubleshootArguments {
    #[command(flatten)]
    pub request: TroubleshootRequest,
    /// Read the full description from a file; - is standard input
    #[arg(long, value_name = "FILE", requires = "title")]
    pub body_file: Option<PathBuf>,
    /// Keep solved issues by cut (the gate and cut of every search, above a low --threshold) or by floor (--threshold alone)
    /// [default: triage.troubleshooting.keep_by, cut]
    #[arg(long, value_name = "WHAT", value_parser = PossibleValuesParser::new(tamis::config::KeepBy::NAMES), hide_possible_values = true)]
    pub keep_by: Option<String>,
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
