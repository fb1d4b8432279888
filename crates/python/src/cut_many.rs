//! `tamis.cut_many`: cuts many lists in one call.

use crate::background::{Given, retrievers};
use crate::cut::{Plan, check_kinds};
use crate::error;
use crate::result::{Cut, Decided, unpickled};
use crate::scores::Batch;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PySlice, PyString};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tamis::lists::{DecidedList, ListCutter, ListEntry, ListError};

/// How long the work goes on before Ctrl-C is looked for.
const SIGNALS_EVERY: Duration = Duration::from_millis(50);

/// The cuts of many lists, in their order.
#[pyclass(frozen, module = "tamis", sequence)]
pub struct Cuts {
    lists: Vec<Arc<Decided>>,
}

/// Cut many ranked lists, each where its relevance ends.
///
/// `scores` is an array of two dimensions, or lists of any lengths. `background` is one for all lists, or a list or array with one
/// for each. The rest is as in `cut`.
#[pyfunction]
#[pyo3(signature = (
    scores=None, method="auto", background=None, want=None, *, distance=false, sort=false, similarity=None, bm25=None,
    fusion_weight=0.6, gate=true, **parameters
))]
#[allow(clippy::too_many_arguments, reason = "keyword arguments")]
pub fn cut_many<'py>(
    py: Python<'py>,
    scores: Option<&Bound<'py, PyAny>>,
    method: &str,
    background: Option<&Bound<'py, PyAny>>,
    want: Option<&str>,
    distance: bool,
    sort: bool,
    similarity: Option<&Bound<'py, PyAny>>,
    bm25: Option<&Bound<'py, PyAny>>,
    fusion_weight: f64,
    gate: bool,
    parameters: Option<&Bound<'py, PyDict>>,
) -> PyResult<Cuts> {
    let has_retrievers = similarity.is_some() || bm25.is_some();
    check_kinds(py, scores.is_some(), has_retrievers, distance)?;
    let plan = Plan::parse(py, method, want, (distance, sort, fusion_weight, gate), parameters)?;
    if let Some(scores) = scores {
        let batch = Batch::from_object("scores", scores)?;
        let lists = batch.numbers();
        let backgrounds = backgrounds(background, lists.len())?;
        return decided(py, lists.len(), |at| {
            let background = &backgrounds[at % backgrounds.len()];
            let sample = background.sample();
            let cutter = ListCutter { reference: background.reference(&sample), ..plan.cutter() };
            cutter.cut_scores(lists[at].iter(), None)
        });
    }
    let lists = both(py, similarity, bm25)?;
    let backgrounds = backgrounds(background, lists.len())?;
    decided(py, lists.len(), |at| {
        let background = &backgrounds[at % backgrounds.len()];
        let sample = background.sample();
        let cutter = ListCutter { reference: background.reference(&sample), ..plan.cutter() };
        cutter.decided(&lists[at].iter().collect::<Vec<&ListEntry>>())
    })
}

/// The entries of each list of two retrievers.
fn both(
    py: Python<'_>,
    similarity: Option<&Bound<'_, PyAny>>,
    bm25: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<Vec<ListEntry>>> {
    let lists = |scores: Option<&Bound<'_, PyAny>>| -> PyResult<Option<Vec<Py<PyAny>>>> {
        let lists =
            scores.map(|scores| scores.try_iter()?.map(|list| list.map(Bound::unbind)).collect::<PyResult<Vec<_>>>());
        lists.transpose()
    };
    let (similarity, bm25) = (lists(similarity)?, lists(bm25)?);
    let (a, b) = (similarity.as_ref().map(Vec::len), bm25.as_ref().map(Vec::len));
    if let (Some(a), Some(b)) = (a, b)
        && a != b
    {
        return Err(error::parameter(py, "bm25", &format!("{b} lists"), &format!("as many as similarity, {a}")));
    }
    let list = |lists: &Option<Vec<Py<PyAny>>>, at: usize| lists.as_ref().map(|lists| lists[at].bind(py).clone());
    (0..a.or(b).unwrap_or_default())
        .map(|at| retrievers(py, list(&similarity, at).as_ref(), list(&bm25, at).as_ref()))
        .collect()
}

