//! Recording the quality of each query, and reading it back for a period.

use rusqlite::{Connection, Row, params, types};

use super::rules::{at_most, finite, period, stages};
use super::schema;
use crate::query::{all, execute};
use crate::usage_record::{QueryQuality, RETAINED_QUALITY};

const COLUMNS: &str = "at_ms, entry_point, namespace, corpus, query_hash, query_text, search_id, model, mode, \
     lexical_candidates, semantic_candidates, candidates, kept, dropped, returned, top_k, threshold, threshold_method, \
     gap_size, mean_kept_distance, language_match_ratio, best_similarity, similarity_mean, milliseconds, total_ms, \
     fallback_reason";

pub(super) fn read(
    connection: &Connection,
    since_ms: Option<i64>,
    until_ms: Option<i64>,
    limit: usize,
) -> rusqlite::Result<Vec<QueryQuality>> {
    if !schema::has_quality(connection)? {
        return Ok(Vec::new());
    }
    let sql = format!(
        "SELECT {COLUMNS} FROM retrieval_quality WHERE at_ms >= ?1 AND at_ms < ?2 \
         ORDER BY at_ms DESC, number DESC LIMIT ?3"
    );
    let mut found: Vec<QueryQuality> = all(connection, &sql, period(since_ms, until_ms, limit), read_row)?;
    found.reverse();
    Ok(found)
}

/// The rows after a number, each with its number, in the order of recording.
pub(super) fn numbered(
    connection: &Connection,
    after: i64,
    limit: usize,
) -> rusqlite::Result<Vec<(i64, QueryQuality)>> {
    if !schema::has_quality(connection)? {
        return Ok(Vec::new());
    }
    let sql = format!("SELECT {COLUMNS}, number FROM retrieval_quality WHERE number > ?1 ORDER BY number LIMIT ?2");
    all(connection, &sql, [after, at_most(limit)], |row| Ok((row.get(26)?, read_row(row)?)))
}

/// Records the quality of a query, and from time to time deletes the oldest rows.
pub(super) fn insert(connection: &Connection, quality: &QueryQuality, purge_every: i64) -> rusqlite::Result<()> {
    let number = connection
        .prepare_cached(&format!(
            "INSERT INTO retrieval_quality({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, \
             ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26)"
        ))?
        .insert(params![
            quality.at_ms,
            quality.entry_point,
            quality.namespace,
            quality.corpus,
            quality.query_hash.as_slice(),
            quality.query_text,
            quality.search_id,
            quality.model,
            quality.mode,
            quality.lexical_candidates,
            quality.semantic_candidates,
            quality.candidates,
            quality.kept,
            quality.dropped,
            quality.returned,
            quality.top_k,
            finite(quality.threshold),
            quality.threshold_method,
            finite(quality.gap_size),
            finite(quality.mean_kept_distance),
            finite(quality.language_match_ratio),
            finite(quality.best_similarity),
            finite(quality.similarity_mean),
            stages(&quality.milliseconds),
            if quality.total_ms.is_finite() { quality.total_ms } else { 0.0 },
            quality.fallback_reason,
        ])?;
    if number % purge_every == 0 {
        purge(connection, number, RETAINED_QUALITY as i64)?;
    }
    Ok(())
}

/// Deletes rows older than the last `retained` numbers, where `last` is the latest. Nothing is counted, so the cost is that
/// of the deleted rows.
pub(super) fn purge(connection: &Connection, last: i64, retained: i64) -> rusqlite::Result<usize> {
    execute(connection, "DELETE FROM retrieval_quality WHERE number <= ?1", [last - retained])
}

fn read_row(row: &Row<'_>) -> rusqlite::Result<QueryQuality> {
    let milliseconds = serde_json::from_str(row.get_ref(23)?.as_str()?)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(23, types::Type::Text, error.into()))?;
    Ok(QueryQuality {
        at_ms: row.get(0)?,
        entry_point: row.get(1)?,
        namespace: row.get(2)?,
        corpus: row.get(3)?,
        query_hash: row.get(4)?,
        query_text: row.get(5)?,
        search_id: row.get(6)?,
        model: row.get(7)?,
        mode: row.get(8)?,
        lexical_candidates: row.get(9)?,
        semantic_candidates: row.get(10)?,
        candidates: row.get(11)?,
        kept: row.get(12)?,
        dropped: row.get(13)?,
        returned: row.get(14)?,
        top_k: row.get(15)?,
        threshold: row.get(16)?,
        threshold_method: row.get(17)?,
        gap_size: row.get(18)?,
        mean_kept_distance: row.get(19)?,
        language_match_ratio: row.get(20)?,
        best_similarity: row.get(21)?,
        similarity_mean: row.get(22)?,
        milliseconds,
        total_ms: row.get(24)?,
        fallback_reason: row.get(25)?,
    })
}
