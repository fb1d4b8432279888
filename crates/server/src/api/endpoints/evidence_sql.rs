//! `/v1/evidence/sql`: any question about the evidence, in SQL.

use super::evidence_views::{limit, named_values, timeout};
use crate::api::endpoint::{Endpoint, Verbs};
use crate::api::problem::Problem;
use crate::lanes::Lane;
use crate::tool::Call;
use schemars::JsonSchema;
use serde::Deserialize;
use std::time::Duration;
use tamis::evidence::{SqlAnswer, SqlQuery, SqlRequest, SqlValue};

pub(crate) struct EvidenceSql;

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Parameters {
    /// One SELECT over tasks, works, pages, fragments, claims, edges and embeddings.
    #[schemars(length(min = 1, max = 32_768))]
    sql: String,
    /// Parameters of the statement, each as NAME=VALUE; a value that reads as a number is one.
    #[schemars(length(max = 50), inner(length(min = 1, max = 10_000)), extend("x-whole" = true))]
    #[serde(default)]
    parameters: Vec<String>,
    /// Most rows.
    #[schemars(range(min = 1, max = 200))]
    #[serde(default = "limit")]
    limit: usize,
    /// Time limit in milliseconds.
    #[schemars(range(min = 1, max = 2000))]
    #[serde(default = "timeout")]
    timeout: u64,
    /// Include the tables and their columns in the answer.
    #[serde(default)]
    schema: bool,
    /// Repository (default: the server's own).
    #[schemars(length(min = 1, max = 200))]
    namespace: Option<String>,
}

impl Endpoint for EvidenceSql {
    const NAME: &'static str = "evidence_sql";
    const PATH: &'static str = "/v1/evidence/sql";
    const VERBS: Verbs = Verbs::GetOrPost;
    const SUMMARY: &'static str = "Query the evidence in SQL, which can only read";
    const DESCRIPTION: &'static str = "As `tamis evidence sql --json`.";
    const LANE: Lane = Lane::Slow;
    type Parameters = Parameters;
    type Answer = SqlAnswer;

    fn call(call: &Call<'_>, parameters: Parameters) -> Result<SqlAnswer, Problem> {
        let request = SqlRequest {
            namespace: parameters.namespace,
            allowed_namespaces: call.allowed(),
            query: SqlQuery {
                parameters: named_values(&parameters.parameters, value)?,
                limit: parameters.limit,
                timeout: Duration::from_millis(parameters.timeout),
                ..SqlQuery::new(parameters.sql)
            },
            include_schema: parameters.schema,
        };
        Ok(call.index.evidence().query_sql_until(&request, &|| call.observer.cancelled())?)
    }
}

fn value(text: &str) -> SqlValue {
    match (text.parse(), text.parse::<f64>()) {
        (Ok(number), _) => SqlValue::Integer(number),
        (_, Ok(number)) if number.is_finite() => SqlValue::Real(number),
        _ => SqlValue::Text(text.to_owned()),
    }
}
