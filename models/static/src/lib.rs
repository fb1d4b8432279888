//! The static embedding model of `tamis-embed`, as bytes: a table with a vector for each token, and the vocabulary that
//! numbers the tokens.
//!
//! The crate holds data alone, so that a new version of the code does not bring eight megabytes along. The README says where
//! both files come from and under which licence.
//!
//! ```
//! assert_eq!(tamis_model_static::VOCABULARY.lines().count(), 30_522);
//! assert!(tamis_model_static::TABLE.starts_with(b"TAMISTBL"));
//! ```
#![no_std]

/// The token table of `static-256`: 30,522 rows of 256 signed bytes. `tamis_embed::TokenTable` reads it.
pub static TABLE: &[u8] = include_bytes!("../static-256.bin");

/// The vocabulary of BERT base uncased, one token a line; a token's identifier is the number of its line, from 0.
pub static VOCABULARY: &str = include_str!("../vocab.txt");
