//! The best passages for a query, the score of any passage, and passages that define a name or hold all words of a text.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use tantivy::columnar::Column;
use tantivy::postings::{Postings, SegmentPostings, TermInfo};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, DocSet, InvertedIndexReader, SegmentReader, TERMINATED, Term};

use super::Reader;
use super::fields::{DOCUMENT, NAMESPACE, PASSAGE};
use super::query::{Prepared, advance_to, lists};
use super::stems_and_stop_words::text_terms;
use crate::filter::Selection;
use crate::record::{DocumentId, PassageId};
use crate::retrieval::{LexicalHit, LexicalHits, LexicalScore};

/// Extra candidates taken from the search. Their scores are summed in another order than the final ones, and equal scores must
/// not depend on the layout of the index.
const SPARE: usize = 32;

/// Up to this many passages are scored one by one.
const FEW: u64 = 1_000;

/// A candidate. Better ones compare greater.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Candidate {
    score: f32,
    passage: u64,
    segment: usize,
    document: DocId,
}

impl Eq for Candidate {}

impl Ord for Candidate {
    fn cmp(&self, other: &Candidate) -> std::cmp::Ordering {
        self.score.total_cmp(&other.score).then(other.passage.cmp(&self.passage))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Candidate) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Reader {
    /// The `k` best passages of a selection.
    pub(crate) fn search(&self, text: &str, selection: &Selection, k: usize) -> tantivy::Result<LexicalHits> {
        let prepared = self.prepare(text, selection.namespaces.as_deref())?;
        let candidates = if k == 0 || prepared.is_empty() {
            Vec::new()
        } else if !selection.is_by_namespace() && selection.count <= FEW {
            self.selected(selection)?
        } else {
            self.best(&prepared, selection, k.saturating_add(SPARE))?
        };
        let places: Vec<Option<(usize, DocId)>> =
            candidates.iter().map(|candidate| Some((candidate.segment, candidate.document))).collect();
        let scores = self.score_places(&prepared, &places)?;
        let documents: Vec<Column<u64>> = self
            .searcher
            .segment_readers()
            .iter()
            .map(|reader| reader.fast_fields().u64(DOCUMENT))
            .collect::<tantivy::Result<_>>()?;
        let owner = |candidate: &Candidate| {
            DocumentId(documents[candidate.segment].first(candidate.document).unwrap_or_default() as u32)
        };
        let mut hits: Vec<LexicalHit> = candidates
            .iter()
            .zip(scores)
            .filter(|(_, score)| score.bm25 > 0.0)
            .map(|(candidate, score)| LexicalHit {
                passage: PassageId(candidate.passage),
                document: owner(candidate),
                score,
            })
            .collect();
        hits.sort_by(|a, b| b.score.bm25.total_cmp(&a.score.bm25).then(a.passage.cmp(&b.passage)));
        hits.truncate(k);
        Ok(LexicalHits { hits, statistics: prepared.statistics() })
    }

    /// The best passages of a selection, in no order. Blocks of postings that cannot contain one are skipped.
    fn best(&self, prepared: &Prepared, selection: &Selection, room: usize) -> tantivy::Result<Vec<Candidate>> {
        let mut best: BinaryHeap<Reverse<Candidate>> = BinaryHeap::new();
        let is_scattered = prepared.is_scattered();
        let weights = if is_scattered { Vec::new() } else { self.weights(prepared)? };
        for (segment, reader) in self.searcher.segment_readers().iter().enumerate() {
            let rows = Rows::open(reader, selection)?;
            let slack = self.slack(prepared, reader)?;
            let mut least = threshold(&best, room, slack);
            let mut consider = |document, score| {
                if let Some(passage) = rows.passage(document)
                    && rows.passes(document, passage)
                {
                    best.push(Reverse(Candidate { score, passage: passage.0, segment, document }));
                    if best.len() > room {
                        best.pop();
                    }
                }
                threshold(&best, room, slack)
            };
            if is_scattered {
                for (document, score) in self.scores(prepared, segment)? {
                    if score > least {
                        least = consider(document, score);
                    }
                }
                continue;
            }
            // Namespaces are searched in turn, because each passage has exactly one.
            for weight in &weights {
                weight.for_each_pruning(least, reader, &mut |document, score| {
                    least = consider(document, score);
                    least
                })?;
            }
        }
        Ok(best.into_iter().map(|Reverse(candidate)| candidate).collect())
    }

    /// The scores of all passages of a segment with a term, by reading all postings.
    fn scores(&self, prepared: &Prepared, segment: usize) -> tantivy::Result<Vec<(DocId, f32)>> {
        let reader = self.searcher.segment_reader(segment as u32);
        let mut scores: HashMap<DocId, f32> = HashMap::new();
        for term in &prepared.query.terms {
            for (field, weight) in [self.fields.body, self.fields.name].into_iter().zip(&term.weights) {
                let Some(weight) = weight else { continue };
                let inverted = reader.inverted_index(field)?;
                let lengths = reader.get_fieldnorms_reader(field)?;
                for list in term.occurring.iter().filter(|list| list.field == field && list.segment == segment) {
                    let mut postings =
                        inverted.read_postings_from_terminfo(&list.info, IndexRecordOption::WithFreqs)?;
                    while postings.doc() != TERMINATED {
                        let score = weight.score(lengths.fieldnorm_id(postings.doc()), postings.term_freq());
                        *scores.entry(postings.doc()).or_default() += score;
                        postings.advance();
                    }
                }
            }
        }
        Ok(scores.into_iter().collect())
    }

    /// All passages of a small selection, unscored. A search could skip nothing, because its intermediate results never become
    /// good enough.
    fn selected(&self, selection: &Selection) -> tantivy::Result<Vec<Candidate>> {
        let mut selected = Vec::new();
        for (segment, reader) in self.searcher.segment_readers().iter().enumerate() {
            let rows = Rows::open(reader, selection)?;
            for document in 0..reader.max_doc() {
                if let Some(passage) = rows.passage(document)
                    && rows.passes(document, passage)
                {
                    selected.push(Candidate { score: 0.0, passage: passage.0, segment, document });
                }
            }
        }
        Ok(selected)
    }

    /// The scores that a search of the selection's namespaces gives to passages, in the order given.
    pub(crate) fn score(
        &self,
        text: &str,
        selection: &Selection,
        ids: &[PassageId],
    ) -> tantivy::Result<Vec<LexicalScore>> {
        let prepared = self.prepare(text, selection.namespaces.as_deref())?;
        let places = self.locate(ids)?;
        self.score_places(&prepared, &places)
    }

    /// The positions of passages: segment and number in it.
    pub(crate) fn locate(&self, ids: &[PassageId]) -> tantivy::Result<Vec<Option<(usize, DocId)>>> {
        let mut places = vec![None; ids.len()];
        // A segment holds its passages in ascending order unless it was merged from several. Then the search in its column misses
        // some, which the terms find.
        for (segment, reader) in self.searcher.segment_readers().iter().enumerate() {
            let column: Column<u64> = reader.fast_fields().u64(PASSAGE)?;
            for (id, place) in ids.iter().zip(&mut places).filter(|(_, place)| place.is_none()) {
                *place = ascending_place(&column, reader.max_doc(), id.0)
                    .filter(|document| !reader.is_deleted(*document))
                    .map(|document| (segment, document));
            }
        }
        for (segment, reader) in self.searcher.segment_readers().iter().enumerate() {
            if places.iter().all(Option::is_some) {
                break;
            }
            let column: Column<u64> = reader.fast_fields().u64(PASSAGE)?;
            let range = column.min_value()..=column.max_value();
            let inverted = reader.inverted_index(self.fields.passage)?;
            for (id, place) in ids.iter().zip(&mut places) {
                if place.is_some() || !range.contains(&id.0) {
                    continue;
                }
                let term = Term::from_field_u64(self.fields.passage, id.0);
                if let Some(postings) = inverted.read_postings(&term, IndexRecordOption::Basic)?
                    && postings.doc() != TERMINATED
                    && !reader.is_deleted(postings.doc())
                {
                    *place = Some((segment, postings.doc()));
                }
            }
        }
        Ok(places)
    }

    fn score_places(
        &self,
        prepared: &Prepared,
        places: &[Option<(usize, DocId)>],
    ) -> tantivy::Result<Vec<LexicalScore>> {
        let mut scores = vec![LexicalScore::default(); places.len()];
        // Postings are read forwards, so passages are visited ascending within each segment.
        let mut order: Vec<(usize, DocId, usize)> = places
            .iter()
            .enumerate()
            .filter_map(|(index, place)| place.map(|(segment, document)| (segment, document, index)))
            .collect();
        order.sort_unstable();
        for chunk in order.chunk_by(|a, b| a.0 == b.0) {
            self.score_segment(prepared, chunk[0].0, chunk, &mut scores)?;
        }
        for score in &mut scores {
            score.coverage = prepared.query.coverage(score.coverage);
        }
        Ok(scores)
    }

    /// Adds up the terms in query order, so that a passage scores the same however it was found.
    fn score_segment(
        &self,
        prepared: &Prepared,
        segment: usize,
        documents: &[(usize, DocId, usize)],
        scores: &mut [LexicalScore],
    ) -> tantivy::Result<()> {
        let reader = self.searcher.segment_reader(segment as u32);
        let mut matched = vec![false; documents.len()];
        let present = match prepared.namespaces.as_slice() {
            [only] => vec![*only],
            _ => {
                let column = reader.fast_fields().u64(NAMESPACE)?;
                let namespace = |&(_, document, _): &(usize, DocId, usize)| column.first(document).unwrap_or_default();
                let mut present: Vec<u32> = documents.iter().map(|place| namespace(place) as u32).collect();
                present.sort_unstable();
                present.dedup();
                present
            }
        };
        for term in &prepared.query.terms {
            matched.fill(false);
            for list in term.occurring.iter().filter(|list| list.segment == segment) {
                let weight = term.weights[self.place_of(list.field)].as_ref();
                let (Some(bm25), Ok(_)) = (weight, present.binary_search(&list.namespace)) else {
                    continue;
                };
                let inverted = reader.inverted_index(list.field)?;
                let mut postings = inverted.read_postings_from_terminfo(&list.info, IndexRecordOption::WithFreqs)?;
                let lengths = reader.get_fieldnorms_reader(list.field)?;
                for (&(_, document, index), matched) in documents.iter().zip(&mut matched) {
                    if advance_to(&mut postings, document) == document {
                        scores[index].bm25 += bm25.score(lengths.fieldnorm_id(document), postings.term_freq());
                        *matched = true;
                    }
                }
            }
            for (&(_, _, index), matched) in documents.iter().zip(&matched) {
                if *matched {
                    scores[index].coverage += term.share;
                }
            }
        }
        Ok(())
    }
}

/// The passages of a segment, and whether a selection has them.
struct Rows<'s> {
    reader: &'s SegmentReader,
    selection: &'s Selection,
    passages: Column<u64>,
    /// Opening a column takes as long as looking up several terms.
    documents: Option<Column<u64>>,
}

