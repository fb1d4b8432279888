//! The answer of a rule.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::pool::{Orientation, Pool};
use crate::value::Value;

/// The number of candidates to keep, with the reason and the figures behind it.
///
/// The kept ones are the first [`keep`](Self::keep) of the pool. [`Pool::position`] maps them back to the list as
/// given when the pool dropped values that are not finite.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Cut {
    /// Name of the method that decided, as [`parse`](crate::parse()) takes it; `gate` or `guarantee` where those did.
    pub method: String,
    /// Number of candidates to keep, from the best; 0 to `candidates`.
    pub keep: usize,
    /// The value that a candidate must reach, where the method decides by value: every kept candidate passes it and no
    /// other does. The diagnostic `threshold_on` names what is compared, `score` (at or above) or `distance` (at or
    /// below). `None` where the method decides by position.
    pub threshold: Option<f64>,
    /// A short clause in plain words that completes "Kept 4 of 150: …". The figures are in `diagnostics`.
    pub reason: String,
    /// Number of candidates considered: those with a finite value.
    pub candidates: usize,
    /// Number of candidates left out.
    pub dropped: usize,
    /// Number of candidates never considered, for want of a finite value.
    pub dropped_non_finite: usize,
    /// The figures behind the decision, by name. Positions count from 0.
    pub diagnostics: BTreeMap<Cow<'static, str>, Value>,
    /// The probability that each candidate is relevant, in the pool's order, where the method computes them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub probabilities: Vec<f64>,
    /// True if the [`Gate`](crate::Gate) decided, before the rule was asked.
    #[serde(skip)]
    pub gated: bool,
}

impl Cut {
    /// A cut after the first `keep` candidates of `pool` (all of them when there are fewer).
    pub fn new(method: impl Into<String>, pool: &Pool, keep: usize, reason: impl Into<String>) -> Self {
        let keep = keep.min(pool.len());
        Cut {
            method: method.into(),
            keep,
            threshold: None,
            reason: reason.into(),
            candidates: pool.len(),
            dropped: pool.len() - keep,
            dropped_non_finite: pool.dropped_non_finite(),
            diagnostics: BTreeMap::new(),
            probabilities: Vec::new(),
            gated: false,
        }
    }

    /// The cut with one more diagnostic. A number that is not finite is left out.
    pub fn with(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        let value = value.into();
        if !matches!(value, Value::Number(number) if !number.is_finite()) {
            self.diagnostics.insert(name.into(), value);
        }
        self
    }

    /// The cut with the score that the kept candidates reach: at or above it.
    pub fn with_score_threshold(self, threshold: f64) -> Self {
        self.with_threshold(threshold, Orientation::Score)
    }

    /// The cut with the distance that the kept candidates do not exceed: at or below it.
    pub fn with_distance_threshold(self, threshold: f64) -> Self {
        self.with_threshold(threshold, Orientation::Distance)
    }

    /// The cut with the value that separates the kept candidates, on a scale of this orientation.
    pub(crate) fn with_threshold(mut self, threshold: f64, orientation: Orientation) -> Self {
        self.threshold = Some(threshold);
        self.with(
            "threshold_on",
            match orientation {
                Orientation::Score => "score",
                Orientation::Distance => "distance",
            },
        )
    }

    /// Returns true if the candidate at `rank` (from 0) is kept.
    pub fn keeps(&self, rank: usize) -> bool {
        rank < self.keep
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_never_keeps_more_than_there_is_and_counts_what_it_drops() {
        let pool = Pool::scores([0.9, f64::NAN, 0.8]).unwrap();
        let cut = Cut::new("fixed", &pool, 10, "all");
        assert_eq!((cut.keep, cut.candidates, cut.dropped, cut.dropped_non_finite), (2, 2, 0, 1));
        let cut = Cut::new("fixed", &pool, 1, "one");
        assert_eq!((cut.keep, cut.dropped), (1, 1));
        assert!(cut.keeps(0) && !cut.keeps(1));
    }

    #[test]
    fn diagnostics_hold_no_number_that_json_cannot_carry() {
        let pool = Pool::scores([]).unwrap();
        let cut = Cut::new("fixed", &pool, 0, "none").with("a", f64::NAN).with("b", 0.5).with("c", "word");
        assert_eq!(
            serde_json::to_value(&cut).unwrap(),
            serde_json::json!({
                "method": "fixed", "keep": 0, "threshold": null, "reason": "none", "candidates": 0, "dropped": 0,
                "dropped_non_finite": 0, "diagnostics": {"b": 0.5, "c": "word"}
            })
        );
    }
}
