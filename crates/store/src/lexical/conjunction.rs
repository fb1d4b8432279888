//! The passages that define a name, and those that hold all words of a text. Neither is scored.

use std::collections::BinaryHeap;

use tantivy::postings::SegmentPostings;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet, SegmentReader, TERMINATED, Term};

use super::Reader;
use super::analysis::{namespace_prefix, text_terms};
use super::fields::{DOCUMENT, PASSAGE};
use super::search::advance_to;
use crate::filter::Selection;
use crate::record::{DocumentId, PassageId};

/// Most words of a text that are looked up. A passage with that many of them has the rest, or is close.
pub(crate) const MAX_WORDS: usize = 32;

impl Reader {
    /// The first `limit` passages of a selection that define a symbol with this last name, as spelled; ascending.
    pub(crate) fn defining(&self, name: &str, selection: &Selection, limit: usize) -> tantivy::Result<Vec<PassageId>> {
        let mut found = BinaryHeap::new();
        for prefix in self.prefixes(selection) {
            let term = Term::from_field_text(self.fields.symbol, &format!("{prefix}{name}"));
            self.with_all(&[term], selection, limit, &mut found)?;
        }
        Ok(found.into_sorted_vec())
    }

    /// The first `limit` passages of a selection whose text holds all words of `text`, in any order; ascending.
    pub(crate) fn containing(
        &self,
        text: &str,
        selection: &Selection,
        limit: usize,
    ) -> tantivy::Result<Vec<PassageId>> {
        let words = text_terms(text, MAX_WORDS);
        let mut found = BinaryHeap::new();
        for prefix in self.prefixes(selection).into_iter().filter(|_| !words.is_empty()) {
            let terms = words.iter().map(|word| Term::from_field_text(self.fields.body, &format!("{prefix}{word}")));
            self.with_all(&terms.collect::<Vec<_>>(), selection, limit, &mut found)?;
        }
        Ok(found.into_sorted_vec())
    }

    fn prefixes(&self, selection: &Selection) -> Vec<String> {
        let searched = self.totals.of(selection.namespaces.as_deref());
        searched.iter().map(|(namespace, _)| namespace_prefix(*namespace)).collect()
    }

    /// Adds the selected passages with all terms, and leaves the first `limit`. Which ones are found must not depend on the order
    /// of the segments, which differs from index to index of the same texts.
    fn with_all(
        &self,
        terms: &[Term],
        selection: &Selection,
        limit: usize,
        found: &mut BinaryHeap<PassageId>,
    ) -> tantivy::Result<()> {
        for reader in self.searcher.segment_readers() {
            let Some(mut postings) = postings(reader, terms)? else { continue };
            let passages = reader.fast_fields().u64(PASSAGE)?;
            let documents = match selection.is_by_namespace() {
                true => None,
                false => Some(reader.fast_fields().u64(DOCUMENT)?),
            };
            let [rarest, others @ ..] = postings.as_mut_slice() else { continue };
            while rarest.doc() != TERMINATED {
                let document = rarest.doc();
                let passage = passages.first(document).map(PassageId);
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
                let alive = reader.alive_bitset().is_none_or(|alive| alive.is_alive(document));
                let passes = alive
                    && documents.as_ref().is_none_or(|documents| {
                        let owner = DocumentId(documents.first(document).unwrap_or_default() as u32);
                        selection.contains(passage, owner)
                    });
                if passes {
                    found.push(passage);
                    if found.len() > limit {
                        found.pop();
                    }
                }
                rarest.advance();
            }
        }
        Ok(())
    }
}

/// The postings of all terms in a segment, the shortest first; `None` if one does not occur there.
fn postings(reader: &SegmentReader, terms: &[Term]) -> tantivy::Result<Option<Vec<SegmentPostings>>> {
    let mut found = Vec::with_capacity(terms.len());
    for term in terms {
        let inverted = reader.inverted_index(term.field())?;
        match inverted.read_postings(term, IndexRecordOption::Basic)? {
            Some(postings) => found.push(postings),
            None => return Ok(None),
        }
    }
    found.sort_by_key(SegmentPostings::doc_freq);
    Ok(Some(found))
}
