//! Words to terms: code keeps words as they are, prose stems them. A query looks for both.

use rust_stemmers::{Algorithm, Stemmer};
use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

use super::words::{Piece, Splitter};
use crate::record::TextForm;

/// The first character of a field's value says how the rest is read, so that code and prose share one field: one
/// average length, and one document frequency for what is one word.
const PROSE: char = '\u{2}';
const CODE: char = '\u{1}';

/// Changes whenever the same text gives other terms: the index is then rebuilt.
pub(super) const ANALYSIS_VERSION: u32 = 1;

/// A field's value, marked with its form.
pub(super) fn marked<'t>(form: TextForm, texts: impl Iterator<Item = &'t str>) -> String {
    let mut value = String::from(match form {
        TextForm::Prose => PROSE,
        TextForm::Code => CODE,
    });
    for text in texts {
        value.push_str(text);
        value.push(' ');
    }
    value
}

/// A word of a query and the terms it may stand as in the index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct QueryWord {
    /// The word in lower case, as code has it.
    pub(super) word: String,
    /// The word as prose has it, where that is another.
    pub(super) stem: Option<String>,
    /// Whether its parts are words of the query as well.
    pub(super) compound: bool,
}

/// The words of a query, each once, at most `limit`.
pub(super) fn query_words(text: &str, limit: usize) -> Vec<QueryWord> {
    let stemmer = Stemmer::create(Algorithm::English);
    let mut seen = std::collections::HashMap::<String, usize>::new();
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
    // In a question they carry no subject, yet in code and terse documents some are rare enough to outweigh those that
    // do: "why" would find the pages called so. A query of nothing else is searched as it is.
    if words.iter().any(|word| !word.compound && !is_function_word(&word.word)) {
        words.retain(|word| !is_function_word(&word.word));
    }
    words
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

fn is_function_word(word: &str) -> bool {
    FUNCTION_WORDS.binary_search(&word).is_ok()
}

pub(super) fn stem<'w>(stemmer: &Stemmer, word: &'w str) -> std::borrow::Cow<'w, str> {
    // The English rules are for letters that English has.
    if word.len() > 2 && word.bytes().all(|byte| byte.is_ascii_lowercase()) { stemmer.stem(word) } else { word.into() }
}

/// The tokenizer that the index runs on each passage's fields.
#[derive(Clone)]
pub(super) struct PassageTokenizer {
    stemmer: std::sync::Arc<Stemmer>,
    splitter: Splitter,
    terms: String,
    ends: Vec<usize>,
    token: Token,
}

impl Default for PassageTokenizer {
    fn default() -> PassageTokenizer {
        PassageTokenizer {
            stemmer: std::sync::Arc::new(Stemmer::create(Algorithm::English)),
            splitter: Splitter::default(),
            terms: String::new(),
            ends: Vec::new(),
            token: Token::default(),
        }
    }
}

impl Tokenizer for PassageTokenizer {
    type TokenStream<'a> = PassageTokens<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> PassageTokens<'a> {
        let PassageTokenizer { stemmer, splitter, terms, ends, token } = self;
        terms.clear();
        ends.clear();
        token.reset();
        let (prose, text) = match text.strip_prefix(PROSE) {
            Some(text) => (true, text),
            None => (false, text.strip_prefix(CODE).unwrap_or(text)),
        };
        splitter.split(text, |word, _| {
            if prose {
                terms.push_str(&stem(stemmer, word));
            } else {
                terms.push_str(word);
            }
            ends.push(terms.len());
        });
        PassageTokens { terms, ends, next: 0, token }
    }
}

/// The terms of one field of one passage.
pub(super) struct PassageTokens<'a> {
    terms: &'a str,
    ends: &'a [usize],
    next: usize,
    token: &'a mut Token,
}

impl TokenStream for PassageTokens<'_> {
    fn advance(&mut self) -> bool {
        let Some(&end) = self.ends.get(self.next) else {
            return false;
        };
        let start = self.next.checked_sub(1).map_or(0, |previous| self.ends[previous]);
        self.token.text.clear();
        self.token.text.push_str(&self.terms[start..end]);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(form: TextForm, text: &str) -> Vec<String> {
        let mut tokenizer = PassageTokenizer::default();
        let value = marked(form, [text].into_iter());
        let mut stream = tokenizer.token_stream(&value);
        let mut terms = Vec::new();
        while stream.advance() {
            terms.push(stream.token().text.clone());
        }
        terms
    }

    #[test]
    fn prose_is_stemmed_and_code_is_not() {
        assert_eq!(terms(TextForm::Prose, "Parsing the configurations"), ["pars", "the", "configur"]);
        assert_eq!(terms(TextForm::Code, "Parsing the configurations"), ["parsing", "the", "configurations"]);
    }

    #[test]
    fn identifiers_in_prose_are_found_by_their_parts() {
        assert_eq!(terms(TextForm::Prose, "call `parse_config`"), ["call", "parseconfig", "pars", "config"]);
    }

    #[test]
    fn what_a_query_looks_for_is_what_either_form_holds() {
        for text in ["Indexes rebuilt", "parseConfigs(utf8)", "全文 naïve", "x86_64 HTTPServers"] {
            let words = query_words(text, 100);
            let code: Vec<&str> = words.iter().map(|word| word.word.as_str()).collect();
            let prose: Vec<&str> = words.iter().map(|word| word.stem.as_deref().unwrap_or(&word.word)).collect();
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
        assert!(query_words("parseConfig", 9)[0].compound);
        assert!(!query_words("parseConfig parseconfig", 9)[0].compound);
    }
}
