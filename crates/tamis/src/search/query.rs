//! What is asked: parsed and checked before anything is read.

use super::aim::Aim;
use crate::Error;
use serde::Serialize;
use std::fmt;
use std::str::FromStr;
use tamis_cut::{Guarantee, Rule, Want};

/// The legs that gather candidates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Words and vectors.
    #[default]
    Hybrid,
    /// Words alone.
    Lexical,
    /// Vectors alone.
    Semantic,
}

impl Mode {
    /// All modes by name.
    pub const NAMES: [&str; 3] = ["hybrid", "lexical", "semantic"];

    /// Whether the lexical leg takes part.
    pub fn lexical(self) -> bool {
        self != Mode::Semantic
    }

    /// Whether the semantic leg takes part.
    pub fn semantic(self) -> bool {
        self != Mode::Lexical
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Mode::Hybrid => "hybrid",
            Mode::Lexical => "lexical",
            Mode::Semantic => "semantic",
        })
    }
}

impl FromStr for Mode {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        match name {
            "hybrid" => Ok(Mode::Hybrid),
            "lexical" => Ok(Mode::Lexical),
            "semantic" => Ok(Mode::Semantic),
            other => Err(Error::argument("mode", format!("{other:?}"), "one of hybrid, lexical, semantic")),
        }
    }
}

/// One question to the index. [`SearchRequest::new`] asks with the configuration's own settings.
#[derive(Clone, Debug, Default)]
pub struct SearchRequest {
    /// The question.
    pub query: String,
    /// Most results shown, 1 to 1000; it only shortens what the cut has decided. `None`: `search.top_k`.
    pub limit: Option<usize>,
    /// Another cut than the configuration's.
    pub cut: Option<Box<dyn Rule>>,
    /// How much is wanted, which sets the strictness of a cut that has one over its own parameter. `None`: `search.want`.
    pub want: Option<Want>,
    /// What the cut is to aim at, over its own parameters.
    pub aim: Aim,
    /// A promise that the cut must keep, calibrated on judged queries, in place of what the cut would keep and of the gate.
    /// `None`: `search.guarantee`.
    pub guarantee: Option<Guarantee>,
    /// Another mode than the configuration's.
    pub mode: Option<Mode>,
    /// Only these languages, by canonical name; empty: all.
    pub languages: Vec<String>,
    /// Only these collections; empty: all.
    pub collections: Vec<String>,
    /// Only paths that match one of these globs; empty: all.
    pub paths: Vec<String>,
    /// Whether the whole pool comes with the answer.
    pub explain: bool,
    /// Lines of a snippet; `None`: `search.snippet_lines`.
    pub snippet_lines: Option<usize>,
    /// Where the search comes from, as it is recorded; `None`: `library`.
    pub entry_point: Option<String>,
}

impl SearchRequest {
    /// A question with the configuration's settings.
    pub fn new(query: impl Into<String>) -> Self {
        SearchRequest { query: query.into(), ..SearchRequest::default() }
    }

    /// Checks what the types do not.
    ///
    /// # Errors
    /// An empty query or a limit out of range, with what is allowed.
    pub fn check(&self) -> Result<(), Error> {
        if self.query.trim().is_empty() {
            return Err(Error::argument("query", "\"\"", "a question or some words"));
        }
        match self.limit {
            Some(limit) if !(1..=1000).contains(&limit) => {
                Err(Error::argument("limit", limit.to_string(), "1 to 1000"))
            }
            _ => Ok(()),
        }
    }
}
