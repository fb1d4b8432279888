//! Untrusted SQL statements and their rows, as data.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The most rows of an answer.
pub const MOST_SQL_ROWS: usize = 200;

/// The longest time limit of a statement.
pub const LONGEST_SQL_TIME: Duration = Duration::from_secs(2);

/// The most bytes of an answer as JSON.
pub const MOST_SQL_BYTES: usize = 1 << 20;

/// The least [`SqlQuery::max_bytes`]: the size of the widest row with its values shortened to a few characters.
pub const LEAST_SQL_BYTES: usize = 16 << 10;

/// A statement on the evidence tables of one namespace.
#[derive(Debug, Clone, PartialEq)]
pub struct SqlQuery {
    /// The statement. It must be a single one that reads.
    pub sql: String,
    /// Values for its parameters, by name without the colon: `task_id` for `:task_id`. They are bound, never inserted into the
    /// text. A value without a parameter is an error; a parameter without a value is null.
    pub parameters: BTreeMap<String, SqlValue>,
    /// Most rows returned, 1 to [`MOST_SQL_ROWS`].
    pub limit: usize,
    /// The time limit, at most [`LONGEST_SQL_TIME`].
    pub timeout: Duration,
    /// Most bytes of column names and rows as JSON, [`LEAST_SQL_BYTES`] to [`MOST_SQL_BYTES`]. Rows that do not fit are omitted
    /// ([`SqlRows::truncated`]); a first row that does not fit has its values shortened.
    pub max_bytes: usize,
}

impl SqlQuery {
    /// Makes a statement without parameters and with the default limits: 50 rows, 300 milliseconds, 256 KiB.
    pub fn new(sql: impl Into<String>) -> SqlQuery {
        SqlQuery {
            sql: sql.into(),
            parameters: BTreeMap::new(),
            limit: 50,
            timeout: Duration::from_millis(300),
            max_bytes: 256 << 10,
        }
    }
}

/// A value passed into a statement or returned by it. Bytes are returned as text, `x'…'` in hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum SqlValue {
    /// Null.
    Null,
    /// A whole number.
    Integer(i64),
    /// A floating-point number.
    Real(f64),
    /// A text.
    Text(String),
}

/// The result of a statement.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct SqlRows {
    /// The names of the columns; a long one ends in `…` and its length.
    pub columns: Vec<String>,
    /// The rows, each with one value a column.
    pub rows: Vec<Vec<SqlValue>>,
    /// The number of rows returned.
    pub row_count: usize,
    /// True if a limit of this call cut off further rows. The statement's own LIMIT does not count.
    pub truncated: bool,
    /// The number of values that were shortened; such a value ends in `…` and its length.
    pub shortened: usize,
    /// Time taken, in milliseconds.
    pub elapsed_ms: f64,
}
