//! WordPiece tokens of the uncased BERT vocabulary, without a tokenizer file to parse at start.
//!
//! The steps and their order are those of BERT's `BasicTokenizer` and `WordpieceTokenizer` (Devlin et al., 2019) as the
//! Hugging Face `tokenizers` crate implements them, and the tests hold this module to that crate's output. Two
//! differences are meant: the names of special tokens that occur in a text, such as `[SEP]`, are text, and a limit on the
//! number of tokens stops reading instead of tokenizing everything first.

mod normalise;
mod vocabulary;

use std::sync::OnceLock;

use vocabulary::Vocabulary;
pub use vocabulary::VocabularyError;

/// Longest word, in characters, that is split into pieces; a longer one is one unknown token.
const LONGEST_WORD: usize = 100;

/// The vocabulary of BERT base uncased: 30,522 tokens, one a line, the line number being the identifier.
const UNCASED_VOCABULARY: &str = include_str!("../../models/vocab.txt");

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
    /// Builds the tokenizer from a vocabulary of one token a line.
    ///
    /// # Errors
    /// When the vocabulary has no `[UNK]`, or more tokens or bytes than the table's 32-bit numbers hold.
    pub fn new(vocabulary: &'static str) -> Result<Self, VocabularyError> {
        Ok(Self { vocabulary: Vocabulary::new(vocabulary)? })
    }

    /// The tokenizer of the built-in models, made on first use (about a millisecond) and shared.
    ///
    /// # Panics
    /// Never: the vocabulary is part of the crate.
    pub fn uncased_bert() -> &'static Self {
        static SHARED: OnceLock<WordPiece> = OnceLock::new();
        SHARED.get_or_init(|| Self::new(UNCASED_VOCABULARY).expect("the built-in vocabulary is whole"))
    }

    /// The identifiers of at most `limit` first tokens of a text, without `[CLS]` and `[SEP]`.
    #[must_use]
    pub fn tokenize(&self, text: &str, limit: usize) -> Vec<u32> {
        let mut ids = Vec::new();
        self.tokenize_into(text, limit, &mut ids);
        ids
    }

    /// Like [`tokenize`](Self::tokenize), into a buffer that is emptied first.
    pub fn tokenize_into(&self, text: &str, limit: usize, ids: &mut Vec<u32>) {
        ids.clear();
        normalise::for_each_word(text, |word| {
            self.vocabulary.split(word, LONGEST_WORD, ids);
            ids.len() < limit
        });
        ids.truncate(limit);
    }

    /// The identifier of a token, written as in the vocabulary (`##` before a continuation).
    #[must_use]
    pub fn id(&self, token: &str) -> Option<u32> {
        self.vocabulary.id(token)
    }

    /// The token of an identifier.
    #[must_use]
    pub fn token(&self, id: u32) -> Option<&str> {
        self.vocabulary.token(id)
    }

    /// The number of tokens in the vocabulary.
    #[must_use]
    pub fn size(&self) -> usize {
        self.vocabulary.size()
    }

    /// The identifier that stands for words that the vocabulary can not spell.
    #[must_use]
    pub fn unknown(&self) -> u32 {
        self.vocabulary.unknown()
    }
}

#[cfg(test)]
mod tests;
