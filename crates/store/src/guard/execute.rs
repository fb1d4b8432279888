//! Executing one statement.

use std::path::Path;

use rusqlite::fallible_iterator::FallibleIterator;
use rusqlite::types::{ToSql, ToSqlOutput, Value, ValueRef};
use rusqlite::{Batch, Connection, Statement};

use super::collect::{CollectedRow, Collector};
use super::snapshot::Snapshot;
use super::{errors, values};
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
pub(super) fn run(snapshot: &Snapshot, query: &SqlQuery, path: &Path) -> (Result<SqlRows>, bool) {
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
        let (value, shortened) = values::converted(row.get_ref(column)?, longest);
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
