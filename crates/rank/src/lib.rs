//! Orders the candidates of a hybrid search: pure functions from raw scores to one value per candidate.
//!
//! A hybrid search gathers candidates from two legs, a lexical one (BM25) and a semantic one (cosine similarity of vectors).
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
//! - [`AskedNames`] finds the names whose definitions a query asks for, and [`LiteralText`] a message and the text that makes it.
//!   [`put_first`] says which of these exact finds come before everything else.
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

mod adjustment;
mod age;
mod asked_names;
mod bare_text;
mod decay;
mod definition;
mod diversity;
mod empty_comment;
mod entries;
mod exact;
mod fusion;
mod hyphenated;
mod lean;
mod literal;
mod near_copies;
mod path_names;
mod phrasings;
mod proper_names;
mod recency;
mod relevance;
mod representative;
mod required;
mod role;

pub use adjustment::{Adjustment, LanguageFactors, LanguageMatch};
pub use asked_names::{AskedName, AskedNames, NameFit};
pub use bare_text::{is_heading_alone, is_preamble_alone, is_signature_alone};
pub use decay::Decay;
pub use definition::{QueryNames, USAGE_FACTOR, definition_factors};
pub use diversity::{diversified, jaccard};
pub use empty_comment::is_empty_comment;
pub use entries::{Entry, entries, entry_scores, entry_value};
pub use exact::{ExactFind, MOST_EXACT, put_first};
pub use fusion::{BackgroundEvidence, Evidence, Fusion, FusionError, order};
pub use lean::{LEAN_FACTOR, Lean};
pub use literal::{LiteralRun, LiteralText};
pub use near_copies::{NEAR_COPY, Shingles, near_copies};
pub use path_names::PathNames;
pub use phrasings::{Phrasing, ScoredPhrasing, best_scores, fuse_phrasings, merged_ranks};
pub use proper_names::ProperNames;
pub use recency::Recency;
pub use relevance::{
    Basis, ENTRY_FEATURES, EntryFeatures, EvidencePart, JOINT_FEATURES, JudgedEntry, LIST_FEATURES, QueryFeatures,
    Relevance, Shift, WeighedEvidence, joint_values, probability, relevance,
};
pub use representative::{NAMED, Standing, representative};
pub use required::{RequiredKind, RequiredTerm, RequiredTerms};
pub use role::{ROLE_FACTORS, lowered, role_factor};
