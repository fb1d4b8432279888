//! `relative`: a share of the best score.

use crate::cut::Cut;
use crate::method::{Range, declare};
use crate::pool::Pool;
use crate::rule::Rule;
use crate::text::figure;

declare! {
    /// Keeps what has at least a share of the best score.
    ///
    /// A share of a best score that is not positive means nothing (half of −0.2 is better than −0.2), and such a best
    /// score is no evidence of relevance: nothing is kept. Distances are read as 1 − distance. O(n).
    ///
    /// Source: a rule of thumb common to search engines and vector stores. It needs scores with a meaningful zero;
    /// cosine similarities of unrelated passages rarely are near zero, see [`BackgroundShare`](crate::BackgroundShare).
    pub struct Relative = "relative" on Score, "keeps what has at least a share of the best score" {
        /// Share of the best score that a candidate must reach.
        pub share: f64 = 0.8, Range::Number { min: 0.0, max: 1.0 };
    }
}

impl Rule for Relative {
    fn cut(&self, pool: &Pool) -> Cut {
        let scores = pool.as_similarities();
        let Some(&best) = scores.first() else {
            return Cut::new("relative", pool, 0, "there are no candidates");
        };
        if best <= 0.0 {
            let reason = format!("the best score, {}, is not positive, so nothing is relevant", figure(best));
            return Cut::new("relative", pool, 0, reason).with("best", best);
        }
        let threshold = self.share * best;
        let keep = scores.partition_point(|&score| score >= threshold);
        let reason =
            format!("{} is {}% of the best score, {}", figure(threshold), figure(100.0 * self.share), figure(best));
        Cut::new("relative", pool, keep, reason).with_score_threshold(threshold).with("best", best)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_the_best_decides() {
        let pool = Pool::scores([1.0, 0.8, 0.5, 0.4, -0.1]).unwrap();
        for (share, keep) in [(1.0, 1), (0.8, 2), (0.5, 3), (0.45, 3), (0.1, 4), (0.0, 4)] {
            assert_eq!(Relative { share }.cut(&pool).keep, keep, "share {share}");
        }
    }

    #[test]
    fn a_best_score_that_is_not_positive_keeps_nothing() {
        for scores in [vec![], vec![0.0, 0.0], vec![-0.1, -0.2]] {
            let cut = Relative::default().cut(&Pool::scores(scores).unwrap());
            assert_eq!((cut.keep, cut.threshold), (0, None));
        }
        assert_eq!(Relative::default().cut(&Pool::distances([1.0, 1.2]).unwrap()).keep, 0);
    }
}
