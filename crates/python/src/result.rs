//! A decided list, as Python sees it.

use crate::error;
use crate::rule::object;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use tamis::lists::{DecidedList, GroupedList};

/// How many of a list are relevant, and why.
#[pyclass(frozen, module = "tamis", sequence)]
pub struct Cut {
    list: Arc<Decided>,
    /// The label of each candidate, best first, where groups were given.
    labels: Option<Py<PyList>>,
}

/// A decided list, or one of groups. A pickle holds it as JSON.
#[derive(Serialize, Deserialize)]
pub struct Decided {
    pub list: DecidedList,
    /// The entries of each candidate, where groups were given.
    pub members: Option<Vec<Vec<usize>>>,
}

impl From<DecidedList> for Decided {
    fn from(list: DecidedList) -> Self {
        Decided { list, members: None }
    }
}

impl From<GroupedList> for Decided {
    fn from(grouped: GroupedList) -> Self {
        Decided { list: grouped.decided, members: Some(grouped.members) }
    }
}

impl Decided {
    /// Refuses a pickle whose parts do not fit.
    pub fn check(&self, py: Python<'_>) -> PyResult<()> {
        let (list, candidates) = (&self.list, self.list.values.len());
        let fits = list.cut.keep <= candidates
            && list.positions().count() == candidates
            && self.members.as_ref().is_none_or(|members| members.len() == candidates);
        if fits { Ok(()) } else { Err(not_pickled(py)) }
    }

    /// The positions of the entries of the first `count` candidates.
    fn positions(&self, count: usize) -> Vec<usize> {
        match &self.members {
            Some(members) => members.iter().take(count).flatten().copied().collect(),
            None => self.list.positions().take(count).collect(),
        }
    }
}

impl Cut {
    /// The cut of a list.
    pub fn new(list: Arc<Decided>, labels: Option<Py<PyList>>) -> Self {
        Cut { list, labels }
    }

    fn cut(&self) -> &tamis_cut::Cut {
        &self.list.list.cut
    }
}

#[pymethods]
impl Cut {
    /// Number of relevant candidates: entries, or groups where groups were given.
    #[getter]
    fn count(&self) -> usize {
        self.cut().keep
    }

    /// The value that a candidate must reach, where the method decides by value.
    #[getter]
    fn threshold(&self) -> Option<f64> {
        self.cut().threshold
    }

    /// Why the list ends there, as a clause that completes "Kept 4 of 150: …".
    #[getter]
    fn reason(&self) -> &str {
        &self.cut().reason
    }

    /// The method that decided; "gate" if nothing stood out.
    #[getter]
    fn method(&self) -> &str {
        &self.cut().method
    }

    /// Number of candidates.
    #[getter]
    fn candidates(&self) -> usize {
        self.cut().candidates
    }

    /// Number of candidates that are left out.
    #[getter]
    fn dropped(&self) -> usize {
        self.cut().dropped
    }

    /// Number of scores that are not finite and were never considered.
    #[getter]
    fn dropped_non_finite(&self) -> usize {
        self.cut().dropped_non_finite
    }

    /// The probability that each candidate is relevant, best first; empty where the method gives none.
    #[getter]
    fn probabilities(&self) -> Vec<f64> {
        self.cut().probabilities.clone()
    }

