//! The predefined questions about the evidence.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use tamis::evidence::{SqlAnswer, SqlValue, ViewDescription, ViewParameter, ViewRequest};

use crate::api::Verbs;
use crate::call_queue::Lane;
use crate::evidence_text::rows_text;
use crate::operation::{Argument, Call, Failure, Need, Nothing, Operation, Route, Tool, field};
use crate::paging::max_chars;
use crate::refusal_text::for_agent;
use crate::untrusted_text::{FIXED_MAX_CHARS, fenced, line};

pub(crate) struct EvidenceViews;

impl Operation for EvidenceViews {
    const NAME: &'static str = "evidence_views";
    type Request = Nothing;
    type Answer = Vec<ViewDescription>;

    fn call(call: &Call<'_>, _: Nothing) -> Result<Vec<ViewDescription>, Failure> {
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

impl Route for EvidenceViews {
    const PATH: &'static str = "/v1/evidence/views";
    const SUMMARY: &'static str = "List the predefined questions about the evidence";
    const DESCRIPTION: &'static str = "As `tamis evidence views --json`.";
}

fn parameter_line(parameter: &ViewParameter) -> String {
    let default = match &parameter.default {
        None | Some(SqlValue::Null) => String::new(),
        Some(SqlValue::Text(text)) => format!(" = {}", line(text)),
        Some(SqlValue::Integer(number)) => format!(" = {number}"),
        Some(SqlValue::Real(number)) => format!(" = {number}"),
    };
    let required = if parameter.required { " (required)" } else { "" };
    format!("  {}{default}{required}: {}\n", line(&parameter.name), line(&parameter.meaning))
}

impl Tool for EvidenceViews {
    const TOOL_NAME: &'static str = "list_views";
    const NEED: Need = Need::Evidence;
    const TITLE: &'static str = "List views";
    const DESCRIPTION: &'static str = "List the predefined questions about the evidence graph, with what each answers and its \
        parameters. Call it before query_view. Use query_sql for a question that no view answers.";
    const MAX_CHARS: usize = FIXED_MAX_CHARS;
    type Options = Nothing;

    fn text(_: &Call<'_>, views: &Vec<ViewDescription>, _: &Nothing) -> String {
        let mut text = String::new();
        for view in views {
            let about = match &view.error {
                Some(error) => format!("cannot be used: {}", for_agent(&line(error))),
                None => line(&view.answers),
            };
            text.push_str(&format!("{}: {about}\n", line(&view.name)));
            view.parameters.iter().for_each(|parameter| text.push_str(&parameter_line(parameter)));
        }
        if text.is_empty() { "There are no views.\n".to_owned() } else { fenced(&text) }
    }
}

// A predefined question about the evidence.

pub(crate) struct EvidenceView;

impl Operation for EvidenceView {
    const NAME: &'static str = "evidence_view";
    const LANE: Lane = Lane::Slow;
    type Request = ViewRequest;
    type Answer = SqlAnswer;

    fn call(call: &Call<'_>, request: ViewRequest) -> Result<SqlAnswer, Failure> {
        let request = ViewRequest { asker: call.asker(), ..request };
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
    const ARGUMENTS: Option<&'static [Argument]> = Some(&[
        field("view").renamed("view_name"),
        field("task").renamed("task_id"),
        field("limit"),
        field("namespace"),
    ]);
    type Options = Options;

    fn adapt(_: &Call<'_>, request: &mut ViewRequest, options: &Options) {
        request.parameters = options.params.clone().into_iter().collect();
    }

    fn text(_: &Call<'_>, answer: &SqlAnswer, options: &Options) -> String {
        rows_text(answer, options.max_chars)
    }
}
