//! `tamis.cut`: cuts one list.

use crate::background::{Given, retrievers};
use crate::error;
use crate::result::{Cut, Decided};
use crate::rule::rule;
use crate::scores::{Scores, optional};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::sync::Arc;
use tamis::lists::{FUSION_WEIGHT, ListCutter, ListEntry, Reading};
use tamis::search::TunedRule;
use tamis_cut::Orientation;

// Python shows a default only if it is written out.
const _: () = assert!(FUSION_WEIGHT == 0.6, "the default of fusion_weight in the signatures and the stubs");

/// What `cut` and `cut_many` do with a list, whatever is in it.
pub struct Plan {
    pub rule: Arc<TunedRule>,
    pub reading: Reading,
    pub gate: bool,
}

impl Plan {
    /// Reads the arguments that both have.
    pub fn parse(
        py: Python<'_>,
        method: &str,
        want: Option<&str>,
        (distance, sort, fusion_weight, gate): (bool, bool, f64, bool),
        parameters: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Plan> {
        if !(0.0..=1.0).contains(&fusion_weight) {
            return Err(error::parameter(py, "fusion_weight", &fusion_weight.to_string(), "a number from 0 to 1"));
        }
        let orientation = if distance { Orientation::Distance } else { Orientation::Score };
        let reading = Reading { orientation, sort, weight: fusion_weight };
        Ok(Plan { rule: rule(py, method, want, parameters)?, reading, gate })
    }

    /// The cutter of the library.
    pub fn cutter(&self) -> ListCutter<'_> {
        ListCutter { reading: self.reading, gate: self.gate, ..ListCutter::new(&self.rule) }
    }
}

/// Refuses lists that do not belong together.
pub fn check_kinds(py: Python<'_>, has_scores: bool, has_retrievers: bool, distance: bool) -> PyResult<()> {
    let refused = |name, value, allowed, message| Err(error::argument_error(py, name, value, allowed, message));
    match (has_scores, has_retrievers) {
        (false, false) => {
            let message = "scores: missing: must be given, or similarity= and bm25= in their place";
            refused("scores", "", "scores, or similarity= and bm25=", message)
        }
        (true, true) => {
            let message = "scores: must be without similarity= and bm25=, which are fused into a score";
            refused("scores", "", "without similarity= and bm25=", message)
        }
        (false, true) if distance => {
            let message = "distance: a higher similarity and BM25 are better; give distances as scores";
            refused("distance", "True", "False", message)
        }
        _ => Ok(()),
    }
}

/// Cut one ranked list where relevance ends.
///
/// `scores` come best first (`sort=True` sorts them); a higher one is better unless `distance` is true. In their place,
/// `similarity` and `bm25` are fused and ordered; an entry that one of the two did not find has None there. `background` is the
/// mean score of irrelevant results, or a sample of them (`background()`): with a sample, the method "auto" first asks if
/// anything stands out, so that a list without an answer comes back empty. `want` says how much: "one", "best" or "all".
///
/// `method` is one of `methods()`, whose parameters are further keyword arguments (`lambda_` for `lambda`):
/// `cut(scores, "kneedle", sensitivity=2)`; or it holds them itself: `"kneedle:sensitivity=2"`.
/// Entries of one of the `groups` count once, by the best of them. `tokens`, or `texts`, are for `budget_tokens`.
///
/// Raises ParameterError, which names the parameter, the value and what is allowed.
#[pyfunction]
#[pyo3(signature = (
    scores=None, method="auto", background=None, want=None, *, distance=false, sort=false, groups=None, similarity=None,
    bm25=None, coverage=None, tokens=None, texts=None, fusion_weight=0.6, gate=true, **parameters
))]
#[allow(clippy::too_many_arguments, reason = "keyword arguments")]
pub fn cut<'py>(
    py: Python<'py>,
    scores: Option<&Bound<'py, PyAny>>,
    method: &str,
    background: Option<&Bound<'py, PyAny>>,
    want: Option<&str>,
    distance: bool,
    sort: bool,
    groups: Option<&Bound<'py, PyAny>>,
    similarity: Option<&Bound<'py, PyAny>>,
    bm25: Option<&Bound<'py, PyAny>>,
    coverage: Option<&Bound<'py, PyAny>>,
    tokens: Option<&Bound<'py, PyAny>>,
    texts: Option<Vec<String>>,
    fusion_weight: f64,
    gate: bool,
    parameters: Option<&Bound<'py, PyDict>>,
) -> PyResult<Cut> {
    let has_retrievers = similarity.is_some() || bm25.is_some();
    check_kinds(py, scores.is_some(), has_retrievers, distance)?;
    let plan = Plan::parse(py, method, want, (distance, sort, fusion_weight, gate), parameters)?;
    let background = Given::read(background)?;

    let tokens = tokens.map(counts).transpose()?;
    let is_plain = groups.is_none() && coverage.is_none() && texts.is_none();
    if let Some(scores) = scores.filter(|_| is_plain) {
        let scores = Scores::from_object("scores", scores)?;
        let numbers = scores.numbers();
        same_length(py, "tokens", tokens.as_ref().map(Vec::len), numbers.len())?;
        let decided = py.detach(|| {
            let sample = background.sample();
            let cutter = ListCutter { reference: background.reference(&sample), ..plan.cutter() };
            cutter.cut_scores(numbers.iter(), tokens.as_deref())
        });
        let decided = decided.map_err(|error| error::of_list(py, &error, ""))?;
        return Ok(Cut::new(Arc::new(decided.into()), None));
    }

    let mut entries = match scores {
        Some(scores) => scored("scores", scores)?,
        None => retrievers(py, similarity, bm25)?,
    };
    let coverage = coverage.map(|coverage| optional("coverage", coverage)).transpose()?;
    let lengths = [
        ("coverage", coverage.as_ref().map(Vec::len)),
        ("tokens", tokens.as_ref().map(Vec::len)),
        ("texts", texts.as_ref().map(Vec::len)),
    ];
    for (name, length) in lengths {
        same_length(py, name, length, entries.len())?;
    }
    for (at, entry) in entries.iter_mut().enumerate() {
        entry.coverage = coverage.as_ref().and_then(|coverage| coverage[at]).map(|share| share.clamp(0.0, 1.0));
        let counted = || texts.as_ref().map(|texts| tamis_text::estimate_tokens(&texts[at]));
        entry.tokens = tokens.as_ref().map(|tokens| tokens[at]).or_else(counted);
    }
    let groups = groups.map(|groups| Groups::parse(groups, entries.len())).transpose()?;
    let decided = py.detach(|| {
        let sample = background.sample();
        let cutter = ListCutter { reference: background.reference(&sample), ..plan.cutter() };
        let entries: Vec<&ListEntry> = entries.iter().collect();
        Ok(match &groups {
            Some(groups) => cutter.cut_groups(&entries, &groups.numbers)?.into(),
            None => Decided::from(cutter.decided(&entries)?),
        })
    });
    let decided = Arc::new(decided.map_err(|error| error::of_list(py, &error, ""))?);
    let labels = groups.map(|groups| groups.labels(py, &decided)).transpose()?;
    Ok(Cut::new(decided, labels))
}

