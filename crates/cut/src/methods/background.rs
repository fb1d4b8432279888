//! `background`: a share of the way from the background to the best.

use crate::cut::Cut;
use crate::method::{Range, declare};
use crate::pool::{Orientation, Pool};
use crate::rule::Rule;
use crate::text::figure;

declare! {
    /// Keeps what lies at least a share of the way from the background to the best candidate.
    ///
    /// With s₁ the best score and μ the background mean, what the score is for passages that have nothing to do with
    /// the query, a candidate is kept when s ≥ μ + λ · (s₁ − μ). A best score that does not exceed μ keeps nothing.
    /// Since μ comes from the corpus and not from the list, the answer does not depend on how deep the pool is, as that of
    /// every rule on the list's shape does. On distances the same holds mirrored. O(n).
    ///
    /// A pool that does not say what its background is has μ estimated as the value of its last candidate, which is
    /// too high in a shallow pool; the diagnostic `background` says `estimated` instead of `measured`. When there is no
    /// spread to estimate from (one candidate, or all equal), everything is kept.
    ///
    /// How strict to be belongs to the collection and the asker: λ near 0.3 keeps everything on a topic, λ near 0.95
    /// the one answer.
    pub struct BackgroundShare = "background" on Score, "keeps what lies a share of the way from the background to the best" {
        /// Share of the way from the background mean to the best that a candidate must reach.
        pub lambda: f64 = 0.65, Range::Number { min: 0.0, max: 1.0 };
    }
}

impl Rule for BackgroundShare {
    fn cut(&self, pool: &Pool) -> Cut {
        // Distances are negated, which mirrors the rule without a rounding error.
        let values = pool.descending();
        let (Some(&best), Some(&worst)) = (values.first(), values.last()) else {
            return Cut::new("background", pool, 0, "there are no candidates");
        };
        let measured = pool.background().map(|background| pool.mirrored(background.mean));
        let mean = measured.unwrap_or(worst);
        let source = if measured.is_some() { "measured" } else { "estimated" };
        let (best_shown, mean_shown) = (figure(pool.mirrored(best)), figure(pool.mirrored(mean)));
        let describe = |cut: Cut| {
            cut.with("background", source)
                .with("background_mean", pool.mirrored(mean))
                .with("best", pool.mirrored(best))
        };

        if measured.is_none() && best == worst {
            let reason = "there is no background and no spread to estimate one from, so all are kept";
            return describe(Cut::new("background", pool, pool.len(), reason));
        }
        if best <= mean {
            let reason =
                format!("the best value, {best_shown}, does not stand out of the background mean, {mean_shown}");
            return describe(Cut::new("background", pool, 0, reason));
        }
        let threshold = self.threshold(mean, best);
        let keep = values.partition_point(|&value| value >= threshold);
        let threshold = pool.mirrored(threshold);
        let background = match source {
            "measured" => format!("the background, {mean_shown}"),
            _ => format!("the last candidate, {mean_shown}, which stands in for the unknown background"),
        };
        let reason = format!(
            "{} is {}% of the way from {background}, to the best, {best_shown}",
            figure(threshold),
            figure(100.0 * self.lambda),
        );
        let cut = describe(Cut::new("background", pool, keep, reason));
        match pool.orientation() {
            Orientation::Score => cut.with_score_threshold(threshold),
            Orientation::Distance => cut.with_distance_threshold(threshold),
        }
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
            assert!(cut.reason.contains("does not stand out"), "{}", cut.reason);
        }
    }

    #[test]
    fn the_depth_of_the_pool_does_not_matter() {
        let scores: Vec<f64> = (0..40).map(|i| 0.9 - 0.02 * f64::from(i)).collect();
        let keep = |depth: usize| {
            let pool = Pool::scores(scores[..depth].iter().copied()).unwrap();
            BackgroundShare::default().cut(&pool.with_background(BACKGROUND).unwrap()).keep
        };
        assert_eq!(keep(20), 15);
        assert_eq!(keep(40), 15);
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
        assert!(cut.reason.contains("stands in for the unknown background"), "{}", cut.reason);
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
