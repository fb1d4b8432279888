//! A query's terms, with their document frequencies and weights.

use std::collections::HashMap;

use tantivy::query::{Bm25Weight, BooleanQuery, BoostQuery, EnableScoring, Query, TermQuery, Weight};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{SegmentReader, Term};

use super::Reader;
use super::analysis::{namespace_prefix, query_words};
use super::bm25::{self, Statistics, idf};
use super::fields::NAME_WEIGHT;
use super::totals::Lengths;
use crate::hits::{LexicalStatistics, TermStatistics};

/// Most words of a query that are looked up.
const MAX_WORDS: usize = 1_024;
/// Most words that are searched for: the rarest. A pasted log has hundreds, and the frequent ones cost time without
/// changing the order.
const MAX_TERMS: usize = 96;

/// A query of some namespaces against one commit of the index.
pub(super) struct Prepared {
    pub(super) terms: Vec<PreparedTerm>,
    /// The namespaces searched that have passages, ascending.
    pub(super) namespaces: Vec<u32>,
    statistics: Statistics,
    /// IDF mass of the terms that count for coverage.
    pub(super) mass: f32,
    pub(super) expected_score: f32,
}

/// A word of the query in the index.
pub(super) struct PreparedTerm {
    word: String,
    compound: bool,
    document_frequency: u64,
    idf: f32,
    /// Its part of the coverage, before division by the mass.
    pub(super) share: f32,
    /// The weight of a match in each field with the word.
    weights: Vec<(Field, Bm25Weight)>,
    /// Its terms in the index, by namespace; only those that occur.
    pub(super) occurring: Vec<(u32, Term)>,
}

impl PreparedTerm {
    /// The weight of a match in a field.
    pub(super) fn weight(&self, field: Field) -> Option<&Bm25Weight> {
        self.weights.iter().find(|(weighted, _)| *weighted == field).map(|(_, weight)| weight)
    }
}

impl Reader {
    /// Looks up a query's terms in some namespaces, or in all for `None`.
    pub(super) fn prepare(&self, text: &str, namespaces: Option<&[u32]>) -> tantivy::Result<Prepared> {
        let searched = self.totals.of(namespaces);
        let mut total = Lengths::default();
        searched.iter().for_each(|(_, lengths)| total.add(*lengths));
        let namespaces: Vec<(u32, String)> =
            searched.iter().map(|(namespace, _)| (*namespace, namespace_prefix(*namespace))).collect();
        let passages = total.passages;
        let fields = [(self.fields.body, 1.0f32), (self.fields.name, NAME_WEIGHT)];
        let tokens = HashMap::from([(self.fields.body, total.body), (self.fields.name, total.name)]);
        let mut statistics = Statistics { passages, tokens, frequencies: HashMap::new() };
        let mut terms = Vec::new();
        let mut spelling = String::new();
        for word in query_words(text, MAX_WORDS) {
            // A passage is either code or prose and holds one of the forms, so their frequencies add up. It may hold the word
            // in both fields, and the larger frequency counts: a word that is frequent in either field says little.
            let mut by_field = [0u64; 2];
            let mut found = Vec::new();
            for ((field, _), frequency) in fields.into_iter().zip(&mut by_field) {
                for form in std::iter::once(&word.word).chain(&word.stem) {
                    for (namespace, prefix) in &namespaces {
                        spelling.clear();
                        spelling.push_str(prefix);
                        spelling.push_str(form);
                        let term = Term::from_field_text(field, &spelling);
                        let count = self.frequency(&term)?;
                        if count > 0 {
                            *frequency += count;
                            found.push((*namespace, term));
                        }
                    }
                }
            }
            let document_frequency = by_field[0].max(by_field[1]).min(passages);
            let idf = idf(passages, document_frequency);
            let expected = by_field
                .iter()
                .zip(fields)
                .map(|(&count, (_, weight))| count.min(passages) as f32 / passages.max(1) as f32 * weight * idf)
                .sum::<f32>();
            terms.push((word, document_frequency, idf, expected, found));
        }
        // Keeps the rarest words that occur, in query order. Words that do not occur cost nothing and still count.
        let mut idfs: Vec<f32> = terms.iter().filter(|term| !term.4.is_empty()).map(|term| term.2).collect();
        idfs.sort_by(|a, b| b.total_cmp(a));
        if let Some(&least) = idfs.get(MAX_TERMS - 1) {
            let mut room = MAX_TERMS - idfs.iter().filter(|idf| **idf > least).count();
            terms.retain(|term| {
                if term.4.is_empty() || term.2 > least {
                    return true;
                }
                let keep = term.2 == least && room > 0;
                room -= usize::from(keep);
                keep
            });
        }
        let counts = |frequency: u64| frequency * 2 <= passages;
        let any_counts = terms.iter().any(|(word, frequency, ..)| !word.compound && counts(*frequency));
        let mut expected_score = 0.0;
        let mut mass = 0.0;
        let mut prepared = Vec::with_capacity(terms.len());
        for (word, document_frequency, idf, expected, found) in terms {
            expected_score += expected;
            let share = if !word.compound && (counts(document_frequency) || !any_counts) { idf } else { 0.0 };
            mass += share;
            let weights = fields
                .into_iter()
                .filter(|(field, _)| found.iter().any(|(_, term)| term.field() == *field))
                .map(|(field, weight)| {
                    let average = statistics.average(field);
                    (field, bm25::weight(document_frequency, passages, average).boost_by(weight))
                })
                .collect();
            statistics.frequencies.extend(found.iter().map(|(_, term)| (term.clone(), document_frequency)));
            prepared.push(PreparedTerm {
                word: word.word,
                compound: word.compound,
                document_frequency,
                idf,
                share,
                weights,
                occurring: found,
            });
        }
        let namespaces = namespaces.into_iter().map(|(namespace, _)| namespace).collect();
        Ok(Prepared { terms: prepared, namespaces, statistics, mass, expected_score })
    }

