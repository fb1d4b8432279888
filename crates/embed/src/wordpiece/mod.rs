//! WordPiece tokens of the uncased BERT vocabulary, without a tokenizer file to parse at start.
//!
//! The steps and their order are those of BERT's `BasicTokenizer` and `WordpieceTokenizer` (Devlin et al., 2019) as the
//! Hugging Face `tokenizers` crate implements them, and the tests hold this module to that crate's output. It differs in
//! two points on purpose: the names of special tokens that occur in a text, such as `[SEP]`, are text, and a limit on the
//! number of tokens stops reading instead of tokenizing everything first.
//!
//! [`WordPiece::words`] divides the names of code before that, and [`WordPiece::bag`] also finds tokens for Chinese, Japanese and Korean.

#[cfg(test)]
mod tests;
mod vocabulary;
mod words;

use std::sync::OnceLock;

use vocabulary::Vocabulary;
use words::{Shape, for_each_part};

pub use vocabulary::VocabularyError;

/// The longest word, in characters, that is split into pieces. A longer one is one unknown token.
const LONGEST_WORD: usize = 100;

/// A tokenizer for one uncased WordPiece vocabulary.
///
/// ```
/// let tokenizer = tamis_embed::WordPiece::uncased_bert();
/// let ids = tokenizer.tokenize("Unaffable!", usize::MAX);
/// let tokens: Vec<_> = ids.iter().map(|&id| tokenizer.token(id)).collect();
/// assert_eq!(tokens, [Some("una"), Some("##ffa"), Some("##ble"), Some("!")]);
/// ```
#[derive(Debug)]
pub struct WordPiece {
    vocabulary: Vocabulary,
}

impl WordPiece {
    /// Builds a tokenizer from a vocabulary of one token a line.
    ///
    /// # Errors
    /// The vocabulary lacks `[UNK]`, or it has more bytes than 32-bit positions address.
    pub fn new(vocabulary: &'static str) -> Result<Self, VocabularyError> {
        Ok(Self { vocabulary: Vocabulary::new(vocabulary)? })
    }

