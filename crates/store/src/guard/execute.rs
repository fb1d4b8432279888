//! Executing one statement, and the rows of its answer within their limits.

use std::path::Path;

use rusqlite::fallible_iterator::FallibleIterator;
use rusqlite::types::{ToSql, ToSqlOutput, Value, ValueRef};
use rusqlite::{Batch, Connection, Statement};

use super::errors;
use super::errors::{LONGEST, LONGEST_NAME, converted, shortened_text, size_of, size_of_text};
use super::snapshot::Snapshot;
use crate::error::{Result, StoreError};
use crate::sql::{SqlQuery, SqlRows, SqlValue};

/// An error of a statement: SQLite's, or a refusal.
enum StatementError {
    Sqlite(rusqlite::Error),
    Refused(StoreError),
}

impl From<rusqlite::Error> for StatementError {
    fn from(error: rusqlite::Error) -> StatementError {
        StatementError::Sqlite(error)
    }
}

/// Runs a statement. The second value is `true` if the copy can be used again.
pub(crate) fn run(snapshot: &Snapshot, query: &SqlQuery, path: &Path) -> (Result<SqlRows>, bool) {
    match rows(&snapshot.connection, query) {
        Ok(rows) => (Ok(rows), true),
        Err(StatementError::Refused(error)) => (Err(errors::shortened(error)), true),
        Err(StatementError::Sqlite(error)) => {
            let sound = errors::leaves_connection_sound(&error);
            (Err(errors::explain(&snapshot.watch, query, path, error)), sound)
        }
    }
}

fn rows(connection: &Connection, query: &SqlQuery) -> Result<SqlRows, StatementError> {
    let mut statement = only_statement(connection, &query.sql)?;
    bind(&mut statement, query)?;
    let names: Vec<&str> = statement.column_names().collect();
    let width = names.len();
    let mut collector = Collector::new(&names, query);
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next()? {
        if !collector.add(|longest| read(row, width, longest))? {
            break;
        }
    }
    Ok(collector.end())
}

fn read(row: &rusqlite::Row<'_>, width: usize, longest: usize) -> rusqlite::Result<CollectedRow> {
    let mut read = CollectedRow::new(width);
    for column in 0..width {
        let (value, shortened) = converted(row.get_ref(column)?, longest);
        read.push(value, shortened);
    }
    Ok(read)
}

/// Prepares the only statement of a text. It must read.
fn only_statement<'a>(connection: &'a Connection, sql: &str) -> Result<Statement<'a>, StatementError> {
    let refused = |error: &str, hint: &str| {
        StatementError::Refused(StoreError::Sql { error: error.to_owned(), hint: Some(hint.to_owned()) })
    };
    let mut batch = Batch::new(connection, sql);
    let Some(statement) = batch.next()? else {
        return Err(refused("there is no statement", errors::ALLOWED));
    };
    if !matches!(batch.next(), Ok(None)) {
        return Err(refused("there is text after the statement", "give one statement at a time"));
    }
    if statement.is_explain() != 0 {
        return Err(refused("EXPLAIN is not allowed", errors::ALLOWED));
    }
    if !statement.readonly() || statement.column_count() == 0 {
        return Err(refused("this statement does not read", errors::ALLOWED));
    }
    Ok(statement)
}

fn bind(statement: &mut Statement<'_>, query: &SqlQuery) -> Result<(), StatementError> {
    let mut names = Vec::new();
    for index in 1..=statement.parameter_count() {
        let Some(name) = statement.parameter_name(index).filter(|name| !name.starts_with('?')) else {
            return Err(StatementError::Refused(StoreError::Sql {
                error: format!("parameter {index} has no name"),
                hint: Some("write :name in place of ?".to_owned()),
            }));
        };
        let name = name[1..].to_owned();
        let value = query.parameters.get(&name).unwrap_or(&SqlValue::Null);
        statement.raw_bind_parameter(index, Bound(value))?;
        names.push(name);
    }
    match query.parameters.keys().find(|&name| !names.contains(name)) {
        Some(unknown) => Err(StatementError::Refused(errors::unknown_parameter(unknown, &names))),
        None => Ok(()),
    }
}

/// A value on its way into a statement.
struct Bound<'a>(&'a SqlValue);

impl ToSql for Bound<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self.0 {
            SqlValue::Null => ToSqlOutput::Owned(Value::Null),
            SqlValue::Integer(number) => ToSqlOutput::Owned(Value::Integer(*number)),
            SqlValue::Real(number) => ToSqlOutput::Owned(Value::Real(*number)),
            SqlValue::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
        })
    }
}

/// Fewest characters of a value that are returned from a row that does not fit.
const LEAST: usize = 4;

struct CollectedRow {
    values: Vec<SqlValue>,
    /// Its size as JSON.
    bytes: usize,
    shortened: usize,
}

impl CollectedRow {
    /// An empty row for so many values.
    pub(crate) fn new(width: usize) -> CollectedRow {
        CollectedRow { values: Vec::with_capacity(width), bytes: 3, shortened: 0 }
    }

    /// Adds a value, which may have been shortened.
    pub(crate) fn push(&mut self, value: SqlValue, shortened: bool) {
        self.bytes += size_of(&value);
        self.shortened += usize::from(shortened);
        self.values.push(value);
    }
}

/// An answer while its rows arrive.
struct Collector {
    answer: SqlRows,
    bytes: usize,
    limit: usize,
    max_bytes: usize,
}

impl Collector {
    /// An answer with these columns, whose names take a quarter of its bytes at most.
    pub(crate) fn new(names: &[&str], query: &SqlQuery) -> Collector {
        let (columns, bytes) = names_within(names, query.max_bytes / 4);
        let answer = SqlRows { columns, ..SqlRows::default() };
        Collector { answer, bytes, limit: query.limit, max_bytes: query.max_bytes }
    }

    /// Adds a row, which `read` reads with values of at most so many characters. Returns `false` if the answer is full.
    pub(crate) fn add<E>(&mut self, read: impl Fn(usize) -> Result<CollectedRow, E>) -> Result<bool, E> {
        if self.answer.rows.len() == self.limit {
            self.answer.truncated = true;
            return Ok(false);
        }
        let room = self.max_bytes.saturating_sub(self.bytes);
        let mut longest = LONGEST;
        let mut row = read(longest)?;
        // At least one row is returned, however wide it is.
        while row.bytes > room && self.answer.rows.is_empty() && longest > LEAST {
            longest /= 2;
            row = read(longest)?;
        }
        if row.bytes > room {
            self.answer.truncated = true;
            return Ok(false);
        }
        self.bytes += row.bytes;
        self.answer.shortened += row.shortened;
        self.answer.rows.push(row.values);
        Ok(true)
    }

    pub(crate) fn end(mut self) -> SqlRows {
        self.answer.row_count = self.answer.rows.len();
        self.answer
    }
}

/// The names of the columns, shortened to `room` bytes in all, and their size in bytes.
fn names_within(names: &[&str], room: usize) -> (Vec<String>, usize) {
    let mut longest = LONGEST_NAME;
    loop {
        let names = names.iter().map(|name| shortened_text(name, longest).0).collect::<Vec<_>>();
        let bytes = names.iter().map(|name| size_of_text(name)).sum();
        if bytes <= room || longest <= LEAST {
            return (names, bytes);
        }
        longest /= 2;
    }
}