impl<'s> Rows<'s> {
    fn open(reader: &'s SegmentReader, selection: &'s Selection) -> tantivy::Result<Rows<'s>> {
        let documents = match selection.is_by_namespace() {
            true => None,
            false => Some(reader.fast_fields().u64(DOCUMENT)?),
        };
        Ok(Rows { reader, selection, passages: reader.fast_fields().u64(PASSAGE)?, documents })
    }

    /// The passage with a number in the segment, if it exists.
    fn passage(&self, document: DocId) -> Option<PassageId> {
        let exists = !self.reader.is_deleted(document);
        self.passages.first(document).filter(|_| exists).map(PassageId)
    }

    fn passes(&self, document: DocId, passage: PassageId) -> bool {
        self.documents.as_ref().is_none_or(|documents| {
            let owner = DocumentId(documents.first(document).unwrap_or_default() as u32);
            self.selection.contains(passage, owner)
        })
    }
}

/// The number of the document with this passage, in a segment whose passages ascend; in another one, maybe `None` although it is there.
fn ascending_place(column: &Column<u64>, documents: DocId, passage: u64) -> Option<DocId> {
    if !(column.min_value()..=column.max_value()).contains(&passage) {
        return None;
    }
    let (mut low, mut high) = (0, documents);
    while low < high {
        let middle = low + (high - low) / 2;
        let found = column.first(middle)?;
        match found.cmp(&passage) {
            std::cmp::Ordering::Equal => return Some(middle),
            std::cmp::Ordering::Less => low = middle + 1,
            std::cmp::Ordering::Greater => high = middle,
        }
    }
    None
}