/// One background for all lists, or one for each.
fn backgrounds(background: Option<&Bound<'_, PyAny>>, lists: usize) -> PyResult<Vec<Given>> {
    let listed = background.filter(|background| !background.is_instance_of::<PyString>());
    let Some(several) = listed.and_then(|background| background.try_iter().ok()) else {
        return Ok(vec![Given::read(background)?]);
    };
    let py = several.py();
    let several = several.collect::<PyResult<Vec<_>>>()?;
    if several.len() != lists || lists == 0 {
        let value = format!("{} backgrounds", several.len());
        return Err(error::parameter(py, "background", &value, &format!("one, or one for each of {lists} lists")));
    }
    several.iter().map(|background| Given::read(Some(background))).collect()
}

/// Decides all lists without the interpreter, which is only asked for Ctrl-C.
fn decided(
    py: Python<'_>,
    count: usize,
    decide: impl Fn(usize) -> Result<DecidedList, ListError> + Sync,
) -> PyResult<Cuts> {
    let mut lists = Vec::with_capacity(count);
    while lists.len() < count {
        let done = &mut lists;
        py.detach(|| {
            let started = Instant::now();
            while done.len() < count && started.elapsed() < SIGNALS_EVERY {
                done.push(Arc::new(Decided::from(decide(done.len()).map_err(|error| (done.len(), error))?)));
            }
            Ok(())
        })
        .map_err(|(at, error): (usize, ListError)| error::of_list(py, &error, &format!("list {at}: ")))?;
        py.check_signals()?;
    }
    Ok(Cuts { lists })
}

#[pymethods]
impl Cuts {
    /// Number of relevant entries of each list.
    #[getter]
    fn counts(&self) -> Vec<usize> {
        self.lists.iter().map(|decided| decided.list.cut.keep).collect()
    }

    /// The value that a candidate of each list must reach; None where the method decides otherwise.
    #[getter]
    fn thresholds(&self) -> Vec<Option<f64>> {
        self.lists.iter().map(|decided| decided.list.cut.threshold).collect()
    }

    fn __len__(&self) -> usize {
        self.lists.len()
    }

    fn __getitem__(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let cut = |at: usize| Cut::new(self.lists[at].clone(), None);
        if let Ok(slice) = key.cast::<PySlice>() {
            let within = slice.indices(self.lists.len() as isize)?;
            let places = (0..within.slicelength).map(|step| (within.start + step as isize * within.step) as usize);
            return Ok(places.map(cut).collect::<Vec<_>>().into_pyobject(py)?.unbind());
        }
        let at: isize = key.extract()?;
        let length = self.lists.len() as isize;
        let place = if at < 0 { at + length } else { at };
        match (0..length).contains(&place) {
            true => Ok(cut(place as usize).into_pyobject(py)?.into_any().unbind()),
            false => Err(PyIndexError::new_err(format!("{at}: there are {length} lists"))),
        }
    }

    fn __iter__(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let cuts = self.lists.iter().map(|decided| Cut::new(decided.clone(), None));
        Ok(cuts.collect::<Vec<_>>().into_pyobject(py)?.try_iter()?.into_any().unbind())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        let lists: Vec<&Decided> = self.lists.iter().map(|decided| &**decided).collect();
        Ok((py.import("tamis._tamis")?.getattr("pickled_cuts")?, (serde_json::to_string(&lists).unwrap_or_default(),)))
    }

    fn __repr__(&self) -> String {
        let kept: usize = self.lists.iter().map(|decided| decided.list.cut.keep).sum();
        let all: usize = self.lists.iter().map(|decided| decided.list.cut.candidates).sum();
        format!("<tamis.Cuts: {} lists, kept {kept} of {all}>", self.lists.len())
    }
}

/// The cuts of a pickle.
#[pyfunction]
pub fn pickled_cuts(py: Python<'_>, lists: &str) -> PyResult<Cuts> {
    let lists: Vec<Decided> = unpickled(py, lists)?;
    lists.iter().try_for_each(|decided| decided.check(py))?;
    Ok(Cuts { lists: lists.into_iter().map(Arc::new).collect() })
}
