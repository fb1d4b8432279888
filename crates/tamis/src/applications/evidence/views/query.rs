//! Runs a view: its statement with the given values bound.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use tamis_store::{SqlQuery, SqlValue};

use super::template::{Template, value_of};
use super::{Found, ViewColumn, ViewParameter, all, parameters_of};
use crate::Error;
use crate::applications::evidence::EvidenceGraph;
use crate::applications::evidence::sql::{SqlAnswer, SqlLimits, SqlRequest, parse_parameter, values};
use crate::config::nearest;
#[cfg(feature = "clap")]
use crate::flag_values::moment;
use crate::search::Asker;

/// The parameter set by [`ViewRequest::task`].
const TASK: &str = "task_id";

/// A view in a listing.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ViewDescription {
    /// Its name.
    pub name: String,
    /// The question it answers.
    pub answers: String,
    /// Its columns.
    pub columns: Vec<ViewColumn>,
    /// The parameters it accepts.
    pub parameters: Vec<ViewParameter>,
    /// The user's file; null for a built-in view.
    pub file: Option<PathBuf>,
    /// The reason why the user's view is unusable; null if it is usable.
    pub error: Option<String>,
}

/// A view and its parameters. [`ViewRequest::new`] runs it on everything under the usual limits.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct ViewRequest {
    /// Name of the view.
    #[schemars(length(min = 1, max = 200))]
    #[cfg_attr(feature = "clap", arg(value_name = "NAME"))]
    pub view: String,
    /// Only this task, the view's parameter task_id (default: all tasks).
    #[schemars(length(min = 1, max = 200))]
    #[cfg_attr(feature = "clap", arg(long, value_name = "ID"))]
    pub task: Option<String>,
    /// Parameters of the view, each as NAME=VALUE.
    #[schemars(with = "Vec<String>", length(max = 50), inner(length(min = 1, max = 10_000)), extend("x-whole" = true))]
    #[serde(default, deserialize_with = "texts")]
    #[cfg_attr(feature = "clap", arg(long = "param", value_name = "NAME=VALUE", value_parser = parse_parameter))]
    pub parameters: Vec<(String, SqlValue)>,
    /// The limits.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub limits: SqlLimits,
    /// Repository (default: this one).
    #[schemars(length(min = 1, max = 200))]
    #[cfg_attr(feature = "clap", arg(long, value_name = "NAME"))]
    pub namespace: Option<String>,
    /// Who asks.
    #[serde(skip)]
    #[cfg_attr(feature = "clap", arg(skip))]
    pub asker: Asker,
    /// Count years up to this time, in views that count them (default: now).
    #[serde(skip)]
    #[cfg_attr(feature = "clap", arg(long, value_name = "TIME", value_parser = moment))]
    pub now: Option<Timestamp>,
}

impl ViewRequest {
    /// Creates a request for a view with its defaults.
    pub fn new(view: impl Into<String>) -> Self {
        ViewRequest { view: view.into(), ..ViewRequest::default() }
    }
}

fn texts<'de, D: Deserializer<'de>>(texts: D) -> Result<Vec<(String, SqlValue)>, D::Error> {
    values(texts, parse_parameter)
}

/// Lists every view: the built-in ones, then the user's own in the directory `views` of the user's configuration
/// directory. An unusable view gives its reason.
pub fn views(user_directory: Option<&Path>) -> Vec<ViewDescription> {
    all(user_directory).into_iter().map(described).collect()
}

impl EvidenceGraph<'_> {
    /// Lists every [view](views).
    pub fn views(&self) -> Vec<ViewDescription> {
        views(self.index.config.user_directory())
    }

    /// Runs a view on one namespace's graph, through [`EvidenceGraph::query_sql`] and under its limits.
    ///
    /// # Errors
    /// A missing view or parameter, with the nearest name; a value of the wrong type; an unusable view; and all errors
    /// of [`EvidenceGraph::query_sql`].
    pub fn query_view(&self, request: &ViewRequest) -> Result<SqlAnswer, Error> {
        self.query_view_until(request, &|| false)
    }

    /// Runs [`EvidenceGraph::query_view`] until `cancelled` returns `true`, which is an error.
    ///
    /// # Errors
    /// As [`EvidenceGraph::query_view`].
    pub fn query_view_until(&self, request: &ViewRequest, cancelled: &dyn Fn() -> bool) -> Result<SqlAnswer, Error> {
        let now = request.now.unwrap_or_else(crate::dates::present);
        let SqlQuery { sql, parameters, .. } = statement(self.index.config.user_directory(), request, now)?;
        let request = SqlRequest {
            namespace: request.namespace.clone(),
            asker: request.asker.clone(),
            parameters: parameters.into_iter().collect(),
            limits: request.limits,
            ..SqlRequest::new(sql)
        };
        self.query_sql_until(&request, cancelled)
    }
}

