//! Flags of `tamis evidence views` and `tamis evidence view`.

use super::sql::RowArguments;
use super::values::{milliseconds, rows};
use clap::Args;
use jiff::Timestamp;
use tamis::flags::moment;

/// Flags of `tamis evidence views`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  tamis evidence views

A file NAME.sql.j2 in the directory `views` of your configuration directory adds a view of your own (on Linux
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
    /// Name of the view, as `tamis evidence views` lists it
    #[arg(value_name = "NAME")]
    pub view: String,
    /// Show only this task (the view's parameter task_id)
    #[arg(long, value_name = "ID")]
    pub task: Option<String>,
    /// Set a parameter of the view; repeatable
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = parameter)]
    pub parameters: Vec<(String, String)>,
    /// Count years up to this time, in views that count them [default: now]
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub now: Option<Timestamp>,
    /// Query the evidence of this namespace, in an index of several
    #[arg(long, value_name = "NAME")]
    pub namespace: Option<String>,
    /// Show at most N rows, 1 to 200
    #[arg(short = 'n', long, value_name = "N", default_value = "50", value_parser = rows, allow_negative_numbers = true)]
    pub limit: usize,
    /// Stop after this many milliseconds, 1 to 2000
    #[arg(long, value_name = "MS", default_value = "300", value_parser = milliseconds, allow_negative_numbers = true)]
    pub timeout: u64,
    /// The form of the rows.
    #[command(flatten)]
    pub output: RowArguments,
}

fn parameter(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').filter(|(name, _)| !name.is_empty()).ok_or("must be NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}
