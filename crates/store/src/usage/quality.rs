//! How well each query was served: written with the search, read back for a period.

use std::collections::BTreeMap;

use rusqlite::{Connection, Row, params, types};

use super::UsageLog;
use crate::error::Result;

/// How many queries are kept in `retrieval_quality`, at half a kilobyte each.
pub const RETAINED_QUALITY: usize = 100_000;

/// How one query was served, whether or not anything was found. It holds no candidates; those are in the
/// [`RecordedSearch`](super::RecordedSearch) of the same identifier.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize)]
pub struct QueryQuality {
    /// When, in milliseconds since 1970.
    pub at_ms: i64,
    /// Where it came from: `cli`, `library`, `import`, …
    pub entry_point: String,
    /// Who asked: the namespace whose index was searched.
    pub namespace: String,
    /// The collections asked for, with commas between them; `all` when none was named.
    pub corpus: String,
    /// BLAKE3 hash of the query's text.
    #[serde(serialize_with = "hexadecimal")]
    pub query_hash: [u8; 32],
    /// The text itself, where it was asked to be kept.
    pub query_text: Option<String>,
    /// The identifier of the search with its candidates. That is kept for fewer queries than this is.
    pub search_id: Option<String>,
    /// The model of the semantic leg.
    pub model: Option<String>,
    /// The legs that took part: `hybrid`, `lexical` or `semantic`.
    pub mode: String,
    /// Candidates that the lexical leg found; `None` where it took no part.
    pub lexical_candidates: Option<u32>,
    /// Candidates that the semantic leg found; `None` where it took no part.
    pub semantic_candidates: Option<u32>,
    /// Candidates in all.
    pub candidates: u32,
    /// Candidates that the cut kept.
    pub kept: u32,
    /// Candidates that the cut left out.
    pub dropped: u32,
    /// Results that were returned: the kept ones that the limit left.
    pub returned: u32,
    /// That limit.
    pub top_k: u32,
    /// The cut's threshold, where it has one, on the scale that the cut reads.
    pub threshold: Option<f64>,
    /// How the threshold was found (`adaptive`, `percentile`, `configured`, …); the name of the cut where that is all.
    pub threshold_method: String,
    /// The largest difference of neighbours, where the cut looks for one.
    pub gap_size: Option<f64>,
    /// Mean distance of the kept candidates, 1 − similarity, in [0, 2].
    pub mean_kept_distance: Option<f64>,
    /// Share of the kept candidates in a language hinted at, in [0, 1]; `None` without a hint or without kept ones.
    pub language_match_ratio: Option<f64>,
    /// Best similarity of a candidate, in [-1, 1].
    pub best_similarity: Option<f64>,
    /// Mean similarity of the query to all passages searched.
    pub similarity_mean: Option<f64>,
    /// Milliseconds by stage, up to the recording itself.
    pub milliseconds: BTreeMap<String, f64>,
    /// Milliseconds from the beginning of the search to its recording.
    pub total_ms: f64,
    /// Why another model or fewer legs answered than were asked for.
    pub fallback_reason: Option<String>,
}

fn hexadecimal<S: serde::Serializer>(hash: &[u8; 32], serializer: S) -> std::result::Result<S::Ok, S::Error> {
    serializer.collect_str(&blake3::Hash::from(*hash))
}

const COLUMNS: &str = "at_ms, entry_point, namespace, corpus, query_hash, query_text, search_id, model, mode, \
     lexical_candidates, semantic_candidates, candidates, kept, dropped, returned, top_k, threshold, threshold_method, \
     gap_size, mean_kept_distance, language_match_ratio, best_similarity, similarity_mean, milliseconds, total_ms, \
     fallback_reason";

impl UsageLog {
    /// How queries were served, the earliest first: those at or after `since_ms` and before `until_ms` (milliseconds
    /// since 1970; `None`: no bound), and of them the last `limit`. A log of an older version has none.
    ///
    /// # Errors
    /// The log cannot be read.
    pub fn quality(&self, since_ms: Option<i64>, until_ms: Option<i64>, limit: usize) -> Result<Vec<QueryQuality>> {
        let found = self.with(|connection| {
            if !is_there(connection)? {
                return Ok(Vec::new());
            }
            let mut statement = connection.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM retrieval_quality WHERE at_ms >= ?1 AND at_ms < ?2 \
                 ORDER BY at_ms DESC, number DESC LIMIT ?3"
            ))?;
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let bounds = params![since_ms.unwrap_or(i64::MIN), until_ms.unwrap_or(i64::MAX), limit];
            let mut found: Vec<QueryQuality> = statement.query_map(bounds, read)?.collect::<rusqlite::Result<_>>()?;
            found.reverse();
            Ok(found)
        })?;
        Ok(found.unwrap_or_default())
    }
}

/// Whether the log has the table: one that cannot be written is read at the version it has.
pub(super) fn is_there(connection: &Connection) -> rusqlite::Result<bool> {
    let mut statement =
        connection.prepare_cached("SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'retrieval_quality')")?;
    statement.query_row([], |row| row.get(0))
}

/// Takes down how a query was served. Every so often those beyond the retained ones go.
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

/// Deletes what is older than the last `retained` numbers, the last of which is `last`: no counting, so that it costs
/// what goes.
pub(super) fn purge(connection: &Connection, last: i64, retained: i64) -> rusqlite::Result<usize> {
    connection.prepare_cached("DELETE FROM retrieval_quality WHERE number <= ?1")?.execute([last - retained])
}

fn finite(value: Option<f64>) -> Option<f64> {
    value.filter(|value| value.is_finite())
}

/// Stages in milliseconds to the microsecond.
fn stages(milliseconds: &BTreeMap<String, f64>) -> String {
    let known = milliseconds.iter().filter(|(_, value)| value.is_finite());
    let rounded = known.map(|(stage, value)| (stage.clone(), ((value * 1000.0).round() / 1000.0).into()));
    serde_json::Value::Object(rounded.collect()).to_string()
}

fn read(row: &Row<'_>) -> rusqlite::Result<QueryQuality> {
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
