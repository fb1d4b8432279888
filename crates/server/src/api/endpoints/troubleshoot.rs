//! `/v1/troubleshoot`: similar problems that were already solved.

use super::filters::ENTRY_POINT;
use crate::api::endpoint::{Endpoint, Verbs};
use crate::api::problem::Problem;
use crate::tool::Call;
use schemars::JsonSchema;
use serde::Deserialize;
use tamis::troubleshoot::{Trouble, TroubleshootRequest, Troubleshooting};

pub(crate) struct Troubleshoot;

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Parameters {
    /// The problem in one line, like the title of a report.
    #[schemars(length(max = 1000))]
    #[serde(default)]
    title: String,
    /// Everything known about it: error messages, steps taken, versions.
    #[schemars(length(max = 50_000))]
    #[serde(default)]
    body: String,
    /// Number of an issue of the index, in place of a title and a body.
    #[schemars(range(min = 1, max = 9_000_000_000_000_i64))]
    issue: Option<u64>,
    /// Least similarity of an issue (default: triage.troubleshooting.similarity_threshold).
    #[schemars(range(min = 0.0, max = 1.0))]
    threshold: Option<f64>,
    /// Most solved issues (default: triage.troubleshooting.max_results).
    #[schemars(range(min = 1, max = 10))]
    max_results: Option<usize>,
    /// Characters shared by the threads (default: triage.troubleshooting.total_budget_chars).
    #[schemars(range(min = 1000, max = 50_000))]
    budget: Option<usize>,
    /// Repository to search first (default: the server's own, or all).
    #[schemars(length(min = 1, max = 200))]
    namespace: Option<String>,
}

impl Endpoint for Troubleshoot {
    const NAME: &'static str = "troubleshoot";
    const PATH: &'static str = "/v1/troubleshoot";
    const VERBS: Verbs = Verbs::GetOrPost;
    const SUMMARY: &'static str = "Find similar problems that were already solved";
    const DESCRIPTION: &'static str = "As `tamis troubleshoot --json`. Takes a title, a body or both; or the number of an issue.";
    type Parameters = Parameters;
    type Answer = Troubleshooting;

    fn call(call: &Call<'_>, parameters: Parameters) -> Result<Troubleshooting, Problem> {
        let Parameters { title, body, issue, .. } = parameters;
        let trouble = match issue {
            Some(number) if title.is_empty() && body.is_empty() => Trouble::Issue(number),
            Some(number) => return Err(Problem::parameter("issue", number, "without a title and a body")),
            None => Trouble::Text { title, body },
        };
        Ok(call.index.troubleshooting().answer(&TroubleshootRequest {
            similarity_threshold: parameters.threshold,
            max_results: parameters.max_results,
            total_budget_chars: parameters.budget,
            namespace: parameters.namespace,
            allowed_namespaces: call.allowed(),
            entry_point: Some(ENTRY_POINT.to_owned()),
            ..TroubleshootRequest::new(trouble)
        }, call.observer)?)
    }
}
