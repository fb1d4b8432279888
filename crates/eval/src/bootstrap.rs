//! Confidence intervals of differences between methods, by the paired bootstrap over queries.
//!
//! Each resample draws as many queries as there are, with replacement, within each collection and each kind of query, so
//! that no resample lacks the kind that a metric averages. The interval uses percentiles (Efron and Tibshirani, *An
//! Introduction to the Bootstrap*, 1993, chapter 13). Methods are compared on the same resamples, query by query.

use std::collections::BTreeMap;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use serde::{Deserialize, Serialize};

use crate::evaluate::mean;
use crate::metrics::Metric;

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
pub struct Paired {
    pub differences: Vec<(usize, f64)>,
}

impl Paired {
    /// Mean difference; 0 without a query.
    pub fn mean(&self) -> f64 {
        mean(self.differences.iter().map(|&(_, difference)| difference)).unwrap_or(0.0)
    }

    /// Mean where query `i` counts `weights[i]` times. The weights of the queries sum to their number.
    fn weighted_mean(&self, weights: &[f64]) -> f64 {
        let sum: f64 = self.differences.iter().map(|&(query, difference)| weights[query] * difference).sum();
        sum / self.differences.len().max(1) as f64
    }
}

/// By method and metric, a figure on each resample of a collection.
pub type Resampled = BTreeMap<(String, Metric), Vec<f64>>;

/// The mean of each of `paired` on each of `count` resamples. Query i is drawn within the group `strata[i]`. O(count ·
/// queries · paired).
pub fn resample(random: &mut Random, strata: &[usize], count: usize, paired: &[Paired]) -> Vec<Vec<f64>> {
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

// Random numbers that are the same on every machine and in every version.

/// A stream of random numbers (ChaCha8) that depends on a seed, a purpose and a name alone: a collection's folds and resamples
/// stay the same whatever else is evaluated with it.
///
/// ```
/// use tamis_eval::Random;
/// let draw = || Random::new(7, "folds", "recipes").below(1000);
/// assert_eq!(draw(), draw());
/// ```
#[derive(Debug, Clone)]
pub struct Random(ChaCha8Rng);

impl Random {
    /// The stream of this seed, purpose and name, from its beginning.
    #[must_use]
    pub fn new(seed: u64, purpose: &str, name: &str) -> Self {
        // FNV-1a, separated by a byte that UTF-8 never contains.
        let bytes = purpose.bytes().chain([0xff]).chain(name.bytes());
        let stream =
            bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        generator.set_stream(stream);
        Random(generator)
    }

    /// A number below `bound`, each equally likely; 0 for a bound of 0 (Lemire, *Fast random integer generation in an
    /// interval*, 2019).
    pub fn below(&mut self, bound: usize) -> usize {
        self.below_u64(bound as u64) as usize
    }

    /// [`Random::below`] for 64-bit numbers on every platform, from the same stream.
    pub fn below_u64(&mut self, bound: u64) -> u64 {
        let reject_below = bound.wrapping_neg().checked_rem(bound).unwrap_or(0);
        loop {
            let product = u128::from(self.0.next_u64()) * u128::from(bound);
            if product as u64 >= reject_below {
                return (product >> 64) as u64;
            }
        }
    }

    /// Puts the values into a random order, each order equally likely (Fisher–Yates).
    pub fn shuffle<T>(&mut self, values: &mut [T]) {
        for last in (1..values.len()).rev() {
            values.swap(last, self.below(last + 1));
        }
    }
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
        assert_eq!([percentile(&[], 0.5), percentile(&[3.0], 0.975)], [None, Some(3.0)]);
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

    #[test]
    fn streams_are_fixed_and_apart() {
        let draw = |seed, purpose, name| {
            let mut random = Random::new(seed, purpose, name);
            [random.below(1000), random.below(1000), random.below(1000)]
        };
        assert_eq!(draw(7, "folds", "a"), draw(7, "folds", "a"));
        assert_ne!(draw(7, "folds", "a"), draw(8, "folds", "a"));
        assert_ne!(draw(7, "folds", "a"), draw(7, "resamples", "a"));
        assert_ne!(draw(7, "folds", "a"), draw(7, "folds", "b"));
    }

    #[test]
    fn every_number_below_the_bound_comes_up() {
        let mut random = Random::new(1, "test", "");
        let mut counts = [0; 7];
        for _ in 0..7000 {
            counts[random.below(7)] += 1;
        }
        assert!(counts.iter().all(|count| (850..1150).contains(count)), "{counts:?}");
        assert_eq!((random.below(0), random.below(1)), (0, 0));
    }

    #[test]
    fn a_shuffle_keeps_the_values() {
        let mut values: Vec<usize> = (0..50).collect();
        Random::new(3, "test", "").shuffle(&mut values);
        assert_ne!(values, (0..50).collect::<Vec<_>>());
        values.sort_unstable();
        assert_eq!(values, (0..50).collect::<Vec<_>>());
    }
}
