//! Flags of `tamis views` and `tamis view`.

use super::sql::RowsForm;
use super::values::{milliseconds, moment, rows};
use clap::Args;
use jiff::Timestamp;

/// Flags of `tamis views`.
#[derive(Debug, Args)]
#[command(after_help = "\
Your own views are files NAME.sql.j2 in the directory views of your configuration directory (on Linux
~/.config/tamis/views; see `tamis config --help`).")]
pub struct ViewsArguments {
    /// Print the views as one JSON array, with their columns
    #[arg(long)]
    pub json: bool,
}

/// Flags of `tamis view`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis view v_contradictions
  tamis view v_evidence_chain --task t1 --param relation=refutes
  tamis view v_outdated_evidence --param min_years=3 --csv > outdated.csv

Exit status: 0 there are rows, 1 there are none, 2 an error.")]
pub struct ViewArguments {
    /// The view's name, as `tamis views` lists it
    #[arg(value_name = "NAME")]
    pub view: String,
    /// Only what has to do with this task; the view's parameter task_id
    #[arg(long, value_name = "ID")]
    pub task: Option<String>,
    /// A value for a parameter of the view; repeatable
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = parameter)]
    pub parameters: Vec<(String, String)>,
    /// The time that counts as now, for views that count years [default: now]
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub now: Option<Timestamp>,
    /// Whose evidence, in an index that holds several namespaces
    #[arg(long, value_name = "NAME")]
    pub namespace: Option<String>,
    /// Most rows, 1 to 200
    #[arg(short = 'n', long, value_name = "N", default_value = "50", value_parser = rows, allow_negative_numbers = true)]
    pub limit: usize,
    /// How long it may take, 1 to 2000 milliseconds
    #[arg(long, value_name = "MS", default_value = "300", value_parser = milliseconds, allow_negative_numbers = true)]
    pub timeout: u64,
    /// How the rows are printed.
    #[command(flatten)]
    pub form: RowsForm,
}

fn parameter(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').filter(|(name, _)| !name.is_empty()).ok_or("must be NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}
