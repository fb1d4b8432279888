//! Keeping the server's statistics of tables that grow quickly.
//!
//! The server plans statements by what it last counted, and counts by itself about once a minute. A first index of a large tree is
//! longer than that, and a plan for empty tables reads whole namespaces where one row is asked for.

use deadpool_postgres::GenericClient;

use super::error::Failure;

/// Fewer passages are quick under any plan.
const LEAST: i64 = 1_000;

/// Passages since the last count, per passage that was counted then.
const GROWTH: i64 = 3;

/// Asks the server to count again if there are several times as many passages as when it last did. A user without the right to do so
/// leaves it to the server.
pub(super) async fn keep_up(client: &impl GenericClient) -> Result<(), Failure> {
    let compare = "SELECT (SELECT coalesce(sum(passages), 0)::bigint FROM namespaces), \
         (SELECT greatest(reltuples, 0)::bigint FROM pg_class WHERE oid = 'passages'::regclass)";
    let statement = client.prepare_cached(compare).await?;
    let row = client.query_one(&statement, &[]).await?;
    let (now, counted): (i64, i64) = (row.get(0), row.get(1));
    if now >= LEAST && now >= counted.saturating_mul(GROWTH) {
        client.batch_execute("ANALYZE documents, attributes, passages, words, frequencies, vectors").await?;
    }
    Ok(())
}