    /// The weight of a prepared query in one of its namespaces, for Tantivy to search with; `None` when no term occurs
    /// there.
    pub(super) fn weight(&self, prepared: &Prepared, namespace: u32) -> tantivy::Result<Option<Box<dyn Weight>>> {
        let clauses: Vec<Box<dyn Query>> = prepared
            .terms
            .iter()
            .flat_map(|term| &term.occurring)
            .filter(|(of, _)| *of == namespace)
            .map(|(_, term)| {
                let query = Box::new(TermQuery::new(term.clone(), IndexRecordOption::WithFreqs));
                if term.field() == self.fields.name && NAME_WEIGHT != 1.0 {
                    Box::new(BoostQuery::new(query, NAME_WEIGHT)) as Box<dyn Query>
                } else {
                    query
                }
            })
            .collect();
        if clauses.is_empty() {
            return Ok(None);
        }
        let scoring = EnableScoring::enabled_from_statistics_provider(&prepared.statistics, &self.searcher);
        BooleanQuery::union(clauses).weight(scoring).map(Some)
    }

    /// The factor by which the highest score of a block of postings may exceed the bound in the index.
    ///
    /// For each block the index stores the length and frequency that score highest at the segment's average length. At another
    /// average another passage may score highest; with `t` occurrences in a passage of length `d` a score is
    /// `r / (1 + r)` of its limit, where `r = t / (1.2 (0.25 + 0.75 d / average))`, so that it is off by no more than the
    /// averages are.
    pub(super) fn slack(&self, prepared: &Prepared, segment: &SegmentReader) -> tantivy::Result<f32> {
        let mut slack = 1.0f32;
        for field in [self.fields.body, self.fields.name] {
            let tokens = segment.inverted_index(field)?.total_num_tokens();
            let (there, asked) = (tokens as f32 / segment.max_doc() as f32, prepared.statistics.average(field));
            if there > 0.0 && asked > 0.0 {
                slack = slack.max(there / asked).max(asked / there);
            }
        }
        Ok(slack)
    }
}

impl Prepared {
    /// Returns `true` if no term occurs.
    pub(super) fn is_empty(&self) -> bool {
        self.terms.iter().all(|term| term.occurring.is_empty())
    }

    /// The statistics for the caller. The number of passages that pass the filter is unknown here.
    pub(super) fn into_statistics(self) -> LexicalStatistics {
        LexicalStatistics {
            terms: self
                .terms
                .into_iter()
                .map(|term| TermStatistics {
                    term: term.word,
                    document_frequency: term.document_frequency,
                    idf: term.idf,
                    compound: term.compound,
                })
                .collect(),
            passages: 0,
            indexed: self.statistics.passages,
            expected_score: self.expected_score,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::idf;

    #[test]
    fn idf_is_highest_for_what_nobody_has_and_never_negative() {
        assert!((idf(10, 0) - (1.0f32 + 10.5 / 0.5).ln()).abs() < 1e-6);
        assert!(idf(10, 1) < idf(10, 0));
        assert!(idf(10, 10) > 0.0);
        assert!(idf(0, 0) > 0.0);
        assert!(idf(3, 7) > 0.0);
    }
}
