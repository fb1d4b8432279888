//! The predefined questions about the evidence.

use crate::agent_messages::for_agent;
use crate::call::{Call, Need};
use crate::operation::{Failure, Nothing, Operation, Route, Tool};
use crate::sanitize::FIXED_MAX_CHARS;
use crate::text::{fenced, line};
use tamis::evidence::{SqlValue, ViewDescription, ViewParameter};

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