    /// The figures behind the decision.
    #[getter]
    fn diagnostics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let figures = PyDict::new(py);
        for (name, value) in &self.cut().diagnostics {
            figures.set_item(name, object(py, value)?)?;
        }
        Ok(figures)
    }

    /// The positions of the kept entries in the list as given, best first.
    #[getter]
    fn kept(&self) -> Vec<usize> {
        self.list.positions(self.cut().keep)
    }

    /// The positions of all entries, best first; those of a group stand together.
    #[getter]
    fn order(&self) -> Vec<usize> {
        self.list.positions(usize::MAX)
    }

    /// The value of each candidate on the scale of the method, best first.
    #[getter]
    fn values(&self) -> Vec<f64> {
        self.list.list.values.clone()
    }

    /// The label of each candidate, best first, where groups were given.
    #[getter]
    fn groups<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyList>> {
        self.labels.as_ref().map(|labels| labels.bind(py).clone())
    }

    /// The cut with its lines, as `tamis cut --json` prints it.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let cut = self.cut();
        let whole = PyDict::new(py);
        whole.set_item("method", &cut.method)?;
        whole.set_item("keep", cut.keep)?;
        whole.set_item("threshold", cut.threshold)?;
        whole.set_item("reason", &cut.reason)?;
        whole.set_item("candidates", cut.candidates)?;
        whole.set_item("dropped", cut.dropped)?;
        whole.set_item("dropped_non_finite", cut.dropped_non_finite)?;
        whole.set_item("diagnostics", self.diagnostics(py)?)?;
        if !cut.probabilities.is_empty() {
            whole.set_item("probabilities", &cut.probabilities)?;
        }
        let lines = PyList::empty(py);
        let entries = self.list.list.positions().zip(&self.list.list.values);
        for (rank, (position, &value)) in entries.enumerate() {
            let members = match &self.list.members {
                Some(members) => members[rank].as_slice(),
                None => &[position],
            };
            for position in members {
                let line = PyDict::new(py);
                line.set_item("line", position + 1)?;
                line.set_item("value", value)?;
                line.set_item("kept", cut.keeps(rank))?;
                lines.append(line)?;
            }
        }
        whole.set_item("lines", lines)?;
        Ok(whole)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Pickle<'py>> {
        let list = serde_json::to_string(&*self.list).unwrap_or_default();
        Ok((py.import("tamis._tamis")?.getattr("pickled_cut")?, (list, self.groups(py))))
    }

    fn __len__(&self) -> usize {
        self.list.positions(self.cut().keep).len()
    }

    fn __getitem__(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        Ok(self.kept().into_pyobject(py)?.as_any().get_item(key)?.unbind())
    }

    fn __iter__(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        Ok(self.kept().into_bound_py_any(py)?.try_iter()?.into_any().unbind())
    }

    fn __repr__(&self) -> String {
        let cut = self.cut();
        format!("<tamis.Cut: kept {} of {}: {}>", cut.keep, cut.candidates, cut.reason)
    }

    fn _repr_html_(&self) -> String {
        figure(&self.list.list.values, self.cut().keep, &self.__repr__())
    }
}

/// A function, with its arguments, that makes a cut again.
type Pickle<'py> = (Bound<'py, PyAny>, (String, Option<Bound<'py, PyList>>));

/// The cut of a pickle.
#[pyfunction]
#[pyo3(signature = (list, groups))]
pub fn pickled_cut(py: Python<'_>, list: &str, groups: Option<Py<PyList>>) -> PyResult<Cut> {
    let decided: Decided = unpickled(py, list)?;
    decided.check(py)?;
    Ok(Cut::new(Arc::new(decided), groups))
}

/// The contents of a pickle.
pub fn unpickled<T: DeserializeOwned>(py: Python<'_>, text: &str) -> PyResult<T> {
    serde_json::from_str(text).map_err(|_| not_pickled(py))
}

fn not_pickled(py: Python<'_>) -> PyErr {
    error::exception(py, "TamisError", "this is no pickled cut, or one of another version; cut the list again")
}

/// The curve of values with a cut, as HTML for a notebook.
#[pyfunction]
pub fn plot(values: Vec<f64>, keep: usize, caption: &str) -> String {
    figure(&values, keep, caption)
}

/// The colours of the plot, on a light page and a dark one.
const COLOURS: &str =
    "--text:currentColor;--muted:#808890;--grid:#80889040;--given:#3f83cc;--reference:#a0802a;--relevant:#d2581f";

fn figure(values: &[f64], keep: usize, caption: &str) -> String {
    let caption = caption.trim_matches(['<', '>']);
    let svg = tamis_eval::cut_plot(values, keep, caption);
    let caption = tamis_eval::escape(caption);
    format!("<figure style=\"{COLOURS};margin:0;max-width:480px\">{svg}<figcaption>{caption}</figcaption></figure>")
}
