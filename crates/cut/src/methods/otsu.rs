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

#[cfg(test)]
mod tests {
    use super::*;

    fn keep(scores: &[f64]) -> usize {
        Otsu {}.cut(&Pool::scores(scores.iter().copied()).unwrap()).keep
    }

    #[test]
    fn hand_computed_splits() {
        assert_eq!(keep(&[]), 0);
        assert_eq!(keep(&[0.4]), 1);
        assert_eq!(keep(&[0.4, 0.4, 0.4]), 3);
        assert_eq!(keep(&[0.4, 0.3]), 1);
        assert_eq!(keep(&[9.0, 8.0, 1.0, 0.0]), 2);
        // 10 | 6 5 0: 3/16 * (10 - 11/3)^2 = 7.5; 10 6 | 5 0: 4/16 * 5.5^2 = 7.56; 10 6 5 | 0: 3/16 * 7^2 = 9.19.
        assert_eq!(keep(&[10.0, 6.0, 5.0, 0.0]), 3);
        // Equal splits (2 | 1 0 and 2 1 | 0 both give 2/9 * 2.25): the first.
        assert_eq!(keep(&[2.0, 1.0, 0.0]), 1);
    }

    #[test]
    fn ties_are_never_split() {
        assert_eq!(keep(&[1.0, 0.5, 0.5, 0.5, 0.5, 0.0]), 1);
        assert_eq!(keep(&[1.0, 1.0, 1.0, 0.0]), 3);
    }

    #[test]
    fn a_perfect_split_explains_everything() {
        let cut = Otsu {}.cut(&Pool::distances([0.25, 0.25, 0.75]).unwrap());
        assert_eq!((cut.keep, cut.threshold), (2, Some(0.25)));
        assert!((cut.diagnostics["separability"].as_number().unwrap() - 1.0).abs() < 1e-12);
        assert_eq!(cut.diagnostics["threshold_on"].as_text(), Some("distance"));
    }
}
