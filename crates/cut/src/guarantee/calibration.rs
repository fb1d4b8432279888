//! Judged queries, and the threshold calibrated on them.

use super::{Guarantee, GuaranteeError};
use crate::cut::{Cut, NO_CANDIDATES, percent};
use crate::pool::Pool;

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

    pub(crate) fn check(&self, position: usize) -> Result<(), GuaranteeError> {
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
    pub(crate) fn count_kept(&self, threshold: f64) -> usize {
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
pub fn mean_kept(queries: &[&CalibrationQuery], threshold: f64) -> f64 {
    let kept: usize = queries.iter().map(|query| query.count_kept(threshold)).sum();
    kept as f64 / queries.len().max(1) as f64
}

// Conformal risk control for recall.
//
// Let n judged queries have an answer, and let R̂(t) be the mean of 1 − recall when candidates of value at least t are kept.
// The loss is at most 1, so the threshold is the highest t with n/(n+1) · R̂(t) + 1/(n+1) ≤ 1 − target. In terms of recall,
// as computed here: the sum of the recalls at t is at least (n+1) · target. The sum only changes at the values of relevant
// candidates, so the threshold is one of them.
//
// With relevant passages outside the pool, the loss at the lowest threshold is not 0, and calibration can refuse. A refusal
// promises nothing; counting it as without loss, the bound holds over all draws.

/// Slack for the rounding of sums of fractions such as 1/3.
const ROUNDING: f64 = 1e-9;

pub fn calibrate_recall(
    guarantee: Guarantee,
    target: f64,
    queries: &[CalibrationQuery],
) -> Result<Calibrated, GuaranteeError> {
    let answered: Vec<&CalibrationQuery> = queries.iter().filter(|query| query.answers() > 0).collect();
    let count = answered.len();
    // The value of each relevant candidate, with what keeping it adds to the sum of recalls.
    let mut gains: Vec<(f64, f64)> = answered
        .iter()
        .flat_map(|query| {
            let share = 1.0 / query.answers() as f64;
            let relevant = query.values.iter().zip(&query.relevant).filter(|(_, relevant)| **relevant);
            relevant.map(move |(&value, _)| (value, share))
        })
        .collect();
    gains.sort_by(|a, b| b.0.total_cmp(&a.0));

    let needed = (count as f64 + 1.0) * target - ROUNDING;
    let mut sum = 0.0;
    let mut position = 0;
    while position < gains.len() {
        let threshold = gains[position].0;
        // Equal values are kept together or not at all.
        while position < gains.len() && gains[position].0 == threshold {
            sum += gains[position].1;
            position += 1;
        }
        if sum >= needed {
            return Ok(Calibrated {
                guarantee,
                threshold,
                queries: count,
                observed: (sum / count as f64).min(1.0),
                bound: (sum / (count as f64 + 1.0)).min(1.0),
                kept: mean_kept(&answered, threshold),
            });
        }
    }

    let least = least_queries(1.0, target).unwrap_or(usize::MAX);
    let reach = if count == 0 { 1.0 } else { sum / count as f64 };
    match least_queries(reach, target) {
        Some(need) => Err(GuaranteeError::TooFew { guarantee, have: count, need: need.max(count + 1) }),
        None if count < least => Err(GuaranteeError::TooFew { guarantee, have: count, need: least }),
        None => Err(GuaranteeError::Unreachable { guarantee, best: reach, queries: count }),
    }
}

/// The least n with n · reach ≥ (n + 1) · target, where there is one.
fn least_queries(reach: f64, target: f64) -> Option<usize> {
    let margin = reach - target;
    (margin > ROUNDING).then(|| (target / margin - ROUNDING).ceil() as usize)
}

// Learn then test for precision.
//
// The mean loss 1 − precision is not monotone in the threshold. So a threshold is accepted only when the Hoeffding–Bentkus
// p-value (Bates, Angelopoulos, Lei, Malik, Jordan, *Distribution-Free, Risk-Controlling Prediction Sets*, 2021) rejects,
// at the level 1 − confidence, the hypothesis that its risk exceeds 1 − target. Thresholds are tested in a fixed order, from
// 1 down to 0 in hundredths, up to the first that is not rejected: fixed-sequence testing, which needs no correction for
// their number.

/// Steps between the thresholds 0 and 1.
const STEPS: usize = 100;

pub fn calibrate_precision(
    guarantee: Guarantee,
    target: f64,
    confidence: f64,
    queries: &[CalibrationQuery],
) -> Result<Calibrated, GuaranteeError> {
    let all: Vec<&CalibrationQuery> = queries.iter().collect();
    let (count, risk, level) = (queries.len(), 1.0 - target, 1.0 - confidence);
    let thresholds = || (0..=STEPS).rev().map(|step| step as f64 / STEPS as f64);

    let accepted = thresholds().map(|threshold| (threshold, mean_loss(&all, threshold)));
    let accepted = accepted.take_while(|&(_, loss)| count > 0 && p_value(loss, count, risk) <= level).last();
    if let Some((threshold, loss)) = accepted {
        let kept = mean_kept(&all, threshold);
        // A threshold beyond all candidates keeps the promise but never answers.
        if kept > 0.0 {
            let observed = 1.0 - loss;
            return Ok(Calibrated { guarantee, threshold, queries: count, observed, bound: target, kept });
        }
    }

    let first = thresholds().find(|&threshold| mean_kept(&all, threshold) > 0.0);
    let loss = first.map_or(0.0, |threshold| mean_loss(&all, threshold));
    if loss < risk {
        // With the same loss, the Hoeffding bound alone rejects from this number on.
        let need = (-level.ln() / divergence(loss, risk) - 1e-9).ceil();
        if need > count as f64 {
            return Err(GuaranteeError::TooFew { guarantee, have: count, need: need as usize });
        }
    }
    let losses = thresholds().filter(|&threshold| mean_kept(&all, threshold) > 0.0);
    let least = losses.map(|threshold| mean_loss(&all, threshold)).fold(1.0, f64::min);
    Err(GuaranteeError::Unreachable { guarantee, best: 1.0 - least, queries: count })
}

/// Mean of 1 − precision; a query that keeps nothing has no loss.
fn mean_loss(queries: &[&CalibrationQuery], threshold: f64) -> f64 {
    let loss = |query: &&CalibrationQuery| {
        let kept = query.count_kept(threshold);
        let wrong = query.relevant[..kept].iter().filter(|&&relevant| !relevant).count();
        wrong as f64 / kept.max(1) as f64
    };
    queries.iter().map(loss).sum::<f64>() / queries.len().max(1) as f64
}

/// The Hoeffding–Bentkus p-value of the hypothesis that the mean of a loss between 0 and 1 exceeds `risk`, when the mean of
/// `count` draws is `loss`.
fn p_value(loss: f64, count: usize, risk: f64) -> f64 {
    let hoeffding = (-(count as f64) * divergence(loss.min(risk), risk)).exp();
    let at_most = (count as f64 * loss - 1e-9).ceil().max(0.0) as usize;
    let bentkus = std::f64::consts::E * binomial_at_most(at_most, count, risk);
    hoeffding.min(bentkus).min(1.0)
}

/// Kullback–Leibler divergence of Bernoulli variables with means `a` and `b`, 0 < b < 1.
fn divergence(a: f64, b: f64) -> f64 {
    let term = |a: f64, b: f64| if a > 0.0 { a * (a / b).ln() } else { 0.0 };
    (term(a, b) + term(1.0 - a, 1.0 - b)).max(0.0)
}

/// Probability of at most `limit` successes in `count` trials.
fn binomial_at_most(limit: usize, count: usize, probability: f64) -> f64 {
    if limit >= count {
        return 1.0;
    }
    let odds = (probability / (1.0 - probability)).ln();
    let mut log = count as f64 * (1.0 - probability).ln();
    let mut sum = log.exp();
    for successes in 1..=limit {
        log += ((count - successes + 1) as f64 / successes as f64).ln() + odds;
        sum += log.exp();
    }
    sum.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
        let promise = "on average, at least 80% of what is kept is right, going by 20 judged queries (95% confidence)";
        assert_eq!(cut.reason, promise);
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
        let good = query(&[0.5], &[true], 0);
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

    fn query(values: &[f64], relevant: &[bool], missed: usize) -> CalibrationQuery {
        CalibrationQuery { values: values.to_vec(), relevant: relevant.to_vec(), missed }
    }

    fn recall(query: &CalibrationQuery, threshold: f64) -> f64 {
        let kept = query.count_kept(threshold);
        query.relevant[..kept].iter().filter(|&&relevant| relevant).count() as f64 / query.answers() as f64
    }

    #[test]
    fn the_least_number_is_that_of_the_correction_alone() {
        let perfect = query(&[1.0, 0.5], &[true, false], 0);
        for (target, need) in [(0.5, 1), (0.8, 4), (0.9, 9), (0.95, 19), (0.99, 99)] {
            let guarantee = Guarantee::Recall { target };
            let refused = guarantee.calibrate(&vec![perfect.clone(); need - 1]).unwrap_err();
            assert_eq!(refused, GuaranteeError::TooFew { guarantee, have: need - 1, need });
            let given = guarantee.calibrate(&vec![perfect.clone(); need]).unwrap();
            assert_eq!((given.threshold, given.observed, given.queries, given.kept), (1.0, 1.0, need, 1.0));
            assert!(given.bound >= target - 1e-9 && given.bound < 1.0);
        }
    }

    #[test]
    fn passages_outside_of_the_pool_ask_for_more_queries_and_thirds_add_up_in_spite_of_rounding() {
        let whole = query(&[1.0], &[true], 0);
        let lacking = query(&[1.0], &[true], 1);
        let guarantee = Guarantee::Recall { target: 0.9 };
        // 1 of 20 misses half: a mean of 0.975, so n · 0.975 ≥ (n + 1) · 0.9 from n = 12.
        let mut queries = vec![whole.clone(); 19];
        queries.push(lacking.clone());
        assert!(guarantee.calibrate(&queries).is_ok());
        let refused = guarantee.calibrate(&[&queries[..9], &queries[19..]].concat()).unwrap_err();
        assert_eq!(refused, GuaranteeError::TooFew { guarantee, have: 10, need: 18 }, "a mean of 0.95");
        let refused = guarantee.calibrate(&vec![lacking.clone(); 50]).unwrap_err();
        assert_eq!(refused, GuaranteeError::Unreachable { guarantee, best: 0.5, queries: 50 });
        assert!(refused.to_string().contains("the whole pool reaches a recall of 0.5"), "{refused}");
        let refused = guarantee.calibrate(&[lacking]).unwrap_err();
        assert_eq!(refused, GuaranteeError::TooFew { guarantee, have: 1, need: 9 }, "one query says nothing yet");
        let thirds = query(&[0.9, 0.8, 0.7], &[true; 3], 0);
        let given = Guarantee::Recall { target: 0.9 }.calibrate(&vec![thirds; 9]).unwrap();
        assert_eq!(given.threshold, 0.7);
    }

    fn judged() -> impl Strategy<Value = CalibrationQuery> {
        // Few distinct values, so that ties abound.
        (prop::collection::vec((0u8..12, any::<bool>()), 0..12), 0usize..2).prop_map(|(mut pool, missed)| {
            pool.sort_by_key(|candidate| std::cmp::Reverse(candidate.0));
            let values = pool.iter().map(|(value, _)| f64::from(*value) / 12.0).collect();
            CalibrationQuery { values, relevant: pool.into_iter().map(|(_, relevant)| relevant).collect(), missed }
        })
    }

    proptest! {
        #[test]
        fn the_threshold_is_the_highest_that_meets_the_definition(
            queries in prop::collection::vec(judged(), 0..40),
            target in 0.05f64..0.95,
        ) {
            let guarantee = Guarantee::Recall { target };
            let answered: Vec<&CalibrationQuery> = queries.iter().filter(|query| query.answers() > 0).collect();
            let n = answered.len() as f64;
            let bound = |threshold: f64| {
                let loss: f64 = answered.iter().map(|query| 1.0 - recall(query, threshold)).sum();
                (loss + 1.0) / (n + 1.0)
            };
            let grid: Vec<f64> = (0..12).rev().map(|value| f64::from(value) / 12.0).collect();
            let highest = grid.iter().copied().find(|&threshold| bound(threshold) <= 1.0 - target + 1e-12);
            match guarantee.calibrate(&queries) {
                Ok(given) => {
                    prop_assert_eq!(Some(given.threshold), highest);
                    prop_assert!((1.0 - bound(given.threshold) - given.bound).abs() < 1e-9);
                }
                Err(refused) => {
                    prop_assert_eq!(highest, None);
                    if let GuaranteeError::TooFew { have, need, .. } = refused {
                        prop_assert!(need > have);
                    }
                }
            }
        }
    }

    #[test]
    fn the_p_value_is_that_of_the_definition() {
        // Without any loss it is the chance that every draw is without one.
        assert!((p_value(0.0, 22, 0.1) - 0.9f64.powi(22)).abs() < 1e-12);
        assert!((p_value(0.1, 22, 0.1) - 1.0).abs() < 1e-12);
        assert_eq!(p_value(0.5, 22, 0.1), 1.0);
        // 0.9^3, 3 · 0.1 · 0.9², 3 · 0.1² · 0.9.
        assert!((binomial_at_most(0, 3, 0.1) - 0.729).abs() < 1e-12);
        assert!((binomial_at_most(1, 3, 0.1) - 0.972).abs() < 1e-12);
        assert!((binomial_at_most(2, 3, 0.1) - 0.999).abs() < 1e-12);
        assert_eq!(binomial_at_most(3, 3, 0.1), 1.0);
        // Many trials do not underflow.
        assert!((binomial_at_most(1000, 10_000, 0.1) - 0.5).abs() < 0.02);
    }

    #[test]
    fn a_refusal_says_how_many_are_needed_or_what_is_reached() {
        let guarantee = Guarantee::Precision { target: 0.9, confidence: 0.9 };
        let right = query(&[0.9], &[true], 0);
        for (count, need) in [(0, 22), (1, 22), (21, 22)] {
            let refused = guarantee.calibrate(&vec![right.clone(); count]).unwrap_err();
            assert_eq!(refused, GuaranteeError::TooFew { guarantee, have: count, need });
        }
        assert!(guarantee.calibrate(&vec![right.clone(); 22]).is_ok());
        let wrong = vec![query(&[0.4], &[false], 0); 100];
        let refused = guarantee.calibrate(&wrong).unwrap_err();
        assert_eq!(refused, GuaranteeError::Unreachable { guarantee, best: 0.0, queries: 100 });
        let half = [vec![right; 20], vec![query(&[0.9], &[false], 0); 20]].concat();
        let refused = guarantee.calibrate(&half).unwrap_err();
        assert_eq!(refused, GuaranteeError::Unreachable { guarantee, best: 0.5, queries: 40 });
        assert!(refused.to_string().contains("a precision of 0.5 on 40 judged queries"), "{refused}");
    }
}
