//! The evidence graph.
//!
//! `tasks`, `remove` and `check` keep it consistent with its documents, in every build. `apply` writes records, `records` reads
//! them, `summary` counts them, and `sql` runs untrusted statements on them (feature `evidence`).

#[cfg(feature = "evidence")]
mod apply;
mod check;
#[cfg(feature = "evidence")]
mod graph;
#[cfg(feature = "evidence")]
mod records;
mod remove;
#[cfg(feature = "evidence")]
mod sql;
#[cfg(feature = "evidence")]
mod summary;
mod tasks;

pub(super) use check::CHECKS;
pub(super) use remove::{REMOVE, documents_changed, remove_origin};
pub(super) use tasks::TaskUpdates;

use deadpool_postgres::Transaction;

use super::error::Failure;

/// Counts a change of the evidence of namespaces. Many change no document, and so no change number.
pub(super) async fn changed(transaction: &Transaction<'_>, namespaces: &[impl AsRef<str>]) -> Result<(), Failure> {
    let names: Vec<&str> = namespaces.iter().map(AsRef::as_ref).collect();
    let count = "UPDATE namespaces SET evidence_number = evidence_number + 1 WHERE namespace = ANY($1)";
    transaction.execute(&transaction.prepare_cached(count).await?, &[&names]).await?;
    Ok(())
}
