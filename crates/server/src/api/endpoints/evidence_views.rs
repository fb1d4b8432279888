//! `/v1/evidence/views`: predefined questions about the evidence.

use crate::api::endpoint::{Endpoint, Verbs};
use crate::api::problem::Problem;
use crate::lanes::Lane;
use crate::tool::Call;
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::time::Duration;
use tamis::evidence::{SqlAnswer, SqlValue, ViewDescription, ViewRequest};

pub(crate) struct EvidenceViews;
pub(crate) struct EvidenceView;

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct NoParameters {}

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Parameters {
    /// Name of the view.
    #[schemars(length(min = 1, max = 200))]
    view: String,
    /// Only this task (the view's parameter task_id).
    #[schemars(length(min = 1, max = 200))]
    task: Option<String>,
    /// Parameters of the view, each as NAME=VALUE.
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
    /// Repository (default: the server's own).
    #[schemars(length(min = 1, max = 200))]
    namespace: Option<String>,
}

pub(super) fn limit() -> usize {
    50
}

pub(super) fn timeout() -> u64 {
    300
}

/// Parameters of the form `NAME=VALUE`.
pub(super) fn named_values(
    parameters: &[String],
    value: fn(&str) -> SqlValue,
) -> Result<BTreeMap<String, SqlValue>, Problem> {
    let named = |text: &String| match text.split_once('=').filter(|(name, _)| !name.is_empty()) {
        Some((name, given)) => Ok((name.strip_prefix(':').unwrap_or(name).to_owned(), value(given))),
        None => Err(Problem::parameter("parameters", text, "NAME=VALUE")),
    };
    parameters.iter().map(named).collect()
}

impl Endpoint for EvidenceViews {
    const NAME: &'static str = "evidence_views";
    const PATH: &'static str = "/v1/evidence/views";
    const SUMMARY: &'static str = "List the predefined questions about the evidence";
    const DESCRIPTION: &'static str = "As `tamis evidence views --json`.";
    type Parameters = NoParameters;
    type Answer = Vec<ViewDescription>;

    fn call(call: &Call<'_>, _: NoParameters) -> Result<Vec<ViewDescription>, Problem> {
        let mut views = call.index.evidence().views();
        if call.caller.namespaces.is_some() {
            // Both name paths of the user's files.
            for view in &mut views {
                view.file = None;
                view.error = view.error.take().map(|_| "invalid".to_owned());
            }
        }
        Ok(views)
    }
}

impl Endpoint for EvidenceView {
    const NAME: &'static str = "evidence_view";
    const PATH: &'static str = "/v1/evidence/views/{view}";
    const VERBS: Verbs = Verbs::GetOrPost;
    const SUMMARY: &'static str = "Ask a predefined question about the evidence";
    const DESCRIPTION: &'static str = "As `tamis evidence view --json`.";
    const LANE: Lane = Lane::Slow;
    type Parameters = Parameters;
    type Answer = SqlAnswer;

    fn call(call: &Call<'_>, parameters: Parameters) -> Result<SqlAnswer, Problem> {
        let request = ViewRequest {
            namespace: parameters.namespace,
            allowed_namespaces: call.allowed(),
            task: parameters.task,
            parameters: named_values(&parameters.parameters, |text| SqlValue::Text(text.to_owned()))?,
            limit: parameters.limit,
            timeout: Duration::from_millis(parameters.timeout),
            ..ViewRequest::new(parameters.view)
        };
        Ok(call.index.evidence().query_view_until(&request, &|| call.observer.cancelled())?)
    }
}
