//! `top_score`: a threshold from the best score.

use crate::cut::Cut;
use crate::method::{Range, declare};
use crate::pool::Pool;
use crate::rule::Rule;
use crate::text::figure;

declare! {
    /// Keeps a share of the best score, stricter or milder by how good the best is.
    ///
    /// | best score | keeps at or above | `tier` |
    /// | --- | --- | --- |
    /// | at least `high_bound` | `high_multiplier` × best | `high` |
    /// | at least `low_bound` | `middle_multiplier` × best | `middle` |
    /// | lower | `floor` | `low` |
    ///
    /// Negative, zero and above-one scores follow the same table. At the edge of a tier the threshold jumps: a best
    /// score of 0.69 keeps from 0.414, one of 0.70 keeps from 0.35; the diagnostic `tier` says which side it was.
    /// Distances are read as 1 − distance. O(n).
    pub struct TopScore = "top_score" on Weighted, "keeps a share of the best score, by how good the best is"
    where low_bound <= high_bound
    {
        /// Best score from which the high tier applies.
        pub high_bound: f64 = 0.7, Range::Number { min: 0.0, max: 10.0 };
        /// Best score from which the middle tier applies.
        pub low_bound: f64 = 0.3, Range::Number { min: 0.0, max: 10.0 };
        /// Share of the best score that the high tier asks for.
        pub high_multiplier: f64 = 0.5, Range::Number { min: 0.0, max: 1.0 };
        /// Share of the best score that the middle tier asks for.
        pub middle_multiplier: f64 = 0.6, Range::Number { min: 0.0, max: 1.0 };
        /// Score that the low tier asks for.
        pub floor: f64 = 0.15, Range::Number { min: 0.0, max: 10.0 };
    }
}

impl Rule for TopScore {
    fn cut(&self, pool: &Pool) -> Cut {
        let scores = pool.as_similarities();
        let Some(&best) = scores.first() else {
            return Cut::new("top_score", pool, 0, "there are no candidates");
        };
        let (tier, threshold, why) = if best >= self.high_bound {
            ("high", self.high_multiplier * best, format!("{}% of the best", figure(100.0 * self.high_multiplier)))
        } else if best >= self.low_bound {
            (
                "middle",
                self.middle_multiplier * best,
                format!("{}% of the best", figure(100.0 * self.middle_multiplier)),
            )
        } else {
            ("low", self.floor, "the floor".to_string())
        };
        let keep = scores.partition_point(|&score| score >= threshold);
        let reason = format!(
            "the best score, {}, is in the {tier} tier, which keeps from {}: {why}",
            figure(best),
            figure(threshold)
        );
        Cut::new("top_score", pool, keep, reason).with_score_threshold(threshold).with("tier", tier).with("best", best)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(scores: &[f64]) -> Cut {
        TopScore::default().cut(&Pool::scores(scores.iter().copied()).unwrap())
    }

    #[test]
    fn the_table_of_tiers() {
        let cases: &[(&[f64], usize, f64, &str)] = &[
            (&[0.8, 0.4, 0.39], 2, 0.4, "high"),
            (&[1.5, 0.75, 0.7], 2, 0.75, "high"),
            (&[0.5, 0.3, 0.29], 2, 0.3, "middle"),
            (&[0.3, 0.2, 0.17], 2, 0.6 * 0.3, "middle"),
            (&[0.29, 0.15, 0.149], 2, 0.15, "low"),
            (&[0.14, 0.1], 0, 0.15, "low"),
            (&[0.0, 0.0], 0, 0.15, "low"),
            (&[-0.2, -0.4], 0, 0.15, "low"),
        ];
        for (scores, keep, threshold, tier) in cases {
            let cut = cut(scores);
            assert_eq!((cut.keep, cut.threshold), (*keep, Some(*threshold)), "{scores:?}");
            assert_eq!(cut.diagnostics["tier"].as_text(), Some(*tier), "{scores:?}");
        }
        assert_eq!((cut(&[]).keep, cut(&[]).threshold), (0, None));
    }

    #[test]
    fn trap_the_seam_at_the_edge_of_a_tier_is_reported() {
        let below = cut(&[0.69, 0.42, 0.41, 0.36, 0.34]);
        assert_eq!((below.keep, below.threshold), (2, Some(0.6 * 0.69)));
        assert_eq!(below.diagnostics["tier"].as_text(), Some("middle"));
        let at = cut(&[0.70, 0.42, 0.41, 0.36, 0.34]);
        assert_eq!((at.keep, at.threshold), (4, Some(0.35)));
        assert_eq!(at.diagnostics["tier"].as_text(), Some("high"));
    }

    #[test]
    fn trap_a_perfect_keyword_only_hit_is_kept() {
        // 0.3 * r / (1 + r) never exceeds 0.30: a fixed floor of 0.35 would drop it.
        let r = 50.0;
        let hit = 0.3 * r / (1.0 + r);
        let cut = cut(&[hit, 0.2, 0.1]);
        assert_eq!(cut.keep, 2);
        assert_eq!(cut.diagnostics["tier"].as_text(), Some("low"));
    }

    #[test]
    fn distances_are_read_as_similarities() {
        let cut = TopScore::default().cut(&Pool::distances([0.25, 0.5, 0.75]).unwrap());
        assert_eq!((cut.keep, cut.threshold), (2, Some(0.375)));
        assert_eq!(cut.diagnostics["threshold_on"].as_text(), Some("score"));
    }
}
