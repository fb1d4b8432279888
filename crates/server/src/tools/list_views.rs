//! `list_views`: the predefined questions about the evidence.

use crate::agent_messages::for_agent;
use crate::reply::{Refused, Reply};
use crate::text::{fenced, line};
use crate::tool::{Call, Need, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt::Write;
use tamis::evidence::{ParameterType, SqlValue, ViewDescription, ViewParameter};

pub(crate) struct ListViews;

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Arguments {}

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

impl Tool for ListViews {
    const NAME: &'static str = "list_views";
    const NEED: Need = Need::Evidence;
    const TITLE: &'static str = "List views";
    const DESCRIPTION: &'static str = "List the predefined questions about the evidence graph, with what each answers and its \
        parameters. Call it before query_view. Use query_sql for a question that no view answers.";
    type Arguments = Arguments;
    type Answer = Views;

    fn call(call: &Call<'_>, _: Arguments) -> Result<Reply<Views>, Refused> {
        // Errors name paths of the user's files, so only callers who may read everything see them.
        let shows_paths = call.caller.namespaces.is_none();
        let view = |view: ViewDescription| View {
            name: line(&view.name),
            answers: line(&view.answers),
            parameters: view.parameters.into_iter().map(Parameter::of).collect(),
            columns: view.columns.iter().map(|column| line(&column.name)).collect(),
            error: view.error.map(|error| if shows_paths { for_agent(&line(&error)) } else { "invalid".to_owned() }),
        };
        let views = Views { views: call.index.evidence().views().into_iter().map(view).collect() };
        let mut text = String::new();
        for view in &views.views {
            match &view.error {
                Some(error) => drop(writeln!(text, "{}: cannot be used: {error}", view.name)),
                None => drop(writeln!(text, "{}: {}", view.name, view.answers)),
            }
            view.parameters.iter().for_each(|parameter| text.push_str(&parameter.text()));
        }
        let text = if text.is_empty() { "There are no views.\n".to_owned() } else { fenced(&text) };
        Ok(Reply::new(views, text))
    }
}
