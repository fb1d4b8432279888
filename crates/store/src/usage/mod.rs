//! The usage log: searches with their evidence, and the feedback on them.
//!
//! Of the unjudged searches the last [`RETAINED`](crate::RETAINED) stay, at 8 KB each for a pool of 200; judged ones stay
//! until they are forgotten. Passages are identified by their public identifiers, which survive a rebuilt index. The table
//! `usage_quality` has one small row for every query ([`QueryQuality`](crate::QueryQuality)), for statistics.
//!
//! `log` is the log on any `database`, with the statements of each call. Rows are read and added by `searches`, `judgements`, `openings` and
//! `quality`; `deleting` deletes,
//! and `exchange` hands a log's records to another log. `rules` holds waits and limits, `candidate_blob` encodes the candidates' figures.
//!
//! `embedded` keeps the log in a SQLite file, which `schema` opens: `usage.db` beside the index, a database of its
//! own, so that a search never waits for an index run, and the index can be rebuilt without losing feedback. The one in PostgreSQL is
//! with the rest of that store.

mod candidate_blob;
#[cfg(test)]
pub(crate) mod contract;
pub(crate) mod database;
pub(crate) mod deleting;
mod embedded;
mod exchange;
mod judgements;
mod log;
mod openings;
mod quality;
pub(crate) mod rules;
mod schema;
mod searches;
#[cfg(test)]
mod tests;

pub(crate) use embedded::FILE;
pub use embedded::{EmbeddedUsageLog, UsageCheck};
