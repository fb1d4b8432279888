//! Ordering candidates: pure functions from evidence to scores.
//!
//! A search gathers candidates from two legs, lexical (BM25) and semantic (cosine similarity of vectors). This crate
//! turns the two raw scores of every candidate into one value to order by ([`Fusion`]), says what that value is for
//! a passage that has nothing to do with the query ([`Fusion::background`]), and ranks down what tends to drown the
//! answer ([`RolePrior`], [`DefinitionPrior`]). [`Adjustment`] moves candidates by language and age, [`Phrasing`] merges the rankings of several
//! phrasings of one need. Of memories, [`Decay`] lets what is old fade, and
//! [`diversified`] puts what says something new before what repeats. Where relevance ends is not decided here: that is the work of `tamis-cut`.
//!
//! There is no I/O, no clock and no randomness, so the crate can stand on top of any search engine.
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

mod adjustment;
mod decay;
mod definition;
mod diversity;
mod fusion;
mod phrasings;
mod role;

pub use adjustment::{Adjustment, LanguageFactors, LanguageMatch, Recency};
pub use decay::Decay;
pub use definition::{DefinitionPrior, QueryNames};
pub use diversity::{diversified, jaccard};
pub use fusion::{BackgroundEvidence, Evidence, Fusion, FusionError, order};
pub use phrasings::{Phrasing, ScoredPhrasing, best_scores, fuse_phrasings, merged_ranks};
pub use role::RolePrior;
