//! The evidence graph.
//!
//! `tasks`, `remove` and `check` keep it consistent with its documents, in every build. `apply` writes records, `records` reads
//! them, and `summary` counts them (feature `evidence`).

#[cfg(feature = "evidence")]
mod apply;
mod check;
#[cfg(feature = "evidence")]
mod graph;
#[cfg(feature = "evidence")]
mod records;
mod remove;
#[cfg(feature = "evidence")]
mod summary;
mod tasks;

pub(super) use check::CHECKS;
pub(super) use remove::{REMOVE, documents_changed, remove_origin};
pub(super) use tasks::TaskUpdates;