    /// Returns the shared tokenizer of the built-in models, made on first use in about a millisecond.
    ///
    /// # Panics
    /// Never: the vocabulary comes with the crate.
    pub fn uncased_bert() -> &'static Self {
        static SHARED: OnceLock<WordPiece> = OnceLock::new();
        SHARED.get_or_init(|| Self::new(tamis_model_static::VOCABULARY).expect("the built-in vocabulary is whole"))
    }

    /// Returns the identifiers of a text's tokens, at most the first `limit`, without `[CLS]` and `[SEP]`.
    #[must_use]
    pub fn tokenize(&self, text: &str, limit: usize) -> Vec<u32> {
        let mut ids = Vec::new();
        self.tokenize_into(text, limit, &mut ids);
        ids
    }

    /// Does the same as [`tokenize`](Self::tokenize), into a buffer that is emptied first.
    pub fn tokenize_into(&self, text: &str, limit: usize, ids: &mut Vec<u32>) {
        ids.clear();
        words::for_each_word(text, |word, _| {
            self.vocabulary.split(word, LONGEST_WORD, ids);
            ids.len() < limit
        });
        ids.truncate(limit);
    }

    /// Does the same after dividing the names of code into their words, as `getHTTPResponse` into `get`, `http` and `response`.
    /// A name that the vocabulary has as a whole, such as `YouTube`, stays whole.
    ///
    /// ```
    /// let tokenizer = tamis_embed::WordPiece::uncased_bert();
    /// let mut ids = Vec::new();
    /// tokenizer.words("HTTPServer of YouTube", usize::MAX, &mut ids);
    /// let tokens: Vec<_> = ids.iter().filter_map(|&id| tokenizer.token(id)).collect();
    /// assert_eq!(tokens, ["http", "server", "of", "youtube"]);
    /// ```
    pub fn words(&self, text: &str, limit: usize, ids: &mut Vec<u32>) {
        ids.clear();
        self.append_words(text, limit, ids);
        ids.truncate(limit);
    }

    /// Returns the tokens of a model that disregards their order: those of [`words`](Self::words), except that Chinese, Japanese and Korean
    /// characters, and pairs of them, that the vocabulary lacks have tokens too: those that BERT left unused, by a hash.
    pub fn bag(&self, text: &str, ids: &mut Vec<u32>) {
        ids.clear();
        let mut rest = text;
        while let Some(start) = rest.find(words::is_cjk) {
            self.append_words(&rest[..start], usize::MAX, ids);
            rest = &rest[start..];
            let end = rest.find(|c| !words::is_cjk(c)).unwrap_or(rest.len());
            words::tokens(&rest[..end], |c| self.vocabulary.whole(c.encode_utf8(&mut [0; 4])), ids);
            rest = &rest[end..];
        }
        self.append_words(rest, usize::MAX, ids);
        ids.retain(|&id| id != self.vocabulary.unknown());
    }

    /// Returns a text with the names of code divided as [`words`](Self::words) does, for a model with a tokenizer of its own; at most
    /// its first `limit` tokens. Everything else stays as it is. O(its length).
    ///
    /// ```
    /// let tokenizer = tamis_embed::WordPiece::uncased_bert();
    /// assert_eq!(tokenizer.divided("fn parseHTTP_header() // YouTube", 99), "fn parse HTTP header() // YouTube");
    /// assert_eq!(tokenizer.divided("one, two, three", 3), "one, two");
    /// ```
    #[must_use]
    pub fn divided(&self, text: &str, limit: usize) -> String {
        let mut divided = String::with_capacity(text.len() + text.len() / 8);
        let (mut ids, mut rest) = (Vec::new(), text);
        while let Some(first) = rest.chars().next() {
            let end = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
            let (word, after) = rest.split_at(if end == 0 { first.len_utf8() } else { end });
            if end > 0 {
                let lower = word.to_lowercase();
                let mut shape = Shape::default();
                word.char_indices().for_each(|(at, c)| shape.push(at, c.is_uppercase(), c.is_numeric()));
                let starts = if self.vocabulary.whole(&lower).is_some() { 0 } else { shape.starts(word.len()) };
                let before = divided.len();
                for_each_part(word, starts, |part| {
                    self.vocabulary.split(&part.to_lowercase(), LONGEST_WORD, &mut ids);
                    divided.push_str(if divided.len() > before { " " } else { "" });
                    divided.push_str(part);
                });
                if ids.len() > limit {
                    divided.truncate(before);
                    break;
                }
            } else if first == '_' {
                divided.push(' ');
            } else {
                // A mark is a token of its own.
                if !first.is_whitespace() {
                    if ids.len() == limit {
                        break;
                    }
                    ids.push(0);
                }
                divided.push(first);
            }
            rest = after;
        }
        divided.truncate(divided.trim_end().len());
        divided
    }

    fn append_words(&self, text: &str, limit: usize, ids: &mut Vec<u32>) {
        words::for_each_word(text, |word, shape| {
            let starts = shape.starts(word.len());
            match if starts == 0 { None } else { self.vocabulary.whole(word) } {
                Some(id) => ids.push(id),
                None => for_each_part(word, starts, |part| {
                    self.vocabulary.split(part, LONGEST_WORD, ids);
                }),
            }
            ids.len() < limit
        });
    }

    /// Returns the identifier of a token, written as in the vocabulary (`##` before a continuation).
    #[must_use]
    pub fn id(&self, token: &str) -> Option<u32> {
        self.vocabulary.id(token)
    }

    /// Returns the token of an identifier.
    #[must_use]
    pub fn token(&self, id: u32) -> Option<&str> {
        self.vocabulary.token(id)
    }

    /// Returns the number of tokens in the vocabulary.
    #[must_use]
    pub fn size(&self) -> usize {
        self.vocabulary.size()
    }

    /// Returns the identifier that stands for words the vocabulary cannot spell.
    #[must_use]
    pub fn unknown(&self) -> u32 {
        self.vocabulary.unknown()
    }
}
