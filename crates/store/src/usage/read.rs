//! Reading searches and judgements back.

use rusqlite::{Connection, OptionalExtension, Row, types};

use super::record::{JudgedSearch, Judgement, PastQuery, RecordedSearch, SearchSummary};
use super::{UsageLog, evidence};
use crate::error::Result;

const SEARCH: &str = "SELECT number, id, at_ms, entry_point, namespace, query_hash, query_text, mode, model, method, scale, \
     kept, passages, score_background, similarity_mean, similarity_deviation, bm25_mean, candidate_ids, evidence, \
     focus, evidence_sum \
     FROM searches";

impl UsageLog {
    /// The search called `id`.
    ///
    /// # Errors
    /// The log cannot be read.
    pub fn search(&self, id: &str) -> Result<Option<RecordedSearch>> {
        let found = self.with(|connection| {
            let mut statement = connection.prepare_cached(&format!("{SEARCH} WHERE id = ?1"))?;
            statement.query_row([id], |row| Ok(search(row)?.1)).optional()
        })?;
        Ok(found.flatten())
    }

    /// The last searches, the latest first, at most `limit`, with how many judgements each has.
    ///
    /// # Errors
    /// The log cannot be read.
    pub fn recent(&self, limit: usize) -> Result<Vec<SearchSummary>> {
        let found = self.with(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT number, id, at_ms, entry_point, query_text, model, method, kept, candidates \
                 FROM searches ORDER BY number DESC LIMIT ?1",
            )?;
            let rows = statement.query_map([i64::try_from(limit).unwrap_or(i64::MAX)], |row| {
                let summary = SearchSummary {
                    id: row.get(1)?,
                    at_ms: row.get(2)?,
                    entry_point: row.get(3)?,
                    query: row.get(4)?,
                    model: row.get(5)?,
                    method: row.get(6)?,
                    kept: row.get(7)?,
                    candidates: row.get(8)?,
                    relevant: 0,
                    not_relevant: 0,
                };
                Ok((row.get::<_, i64>(0)?, summary))
            })?;
            let rows: Vec<(i64, SearchSummary)> = rows.collect::<rusqlite::Result<_>>()?;
            let counted = rows.into_iter().map(|(number, mut summary)| {
                let judgements = judgements(connection, number)?;
                summary.relevant = judgements.iter().filter(|judgement| judgement.relevant).count() as u32;
                summary.not_relevant = judgements.len() as u32 - summary.relevant;
                Ok(summary)
            });
            counted.collect()
        })?;
        Ok(found.unwrap_or_default())
    }

    /// The identifiers of the searches at or after `since_ms` and before `until_ms` (milliseconds since 1970; `None`: no
    /// bound), the earliest first, and of them the last `limit`.
    ///
    /// # Errors
    /// The log cannot be read.
    pub fn search_ids(&self, since_ms: Option<i64>, until_ms: Option<i64>, limit: usize) -> Result<Vec<String>> {
        let found = self.with(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT id FROM searches WHERE at_ms >= ?1 AND at_ms < ?2 ORDER BY number DESC LIMIT ?3",
            )?;
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let bounds = rusqlite::params![since_ms.unwrap_or(i64::MIN), until_ms.unwrap_or(i64::MAX), limit];
            let mut ids: Vec<String> =
                statement.query_map(bounds, |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
            ids.reverse();
            Ok(ids)
        })?;
        Ok(found.unwrap_or_default())
    }

    /// Every search that has a judgement, the earliest first, with the judgements that count.
    ///
    /// # Errors
    /// The log cannot be read.
    pub fn judged(&self) -> Result<Vec<JudgedSearch>> {
        let found = self.with(|connection| {
            let mut statement = connection.prepare_cached(&format!("{SEARCH} WHERE judged = 1 ORDER BY number"))?;
            let searches: Vec<(i64, RecordedSearch)> =
                statement.query_map([], search)?.collect::<rusqlite::Result<_>>()?;
            let judged = searches
                .into_iter()
                .map(|(number, search)| Ok(JudgedSearch { search, judgements: judgements(connection, number)? }));
            judged.collect()
        })?;
        Ok(found.unwrap_or_default())
    }

    /// Focus and evidence of the last `limit` searches of a namespace with this model, of each query once.
    ///
    /// # Errors
    /// The log cannot be read.
    pub fn profile(&self, namespace: &str, model: Option<&str>, limit: usize) -> Result<Vec<PastQuery>> {
        let found = self.with(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT focus, evidence_sum, max(number) FROM (SELECT number, query_hash, focus, evidence_sum FROM searches \
                 WHERE namespace = ?1 AND model IS ?2 ORDER BY number DESC LIMIT ?3) GROUP BY query_hash",
            )?;
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let rows = statement.query_map(rusqlite::params![namespace, model, limit], |row| {
                Ok(PastQuery { coverage_drop: row.get(0)?, evidence: row.get(1)? })
            })?;
            rows.collect()
        })?;
        Ok(found.unwrap_or_default())
    }

    /// How many judgements there are, and the number of the last one: together they change with every one that is given
    /// or forgotten.
    ///
    /// # Errors
    /// The log cannot be read.
    pub fn judgement_count(&self) -> Result<(i64, i64)> {
        let found = self.with(|connection| {
            let mut statement = connection.prepare_cached("SELECT count(*), ifnull(max(number), 0) FROM judgements")?;
            statement.query_row([], |row| Ok((row.get(0)?, row.get(1)?)))
        })?;
        Ok(found.unwrap_or_default())
    }

    /// The judgements of a search that count; none when there is no such search.
    ///
    /// # Errors
    /// The log cannot be read.
    pub fn judgements(&self, id: &str) -> Result<Vec<Judgement>> {
        let found = self.with(|connection| {
            let mut statement = connection.prepare_cached("SELECT number FROM searches WHERE id = ?1")?;
            match statement.query_row([id], |row| row.get(0)).optional()? {
                Some(number) => judgements(connection, number),
                None => Ok(Vec::new()),
            }
        })?;
        Ok(found.unwrap_or_default())
    }
}

