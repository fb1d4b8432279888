//! SQL over the evidence graph.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use tamis_store::{LONGEST_SQL_TIME, MOST_SQL_ROWS, SQL_TABLES, SqlQuery, SqlTable, SqlValue, StoreError};

use super::EvidenceGraph;
use crate::Error;
#[cfg(feature = "clap")]
use crate::flag_values::whole;
use crate::search::Asker;

/// A statement on the evidence of one namespace.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct SqlRequest {
    /// One SELECT over tasks, works, pages, fragments, claims, edges and embeddings. It may have its own LIMIT.
    #[schemars(length(min = 1, max = 32_768))]
    #[cfg_attr(feature = "clap", arg(skip))]
    pub sql: String,
    /// Parameters of the statement, each as NAME=VALUE; a value that reads as a number is one.
    #[schemars(with = "Vec<String>", length(max = 50), inner(length(min = 1, max = 10_000)), extend("x-whole" = true))]
    #[serde(default, deserialize_with = "numbers_and_texts")]
    #[cfg_attr(feature = "clap", arg(long = "param", value_name = "NAME=VALUE", value_parser = number_or_text))]
    pub parameters: Vec<(String, SqlValue)>,
    /// The limits.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub limits: SqlLimits,
    /// Include the tables and their columns in the answer.
    #[serde(default)]
    #[cfg_attr(feature = "clap", arg(long))]
    pub schema: bool,
    /// Repository (default: this one).
    #[schemars(length(min = 1, max = 200))]
    #[cfg_attr(feature = "clap", arg(long, value_name = "NAME"))]
    pub namespace: Option<String>,
    /// Who asks.
    #[serde(skip)]
    #[cfg_attr(feature = "clap", arg(skip))]
    pub asker: Asker,
}

/// The limits of a statement or a view. The default is 50 rows, 300 milliseconds, 256 KiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct SqlLimits {
    /// Most rows, 1 to 200.
    #[schemars(range(min = 1, max = 200))]
    #[serde(default = "rows")]
    #[cfg_attr(feature = "clap", arg(short = 'n', long, value_name = "N", default_value_t = rows(), value_parser = whole::<1, MOST_SQL_ROWS>, allow_negative_numbers = true))]
    pub limit: usize,
    /// Time limit in milliseconds, 1 to 2000.
    #[schemars(range(min = 1, max = 2000))]
    #[serde(default = "milliseconds")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "MS", default_value_t = milliseconds(), value_parser = whole::<1, { LONGEST_SQL_TIME.as_millis() as usize }>, allow_negative_numbers = true))]
    pub timeout: usize,
    /// Most bytes of the answer, as in [`SqlQuery::max_bytes`]. `None`: 256 KiB.
    #[serde(skip)]
    #[cfg_attr(feature = "clap", arg(skip))]
    pub max_bytes: Option<usize>,
}

fn rows() -> usize {
    50
}

fn milliseconds() -> usize {
    300
}

impl Default for SqlLimits {
    fn default() -> Self {
        SqlLimits { limit: rows(), timeout: milliseconds(), max_bytes: None }
    }
}

impl SqlLimits {
    /// A statement under these limits.
    ///
    /// # Errors
    /// A limit that is not allowed.
    pub(crate) fn query(&self, sql: String, parameters: BTreeMap<String, SqlValue>) -> Result<SqlQuery, Error> {
        if !(1..=MOST_SQL_ROWS).contains(&self.limit) {
            return Err(Error::argument("limit", self.limit.to_string(), format!("from 1 to {MOST_SQL_ROWS}")));
        }
        let timeout = Duration::from_millis(self.timeout as u64);
        if timeout.is_zero() || timeout > LONGEST_SQL_TIME {
            let allowed = format!("from 1 to {} milliseconds", LONGEST_SQL_TIME.as_millis());
            return Err(Error::argument("timeout", self.timeout.to_string(), allowed));
        }
        let usual = SqlQuery::new(sql);
        let max_bytes = self.max_bytes.unwrap_or(usual.max_bytes);
        Ok(SqlQuery { parameters, limit: self.limit, timeout, max_bytes, ..usual })
    }
}

impl SqlRequest {
    /// Creates a request under the usual limits.
    pub fn new(sql: impl Into<String>) -> Self {
        SqlRequest { sql: sql.into(), ..SqlRequest::default() }
    }
}

