//! Counting passages and terms for a search, without deleted ones.

use std::sync::Arc;

use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet, InvertedIndexReader, TERMINATED, Term};

use super::Reader;
use super::fields::{BODY_TERMS, NAME_TERMS, NAMESPACE};
use super::search::advance_to;
use super::totals::{Lengths, Totals};
use crate::record::PassageId;

impl Reader {
    /// Counts the passages with a term; `segments` are those of its field.
    ///
    /// A segment's own count includes deleted passages until the segment is merged, so these are subtracted.
    pub(super) fn frequency(&self, segments: &[Arc<InvertedIndexReader>], term: &Term) -> tantivy::Result<u64> {
        let mut frequency = 0;
        for (inverted, deleted) in segments.iter().zip(self.deleted()) {
            let Some(info) = inverted.get_term_info(term)? else {
                continue;
            };
            frequency += u64::from(info.doc_freq);
            if deleted.is_empty() {
                continue;
            }
            let mut postings = inverted.read_postings_from_terminfo(&info, IndexRecordOption::Basic)?;
            let mut gone = 0;
            if deleted.len() < info.doc_freq as usize {
                gone += deleted.iter().filter(|&&document| advance_to(&mut postings, document) == document).count();
            } else {
                while postings.doc() != TERMINATED {
                    gone += usize::from(deleted.binary_search(&postings.doc()).is_ok());
                    postings.advance();
                }
            }
            frequency = frequency.saturating_sub(gone as u64);
        }
        Ok(frequency)
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
