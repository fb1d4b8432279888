//! `tamis.Index`: an open index. Its answers are JSON, of which the package's own files make dataclasses.

use crate::error;
use crate::interruptible::{Refresh, interruptible, refuse_fork};
use crate::request::complete;
use pyo3::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;
use tamis::feedback::Label;
use tamis::related::RelatedRequest;
use tamis::search::SearchCaller;
use tamis::tree::GrepRequest;
use tamis::{Error, Freshness, GetRequest, RunOptions, SearchRequest};

/// An open index.
#[pyclass(name = "Index", frozen, module = "tamis._tamis")]
pub struct PyIndex {
    index: Arc<tamis::Index>,
    caller: SearchCaller,
    /// The process that opened it.
    opened_in: u32,
}

/// An answer as JSON, with the scores of its pool, best first.
type Answered = (String, Vec<f64>);

#[pymethods]
impl PyIndex {
    #[new]
    #[pyo3(signature = (path, *, store=None, index_directory=None, settings=None))]
    fn open(
        py: Python<'_>,
        path: PathBuf,
        store: Option<String>,
        index_directory: Option<PathBuf>,
        settings: Option<Vec<(String, String)>>,
    ) -> PyResult<PyIndex> {
        let opened = interruptible(py, |_| {
            let mut builder = tamis::Index::builder(path);
            if let Some(directory) = index_directory {
                builder = builder.index_directory(directory);
            }
            let store = store.map(|url| ("store.url".to_owned(), url));
            for (key, value) in settings.into_iter().flatten().chain(store) {
                builder = builder.set(key, value);
            }
            builder.open()
        })?;
        let index = opened.map_err(|error| error::of_index(py, &error))?;
        Ok(PyIndex { index: Arc::new(index), caller: SearchCaller::connection(), opened_in: std::process::id() })
    }

    /// The root of the tree, and the directory of the index.
    #[getter]
    fn places(&self) -> (PathBuf, PathBuf) {
        (self.index.root().to_owned(), self.index.location().directory.clone())
    }

    /// Whether a search brings the index up to date first, by its configuration.
    #[getter]
    fn refreshes(&self) -> bool {
        self.index.config().search.refresh
    }

    /// Searches. The answer has its pool if `explain` is true.
    fn search(&self, py: Python<'_>, request: &str, refresh: bool, explain: bool) -> PyResult<Answered> {
        let asked: SearchRequest = read(py, request)?;
        self.answered(py, |observer| {
            let request = complete(asked, self.index.config(), self.caller)?;
            let freshness = if refresh {
                self.index.refresh_for_search(&request.filters.named_namespaces(), observer)?
            } else {
                Freshness::default()
            };
            observer.check_cancelled()?;
            let mut answer = self.index.search_with(&request, &freshness, observer)?;
            if let Some(reason) = &freshness.reason {
                answer.warnings.push(format!("searched the index as it is: {reason}"));
            }
            let scores = answer.pool.iter().flatten().map(|entry| entry.score).collect();
            let answer = if explain { answer } else { answer.without_explanation() };
            Ok((json(&answer), scores))
        })
    }

    /// The text of a result, or of lines.
    fn get(&self, py: Python<'_>, request: &str) -> PyResult<String> {
        let request: GetRequest = read(py, request)?;
        self.answered(py, |_| {
            let excerpt = self.index.read(&request)?;
            self.index.feedback().opened(&excerpt, &self.caller, "python get");
            Ok(json(&excerpt))
        })
    }

    /// Passages like one, what it uses, and what uses it.
    fn related(&self, py: Python<'_>, request: &str) -> PyResult<String> {
        let request: RelatedRequest = read(py, request)?;
        self.answered(py, |observer| {
            let found = self.index.related().find(&request, observer)?;
            self.index.feedback().opened(&found, &self.caller, "python related");
            Ok(json(&found))
        })
    }

    /// Exact text in the files.
    fn grep(&self, py: Python<'_>, request: &str) -> PyResult<String> {
        let request: GrepRequest = read(py, request)?;
        self.answered(py, |observer| Ok(json(&self.index.tree().grep(&request, observer)?)))
    }

    /// Judges results of a search.
    fn feedback(&self, py: Python<'_>, query_id: String, ids: Vec<String>, relevant: bool) -> PyResult<String> {
        let label = if relevant { Label::Relevant } else { Label::NotRelevant };
        self.answered(py, |_| {
            let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
            Ok(json(&self.index.feedback().judge(&query_id, &ids, label)?))
        })
    }

    /// Contents and freshness.
    fn status(&self, py: Python<'_>) -> PyResult<String> {
        self.answered(py, |_| Ok(json(&self.index.status()?)))
    }

    /// Starts to bring the index up to date: with every model if `wait` is true, else with the first.
    fn refresh(&self, py: Python<'_>, wait: bool, reread: bool) -> PyResult<Refresh> {
        refuse_fork(py, Some(self.opened_in))?;
        let options = if wait { RunOptions::WHOLE } else { RunOptions::FIRST_MODEL };
        Ok(Refresh::start(self.index.clone(), RunOptions { reread, ..options }))
    }
}

impl PyIndex {
    fn answered<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&dyn tamis::Observer) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        refuse_fork(py, Some(self.opened_in))?;
        interruptible(py, work)?.map_err(|error| error::of_index(py, &error))
    }
}

fn json(answer: &impl Serialize) -> String {
    // Every answer of the library has string keys and finite numbers.
    serde_json::to_string(answer).unwrap_or_default()
}

/// Reads a request. The error of a value begins with the name of its argument, and says then what is allowed.
fn read<T: DeserializeOwned>(py: Python<'_>, request: &str) -> PyResult<T> {
    // A value, whose errors name no line and column.
    let asked: Value = serde_json::from_str(request).unwrap_or_default();
    T::deserialize(&asked).map_err(|error| {
        let message = error.to_string();
        let (name, fault) = message.split_once(": ").unwrap_or_default();
        let value = asked.get(name).map(Value::to_string).unwrap_or_default();
        let allowed = fault.split_once("must be ").or_else(|| fault.split_once("; "));
        error::argument_error(py, name, &value, allowed.map_or(fault, |(_, allowed)| allowed), &message)
    })
}
