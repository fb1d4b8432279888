//! Rows of the evidence graph as the answer of a tool.

use crate::reply::Reply;
use crate::sanitize::json_length;
use crate::text::{backticks, clean, counted, fenced, first, line, name, rounded, short};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use std::borrow::Cow;
use std::fmt::Write;
use tamis::evidence::{SqlAnswer, SqlTable, SqlValue};

/// The result of a statement.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Rows {
    /// The names of the columns.
    columns: Vec<String>,
    /// The rows, each with one value per column.
    #[schemars(schema_with = "rows")]
    rows: Vec<Vec<SqlValue>>,
    /// Number of rows in this answer.
    row_count: usize,
    /// True if there are more rows. The statement's own LIMIT does not count.
    truncated: bool,
    /// Number of rows that did not fit into max_chars.
    left_out: usize,
    /// Number of shortened values; each of them states its full length.
    shortened: usize,
    /// Milliseconds that the statement took.
    elapsed_ms: f64,
    /// The tables that a statement can read, when the call asked for them.
    schema: Option<Vec<Table>>,
}

/// A table that a statement can read.
#[derive(Debug, Serialize, JsonSchema)]
struct Table {
    /// Name of the table.
    name: String,
    /// Meaning of a row.
    description: String,
    /// Columns, each with the type of its values.
    columns: Vec<String>,
}

/// A value can be a number, text or null, which no single type covers.
fn rows(_: &mut SchemaGenerator) -> Schema {
    let value = json_schema!({ "description": "A number, text, or null." });
    json_schema!({ "type": "array", "items": { "type": "array", "items": value } })
}

/// Most characters of a value in the text.
const MAX_VALUE: usize = 300;

/// Characters of a value that are always kept.
const MIN_VALUE: usize = 40;

/// Characters reserved for everything besides the rows, as text and as JSON.
const OVERHEAD: usize = 200;

impl Rows {
    /// An answer and its text, each with as many rows as fit into `max_chars`.
    pub fn reply(answer: SqlAnswer, max_chars: usize) -> Reply<Rows> {
        let read = answer.row_count;
        let mut rows = Rows {
            columns: answer.columns.iter().map(|column| name(column)).collect(),
            rows: Vec::new(),
            row_count: 0,
            truncated: answer.truncated,
            left_out: 0,
            shortened: answer.shortened,
            elapsed_ms: rounded(answer.elapsed_ms),
            schema: answer.schema.map(|tables| tables.iter().map(Table::of).collect()),
        };
        let heading = rows.columns.join(" | ") + "\n";
        let tables = rows.tables();
        let room = max_chars.saturating_sub(OVERHEAD);
        let mut json_room = room.saturating_sub(json_length(&rows));
        let text_room = room.saturating_sub(tables.chars().count());
        let mut table = heading;
        let mut characters = table.chars().count();
        for row in answer.rows {
            let mut row: Vec<SqlValue> = row.into_iter().map(shown).collect();
            if rows.rows.is_empty() {
                rows.shortened += shorten(&mut row, json_room);
            }
            let line = row.iter().map(value).collect::<Vec<_>>().join(" | ") + "\n";
            let (length, json) = (line.chars().count(), json_length(&row) + 1);
            // A fence is longer than the longest run of backticks inside.
            let fences = 2 * (backticks(&table).max(backticks(&line)).max(2) + 2);
            if !rows.rows.is_empty() && (characters + length + fences > text_room || json > json_room) {
                break;
            }
            characters += length;
            json_room = json_room.saturating_sub(json);
            table.push_str(&line);
            rows.rows.push(row);
        }
        rows.row_count = rows.rows.len();
        rows.left_out = read - rows.row_count;
        rows.truncated |= rows.left_out > 0;
        let mut text = if rows.row_count > 0 { fenced(&table) } else { String::new() };
        text.push_str(&rows.summary());
        text.push_str(&tables);
        Reply::new(rows, text)
    }

    fn summary(&self) -> String {
        let rows = counted(self.row_count, "row");
        let more = match (self.truncated, self.left_out) {
            (false, _) => String::new(),
            (true, 0) => "; there are more: use LIMIT and OFFSET, or a higher limit".to_owned(),
            (true, left) => format!("; {left} more did not fit: use LIMIT and OFFSET, or a higher max_chars"),
        };
        let shortened = match self.shortened {
            0 => String::new(),
            count => format!(", {} shortened", counted(count, "value")),
        };
        format!("{rows}{more}{shortened} ({} ms).\n", self.elapsed_ms)
    }

    fn tables(&self) -> String {
        let mut text = String::new();
        for table in self.schema.iter().flatten() {
            let _ = writeln!(text, "{}: {}", table.name, table.description);
            let _ = writeln!(text, "  {}", table.columns.join(", "));
        }
        text
    }
}

/// A value with hidden characters made visible.
fn shown(value: SqlValue) -> SqlValue {
    match value {
        SqlValue::Text(text) => SqlValue::Text(clean(&text)),
        other => other,
    }
}

/// Shortens the longest values of a row until it fits or none of them is long. Returns the number of values shortened.
fn shorten(row: &mut [SqlValue], room: usize) -> usize {
    let mut longest = room;
    let mut shortened = vec![false; row.len()];
    while json_length(&*row) + 1 > room && longest > MIN_VALUE {
        longest = (longest / 2).max(MIN_VALUE);
        for (value, shortened) in row.iter_mut().zip(&mut shortened) {
            if let SqlValue::Text(text) = value
                && let Cow::Owned(short) = short(text, longest)
            {
                *text = short;
                *shortened = true;
            }
        }
    }
    shortened.into_iter().filter(|shortened| *shortened).count()
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
            let short = first(&plain, MAX_VALUE);
            if short.len() < plain.len() { format!("{short}…") } else { plain }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(rows: usize, value: &str) -> SqlAnswer {
        let row = vec![SqlValue::Integer(1), SqlValue::Text(value.to_owned()), SqlValue::Null];
        SqlAnswer {
            columns: vec!["a".to_owned(), "b\u{202e}".repeat(400), "c".to_owned()],
            rows: vec![row; rows],
            row_count: rows,
            truncated: false,
            shortened: 0,
            elapsed_ms: 1.0,
            schema: None,
        }
    }

    #[test]
    fn rows_fit_as_text_and_as_data_and_the_rest_is_counted() {
        for (rows, value) in
            [(200, "ä\"`\n".repeat(80)), (1, "x".repeat(200_000)), (200, "short".to_owned()), (0, String::new())]
        {
            for max_chars in [2000, 10_000] {
                let Reply { answer, text } = Rows::reply(answer(rows, &value), max_chars);
                assert!(text.chars().count() <= max_chars, "{} of {max_chars}", text.chars().count());
                assert!(json_length(&answer) <= max_chars, "{} of {max_chars}", json_length(&answer));
                assert_eq!(answer.row_count + answer.left_out, rows);
                assert_eq!(answer.truncated, answer.left_out > 0);
                assert!(rows == 0 || answer.row_count > 0);
            }
        }
    }

    #[test]
    fn a_row_that_exceeds_a_page_is_shortened_and_counted() {
        let Reply { answer, text } = Rows::reply(answer(2, &"y".repeat(50_000)), 2000);
        assert_eq!((answer.row_count, answer.left_out, answer.shortened), (1, 1, 1));
        assert!(text.contains("1 row; 1 more did not fit") && text.contains("1 value shortened"), "{text}");
    }
}
