//! Rows of the evidence graph: a table for people, JSON or CSV for programs.

use super::table::Columns;
use super::text::{counted, milliseconds, visible};
use crate::args::RowArguments;
use crate::output::Output;
use crate::page::Page;
use owo_colors::OwoColorize;
use serde::Serializer;
use std::io::{self, Write};
use tamis::evidence::{SqlAnswer, SqlTable, SqlValue};

/// The most characters of a value in a table; programs get all.
const WIDEST: usize = 60;

/// Prints an answer in the form that the user chose.
///
/// # Errors
/// Standard output cannot be written.
pub fn print(answer: &SqlAnswer, form: &RowArguments, output: &Output) -> anyhow::Result<()> {
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
///
/// # Errors
/// `out` cannot be written.
pub fn print_tables(out: &mut dyn Page, tables: &[SqlTable]) -> io::Result<()> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::print::plain;

    fn answer(columns: &[&str], rows: Vec<Vec<SqlValue>>) -> SqlAnswer {
        SqlAnswer {
            columns: columns.iter().map(|&name| name.to_owned()).collect(),
            row_count: rows.len(),
            rows,
            truncated: false,
            shortened: 0,
            elapsed_ms: 1.23,
            schema: None,
        }
    }

    fn text(text: &str) -> SqlValue {
        SqlValue::Text(text.to_owned())
    }

    #[test]
    fn rows_are_a_table() {
        let mut answer = answer(
            &["id", "n", "text"],
            vec![
                vec![text("c1"), SqlValue::Integer(7), text("two\nlines and \u{1b}[31m")],
                vec![text("c2"), SqlValue::Null, text(&"long ".repeat(30))],
            ],
        );
        answer.truncated = true;
        let printed = plain(|out| super::rows(out, &answer));
        assert!(printed.contains("c1  7  two lines and ␛[31m"), "{printed}");
        assert!(printed.contains('…') && printed.contains("2 rows shown, there are more (1.2 ms)"), "{printed}");
    }

    #[test]
    fn columns_of_one_name_get_different_names() {
        let values = vec![SqlValue::Integer(1), SqlValue::Integer(2), SqlValue::Null];
        let answer = answer(&["id", "id", "at"], vec![values]);
        let mut lines = Vec::new();
        json_lines(&mut lines, &answer).unwrap();
        assert_eq!(String::from_utf8(lines).unwrap(), "{\"id\":1,\"id_2\":2,\"at\":null}\n");
    }
}
