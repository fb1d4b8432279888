//! Rows of the evidence graph, as tools give them.

use crate::page::MAX_CHARS;
use crate::reply::Reply;
use crate::text::{clean, fenced, first, line, rounded};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use std::fmt::Write;
use tamis::{SqlAnswer, SqlTable, SqlValue};

/// What a statement gave.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Rows {
    /// The names of the columns.
    columns: Vec<String>,
    /// The rows, each with a value a column.
    #[schemars(schema_with = "rows")]
    rows: Vec<Vec<SqlValue>>,
    /// How many rows these are.
    row_count: usize,
    /// Whether there are more than these; never true for the statement's own LIMIT.
    truncated: bool,
    /// How many values are longer than what is given of them; such a value says how long it is.
    shortened: usize,
    /// How long it took.
    elapsed_ms: f64,
    /// The tables that a statement can read, where they were asked for.
    schema: Option<Vec<Table>>,
}

/// A table that a statement can read.
#[derive(Debug, Serialize, JsonSchema)]
struct Table {
    /// Its name.
    name: String,
    /// What a row of it is.
    description: String,
    /// Its columns, each with the type of its values.
    columns: Vec<String>,
}

/// A value can be a number, a text or nothing, which no single type says.
fn rows(_: &mut SchemaGenerator) -> Schema {
    let value = json_schema!({ "description": "A number, a text, or null." });
    json_schema!({ "type": "array", "items": { "type": "array", "items": value } })
}

/// Longer values are shortened in the text.
const LONGEST_VALUE: usize = 300;

impl Rows {
    /// An answer and its text. The text shows as many rows as fit; the data has all.
    pub fn reply(answer: SqlAnswer) -> Reply<Rows> {
        let rows = Rows {
            columns: answer.columns,
            rows: answer.rows,
            row_count: answer.row_count,
            truncated: answer.truncated,
            shortened: answer.shortened,
            elapsed_ms: rounded(answer.elapsed_ms),
            schema: answer.schema.map(|tables| tables.iter().map(Table::of).collect()),
        };
        let text = rows.text();
        Reply::new(rows, text)
    }

    fn text(&self) -> String {
        let mut text = String::new();
        let mut shown = 0;
        if self.row_count > 0 {
            let mut table = self.columns.iter().map(|name| line(name)).collect::<Vec<_>>().join(" | ");
            table.push('\n');
            for row in &self.rows {
                let row = row.iter().map(value).collect::<Vec<_>>().join(" | ");
                if shown > 0 && table.chars().count() + row.chars().count() > MAX_CHARS {
                    break;
                }
                let _ = writeln!(table, "{}", first(&row, MAX_CHARS));
                shown += 1;
            }
            text.push_str(&fenced(&table));
        }
        let hidden = self.row_count - shown;
        let rows = if self.row_count == 1 { "1 row".to_owned() } else { format!("{} rows", self.row_count) };
        let left_out =
            if hidden > 0 { format!(", the last {hidden} only in the structured answer") } else { String::new() };
        let more = if self.truncated { ", and there are more: use LIMIT and OFFSET, or a higher limit" } else { "" };
        let shortened = match self.shortened {
            0 => String::new(),
            count => format!(", {count} values shortened"),
        };
        let _ = writeln!(text, "{rows}{left_out}{more}{shortened} ({} ms).", self.elapsed_ms);
        for table in self.schema.iter().flatten() {
            let _ = writeln!(text, "{}: {}", table.name, table.description);
            let _ = writeln!(text, "  {}", table.columns.join(", "));
        }
        text
    }
}

impl Table {
    fn of(table: &SqlTable) -> Self {
        Table {
            name: table.name.to_owned(),
            description: table.about.to_owned(),
            columns: table.columns.iter().map(|column| format!("{} ({})", column.name, column.kind)).collect(),
        }
    }
}

/// A value on one line.
fn value(value: &SqlValue) -> String {
    match value {
        SqlValue::Null => "null".to_owned(),
        SqlValue::Integer(number) => number.to_string(),
        SqlValue::Real(number) => number.to_string(),
        SqlValue::Text(text) => {
            let plain = line(&clean(text));
            let short = first(&plain, LONGEST_VALUE);
            if short.len() < plain.len() { format!("{short}…") } else { plain }
        }
    }
}
