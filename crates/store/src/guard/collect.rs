//! Collects the rows of an answer within its limits.

use super::values;
use crate::sql::{SqlQuery, SqlRows, SqlValue};

/// Fewest characters of a value that are returned from a row that does not fit.
const LEAST: usize = 4;

/// A row of the answer.
pub(super) struct CollectedRow {
    values: Vec<SqlValue>,
    /// Its size as JSON.
    bytes: usize,
    shortened: usize,
}

impl CollectedRow {
    /// An empty row for so many values.
    pub(super) fn new(width: usize) -> CollectedRow {
        CollectedRow { values: Vec::with_capacity(width), bytes: 3, shortened: 0 }
    }

    /// Adds a value, which may have been shortened.
    pub(super) fn push(&mut self, value: SqlValue, shortened: bool) {
        self.bytes += values::size_of(&value);
        self.shortened += usize::from(shortened);
        self.values.push(value);
    }
}

/// An answer while its rows arrive.
pub(super) struct Collector {
    answer: SqlRows,
    bytes: usize,
    limit: usize,
    max_bytes: usize,
}

impl Collector {
    /// An answer with these columns, whose names take a quarter of its bytes at most.
    pub(super) fn new(names: &[&str], query: &SqlQuery) -> Collector {
        let (columns, bytes) = names_within(names, query.max_bytes / 4);
        let answer = SqlRows { columns, ..SqlRows::default() };
        Collector { answer, bytes, limit: query.limit, max_bytes: query.max_bytes }
    }

    /// Adds a row, which `read` reads with values of at most so many characters. Returns `false` if the answer is full.
    pub(super) fn add<E>(&mut self, read: impl Fn(usize) -> Result<CollectedRow, E>) -> Result<bool, E> {
        if self.answer.rows.len() == self.limit {
            self.answer.truncated = true;
            return Ok(false);
        }
        let room = self.max_bytes.saturating_sub(self.bytes);
        let mut longest = values::LONGEST;
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

    /// The answer.
    pub(super) fn end(mut self) -> SqlRows {
        self.answer.row_count = self.answer.rows.len();
        self.answer
    }
}

/// The names of the columns, shortened to `room` bytes in all, and their size in bytes.
fn names_within(names: &[&str], room: usize) -> (Vec<String>, usize) {
    let mut longest = values::LONGEST_NAME;
    loop {
        let names = names.iter().map(|name| values::shortened(name, longest).0).collect::<Vec<_>>();
        let bytes = names.iter().map(|name| values::size_of_text(name)).sum();
        if bytes <= room || longest <= LEAST {
            return (names, bytes);
        }
        longest /= 2;
    }
}
