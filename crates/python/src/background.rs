//! The background: what irrelevant results score.

use crate::error;
use crate::scores::{Scores, optional};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::sync::Arc;
use tamis::lists::{ListEntry, Reference, sample_background};

/// The scores of irrelevant results, from a sample of them.
#[pyclass(frozen, module = "tamis")]
pub struct Background {
    kind: Kind,
}

enum Kind {
    Scores(tamis_cut::Background),
    Retrievers(Arc<Vec<ListEntry>>),
}

/// A background that was given, for work without the interpreter.
#[derive(Clone)]
pub enum Given {
    None,
    Mean(f64),
    Scores(tamis_cut::Background),
    Retrievers(Arc<Vec<ListEntry>>),
}

impl Given {
    /// Reads the argument: a background, or the mean score of irrelevant results.
    pub fn read(object: Option<&Bound<'_, PyAny>>) -> PyResult<Given> {
        let Some(object) = object.filter(|object| !object.is_none()) else { return Ok(Given::None) };
        if let Ok(background) = object.cast::<Background>() {
            return Ok(match &background.get().kind {
                Kind::Scores(background) => Given::Scores(*background),
                Kind::Retrievers(sample) => Given::Retrievers(sample.clone()),
            });
        }
        match object.extract::<f64>() {
            Ok(mean) if mean.is_finite() => Ok(Given::Mean(mean)),
            _ => {
                let shown = object.repr()?.to_string();
                Err(error::parameter(object.py(), "background", &shown, "a finite number, or tamis.background(sample)"))
            }
        }
    }

    /// The sample of both retrievers, which [`Given::reference`] borrows.
    pub fn sample(&self) -> Vec<&ListEntry> {
        match self {
            Given::Retrievers(sample) => sample.iter().collect(),
            _ => Vec::new(),
        }
    }

    /// The background as the library takes it.
    pub fn reference<'a>(&self, sample: &'a [&'a ListEntry]) -> Reference<'a> {
        match self {
            Given::None => Reference::None,
            Given::Mean(mean) => Reference::Mean(*mean),
            Given::Scores(background) => Reference::Scores(*background),
            Given::Retrievers(_) => Reference::Sample(sample),
        }
    }
}

/// Measure a sample of results drawn at random: their scores, or their similarity and BM25.
///
/// From twenty results on, the sample also says if anything stands out from it.
#[pyfunction]
#[pyo3(signature = (sample=None, *, similarity=None, bm25=None))]
pub fn background(
    py: Python<'_>,
    sample: Option<&Bound<'_, PyAny>>,
    similarity: Option<&Bound<'_, PyAny>>,
    bm25: Option<&Bound<'_, PyAny>>,
) -> PyResult<Background> {
    let kind = match (sample, similarity, bm25) {
        (Some(sample), None, None) => {
            let scores = Scores::from_object("sample", sample)?;
            let numbers = scores.numbers();
            let background = py.detach(|| sample_background(numbers.iter().collect::<Vec<_>>()));
            Kind::Scores(background.ok_or_else(|| {
                error::parameter(py, "sample", &format!("{} numbers", numbers.len()), "at least one finite number")
            })?)
        }
        (None, None, None) | (Some(_), ..) => {
            let message = "sample: must be the scores of random results, or similarity= and bm25= of them instead";
            return Err(error::argument_error(py, "sample", "", "scores, or similarity= and bm25=", message));
        }
        (None, ..) => Kind::Retrievers(Arc::new(retrievers(py, similarity, bm25)?)),
    };
    Ok(Background { kind })
}

/// The entries of two retrievers, of which one may be missing.
pub fn retrievers(
    py: Python<'_>,
    similarity: Option<&Bound<'_, PyAny>>,
    bm25: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<ListEntry>> {
    let similarity = similarity.map(|values| optional("similarity", values)).transpose()?;
    let bm25 = bm25.map(|values| optional("bm25", values)).transpose()?;
    let (a, b) = (similarity.as_ref().map(Vec::len), bm25.as_ref().map(Vec::len));
    if let (Some(a), Some(b)) = (a, b)
        && a != b
    {
        return Err(error::parameter(py, "bm25", &format!("{b} numbers"), &format!("as many as similarity, {a}")));
    }
    let value = |scores: &Option<Vec<Option<f64>>>, at: usize| scores.as_ref().and_then(|scores| scores[at]);
    let entry = |at| ListEntry { similarity: value(&similarity, at), bm25: value(&bm25, at), ..ListEntry::default() };
    let entries: Vec<ListEntry> = (0..a.or(b).unwrap_or_default()).map(entry).collect();
    match entries.iter().position(|entry| entry.similarity.or(entry.bm25).is_none()) {
        Some(at) => {
            let name = if similarity.is_some() { "similarity" } else { "bm25" };
            Err(error::parameter(
                py,
                &format!("{name}[{at}]"),
                "missing",
                "a number where the other retriever has none",
            ))
        }
        None => Ok(entries),
    }
}

#[pymethods]
impl Background {
    /// The background with these figures.
    #[new]
    fn new(py: Python<'_>, mean: f64, deviation: f64, count: i64) -> PyResult<Background> {
        let named =
            [("mean", mean, mean.is_finite()), ("deviation", deviation, deviation.is_finite() && deviation >= 0.0)];
        if let Some((name, figure, _)) = named.into_iter().find(|(.., fits)| !fits) {
            let allowed = if name == "mean" { "a finite number" } else { "a finite number, at least 0" };
            return Err(error::parameter(py, name, &figure.to_string(), allowed));
        }
        let count = usize::try_from(count)
            .map_err(|_| error::parameter(py, "count", &count.to_string(), "a whole number, at least 0"))?;
        Ok(Background { kind: Kind::Scores(tamis_cut::Background { mean, deviation, count }) })
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        match &self.kind {
            Kind::Scores(scores) => {
                let figures = (scores.mean, scores.deviation, scores.count).into_pyobject(py)?;
                Ok((py.get_type::<Background>().into_any(), figures))
            }
            Kind::Retrievers(sample) => {
                let samples = PyDict::new(py);
                samples.set_item("similarity", sample.iter().map(|entry| entry.similarity).collect::<Vec<_>>())?;
                samples.set_item("bm25", sample.iter().map(|entry| entry.bm25).collect::<Vec<_>>())?;
                let measure = py.import("tamis._tamis")?.getattr("background")?;
                let measured = py.import("functools")?.getattr("partial")?.call((measure,), Some(&samples))?;
                Ok((measured, PyTuple::empty(py)))
            }
        }
    }

    /// Mean score of the sample; None for one with a similarity or BM25.
    #[getter]
    fn mean(&self) -> Option<f64> {
        self.scores().map(|scores| scores.mean)
    }

    /// Standard deviation of the scores.
    #[getter]
    fn deviation(&self) -> Option<f64> {
        self.scores().map(|scores| scores.deviation)
    }

    /// Number of results in the sample.
    #[getter]
    fn count(&self) -> usize {
        match &self.kind {
            Kind::Scores(scores) => scores.count,
            Kind::Retrievers(sample) => sample.len(),
        }
    }

    fn __repr__(&self) -> String {
        match &self.kind {
            Kind::Scores(scores) => {
                format!("Background(mean={}, deviation={}, count={})", scores.mean, scores.deviation, scores.count)
            }
            Kind::Retrievers(sample) => format!("Background(count={})", sample.len()),
        }
    }
}

impl Background {
    fn scores(&self) -> Option<tamis_cut::Background> {
        match &self.kind {
            Kind::Scores(scores) => Some(*scores),
            Kind::Retrievers(_) => None,
        }
    }
}
