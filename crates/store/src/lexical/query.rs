//! A query's terms, with their document frequencies and weights.

use std::collections::{BTreeMap, HashMap};

use tantivy::query::{BooleanQuery, BoostQuery, EnableScoring, Query, TermQuery, Weight};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{SegmentReader, Term};

use super::Reader;
use super::analysis::{namespace_prefix, query_words};
use super::bm25::Statistics;
use super::fields::NAME_WEIGHT;
use super::prepare::{BODY, CountedWord, MAX_WORDS, NAME, PreparedTerms};
use super::totals::Lengths;
use crate::hits::LexicalStatistics;

/// A query of some namespaces against one commit of the index.
pub(super) struct Prepared {
    /// Its terms; each occurs as these terms of the index, by namespace.
    pub(super) query: PreparedTerms<Vec<(u32, Term)>>,
    /// The namespaces searched that have passages, ascending.
    pub(super) namespaces: Vec<u32>,
    statistics: Statistics,
}

impl Reader {
    /// Looks up a query's terms in some namespaces, or in all for `None`.
    pub(super) fn prepare(&self, text: &str, namespaces: Option<&[u32]>) -> tantivy::Result<Prepared> {
        let searched = self.totals.of(namespaces);
        let mut total = Lengths::default();
        searched.iter().for_each(|(_, lengths)| total.add(*lengths));
        let namespaces: Vec<(u32, String)> =
            searched.iter().map(|(namespace, _)| (*namespace, namespace_prefix(*namespace))).collect();
        let mut words = Vec::new();
        let mut spelling = String::new();
        for word in query_words(text, MAX_WORDS) {
            // A passage is either code or prose and holds one of the forms, so their frequencies add up.
            let mut passages = [0u64; 2];
            let mut occurring = Vec::new();
            for (field, frequency) in [self.fields.body, self.fields.name].into_iter().zip(&mut passages) {
                for form in word.forms() {
                    for (namespace, prefix) in &namespaces {
                        spelling.clear();
                        spelling.push_str(prefix);
                        spelling.push_str(form);
                        let term = Term::from_field_text(field, &spelling);
                        let count = self.frequency(&term)?;
                        if count > 0 {
                            *frequency += count;
                            occurring.push((*namespace, term));
                        }
                    }
                }
            }
            words.push(CountedWord { word, passages, occurring });
        }
        let query = PreparedTerms::new(words, total);
        let found = query
            .terms
            .iter()
            .flat_map(|term| term.occurring.iter().map(|(_, occurring)| (occurring.clone(), term.document_frequency)));
        let statistics = Statistics {
            passages: total.passages,
            tokens: HashMap::from([(self.fields.body, total.body), (self.fields.name, total.name)]),
            frequencies: found.collect(),
        };
        let namespaces = namespaces.into_iter().map(|(namespace, _)| namespace).collect();
        Ok(Prepared { query, namespaces, statistics })
    }

    /// The place of a field with words in a pair.
    pub(super) fn place_of(&self, field: Field) -> usize {
        if field == self.fields.name { NAME } else { BODY }
    }

    /// The weights of a prepared query in those of its namespaces in which a term occurs, for Tantivy to search with.
    pub(super) fn weights(&self, prepared: &Prepared) -> tantivy::Result<Vec<Box<dyn Weight>>> {
        let mut clauses: BTreeMap<u32, Vec<Box<dyn Query>>> = BTreeMap::new();
        for (namespace, term) in prepared.query.terms.iter().flat_map(|term| &term.occurring) {
            let query = Box::new(TermQuery::new(term.clone(), IndexRecordOption::WithFreqs));
            let is_weighted = term.field() == self.fields.name && NAME_WEIGHT != 1.0;
            let query: Box<dyn Query> = if is_weighted { Box::new(BoostQuery::new(query, NAME_WEIGHT)) } else { query };
            clauses.entry(*namespace).or_default().push(query);
        }
        let scoring = EnableScoring::enabled_from_statistics_provider(&prepared.statistics, &self.searcher);
        clauses.into_values().map(|clauses| BooleanQuery::union(clauses).weight(scoring)).collect()
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
        self.query.is_empty()
    }

    /// The statistics for the caller. The number of passages that pass the filter is unknown here.
    pub(super) fn into_statistics(self) -> LexicalStatistics {
        self.query.into_statistics()
    }
}
