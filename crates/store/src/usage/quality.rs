//! The quality of each query: recording it, and reading it back for a period.

use super::rules::{finite, period, stages};
use crate::session::{Row, Session, Value, all, first, values};
use crate::usage_record::QueryQuality;

const COLUMNS: &str = "at_ms, entry_point, namespace, corpus, query_hash, query_text, search_id, model, mode, lexical_candidates, \
     semantic_candidates, candidates, kept, dropped, returned, top_k, threshold, threshold_method, gap_size, mean_kept_distance, \
     language_match_ratio, best_similarity, similarity_mean, total_ms, fallback_reason";

/// Records the quality of a query, and returns the number of the row.
pub(super) async fn insert<E>(session: &dyn Session<E>, quality: &QueryQuality) -> Result<Option<i64>, E> {
    let insert = format!(
        "INSERT INTO usage_quality({COLUMNS}, milliseconds) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, \
         $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26) RETURNING number"
    );
    let values = values![
        quality.at_ms,
        &quality.entry_point,
        &quality.namespace,
        &quality.corpus,
        quality.query_hash.as_slice(),
        quality.query_text.as_ref(),
        quality.search_id.as_ref(),
        quality.model.as_ref(),
        &quality.mode,
        quality.lexical_candidates,
        quality.semantic_candidates,
        quality.candidates,
        quality.kept,
        quality.dropped,
        quality.returned,
        quality.top_k,
        finite(quality.threshold),
        &quality.threshold_method,
        finite(quality.gap_size),
        finite(quality.mean_kept_distance),
        finite(quality.language_match_ratio),
        finite(quality.best_similarity),
        finite(quality.similarity_mean),
        finite(Some(quality.total_ms)).unwrap_or_default(),
        quality.fallback_reason.as_ref(),
        stages(&quality.milliseconds).as_str(),
    ];
    first(session, &insert, values, Row::next).await
}

/// The rows that a condition finds, each with its number.
async fn found<E>(session: &dyn Session<E>, condition: &str, values: &[Value]) -> Result<Vec<(i64, QueryQuality)>, E> {
    let select = format!("SELECT number, CAST(milliseconds AS text), {COLUMNS} FROM usage_quality WHERE {condition}");
    all(session, &select, values, |row| {
        let number = row.next()?;
        let quality = QueryQuality {
            milliseconds: serde_json::from_str(&row.next::<String>()?).map_err(|error| error.to_string())?,
            at_ms: row.next()?,
            entry_point: row.next()?,
            namespace: row.next()?,
            corpus: row.next()?,
            query_hash: row.next()?,
            query_text: row.next()?,
            search_id: row.next()?,
            model: row.next()?,
            mode: row.next()?,
            lexical_candidates: row.next()?,
            semantic_candidates: row.next()?,
            candidates: row.next()?,
            kept: row.next()?,
            dropped: row.next()?,
            returned: row.next()?,
            top_k: row.next()?,
            threshold: row.next()?,
            threshold_method: row.next()?,
            gap_size: row.next()?,
            mean_kept_distance: row.next()?,
            language_match_ratio: row.next()?,
            best_similarity: row.next()?,
            similarity_mean: row.next()?,
            total_ms: row.next()?,
            fallback_reason: row.next()?,
        };
        Ok((number, quality))
    })
    .await
}

/// The last rows of a period, earliest first.
pub(super) async fn last<E>(
    session: &dyn Session<E>,
    since_ms: Option<i64>,
    until_ms: Option<i64>,
    limit: usize,
) -> Result<Vec<QueryQuality>, E> {
    let condition = "at_ms >= $1 AND at_ms < $2 ORDER BY at_ms DESC, number DESC LIMIT $3";
    let found = found(session, condition, &period(since_ms, until_ms, limit)).await?;
    Ok(found.into_iter().rev().map(|(_, quality)| quality).collect())
}

/// The rows after a number, in the order of recording.
pub(super) async fn after<E>(session: &dyn Session<E>, after: i64, limit: i64) -> Result<Vec<(i64, QueryQuality)>, E> {
    found(session, "number > $1 ORDER BY number LIMIT $2", values![after, limit]).await
}
