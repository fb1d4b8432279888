//! Executing one statement, and the rows of its answer within their limits.

use std::path::Path;

use rusqlite::fallible_iterator::FallibleIterator;
use rusqlite::types::{ToSql, ToSqlOutput, Value, ValueRef};
use rusqlite::{Batch, Connection, Statement};

use super::errors;
use super::errors::{LONGEST, LONGEST_NAME, converted, shortened_text, size_of, size_of_text};
use super::snapshot::Snapshot;
use crate::error::{Result, StoreError};
use crate::untrusted_sql::{SqlQuery, SqlRows, SqlValue};

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

impl From<StoreError> for StatementError {
    fn from(error: StoreError) -> StatementError {
        StatementError::Refused(error)
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
    // The names of columns take a quarter of the answer's bytes at most.
    let (columns, mut bytes) = names_within(&names, query.max_bytes / 4);
    let mut answer = SqlRows { columns, ..SqlRows::default() };
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next()? {
        let room = query.max_bytes.saturating_sub(bytes);
        let mut longest = LONGEST;
        let (mut values, mut size) = read(row, width, longest)?;
        // At least one row is returned, however wide it is.
        while size > room && answer.rows.is_empty() && longest > LEAST {
            longest /= 2;
            (values, size) = read(row, width, longest)?;
        }
        if size > room || answer.rows.len() == query.limit {
            answer.truncated = true;
            break;
        }
        bytes += size;
        answer.shortened += values.iter().filter(|(_, is_shortened)| *is_shortened).count();
        answer.rows.push(values.into_iter().map(|(value, _)| value).collect());
    }
    answer.row_count = answer.rows.len();
    Ok(answer)
}

/// The values of a row, at most `longest` characters each, with whether each was shortened, and their size as JSON.
fn read(row: &rusqlite::Row<'_>, width: usize, longest: usize) -> rusqlite::Result<(Vec<(SqlValue, bool)>, usize)> {
    let value = |column| Ok(converted(row.get_ref(column)?, longest));
    let values = (0..width).map(value).collect::<rusqlite::Result<Vec<(SqlValue, bool)>>>()?;
    let size = 3 + values.iter().map(|(value, _)| size_of(value)).sum::<usize>();
    Ok((values, size))
}

/// Prepares the only statement of a text. It must read.
fn only_statement<'a>(connection: &'a Connection, sql: &str) -> Result<Statement<'a>, StatementError> {
    let refused = |error: &str, hint: &str| Err(errors::refusal(error, hint).into());
    let mut batch = Batch::new(connection, sql);
    let Some(statement) = batch.next()? else {
        return refused("there is no statement", errors::ALLOWED);
    };
    if !matches!(batch.next(), Ok(None)) {
        return refused("there is text after the statement", "give one statement at a time");
    }
    if statement.is_explain() != 0 {
        return refused("EXPLAIN is not allowed", errors::ALLOWED);
    }
    if !statement.readonly() || statement.column_count() == 0 {
        return refused("this statement does not read", errors::ALLOWED);
    }
    Ok(statement)
}

fn bind(statement: &mut Statement<'_>, query: &SqlQuery) -> Result<(), StatementError> {
    let mut names = Vec::new();
    for index in 1..=statement.parameter_count() {
        let Some(name) = statement.parameter_name(index).filter(|name| !name.starts_with('?')) else {
            return Err(errors::refusal(format!("parameter {index} has no name"), "write :name in place of ?").into());
        };
        names.push(name[1..].to_owned());
    }
    if let Some(unknown) = query.parameters.keys().find(|&name| !names.contains(name)) {
        return Err(errors::unknown_parameter(unknown, &names).into());
    }
    for (index, name) in (1..).zip(&names) {
        let Some(value) = query.parameters.get(name) else {
            let missing = format!("the parameter :{name} has no value");
            return Err(errors::refusal(missing, format!("give it as {name}=VALUE")).into());
        };
        statement.raw_bind_parameter(index, Bound(value))?;
    }
    Ok(())
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
