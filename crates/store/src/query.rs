//! The three ways to read from SQLite: all rows, one row, a count.

use rusqlite::{Connection, OptionalExtension, Params, Row};

/// Returns all rows of a statement, which is kept prepared.
pub(crate) fn all<T, C: FromIterator<T>>(
    connection: &Connection,
    sql: &str,
    values: impl Params,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<C> {
    connection.prepare_cached(sql)?.query_map(values, read)?.collect()
}

/// Returns the first row of a statement, which is kept prepared; `None` without rows.
pub(crate) fn one<T>(
    connection: &Connection,
    sql: &str,
    values: impl Params,
    read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Option<T>> {
    connection.prepare_cached(sql)?.query_row(values, read).optional()
}

/// Returns the number that a statement computes; the statement is kept prepared.
pub(crate) fn count(connection: &Connection, sql: &str, values: impl Params) -> rusqlite::Result<u64> {
    connection.prepare_cached(sql)?.query_row(values, |row| unsigned(row, 0))
}

/// Returns a column that is never negative. SQLite has signed integers alone.
pub(crate) fn unsigned(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    row.get::<_, i64>(column).map(|number| number as u64)
}

/// Runs a statement, which is kept prepared, and returns the number of rows it changed.
pub(crate) fn execute(connection: &Connection, sql: &str, values: impl Params) -> rusqlite::Result<usize> {
    connection.prepare_cached(sql)?.execute(values)
}
