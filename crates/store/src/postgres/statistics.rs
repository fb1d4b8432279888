//! Keeping the server's statistics of tables that grow quickly.
//!
//! The server plans statements by what it last counted, and counts by itself about once a minute. A first index of a large tree is
//! longer than that, and a plan for empty tables reads whole namespaces where one row is asked for.

use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

use deadpool_postgres::GenericClient;

use super::error::Failure;

/// Fewer passages are quick under any plan.
const LEAST: i64 = 1_000;

/// Passages since the last count, per passage that was counted then.
const GROWTH: i64 = 3;

/// The passages of the namespace that this process last had counted.
#[derive(Debug, Default)]
pub(super) struct Counted(AtomicI64);

impl Counted {
    /// Asks the server to count again if a namespace has several times as many passages as all namespaces had when the server last
    /// did. A user without the right to do so leaves it to the server.
    pub async fn keep_up(&self, client: &impl GenericClient, namespace: &str) -> Result<(), Failure> {
        let compare = "SELECT n.passages, (SELECT reltuples::bigint FROM pg_class WHERE oid = 'passages'::regclass) \
             FROM namespaces n WHERE n.namespace = $1";
        let statement = client.prepare_cached(compare).await?;
        let Some(row) = client.query_opt(&statement, &[&namespace]).await? else { return Ok(()) };
        let (now, counted): (i64, i64) = (row.get(0), row.get(1));
        // A server that distributes the tables has no count of its own.
        let counted = counted.max(self.0.load(Relaxed));
        if now >= LEAST && now >= counted.saturating_mul(GROWTH) {
            self.0.store(now, Relaxed);
            client.batch_execute("ANALYZE documents, attributes, passages, words, frequencies, vectors").await?;
        }
        Ok(())
    }
}
