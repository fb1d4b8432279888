//! `language`: a similarity threshold for each programming language.

use crate::cut::{Cut, NO_CANDIDATES, NOTHING_CLOSE, figure};
use crate::method::{Range, declare};
use crate::pool::{Orientation, Pool};
use crate::rule::{Admission, RawScores, Rule};

declare! {
    /// Keeps candidates that are as similar to the query as code of their language must be.
    ///
    /// The threshold of a language lies half-way between the similarity of symbols of one file and that of symbols of
    /// different files, under one model. A search supplies it with each candidate ([`RawScores::threshold`](crate::RawScores))
    /// and asks before fusion and reranking. A candidate without a threshold, and a list of plain similarities, must reach
    /// `default`. A candidate that is not similar enough, or has no similarity, is still kept when it contains
    /// `min_coverage` of the query's words: a hit by words needs no similarity. O(1) per candidate.
    pub struct LanguageThreshold = "language" on Score, "keeps what reaches the similarity threshold of its language" {
        /// Least similarity where the language has no threshold of its own.
        pub default: f64 = 0.65, Range::Number { min: -1.0, max: 1.0 };
        /// Least share of the query's words, by IDF, without similarity; above 1: never enough.
        pub min_coverage: f64 = 0.5, Range::Number { min: 0.0, max: 1.01 };
    }
}

impl Rule for LanguageThreshold {
    fn counts_passages(&self) -> bool {
        true
    }

    fn reads_thresholds(&self) -> bool {
        true
    }

    fn admits(&self, candidate: &RawScores) -> Option<Admission> {
        let threshold = candidate.threshold.unwrap_or(self.default);
        Some(if candidate.similarity.is_some_and(|similarity| similarity >= threshold) {
            Admission::Similarity
        } else if candidate.coverage.is_some_and(|coverage| coverage > 0.0 && coverage >= self.min_coverage) {
            Admission::Words
        } else {
            Admission::Refused
        })
    }

    fn cut(&self, pool: &Pool) -> Cut {
        if let Some(admitted) = pool.admitted() {
            let reason = match (admitted.by_similarity, admitted.by_words) {
                (0, 0) if pool.is_empty() => NO_CANDIDATES.to_string(),
                (0, 0) => format!("{NOTHING_CLOSE} in meaning or words"),
                (0, 1) => "it contains enough of the query's words".to_string(),
                (0, _) => "they contain enough of the query's words".to_string(),
                (1, 0) => "it is similar enough for its language".to_string(),
                (_, 0) => "they are similar enough for their language".to_string(),
                (similar, words) => {
                    format!("{similar} by meaning, and {words} more for the query's words they contain")
                }
            };
            return Cut::new("language", pool, admitted.total(), reason)
                .with("by_similarity", admitted.by_similarity)
                .with("by_words", admitted.by_words);
        }
        let keep = pool.as_similarities().partition_point(|&similarity| similarity >= self.default);
        let least = figure(self.default);
        let reason = match keep {
            0 if pool.is_empty() => NO_CANDIDATES.to_string(),
            0 => format!("nothing reaches a similarity of {least}"),
            all if all == pool.len() => format!("all reach a similarity of {least}"),
            _ => format!("the rest do not reach a similarity of {least}"),
        };
        let cut = Cut::new("language", pool, keep, reason);
        match pool.orientation() {
            Orientation::Score => cut.with_score_threshold(self.default),
            Orientation::Distance => cut.with_distance_threshold(1.0 - self.default),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::Admitted;

    fn raw(similarity: Option<f64>, coverage: Option<f64>, threshold: Option<f64>) -> RawScores {
        RawScores { similarity, coverage, threshold }
    }

    #[test]
    fn each_candidate_is_held_against_its_own_language() {
        let rule = LanguageThreshold::default();
        for (candidate, expected) in [
            (raw(Some(0.7), None, Some(0.7)), Admission::Similarity),
            (raw(Some(0.69), Some(0.2), Some(0.7)), Admission::Refused),
            (raw(Some(0.61), None, Some(0.6)), Admission::Similarity),
            (raw(Some(0.66), None, None), Admission::Similarity),
            (raw(Some(0.64), None, None), Admission::Refused),
            (raw(Some(f64::NAN), None, None), Admission::Refused),
        ] {
            assert_eq!(rule.admits(&candidate), Some(expected), "{candidate:?}");
        }
    }

    #[test]
    fn a_hit_by_words_is_not_held_to_a_similarity_that_it_has_not() {
        let rule = LanguageThreshold::default();
        assert_eq!(rule.admits(&raw(None, Some(0.5), Some(0.7))), Some(Admission::Words));
        assert_eq!(rule.admits(&raw(Some(0.1), Some(0.9), Some(0.7))), Some(Admission::Words));
        assert_eq!(rule.admits(&raw(None, Some(0.49), Some(0.7))), Some(Admission::Refused));
        let any = LanguageThreshold { min_coverage: 0.0, ..rule };
        assert_eq!(any.admits(&raw(None, Some(0.0), None)), Some(Admission::Refused), "a hit needs a word");
    }

    #[test]
    fn the_reason_says_what_admitted_and_a_plain_list_has_one_threshold() {
        let pool = |similar, words| {
            let admitted = Admitted { by_similarity: similar, by_words: words };
            Pool::scores([0.9, 0.8, 0.7, 0.2]).unwrap().with_admitted(admitted)
        };
        let rule = LanguageThreshold::default();
        assert_eq!(rule.cut(&pool(2, 1)).keep, 3);
        assert_eq!(rule.cut(&pool(0, 0)).reason, "nothing close enough in meaning or words");
        assert_eq!(rule.cut(&pool(0, 2)).reason, "they contain enough of the query's words");
        assert_eq!(rule.cut(&pool(2, 1)).reason, "2 by meaning, and 1 more for the query's words they contain");
        let plain = Pool::scores([0.9, 0.65, 0.64]).unwrap();
        assert_eq!((rule.cut(&plain).keep, rule.cut(&plain).threshold), (2, Some(0.65)));
        let plain = Pool::distances([0.1, 0.35, 0.36]).unwrap();
        assert_eq!(rule.cut(&plain).keep, 2);
    }
}
