//! Locks of the server that keep writers of a namespace apart.

use deadpool_postgres::Transaction;

use super::PostgresStore;
use super::error::Failure;

impl PostgresStore {
    /// Waits until nobody else changes these namespaces, and keeps others waiting until the transaction ends. Every change of
    /// documents begins with it, so it also makes sure that the tables are still the ones that were opened, and that a right to write
    /// which the store holds was not lost.
    pub(super) async fn lock_namespaces(
        &self,
        transaction: &Transaction<'_>,
        names: impl IntoIterator<Item = &str>,
    ) -> Result<(), Failure> {
        self.check_hold(transaction).await?;
        let mut keys: Vec<i64> = names.into_iter().map(|name| key("namespace", name)).collect();
        // In one order everywhere, so that nobody waits in a circle.
        keys.sort_unstable();
        keys.dedup();
        let lock = transaction.prepare_cached("SELECT pg_advisory_xact_lock($1)").await?;
        for key in &keys {
            transaction.execute(&lock, &[key]).await?;
        }
        self.check_instance(transaction).await
    }
}

/// The key of a lock by what it locks.
pub(super) fn key(kind: &str, name: &str) -> i64 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"tamis ").update(kind.as_bytes()).update(b"\0").update(name.as_bytes());
    hasher.finalize().as_bytes().first_chunk().map_or(0, |bytes| i64::from_le_bytes(*bytes))
}
