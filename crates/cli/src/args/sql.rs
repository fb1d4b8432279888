//! Flags of `tamis evidence sql`, and those that views share with it.

use super::values::{milliseconds, rows};
use clap::Args;
use tamis::evidence::SqlValue;

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
    /// Set the parameter :NAME of the statement; a value that reads as a number is one; repeatable
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = parameter)]
    pub parameters: Vec<(String, SqlValue)>,
    /// Query the evidence of this namespace, in an index of several
    #[arg(long, value_name = "NAME")]
    pub namespace: Option<String>,
    /// Show at most N rows, 1 to 200
    #[arg(short = 'n', long, value_name = "N", default_value = "50", value_parser = rows, allow_negative_numbers = true)]
    pub limit: usize,
    /// Stop after this many milliseconds, 1 to 2000
    #[arg(long, value_name = "MS", default_value = "300", value_parser = milliseconds, allow_negative_numbers = true)]
    pub timeout: u64,
    /// List the tables with their columns
    #[arg(long)]
    pub schema: bool,
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

/// `NAME=VALUE`; a value that reads as a number becomes one.
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
