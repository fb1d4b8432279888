//! `otsu`: the split into two classes that differ most.

use crate::cut::{ALL_EQUAL, Cut, them, too_few};
use crate::method::declare;
use crate::pool::{Pool, unit};
use crate::rule::Rule;

declare! {
    /// Keeps the upper of the two classes into which the values split best.
    ///
    /// The threshold between two different values with the largest between-class variance, w₁ · w₂ · (μ₁ − μ₂)², wins; of
    /// equal ones the first, which keeps fewest. The search is exact, over the values and not over a histogram, and equals
    /// the best partition into two by least squares. Equal values form one class, and everything is kept. O(n).
    ///
    /// Source: Otsu, "A Threshold Selection Method from Gray-Level Histograms", IEEE Transactions on Systems, Man, and
    /// Cybernetics 9(1), 1979.
    pub struct Otsu = "otsu" on Score, "keeps the upper of the two classes into which the values split best" {}
}

impl Rule for Otsu {
    fn cut(&self, pool: &Pool) -> Cut {
        let Some((keep, separability)) = unit(&pool.descending()).and_then(|values| best_split(&values)) else {
            let reason = if pool.len() < 2 { too_few(pool.len()) } else { ALL_EQUAL };
            return Cut::new("otsu", pool, pool.len(), reason);
        };
        let reason = format!("the scores split into a high and a low group after {}", them(keep));
        let cut = Cut::new("otsu", pool, keep, reason).with("separability", separability);
        cut.with_threshold(pool.values()[keep - 1], pool.orientation())
    }
}

/// The size of the upper class with the largest between-class variance, and that variance as a share of the whole one.
/// `values` descend from 1 to 0.
fn best_split(values: &[f64]) -> Option<(usize, f64)> {
    let count = values.len() as f64;
    let total: f64 = values.iter().sum();
    let mean = total / count;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;

    let mut best: Option<(usize, f64)> = None;
    let mut above = 0.0;
    for (index, pair) in values.windows(2).enumerate() {
        above += pair[0];
        if pair[0] == pair[1] {
            continue;
        }
        let kept = (index + 1) as f64;
        let left = count - kept;
        let between = (kept / count) * (left / count) * (above / kept - (total - above) / left).powi(2);
        if best.is_none_or(|(_, largest)| between > largest) {
            best = Some((index + 1, between));
        }
    }
    best.map(|(keep, between)| (keep, (between / variance).min(1.0)))
}
