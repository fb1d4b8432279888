//! The answer of a rule.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::pool::{Orientation, Pool};

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

// Values of diagnostics and parameters.

/// A flag, whole number, number or text. It serializes as the bare value (`true`, `3`, `0.65`, `"strongest"`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// `true` or `false`.
    Flag(bool),
    /// A whole number: a count, or a position counted from 0.
    Integer(i64),
    /// A number. Diagnostics hold finite ones only.
    Number(f64),
    /// A word.
    Text(Cow<'static, str>),
}

impl Value {
    /// The value as a number; whole numbers convert.
    pub fn as_number(&self) -> Option<f64> {
        match *self {
            Value::Number(number) => Some(number),
            Value::Integer(integer) => Some(integer as f64),
            _ => None,
        }
    }

    /// The value as a whole number.
    pub fn as_integer(&self) -> Option<i64> {
        match *self {
            Value::Integer(integer) => Some(integer),
            _ => None,
        }
    }

    /// The value as a flag.
    pub fn as_flag(&self) -> Option<bool> {
        match *self {
            Value::Flag(flag) => Some(flag),
            _ => None,
        }
    }

    /// The value as a word.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Flag(flag) => flag.fmt(f),
            Value::Integer(integer) => integer.fmt(f),
            Value::Number(number) => number.fmt(f),
            Value::Text(text) => text.fmt(f),
        }
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Value::Flag(flag)
    }
}

impl From<usize> for Value {
    fn from(count: usize) -> Self {
        Value::Integer(i64::try_from(count).unwrap_or(i64::MAX))
    }
}

impl From<i64> for Value {
    fn from(integer: i64) -> Self {
        Value::Integer(integer)
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Value::Number(number)
    }
}

impl From<&'static str> for Value {
    fn from(text: &'static str) -> Self {
        Value::Text(Cow::Borrowed(text))
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Value::Text(Cow::Owned(text))
    }
}

// Words that the reasons of several rules share.

/// The reason of every rule for an empty pool.
pub const NO_CANDIDATES: &str = "nothing was found";

/// The reason for keeping nothing of a list whose best candidate is too weak.
pub const NOTHING_CLOSE: &str = "nothing close enough";

/// The reason for keeping nothing where each candidate's probability is known.
pub const NOTHING_LIKELY: &str = "nothing is clearly relevant";

/// The reason for keeping all of a list without any difference in it.
pub const ALL_EQUAL: &str = "all score the same";

/// Added where a rule had to estimate the background from the list itself.
pub const BY_LIST_ALONE: &str = "; judged from this list alone";

/// The reason of a rule that needs at least two candidates.
pub fn too_few(count: usize) -> &'static str {
    if count == 0 { NO_CANDIDATES } else { "there is only one" }
}

/// The kept candidates as the object of "after": `it` or `them`.
pub fn them(keep: usize) -> &'static str {
    if keep == 1 { "it" } else { "them" }
}

/// A share as a whole percentage, 0 to 100, that says neither 0% nor 100% of what is only close to it.
pub fn percent(share: f64) -> String {
    let rounded = (100.0 * share).round().clamp(0.0, 100.0);
    match rounded {
        0.0 if share > 0.0 => "less than 1%".to_string(),
        100.0 if share < 1.0 => "over 99%".to_string(),
        _ => format!("{rounded}%"),
    }
}

/// A whole number with commas between thousands.
pub fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number with three decimals at most, or in scientific notation where that would hide it.
pub fn figure(number: f64) -> String {
    let size = number.abs();
    if size != 0.0 && !(1e-3..1e6).contains(&size) {
        return format!("{number:.2e}");
    }
    let text = format!("{number:.3}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_string() } else { text.to_string() }
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

    #[test]
    fn values_serialize_bare_and_come_back() {
        let values = [Value::from(true), Value::from(3_usize), Value::from(0.5), Value::from("first")];
        let json = serde_json::to_string(&values).unwrap();
        assert_eq!(json, r#"[true,3,0.5,"first"]"#);
        assert_eq!(serde_json::from_str::<Vec<Value>>(&json).unwrap(), values);
    }

    #[test]
    fn each_reading_takes_its_own_kind_and_numbers_take_integers() {
        assert_eq!((Value::from(3_usize).as_number(), Value::from(3.0).as_integer()), (Some(3.0), None));
        assert_eq!(Value::from(false).as_flag(), Some(false));
        assert_eq!(Value::from(String::from("first")).as_text(), Some("first"));
        assert_eq!(Value::from("first").as_number(), None);
    }

    #[test]
    fn percentages_stay_between_0_and_100() {
        for (share, text) in
            [(0.0, "0%"), (0.004, "less than 1%"), (0.654, "65%"), (0.999, "over 99%"), (1.0, "100%"), (1.26, "100%")]
        {
            assert_eq!(percent(share), text);
        }
    }

    #[test]
    fn thousands_are_separated() {
        for (number, text) in [(0, "0"), (999, "999"), (4000, "4,000"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(number), text);
        }
    }

    #[test]
    fn figures_are_short_and_never_hide_a_small_number() {
        for (number, text) in [
            (0.0, "0"),
            (-0.0, "0"),
            (0.65, "0.65"),
            (1.0 / 3.0, "0.333"),
            (120.0, "120"),
            (-2.5, "-2.5"),
            (0.000_04, "4.00e-5"),
            (2e9, "2.00e9"),
        ] {
            assert_eq!(figure(number), text);
        }
    }
}