/// The entries of a list of scores, which must be finite here.
fn scored(name: &str, scores: &Bound<'_, PyAny>) -> PyResult<Vec<ListEntry>> {
    let scores_read = Scores::from_object(name, scores)?;
    let numbers = scores_read.numbers();
    if let Some(at) = numbers.iter().position(|score| !score.is_finite()) {
        let value = numbers.at(at).to_string();
        return Err(error::parameter(scores.py(), &format!("{name}[{at}]"), &value, "a finite number"));
    }
    Ok(numbers.iter().map(|score| ListEntry { score: Some(score), ..ListEntry::default() }).collect())
}

/// The number of tokens of each entry.
fn counts(tokens: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
    let read = Scores::from_object("tokens", tokens)?;
    let count = |(at, number): (usize, f64)| {
        if number < 0.0 || number.fract() != 0.0 || !number.is_finite() {
            let name = format!("tokens[{at}]");
            return Err(error::parameter(tokens.py(), &name, &number.to_string(), "a whole number, at least 0"));
        }
        Ok(number as usize)
    };
    read.numbers().iter().enumerate().map(count).collect()
}

fn same_length(py: Python<'_>, name: &str, length: Option<usize>, entries: usize) -> PyResult<()> {
    match length {
        Some(length) if length != entries => {
            Err(error::parameter(py, name, &format!("{length} values"), &format!("one for each of {entries} entries")))
        }
        _ => Ok(()),
    }
}

/// The group of each entry.
struct Groups {
    /// The number of each entry's group; `None` for one by itself.
    numbers: Vec<Option<usize>>,
    given: Vec<Py<PyAny>>,
}

impl Groups {
    fn parse(groups: &Bound<'_, PyAny>, entries: usize) -> PyResult<Groups> {
        let py = groups.py();
        let given = groups.try_iter()?.collect::<PyResult<Vec<_>>>()?;
        same_length(py, "groups", Some(given.len()), entries)?;
        let known = PyDict::new(py);
        let number = |label: &Bound<'_, PyAny>| {
            if label.is_none() {
                return Ok(None);
            }
            if let Some(number) = known.get_item(label)? {
                return number.extract().map(Some);
            }
            known.set_item(label, known.len())?;
            Ok(Some(known.len() - 1))
        };
        let numbers = given.iter().map(number).collect::<PyResult<_>>()?;
        Ok(Groups { numbers, given: given.into_iter().map(Bound::unbind).collect() })
    }

    /// The label of each decided candidate.
    fn labels(&self, py: Python<'_>, decided: &Decided) -> PyResult<Py<PyList>> {
        let firsts = decided.members.iter().flatten().filter_map(|members| members.first());
        Ok(PyList::new(py, firsts.map(|&position| self.given[position].bind(py)))?.unbind())
    }
}
