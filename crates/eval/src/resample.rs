//! Confidence intervals of differences between methods, by the paired bootstrap over queries.
//!
//! Each resample draws as many queries as there are, with replacement, within each collection and each kind of query, so
//! that no resample lacks the kind that a metric averages. The interval uses percentiles (Efron and Tibshirani, *An
//! Introduction to the Bootstrap*, 1993, chapter 13). Methods are compared on the same resamples, query by query.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::mean::mean;
use crate::metric::Metric;
use crate::random::Random;

/// A difference of means, with its 95% interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// This method less the baseline.
    pub estimate: f64,
    /// Lower end of the interval: the 2.5th percentile of the resamples. `None` when no resamples were asked for.
    pub low: Option<f64>,
    /// Upper end: the 97.5th percentile.
    pub high: Option<f64>,
}

impl Difference {
    /// The estimate with the percentiles of its resamples.
    pub(crate) fn new(estimate: f64, mut resamples: Vec<f64>) -> Self {
        resamples.sort_by(f64::total_cmp);
        Difference { estimate, low: percentile(&resamples, 0.025), high: percentile(&resamples, 0.975) }
    }

    /// Returns true if the difference is 0 on every resample.
    pub(crate) fn is_nothing(&self) -> bool {
        [Some(self.estimate), self.low, self.high].into_iter().flatten().all(|value| value == 0.0)
    }
}

/// Paired differences of one metric: for each query that it averages over, its position and the difference.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Paired {
    pub(crate) differences: Vec<(usize, f64)>,
}

impl Paired {
    /// Mean difference; 0 without a query.
    pub(crate) fn mean(&self) -> f64 {
        mean(self.differences.iter().map(|&(_, difference)| difference)).unwrap_or(0.0)
    }

    /// Mean where query `i` counts `weights[i]` times. The weights of the queries sum to their number.
    fn weighted_mean(&self, weights: &[f64]) -> f64 {
        let sum: f64 = self.differences.iter().map(|&(query, difference)| weights[query] * difference).sum();
        sum / self.differences.len().max(1) as f64
    }
}

/// By method and metric, a figure on each resample of a collection.
pub(crate) type Resampled = BTreeMap<(String, Metric), Vec<f64>>;

/// The mean of each of `paired` on each of `count` resamples. Query i is drawn within the group `strata[i]`. O(count ·
/// queries · paired).
pub(crate) fn resample(random: &mut Random, strata: &[usize], count: usize, paired: &[Paired]) -> Vec<Vec<f64>> {
    let groups: Vec<Vec<usize>> = (0..=strata.iter().copied().max().unwrap_or(0))
        .map(|group| (0..strata.len()).filter(|&query| strata[query] == group).collect())
        .collect();
    let mut means = vec![Vec::with_capacity(count); paired.len()];
    let mut weights = vec![0.0; strata.len()];
    for _ in 0..count {
        weights.fill(0.0);
        for group in &groups {
            for _ in group {
                weights[group[random.below(group.len())]] += 1.0;
            }
        }
        for (means, paired) in means.iter_mut().zip(paired) {
            means.push(paired.weighted_mean(&weights));
        }
    }
    means
}

/// The percentile at a share of the sorted values, interpolated between neighbours (definition 7 of Hyndman and Fan, *Sample
/// quantiles in statistical packages*, 1996); `None` without a value. A share outside 0 to 1 counts as the nearer bound.
#[must_use]
pub fn percentile(sorted: &[f64], share: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let at = share.clamp(0.0, 1.0) * last as f64;
    let (below, above) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
    Some(below + (above - below) * at.fract())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn interval(values: &[f64], seed: u64) -> Difference {
        let paired = Paired { differences: values.iter().copied().enumerate().collect() };
        let strata = vec![0; values.len()];
        let means = resample(&mut Random::new(seed, "test", ""), &strata, 1000, std::slice::from_ref(&paired));
        Difference::new(paired.mean(), means.into_iter().next().unwrap())
    }

    #[test]
    fn percentiles_by_hand() {
        assert_eq!(percentile(&[], 0.5), None);
        assert_eq!(percentile(&[3.0], 0.975), Some(3.0));
        assert_eq!(percentile(&[0.0, 1.0, 2.0, 3.0, 4.0], 0.5), Some(2.0));
        assert_eq!(percentile(&[0.0, 10.0], 0.25), Some(2.5));
    }

    #[test]
    fn identical_methods_differ_by_nothing() {
        let same = interval(&[0.0; 30], 1);
        assert_eq!(same, Difference { estimate: 0.0, low: Some(0.0), high: Some(0.0) });
    }

    #[test]
    fn the_interval_is_that_of_the_normal_approximation_for_many_queries() {
        // Differences of ±1, half each: standard error 1/√400, so the interval is about ±0.098.
        let values: Vec<f64> = (0..400).map(|query| if query % 2 == 0 { 1.0 } else { -1.0 }).collect();
        let difference = interval(&values, 5);
        assert_eq!(difference.estimate, 0.0);
        assert!((difference.high.unwrap() - 0.098).abs() < 0.015, "{difference:?}");
        assert!((difference.low.unwrap() + 0.098).abs() < 0.015, "{difference:?}");
    }

    #[test]
    fn strata_keep_their_sizes() {
        // Within each stratum the differences are equal, so that no resample can change the mean.
        let paired = Paired { differences: vec![(0, 1.0), (1, 1.0), (2, -5.0)] };
        let means = resample(&mut Random::new(0, "test", ""), &[0, 0, 2], 50, &[paired]);
        assert!(means[0].iter().all(|mean| (mean + 1.0).abs() < 1e-12));
    }

    proptest! {
        #[test]
        fn the_interval_lies_within_the_values(values in prop::collection::vec(-1.0f64..1.0, 1..40), seed: u64) {
            let difference = interval(&values, seed);
            let least = values.iter().copied().fold(f64::INFINITY, f64::min);
            let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let (low, high) = (difference.low.unwrap(), difference.high.unwrap());
            prop_assert!(least - 1e-9 <= low && low <= high && high <= most + 1e-9);
            prop_assert_eq!(difference, interval(&values, seed));
        }
    }
}
