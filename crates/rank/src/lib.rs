//! Orders the candidates of a hybrid search: pure functions from raw scores to one value per candidate.
//!
//! A hybrid search gathers candidates from two retrievers, a lexical one (BM25) and a semantic one (cosine similarity of vectors).
//! Their scores have different scales, so something must turn each pair into one value to order by. [`Fusion`] does, and
//! keeps the evidence of relevance in that value, so that a cut can decide where relevance ends (see `tamis-cut`):
//!
//! ```
//! use tamis_rank::{Evidence, Fusion, order};
//!
//! let candidates = [
//!     Evidence { similarity: Some(0.31), bm25: Some(2.0) },
//!     Evidence { similarity: Some(0.74), bm25: Some(9.5) },
//!     Evidence { similarity: Some(0.70), bm25: Some(0.0) },
//! ];
//! let scores = Fusion::Convex { weight: 0.5 }.fuse(&candidates);
//! assert_eq!(order(&scores), [1, 2, 0]);
//! ```
//!
//! The other functions refine the order, each on its own:
//!
//! - [`Fusion::background`] computes the same value for a passage that has nothing to do with the query.
//! - [`Adjustment`] moves raw scores by language and age, before fusion.
//! - [`role_factor`] and [`definition_factors`] rank down text that tends to hide the answer: tests, copies, uses of a name.
//! - [`fuse_phrasings`] and [`merged_ranks`] merge the results of several phrasings of one query.
//! - [`RequiredTerms`] finds the identifiers, quotations and numbers of a query, which an answer must hold.
//! - [`AskedNames`] finds the names whose definitions a query asks for, and [`LiteralText`] a message and the text that makes it
//!   ([`pasted_message`] tells one that somebody pasted). [`put_first`] says which of these exact finds come before everything else.
//! - [`entries`] groups passages into what a person counts as one result, [`entry_scores`] adds what the other passages and the
//!   name of a file say ([`PathNames`]), and [`near_copies`] finds texts that repeat others.
//! - [`representative`] chooses the passage that stands for an entry, and [`is_empty_comment`] and its like find texts that say nothing
//!   by themselves.
//! - [`relevance()`] weighs all evidence on a list: whether it holds an answer, and how likely each entry is one. [`ProperNames`] finds the
//!   names in a query, and [`Shift`] learns from judgements how the odds of one collection differ.
//! - [`LEAN_FACTOR`] puts code before documentation where a question asks for code ([`Lean`]), and the other way round.
//! - [`Decay`] lowers the value of old memories, and [`diversified`] puts new information before repetition.
//!
//! There is no I/O, no clock and no randomness, so the crate works with the results of any search engine.

mod adjustments;
mod asked_names;
mod diversity;
mod entries;
mod fusion;
mod message;
mod near_copies;
mod proper_names;
mod query_names;
mod relevance;
mod required_terms;
mod uninformative;

pub use adjustments::{Adjustment, Decay, LanguageFactors, LanguageMatch, ROLE_FACTORS, Recency, lowered, role_factor};
pub use asked_names::{AskedName, AskedNames, ExactFind, MOST_EXACT, NameFit, put_first};
pub use diversity::{diversified, jaccard};
pub use entries::{Entry, NAMED, PathNames, Standing, entries, entry_scores, entry_value, representative};
pub use fusion::{
    BackgroundEvidence, CODE_WEIGHT, Evidence, Fusion, FusionError, INTENT_WEIGHT, PATHS_WEIGHT, Phrasing,
    ScoredPhrasing, best_scores, fuse_phrasings, merged_ranks, order,
};
pub use message::{LiteralRun, LiteralText, pasted_message, says_failure};
pub use near_copies::{NEAR_COPY, Shingles, near_copies};
pub use proper_names::ProperNames;
pub use query_names::{QueryNames, USAGE_FACTOR, definition_factors, last_part};
pub use relevance::{
    Basis, ENTRY_FEATURES, EntryFeatures, EvidencePart, JOINT_FEATURES, JudgedEntry, LIST_FEATURES, Matches,
    QueryFeatures, Relevance, Shift, TextKind, WeighedEvidence, joint_values, probability, relevance,
};
pub use required_terms::{RequiredKind, RequiredTerm, RequiredTerms};
pub use uninformative::{LEAN_FACTOR, Lean, is_empty_comment, is_heading_alone, is_preamble_alone, is_signature_alone};
