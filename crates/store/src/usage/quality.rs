//! The quality of each query: recording it, and reading it back for a period.

use super::rules::{finite, stages};
use crate::session::{Row, Session, Value, all, bind, first, read};
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
    let known = QueryQuality {
        threshold: finite(quality.threshold),
        gap_size: finite(quality.gap_size),
        mean_kept_distance: finite(quality.mean_kept_distance),
        language_match_ratio: finite(quality.language_match_ratio),
        best_similarity: finite(quality.best_similarity),
        similarity_mean: finite(quality.similarity_mean),
        total_ms: finite(Some(quality.total_ms)).unwrap_or_default(),
        ..quality.clone()
    };
    let mut values = bind!(known =>
        at_ms, entry_point, namespace, corpus, query_hash, query_text, search_id, model, mode, lexical_candidates,
        semantic_candidates, candidates, kept, dropped, returned, top_k, threshold, threshold_method, gap_size, mean_kept_distance,
        language_match_ratio, best_similarity, similarity_mean, total_ms, fallback_reason,
    )
    .to_vec();
    values.push(stages(&quality.milliseconds).as_str().into());
    first(session, &insert, &values, Row::next).await
}

/// The rows that a condition finds, each with its number.
pub(super) async fn found<E>(
    session: &dyn Session<E>,
    condition: &str,
    values: &[Value],
) -> Result<Vec<(i64, QueryQuality)>, E> {
    let select = format!("SELECT number, CAST(milliseconds AS text), {COLUMNS} FROM usage_quality WHERE {condition}");
    all(session, &select, values, |row| {
        let number = row.next()?;
        let milliseconds = serde_json::from_str(&row.next::<String>()?).map_err(|error| error.to_string())?;
        let quality = read!(row => QueryQuality {
            at_ms, entry_point, namespace, corpus, query_hash, query_text, search_id, model, mode, lexical_candidates,
            semantic_candidates, candidates, kept, dropped, returned, top_k, threshold, threshold_method, gap_size,
            mean_kept_distance, language_match_ratio, best_similarity, similarity_mean, total_ms, fallback_reason,
            ..QueryQuality { milliseconds, ..QueryQuality::default() }
        });
        Ok((number, quality))
    })
    .await
}
