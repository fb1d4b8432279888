//! The probability that an entry answers the query, from the evidence on the entry itself.
//!
//! A list of scores shows which entries are better than others. It cannot show whether the best one is any good, since its scores are
//! relative to it. [`relevance`] reads absolute evidence: how many of the query's words an entry has, how near it is in meaning, where
//! it stands, how the other entries do, what the query and the corpus are like. It is a logistic model, so the log odds are a sum, and
//! each piece of evidence has its part in it.
//!
//! The weights are in `weights.rs`, one table for each set of legs that took part. `cargo xtask fit` makes them from questions with
//! known answers: to source trees in other words than the text, in the text's own words, names and messages, commits, and public
//! collections. `docs/research/relevance.md` has what was measured with whole families and trees left out.

mod features;
mod shift;
mod weights;

pub use features::{EntryFeatures, FEATURES, QueryFeatures};
pub use shift::{JudgedEntry, Shift};

use features::{LateStatistics, values};
use weights::{LATE, MEANING, SCORES, WORDS};

/// The legs whose evidence there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Legs {
    /// Words and meaning.
    Both,
    /// Words alone.
    Words,
    /// Meaning alone.
    Meaning,
}

/// The weights of one table: the bias and one for each of [`FEATURES`].
pub(crate) struct Weights {
    bias: f64,
    features: [f64; FEATURES.len()],
}

/// One piece of evidence on an entry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EvidencePart {
    /// Its name, one of [`FEATURES`].
    pub name: &'static str,
    /// Its value, as the model reads it.
    pub value: f64,
    /// What it adds to the log odds.
    pub log_odds: f64,
}

/// The evidence on an entry, weighed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WeighedEvidence {
    /// The log odds that the entry answers the query.
    pub log_odds: f64,
    /// What each piece of evidence adds; the rest is the bias, the same for all entries.
    pub parts: Vec<EvidencePart>,
}

impl WeighedEvidence {
    /// The probability that the entry answers the query, in (0, 1).
    pub fn probability(&self) -> f64 {
        probability(self.log_odds)
    }

    /// The same evidence with one more piece, in log odds. One that is not finite adds nothing.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: f64, log_odds: f64) -> Self {
        if log_odds.is_finite() {
            self.log_odds += log_odds;
            self.parts.push(EvidencePart { name, value, log_odds });
        }
        self
    }
}

/// The probability that stands for log odds.
pub fn probability(log_odds: f64) -> f64 {
    1.0 / (1.0 + (-log_odds).exp())
}

/// Weighs the evidence on the entries of one list, which is in the order of its scores. `late_weight` is the share of the table that reads
/// late vectors ([`late_weight`]); it counts as 0 where no entry has one. O(entries).
///
/// ```
/// use tamis_rank::{EntryFeatures, Legs, QueryFeatures, relevance};
///
/// let query = QueryFeatures { words: 4, passages: 2_000, reads_required: false };
/// let entry = |similarity, coverage, rank| EntryFeatures {
///     similarity,
///     similarity_max: similarity,
///     coverage,
///     coverage_max: coverage,
///     rank,
///     normalized_score: 1.0 / (1.0 + rank as f64),
///     is_main: true,
///     characters: 600,
///     ..EntryFeatures::default()
/// };
/// let (near, far) = (entry(1.2, 0.7, 0), entry(0.3, 0.1, 1));
/// let weighed = relevance(&query, &[near, far], Legs::Both, 0.0);
/// assert!(weighed[0].probability() > 0.3 && weighed[1].probability() < 0.1);
/// ```
pub fn relevance(
    query: &QueryFeatures,
    entries: &[EntryFeatures],
    legs: Legs,
    late_weight: f64,
) -> Vec<WeighedEvidence> {
    let late = LateStatistics::of(entries).filter(|_| late_weight > 0.0 && legs == Legs::Both);
    let weight = if late.is_some() { late_weight.min(1.0) } else { 0.0 };
    let own = match legs {
        Legs::Both => &SCORES,
        Legs::Words => &WORDS,
        Legs::Meaning => &MEANING,
    };
    let mix = |at: usize| weight * LATE.features[at] + (1.0 - weight) * own.features[at];
    let bias = weight * LATE.bias + (1.0 - weight) * own.bias;
    let read = values(query, entries, late.as_ref());
    let weigh = |values: [f64; FEATURES.len()]| {
        let part = |(at, &value): (usize, &f64)| {
            let log_odds = mix(at) * value;
            (value != 0.0).then_some(EvidencePart { name: FEATURES[at], value, log_odds })
        };
        let parts: Vec<EvidencePart> = values.iter().enumerate().filter_map(part).collect();
        WeighedEvidence { log_odds: bias + parts.iter().map(|part| part.log_odds).sum::<f64>(), parts }
    };
    read.into_iter().map(weigh).collect()
}

