//! The distribution of a query's similarity to everything.

/// Statistics of a query's similarity to all passages that passed the filter.
///
/// They show whether the best similarities stand out. All are 0 when nothing passed.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Background {
    /// The passages that passed the filter.
    pub count: usize,
    /// The number measured: all of a small corpus, 8,192 evenly spaced ones of a large corpus.
    pub sampled: usize,
    /// The mean similarity, -1 to 1.
    pub mean: f32,
    /// The standard deviation of the similarities (of the population), 0 to 1.
    pub deviation: f32,
    /// The similarities that a share of the passages does not exceed.
    pub quantiles: Quantiles,
}

/// Quantiles by nearest rank: the smallest similarity that at least this share of the passages does not exceed.
///
/// On a large corpus, quantiles well within the candidates are of all passages, lower ones of the sample.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Quantiles {
    /// The median.
    pub p50: f32,
    /// The 75% quantile.
    pub p75: f32,
    /// The 90% quantile.
    pub p90: f32,
    /// The 95% quantile.
    pub p95: f32,
    /// The 99% quantile.
    pub p99: f32,
    /// The 99.9% quantile.
    pub p999: f32,
}

/// The quantiles in thousandths, ascending, in the order of the fields.
const SHARES: [usize; 6] = [500, 750, 900, 950, 990, 999];

impl Background {
    /// Statistics of `count` passages from a `sample` of their similarities, which is reordered.
    ///
    /// `top` holds the best similarities of all, descending: quantiles that lie among them need no sample.
    pub(crate) fn new(count: usize, sample: &mut [f32], top: &[f32]) -> Self {
        if sample.is_empty() {
            return Self { count, ..Self::default() };
        }
        let sampled = sample.len();
        let mean = sum(sample.iter().map(|value| f64::from(*value))) / sampled as f64;
        let variance = sum(sample.iter().map(|value| (f64::from(*value) - mean).powi(2))) / sampled as f64;
        let mut quantiles = of_sample(sample);
        if sampled < count {
            let mut above = f32::INFINITY;
            for (quantile, share) in quantiles.iter_mut().zip(SHARES).rev() {
                if let Some(exact) = top.get(count - rank(count, share)) {
                    *quantile = *exact;
                }
                // A sampled quantile could otherwise pass an exact one above it.
                *quantile = quantile.min(above);
                above = *quantile;
            }
        }
        let [p50, p75, p90, p95, p99, p999] = quantiles;
        Self {
            count,
            sampled,
            mean: mean as f32,
            deviation: variance.sqrt() as f32,
            quantiles: Quantiles { p50, p75, p90, p95, p99, p999 },
        }
    }
}

/// The ranks, from 0, of a sample of `size` among `count` passages in ascending order: the midpoints of equal parts. Every store takes
/// the same ones, so that all of them measure the same background.
pub(crate) fn sample_ranks(count: usize, size: usize) -> impl Iterator<Item = usize> {
    let size = size.min(count);
    (0..size).map(move |at| (2 * at + 1) * count / (2 * size))
}

/// A sum that is the same in any order, so that it does not depend on which rows are in the file. It counts in units of 2⁻⁴⁰,
/// far below the resolution of similarities in f32.
fn sum(values: impl Iterator<Item = f64>) -> f64 {
    const PARTS: f64 = (1_u64 << 40) as f64;
    // A cast saturates, so a damaged file cannot overflow the sum.
    values.map(|value| i128::from((value * PARTS) as i64)).sum::<i128>() as f64 / PARTS
}

/// The rank, from 1, of the quantile at `share` thousandths of `count` values.
fn rank(count: usize, share: usize) -> usize {
    // 128 bits, so that no count overflows.
    let rank = (count as u128 * share as u128).div_ceil(1000) as usize;
    rank.clamp(1, count.max(1))
}

fn of_sample(sample: &mut [f32]) -> [f32; SHARES.len()] {
    let count = sample.len();
    let mut rest = sample;
    let mut skipped = 0;
    let mut last = None;
    SHARES.map(|share| {
        let rank = rank(count, share);
        if let Some((at, value)) = last
            && at == rank
        {
            return value;
        }
        let (_, value, above) = std::mem::take(&mut rest).select_nth_unstable_by(rank - 1 - skipped, f32::total_cmp);
        let value = *value;
        rest = above;
        skipped = rank;
        last = Some((rank, value));
        value
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn quantiles_equal_the_sorted_list(values in prop::collection::vec(-1.0_f32..1.0, 1..3000)) {
            let mut sorted = values.clone();
            sorted.sort_unstable_by(f32::total_cmp);
            let found = of_sample(&mut values.clone());
            for (value, share) in found.iter().zip(SHARES) {
                let not_exceeding = sorted.iter().filter(|other| *other <= value).count();
                prop_assert!(not_exceeding * 1000 >= share * sorted.len());
                let below = sorted.iter().filter(|other| *other < value).count();
                prop_assert!(below * 1000 < share * sorted.len());
            }
        }

        #[test]
        fn quantiles_ascend(
            mut sample in prop::collection::vec(-1.0_f32..1.0, 1..50),
            mut top in prop::collection::vec(-1.0_f32..1.0, 0..200),
            more in 0_usize..10_000,
        ) {
            top.sort_unstable_by(|a, b| b.total_cmp(a));
            let count = sample.len() + top.len() + more;
            let Quantiles { p50, p75, p90, p95, p99, p999 } = Background::new(count, &mut sample, &top).quantiles;
            prop_assert!([p50, p75, p90, p95, p99, p999].is_sorted());
        }
    }

    proptest! {
        #[test]
        fn no_order_of_the_sample_changes_anything(
            (sorted, mut shuffled) in prop::collection::vec(-1.0_f32..1.0, 1..400)
                .prop_flat_map(|values| (Just(values.clone()), Just(values).prop_shuffle()))
        ) {
            let count = sorted.len();
            prop_assert_eq!(Background::new(count, &mut sorted.clone(), &[]), Background::new(count, &mut shuffled, &[]));
        }
    }

    #[test]
    fn a_worked_example() {
        let mut values = [0.4, 0.1, 0.3, 0.2];
        let background = Background::new(4, &mut values, &[]);
        assert!((background.mean - 0.25).abs() < 1e-6);
        assert!((background.deviation - 0.0125_f32.sqrt()).abs() < 1e-6);
        assert_eq!((background.quantiles.p50, background.quantiles.p75, background.quantiles.p90), (0.2, 0.3, 0.4));
    }

    #[test]
    fn the_upper_quantiles_are_of_all_passages() {
        let mut sample = vec![0.0; 1000];
        let top: Vec<f32> = (0..100).map(|rank| 0.9 - rank as f32 / 1000.0).collect();
        let background = Background::new(10_000, &mut sample, &top);
        // The 11th best of 10,000 is among them, the 101st is not; of the best only a hundred are known.
        assert_eq!(background.quantiles.p999, top[10]);
        assert_eq!(background.quantiles.p99, 0.0);
        assert_eq!(background.quantiles.p95, 0.0);
    }

    #[test]
    fn nothing_has_no_background() {
        assert_eq!(Background::new(0, &mut [], &[]), Background::default());
    }
}