/// The least score of a passage worth reading: a little less than that of the worst candidate, because sums in another order
/// differ, and less by the slack of the bounds by which blocks of postings are skipped.
fn threshold(best: &BinaryHeap<Reverse<Candidate>>, room: usize, slack: f32) -> f32 {
    match best.peek() {
        Some(Reverse(worst)) if best.len() >= room => worst.score * (1.0 - 1e-5) / slack,
        _ => f32::MIN,
    }
}

/// Most words of a text that are looked up. A passage with that many of them has the rest, or is close.
pub(crate) const MAX_WORDS: usize = 32;

impl Reader {
    /// The first `limit` passages of a selection that define a symbol with this last name, as spelled; ascending.
    pub(crate) fn defining(&self, name: &str, selection: &Selection, limit: usize) -> tantivy::Result<Vec<PassageId>> {
        self.with_all(self.fields.symbol, &[name.to_owned()], selection, limit)
    }

    /// The first `limit` passages of a selection whose text holds all words of `text`, in any order; ascending.
    pub(crate) fn containing(
        &self,
        text: &str,
        selection: &Selection,
        limit: usize,
    ) -> tantivy::Result<Vec<PassageId>> {
        self.with_all(self.fields.body, &text_terms(text, MAX_WORDS), selection, limit)
    }

