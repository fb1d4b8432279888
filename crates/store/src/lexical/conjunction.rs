//! The passages that define a name, and those that hold all words of a text. Neither is scored.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tantivy::postings::{SegmentPostings, TermInfo};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocSet, InvertedIndexReader, TERMINATED};

use super::Reader;
use super::analysis::text_terms;
use super::fields::{DOCUMENT, PASSAGE};
use super::statistics::{advance_to, lists};
use crate::filter::Selection;
use crate::record::{DocumentId, PassageId};

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
        let searched = self.totals.of(selection.namespaces.as_deref());
        let searched: Vec<u32> = searched.into_iter().map(|(namespace, _)| namespace).collect();
        for reader in self.searcher.segment_readers() {
            let inverted = reader.inverted_index(field)?;
            let passages = reader.fast_fields().u64(PASSAGE)?;
            let documents = match selection.is_by_namespace() {
                true => None,
                false => Some(reader.fast_fields().u64(DOCUMENT)?),
            };
            for lists in namespaces_with_all(&inverted, words, &searched)? {
                let open = |info| inverted.read_postings_from_terminfo(info, IndexRecordOption::Basic);
                let mut postings: Vec<SegmentPostings> = lists.iter().map(open).collect::<Result<_, _>>()?;
                postings.sort_by_key(SegmentPostings::doc_freq);
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
