//! A predefined question about the evidence.

use crate::api::verbs::Verbs;
use crate::call::{Call, Need};
use crate::lanes::Lane;
use crate::operation::{Argument, Failure, Operation, Route, Tool, field};
use crate::page::max_chars;
use crate::rows::rows_text;
use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::collections::BTreeMap;
use tamis::evidence::{SqlAnswer, SqlValue, ViewRequest};

pub(crate) struct EvidenceView;

impl Operation for EvidenceView {
    const NAME: &'static str = "evidence_view";
    const LANE: Lane = Lane::Slow;
    type Request = ViewRequest;
    type Answer = SqlAnswer;

    fn call(call: &Call<'_>, request: ViewRequest) -> Result<SqlAnswer, Failure> {
        let request = ViewRequest { allowed_namespaces: call.allowed(), ..request };
        Ok(call.index.evidence().query_view_until(&request, &|| call.observer.cancelled())?)
    }
}

impl Route for EvidenceView {
    const PATH: &'static str = "/v1/evidence/views/{view}";
    const VERBS: Verbs = Verbs::GetOrPost;
    const SUMMARY: &'static str = "Ask a predefined question about the evidence";
    const DESCRIPTION: &'static str = "As `tamis evidence view --json`.";
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Options {
    /// Values of the view's other parameters, by name: text or numbers.
    #[schemars(with = "BTreeMap<String, Value>")]
    #[serde(default, deserialize_with = "values")]
    params: BTreeMap<String, SqlValue>,
    /// Most characters of the answer, 1000 to 100000.
    #[schemars(range(min = 1000, max = 100_000))]
    #[serde(default = "max_chars")]
    max_chars: usize,
}

/// The values of parameters in the form that a statement takes.
fn values<'de, D: Deserializer<'de>>(params: D) -> Result<BTreeMap<String, SqlValue>, D::Error> {
    let read = |(name, value): (String, Value)| match serde_json::from_value(value.clone()) {
        Ok(read) => Ok((name, read)),
        Err(_) => Err(D::Error::custom(format!("params.{name} = {value}: must be text or a number"))),
    };
    BTreeMap::<String, Value>::deserialize(params)?.into_iter().map(read).collect()
}

impl Tool for EvidenceView {
    const TOOL_NAME: &'static str = "query_view";
    const NEED: Need = Need::Evidence;
    const TITLE: &'static str = "Query a view";
    const DESCRIPTION: &'static str = "Ask the evidence graph a predefined question, such as v_contradictions or \
        v_unsupported_claims. list_views lists them with what each answers. Use query_sql for any other question.";
    const ARGUMENTS: Option<&'static [Argument]> =
        Some(&[field("view").named("view_name"), field("task").named("task_id"), field("limit"), field("namespace")]);
    type Options = Options;

    fn adapt(_: &Call<'_>, request: &mut ViewRequest, options: &Options) {
        request.parameters = options.params.clone().into_iter().collect();
    }

    fn text(_: &Call<'_>, answer: &SqlAnswer, options: &Options) -> String {
        rows_text(answer, options.max_chars)
    }
}
