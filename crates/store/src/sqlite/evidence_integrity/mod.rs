//! Keeping the evidence graph consistent with its documents. Deleting a document can delete a record of the graph, so this
//! is part of every build.

mod check;
mod remove;
mod tasks;

pub(super) use check::contradictions;
pub(super) use remove::{remove_namespace, remove_origin, remove_record};
pub(super) use tasks::TaskUpdates;
