//! Turning words into terms, and finding them in a text. Words are stemmed, except whole identifiers in code. A query looks for both forms.

use std::collections::HashMap;
use std::ops::Range;

use rust_stemmers::{Algorithm, Stemmer};
use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

use super::tokenizer::{Piece, Splitter, end_of_hyphenated, is_unspaced, is_word};
use crate::record::TextForm;
use crate::retrieval::TermStatistics;

/// Stands between a word and the number of its namespace. No word holds it.
pub(crate) const SEPARATOR: char = '\u{3}';
/// Follows each word in a field's value. No word holds it.
const TERM_END: char = ' ';

/// Changes when a passage gives other terms than before, so that indexes are rebuilt.
pub(crate) const ANALYSIS_VERSION: u32 = 5;

/// The term of a word in a namespace, which gives each namespace its own postings and document frequencies. The terms of a word
/// follow each other in the order of their namespaces.
pub(crate) fn term_of(word: &str, namespace: u32) -> String {
    format!("{word}{SEPARATOR}{namespace:08x}")
}

/// The word and the namespace of a term.
pub(crate) fn parts_of(term: &str) -> Option<(&str, u32)> {
    let (word, namespace) = term.rsplit_once(SEPARATOR)?;
    Some((word, u32::from_str_radix(namespace, 16).ok()?))
}

/// Turns the texts of passages into values of the index's fields: an empty word in the namespace, then the words. Code and prose share a
/// field, so that they share one average length, and a word one document frequency.
pub(crate) struct Analyzer {
    stemmer: Stemmer,
    /// The stems of earlier words. Texts repeat their words, and this makes indexing half again as fast.
    stems: HashMap<String, Box<str>>,
    splitter: Splitter,
    text: String,
}

/// Most words kept with their stems. Further words are stemmed each time.
const REMEMBERED_STEMS: usize = 1 << 16;

impl Default for Analyzer {
    fn default() -> Analyzer {
        Analyzer {
            stemmer: Stemmer::create(Algorithm::English),
            stems: HashMap::new(),
            splitter: Splitter::default(),
            text: String::new(),
        }
    }
}

impl Analyzer {
    /// Returns a field's value and its number of terms.
    pub(crate) fn value<'t>(
        &mut self,
        namespace: u32,
        form: TextForm,
        texts: impl Iterator<Item = &'t str>,
    ) -> (String, u64) {
        let mut value = term_of("", namespace);
        value.push(TERM_END);
        let mut count = 0;
        self.terms(form, texts, |term| {
            value.push_str(term);
            value.push(TERM_END);
            count += 1;
        });
        (value, count)
    }

    /// Passes the terms of a field on in order.
    pub(crate) fn terms<'t>(
        &mut self,
        form: TextForm,
        texts: impl Iterator<Item = &'t str>,
        mut each: impl FnMut(&str),
    ) {
        let Analyzer { stemmer, stems, splitter, text } = self;
        text.clear();
        for part in texts {
            text.push_str(part);
            text.push(' ');
        }
        splitter.split(text, |word, piece| match (form, piece) {
            // A whole identifier in code keeps its spelling.
            (TextForm::Code, Piece::Compound) => each(word),
            _ => match stems.get(word) {
                Some(stem) => each(stem),
                None => {
                    let stem = stem(stemmer, word);
                    each(&stem);
                    if stems.len() < REMEMBERED_STEMS {
                        stems.insert(word.to_owned(), stem.into());
                    }
                }
            },
        });
    }
}

/// A word of a query, with its possible terms in the index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct QueryWord {
    /// The word in lower case, the term of a whole identifier in code.
    pub(crate) word: String,
    /// The stem, if it differs: the term everywhere else.
    pub(crate) stem: Option<String>,
    /// True if its parts are words of the query too.
    pub(crate) compound: bool,
}

impl QueryWord {
    /// Its possible terms in an index.
    pub(crate) fn forms(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.word.as_str()).chain(self.stem.as_deref())
    }
}

