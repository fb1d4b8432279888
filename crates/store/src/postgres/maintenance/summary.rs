//! Counting what the tables hold.

use std::collections::HashMap;

use deadpool_postgres::Transaction;

use super::super::connection::SCHEMA;
use super::super::error::Failure;
use super::super::schema::VERSION;
use super::super::store::PostgresStore;
use crate::record::ModelKey;
use crate::report::{Count, Coverage, ModelSummary, Sizes, Summary};

/// Counts everything in one snapshot.
pub(super) async fn summary(store: &PostgresStore, transaction: &Transaction<'_>) -> Result<Summary, Failure> {
    let totals = "SELECT count(*), coalesce(sum(passages), 0)::bigint FROM documents";
    let row = transaction.query_one(totals, &[]).await?;
    let (documents, passages) = (row.get::<_, i64>(0) as u64, row.get::<_, i64>(1) as u64);
    let times = "SELECT max(changed_ms), max(published_ms) FROM namespaces";
    let times = transaction.query_one(times, &[]).await?;
    let seq = store.change_number_in(transaction).await?;
    Ok(Summary {
        documents,
        passages,
        namespaces: counts(transaction, BY_NAMESPACE).await?,
        collections: counts(transaction, BY_COLLECTION).await?,
        languages: counts(transaction, BY_LANGUAGE).await?,
        roles: counts(transaction, BY_ROLE).await?,
        models: models(transaction, passages, seq).await?,
        sizes: sizes(transaction).await?,
        last_change_ms: times.get(0),
        last_publish_ms: times.get(1),
        schema_version: VERSION,
        seq,
        // The words are always those of the passages.
        lexical_seq: Some(seq),
    })
}

const BY_NAMESPACE: &str =
    "SELECT namespace, count(*), sum(passages)::bigint FROM documents GROUP BY namespace ORDER BY namespace";

const BY_COLLECTION: &str =
    "SELECT collection, count(*), sum(passages)::bigint FROM documents GROUP BY collection ORDER BY collection";

const BY_LANGUAGE: &str = "SELECT coalesce(p.language, d.language, ''), count(DISTINCT p.document), count(*) FROM passages p \
     JOIN documents d ON d.namespace = p.namespace AND d.document = p.document GROUP BY 1 ORDER BY 1";

const BY_ROLE: &str = "SELECT role, count(DISTINCT document), count(*) FROM passages GROUP BY role ORDER BY role";

async fn counts(transaction: &Transaction<'_>, statement: &str) -> Result<Vec<Count>, Failure> {
    let count = |row: &tokio_postgres::Row| Count {
        name: row.get(0),
        documents: row.get::<_, i64>(1) as u64,
        passages: row.get::<_, i64>(2) as u64,
    };
    Ok(transaction.query(statement, &[]).await?.iter().map(count).collect())
}

async fn models(transaction: &Transaction<'_>, passages: u64, seq: u64) -> Result<Vec<ModelSummary>, Failure> {
    let by_model = async |select: &str| -> Result<HashMap<i32, u64>, Failure> {
        let rows = transaction.query(select, &[]).await?;
        Ok(rows.iter().map(|row| (row.get(0), row.get::<_, i64>(1) as u64)).collect())
    };
    let vectors = by_model("SELECT model, count(*) FROM vectors GROUP BY model").await?;
    let embedded = by_model(EMBEDDED).await?;
    let model = |row: &tokio_postgres::Row| {
        let number: i32 = row.get(0);
        let of = |counts: &HashMap<i32, u64>| counts.get(&number).copied().unwrap_or(0);
        ModelSummary {
            model: ModelKey { id: row.get(1), dimension: row.get::<_, i32>(2) as usize },
            vectors: of(&vectors),
            coverage: Coverage { passages, embedded: of(&embedded) },
            // Vectors are searched where they are stored.
            file_seq: Some(seq),
        }
    };
    let models = transaction.query("SELECT model, name, dimension FROM models ORDER BY model", &[]).await?;
    Ok(models.iter().map(model).collect())
}

/// The passages with a vector, by model.
const EMBEDDED: &str = "SELECT v.model, count(*) FROM passages p JOIN vectors v ON v.namespace = p.namespace AND v.text_hash = p.text_hash \
     GROUP BY v.model";

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
