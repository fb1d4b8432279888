//! Vectors that texts have in other namespaces.

use deadpool_postgres::Transaction;

use super::super::error::Failure;
use super::super::nodes;

/// Gives the texts of documents the vectors that they have in other namespaces, so that no text is embedded twice. Not where namespaces
/// lie on nodes: one that is away would stop changes on all others.
pub(in super::super) async fn adopt(
    transaction: &Transaction<'_>,
    namespace: &str,
    documents: &[i32],
) -> Result<(), Failure> {
    if nodes::are_distributed(transaction).await? {
        return Ok(());
    }
    let select = "SELECT DISTINCT text_hash FROM passages WHERE namespace = $1 AND document = ANY($2)";
    let select = transaction.prepare_cached(select).await?;
    let rows = transaction.query(&select, &[&namespace, &documents]).await?;
    let texts: Vec<&[u8]> = rows.iter().map(|row| row.get(0)).collect();
    if texts.is_empty() {
        return Ok(());
    }
    // A text is the same wherever it is, so this asks for it without naming namespaces.
    let insert = "INSERT INTO vectors(namespace, model, text_hash, embedding) \
         SELECT DISTINCT ON (v.model, v.text_hash) $1, v.model, v.text_hash, v.embedding FROM vectors v \
         WHERE v.text_hash = ANY($2) AND v.namespace <> $1 ON CONFLICT DO NOTHING";
    let insert = transaction.prepare_cached(insert).await?;
    transaction.execute(&insert, &[&namespace, &texts]).await?;
    Ok(())
}
