//! Conformal risk control for recall.
//!
//! Let n judged queries have an answer, and let R̂(t) be the mean of 1 − recall when candidates of value at least t are kept.
//! The loss is at most 1, so the threshold is the highest t with n/(n+1) · R̂(t) + 1/(n+1) ≤ 1 − target. In terms of recall,
//! as computed here: the sum of the recalls at t is at least (n+1) · target. The sum only changes at the values of relevant
//! candidates, so the threshold is one of them.
//!
//! With relevant passages outside the pool, the loss at the lowest threshold is not 0, and calibration can refuse. A refusal
//! promises nothing; counting it as without loss, the bound holds over all draws.

use super::calibration::{Calibrated, CalibrationQuery, mean_kept};
use super::{Guarantee, GuaranteeError};

/// Slack for the rounding of sums of fractions such as 1/3.
const ROUNDING: f64 = 1e-9;

pub(super) fn calibrate(
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn query(values: &[f64], relevant: &[bool], missed: usize) -> CalibrationQuery {
        CalibrationQuery { values: values.to_vec(), relevant: relevant.to_vec(), missed }
    }

    fn recall(query: &CalibrationQuery, threshold: f64) -> f64 {
        let kept = query.kept(threshold);
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
    fn passages_outside_of_the_pool_ask_for_more_queries_or_make_it_impossible() {
        let whole = query(&[1.0], &[true], 0);
        let lacking = query(&[1.0], &[true], 1);
        let guarantee = Guarantee::Recall { target: 0.9 };
        // 1 of 20 misses half: a mean of 0.975, so n · 0.975 ≥ (n + 1) · 0.9 from n = 12.
        let mut queries = vec![whole.clone(); 19];
        queries.push(lacking.clone());
        assert!(guarantee.calibrate(&queries).is_ok());
        let few = [&queries[..9], &queries[19..]].concat();
        assert_eq!(
            guarantee.calibrate(&few).unwrap_err(),
            GuaranteeError::TooFew { guarantee, have: 10, need: 18 },
            "a mean of 0.95"
        );
        let refused = guarantee.calibrate(&vec![lacking.clone(); 50]).unwrap_err();
        assert_eq!(refused, GuaranteeError::Unreachable { guarantee, best: 0.5, queries: 50 });
        assert!(refused.to_string().contains("the whole pool reaches a recall of 0.5"), "{refused}");
        let refused = guarantee.calibrate(&[lacking]).unwrap_err();
        assert_eq!(refused, GuaranteeError::TooFew { guarantee, have: 1, need: 9 }, "one query says nothing yet");
    }

    #[test]
    fn thirds_add_up_in_spite_of_rounding() {
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
}