/// `NAME=VALUE`, or `:NAME=VALUE`.
pub(crate) fn parse_parameter(text: &str) -> Result<(String, SqlValue), String> {
    let (name, value) = text.split_once('=').filter(|(name, _)| !name.is_empty()).ok_or("must be NAME=VALUE")?;
    Ok((name.strip_prefix(':').unwrap_or(name).to_owned(), SqlValue::Text(value.to_owned())))
}

/// `NAME=VALUE`, whose value is a number where it reads as one.
fn number_or_text(text: &str) -> Result<(String, SqlValue), String> {
    let (name, value) = parse_parameter(text)?;
    let SqlValue::Text(text) = &value else { return Ok((name, value)) };
    let value = match (text.parse(), text.parse::<f64>()) {
        (Ok(number), _) => SqlValue::Integer(number),
        (_, Ok(number)) if number.is_finite() => SqlValue::Real(number),
        _ => value,
    };
    Ok((name, value))
}

fn numbers_and_texts<'de, D: Deserializer<'de>>(texts: D) -> Result<Vec<(String, SqlValue)>, D::Error> {
    values(texts, number_or_text)
}

/// Reads each of some texts.
pub(crate) fn values<'de, D: Deserializer<'de>>(
    texts: D,
    read: fn(&str) -> Result<(String, SqlValue), String>,
) -> Result<Vec<(String, SqlValue)>, D::Error> {
    let texts = Vec::<String>::deserialize(texts)?;
    let read = |text: &String| read(text).map_err(|error| D::Error::custom(format!("parameters = {text:?}: {error}")));
    texts.iter().map(read).collect()
}

/// The result of a statement.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SqlAnswer {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The rows, each with one value a column.
    pub rows: Vec<Vec<SqlValue>>,
    /// The number of rows returned.
    pub row_count: usize,
    /// True if a limit of this call cut off further rows. The statement's own LIMIT does not count.
    pub truncated: bool,
    /// The number of values that were shortened; a shortened value states its length.
    pub shortened: usize,
    /// Time taken, in milliseconds.
    pub elapsed_ms: f64,
    /// The tables that a statement can read, if they were requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<Vec<SqlTable>>,
}

impl EvidenceGraph<'_> {
    /// Runs a statement on the evidence of one namespace: one SELECT over [`SQL_TABLES`]. It can read nothing else,
    /// changes nothing, and ends within its limits.
    ///
    /// # Errors
    /// A limit or namespace that is not allowed; [`Error::Sql`] if the statement cannot run; a store that fails.
    pub fn query_sql(&self, request: &SqlRequest) -> Result<SqlAnswer, Error> {
        self.query_sql_until(request, &|| false)
    }

    /// Runs [`EvidenceGraph::query_sql`] until `cancelled` returns `true`, which is an error.
    ///
    /// # Errors
    /// As [`EvidenceGraph::query_sql`].
    pub fn query_sql_until(&self, request: &SqlRequest, cancelled: &dyn Fn() -> bool) -> Result<SqlAnswer, Error> {
        let query = request.limits.query(request.sql.clone(), request.parameters.iter().cloned().collect())?;
        let namespace = self.namespace(request.namespace.as_deref(), request.asker.allowed_namespaces.as_deref())?;
        let rows = self.index.store.query_sql(&namespace, &query, cancelled).map_err(|error| match error {
            StoreError::Sql { error, hint } => Error::Sql { error, hint },
            other => Error::Store(other),
        })?;
        Ok(SqlAnswer {
            columns: rows.columns,
            rows: rows.rows,
            row_count: rows.row_count,
            truncated: rows.truncated,
            shortened: rows.shortened,
            elapsed_ms: rows.elapsed_ms,
            schema: request.schema.then(|| SQL_TABLES.to_vec()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_is_a_number_where_it_is_one() {
        let text = |text: &str| SqlValue::Text(text.to_owned());
        let value = |given| number_or_text(given).unwrap();
        assert_eq!(value("task=t1"), ("task".into(), text("t1")));
        assert_eq!(value(":year=1998"), ("year".into(), SqlValue::Integer(1998)));
        assert_eq!(value("floor=0.5"), ("floor".into(), SqlValue::Real(0.5)));
        assert_eq!([value("x=a=b"), value("x=")], [("x".into(), text("a=b")), ("x".into(), text(""))]);
        assert_eq!(value("x=inf"), ("x".into(), text("inf")));
        assert!(number_or_text("x").is_err() && number_or_text("=1").is_err());
    }
}
