//! Evaluation: measures ranking and cuts on a collection with judged answers, with the code that answers searches.
//!
//! A [`TestCollection`] is a directory in BEIR's layout. [`measure`] indexes it through the library's normal path into
//! a cache, gathers each query's candidates once, and lets every [`NamedCut`] decide on them, gate included. The result
//! is data for the metrics and reports of [`tamis_eval`]. [`from_run`]
//! does the same for the ranked results of any other engine, without an index.
//!
//! ```no_run
//! use tamis::config::Config;
//! use tamis_eval::{Options, evaluate};
//! use tamis::evaluate::{Measurement, TestCollection, cuts, measure};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let test = TestCollection::read("scifact".as_ref(), "test")?;
//! let mut config = Config::built_in();
//! config.index.models = vec!["static".into()];
//! let measurement = Measurement { cuts: cuts(&config, &[])?, ..Measurement::default() };
//! let collection = measure(&test, &[], &config, "cache".as_ref(), &measurement, &())?;
//! println!("{}", evaluate(&[collection], &Options::default())?.markdown());
//! # Ok(())
//! # }
//! ```

mod beir;
mod cache;
mod error;
mod measure;
mod own;
mod pools;
mod records;
mod trec_run;

pub(crate) use beir::queries;
pub use beir::{TestCollection, TestQuery, foreign_queries};
pub use error::EvaluationError;
pub use measure::{Measurement, NamedCut, cuts, measure};
pub use own::{OwnDocuments, OwnId};
pub use pools::{PoolRecord, PooledCandidate, pools};
pub use trec_run::{RunCollection, from_results, from_run};
