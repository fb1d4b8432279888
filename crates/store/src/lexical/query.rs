//! A query's terms, with their document frequencies and BM25 weights.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use tantivy::postings::{SegmentPostings, TermInfo};
use tantivy::query::{Bm25StatisticsProvider, Bm25Weight, BooleanQuery, EnableScoring, Query, TermQuery, Weight};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, DocSet, InvertedIndexReader, SegmentReader, TERMINATED, Term};

use super::fields::{BODY_TERMS, NAME_TERMS, NAMESPACE};
use super::stems_and_stop_words::{QueryWord, parts_of, query_words, term_of};
use super::{Lengths, Reader, Totals};
use crate::cache::lock;
use crate::record::PassageId;
use crate::retrieval::{LexicalStatistics, TermStatistics};

/// From so many namespaces on, short lists of postings are read as a whole.
const MANY_NAMESPACES: usize = 64;
/// The postings of a list that is read in about the time it takes to open it.
const SHORT_LIST: u64 = 64;

/// A query of some namespaces against one commit of the index.
pub(crate) struct Prepared {
    text: String,
    /// The namespaces as they were asked for.
    asked: Option<Vec<u32>>,
    /// Its terms, with their lists of postings.
    pub(crate) query: PreparedTerms<Vec<List>>,
    /// The namespaces searched that have passages, ascending.
    pub(crate) namespaces: Vec<u32>,
    statistics: Statistics,
}

/// The postings of one form of a word, in a field of a segment and a namespace.
pub(crate) struct List {
    pub(crate) field: Field,
    /// Its place among the forms of the word.
    form: usize,
    pub(crate) segment: usize,
    pub(crate) namespace: u32,
    pub(crate) info: TermInfo,
}

impl Reader {
    /// Looks up a query's terms in some namespaces, or in all for `None`. The last query is remembered, since a search asks for its
    /// best passages and then for the scores of others.
    pub(crate) fn prepare(&self, text: &str, namespaces: Option<&[u32]>) -> tantivy::Result<Arc<Prepared>> {
        let is_asked = |known: &&Arc<Prepared>| known.text == text && known.asked.as_deref() == namespaces;
        if let Some(known) = lock(&self.prepared).as_ref().filter(is_asked) {
            return Ok(known.clone());
        }
        let prepared = Arc::new(self.look_up(text, namespaces)?);
        *lock(&self.prepared) = Some(prepared.clone());
        Ok(prepared)
    }

