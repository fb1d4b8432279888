//! A query's terms, with their document frequencies and weights.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use tantivy::postings::TermInfo;
use tantivy::query::{BooleanQuery, BoostQuery, EnableScoring, Query, TermQuery, Weight};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{SegmentReader, Term};

use super::Reader;
use super::analysis::{query_words, term_of};
use super::bm25::Statistics;
use super::fields::NAME_WEIGHT;
use super::prepare::{BODY, CountedWord, MAX_WORDS, NAME, PreparedTerms};
use super::statistics::lists;
use super::totals::Lengths;
use crate::hits::LexicalStatistics;
use crate::mutex::lock;

/// From so many namespaces on, short lists of postings are read as a whole.
const MANY_NAMESPACES: usize = 64;
/// The postings of a list that is read in about the time it takes to open it.
const SHORT_LIST: u64 = 64;

/// A query of some namespaces against one commit of the index.
pub(super) struct Prepared {
    text: String,
    /// The namespaces as they were asked for.
    asked: Option<Vec<u32>>,
    /// Its terms, with their lists of postings.
    pub(super) query: PreparedTerms<Vec<List>>,
    /// The namespaces searched that have passages, ascending.
    pub(super) namespaces: Vec<u32>,
    statistics: Statistics,
}

/// The postings of one form of a word, in a field of a segment and a namespace.
pub(super) struct List {
    pub(super) field: Field,
    /// Its place among the forms of the word.
    form: usize,
    pub(super) segment: usize,
    pub(super) namespace: u32,
    pub(super) info: TermInfo,
}

impl Reader {
    /// Looks up a query's terms in some namespaces, or in all for `None`. The last query is remembered, since a search asks for its
    /// best passages and then for the scores of others.
    pub(super) fn prepare(&self, text: &str, namespaces: Option<&[u32]>) -> tantivy::Result<Arc<Prepared>> {
        let is_asked = |known: &&Arc<Prepared>| known.text == text && known.asked.as_deref() == namespaces;
        if let Some(known) = lock(&self.prepared).as_ref().filter(is_asked) {
            return Ok(known.clone());
        }
        let prepared = Arc::new(self.look_up(text, namespaces)?);
        *lock(&self.prepared) = Some(prepared.clone());
        Ok(prepared)
    }

    fn look_up(&self, text: &str, asked: Option<&[u32]>) -> tantivy::Result<Prepared> {
        let searched = self.totals.of(asked);
        let mut total = Lengths::default();
        searched.iter().for_each(|(_, lengths)| total.add(*lengths));
        let namespaces: Vec<u32> = searched.into_iter().map(|(namespace, _)| namespace).collect();
        let readers = self.searcher.segment_readers();
        let inverted = |field| readers.iter().map(|reader| reader.inverted_index(field)).collect();
        let fields: [(Field, tantivy::Result<Vec<_>>); 2] =
            [self.fields.body, self.fields.name].map(|field| (field, inverted(field)));
        let mut words = Vec::new();
        for word in query_words(text, MAX_WORDS) {
            // A passage is either code or prose and holds one of the forms, so their frequencies add up.
            let mut passages = [0u64; 2];
            let mut occurring = Vec::new();
            for ((field, inverted), frequency) in fields.iter().zip(&mut passages) {
                let segments = inverted.as_ref().map_err(Clone::clone)?;
                for (form, spelling) in word.forms().enumerate() {
                    for (segment, inverted) in segments.iter().enumerate() {
                        lists(inverted, spelling, &namespaces, |namespace, info| {
                            let count = self.frequency(segment, inverted, info)?;
                            if count > 0 {
                                *frequency += count;
                                occurring.push(List { field: *field, form, segment, namespace, info: info.clone() });
                            }
                            Ok(())
                        })?;
                    }
                }
            }
            words.push(CountedWord { word, passages, occurring });
        }
        let query = PreparedTerms::new(words, total);
        let found = query
            .terms
            .iter()
            .flat_map(|term| term.word.forms().map(|form| (form.to_owned(), term.document_frequency)));
        let statistics = Statistics {
            passages: total.passages,
            tokens: HashMap::from([(self.fields.body, total.body), (self.fields.name, total.name)]),
            frequencies: found.collect(),
        };
        Ok(Prepared { text: text.to_owned(), asked: asked.map(<[u32]>::to_vec), query, namespaces, statistics })
    }

    /// The place of a field with words in a pair.
    pub(super) fn place_of(&self, field: Field) -> usize {
        if field == self.fields.name { NAME } else { BODY }
    }

    /// The weights of a prepared query in those of its namespaces in which a term occurs, for Tantivy to search with.
    pub(super) fn weights(&self, prepared: &Prepared) -> tantivy::Result<Vec<Box<dyn Weight>>> {
        let mut clauses: BTreeMap<u32, Vec<Box<dyn Query>>> = BTreeMap::new();
        for term in &prepared.query.terms {
            let forms: Vec<&str> = term.word.forms().collect();
            let places: BTreeSet<_> =
                term.occurring.iter().map(|list| (list.namespace, list.field, list.form)).collect();
            for (namespace, field, form) in places {
                let term = Term::from_field_text(field, &term_of(forms[form], namespace));
                let query = Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs));
                let is_weighted = field == self.fields.name && NAME_WEIGHT != 1.0;
                let query: Box<dyn Query> =
                    if is_weighted { Box::new(BoostQuery::new(query, NAME_WEIGHT)) } else { query };
                clauses.entry(namespace).or_default().push(query);
            }
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
    pub(super) fn statistics(&self) -> LexicalStatistics {
        self.query.statistics()
    }

    /// Returns `true` if there are so many lists of postings, and such short ones, that reading all of them takes less time than
    /// preparing to skip in them.
    pub(super) fn is_scattered(&self) -> bool {
        let lists: u64 = self.query.terms.iter().map(|term| term.occurring.len() as u64).sum();
        let passages: u64 = self.query.terms.iter().map(|term| term.document_frequency).sum();
        self.namespaces.len() >= MANY_NAMESPACES && passages <= lists * SHORT_LIST
    }
}
