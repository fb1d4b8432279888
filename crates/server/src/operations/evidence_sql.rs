//! Any question about the evidence, in SQL.

use schemars::JsonSchema;
use serde::Deserialize;
use tamis::evidence::{SqlAnswer, SqlRequest};

use crate::api::Verbs;
use crate::call_queue::Lane;
use crate::evidence_text::rows_text;
use crate::operation::{Argument, Call, Failure, Need, Operation, Route, Tool, field};
use crate::paging::max_chars;

pub(crate) struct EvidenceSql;

impl Operation for EvidenceSql {
    const NAME: &'static str = "evidence_sql";
    const LANE: Lane = Lane::Slow;
    type Request = SqlRequest;
    type Answer = SqlAnswer;

    fn call(call: &Call<'_>, request: SqlRequest) -> Result<SqlAnswer, Failure> {
        let request = SqlRequest { asker: call.asker(), ..request };
        Ok(call.index.evidence().query_sql_until(&request, &|| call.observer.cancelled())?)
    }
}

impl Route for EvidenceSql {
    const PATH: &'static str = "/v1/evidence/sql";
    const VERBS: Verbs = Verbs::GetOrPost;
    const SUMMARY: &'static str = "Query the evidence in SQL, which can only read";
    const DESCRIPTION: &'static str = "As `tamis evidence sql --json`.";
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Options {
    /// Most characters of the answer, 1000 to 100000.
    #[schemars(range(min = 1000, max = 100_000))]
    #[serde(default = "max_chars")]
    max_chars: usize,
}

impl Tool for EvidenceSql {
    const TOOL_NAME: &'static str = "query_sql";
    const NEED: Need = Need::Evidence;
    const TITLE: &'static str = "Query evidence";
    const DESCRIPTION: &'static str = "Query the evidence graph (claims, fragments of pages, and which support or refute which) \
        with one SELECT in SQLite's dialect. It only reads, within limits of rows and time. Use query_view when list_views \
        already has the question, and vector_search to find claims or fragments by meaning.";
    const ARGUMENTS: Option<&'static [Argument]> = Some(&[
        field("sql"),
        field("limit"),
        field("timeout").renamed("timeout_ms"),
        field("schema").renamed("include_schema"),
        field("namespace"),
    ]);
    type Options = Options;

    fn text(_: &Call<'_>, answer: &SqlAnswer, options: &Options) -> String {
        rows_text(answer, options.max_chars)
    }
}