/// Of each passage the last judgement, in the order in which these were given.
fn judgements(connection: &Connection, search: i64) -> rusqlite::Result<Vec<Judgement>> {
    let mut statement = connection.prepare_cached(
        "SELECT passage, relevant, in_pool, at_ms FROM judgements j WHERE search = ?1 AND number = \
         (SELECT max(number) FROM judgements WHERE search = j.search AND passage = j.passage) ORDER BY number",
    )?;
    let rows = statement.query_map([search], |row| {
        Ok(Judgement { passage: row.get(0)?, relevant: row.get(1)?, in_pool: row.get(2)?, at_ms: row.get(3)? })
    })?;
    rows.collect()
}

fn search(row: &Row<'_>) -> rusqlite::Result<(i64, RecordedSearch)> {
    let damaged = |column: usize, reason: &str| {
        rusqlite::Error::FromSqlConversionFailure(column, types::Type::Blob, reason.into())
    };
    let passages: Vec<String> = serde_json::from_str(row.get_ref(17)?.as_str()?)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(17, types::Type::Text, error.into()))?;
    let candidates = evidence::decode(passages, row.get_ref(18)?.as_blob()?)
        .ok_or_else(|| damaged(18, "the evidence is not that of the candidates"))?;
    let search = RecordedSearch {
        id: row.get(1)?,
        at_ms: row.get(2)?,
        entry_point: row.get(3)?,
        namespace: row.get(4)?,
        query_hash: row.get(5)?,
        query_text: row.get(6)?,
        mode: row.get(7)?,
        model: row.get(8)?,
        method: row.get(9)?,
        scale: row.get(10)?,
        kept: row.get(11)?,
        passages: row.get::<_, i64>(12)? as u64,
        score_background: row.get(13)?,
        similarity_mean: row.get(14)?,
        similarity_deviation: row.get(15)?,
        bm25_mean: row.get(16)?,
        coverage_drop: row.get(19)?,
        evidence: row.get(20)?,
        candidates,
    };
    Ok((row.get(0)?, search))
}
