//! Counting passages and terms for a search, without deleted ones.

use tantivy::postings::{SegmentPostings, TermInfo};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet, InvertedIndexReader, TERMINATED};

use super::Reader;
use super::analysis::{parts_of, term_of};
use super::fields::{BODY_TERMS, NAME_TERMS, NAMESPACE};
use super::totals::{Lengths, Totals};
use crate::record::PassageId;

/// Up to this many terms between two of interest are read over, which takes less time than opening another range.
const GAP: u32 = 16;

/// Passes on the list of postings of a word in each of these namespaces that has it, in a field of a segment.
pub(super) fn lists(
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
    pub(super) fn frequency(
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
    pub(super) fn lengths(&self, ids: &[PassageId]) -> tantivy::Result<Vec<(u32, Lengths)>> {
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

pub(super) fn advance_to(postings: &mut SegmentPostings, document: DocId) -> DocId {
    if postings.doc() < document { postings.seek(document) } else { postings.doc() }
}
