//! Words of the index that are spelled almost like one that it does not have.
//!
//! The index holds stems, and a slip can be in the ending that the stemmer removes. So a term is near if it is near the beginning of
//! the word. The words that it stands for are its regular forms, and those of its forms that some passages show.

use std::collections::BTreeMap;
use std::ops::Range;

use rust_stemmers::{Algorithm, Stemmer};
use strsim::osa_distance;
use tantivy::postings::TermInfo;
use tantivy::query::{DfaWrapper, FuzzyTermQuery};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet, TERMINATED, Term};
use tantivy_fst::Automaton;

use super::Reader;
use super::fields::PASSAGE;
use super::query::lists;
use super::stems_and_stop_words::{QueryWord, SEPARATOR, parts_of, query_words, stem};
use super::tokenizer::{Piece, Splitter};
use crate::filter::Selection;
use crate::record::{PassageId, StoredPassage};
use crate::retrieval::NearWord;

/// Fewest bytes of a term that is near a word by one edit, and by two.
const SHORTEST_STEM: usize = 3;
const LONG_STEM: usize = 6;
/// Most terms of the index that are looked at for one word, and most of those that passages are read for.
const MOST_SEEN: usize = 4_096;
const MOST_TERMS: usize = 12;
/// Most passages that are read for a term.
const MOST_EXAMPLES: usize = 3;

/// A term near the beginning of a word, with some of its passages.
pub(crate) struct NearTerm {
    term: String,
    passages: u64,
    pub(crate) examples: Vec<PassageId>,
}

/// The edits by which a word of so many characters may differ: a letter added, left out, replaced, or swapped with the next.
fn edits_of(characters: usize) -> usize {
    match characters {
        0..4 => 0,
        // Two edits make of `pandoc` `pandas`.
        4..8 => 1,
        _ => 2,
    }
}

impl Reader {
    /// The terms of the namespaces of a selection that are near the beginning of a word; `None` if the word occurs, or is not one
    /// word of letters.
    pub(crate) fn near_terms(&self, word: &str, selection: &Selection) -> tantivy::Result<Option<Vec<NearTerm>>> {
        let [QueryWord { word, stem, compound: false }] = &query_words(word, 2)[..] else { return Ok(None) };
        let searched = self.totals.lengths(selection.namespaces.as_deref());
        let namespaces: Vec<u32> = searched.into_iter().map(|(namespace, _)| namespace).collect();
        let readers = self.searcher.segment_readers();
        for (segment, reader) in readers.iter().enumerate() {
            for field in [self.fields.body, self.fields.name] {
                let inverted = reader.inverted_index(field)?;
                let mut occurs = false;
                for form in [Some(word), stem.as_ref()].into_iter().flatten() {
                    lists(&inverted, form, &namespaces, |_, info| {
                        occurs |= self.frequency(segment, &inverted, info)? > 0;
                        Ok(())
                    })?;
                }
                if occurs {
                    return Ok(None);
                }
            }
        }
        let length = word.chars().count();
        let edits = edits_of(length);
        let shortest = SHORTEST_STEM.max(length.saturating_sub(2) / 2);
        // Two edits make any short stem another one.
        let passes = [(1, shortest..LONG_STEM), (edits, shortest.max(LONG_STEM)..usize::MAX)];
        // A stem has `i` for `y`.
        let beginning = word.strip_suffix('y').map_or_else(|| word.clone(), |rest| format!("{rest}i"));
        let mut found: BTreeMap<String, (u64, Vec<(usize, TermInfo)>)> = BTreeMap::new();
        let field = self.fields.body;
        let segments = readers.iter().enumerate().filter(|_| edits > 0);
        for ((segment, reader), (edits, lengths)) in segments.flat_map(|one| passes.iter().map(move |pass| (one, pass)))
        {
            let near = FuzzyTermQuery::new(Term::from_field_text(field, &beginning), *edits as u8, true).automaton()?;
            let inverted = reader.inverted_index(field)?;
            let mut terms = inverted.terms().search(NearBeginning { near, lengths: lengths.clone() }).into_stream()?;
            let mut seen = 0;
            while let Some((term, info)) = terms.next().filter(|_| seen < MOST_SEEN) {
                seen += 1;
                let Some((term, namespace)) = std::str::from_utf8(term).ok().and_then(parts_of) else { continue };
                if namespaces.binary_search(&namespace).is_ok() {
                    let (passages, lists) = found.entry(term.to_owned()).or_default();
                    *passages += self.frequency(segment, &inverted, info)?;
                    lists.push((segment, info.clone()));
                }
            }
        }
        let mut found: Vec<_> = found.into_iter().filter(|(_, (passages, _))| *passages > 0).collect();
        found.sort_by_cached_key(|(term, (passages, _))| {
            (distance_to_beginning(term, &beginning), usize::MAX - term.len(), u64::MAX - passages)
        });
        found.truncate(MOST_TERMS);
        let near = found
            .into_iter()
            .map(|(term, (passages, lists))| Ok(NearTerm { term, passages, examples: self.examples(&lists)? }));
        near.collect::<tantivy::Result<_>>().map(Some)
    }

