//! The quality of each query: recording it, and reading it back for a period.

use deadpool_postgres::Transaction;
use tokio_postgres::{Row, Statement};

use super::text::{original, stored};
use super::transactions::rows;
use crate::error::Result;
use crate::postgres::connection::Connections;
use crate::postgres::error::Failure;
use crate::postgres::usage::searches::{array, damaged, unsigned};
use crate::usage::rules::{at_most, finite, period, stages};
use crate::usage_record::QueryQuality;

const INSERT: &str = "INSERT INTO usage_quality(at_ms, entry_point, namespace, corpus, query_hash, query_text, search_id, model, mode, \
     lexical_candidates, semantic_candidates, candidates, kept, dropped, returned, top_k, threshold, threshold_method, gap_size, \
     mean_kept_distance, language_match_ratio, best_similarity, similarity_mean, milliseconds, total_ms, fallback_reason) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, \
     $24::text::json, $25, $26) RETURNING number";

const SELECT: &str = "SELECT at_ms, entry_point, namespace, corpus, query_hash, query_text, search_id, model, mode, \
     lexical_candidates, semantic_candidates, candidates, kept, dropped, returned, top_k, threshold, threshold_method, gap_size, \
     mean_kept_distance, language_match_ratio, best_similarity, similarity_mean, milliseconds::text, total_ms, fallback_reason, \
     number FROM usage_quality WHERE";

/// Records the quality of a query, and returns the number of the row.
pub(super) async fn insert(transaction: &Transaction<'_>, quality: &QueryQuality) -> Result<i64, Failure> {
    let statement = transaction.prepare_cached(INSERT).await?;
    put(transaction, &statement, quality).await
}

/// Prepares what [`put`] runs.
pub(super) async fn prepare(transaction: &tokio_postgres::Transaction<'_>) -> Result<Statement, Failure> {
    Ok(transaction.prepare(INSERT).await?)
}

/// Inserts a row and returns its number.
pub(super) async fn put(
    transaction: &tokio_postgres::Transaction<'_>,
    statement: &Statement,
    quality: &QueryQuality,
) -> Result<i64, Failure> {
    let row = transaction
        .query_one(
            statement,
            &[
                &quality.at_ms,
                &stored(&quality.entry_point),
                &stored(&quality.namespace),
                &stored(&quality.corpus),
                &quality.query_hash.as_slice(),
                &quality.query_text.as_deref().map(stored),
                &quality.search_id.as_deref().map(stored),
                &quality.model.as_deref().map(stored),
                &stored(&quality.mode),
                &quality.lexical_candidates.map(i64::from),
                &quality.semantic_candidates.map(i64::from),
                &i64::from(quality.candidates),
                &i64::from(quality.kept),
                &i64::from(quality.dropped),
                &i64::from(quality.returned),
                &i64::from(quality.top_k),
                &finite(quality.threshold),
                &stored(&quality.threshold_method),
                &finite(quality.gap_size),
                &finite(quality.mean_kept_distance),
                &finite(quality.language_match_ratio),
                &finite(quality.best_similarity),
                &finite(quality.similarity_mean),
                &stages(&quality.milliseconds),
                &finite(Some(quality.total_ms)).unwrap_or_default(),
                &quality.fallback_reason.as_deref().map(stored),
            ],
        )
        .await?;
    Ok(row.get(0))
}

pub(super) fn read(
    connections: &Connections,
    since_ms: Option<i64>,
    until_ms: Option<i64>,
    limit: usize,
) -> Result<Vec<QueryQuality>> {
    let [since, until, limit] = period(since_ms, until_ms, limit);
    let select = format!("{SELECT} at_ms >= $1 AND at_ms < $2 ORDER BY at_ms DESC, number DESC LIMIT $3");
    let found = rows(connections, &select, &[&since, &until, &limit])?;
    // The last ones were asked for, and the earliest of them comes first.
    found.iter().rev().map(|row| quality(connections, row)).collect()
}

/// The rows after a number, each with its number, in the order of recording.
pub(super) fn numbered(connections: &Connections, after: i64, limit: usize) -> Result<Vec<(i64, QueryQuality)>> {
    let select = format!("{SELECT} number > $1 ORDER BY number LIMIT $2");
    let found = rows(connections, &select, &[&after, &at_most(limit)])?;
    found.iter().map(|row| Ok((row.get(26), quality(connections, row)?))).collect()
}

fn quality(connections: &Connections, row: &Row) -> Result<QueryQuality> {
    let text = |column: usize| original(row.get(column));
    let known_text = |column: usize| row.get::<_, Option<String>>(column).map(original);
    let known_count = |column: usize| row.get::<_, Option<i64>>(column).map(|count| count as u32);
    let milliseconds = serde_json::from_str(row.get(23)).map_err(|error| damaged(connections, error.to_string()))?;
    Ok(QueryQuality {
        at_ms: row.get(0),
        entry_point: text(1),
        namespace: text(2),
        corpus: text(3),
        query_hash: array(connections, row, 4)?,
        query_text: known_text(5),
        search_id: known_text(6),
        model: known_text(7),
        mode: text(8),
        lexical_candidates: known_count(9),
        semantic_candidates: known_count(10),
        candidates: unsigned(row, 11),
        kept: unsigned(row, 12),
        dropped: unsigned(row, 13),
        returned: unsigned(row, 14),
        top_k: unsigned(row, 15),
        threshold: row.get(16),
        threshold_method: text(17),
        gap_size: row.get(18),
        mean_kept_distance: row.get(19),
        language_match_ratio: row.get(20),
        best_similarity: row.get(21),
        similarity_mean: row.get(22),
        milliseconds,
        total_ms: row.get(24),
        fallback_reason: known_text(25),
    })
}
