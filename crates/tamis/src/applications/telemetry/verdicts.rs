//! The judgements of one search, by candidate, and what they say of a kept list.

use crate::search::entry_labels;
use std::collections::HashMap;
use tamis_store::{Judgement, RecordedSearch};

/// The judgements of one search.
pub(super) struct Verdicts {
    /// The judgement of each counted candidate, by position.
    pub candidates: Vec<Option<bool>>,
    /// The number of relevant passages that were not candidates: no cut can keep them.
    pub outside: usize,
}

/// How many judged passages a kept list has and lacks.
pub(super) struct Counts {
    /// Relevant ones that were kept.
    found: usize,
    /// Judged ones that were kept.
    judged: usize,
    /// Relevant ones, kept or not.
    relevant: usize,
}

impl Verdicts {
    /// Reads these judgements of a search.
    pub fn of(search: &RecordedSearch, judgements: &[Judgement]) -> Self {
        let by_passage: HashMap<&str, bool> =
            judgements.iter().map(|judgement| (judgement.passage.as_str(), judgement.relevant)).collect();
        Verdicts {
            candidates: entry_labels(search, &by_passage),
            outside: judgements.iter().filter(|judgement| judgement.relevant && !judgement.in_pool).count(),
        }
    }

    /// Returns `true` if any passage was judged.
    pub fn exist(&self) -> bool {
        self.outside > 0 || self.candidates.iter().any(Option::is_some)
    }

    /// Counts what a list keeps, by the positions of its candidates.
    pub fn counts(&self, kept: impl IntoIterator<Item = usize>) -> Counts {
        let kept: Vec<bool> =
            kept.into_iter().filter_map(|place| self.candidates.get(place).copied().flatten()).collect();
        let relevant = self.candidates.iter().filter(|verdict| **verdict == Some(true)).count();
        Counts {
            found: kept.iter().filter(|relevant| **relevant).count(),
            judged: kept.len(),
            relevant: relevant + self.outside,
        }
    }
}

impl Counts {
    /// The share of relevant passages among the judged ones kept; `None` if none was kept.
    pub fn precision(&self) -> Option<f64> {
        (self.judged > 0).then(|| self.found as f64 / self.judged as f64)
    }

    /// The share of relevant passages that was kept; `None` without one.
    pub fn recall(&self) -> Option<f64> {
        (self.relevant > 0).then(|| self.found as f64 / self.relevant as f64)
    }

    /// F1 against the judged passages: 0 if only others were kept; `None` if neither a judged one was kept nor a relevant one exists.
    pub fn f1(&self) -> Option<f64> {
        let counted = self.judged + self.relevant;
        (counted > 0).then(|| 2.0 * self.found as f64 / counted as f64)
    }
}
