//! Executing one statement.

use std::path::Path;

use rusqlite::fallible_iterator::FallibleIterator;
use rusqlite::types::{ToSql, ToSqlOutput, Value, ValueRef};
use rusqlite::{Batch, Connection, Statement};

use super::connection::Confined;
use super::{errors, values};
use crate::error::{Result, StoreError};
use crate::sql::{SqlQuery, SqlRows, SqlValue};

/// Fewest characters of a value that are returned from a row that does not fit.
const LEAST: usize = 4;

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

/// Runs a statement. The second value is `true` if the connection can be used again.
pub(super) fn run(confined: &Confined, query: &SqlQuery, path: &Path) -> (Result<SqlRows>, bool) {
    match rows(&confined.connection, query) {
        Ok(rows) => (Ok(rows), true),
        Err(StatementError::Refused(error)) => (Err(errors::shortened(error)), true),
        Err(StatementError::Sqlite(error)) => {
            let sound = errors::leaves_connection_sound(&error);
            (Err(errors::explain(confined, query, path, error)), sound)
        }
    }
}

fn rows(connection: &Connection, query: &SqlQuery) -> Result<SqlRows, StatementError> {
    let mut statement = only_statement(connection, &query.sql)?;
    bind(&mut statement, query)?;
    let (columns, mut bytes) = names(&statement, query.max_bytes / 4);
    let mut answer = SqlRows { columns, ..SqlRows::default() };
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next()? {
        if answer.rows.len() == query.limit {
            answer.truncated = true;
            break;
        }
        let room = query.max_bytes.saturating_sub(bytes);
        let mut given = Row::read(row, answer.columns.len(), values::LONGEST)?;
        // At least one row is returned, however wide it is.
        let mut longest = values::LONGEST;
        while given.bytes > room && answer.rows.is_empty() && longest > LEAST {
            longest /= 2;
            given = Row::read(row, answer.columns.len(), longest)?;
        }
        if given.bytes > room {
            answer.truncated = true;
            break;
        }
        bytes += given.bytes;
        answer.shortened += given.shortened;
        answer.rows.push(given.values);
    }
    answer.row_count = answer.rows.len();
    Ok(answer)
}

/// The names of a statement's columns, shortened to `room` bytes in all, and their size in bytes.
fn names(statement: &Statement<'_>, room: usize) -> (Vec<String>, usize) {
    let mut longest = values::LONGEST_NAME;
    loop {
        let names = statement.column_names().map(|name| values::shortened(name, longest).0).collect::<Vec<_>>();
        let bytes = names.iter().map(|name| values::size_of_text(name)).sum();
        if bytes <= room || longest <= LEAST {
            return (names, bytes);
        }
        longest /= 2;
    }
}

/// A row of the answer.
struct Row {
    values: Vec<SqlValue>,
    /// Its size as JSON.
    bytes: usize,
    shortened: usize,
}

impl Row {
    fn read(row: &rusqlite::Row<'_>, width: usize, longest: usize) -> rusqlite::Result<Row> {
        let mut read = Row { values: Vec::with_capacity(width), bytes: 3, shortened: 0 };
        for column in 0..width {
            let (value, shortened) = values::converted(row.get_ref(column)?, longest);
            read.bytes += values::size_of(&value);
            read.shortened += usize::from(shortened);
            read.values.push(value);
        }
        Ok(read)
    }
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
