//! The evidence graph. `check` has statements that look for contradictions, and `sql` runs untrusted statements (feature `evidence`).

mod check;
#[cfg(feature = "evidence")]
mod graph;
#[cfg(feature = "evidence")]
mod sql;

pub(super) use check::CHECKS;

use deadpool_postgres::Transaction;

use super::error::Failure;

/// Counts a change of the evidence of namespaces. Many change no document, and so no change number.
pub(super) async fn changed(transaction: &Transaction<'_>, namespaces: &[impl AsRef<str>]) -> Result<(), Failure> {
    let names: Vec<&str> = namespaces.iter().map(AsRef::as_ref).collect();
    let count = "UPDATE namespaces SET evidence_number = evidence_number + 1 WHERE namespace = ANY($1)";
    transaction.execute(&transaction.prepare_cached(count).await?, &[&names]).await?;
    Ok(())
}
