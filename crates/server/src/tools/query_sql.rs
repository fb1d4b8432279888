//! `query_sql`: any question about the evidence, in SQL.

use crate::lanes::Lane;
use crate::page::{DEFAULT_MAX_CHARS, max_chars};
use crate::reply::{Refused, Reply};
use crate::rows::Rows;
use crate::tool::{Call, Need, Tool};
use schemars::JsonSchema;
use serde::Deserialize;
use std::time::Duration;
use tamis::evidence::{SqlQuery, SqlRequest};

pub(crate) struct QuerySql;

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Arguments {
    /// One SELECT over tasks, works, pages, fragments, claims, edges and embeddings. It may have its own LIMIT.
    #[schemars(length(min = 1, max = 32_768))]
    sql: String,
    /// Most rows, 1 to 200.
    #[schemars(range(min = 1, max = 200))]
    #[serde(default = "limit")]
    limit: usize,
    /// Time limit in milliseconds, 1 to 2000.
    #[schemars(range(min = 1, max = 2000))]
    #[serde(default = "timeout_ms")]
    timeout_ms: u64,
    /// Include the tables and their columns in the answer.
    #[serde(default)]
    include_schema: bool,
    /// Repository (default: this one).
    namespace: Option<String>,
    /// Most characters of the answer, 1000 to 100000.
    #[schemars(range(min = 1000, max = 100_000))]
    #[serde(default = "max_chars")]
    max_chars: usize,
}

/// Default number of rows.
pub(super) fn limit() -> usize {
    50
}

fn timeout_ms() -> u64 {
    300
}

impl Tool for QuerySql {
    const NAME: &'static str = "query_sql";
    const NEED: Need = Need::Evidence;
    const TITLE: &'static str = "Query evidence";
    const DESCRIPTION: &'static str = "Query the evidence graph (claims, fragments of pages, and which support or refute which) \
        with one SELECT in SQLite's dialect. It only reads, within limits of rows and time. Use query_view when list_views \
        already has the question, and vector_search to find claims or fragments by meaning.";
    const MAX_CHARS: usize = DEFAULT_MAX_CHARS;
    const LANE: Lane = Lane::Slow;
    type Arguments = Arguments;
    type Answer = Rows;

    fn call(call: &Call<'_>, arguments: Arguments) -> Result<Reply<Rows>, Refused> {
        let timeout = Duration::from_millis(arguments.timeout_ms);
        let request = SqlRequest {
            namespace: arguments.namespace,
            allowed_namespaces: call.allowed(),
            query: SqlQuery { limit: arguments.limit, timeout, ..SqlQuery::new(arguments.sql) },
            include_schema: arguments.include_schema,
        };
        let answer = call.index.evidence().query_sql_until(&request, &|| call.observer.cancelled())?;
        Ok(Rows::reply(answer, arguments.max_chars))
    }
}