    /// Some passages of lists of postings of the body.
    fn examples(&self, lists: &[(usize, TermInfo)]) -> tantivy::Result<Vec<PassageId>> {
        let mut examples = Vec::new();
        for (segment, info) in lists {
            let reader = self.searcher.segment_reader(*segment as u32);
            let column = reader.fast_fields().u64(PASSAGE)?;
            let inverted = reader.inverted_index(self.fields.body)?;
            let mut postings = inverted.read_postings_from_terminfo(info, IndexRecordOption::Basic)?;
            while postings.doc() != TERMINATED && examples.len() < MOST_EXAMPLES {
                if reader.alive_bitset().is_none_or(|alive| alive.is_alive(postings.doc())) {
                    examples.extend(column.first(postings.doc()).map(PassageId));
                }
                postings.advance();
            }
        }
        Ok(examples)
    }
}

/// The least distance of a term to a beginning of a word.
fn distance_to_beginning(term: &str, word: &str) -> usize {
    let ends = word.char_indices().map(|(at, _)| at).chain([word.len()]);
    ends.map(|end| osa_distance(term, &word[..end])).min().unwrap_or(usize::MAX)
}

/// The endings of the regular forms of an English word.
const ENDINGS: [&str; 10] = ["", "s", "es", "ed", "ing", "ly", "ion", "ions", "ation", "ations"];
/// Those of a word whose stem ends with `i`, in its place.
const ENDINGS_OF_Y: [&str; 3] = ["y", "ies", "ied"];

/// The words that near terms stand for: for each term the one that is nearest to `word`, of its regular forms and those in `passages`.
/// One that is too far is left out.
pub(crate) fn near_words(word: &str, terms: &[NearTerm], passages: &[StoredPassage]) -> Vec<NearWord> {
    let [QueryWord { word, .. }] = &query_words(word, 2)[..] else { return Vec::new() };
    let stemmer = Stemmer::create(Algorithm::English);
    let mut near: Vec<NearWord> = terms
        .iter()
        .map(|term| NearWord { word: String::new(), distance: usize::MAX, passages: term.passages })
        .collect();
    let mut consider = |form: &str| {
        let stemmed = stem(&stemmer, form);
        for (_, near) in terms.iter().zip(&mut near).filter(|(term, _)| term.term == stemmed) {
            let distance = osa_distance(word, form);
            if distance < near.distance {
                (near.word, near.distance) = (form.to_owned(), distance);
            }
        }
    };
    for passage in passages {
        Splitter::default().split(&passage.text, |form, piece| {
            if piece == Piece::Simple {
                consider(form);
            }
        });
    }
    for NearTerm { term, .. } in terms.iter().filter(|term| term.term.len() > SHORTEST_STEM) {
        ENDINGS.iter().for_each(|ending| consider(&format!("{term}{ending}")));
        let base = term.strip_suffix('i').into_iter();
        base.for_each(|base| ENDINGS_OF_Y.iter().for_each(|ending| consider(&format!("{base}{ending}"))));
    }
    near.retain(|near| near.distance <= edits_of(word.chars().count()));
    near
}

/// Matches the terms of the index whose words are within some edits of a beginning of another word.
struct NearBeginning {
    near: DfaWrapper,
    /// How many bytes such a word has.
    lengths: Range<usize>,
}

#[derive(Clone, Copy)]
enum Place {
    /// Within the word of a term, after so many bytes.
    Word(u32, usize),
    /// After the word, which is near.
    Namespace,
    Far,
}

impl Automaton for NearBeginning {
    type State = Place;

    fn start(&self) -> Place {
        Place::Word(self.near.start(), 0)
    }

    fn is_match(&self, place: &Place) -> bool {
        matches!(place, Place::Namespace)
    }

    fn can_match(&self, place: &Place) -> bool {
        !matches!(place, Place::Far)
    }

    fn accept(&self, place: &Place, byte: u8) -> Place {
        match *place {
            // What can still become the whole word is near one of its beginnings.
            Place::Word(_, length) if char::from(byte) == SEPARATOR => {
                if self.lengths.contains(&length) {
                    Place::Namespace
                } else {
                    Place::Far
                }
            }
            Place::Word(state, length) => {
                let next = self.near.accept(&state, byte);
                if self.near.can_match(&next) { Place::Word(next, length + 1) } else { Place::Far }
            }
            place => place,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_term_is_near_the_beginning_that_it_would_be_the_stem_of() {
        for (term, word, distance) in
            [("configur", "configuratoin", 0), ("mainten", "maintanance", 1), ("receiv", "recieve", 1), ("", "ab", 0)]
        {
            assert_eq!(distance_to_beginning(term, word), distance, "{term} {word}");
        }
    }
}
