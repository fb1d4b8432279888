//! A query's terms and their weights, from the counts of passages that hold them. Every store scores by these.

use tantivy::query::Bm25Weight;

use super::analysis::QueryWord;
use super::bm25::{self, idf};
use super::fields::NAME_WEIGHT;
use super::totals::Lengths;
use crate::hits::{LexicalStatistics, TermStatistics};

/// Most words of a query that are looked up.
pub(crate) const MAX_WORDS: usize = 1_024;
/// Most words that are searched for: the rarest. A pasted log has hundreds, and the frequent ones cost time without
/// changing the order.
const MAX_TERMS: usize = 96;

/// The two fields with words, by their place in a pair.
pub(crate) const BODY: usize = 0;
pub(crate) const NAME: usize = 1;

/// The weight of a match in each field.
const WEIGHTS: [f32; 2] = [1.0, NAME_WEIGHT];

/// A word of a query, counted. `O` says where it occurs.
pub(crate) struct CountedWord<O> {
    pub(crate) word: QueryWord,
    /// The passages with it in each field, over all its forms and all namespaces searched; 0 if it does not occur there.
    pub(crate) passages: [u64; 2],
    pub(crate) occurring: O,
}

/// A word of the query in the index.
pub(crate) struct PreparedTerm<O> {
    pub(crate) word: QueryWord,
    pub(crate) document_frequency: u64,
    pub(crate) idf: f32,
    /// Its part of the coverage, before division by the mass.
    pub(crate) share: f32,
    /// The weight of a match in each field with the word.
    pub(crate) weights: [Option<Bm25Weight>; 2],
    pub(crate) occurring: O,
}

/// A query's terms, weighed.
pub(crate) struct PreparedTerms<O> {
    /// The terms, in query order.
    pub(crate) terms: Vec<PreparedTerm<O>>,
    /// Passages of the namespaces searched.
    pub(crate) passages: u64,
    /// IDF mass of the terms that count for coverage.
    pub(crate) mass: f32,
    pub(crate) expected_score: f32,
}

impl<O> CountedWord<O> {
    fn occurs(&self) -> bool {
        self.passages != [0, 0]
    }
}

impl<O> PreparedTerms<O> {
    /// Weighs counted words. `total` sums up the namespaces searched.
    pub(crate) fn new(words: Vec<CountedWord<O>>, total: Lengths) -> PreparedTerms<O> {
        let passages = total.passages;
        let mut terms: Vec<(CountedWord<O>, u64, f32)> = words
            .into_iter()
            .map(|counted| {
                // A passage may hold the word in both fields, and the larger frequency counts: a word that is frequent in either
                // field says little.
                let document_frequency = counted.passages[BODY].max(counted.passages[NAME]).min(passages);
                (counted, document_frequency, idf(passages, document_frequency))
            })
            .collect();
        // Keeps the rarest words that occur, in query order. Words that do not occur cost nothing and still count.
        let mut idfs: Vec<f32> = terms.iter().filter(|term| term.0.occurs()).map(|term| term.2).collect();
        idfs.sort_by(|a, b| b.total_cmp(a));
        if let Some(&least) = idfs.get(MAX_TERMS - 1) {
            let mut room = MAX_TERMS - idfs.iter().filter(|idf| **idf > least).count();
            terms.retain(|(counted, _, idf)| {
                if !counted.occurs() || *idf > least {
                    return true;
                }
                let keep = *idf == least && room > 0;
                room -= usize::from(keep);
                keep
            });
        }
        let counts = |frequency: u64| frequency * 2 <= passages;
        let any_counts = terms.iter().any(|(counted, frequency, _)| !counted.word.compound && counts(*frequency));
        let averages = [total.body, total.name].map(|terms| terms as f32 / passages as f32);
        let mut prepared =
            PreparedTerms { terms: Vec::with_capacity(terms.len()), passages, mass: 0.0, expected_score: 0.0 };
        for (CountedWord { word, passages: by_field, occurring }, document_frequency, idf) in terms {
            prepared.expected_score += by_field
                .iter()
                .zip(WEIGHTS)
                .map(|(&count, weight)| count.min(passages) as f32 / passages.max(1) as f32 * weight * idf)
                .sum::<f32>();
            let share = if !word.compound && (counts(document_frequency) || !any_counts) { idf } else { 0.0 };
            prepared.mass += share;
            let weights = [BODY, NAME].map(|field| {
                (by_field[field] > 0)
                    .then(|| bm25::weight(document_frequency, passages, averages[field]).boost_by(WEIGHTS[field]))
            });
            prepared.terms.push(PreparedTerm { word, document_frequency, idf, share, weights, occurring });
        }
        prepared
    }

    /// Returns `true` if no term occurs.
    pub(crate) fn is_empty(&self) -> bool {
        self.terms.iter().all(|term| term.weights.iter().all(Option::is_none))
    }

    /// The part of the mass, from the sum of the shares of a passage's terms.
    pub(crate) fn coverage(&self, shares: f32) -> f32 {
        if self.mass > 0.0 { (shares / self.mass).min(1.0) } else { 0.0 }
    }

    /// The statistics for the caller. The number of passages that pass the filter is unknown here.
    pub(crate) fn statistics(&self) -> LexicalStatistics {
        LexicalStatistics {
            terms: self
                .terms
                .iter()
                .map(|term| TermStatistics {
                    term: term.word.word.clone(),
                    document_frequency: term.document_frequency,
                    idf: term.idf,
                    compound: term.word.compound,
                })
                .collect(),
            passages: 0,
            indexed: self.passages,
            expected_score: self.expected_score,
        }
    }
}
