//! `percentile`: a share of the list.

use crate::cut::{Cut, NO_CANDIDATES, percent};
use crate::method::{Range, declare};
use crate::pool::{Orientation, Pool};
use crate::rule::Rule;

declare! {
    /// Keeps candidates at least as good as the value at a share of the list, counted from the best.
    ///
    /// The threshold is `sorted[min(⌊share · n⌋, n − 1)]`, best first, as [`MaxGap`](crate::MaxGap) falls back to on short
    /// lists. All candidates equal to the threshold are kept. O(n).
    pub struct Percentile = "percentile" on Score, "keeps a share of the list, counted from the best" {
        /// Share of the list, from the best, at which the threshold is read.
        pub share: f64 = 0.75, Range::Number { min: 0.0, max: 1.0 };
    }
}

impl Rule for Percentile {
    fn cut(&self, pool: &Pool) -> Cut {
        let Some(threshold) = value_at_share(pool.values(), self.share) else {
            return Cut::new("percentile", pool, 0, NO_CANDIDATES);
        };
        let keep = count_passing(pool, threshold);
        let reason = format!("the best {} of the list were asked for", percent(self.share));
        Cut::new("percentile", pool, keep, reason).with_threshold(threshold, pool.orientation())
    }
}

/// `sorted[min(⌊share · n⌋, n − 1)]`, or `None` for an empty list.
pub fn value_at_share(sorted: &[f64], share: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    // A float to integer conversion saturates, so any share gives a position.
    Some(sorted[((share * sorted.len() as f64).floor() as usize).min(last)])
}

/// Number of the pool's values at least as good as `threshold`.
fn count_passing(pool: &Pool, threshold: f64) -> usize {
    match pool.orientation() {
        Orientation::Score => pool.values().partition_point(|&score| score >= threshold),
        Orientation::Distance => pool.values().partition_point(|&distance| distance <= threshold),
    }
}
