//! One statement from its text to its rows.

use std::path::Path;

use rusqlite::fallible_iterator::FallibleIterator;
use rusqlite::types::{ToSql, ToSqlOutput, Value, ValueRef};
use rusqlite::{Batch, Connection, Statement};

use super::connection::Confined;
use super::{errors, values};
use crate::error::{Result, StoreError};
use crate::sql::{SqlQuery, SqlRows, SqlValue};

/// The most that an answer holds, in bytes.
const LARGEST_ANSWER: usize = 1 << 20;

/// What keeps a statement from being run or ended it.
pub(super) enum Fault {
    Sqlite(rusqlite::Error),
    Refused(StoreError),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Fault {
        Fault::Sqlite(error)
    }
}

/// Runs a statement, and says whether the connection is as sound as before.
pub(super) fn run(confined: &Confined, query: &SqlQuery, path: &Path) -> (Result<SqlRows>, bool) {
    match rows(&confined.connection, query) {
        Ok(rows) => (Ok(rows), true),
        Err(Fault::Refused(error)) => (Err(error), true),
        Err(Fault::Sqlite(error)) => {
            let sound = errors::leaves_connection_sound(&error);
            (Err(errors::explain(confined, query, path, error)), sound)
        }
    }
}

fn rows(connection: &Connection, query: &SqlQuery) -> Result<SqlRows, Fault> {
    let mut statement = only_statement(connection, &query.sql)?;
    bind(&mut statement, query)?;
    let columns = statement.column_names().map(str::to_owned).collect::<Vec<_>>();
    let width = columns.len();
    let mut answer = SqlRows { columns, ..SqlRows::default() };
    let mut bytes = 0;
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next()? {
        if answer.rows.len() == query.limit || bytes > LARGEST_ANSWER {
            answer.truncated = true;
            break;
        }
        let mut given = Vec::with_capacity(width);
        for column in 0..width {
            let (value, length, shortened) = values::given(row.get_ref(column)?);
            bytes += length;
            answer.shortened += usize::from(shortened);
            given.push(value);
        }
        answer.rows.push(given);
    }
    answer.row_count = answer.rows.len();
    Ok(answer)
}

/// The statement of a text that holds one, which reads.
fn only_statement<'a>(connection: &'a Connection, sql: &str) -> Result<Statement<'a>, Fault> {
    let refused = |error: &str, hint: &str| {
        Fault::Refused(StoreError::Sql { error: error.to_owned(), hint: Some(hint.to_owned()) })
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

fn bind(statement: &mut Statement<'_>, query: &SqlQuery) -> Result<(), Fault> {
    let mut names = Vec::new();
    for index in 1..=statement.parameter_count() {
        let Some(name) = statement.parameter_name(index).filter(|name| !name.starts_with('?')) else {
            return Err(Fault::Refused(StoreError::Sql {
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
        Some(unknown) => Err(Fault::Refused(errors::unknown_parameter(unknown, &names))),
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
