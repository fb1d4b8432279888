//! `tamis evidence sql`, `tamis evidence views` and `tamis evidence view`: queries to the evidence graph in SQL, and their rows as a
//! table, JSON or CSV.

use crate::command_line::Global;
use crate::exit::Exit;
use crate::layout::Page;
use crate::output::Output;
use crate::print::table::Columns;
use crate::print::text::{counted, label, milliseconds, visible};
use crate::session::Session;
use anyhow::{Context, Result, bail};
use clap::Args;
use owo_colors::OwoColorize;
use serde::Serializer;
use std::io::{self, Read, Write};
use tamis::evidence::{
    MOST_SQL_BYTES, ParameterType, SQL_TABLES, SqlAnswer, SqlLimits, SqlRequest, SqlTable, SqlValue, ViewDescription,
    ViewParameter, ViewRequest,
};

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

/// The most that is read of a statement on standard input; no statement that long can run.
const LONGEST_INPUT: u64 = 1 << 20;

/// Runs a statement and prints its rows, or lists the tables.
///
/// # Errors
/// A statement that cannot be read or run, or an index that cannot be read.
pub fn run(arguments: &SqlArguments, global: &Global, output: &Output) -> Result<Exit> {
    let Some(given) = &arguments.sql else {
        output.answer(arguments.output.json, &SQL_TABLES, output.paged(), |out| print_tables(out, SQL_TABLES))?;
        return Ok(Exit::Found);
    };
    let asked = &arguments.request;
    let limits = SqlLimits { max_bytes: Some(MOST_SQL_BYTES), ..asked.limits };
    let request = SqlRequest { sql: statement(given)?, limits, ..asked.clone() };
    let session = Session::start(global, Vec::new())?;
    let config = session.config()?;
    let index = session.open_existing(config)?;
    let answer = index.evidence().query_sql(&request)?;
    print(&answer, &arguments.output, output)?;
    Ok(Exit::found(answer.row_count > 0))
}

/// The statement as typed, or from standard input.
fn statement(given: &str) -> Result<String> {
    if given != "-" {
        return Ok(given.to_owned());
    }
    let mut bytes = Vec::new();
    let mut input = std::io::stdin().lock().take(LONGEST_INPUT + 1);
    input.read_to_end(&mut bytes).context("standard input: cannot be read")?;
    if bytes.len() as u64 > LONGEST_INPUT {
        bail!("standard input: a statement is at most {LONGEST_INPUT} bytes long");
    }
    String::from_utf8(bytes).context("standard input: the statement is not UTF-8")
}

/// Lists the views; needs no index.
///
/// # Errors
/// Standard output cannot be written, or there is no directory to start from.
pub fn list_views(arguments: &ViewsArguments, global: &Global, output: &Output) -> Result<Exit> {
    let session = Session::start(global, Vec::new())?;
    let found = tamis::evidence::views(session.user_directory.as_deref());
    output.answer(arguments.json, &found, output.paged(), |out| print_views(out, &found))?;
    Ok(Exit::Found)
}

/// Runs a view and prints its rows.
///
/// # Errors
/// An unknown view or parameter, a value of another type, no index, or a view that cannot run.
pub fn run_view(arguments: &ViewArguments, global: &Global, output: &Output) -> Result<Exit> {
    let limits = SqlLimits { max_bytes: Some(MOST_SQL_BYTES), ..arguments.request.limits };
    let request = ViewRequest { limits, ..arguments.request.clone() };
    let session = Session::start(global, Vec::new())?;
    let config = session.config()?;
    let index = session.open_existing(config)?;
    let answer = index.evidence().query_view(&request)?;
    print(&answer, &arguments.output, output)?;
    Ok(Exit::found(answer.row_count > 0))
}

/// The most characters of a value in a table; programs get all.
const WIDEST: usize = 60;

/// Prints an answer in the form that the user chose.
///
/// # Errors
/// Standard output cannot be written.
fn print(answer: &SqlAnswer, form: &RowArguments, output: &Output) -> anyhow::Result<()> {
    if form.json {
        output.json(answer)?;
    } else if form.jsonl {
        let mut out = output.exact();
        json_lines(&mut out, answer)?;
        out.flush()?;
    } else if form.csv {
        let mut out = output.exact();
        csv_lines(&mut out, answer)?;
        out.flush()?;
    } else {
        let mut out = output.paged();
        rows(&mut out, answer)?;
        out.flush()?;
    }
    if answer.truncated && (form.jsonl || form.csv) {
        output.warn(&format!("there are more rows than these {}; read them with LIMIT and OFFSET", answer.row_count));
    }
    Ok(())
}

/// Writes a table, and a line on the number of rows.
fn rows(out: &mut dyn Page, answer: &SqlAnswer) -> io::Result<()> {
    if answer.row_count > 0 {
        let is_number = |column: usize| {
            let values = || answer.rows.iter().map(move |row| &row[column]);
            values().all(|value| !matches!(value, SqlValue::Text(_)))
                && values().any(|value| !matches!(value, SqlValue::Null))
        };
        let headings: Vec<String> = answer
            .columns
            .iter()
            .enumerate()
            .map(|(column, name)| format!("{}{}", if is_number(column) { ">" } else { "" }, cell(name)))
            .collect();
        let mut table = Columns::new(&headings.iter().map(String::as_str).collect::<Vec<_>>());
        for row in &answer.rows {
            table.row(row.iter().map(|value| match value {
                SqlValue::Null => "–".to_owned(),
                SqlValue::Text(text) => cell(text),
                SqlValue::Real(number) => rounded(*number).to_string(),
                number => text(number),
            }));
        }
        table.write(out)?;
        writeln!(out)?;
    }
    let more = if answer.truncated { " shown, there are more" } else { "" };
    let rows = match answer.row_count {
        0 => "no rows".to_owned(),
        rows => counted(rows as u64, "row"),
    };
    writeln!(out, "{}", format!("{rows}{more} ({})", milliseconds(answer.elapsed_ms)).dimmed())?;
    if let Some(schema) = &answer.schema {
        writeln!(out)?;
        print_tables(out, schema)?;
    }
    Ok(())
}