/// The words of a query, each once, at most `limit`.
pub(crate) fn query_words(text: &str, limit: usize) -> Vec<QueryWord> {
    let stemmer = Stemmer::create(Algorithm::English);
    let mut seen = HashMap::<String, usize>::new();
    let mut words: Vec<QueryWord> = Vec::new();
    Splitter::default().split(text, |word, piece| {
        let compound = piece == Piece::Compound;
        if let Some(&place) = seen.get(word) {
            words[place].compound &= compound;
            return;
        }
        if words.len() == limit {
            return;
        }
        seen.insert(word.to_owned(), words.len());
        let stem = stem(&stemmer, word);
        words.push(QueryWord { word: word.to_owned(), stem: (stem != word).then(|| stem.into_owned()), compound });
    });
    // Function words carry no subject in a question, but in code and terse documents some are rare enough to outweigh those
    // that do: "why" would find pages with that title. A query of function words alone is searched unchanged.
    if words.iter().any(|word| !word.compound && !is_function_word(&word.word)) {
        words.retain(|word| !is_function_word(&word.word));
    }
    words
}

/// The terms of the words of a text, function words too, each once, at most `limit`. An identifier counts by its parts.
pub(crate) fn text_terms(text: &str, limit: usize) -> Vec<String> {
    let stemmer = Stemmer::create(Algorithm::English);
    let mut terms: Vec<String> = Vec::new();
    Splitter::default().split(text, |word, piece| {
        if piece == Piece::Simple && terms.len() < limit {
            let term = stem(&stemmer, word);
            if !terms.iter().any(|known| *known == term) {
                terms.push(term.into_owned());
            }
        }
    });
    terms
}

/// English function words: articles, pronouns, auxiliaries, prepositions, conjunctions and question words.
const FUNCTION_WORDS: &[&str] = &[
    "a", "about", "am", "an", "and", "any", "are", "as", "at", "be", "been", "being", "but", "by", "can", "could",
    "did", "do", "does", "for", "from", "had", "has", "have", "he", "her", "him", "his", "how", "i", "if", "in",
    "into", "is", "it", "its", "may", "me", "might", "must", "my", "no", "not", "of", "on", "or", "our", "shall",
    "she", "should", "so", "some", "such", "than", "that", "the", "their", "them", "then", "there", "these", "they",
    "this", "those", "to", "us", "was", "we", "were", "what", "when", "where", "which", "while", "who", "whom",
    "whose", "why", "will", "with", "would", "you", "your",
];

/// Returns `true` for an English word that carries no subject, in lower case. A query of such words alone is searched by them.
pub fn is_function_word(word: &str) -> bool {
    FUNCTION_WORDS.binary_search(&word).is_ok()
}

/// The stem of an English word. Questions use other forms than texts and names ("retries", "gracefully").
pub(crate) fn stem<'w>(stemmer: &Stemmer, word: &'w str) -> std::borrow::Cow<'w, str> {
    // The English rules apply to English letters.
    if word.len() > 2 && word.bytes().all(|byte| byte.is_ascii_lowercase()) { stemmer.stem(word) } else { word.into() }
}

/// The tokenizer of the index, which reads the values that the [`Analyzer`] wrote.
#[derive(Clone, Default)]
pub(crate) struct TermTokenizer {
    token: Token,
}

impl Tokenizer for TermTokenizer {
    type TokenStream<'a> = Terms<'a>;

    fn token_stream<'a>(&'a mut self, value: &'a str) -> Terms<'a> {
        self.token.reset();
        let (namespace, rest) = value.split_once(TERM_END).unwrap_or_default();
        Terms { namespace, rest, next: 0, token: &mut self.token }
    }
}

/// The terms of one field of one passage.
pub(crate) struct Terms<'a> {
    /// The end of each token.
    namespace: &'a str,
    rest: &'a str,
    next: usize,
    token: &'a mut Token,
}

