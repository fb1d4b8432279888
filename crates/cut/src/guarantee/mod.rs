//! A promise about the kept set, calibrated on judged queries and corrected for their number.
//!
//! A rule makes its best guess. A [`Guarantee`] holds whatever the scores are worth. It reads one value per candidate that
//! does not increase along the ranking (a probability of relevance, or any other evidence), finds the threshold that keeps
//! the promise on the judged queries, and [`Calibrated::cut`] then keeps every candidate that reaches it.
//!
//! - [`Guarantee::Recall`]: the expected recall of the next query is at least the target. Conformal risk control
//!   (Angelopoulos, Bates, Fisch, Lei, Schuster: *Conformal Risk Control*, 2022), with the loss 1 − recall.
//! - [`Guarantee::Precision`]: with the stated confidence, the mean precision is at least the target. Learn then test
//!   (Angelopoulos, Bates, Candès, Jordan, Lei, 2021) with fixed-sequence testing, since precision is not monotone in
//!   the threshold.
//!
//! The promise is marginal: an average over queries that are exchangeable with the judged ones (asked of the same
//! collection, by the same people, answered by the same model), not a bound for each. With too few judged queries, or where
//! even the whole pool would miss too much, calibration refuses and names what is lacking.

mod calibration;

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::cut::figure;

pub use calibration::{Calibrated, CalibrationQuery};

/// Default confidence of a precision guarantee.
const DEFAULT_CONFIDENCE: f64 = 0.9;

/// A promise about the kept set.
///
/// As text: `recall=0.9`, `precision=0.8` or `precision=0.8,confidence=0.95`.
///
/// ```
/// use tamis_cut::{CalibrationQuery, Guarantee, Pool};
///
/// let guarantee: Guarantee = "recall=0.8".parse()?;
/// // Twenty judged queries, each with its best two candidates relevant and a third that is not.
/// let query = CalibrationQuery { values: vec![0.9, 0.6, 0.2], relevant: vec![true, true, false], missed: 0 };
/// let calibrated = guarantee.calibrate(&vec![query.clone(); 20])?;
/// assert_eq!(calibrated.threshold, 0.6);
///
/// let pool = Pool::scores([7.1, 5.0, 4.4, 1.0])?;
/// assert_eq!(calibrated.cut(&pool, &[0.95, 0.7, 0.61, 0.3], "probability").keep, 3);
///
/// // Three queries say too little about what the next one needs.
/// let refused = guarantee.calibrate(&vec![query; 3]).unwrap_err();
/// assert!(refused.to_string().contains("at least 4 are needed"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Guarantee {
    /// Expected recall, over queries that have an answer.
    Recall {
        /// Least expected recall, above 0 and below 1.
        target: f64,
    },
    /// Mean precision over all queries; one that keeps nothing counts as precise.
    Precision {
        /// Least mean precision, above 0 and below 1.
        target: f64,
        /// Least probability, over the draw of the judged queries, that the promise holds; above 0 and below 1.
        confidence: f64,
    },
}

impl Guarantee {
    /// Expected recall of at least `target`.
    ///
    /// # Errors
    /// [`GuaranteeError::NotAllowed`] when the target is not above 0 and below 1.
    pub fn recall(target: f64) -> Result<Self, GuaranteeError> {
        Ok(Guarantee::Recall { target: share("recall", target)? })
    }

    /// Mean precision of at least `target`, with the probability `confidence` over the draw of the judged queries.
    ///
    /// # Errors
    /// [`GuaranteeError::NotAllowed`] when either is not above 0 and below 1.
    pub fn precision(target: f64, confidence: f64) -> Result<Self, GuaranteeError> {
        let (target, confidence) = (share("precision", target)?, share("confidence", confidence)?);
        Ok(Guarantee::Precision { target, confidence })
    }

    /// The threshold on the candidates' values that keeps the promise, from judged queries. O(c log c) in the number of
    /// candidates.
    ///
    /// # Errors
    /// [`GuaranteeError::TooFew`] with the number needed, [`GuaranteeError::Unreachable`] with the best that is reached,
    /// [`GuaranteeError::Query`] for a query whose values increase or are not finite.
    pub fn calibrate(&self, queries: &[CalibrationQuery]) -> Result<Calibrated, GuaranteeError> {
        for (position, query) in queries.iter().enumerate() {
            query.check(position)?;
        }
        match *self {
            Guarantee::Recall { target } => calibration::calibrate_recall(*self, target, queries),
            Guarantee::Precision { target, confidence } => {
                calibration::calibrate_precision(*self, target, confidence, queries)
            }
        }
    }
}

impl fmt::Display for Guarantee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Guarantee::Recall { target } => write!(f, "recall={target}"),
            Guarantee::Precision { target, confidence } => write!(f, "precision={target},confidence={confidence}"),
        }
    }
}

impl FromStr for Guarantee {
    type Err = GuaranteeError;