/// The weight of late vectors, 0 to 1, by the coverage of the first entries. Where one of the first three has most of the query's words,
/// the words answer, and meaning only adds noise.
///
/// ```
/// assert_eq!(tamis_rank::late_weight(&[0.2, 0.3, 0.1, 0.9]), 1.0);
/// assert_eq!(tamis_rank::late_weight(&[0.2, 0.7, 0.1]), 0.0);
/// ```
pub fn late_weight(first_coverages: &[f64]) -> f64 {
    const FULL: f64 = 0.4;
    const NONE: f64 = 0.6;
    let best = first_coverages.iter().take(3).copied().fold(0.0, f64::max);
    ((NONE - best) / (NONE - FULL)).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn query() -> QueryFeatures {
        QueryFeatures { words: 5, passages: 3_000, reads_required: false }
    }

    fn entry(similarity: f64, coverage: f64, rank: usize) -> EntryFeatures {
        EntryFeatures {
            similarity,
            similarity_max: similarity,
            coverage,
            coverage_max: coverage,
            rank,
            normalized_score: 1.0 / (1.0 + rank as f64),
            is_main: true,
            characters: 600,
            ..EntryFeatures::default()
        }
    }

    #[test]
    fn more_evidence_is_more_probable_and_the_parts_add_up() {
        for legs in [Legs::Both, Legs::Words, Legs::Meaning] {
            let of = |similarity: f64, coverage: f64| {
                let weighed = relevance(&query(), &[entry(similarity, coverage, 0)], legs, 0.0).remove(0);
                let parts: f64 = weighed.parts.iter().map(|part| part.log_odds).sum();
                let bias = match legs {
                    Legs::Both => SCORES.bias,
                    Legs::Words => WORDS.bias,
                    Legs::Meaning => MEANING.bias,
                };
                assert!((weighed.log_odds - parts - bias).abs() < 1e-9);
                weighed.probability()
            };
            assert!(of(1.4, 0.9) > of(0.4, 0.1), "{legs:?}");
        }
        let nothing = relevance(&query(), &[entry(0.2, 0.05, 0)], Legs::Both, 0.0)[0].probability();
        assert!(nothing < 0.13, "{nothing}");
    }

    #[test]
    fn late_vectors_move_the_entry_that_is_near_in_meaning_up() {
        let mut entries: Vec<EntryFeatures> = (0..12).map(|rank| entry(0.7, 0.3, rank)).collect();
        for (at, entry) in entries.iter_mut().enumerate() {
            entry.late = Some(if at == 7 { 0.6 } else { 0.1 + 0.01 * at as f64 });
        }
        let weighed = relevance(&query(), &entries, Legs::Both, 1.0);
        let best = (0..12).max_by(|&a, &b| weighed[a].log_odds.total_cmp(&weighed[b].log_odds));
        assert_eq!(best, Some(7));
        let without = relevance(&query(), &entries, Legs::Both, 0.0);
        assert!(without[0].log_odds > without[7].log_odds);
        assert!(without[0].parts.iter().all(|part| !part.name.contains("late")));
    }

    #[test]
    fn one_more_piece_of_evidence_adds_its_log_odds() {
        let weighed = relevance(&query(), &[entry(1.0, 0.5, 0)], Legs::Both, 0.0).remove(0);
        let more = weighed.clone().with("reranker", 0.9, 2.0);
        assert!((more.log_odds - weighed.log_odds - 2.0).abs() < 1e-12);
        assert_eq!(weighed.clone().with("reranker", 0.9, f64::NAN), weighed);
    }

    proptest! {
        #[test]
        fn any_evidence_has_a_probability(
            similarity in prop::num::f64::ANY, coverage in prop::num::f64::ANY, late in prop::option::of(prop::num::f64::ANY), words in 0usize..1_000_000,
            score in prop::num::f64::ANY, passages in 0u64..u64::MAX, late_weight in prop::num::f64::ANY,
        ) {
            let query = QueryFeatures { words, passages, reads_required: true };
            let entry = EntryFeatures { similarity, coverage, late, normalized_score: score, ..EntryFeatures::default() };
            for legs in [Legs::Both, Legs::Words, Legs::Meaning] {
                for weighed in relevance(&query, &[entry, EntryFeatures::default()], legs, late_weight) {
                    prop_assert!((0.0..=1.0).contains(&weighed.probability()));
                }
            }
        }
    }
}
