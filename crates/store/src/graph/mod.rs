//! The evidence graph in the tables of either database.
//!
//! `tasks` and `remove` keep it consistent with its documents, in every build, since deleting a document can delete a record. `apply`
//! writes records, `records` reads them, and `summary` counts them (feature `evidence`).
//! [`content`](crate::content) checks them.

#[cfg(feature = "evidence")]
mod apply;
#[cfg(feature = "evidence")]
mod records;
mod remove;
#[cfg(feature = "evidence")]
mod summary;
mod tasks;

#[cfg(feature = "evidence")]
pub(crate) use apply::write;
#[cfg(feature = "evidence")]
pub(crate) use records::{all, at, edges_to, fragments_of, of_origin};
pub(crate) use remove::{EvidenceChange, REMOVE, documents_changed, remove_origin};
#[cfg(feature = "evidence")]
pub(crate) use summary::summary;
pub(crate) use tasks::TaskUpdates;
