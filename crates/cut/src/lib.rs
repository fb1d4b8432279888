//! Where relevance ends: scores in, a [`Cut`] out.
//!
//! A search engine ranks; it seldom says how many of the ranked candidates answer the query. This crate holds the
//! known rules for that decision, each exact to its source, behind one trait, so that they can be compared and put on
//! top of any engine. It is pure: no I/O, no clock, no randomness; it compiles to WebAssembly.
//!
//! - [`Pool`] is what a rule reads: the candidates' values best first (scores, similarities or distances) and, where it
//!   is known, the [`Background`]: what the same value looks like for passages that have nothing to do with the query.
//! - [`Rule`] is a configured method. [`parse()`] makes one from text such as `kneedle:sensitivity=1,pick=strongest`,
//!   [`build`] from names and values of a configuration file, and every method is also a struct of its own
//!   ([`MaxGap`], [`Kneedle`], …) with public fields. [`METHODS`] describes them all, for help and documentation.
//! - [`Cut`] is the answer: how many to keep, the threshold where there is one, one sentence that says why, and the
//!   figures behind it.
//! - [`Gate`] answers the question before: is anything here at all?
//! - [`Guarantee`] puts a promise in place of a guess: a threshold calibrated on judged queries.
//!
//! Every rule is total: an empty pool, one candidate, all equal, negative, huge or subnormal values all give an
//! answer. Values that are not finite never reach a rule; [`Pool`] drops and counts them.
//!
//! ```
//! use tamis_cut::{Pool, parse};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let pool = Pool::distances([0.12, 0.15, 0.18, 0.21, 0.52, 0.55, 0.58, 0.61])?;
//! let cut = parse("max_gap")?.cut(&pool);
//! assert_eq!(cut.keep, 4);
//! assert_eq!(cut.threshold, Some(0.21));
//! println!("{} of {}: {}", cut.keep, cut.candidates, cut.reason);
//!
//! // The same list as another engine might give it, with a rule of another kind.
//! let pool = Pool::scores([9.1, 8.7, 8.5, 2.0, 1.9, 1.8, 1.7])?;
//! assert_eq!(parse("autocut:jumps=1")?.cut(&pool).keep, 3);
//! # Ok(())
//! # }
//! ```

mod admission;
mod auto;
mod cut;
mod gate;
mod guarantee;
mod method;
mod methods;
mod nearest;
mod parse;
mod pool;
mod rule;
mod shape;
mod source_table;
mod text;
mod value;
mod want;

pub use admission::{Admission, Admitted, RawScores};
pub use auto::{Auto, Basis, JudgedPool, Profile, Relevance, focus};
pub use cut::Cut;
pub use gate::{Evidence, Gate, Verdict};
pub use guarantee::{Calibrated, CalibrationQuery, Guarantee, GuaranteeError};
pub use method::{METHODS, Method, Parameter, Range, method};
pub use methods::adaptive_k::AdaptiveK;
pub use methods::autocut::Autocut;
pub use methods::background::BackgroundShare;
pub use methods::elbow::Elbow;
pub use methods::fixed::Fixed;
pub use methods::kneedle::{Kneedle, Knees, Pick};
pub use methods::language::LanguageThreshold;
pub use methods::max_gap::MaxGap;
pub use methods::otsu::Otsu;
pub use methods::percentile::Percentile;
pub use methods::relative::Relative;
pub use methods::top_score::TopScore;
pub use parse::{RuleError, build, parse};
pub use pool::{Background, Orientation, Pool, PoolError};
pub use rule::{Rule, Scale, Settings};
pub use source_table::SourceTable;
pub use value::Value;
pub use want::Want;
