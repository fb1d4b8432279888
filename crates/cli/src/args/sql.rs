//! Flags of `tamis evidence sql`, and those that views share with it.

use clap::Args;
use tamis::evidence::SqlRequest;

/// Flags of `tamis evidence sql`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis evidence sql --schema        list the tables and their columns
  tamis evidence sql \"SELECT relation, count(*) FROM edges GROUP BY relation\"
  tamis evidence sql \"SELECT id, text FROM claims WHERE task_id = :task\" --param task=t1
  tamis evidence sql - --csv < question.sql

A statement is one SELECT over the evidence of one namespace. It reads nothing else and changes nothing.
Exit status: 0 found rows, 1 found none, 2 an error.")]
pub struct SqlArguments {
    /// Statement; - reads it from standard input
    #[arg(value_name = "SQL", required_unless_present = "schema")]
    pub sql: Option<String>,
    #[command(flatten)]
    pub request: SqlRequest,
    /// The form of the rows.
    #[command(flatten)]
    pub output: RowArguments,
}

/// The form of rows.
#[derive(Debug, Args)]
pub struct RowArguments {
    /// Print the answer as one JSON object
    #[arg(long, group = "rows", help_heading = "Output")]
    pub json: bool,
    /// Print each row as one line of JSON
    #[arg(long, group = "rows", help_heading = "Output")]
    pub jsonl: bool,
    /// Print the rows as CSV, with a header
    #[arg(long, group = "rows", help_heading = "Output")]
    pub csv: bool,
}
