//! SQL over the evidence graph.

use super::EvidenceGraph;
use crate::Error;
use schemars::JsonSchema;
use serde::Serialize;
use tamis_store::{LONGEST_SQL_TIME, MOST_SQL_ROWS, SQL_TABLES, SqlQuery, SqlTable, SqlValue, StoreError};

/// A statement on the evidence of one namespace.
#[derive(Clone, Debug, PartialEq)]
pub struct SqlRequest {
    /// The namespace of the evidence. `None`: [`Index::own_namespace`].
    pub namespace: Option<String>,
    /// The namespaces that the caller may read. `None`: all.
    pub allowed_namespaces: Option<Vec<String>>,
    /// The statement with its parameters and limits.
    pub query: SqlQuery,
    /// True to include the tables and their columns in the answer.
    pub include_schema: bool,
}

impl SqlRequest {
    /// Creates a request under the usual limits: 50 rows, 300 milliseconds.
    pub fn new(sql: impl Into<String>) -> Self {
        SqlRequest { namespace: None, allowed_namespaces: None, query: SqlQuery::new(sql), include_schema: false }
    }
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
        let query = &request.query;
        if !(1..=MOST_SQL_ROWS).contains(&query.limit) {
            return Err(Error::argument("limit", query.limit.to_string(), format!("from 1 to {MOST_SQL_ROWS}")));
        }
        if query.timeout.as_millis() == 0 || query.timeout > LONGEST_SQL_TIME {
            let allowed = format!("from 1 to {} milliseconds", LONGEST_SQL_TIME.as_millis());
            return Err(Error::argument("timeout_ms", query.timeout.as_millis().to_string(), allowed));
        }
        let namespace = self.namespace(request.namespace.as_deref(), request.allowed_namespaces.as_deref())?;
        let rows = self.index.store.query_sql(&namespace, query, cancelled).map_err(|error| match error {
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
            schema: request.include_schema.then(|| SQL_TABLES.to_vec()),
        })
    }
}