impl TokenStream for Terms<'_> {
    fn advance(&mut self) -> bool {
        let Some((term, rest)) = self.rest.split_once(TERM_END) else {
            return false;
        };
        self.rest = rest;
        self.token.text.clear();
        self.token.text.push_str(term);
        self.token.text.push_str(self.namespace);
        self.token.position = self.next;
        self.next += 1;
        true
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}

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
    /// Makes a highlighter for the terms that [`lexical`](crate::LexicalRetriever::lexical) returned. Words in half of all passages are
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

    /// Returns the words of the query in a text, in order and without overlap. An identifier is marked whole if one of its parts is a
    /// word of the query, and a hyphenated one if the query has it as a whole. In scripts without spaces, pairs of characters are
    /// marked.
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

    fn terms(form: TextForm, text: &str) -> Vec<String> {
        let (value, count) = Analyzer::default().value(0x1f, form, [text].into_iter());
        let mut tokenizer = TermTokenizer::default();
        let mut stream = tokenizer.token_stream(&value);
        let mut terms = Vec::new();
        while stream.advance() {
            let (word, namespace) = parts_of(&stream.token().text).expect("each term is of a namespace");
            assert_eq!((term_of(word, namespace), namespace), (stream.token().text.clone(), 0x1f));
            terms.push(word.to_owned());
        }
        assert_eq!(terms.len() as u64, count);
        terms
    }

    #[test]
    fn words_are_stemmed_and_whole_identifiers_of_code_are_not() {
        for form in [TextForm::Prose, TextForm::Code] {
            assert_eq!(terms(form, "Parsing the configurations"), ["pars", "the", "configur"]);
        }
        assert_eq!(terms(TextForm::Code, "parsingStates"), ["parsingstates", "pars", "state"]);
        assert_eq!(terms(TextForm::Prose, "parsingStates"), ["parsingst", "pars", "state"]);
    }

    #[test]
    fn identifiers_in_prose_are_found_by_their_parts() {
        assert_eq!(terms(TextForm::Prose, "call `parse_config`"), ["call", "parseconfig", "pars", "config"]);
        assert_eq!(terms(TextForm::Prose, "call `parse-config`"), ["call", "parseconfig", "pars", "config"]);
    }

    #[test]
    fn what_a_query_looks_for_is_what_either_form_holds() {
        for text in
            ["Indexes rebuilt", "Get-ChildItems --dry-run", "parseConfigs(utf8)", "全文 naïve", "x86_64 HTTPServers"]
        {
            let words = query_words(text, 100);
            let stem = |word: &'_ QueryWord| word.stem.clone().unwrap_or_else(|| word.word.clone());
            let code = words.iter().map(|word| if word.compound { word.word.clone() } else { stem(word) });
            let code: Vec<String> = code.collect();
            let prose: Vec<String> = words.iter().map(stem).collect();
            assert_eq!(terms(TextForm::Code, text), code);
            assert_eq!(terms(TextForm::Prose, text), prose);
        }
    }

    #[test]
    fn function_words_count_only_where_there_are_no_others() {
        let words = |text| query_words(text, 100).into_iter().map(|word| word.word).collect::<Vec<_>>();
        assert!(FUNCTION_WORDS.is_sorted());
        assert_eq!(words("How is flour milled?"), ["flour", "milled"]);
        assert_eq!(words("how is it"), ["how", "is", "it"]);
        assert_eq!(words("is_empty"), ["isempty", "empty"]);
        assert_eq!(words("do_while"), ["dowhile", "do", "while"], "parts make the coverage");
    }

    #[test]
    fn a_query_has_each_word_once_and_no_more_than_allowed() {
        let words = query_words("to be or not to be", 100);
        assert_eq!(words.len(), 4);
        assert_eq!(query_words("one two three four", 2).len(), 2);
        assert!(query_words("parseConfig", 9)[0].compound && !query_words("parseConfig parseconfig", 9)[0].compound);
    }

    fn marked<'t>(query: &[&str], text: &'t str, form: TextForm) -> Vec<&'t str> {
        let one =
            |term: &&str| TermStatistics { term: (*term).into(), document_frequency: 1, idf: 3.0, compound: false };
        let terms: Vec<TermStatistics> = query.iter().map(one).collect();
        let marks = Highlighter::new(&terms, 100).find(text, form);
        marks.into_iter().map(|mark| &text[mark.range]).collect()
    }

    #[test]
    fn identifiers_stems_and_scripts_without_spaces() {
        assert_eq!(marked(&["config"], "let c = parse_config(path);", TextForm::Code), ["parse_config"]);
        let found = marked(&["index"], "Indexes are rebuilt; indexing is quick.", TextForm::Prose);
        assert_eq!(found, ["Indexes", "indexing"]);
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
