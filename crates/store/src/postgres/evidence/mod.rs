//! The evidence graph: `sql` runs untrusted statements (feature `evidence`).

#[cfg(feature = "evidence")]
mod sql;

use deadpool_postgres::Transaction;

use super::error::Failure;

/// Counts a change of the evidence of namespaces. Many change no document, and so no change number.
pub(super) async fn changed(transaction: &Transaction<'_>, namespaces: &[impl AsRef<str>]) -> Result<(), Failure> {
    let names: Vec<&str> = namespaces.iter().map(AsRef::as_ref).collect();
    let count = "UPDATE namespaces SET evidence_number = evidence_number + 1 WHERE namespace = ANY($1)";
    transaction.execute(&transaction.prepare_cached(count).await?, &[&names]).await?;
    Ok(())
}
