//! Flags of `tamis sql`, and those that views share with it.

use super::values::{milliseconds, rows};
use clap::Args;
use tamis::evidence::SqlValue;

/// Flags of `tamis sql`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis sql --schema                            the tables and their columns
  tamis sql \"SELECT relation, count(*) FROM edges GROUP BY relation\"
  tamis sql \"SELECT id, text FROM claims WHERE task_id = :task\" --param task=t1
  tamis sql - --csv < question.sql

One SELECT over the evidence of one namespace; it sees nothing else and changes nothing.
Exit status: 0 there are rows, 1 there are none, 2 an error.")]
pub struct SqlArguments {
    /// The statement; - reads it from standard input
    #[arg(value_name = "SQL", required_unless_present = "schema")]
    pub sql: Option<String>,
    /// A value for a parameter of the statement, :NAME in it; a number where it is one, else a text; repeatable
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = parameter)]
    pub parameters: Vec<(String, SqlValue)>,
    /// Whose evidence, in an index that holds several namespaces
    #[arg(long, value_name = "NAME")]
    pub namespace: Option<String>,
    /// Most rows, 1 to 200
    #[arg(short = 'n', long, value_name = "N", default_value = "50", value_parser = rows, allow_negative_numbers = true)]
    pub limit: usize,
    /// How long it may take, 1 to 2000 milliseconds
    #[arg(long, value_name = "MS", default_value = "300", value_parser = milliseconds, allow_negative_numbers = true)]
    pub timeout: u64,
    /// Print the tables that there are, with their columns
    #[arg(long)]
    pub schema: bool,
    /// How the rows are printed.
    #[command(flatten)]
    pub form: RowsForm,
}

/// How rows are printed.
#[derive(Debug, Args)]
pub struct RowsForm {
    /// Print the answer as one JSON object
    #[arg(long, group = "rows", help_heading = "Output")]
    pub json: bool,
    /// Print each row as a JSON object on a line of its own
    #[arg(long, group = "rows", help_heading = "Output")]
    pub jsonl: bool,
    /// Print the rows as CSV, the names of the columns first
    #[arg(long, group = "rows", help_heading = "Output")]
    pub csv: bool,
}

/// `NAME=VALUE`, the value a number where it is one.
pub fn parameter(text: &str) -> Result<(String, SqlValue), String> {
    let (name, value) = text.split_once('=').filter(|(name, _)| !name.is_empty()).ok_or("must be NAME=VALUE")?;
    let name = name.strip_prefix(':').unwrap_or(name);
    let value = match (value.parse(), value.parse::<f64>()) {
        (Ok(number), _) => SqlValue::Integer(number),
        (_, Ok(number)) if number.is_finite() => SqlValue::Real(number),
        _ => SqlValue::Text(value.to_owned()),
    };
    Ok((name.to_owned(), value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_is_a_number_where_it_is_one() {
        let text = |text: &str| SqlValue::Text(text.to_owned());
        let value = |given| parameter(given).unwrap();
        assert_eq!(value("task=t1"), ("task".into(), text("t1")));
        assert_eq!(value(":year=1998"), ("year".into(), SqlValue::Integer(1998)));
        assert_eq!(value("floor=0.5"), ("floor".into(), SqlValue::Real(0.5)));
        assert_eq!(value("x=a=b"), ("x".into(), text("a=b")));
        assert_eq!(value("x="), ("x".into(), text("")));
        assert_eq!(value("x=inf"), ("x".into(), text("inf")));
        assert!(parameter("x").is_err() && parameter("=1").is_err());
    }
}
