//! `tamis.evaluate`: the figures of `tamis eval` for a run.

use crate::error;
use crate::interruptible::{interruptible, refuse_fork};
use pyo3::prelude::*;
use tamis::config::Config;
use tamis::evaluate::{EvaluationError, Measurement, cuts as named_cuts, from_results};
use tamis_eval::{Options, Qrels, Report, Run, evaluate as measure};

/// The report of an evaluation.
#[pyclass(frozen, module = "tamis._tamis")]
pub struct Evaluation {
    report: Report,
    notes: Vec<String>,
}

/// Measures the ranking of a run and the cuts of its lists.
#[pyfunction]
#[pyo3(signature = (run, qrels, *, name, cuts, seed, resamples, baseline, beta, depths))]
#[allow(clippy::too_many_arguments, reason = "keyword arguments")]
pub fn evaluate(
    py: Python<'_>,
    run: Vec<(String, String, f64)>,
    qrels: Vec<(String, String, i32)>,
    name: String,
    cuts: Vec<String>,
    seed: u64,
    resamples: usize,
    baseline: Option<String>,
    beta: f64,
    depths: Vec<usize>,
) -> PyResult<Evaluation> {
    refuse_fork(py, None)?;
    let default = Options::default();
    let baseline = baseline.unwrap_or_else(|| default.baseline.clone());
    let options = Options { seed, resamples, baseline, beta, ranking_depths: depths, ..default };
    interruptible(py, |observer| {
        options.check()?;
        let results = Run::from_results(run)?;
        let mut judgements = Qrels::new();
        qrels.iter().for_each(|(query, document, grade)| judgements.insert(query, document, *grade));
        let measurement = Measurement { cuts: named_cuts(&Config::built_in(), &cuts)?, ..Measurement::default() };
        let measured = from_results(name, &results, &judgements, &measurement, observer)?;
        Ok(Evaluation { report: measure(&[measured.collection], &options)?, notes: measured.notes })
    })?
    .map_err(|error: EvaluationError| error::of_evaluation(py, &error))
}

#[pymethods]
impl Evaluation {
    /// The report, as `tamis eval --json` prints it.
    fn json(&self) -> String {
        serde_json::to_string(&self.report).unwrap_or_default()
    }

    /// The report as tables in Markdown.
    fn markdown(&self) -> String {
        self.report.markdown()
    }

    /// The report as a page with plots.
    fn html(&self) -> String {
        self.report.html()
    }

    /// Notes for people: queries that are in only one of the two.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }
}