    fn look_up(&self, text: &str, asked: Option<&[u32]>) -> tantivy::Result<Prepared> {
        let searched = self.totals.lengths(asked);
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
    pub(crate) fn place_of(&self, field: Field) -> usize {
        if field == self.fields.name { NAME } else { BODY }
    }

    /// The weights of a prepared query in those of its namespaces in which a term occurs, for Tantivy to search with.
    pub(crate) fn weights(&self, prepared: &Prepared) -> tantivy::Result<Vec<Box<dyn Weight>>> {
        let mut clauses: BTreeMap<u32, Vec<Box<dyn Query>>> = BTreeMap::new();
        for term in &prepared.query.terms {
            let forms: Vec<&str> = term.word.forms().collect();
            let places: BTreeSet<_> =
                term.occurring.iter().map(|list| (list.namespace, list.field, list.form)).collect();
            for (namespace, field, form) in places {
                let term = Term::from_field_text(field, &term_of(forms[form], namespace));
                let query = Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs));
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
    pub(crate) fn slack(&self, prepared: &Prepared, segment: &SegmentReader) -> tantivy::Result<f32> {
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
    pub(crate) fn is_empty(&self) -> bool {
        self.query.is_empty()
    }

    /// The statistics for the caller. The number of passages that pass the filter is unknown here.
    pub(crate) fn statistics(&self) -> LexicalStatistics {
        self.query.statistics()
    }

    /// Returns `true` if there are so many lists of postings, and such short ones, that reading all of them takes less time than
    /// preparing to skip in them.
    pub(crate) fn is_scattered(&self) -> bool {
        let lists: u64 = self.query.terms.iter().map(|term| term.occurring.len() as u64).sum();
        let passages: u64 = self.query.terms.iter().map(|term| term.document_frequency).sum();
        self.namespaces.len() >= MANY_NAMESPACES && passages <= lists * SHORT_LIST
    }
}

/// Most words of a query that are looked up.
pub(crate) const MAX_WORDS: usize = 1_024;
/// Most words that are searched for: the rarest. A pasted log has hundreds, and the frequent ones cost time without
/// changing the order.
const MAX_TERMS: usize = 96;

/// The two fields with words, by their place in a pair.
pub(crate) const BODY: usize = 0;
pub(crate) const NAME: usize = 1;

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
            prepared.expected_score +=
                by_field.iter().map(|&count| count.min(passages) as f32 / passages.max(1) as f32 * idf).sum::<f32>();
            let share = if !word.compound && (counts(document_frequency) || !any_counts) { idf } else { 0.0 };
            prepared.mass += share;
            let weights = [BODY, NAME]
                .map(|field| (by_field[field] > 0).then(|| weight(document_frequency, passages, averages[field])));
            prepared.terms.push(PreparedTerm { word, document_frequency, idf, share, weights, occurring });
        }
        prepared
    }

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

/// Up to this many terms between two of interest are read over, which takes less time than opening another range.
const GAP: u32 = 16;

/// Passes on the list of postings of a word in each of these namespaces that has it, in a field of a segment.
pub(crate) fn lists(
    inverted: &InvertedIndexReader,
    word: &str,
    namespaces: &[u32],
    mut each: impl FnMut(u32, &TermInfo) -> tantivy::Result<()>,
) -> tantivy::Result<()> {
    for run in namespaces.chunk_by(|a, b| b.saturating_sub(*a) <= GAP) {
        let [first, last] = [run[0], run[run.len() - 1]].map(|namespace| term_of(word, namespace));
        let mut terms = inverted.terms().range().ge(first).le(last).into_stream()?;
        while let Some((term, info)) = terms.next() {
            match std::str::from_utf8(term).ok().and_then(parts_of) {
                Some((found, namespace)) if found == word && run.binary_search(&namespace).is_ok() => {
                    each(namespace, info)?;
                }
                _ => {}
            }
        }
    }
    Ok(())
}

impl Reader {
    /// Counts the passages in a list of postings of a segment.
    ///
    /// The list's own count includes deleted passages until the segment is merged, so these are subtracted.
    pub(crate) fn frequency(
        &self,
        segment: usize,
        inverted: &InvertedIndexReader,
        info: &TermInfo,
    ) -> tantivy::Result<u64> {
        let deleted = &self.deleted()[segment];
        if deleted.is_empty() {
            return Ok(info.doc_freq.into());
        }
        let mut postings = inverted.read_postings_from_terminfo(info, IndexRecordOption::Basic)?;
        let mut gone = 0;
        if deleted.len() < info.doc_freq as usize {
            gone += deleted.iter().filter(|&&document| advance_to(&mut postings, document) == document).count();
        } else {
            while postings.doc() != TERMINATED {
                gone += usize::from(deleted.binary_search(&postings.doc()).is_ok());
                postings.advance();
            }
        }
        Ok(u64::from(info.doc_freq).saturating_sub(gone as u64))
    }

    fn deleted(&self) -> &[Vec<DocId>] {
        self.deleted.get_or_init(|| {
            let deleted = |segment: &tantivy::SegmentReader| match segment.alive_bitset() {
                Some(alive) => (0..segment.max_doc()).filter(|&document| alive.is_deleted(document)).collect(),
                None => Vec::new(),
            };
            self.searcher.segment_readers().iter().map(deleted).collect()
        })
    }

    /// The namespaces and lengths of those passages that exist.
    pub(crate) fn lengths(&self, ids: &[PassageId]) -> tantivy::Result<Vec<(u32, Lengths)>> {
        let columns = self.length_columns()?;
        let found = self.locate(ids)?;
        Ok(found.into_iter().flatten().map(|(segment, document)| columns[segment](document)).collect())
    }