    /// The first `limit` selected passages with all words in a field, ascending; none without words. Which ones are found must not
    /// depend on the order of the segments, which differs from index to index of the same texts.
    fn with_all(
        &self,
        field: Field,
        words: &[String],
        selection: &Selection,
        limit: usize,
    ) -> tantivy::Result<Vec<PassageId>> {
        let mut found = BinaryHeap::new();
        let searched = self.totals.lengths(selection.namespaces.as_deref());
        let searched: Vec<u32> = searched.into_iter().map(|(namespace, _)| namespace).collect();
        for reader in self.searcher.segment_readers() {
            let inverted = reader.inverted_index(field)?;
            let rows = Rows::open(reader, selection)?;
            for lists in namespaces_with_all(&inverted, words, &searched)? {
                let open = |info| inverted.read_postings_from_terminfo(info, IndexRecordOption::Basic);
                let mut postings: Vec<SegmentPostings> = lists.iter().map(open).collect::<Result<_, _>>()?;
                postings.sort_by_key(SegmentPostings::doc_freq);
                let [rarest, others @ ..] = postings.as_mut_slice() else { continue };
                while rarest.doc() != TERMINATED {
                    let document = rarest.doc();
                    let passage = rows.passage(document);
                    let is_late = found.len() >= limit && found.peek() <= passage.as_ref();
                    let Some(passage) = passage.filter(|_| !is_late) else {
                        rarest.advance();
                        continue;
                    };
                    // Another list that has passed this passage says how far the first one can skip.
                    let ahead = others.iter_mut().map(|other| advance_to(other, document)).find(|&at| at > document);
                    match ahead {
                        Some(TERMINATED) => break,
                        Some(ahead) => {
                            rarest.seek(ahead);
                            continue;
                        }
                        None => {}
                    }
                    if rows.passes(document, passage) {
                        found.push(passage);
                        if found.len() > limit {
                            found.pop();
                        }
                    }
                    rarest.advance();
                }
            }
        }
        Ok(found.into_sorted_vec())
    }
}

/// The lists of postings of all words, in each of the namespaces in which a segment has them all.
fn namespaces_with_all(
    inverted: &InvertedIndexReader,
    words: &[String],
    namespaces: &[u32],
) -> tantivy::Result<Vec<Vec<TermInfo>>> {
    let mut held: Vec<(u32, Vec<TermInfo>)> = namespaces.iter().map(|&namespace| (namespace, Vec::new())).collect();
    // A long word is mostly rare, and leaves few namespaces to look up the others in.
    let mut words: Vec<&String> = words.iter().collect();
    words.sort_by_key(|word| Reverse(word.len()));
    for word in words {
        let before: Vec<u32> = held.iter().map(|(namespace, _)| *namespace).collect();
        let (mut all, mut rest) = (Vec::new(), held.into_iter());
        lists(inverted, word, &before, |namespace, info| {
            if let Some((_, mut lists)) = rest.find(|(held, _)| *held == namespace) {
                lists.push(info.clone());
                all.push((namespace, lists));
            }
            Ok(())
        })?;
        held = all;
    }
    Ok(held.into_iter().map(|(_, lists)| lists).collect())
}
