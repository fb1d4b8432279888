//! Decides where relevance ends: scores in, a [`Cut`] out.
//!
//! A search engine ranks. It seldom says how many of the ranked candidates answer the query, so its callers show ten, or
//! compare with a threshold that fits one query and not the next. This crate holds the known rules for that decision, each
//! exact to its source, behind one trait. They work on the list of any engine: you give the values best first, and get
//! back how many to keep and why.
//!
//! ```
//! use tamis_cut::{Pool, parse};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Distances as a vector store returns them.
//! let pool = Pool::distances([0.12, 0.15, 0.18, 0.21, 0.52, 0.55, 0.58, 0.61])?;
//! let cut = parse("max_gap")?.cut(&pool);
//! assert_eq!(cut.keep, 4);
//! assert_eq!(cut.threshold, Some(0.21));
//! println!("Kept {} of {}: {}.", cut.keep, cut.candidates, cut.reason);
//!
//! // BM25 scores, with a rule of another kind.
//! let pool = Pool::scores([9.1, 8.7, 8.5, 2.0, 1.9, 1.8, 1.7])?;
//! assert_eq!(parse("autocut:jumps=1")?.cut(&pool).keep, 3);
//! # Ok(())
//! # }
//! ```
//!
//! - [`Pool`] is the list that a rule reads: the candidates' values, best first (scores, similarities or distances), and,
//!   where it is known, the [`Background`]: the same value for passages that have nothing to do with the query.
//! - [`Rule`] is a configured method. [`parse()`] makes one from text such as `kneedle:sensitivity=1,pick=strongest`,
//!   [`build`] from the names and values of a configuration file. Every method is also a struct with public fields
//!   ([`MaxGap`], [`Kneedle`], …). [`METHODS`] describes them all, for help and documentation.
//! - [`Cut`] is the answer: how many to keep, the threshold where there is one, a reason in plain words, and the figures
//!   behind it.
//! - [`Gate`] answers the question before: is anything relevant at all?
//! - [`Guarantee`] replaces a guess with a promise: a threshold calibrated on judged queries.
//!
//! [`Auto`] is the method to start with. It turns scores into probabilities of relevance and keeps the number of candidates
//! with the best expected F1.
//!
//! Every rule is total: an empty pool, one candidate, equal, negative, huge or subnormal values all give an answer. [`Pool`]
//! drops and counts values that are not finite. The crate is pure (no I/O, no clock, no randomness) and compiles to
//! WebAssembly.

mod cut;
mod gate;
mod guarantee;
mod method;
mod methods;
mod parse;
mod pool;
mod rule;

pub use cut::{Cut, Value};
pub use gate::{Evidence, Gate, Verdict};
pub use guarantee::{Calibrated, CalibrationQuery, Guarantee, GuaranteeError};
pub use method::{Method, Parameter, Range, Scale};
pub use methods::*;
pub use parse::{RuleError, build, parse};
pub use pool::{Background, Orientation, Pool, PoolError};
pub use rule::{Admission, Admitted, RawScores, Rule, Settings, Want};