    /// Checks the stored totals by counting again.
    pub(crate) fn has_its_totals(&self) -> tantivy::Result<bool> {
        let mut counted = Totals::default();
        for (segment, lengths) in self.searcher.segment_readers().iter().zip(self.length_columns()?) {
            for document in segment.doc_ids_alive() {
                let (namespace, lengths) = lengths(document);
                counted.add(namespace, lengths);
            }
        }
        Ok(counted == self.totals)
    }

    /// For each segment, the namespace and lengths of a passage in it.
    fn length_columns(&self) -> tantivy::Result<Vec<impl Fn(DocId) -> (u32, Lengths)>> {
        let columns = |segment: &tantivy::SegmentReader| {
            let [namespace, body, name] =
                [NAMESPACE, BODY_TERMS, NAME_TERMS].map(|name| segment.fast_fields().u64(name));
            let (namespace, body, name) = (namespace?, body?, name?);
            Ok(move |document: DocId| {
                let lengths = Lengths {
                    passages: 1,
                    body: body.first(document).unwrap_or_default(),
                    name: name.first(document).unwrap_or_default(),
                };
                (namespace.first(document).unwrap_or_default() as u32, lengths)
            })
        };
        self.searcher.segment_readers().iter().map(columns).collect()
    }
}

pub(crate) fn advance_to(postings: &mut SegmentPostings, document: DocId) -> DocId {
    if postings.doc() < document { postings.seek(document) } else { postings.doc() }
}

/// The weight of a term in a field of this average length.
///
/// BM25: what scores a match. Tantivy fixes k1 = 1.2 and b = 0.75 and computes the score of a term with frequency t in a passage
/// of length d as idf · t (k1 + 1) / (t + k1 (1 − b + b d / average)). The statistics are ours: those of the namespaces searched.
pub(crate) fn weight(document_frequency: u64, passages: u64, average: f32) -> Bm25Weight {
    Bm25Weight::for_one_term_without_explain(document_frequency, passages, average)
}

/// Passages, tokens and document frequencies for scoring. A word's frequency is its total over all forms and all namespaces
/// searched.
pub(crate) struct Statistics {
    pub passages: u64,
    pub tokens: HashMap<Field, u64>,
    /// By the form of the word.
    pub frequencies: HashMap<String, u64>,
}

impl Statistics {
    /// The average length of a field.
    pub fn average(&self, field: Field) -> f32 {
        self.tokens.get(&field).copied().unwrap_or(0) as f32 / self.passages as f32
    }
}

impl Bm25StatisticsProvider for Statistics {
    fn total_num_tokens(&self, field: Field) -> tantivy::Result<u64> {
        Ok(self.tokens.get(&field).copied().unwrap_or(0))
    }

    fn total_num_docs(&self) -> tantivy::Result<u64> {
        Ok(self.passages)
    }

    fn doc_freq(&self, term: &Term) -> tantivy::Result<u64> {
        let value = term.value();
        let (form, _) = value.as_str().and_then(parts_of).unwrap_or_default();
        Ok(self.frequencies.get(form).copied().unwrap_or(0))
    }
}

/// ln(1 + (N − n + 0.5) / (n + 0.5)), which is positive for any n ≤ N.
pub(crate) fn idf(passages: u64, frequency: u64) -> f32 {
    let (passages, frequency) = (passages as f64, frequency.min(passages) as f64);
    (1.0 + (passages - frequency + 0.5) / (frequency + 0.5)).ln() as f32
}

#[cfg(test)]
mod tests {
    use super::idf;

    #[test]
    fn idf_is_highest_for_what_nobody_has_and_never_negative() {
        assert!((idf(10, 0) - (1.0f32 + 10.5 / 0.5).ln()).abs() < 1e-6);
        assert!(idf(10, 1) < idf(10, 0) && idf(10, 10) > 0.0 && idf(0, 0) > 0.0);
        assert!(idf(3, 7) > 0.0);
    }
}
