//! A view asked: its statement with the values bound to it.

use super::collection::{Found, all};
use super::header::{ViewColumn, ViewParameter};
use super::names::parameters_of;
use super::template::Template;
use super::values::value_of;
use crate::Error;
use crate::applications::evidence::EvidenceGraph;
use crate::applications::evidence::{SqlAnswer, SqlRequest};
use crate::config::nearest;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use tamis_store::{SqlQuery, SqlValue};

/// The parameter that [`ViewRequest::task`] is.
const TASK: &str = "task_id";

/// A view as it is listed.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ViewDescription {
    /// Its name.
    pub name: String,
    /// What it answers.
    pub answers: String,
    /// Its columns.
    pub columns: Vec<ViewColumn>,
    /// What it can be asked by.
    pub parameters: Vec<ViewParameter>,
    /// The user's file that it was read from; null for one that is built in.
    pub file: Option<PathBuf>,
    /// What keeps one of the user's own from being used; null: nothing.
    pub error: Option<String>,
}

/// A view and what it is asked by. [`ViewRequest::new`] asks for everything under the usual limits.
#[derive(Clone, Debug, PartialEq)]
pub struct ViewRequest {
    /// The namespace whose graph is asked. `None`: the index's own.
    pub namespace: Option<String>,
    /// The namespaces that the caller may read. `None`: all.
    pub allowed_namespaces: Option<Vec<String>>,
    /// The view's name.
    pub view: String,
    /// Its parameter `task_id`.
    pub task: Option<String>,
    /// Its parameters by name; null is as if it were not given.
    pub parameters: BTreeMap<String, SqlValue>,
    /// Most rows given, 1 to 200.
    pub limit: usize,
    /// How long it may take.
    pub timeout: std::time::Duration,
    /// Most bytes of the answer, as in [`SqlQuery::max_bytes`].
    pub max_bytes: usize,
    /// The time that counts as now. `None`: the clock's.
    pub now: Option<Timestamp>,
}

impl ViewRequest {
    /// A view with its defaults.
    pub fn new(view: impl Into<String>) -> Self {
        let SqlQuery { limit, timeout, max_bytes, .. } = SqlQuery::new("");
        ViewRequest {
            namespace: None,
            allowed_namespaces: None,
            view: view.into(),
            task: None,
            parameters: BTreeMap::new(),
            limit,
            timeout,
            max_bytes,
            now: None,
        }
    }
}

/// Every view: those that are built in, then the user's own in the directory `views` of the user's configuration directory.
/// One that is not fit for use says why.
pub fn views(user_directory: Option<&Path>) -> Vec<ViewDescription> {
    all(user_directory).into_iter().map(described).collect()
}

impl EvidenceGraph<'_> {
    /// Every [view](views).
    pub fn views(&self) -> Vec<ViewDescription> {
        views(self.index.config.user_directory())
    }

    /// Asks a view of one namespace's graph, through [`EvidenceGraph::query_sql`] and under its limits.
    ///
    /// # Errors
    /// A view or a parameter that is not there, with the nearest name; a value of another type; a view that is not fit for
    /// use; and all of [`EvidenceGraph::query_sql`].
    pub fn query_view(&self, request: &ViewRequest) -> Result<SqlAnswer, Error> {
        self.query_view_until(request, &|| false)
    }

    /// [`EvidenceGraph::query_view`] that ends early, with an error, when `cancelled` says so.
    ///
    /// # Errors
    /// As [`EvidenceGraph::query_view`].
    pub fn query_view_until(&self, request: &ViewRequest, cancelled: &dyn Fn() -> bool) -> Result<SqlAnswer, Error> {
        let now = request.now.unwrap_or_else(Timestamp::now);
        let request = SqlRequest {
            namespace: request.namespace.clone(),
            allowed_namespaces: request.allowed_namespaces.clone(),
            query: statement(self.index.config.user_directory(), request, now)?,
            include_schema: false,
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

/// The statement of a view with its values.
///
/// # Errors
/// A view or a parameter that is not there, with the nearest name; a value of another type, or none where one is needed.
pub(super) fn statement(
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
            .map_err(|allowed| Error::argument("parameter", format!("{}={}", parameter.name, shown(value)), allowed))?;
        // A value that only decides on the text has no place in it.
        if needed.contains(parameter.name.as_str()) {
            parameters.insert(parameter.name.clone(), value);
        }
    }
    Ok(SqlQuery { sql, parameters, limit: request.limit, timeout: request.timeout, max_bytes: request.max_bytes })
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
