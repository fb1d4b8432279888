//! `relative`: a share of the best score.

use crate::cut::{Cut, NO_CANDIDATES, Value, percent};
use crate::method::{Range, declare};
use crate::pool::Pool;
use crate::rule::{Rule, Want};

declare! {
    /// Keeps candidates with at least a share of the best score.
    ///
    /// A best score that is not positive keeps nothing: a share of it means nothing (half of −0.2 is better than −0.2), and
    /// it is weak evidence of relevance. Distances are read as 1 − distance. O(n).
    ///
    /// Source: a rule of thumb common to search engines and vector stores. It needs scores with a meaningful zero. Cosine
    /// similarities of unrelated passages rarely are near zero; see [`BackgroundShare`](crate::BackgroundShare).
    pub struct Relative = "relative" on Score, "keeps what has at least a share of the best score" {
        /// Share of the best score that a candidate must reach.
        pub share: f64 = 0.8, Range::Number { min: 0.0, max: 1.0 };
    }
}

impl Rule for Relative {
    fn strictness(&self, want: Want) -> Option<(&'static str, Value)> {
        Some(("share", Value::from((1.0 + want.level()?) / 2.0)))
    }

    fn cut(&self, pool: &Pool) -> Cut {
        let scores = pool.as_similarities();
        let Some(&best) = scores.first() else {
            return Cut::new("relative", pool, 0, NO_CANDIDATES);
        };
        if best <= 0.0 {
            return Cut::new("relative", pool, 0, "nothing scores above zero").with("best", best);
        }
        let threshold = self.share * best;
        let keep = scores.partition_point(|&score| score >= threshold);
        let least = percent(self.share);
        let reason = match pool.len() - keep {
            0 => format!("all have at least {least} of the best score"),
            _ => format!("the rest have less than {least} of the best score"),
        };
        Cut::new("relative", pool, keep, reason).with_score_threshold(threshold).with("best", best)
    }
}
