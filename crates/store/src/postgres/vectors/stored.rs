//! Vectors of full precision in the database.

use std::collections::{BTreeSet, HashMap, HashSet};

use deadpool_postgres::Transaction;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::super::error::Failure;
use super::super::rows::{document_id, passage_id};
use super::super::statement::Statement;
use super::vector_type::Vector;
use crate::content::Model;
use crate::error::StoreError;
use crate::record::{DocumentId, PassageId, TextHash};

/// Most vectors of one statement.
pub(super) const BATCH: usize = 1_000;

/// Begins a statement on `passages q` and `vectors v` whose rows [`exact`] reads.
pub(super) const EXACT: &str = "SELECT q.passage, q.document, vector_send(v.embedding)";

/// Passages with their documents and vectors.
pub(super) type Exact = HashMap<PassageId, (DocumentId, Vec<f32>)>;

/// Stores vectors of unit length in each namespace whose passages have the text and lack its vector. Returns how many texts got one,
/// and the namespaces that changed.
pub(super) async fn put(
    transaction: &Transaction<'_>,
    model: &Model,
    vectors: &[(TextHash, Vec<f32>)],
) -> Result<(u64, Vec<String>), Failure> {
    let namespaces: Vec<String> = transaction
        .query("SELECT namespace FROM namespaces WHERE passages > 0", &[])
        .await?
        .iter()
        .map(|row| row.get(0))
        .collect();
    let insert = transaction
        .prepare(
            "INSERT INTO vectors(namespace, model, text_hash, embedding) \
             SELECT p.namespace, $1, g.text_hash, ($3::real[])[(g.at::integer - 1) * $5 + 1:g.at::integer * $5]::vector \
             FROM unnest($2::bytea[]) WITH ORDINALITY AS g(text_hash, at) \
             CROSS JOIN LATERAL (SELECT DISTINCT namespace FROM passages WHERE namespace = ANY($4) AND text_hash = g.text_hash) AS p \
             ON CONFLICT DO NOTHING RETURNING namespace, text_hash",
        )
        .await?;
    let dimension = model.dimension as i32;
    // Of two vectors of a text, the first one counts.
    let mut seen = HashSet::new();
    let mut distinct: Vec<&(TextHash, Vec<f32>)> = vectors.iter().filter(|(hash, _)| seen.insert(*hash)).collect();
    // In one order everywhere, so that nobody waits in a circle.
    distinct.sort_unstable_by_key(|(hash, _)| *hash);
    let mut changed: BTreeSet<String> = BTreeSet::new();
    let mut stored: HashSet<Vec<u8>> = HashSet::new();
    for batch in distinct.chunks(BATCH) {
        let hashes: Vec<&[u8]> = batch.iter().map(|(hash, _)| hash.0.as_slice()).collect();
        let units: Vec<f32> = batch.iter().flat_map(|(_, vector)| Vector::unit(vector).0).collect();
        for row in transaction.query(&insert, &[&model.number, &hashes, &units, &namespaces, &dimension]).await? {
            changed.insert(row.get(0));
            stored.insert(row.get(1));
        }
    }
    Ok((stored.len() as u64, changed.into_iter().collect()))
}

/// The vectors of passages, with their documents. The passages are of these namespaces, or of any if none is named.
pub(super) async fn of_passages(
    transaction: &Transaction<'_>,
    model: &Model,
    namespaces: &[String],
    ids: &[PassageId],
) -> Result<Exact, Failure> {
    let mut found = HashMap::with_capacity(ids.len());
    for batch in ids.chunks(BATCH) {
        let numbers: Vec<i64> = batch.iter().filter_map(|id| i64::try_from(id.0).ok()).collect();
        let mut statement = Statement::new(EXACT);
        statement.push(
            " FROM passages q JOIN vectors v ON v.namespace = q.namespace AND v.text_hash = q.text_hash WHERE v.model = ",
        );
        statement.bind(&model.number, Type::INT4).push(" AND q.passage = ANY(").numbers(&numbers).push(")");
        if !namespaces.is_empty() {
            statement.push(" AND q.namespace = ANY(").bind(&namespaces, Type::TEXT_ARRAY).push(")");
        }
        found.extend(exact(&statement.query(transaction).await?, model)?);
    }
    Ok(found)
}

/// Reads rows of [`EXACT`].
pub(super) fn exact(rows: &[Row], model: &Model) -> Result<Exact, Failure> {
    let read = |row: &Row| {
        let Vector(vector) = row.get(2);
        if vector.len() != model.dimension {
            let reason = format!(
                "the vector of passage {} under model {} has {} dimensions, not {}",
                row.get::<_, i64>(0),
                model.name,
                vector.len(),
                model.dimension
            );
            return Err(StoreError::Corrupt { path: "postgres".into(), reason }.into());
        }
        Ok((passage_id(row.get(0)), (document_id(row.get(1)), vector)))
    };
    rows.iter().map(read).collect()
}
