//! `background`: a share of the way from the background to the best.

use crate::cut::{ALL_EQUAL, BY_LIST_ALONE, Cut, NO_CANDIDATES, Value};
use crate::method::{Range, declare};
use crate::pool::Pool;
use crate::rule::{Rule, Want};

declare! {
    /// Keeps what lies at least a share of the way from the background to the best candidate.
    ///
    /// Let s₁ be the best score and μ the background mean: the score of passages that have nothing to do with the query. A
    /// candidate is kept when s ≥ μ + λ · (s₁ − μ). A best score that does not exceed μ keeps nothing. Since μ comes from
    /// the corpus, the answer does not depend on the depth of the pool, unlike rules on the shape of the list. Distances
    /// mirror all of this. O(n).
    ///
    /// A pool without a background has μ estimated as the value of its last candidate, which is too high in a shallow pool.
    /// The diagnostic `background` then reads `estimated` instead of `measured`. Without a spread to estimate from (one
    /// candidate, or all equal), everything is kept.
    ///
    /// The right strictness depends on the collection and the asker: λ near 0.3 keeps everything on a topic, λ near 0.95
    /// the one answer.
    pub struct BackgroundShare = "background" on Score, "keeps what lies a share of the way from the background to the best" {
        /// Share of the way from the background mean to the best that a candidate must reach.
        pub lambda: f64 = 0.65, Range::Number { min: 0.0, max: 1.0 };
    }
}

impl Rule for BackgroundShare {
    fn strictness(&self, want: Want) -> Option<(&'static str, Value)> {
        Some(("lambda", Value::from(want.level()?)))
    }

    fn cut(&self, pool: &Pool) -> Cut {
        // Negating distances mirrors the rule without a rounding error.
        let values = pool.descending();
        let (Some(&best), Some(&worst)) = (values.first(), values.last()) else {
            return Cut::new("background", pool, 0, NO_CANDIDATES);
        };
        let measured = pool.background().map(|background| pool.mirrored(background.mean));
        let mean = measured.unwrap_or(worst);
        let source = if measured.is_some() { "measured" } else { "estimated" };
        let describe = |cut: Cut| {
            cut.with("background", source)
                .with("background_mean", pool.mirrored(mean))
                .with("best", pool.mirrored(best))
        };

        if measured.is_none() && best == worst {
            let reason = if pool.len() == 1 { "there is only one" } else { ALL_EQUAL };
            return describe(Cut::new("background", pool, pool.len(), reason));
        }
        if best <= mean {
            return describe(Cut::new("background", pool, 0, "nothing stands out from unrelated text"));
        }
        let threshold = self.threshold(mean, best);
        let keep = values.partition_point(|&value| value >= threshold);
        let mut reason = match pool.len() - keep {
            0 => "all stand out from unrelated text".to_string(),
            _ => "the rest are too close to unrelated text".to_string(),
        };
        if measured.is_none() {
            reason += BY_LIST_ALONE;
        }
        let cut = describe(Cut::new("background", pool, keep, reason));
        cut.with_threshold(pool.mirrored(threshold), pool.orientation())
    }
}

impl BackgroundShare {
    /// μ + λ · (s₁ − μ), at most s₁ whatever the rounding, and finite where the difference overflows.
    fn threshold(&self, mean: f64, best: f64) -> f64 {
        let threshold = mean + self.lambda * (best - mean);
        if threshold.is_finite() {
            return threshold.min(best);
        }
        let mixed = (1.0 - self.lambda) * mean + self.lambda * best;
        if mixed.is_finite() { mixed.min(best) } else { best }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::Background;

    const BACKGROUND: Background = Background { mean: 0.1, deviation: 0.05, count: 1000 };

    #[test]
    fn the_share_of_the_way_decides() {
        let pool = Pool::scores([0.9, 0.75, 0.62, 0.61, 0.3]).unwrap().with_background(BACKGROUND).unwrap();
        // 0.1 + 0.65 * 0.8 = 0.62.
        for (lambda, keep) in [(0.0, 5), (0.24, 5), (0.26, 4), (0.64, 3), (0.66, 2), (0.9, 1), (1.0, 1)] {
            let cut = BackgroundShare { lambda }.cut(&pool);
            assert_eq!(cut.keep, keep, "lambda {lambda}");
            assert_eq!(cut.diagnostics["background"].as_text(), Some("measured"));
        }
    }

    #[test]
    fn a_best_score_within_the_background_keeps_nothing() {
        for best in [0.1, 0.05, -1.0] {
            let pool = Pool::scores([best, best - 0.1]).unwrap().with_background(BACKGROUND).unwrap();
            let cut = BackgroundShare::default().cut(&pool);
            assert_eq!((cut.keep, cut.threshold), (0, None));
            assert_eq!(cut.reason, "nothing stands out from unrelated text");
        }
    }

    #[test]
    fn distances_mirror_scores() {
        let background = Background { mean: 0.875, deviation: 0.0, count: 9 };
        let pool = Pool::distances([0.125, 0.375, 0.5, 0.625]).unwrap().with_background(background).unwrap();
        let cut = BackgroundShare { lambda: 0.5 }.cut(&pool);
        assert_eq!((cut.keep, cut.threshold), (3, Some(0.5)));
        assert_eq!(cut.diagnostics["threshold_on"].as_text(), Some("distance"));
        assert_eq!(cut.diagnostics["background_mean"].as_number(), Some(0.875));
    }

    #[test]
    fn without_a_background_the_last_candidate_stands_in_and_the_reason_says_so() {
        let cut = BackgroundShare { lambda: 0.5 }.cut(&Pool::scores([1.0, 0.75, 0.5, 0.25, 0.0]).unwrap());
        assert_eq!((cut.keep, cut.threshold), (3, Some(0.5)));
        assert_eq!(cut.diagnostics["background"].as_text(), Some("estimated"));
        assert_eq!(cut.reason, "the rest are too close to unrelated text; judged from this list alone");
        for scores in [vec![0.4], vec![0.4; 3]] {
            let pool = Pool::scores(scores).unwrap();
            assert_eq!(BackgroundShare::default().cut(&pool).keep, pool.len());
        }
    }

    #[test]
    fn huge_values_do_not_overflow() {
        let pool = Pool::scores([f64::MAX, 0.0, f64::MIN]).unwrap();
        let cut = BackgroundShare { lambda: 0.5 }.cut(&pool);
        assert_eq!((cut.keep, cut.threshold), (2, Some(0.0)));
    }
}
