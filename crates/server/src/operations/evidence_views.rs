//! The predefined questions about the evidence.

use crate::agent_messages::for_agent;
use crate::call::{Call, Need};
use crate::operation::{Failure, Nothing, Operation, Route, Tool};
use crate::reply::Reply;
use crate::sanitize::FIXED_MAX_CHARS;
use crate::text::{fenced, line};
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::Write;
use tamis::evidence::{ParameterType, SqlValue, ViewDescription, ViewParameter};

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

/// All views.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Views {
    /// The views, by name.
    views: Vec<View>,
}

/// A predefined question.
#[derive(Debug, Serialize, JsonSchema)]
struct View {
    /// Name, for `query_view`.
    name: String,
    /// The question that it answers.
    answers: String,
    /// Parameters of the view.
    parameters: Vec<Parameter>,
    /// Names of the columns.
    columns: Vec<String>,
    /// The reason a user's own view is unusable; absent for a usable one.
    error: Option<String>,
}

/// A parameter of a view.
#[derive(Debug, Serialize, JsonSchema)]
struct Parameter {
    /// Name.
    name: String,
    /// Type of its values.
    r#type: Kind,
    /// True if a value is required.
    required: bool,
    /// Default value, if any.
    default: Option<String>,
    /// Effect of the parameter.
    meaning: String,
}

#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Text,
    Integer,
    Number,
    Time,
}

impl Parameter {
    fn of(parameter: ViewParameter) -> Self {
        let default = match parameter.default {
            None | Some(SqlValue::Null) => None,
            Some(SqlValue::Text(text)) => Some(line(&text)),
            Some(SqlValue::Integer(number)) => Some(number.to_string()),
            Some(SqlValue::Real(number)) => Some(number.to_string()),
        };
        Parameter {
            name: line(&parameter.name),
            r#type: match parameter.kind {
                ParameterType::Text => Kind::Text,
                ParameterType::Integer => Kind::Integer,
                ParameterType::Number => Kind::Number,
                ParameterType::Time => Kind::Time,
            },
            required: parameter.required,
            default,
            meaning: line(&parameter.meaning),
        }
    }

    fn text(&self) -> String {
        let default = self.default.as_ref().map(|value| format!(" = {value}")).unwrap_or_default();
        let required = if self.required { " (required)" } else { "" };
        format!("  {}{default}{required}: {}\n", self.name, self.meaning)
    }
}

impl Tool for EvidenceViews {
    const TOOL_NAME: &'static str = "list_views";
    const NEED: Need = Need::Evidence;
    const TITLE: &'static str = "List views";
    const DESCRIPTION: &'static str = "List the predefined questions about the evidence graph, with what each answers and its \
        parameters. Call it before query_view. Use query_sql for a question that no view answers.";
    const MAX_CHARS: usize = FIXED_MAX_CHARS;
    type Options = Nothing;
    type View = Views;

    fn view(_: &Call<'_>, views: Vec<ViewDescription>, _: Nothing) -> Reply<Views> {
        let view = |view: ViewDescription| View {
            name: line(&view.name),
            answers: line(&view.answers),
            parameters: view.parameters.into_iter().map(Parameter::of).collect(),
            columns: view.columns.iter().map(|column| line(&column.name)).collect(),
            error: view.error.map(|error| for_agent(&line(&error))),
        };
        let views = Views { views: views.into_iter().map(view).collect() };
        let mut text = String::new();
        for view in &views.views {
            match &view.error {
                Some(error) => drop(writeln!(text, "{}: cannot be used: {error}", view.name)),
                None => drop(writeln!(text, "{}: {}", view.name, view.answers)),
            }
            view.parameters.iter().for_each(|parameter| text.push_str(&parameter.text()));
        }
        let text = if text.is_empty() { "There are no views.\n".to_owned() } else { fenced(&text) };
        Reply::new(views, text)
    }
}