fn described(Found { name, file, template }: Found) -> ViewDescription {
    match template {
        Ok(Template { header, .. }) => ViewDescription {
            name,
            answers: header.answers,
            columns: header.columns,
            parameters: header.parameters,
            file,
            error: None,
        },
        Err(error) => ViewDescription {
            name,
            answers: String::new(),
            columns: Vec::new(),
            parameters: Vec::new(),
            file,
            error: Some(error),
        },
    }
}

/// Builds the statement of a view with its values.
///
/// # Errors
/// A missing view or parameter, with the nearest name; a value of the wrong type, or a required value that is not
/// given.
pub(crate) fn statement(
    user_directory: Option<&Path>,
    request: &ViewRequest,
    now: Timestamp,
) -> Result<SqlQuery, Error> {
    let views = all(user_directory);
    let Some(found) = views.iter().find(|view| view.name == request.view) else {
        let allowed = did_you_mean("the name of a view", &request.view, views.iter().map(|view| view.name.as_str()));
        return Err(Error::argument("view", format!("{:?}", request.view), allowed));
    };
    let template = found.template.as_ref().map_err(|error| Error::View { reason: error.clone() })?;
    let known = &template.header.parameters;

    let mut given: BTreeMap<&str, &SqlValue> =
        request.parameters.iter().map(|(name, value)| (name.as_str(), value)).collect();
    let task = request.task.clone().map(SqlValue::Text);
    if let Some(task) = &task
        && given.insert(TASK, task).is_some_and(|other| other != task)
    {
        return Err(Error::argument("parameter", TASK, "given once, as the task or as a parameter"));
    }
    given.retain(|_, value| **value != SqlValue::Null);
    if let Some(unknown) = given.keys().find(|name| !known.iter().any(|parameter| parameter.name == **name)) {
        let names = known.iter().map(|parameter| parameter.name.as_str());
        let allowed = did_you_mean(&format!("a parameter of {}", request.view), unknown, names.clone());
        let allowed = format!("{allowed}; it has {}", listed(names));
        return Err(Error::argument("parameter", format!("{unknown:?}"), allowed));
    }
    let broken = |reason| Error::View { reason };
    let sql = template.text(&given.keys().copied().collect::<BTreeSet<&str>>()).map_err(broken)?;
    let needed = parameters_of(&sql).map_err(|error| broken(format!("{}: {error}", template.name)))?;
    let mut parameters = BTreeMap::new();
    for parameter in known {
        let Some(value) = given.get(parameter.name.as_str()).copied().or(parameter.default.as_ref()) else {
            if needed.contains(parameter.name.as_str()) {
                let allowed = format!("given, since {} needs it: {}", request.view, parameter.meaning);
                return Err(Error::argument("parameter", format!("{:?}", parameter.name), allowed));
            }
            continue;
        };
        let value = value_of(parameter, value, now)
            .and_then(|value| match parameter.values.is_empty() || parameter.values.contains(&value) {
                true => Ok(value),
                false => Err(parameter.values.iter().map(shown).collect::<Vec<_>>().join(" or ")),
            })
            .map_err(|allowed| Error::argument("parameter", format!("{}={}", parameter.name, shown(value)), allowed))?;
        // A value that only affects the text is not bound.
        if needed.contains(parameter.name.as_str()) {
            parameters.insert(parameter.name.clone(), value);
        }
    }
    request.limits.query(sql, parameters)
}

fn shown(value: &SqlValue) -> String {
    match value {
        SqlValue::Text(text) => format!("{text:?}"),
        SqlValue::Integer(number) => number.to_string(),
        SqlValue::Real(number) => number.to_string(),
        SqlValue::Null => "null".to_owned(),
    }
}

fn did_you_mean<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a str>) -> String {
    match nearest(name, known) {
        Some(near) => format!("{what} (did you mean {near}?)"),
        None => what.to_owned(),
    }
}

fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