/// A text for one line of a table.
fn cell(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = visible(&line);
    match line.char_indices().nth(WIDEST) {
        None => line.into_owned(),
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
    }
}

/// A number to four places, unless it is very small or large; programs get all of it.
fn rounded(number: f64) -> f64 {
    if (1e-3..1e9).contains(&number.abs()) { (number * 1e4).round() / 1e4 } else { number }
}

/// A value as text; null is empty.
fn text(value: &SqlValue) -> String {
    match value {
        SqlValue::Null => String::new(),
        SqlValue::Integer(number) => number.to_string(),
        SqlValue::Real(number) => number.to_string(),
        SqlValue::Text(text) => text.clone(),
    }
}

fn json_lines(out: &mut dyn Write, answer: &SqlAnswer) -> anyhow::Result<()> {
    let names = different(&answer.columns);
    for row in &answer.rows {
        // A map of values would lose the order of the columns.
        crate::output::json_lines(&mut *out).collect_map(names.iter().zip(row))?;
        writeln!(out)?;
    }
    Ok(())
}

/// The names of columns, made unique: an object holds one value of each name.
fn different(columns: &[String]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for column in columns {
        let mut name = column.clone();
        let mut number = 1;
        while names.contains(&name) {
            number += 1;
            name = format!("{column}_{number}");
        }
        names.push(name);
    }
    names
}

fn csv_lines(out: &mut dyn Write, answer: &SqlAnswer) -> anyhow::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(&answer.columns)?;
    for row in &answer.rows {
        writer.write_record(row.iter().map(text))?;
    }
    writer.flush()?;
    Ok(())
}

/// Writes the tables with their columns.
fn print_tables(out: &mut dyn Page, tables: &[SqlTable]) -> io::Result<()> {
    for (number, table) in tables.iter().enumerate() {
        if number > 0 {
            writeln!(out)?;
        }
        writeln!(out, "{}: {}", table.name.bold(), table.about)?;
        let columns: Vec<String> =
            table.columns.iter().map(|column| format!("{} {}", column.name, column.kind)).collect();
        writeln!(out, "  {}", columns.join(", "))?;
    }
    Ok(())
}

/// Writes each view with its question and its parameters.
fn print_views(out: &mut dyn Page, views: &[ViewDescription]) -> io::Result<()> {
    for (number, view) in views.iter().enumerate() {
        if number > 0 {
            writeln!(out)?;
        }
        write!(out, "{}", label(&view.name).bold())?;
        if let Some(file) = &view.file {
            let file = file.display().to_string();
            write!(out, "  {}", visible(&file).dimmed())?;
        }
        writeln!(out)?;
        match &view.error {
            Some(error) => writeln!(out, "  {} {}", "cannot be used:".red(), visible(error))?,
            None => writeln!(out, "  {}", visible(&view.answers))?,
        }
        let width = view.parameters.iter().map(|parameter| form(parameter).chars().count()).max().unwrap_or(0);
        for parameter in &view.parameters {
            let form = form(parameter);
            writeln!(out, "    {form:<width$}  {}", visible(&parameter.meaning).dimmed())?;
        }
    }
    Ok(())
}

/// `NAME=TYPE`, or `NAME=DEFAULT`.
fn form(parameter: &ViewParameter) -> String {
    let kind = match parameter.kind {
        ParameterType::Text => "TEXT",
        ParameterType::Integer => "INTEGER",
        ParameterType::Number => "NUMBER",
        ParameterType::Time => "TIME",
    };
    let value = match &parameter.default {
        None | Some(SqlValue::Null) => kind.to_owned(),
        Some(SqlValue::Text(text)) => text.clone(),
        Some(SqlValue::Integer(number)) => number.to_string(),
        Some(SqlValue::Real(number)) => number.to_string(),
    };
    let needed = if parameter.required { " (needed)" } else { "" };
    visible(&format!("{}={value}{needed}", parameter.name)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(columns: &[&str], rows: Vec<Vec<SqlValue>>) -> SqlAnswer {
        let columns = columns.iter().map(|&name| name.to_owned()).collect();
        let row_count = rows.len();
        SqlAnswer { columns, row_count, rows, truncated: false, shortened: 0, elapsed_ms: 1.23, schema: None }
    }

    #[test]
    fn columns_of_one_name_get_different_names() {
        let values = vec![SqlValue::Integer(1), SqlValue::Integer(2), SqlValue::Null];
        let answer = answer(&["id", "id", "at"], vec![values]);
        let mut lines = Vec::new();
        json_lines(&mut lines, &answer).unwrap();
        assert_eq!(String::from_utf8(lines).unwrap(), "{\"id\":1,\"id_2\":2,\"at\":null}\n");
        assert_eq!([1.0 / 3.0, -2.5, 1e-7].map(rounded), [0.3333, -2.5, 1e-7]);
    }
}
