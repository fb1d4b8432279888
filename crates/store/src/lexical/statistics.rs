//! What of the index is counted for a search: passages that are there, terms in them, and nothing that is deleted.

use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet, TERMINATED, Term};

use super::Reader;
use super::fields::{BODY_TERMS, NAME_TERMS, NAMESPACE};
use super::search::advance_to;
use super::totals::{Lengths, Totals};
use crate::record::PassageId;

impl Reader {
    /// How many passages hold a term.
    ///
    /// A segment's own count goes on counting what was deleted until the segment is merged, which depends on everything
    /// else in the index: the deleted are taken off.
    pub(super) fn frequency(&self, term: &Term) -> tantivy::Result<u64> {
        let mut frequency = 0;
        for (segment, dead) in self.searcher.segment_readers().iter().zip(self.dead()) {
            let inverted = segment.inverted_index(term.field())?;
            let Some(info) = inverted.get_term_info(term)? else {
                continue;
            };
            frequency += u64::from(info.doc_freq);
            if dead.is_empty() {
                continue;
            }
            let mut postings = inverted.read_postings_from_terminfo(&info, IndexRecordOption::Basic)?;
            let mut gone = 0;
            if dead.len() < info.doc_freq as usize {
                gone += dead.iter().filter(|&&document| advance_to(&mut postings, document) == document).count();
            } else {
                while postings.doc() != TERMINATED {
                    gone += usize::from(dead.binary_search(&postings.doc()).is_ok());
                    postings.advance();
                }
            }
            frequency = frequency.saturating_sub(gone as u64);
        }
        Ok(frequency)
    }

    fn dead(&self) -> &[Vec<DocId>] {
        self.dead.get_or_init(|| {
            let dead = |segment: &tantivy::SegmentReader| match segment.alive_bitset() {
                Some(alive) => (0..segment.max_doc()).filter(|&document| alive.is_deleted(document)).collect(),
                None => Vec::new(),
            };
            self.searcher.segment_readers().iter().map(dead).collect()
        })
    }

    /// The namespaces and lengths of passages, of those that are there.
    pub(super) fn lengths(&self, ids: &[PassageId]) -> tantivy::Result<Vec<(u32, Lengths)>> {
        let columns = self.length_columns()?;
        let found = self.locate(ids)?;
        Ok(found.into_iter().flatten().map(|(segment, document)| columns[segment](document)).collect())
    }

    /// Counts the totals anew, for a check of those that are kept.
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
