//! Percentiles and histograms of plain numbers.

use serde::Serialize;

/// The percentile of values in ascending order by nearest rank: the smallest value that at least the share `share` of
/// all values does not exceed. It is always one that occurred. `None` for no values.
pub(super) fn percentile(ascending: &[f64], share: f64) -> Option<f64> {
    let rank = (share * ascending.len() as f64).ceil() as usize;
    ascending.get(rank.max(1) - 1).or(ascending.last()).copied()
}

/// The mean; `None` for no values.
pub(super) fn mean(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let (count, sum) = values.into_iter().fold((0usize, 0.0), |(count, sum), value| (count + 1, sum + value));
    (count > 0).then(|| sum / count as f64)
}

/// The finite values in ascending order.
pub(super) fn ascending(values: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.into_iter().filter(|value| value.is_finite()).collect();
    values.sort_by(f64::total_cmp);
    values
}

/// The distribution of some values.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Distribution {
    /// The number of values.
    pub count: u64,
    /// The mean.
    pub mean: f64,
    /// The median. Percentiles are by nearest rank, so each is a value that occurred.
    pub p50: f64,
    /// The 90th percentile.
    pub p90: f64,
    /// The largest value.
    pub max: f64,
    /// The number of values in each range, without gaps, from the lowest nonempty range to the highest.
    pub histogram: Vec<Bucket>,
}

/// A range of a histogram.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Bucket {
    /// Its lower bound, inclusive.
    pub from: f64,
    /// Its upper bound, exclusive; `None`: unbounded.
    pub below: Option<f64>,
    /// The number of values in it.
    pub count: u64,
}

impl Distribution {
    /// Computes the distribution of the finite `values`. Ranges begin at each of `starts`, in ascending order; a value
    /// below the first start counts in the first range. `None` for no values.
    pub(super) fn of(values: impl IntoIterator<Item = f64>, starts: &[f64]) -> Option<Self> {
        let values = ascending(values);
        let mean = mean(values.iter().copied())?;
        let at = |value: f64| starts.partition_point(|&start| start <= value).max(1) - 1;
        let last = at(*values.last()?);
        let ends = starts.iter().skip(1).map(|&end| Some(end)).chain([None]);
        let buckets = starts.iter().zip(ends).take(last + 1);
        let mut histogram: Vec<Bucket> = buckets.map(|(&from, below)| Bucket { from, below, count: 0 }).collect();
        for &value in &values {
            if let Some(bucket) = histogram.get_mut(at(value)) {
                bucket.count += 1;
            }
        }
        let at_share = |share| percentile(&values, share).unwrap_or_default();
        Some(Distribution {
            count: values.len() as u64,
            mean,
            p50: at_share(0.5),
            p90: at_share(0.9),
            max: at_share(1.0),
            histogram,
        })
    }
}

/// Durations of a stage, in milliseconds.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Latency {
    /// The stage of a search, or `total`.
    pub stage: String,
    /// The number of queries that went through the stage.
    pub queries: u64,
    /// The median.
    pub p50_ms: f64,
    /// The 95th percentile.
    pub p95_ms: f64,
    /// The 99th percentile.
    pub p99_ms: f64,
    /// The longest duration.
    pub max_ms: f64,
}

impl Latency {
    /// Computes the percentiles of the finite `milliseconds`; `None` for no values.
    pub(super) fn of(stage: &str, milliseconds: impl IntoIterator<Item = f64>) -> Option<Self> {
        let values = ascending(milliseconds);
        Some(Latency {
            stage: stage.to_owned(),
            queries: values.len() as u64,
            p50_ms: percentile(&values, 0.5)?,
            p95_ms: percentile(&values, 0.95)?,
            p99_ms: percentile(&values, 0.99)?,
            max_ms: percentile(&values, 1.0)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn distributions_and_latencies_by_hand() {
        let values: Vec<f64> = (1..=20).map(f64::from).collect();
        let at = |share| percentile(&values, share);
        assert_eq!((at(0.5), at(0.95), at(0.99), at(1.0)), (Some(10.0), Some(19.0), Some(20.0), Some(20.0)));
        assert_eq!((at(0.0), at(0.05), at(0.051)), (Some(1.0), Some(1.0), Some(2.0)));
        assert_eq!(percentile(&[7.0], 0.99), Some(7.0));
        assert_eq!(percentile(&[], 0.5), None);

        let values = [0.0, 1.0, 1.0, 3.0, 5.0, f64::NAN];
        let distribution = Distribution::of(values, &[0.0, 1.0, 2.0, 4.0, 8.0]).expect("five values");
        assert_eq!((distribution.count, distribution.mean, distribution.p50), (5, 2.0, 1.0));
        assert_eq!((distribution.p90, distribution.max), (5.0, 5.0));
        let bucket = |from, below, count| Bucket { from, below, count };
        let expected = [
            bucket(0.0, Some(1.0), 1),
            bucket(1.0, Some(2.0), 2),
            bucket(2.0, Some(4.0), 1),
            bucket(4.0, Some(8.0), 1),
        ];
        assert_eq!(distribution.histogram, expected, "no empty ranges behind the last value");
        assert_eq!(Distribution::of([f64::NAN], &[0.0]), None);

        let distribution = Distribution::of([-1.0, 99.0], &[0.0, 1.0]).expect("two values");
        let counts: Vec<_> = distribution.histogram.iter().map(|bucket| (bucket.below, bucket.count)).collect();
        assert_eq!(counts, [(Some(1.0), 1), (None, 1)]);

        let latency = Latency::of("cut", (1..=200).map(f64::from)).expect("values");
        assert_eq!((latency.p50_ms, latency.p95_ms, latency.p99_ms), (100.0, 190.0, 198.0));
        assert_eq!((latency.max_ms, latency.queries), (200.0, 200));
    }

    proptest! {
        #[test]
        fn every_value_is_counted_once(values in prop::collection::vec(-5.0f64..200.0, 1..60)) {
            let distribution = Distribution::of(values.iter().copied(), &[0.0, 1.0, 8.0, 64.0]).expect("values");
            prop_assert_eq!(distribution.histogram.iter().map(|bucket| bucket.count).sum::<u64>(), values.len() as u64);
            prop_assert!(values.contains(&distribution.p50) && values.contains(&distribution.p90));
            prop_assert!(distribution.p50 <= distribution.p90 && distribution.p90 <= distribution.max);
        }
    }
}
