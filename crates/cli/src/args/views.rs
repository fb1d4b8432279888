//! Flags of `tamis evidence views` and `tamis evidence view`.

use super::sql::RowArguments;
use clap::Args;
use tamis::evidence::ViewRequest;

/// Flags of `tamis evidence views`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  tamis evidence views

A file NAME.sql.j2 in the directory `views` of your configuration directory adds a view of your own (on Linux \
~/.config/tamis/views; see `tamis config --help`).")]
pub struct ViewsArguments {
    /// Print the views as one JSON array, with their columns
    #[arg(long)]
    pub json: bool,
}

/// Flags of `tamis evidence view`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis evidence view v_contradictions
  tamis evidence view v_evidence_chain --task t1 --param relation=refutes
  tamis evidence view v_outdated_evidence --param min_years=3 --csv > outdated.csv

Exit status: 0 found rows, 1 found none, 2 an error.")]
pub struct ViewArguments {
    #[command(flatten)]
    pub request: ViewRequest,
    /// The form of the rows.
    #[command(flatten)]
    pub output: RowArguments,
}
