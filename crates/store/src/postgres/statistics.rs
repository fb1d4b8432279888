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

/// Rows that were counted, per row that this process may have written since when what it wrote is finished.
const SETTLED: i64 = 10;

/// All tables that grow with what is stored.
const COUNT: &str = "ANALYZE documents, attributes, passages, words, frequencies, vectors, evidence_tasks, evidence_works, \
     evidence_pages, evidence_fragments, evidence_claims, evidence_edges";

/// What this process knows of the server's count.
#[derive(Debug, Default)]
pub(super) struct Counted {
    /// The passages of the namespace that this process last had counted.
    passages: AtomicI64,
    /// Passages and records of evidence that this process has written since.
    written: AtomicI64,
}

impl Counted {
    /// Notes that this process wrote passages or records.
    pub fn wrote(&self, rows: u64) {
        self.written.fetch_add(rows as i64, Relaxed);
    }

    /// Asks the server to count again if a namespace has several times as many passages as all namespaces had when the server last
    /// did. A user without the right to do so leaves it to the server.
    pub async fn keep_up(&self, client: &impl GenericClient, namespace: &str) -> Result<(), Failure> {
        let compare = "SELECT n.passages, (SELECT reltuples::bigint FROM pg_class WHERE oid = 'passages'::regclass) \
             FROM namespaces n WHERE n.namespace = $1";
        let statement = client.prepare_cached(compare).await?;
        let Some(row) = client.query_opt(&statement, &[&namespace]).await? else { return Ok(()) };
        let (now, counted): (i64, i64) = (row.get(0), row.get(1));
        // A server that distributes the tables has no count of its own.
        let counted = counted.max(self.passages.load(Relaxed));
        if now >= LEAST && now >= counted.saturating_mul(GROWTH) {
            self.passages.store(now, Relaxed);
            self.count(client).await?;
        }
        Ok(())
    }

    /// Asks the server to count again once a namespace or its evidence is written: the server does not know a new one at all, and
    /// would read all of it for each row.
    pub async fn settle(&self, client: &impl GenericClient) -> Result<(), Failure> {
        let written = self.written.load(Relaxed);
        if written < LEAST {
            return Ok(());
        }
        let counted = "SELECT greatest(sum(reltuples), 0)::bigint FROM pg_class \
             WHERE oid IN ('passages'::regclass, 'evidence_edges'::regclass)";
        let row = client.query_one(&client.prepare_cached(counted).await?, &[]).await?;
        if written.saturating_mul(SETTLED) >= row.get::<_, i64>(0) {
            self.count(client).await?;
        }
        Ok(())
    }

    async fn count(&self, client: &impl GenericClient) -> Result<(), Failure> {
        self.written.store(0, Relaxed);
        Ok(client.batch_execute(COUNT).await?)
    }
}
