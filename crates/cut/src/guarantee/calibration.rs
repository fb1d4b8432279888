//! Judged queries, and the threshold calibrated on them.

use super::{Guarantee, GuaranteeError};
use crate::cut::Cut;
use crate::pool::Pool;
use crate::reason::{NO_CANDIDATES, percent};

/// A judged query: its pool in ranking order, with judgements.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CalibrationQuery {
    /// The value of each candidate that the threshold applies to; finite and not increasing.
    pub values: Vec<f64>,
    /// The judgement of each candidate, in the same order: true if relevant. An unjudged candidate counts as irrelevant.
    pub relevant: Vec<bool>,
    /// Relevant passages outside the pool, which no threshold can keep.
    pub missed: usize,
}

impl CalibrationQuery {
    /// Number of relevant passages, in the pool or not.
    pub fn answers(&self) -> usize {
        self.missed + self.relevant.iter().filter(|&&relevant| relevant).count()
    }

    pub(super) fn check(&self, position: usize) -> Result<(), GuaranteeError> {
        let refuse = |reason: String| Err(GuaranteeError::Query { position, reason });
        if self.values.len() != self.relevant.len() {
            let (values, relevant) = (self.values.len(), self.relevant.len());
            return refuse(format!("{values} values and {relevant} judgements; each candidate needs one of each"));
        }
        if let Some(at) = self.values.iter().position(|value| !value.is_finite()) {
            return refuse(format!("the value of candidate {at} is {}, not a finite number", self.values[at]));
        }
        if let Some(at) = self.values.windows(2).position(|pair| pair[1] > pair[0]) {
            let (before, after) = (self.values[at], self.values[at + 1]);
            return refuse(format!(
                "the value of candidate {} is {after}, above {before} before it; order them best first",
                at + 1
            ));
        }
        Ok(())
    }

    /// Number of candidates with a value of at least `threshold`.
    pub(super) fn kept(&self, threshold: f64) -> usize {
        self.values.partition_point(|&value| value >= threshold)
    }
}

/// A guarantee with the threshold that keeps it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Calibrated {
    /// The promise.
    pub guarantee: Guarantee,
    /// Least value of a kept candidate.
    pub threshold: f64,
    /// Number of judged queries it was calibrated on: for recall those with a relevant passage, for precision all.
    pub queries: usize,
    /// Mean recall or mean precision of those queries at the threshold, 0 to 1.
    pub observed: f64,
    /// The bound for the next query. For recall it is the lower bound of the expectation, at least the target and below
    /// `observed` by the correction for the number of queries; for precision it is the target.
    pub bound: f64,
    /// Mean number of candidates that those queries keep.
    pub kept: f64,
}

impl Calibrated {
    /// Keeps every candidate of `pool` whose value reaches the threshold. `values` has one value per candidate of the pool,
    /// not increasing, computed as for the judged queries. `what` names the value in the diagnostics, such as
    /// `normalized_score`.
    pub fn cut(&self, pool: &Pool, values: &[f64], what: &str) -> Cut {
        let keep = values.iter().take_while(|&&value| value >= self.threshold).count();
        let queries = match self.queries {
            1 => "1 judged query".to_string(),
            queries => format!("{queries} judged queries"),
        };
        let reason = match self.guarantee {
            _ if pool.is_empty() => NO_CANDIDATES.to_string(),
            Guarantee::Recall { target } => {
                format!("on average, at least {} of what is relevant is kept, going by {queries}", percent(target))
            }
            Guarantee::Precision { target, confidence } => format!(
                "on average, at least {} of what is kept is right, going by {queries} ({} confidence)",
                percent(target),
                percent(confidence)
            ),
        };
        Cut::new("guarantee", pool, keep, reason)
            .with("guarantee", self.guarantee.to_string())
            .with("guarantee_on", what.to_owned())
            .with("guarantee_threshold", self.threshold)
            .with("judged_queries", self.queries)
            .with("observed", self.observed)
            .with("bound", self.bound)
            .with("mean_kept", self.kept)
    }
}

/// Mean number of candidates that the queries keep at a threshold.
pub(super) fn mean_kept(queries: &[&CalibrationQuery], threshold: f64) -> f64 {
    let kept: usize = queries.iter().map(|query| query.kept(threshold)).sum();
    kept as f64 / queries.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calibrated(guarantee: Guarantee) -> Calibrated {
        Calibrated { guarantee, threshold: 0.5, queries: 20, observed: 0.95, bound: 0.9, kept: 3.0 }
    }

    #[test]
    fn what_reaches_the_threshold_is_kept_and_the_reason_says_what_is_promised() {
        let pool = Pool::scores([9.0, 8.0, 7.0, 6.0]).unwrap();
        let cut = calibrated(Guarantee::Recall { target: 0.9 }).cut(&pool, &[0.9, 0.5, 0.5, 0.4], "probability");
        assert_eq!((cut.keep, cut.dropped, cut.method.as_str()), (3, 1, "guarantee"));
        assert_eq!(cut.reason, "on average, at least 90% of what is relevant is kept, going by 20 judged queries");
        assert_eq!(cut.diagnostics["guarantee_on"].as_text(), Some("probability"));
        assert_eq!(cut.diagnostics["guarantee_threshold"].as_number(), Some(0.5));
        let precise = Guarantee::Precision { target: 0.8, confidence: 0.95 };
        let cut = calibrated(precise).cut(&pool, &[0.9, 0.4, 0.4, 0.4], "share");
        assert_eq!(cut.keep, 1);
        assert_eq!(
            cut.reason,
            "on average, at least 80% of what is kept is right, going by 20 judged queries (95% confidence)"
        );
        assert_eq!(cut.diagnostics["guarantee"].as_text(), Some("precision=0.8,confidence=0.95"));
    }

    #[test]
    fn odd_values_at_the_time_of_the_cut_do_no_harm() {
        let pool = Pool::scores([2.0, 1.0]).unwrap();
        let calibrated = calibrated(Guarantee::Recall { target: 0.9 });
        assert_eq!(calibrated.cut(&pool, &[], "value").keep, 0);
        assert_eq!(calibrated.cut(&pool, &[0.9; 9], "value").keep, 2);
        assert_eq!(calibrated.cut(&pool, &[f64::NAN, 0.9], "value").keep, 0);
        assert_eq!(calibrated.cut(&Pool::scores([]).unwrap(), &[0.9], "value").keep, 0);
    }

    #[test]
    fn a_query_that_cannot_be_read_is_named() {
        let good = CalibrationQuery { values: vec![0.5], relevant: vec![true], missed: 0 };
        for (values, relevant, part) in [
            (vec![0.5, 0.6], vec![true, true], "above 0.5 before it"),
            (vec![0.5], vec![], "1 values and 0 judgements"),
            (vec![0.5, f64::NAN], vec![true, true], "candidate 1 is NaN"),
        ] {
            let bad = CalibrationQuery { values, relevant, missed: 0 };
            let error = Guarantee::Recall { target: 0.5 }.calibrate(&[good.clone(), bad]).unwrap_err();
            assert!(matches!(error, GuaranteeError::Query { position: 1, .. }));
            assert!(error.to_string().contains(part), "{error}");
        }
    }
}