    fn from_str(text: &str) -> Result<Self, GuaranteeError> {
        let malformed = || GuaranteeError::Malformed { text: text.to_owned() };
        let (mut recall, mut precision, mut confidence) = (None, None, None);
        for part in text.split(',') {
            let (name, value) = part.split_once('=').ok_or_else(malformed)?;
            let value: f64 = value.trim().parse().map_err(|_| malformed())?;
            let slot = match name.trim() {
                "recall" => &mut recall,
                "precision" => &mut precision,
                "confidence" => &mut confidence,
                _ => return Err(malformed()),
            };
            if slot.replace(value).is_some() {
                return Err(malformed());
            }
        }
        match (recall, precision, confidence) {
            (Some(target), None, None) => Guarantee::recall(target),
            (None, Some(target), confidence) => Guarantee::precision(target, confidence.unwrap_or(DEFAULT_CONFIDENCE)),
            _ => Err(malformed()),
        }
    }
}

fn share(name: &'static str, value: f64) -> Result<f64, GuaranteeError> {
    if value > 0.0 && value < 1.0 { Ok(value) } else { Err(GuaranteeError::NotAllowed { name, value }) }
}

// Refusals of a guarantee, each with what would be needed.

/// The refusal of a guarantee.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum GuaranteeError {
    /// A text in another form than that of a guarantee.
    #[error(
        "\"{text}\" is not a guarantee; use recall=0.9 (expected recall), precision=0.8 or precision=0.8,confidence=0.95 (mean precision)"
    )]
    Malformed {
        /// The text as given.
        text: String,
    },
    /// A level that cannot be promised.
    #[error("{name}={value}: must be above 0 and below 1")]
    NotAllowed {
        /// Its name: `recall`, `precision` or `confidence`.
        name: &'static str,
        /// The level as given.
        value: f64,
    },
    /// Fewer judged queries than the promise needs.
    #[error(
        "{guarantee} cannot be guaranteed from {}: at least {need} are needed, {} more",
        judged(*have, guarantee), need.saturating_sub(*have)
    )]
    TooFew {
        /// The promise asked for.
        guarantee: Guarantee,
        /// Number of judged queries that count: for recall those with a relevant passage, for precision all.
        have: usize,
        /// The least number that suffices if further queries resemble those judged.
        need: usize,
    },
    /// No number of judged queries like these allows the promise.
    #[error(
        "{guarantee} cannot be guaranteed: {}, and more judged queries like these would not change that",
        reached(guarantee, *best, *queries)
    )]
    Unreachable {
        /// The promise asked for.
        guarantee: Guarantee,
        /// The best mean recall or precision that any threshold reaches on the judged queries.
        best: f64,
        /// Number of judged queries that count.
        queries: usize,
    },
    /// A judged query that cannot be read.
    #[error("judged query {position}: {reason}")]
    Query {
        /// Its position, from 0.
        position: usize,
        /// The fault.
        reason: String,
    },
}

fn judged(count: usize, guarantee: &Guarantee) -> String {
    let queries = if count == 1 { "query" } else { "queries" };
    match guarantee {
        Guarantee::Recall { .. } => format!("{count} judged {queries} with a relevant passage"),
        Guarantee::Precision { .. } => format!("{count} judged {queries}"),
    }
}

fn reached(guarantee: &Guarantee, best: f64, queries: usize) -> String {
    let judged = judged(queries, guarantee);
    match guarantee {
        Guarantee::Recall { .. } => format!("keeping the whole pool reaches a recall of {} on {judged}", figure(best)),
        Guarantee::Precision { .. } => format!("the best thresholds reach a precision of {} on {judged}", figure(best)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_guarantee_lead_to_each_other() {
        for (text, guarantee) in [
            ("recall=0.9", Guarantee::Recall { target: 0.9 }),
            (" recall = 0.5 ", Guarantee::Recall { target: 0.5 }),
            ("precision=0.8", Guarantee::Precision { target: 0.8, confidence: 0.9 }),
            ("precision=0.8,confidence=0.95", Guarantee::Precision { target: 0.8, confidence: 0.95 }),
        ] {
            assert_eq!(text.parse(), Ok(guarantee), "{text}");
            assert_eq!(guarantee.to_string().parse(), Ok(guarantee));
        }
    }

    #[test]
    fn what_is_no_guarantee_says_what_one_is() {
        for text in [
            "", "0.9", "recall", "recall=", "recall=most", "f1=0.9", "recall=0.9,recall=0.8",
            "recall=0.9,precision=0.9",
        ] {
            let error = text.parse::<Guarantee>().unwrap_err().to_string();
            assert!(error.contains("recall=0.9") && error.contains("precision=0.8"), "{text}: {error}");
        }
        for text in ["recall=0", "recall=1", "recall=-0.1", "recall=nan", "precision=0.9,confidence=1"] {
            let error = text.parse::<Guarantee>().unwrap_err().to_string();
            assert!(error.contains("above 0 and below 1"), "{text}: {error}");
        }
    }
}
