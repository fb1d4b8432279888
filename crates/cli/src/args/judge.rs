//! Flags of `tamis judge`.

use super::values::at_least_one;
use clap::Args;
use std::path::PathBuf;

/// Flags of `tamis judge`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis judge --queries questions.txt --dry-run     what would be sent, where to, and how much
  tamis judge --check judged/ --max-calls 300       how far the model agrees with people (Cohen's kappa)
  tamis judge --queries questions.txt               grade the best 10 candidates of each query
  tamis judge                                       grade past queries; needs telemetry.queries = \"on\"
  tamis judge --list
  tamis judge --remove

The model is the [models.NAME] that judge.model or --model names, at any OpenAI-compatible endpoint, local or remote. It
gives each passage a grade from 0 to 3 with its reason (UMBRELA, Upadhyay et al. 2024). Grades become judgements that the
cut learns from; what you judged yourself stands. A run that stops is continued by the next: nothing is graded twice.
Exit status: 0 done, 1 nothing to grade or list, 2 an error, 130 stopped by Ctrl-C.")]
pub struct JudgeArguments {
    /// Grade these queries, one a line or JSON Lines, in place of past ones
    #[arg(long, value_name = "FILE", conflicts_with_all = ["last", "check", "list", "remove"])]
    pub queries: Option<PathBuf>,
    /// Grade the last N different past queries
    #[arg(long, value_name = "N", default_value = "50", value_parser = at_least_one, allow_negative_numbers = true)]
    pub last: usize,
    /// Grade the best N candidates of each query (default: judge.depth, usually 10)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=100), conflicts_with = "check", allow_negative_numbers = true)]
    pub depth: Option<u8>,
    /// Count grades from N on as relevant, 1 to 3 (default: judge.relevant_from, usually 2)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=3), allow_negative_numbers = true)]
    pub relevant_from: Option<u8>,
    /// Model that grades: the name of a [models.NAME] (default: judge.model)
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// Stop after N calls of the model
    #[arg(long, value_name = "N", default_value = "200", allow_negative_numbers = true)]
    pub max_calls: u64,
    /// Stop before N tokens are exceeded, prompts and replies together
    #[arg(long, value_name = "N", default_value = "500000", allow_negative_numbers = true)]
    pub max_tokens: u64,
    /// Ask again where an earlier reply could not be used
    #[arg(long)]
    pub retry_failed: bool,
    /// Show what would be sent, and send nothing
    #[arg(long, conflicts_with_all = ["list", "remove"])]
    pub dry_run: bool,
    /// Grade what people judged in a directory in BEIR's layout, and report the agreement
    #[arg(long, value_name = "DIR", conflicts_with_all = ["list", "remove"], help_heading = "Other actions")]
    pub check: Option<PathBuf>,
    /// List the judgements made from grades, the latest first
    #[arg(long, conflicts_with = "remove", help_heading = "Other actions")]
    pub list: bool,
    /// Delete all grades, or those of --model, with the judgements made from them
    #[arg(long, help_heading = "Other actions")]
    pub remove: bool,
    /// With --check, read the judgements in qrels/NAME.tsv
    #[arg(long, value_name = "NAME", default_value = "test", requires = "check")]
    pub split: String,
    /// With --list, show at most N judgements
    #[arg(short = 'n', long, value_name = "N", default_value = "50", value_parser = at_least_one, requires = "list", allow_negative_numbers = true)]
    pub limit: usize,
    /// Print everything as JSON
    #[arg(long)]
    pub json: bool,
}
