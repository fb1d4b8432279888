//! `list_views`: the questions to the evidence graph that have a name.

use crate::advice::addressed;
use crate::reply::{Refused, Reply};
use crate::text::{fenced, line};
use crate::tool::{Call, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt::Write;
use tamis::evidence::{ParameterType, SqlValue, ViewDescription, ViewParameter};

pub(crate) struct ListViews;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {}

/// All views.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Views {
    /// The views, by name.
    views: Vec<View>,
}

/// A question that has a name.
#[derive(Debug, Serialize, JsonSchema)]
struct View {
    /// Its name, which `query_view` takes.
    name: String,
    /// What it answers.
    answers: String,
    /// What it can be asked by.
    parameters: Vec<Parameter>,
    /// The names of its columns.
    columns: Vec<String>,
    /// What keeps one of the user's own from being used; absent where nothing does.
    error: Option<String>,
}

/// What a view can be asked by.
#[derive(Debug, Serialize, JsonSchema)]
struct Parameter {
    /// Its name.
    name: String,
    /// What its values are.
    r#type: Kind,
    /// Whether the view cannot do without a value.
    required: bool,
    /// Its value where none is given; absent where there is none.
    default: Option<String>,
    /// What it does.
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
    const TITLE: &'static str = "List views";
    const DESCRIPTION: &'static str = "The questions to the evidence graph that have a name: what each answers, and by what it can \
        be asked. Take it before query_view; query_sql is for what none of them answers.";
    type Arguments = Arguments;
    type Answer = Views;

    fn call(call: &Call<'_>, _: Arguments) -> Result<Reply<Views>, Refused> {
        // Where the user's files are is told to those who may read everything.
        let tells_places = call.caller.namespaces.is_none();
        let view = |view: ViewDescription| View {
            name: line(&view.name),
            answers: line(&view.answers),
            parameters: view.parameters.into_iter().map(Parameter::of).collect(),
            columns: view.columns.iter().map(|column| line(&column.name)).collect(),
            error: view
                .error
                .map(|error| if tells_places { addressed(&line(&error)) } else { "not fit for use".to_owned() }),
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
