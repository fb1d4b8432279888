//! The evidence graph in the database.
//!
//! `write` puts records in and takes them out, `tasks` keeps what filters ask of fragments, `read` gives records back, `summary`
//! counts them and `check` holds them against their documents.

mod check;
mod read;
mod summary;
mod tasks;
mod write;

pub(super) use check::contradictions;
pub(super) use tasks::Unsettled;
pub(super) use write::{empty, forget};
