//! Finding a query's words in a text, in all forms that the lexical leg matches.

use std::collections::HashMap;
use std::ops::Range;

use rust_stemmers::{Algorithm, Stemmer};

use super::analysis::stem;
use super::identifiers::{Piece, Splitter, end_of_hyphenated, is_unspaced, is_word};
use crate::hits::TermStatistics;
use crate::record::TextForm;

/// A word of the query in a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Mark {
    /// Its range in bytes.
    pub range: Range<usize>,
    /// The position of its term in the query's terms.
    pub term: usize,
    /// Its weight.
    pub idf: f64,
}

/// Finds a query's words in texts.
pub struct Highlighter {
    stemmer: Stemmer,
    words: HashMap<String, (usize, f64)>,
    stems: HashMap<String, (usize, f64)>,
}

impl Highlighter {
    /// Makes a highlighter for the terms that [`lexical`](crate::LexicalLeg::lexical) returned. Words in half of all passages are
    /// ignored.
    #[must_use]
    pub fn new(terms: &[TermStatistics], passages: u64) -> Highlighter {
        let stemmer = Stemmer::create(Algorithm::English);
        let (mut words, mut stems) = (HashMap::new(), HashMap::new());
        for (place, term) in terms.iter().enumerate() {
            if term.document_frequency * 2 <= passages {
                let worth = (place, f64::from(term.idf));
                stems.insert(stem(&stemmer, &term.term).into_owned(), worth);
                words.insert(term.term.clone(), worth);
            }
        }
        Highlighter { stemmer, words, stems }
    }

    /// Returns the words of the query in a text, in order and without overlap. An identifier is marked whole if one of
    /// its parts is a word of the query, and a hyphenated one if the query has it as a whole. In scripts without spaces, pairs of characters are marked.
    #[must_use]
    pub fn find(&self, text: &str, form: TextForm) -> Vec<Mark> {
        let mut splitter = Splitter::default();
        let mut marks: Vec<Mark> = Vec::new();
        let worth = |word: &str, piece: Piece| match (form, piece) {
            (TextForm::Code, Piece::Compound) => self.words.get(word).copied(),
            _ => self.stems.get(&*stem(&self.stemmer, word)).copied(),
        };
        // The end of the hyphenated name that the run is in, and whether the name is marked.
        let (mut end, mut is_marked) = (0, false);
        for range in runs(text) {
            if range.start >= end {
                end = end_of_hyphenated(text, range.end);
                let mut whole: Option<(usize, f64)> = None;
                if end > range.end {
                    let mut words = 0;
                    splitter.split(&text[range.start..end], |word, piece| {
                        if words == 0 && piece == Piece::Compound {
                            whole = worth(word, piece);
                        }
                        words += 1;
                    });
                }
                is_marked = whole.is_some();
                if let Some((term, idf)) = whole {
                    marks.push(Mark { range: range.start..end, term, idf });
                }
            }
            if is_marked && range.start < end {
                continue;
            }
            let mut best: Option<(usize, f64)> = None;
            splitter.split(&text[range.clone()], |word, piece| {
                if let Some((term, idf)) = worth(word, piece)
                    && best.is_none_or(|(_, highest)| idf > highest)
                {
                    best = Some((term, idf));
                }
            });
            if let Some((term, idf)) = best {
                match marks.last_mut() {
                    Some(last) if last.range.end > range.start => last.range.end = range.end,
                    _ => marks.push(Mark { range, term, idf }),
                }
            }
        }
        marks
    }
}

/// Runs of word characters; in scripts without spaces, every pair of characters.
fn runs(text: &str) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    let mut previous: Option<(bool, usize)> = None;
    for (at, character) in text.char_indices() {
        let end = at + character.len_utf8();
        let unspaced = is_unspaced(character);
        if !unspaced && !is_word(character) {
            previous = None;
            continue;
        }
        match (previous, runs.last_mut()) {
            (Some((false, _)), Some(last)) if !unspaced => last.end = end,
            (Some((true, before)), Some(last)) if unspaced => {
                if last.end - last.start == at - before {
                    last.end = end;
                } else {
                    runs.push(before..end);
                }
            }
            _ => runs.push(at..end),
        }
        previous = Some((unspaced, at));
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked<'t>(query: &[&str], text: &'t str, form: TextForm) -> Vec<&'t str> {
        let terms: Vec<TermStatistics> = query
            .iter()
            .map(|term| TermStatistics { term: (*term).into(), document_frequency: 1, idf: 3.0, compound: false })
            .collect();
        let marks = Highlighter::new(&terms, 100).find(text, form);
        marks.into_iter().map(|mark| &text[mark.range]).collect()
    }

    #[test]
    fn identifiers_stems_and_scripts_without_spaces() {
        assert_eq!(marked(&["config"], "let c = parse_config(path);", TextForm::Code), ["parse_config"]);
        assert_eq!(
            marked(&["index"], "Indexes are rebuilt; indexing is quick.", TextForm::Prose),
            ["Indexes", "indexing"]
        );
        assert_eq!(marked(&["retries"], "with_retry(3)", TextForm::Code), ["with_retry"]);
        assert_eq!(marked(&["parsestates"], "parse_state()", TextForm::Code), Vec::<&str>::new(), "another identifier");
        let whole = ["dryrun", "dry", "run"];
        assert_eq!(marked(&whole, "with --dry-run, run it", TextForm::Code), ["dry-run", "run"]);
        assert_eq!(marked(&["run"], "with --dry-run, run it", TextForm::Prose), ["run", "run"]);
        assert_eq!(marked(&["全文", "文検"], "日本語の全文検索です", TextForm::Prose), ["全文検"]);
        assert_eq!(marked(&["naive"], "a naïve sieve", TextForm::Prose), ["naïve"]);
    }

    #[test]
    fn frequent_words_are_not_marked() {
        let term = TermStatistics { term: "the".into(), document_frequency: 90, idf: 0.1, compound: false };
        assert!(Highlighter::new(&[term], 100).find("the sieve", TextForm::Prose).is_empty());
    }
}
