//! Counting what the tables hold.

use deadpool_postgres::Transaction;

use super::super::connection::SCHEMA;
use super::super::error::Failure;
use super::super::schema::VERSION;
use super::super::store::PostgresStore;
use crate::content;
use crate::report::{Sizes, Summary};

/// Counts everything in one snapshot.
pub(super) async fn summary(store: &PostgresStore, transaction: &Transaction<'_>) -> Result<Summary, Failure> {
    let times = "SELECT max(changed_ms), max(published_ms) FROM namespaces";
    let times = transaction.query_one(times, &[]).await?;
    let seq = store.change_number_in(transaction).await?;
    let mut summary = Summary {
        sizes: sizes(transaction).await?,
        last_change_ms: times.get(0),
        last_publish_ms: times.get(1),
        schema_version: VERSION,
        seq,
        // The words are always those of the passages.
        lexical_seq: Some(seq),
        ..content::summary(&store.connections.content(transaction)).await?
    };
    // Vectors are searched where they are stored.
    summary.models.iter_mut().for_each(|model| model.file_seq = Some(seq));
    Ok(summary)
}

/// The sizes of the tables with their indexes.
async fn sizes(transaction: &Transaction<'_>) -> Result<Sizes, Failure> {
    // A partition counts to its table.
    let select = "SELECT r.relname::text, pg_total_relation_size(c.oid) FROM pg_class c \
         JOIN pg_class r ON r.oid = coalesce(pg_partition_root(c.oid), c.oid) \
         JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relkind = 'r'";
    let mut sizes = Sizes::default();
    for row in transaction.query(select, &[&SCHEMA]).await? {
        let bytes = row.get::<_, i64>(1) as u64;
        match row.get::<_, &str>(0) {
            "words" | "frequencies" => sizes.lexical += bytes,
            "vectors" => sizes.vectors += bytes,
            _ => sizes.database += bytes,
        }
    }
    Ok(sizes)
}
