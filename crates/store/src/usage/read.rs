//! Reading searches and judgements back.

use rusqlite::{Connection, Row, params, types};

use super::rules::{at_most, period};
use super::{candidate_blob, schema};
use crate::query::{all, one};
use crate::scoring::ScoringKey;
use crate::usage_record::{CallerKey, JudgedSearch, Judgement, LabelVersion, RecordedSearch, SearchSummary};

/// Reads whole searches. The columns depend on the version of the log.
fn select(connection: &Connection, condition: &str) -> rusqlite::Result<(String, schema::ScoringColumn)> {
    let scoring = schema::scoring_column(connection)?;
    let answered = if schema::has_labels(connection)? { "caller, shown" } else { "NULL, NULL" };
    let sql = format!(
        "SELECT number, id, at_ms, entry_point, namespace, query_hash, query_text, mode, model, method, {}, \
         kept, passages, score_background, similarity_mean, similarity_deviation, bm25_mean, candidate_ids, evidence, \
         {answered} FROM searches WHERE {condition}",
        scoring.name()
    );
    Ok((sql, scoring))
}

/// Searches that a condition finds, with their numbers.
pub(super) fn searches_where(
    connection: &Connection,
    condition: &str,
    values: impl rusqlite::Params,
) -> rusqlite::Result<Vec<(i64, RecordedSearch)>> {
    let (sql, scoring) = select(connection, condition)?;
    all(connection, &sql, values, |row| read_search(row, scoring))
}

pub(super) fn search(connection: &Connection, id: &str) -> rusqlite::Result<Option<RecordedSearch>> {
    let (sql, scoring) = select(connection, "id = ?1")?;
    let found = one(connection, &sql, [id], |row| read_search(row, scoring))?;
    Ok(found.map(|(_, search)| search))
}

pub(super) fn recent(connection: &Connection, limit: usize) -> rusqlite::Result<Vec<SearchSummary>> {
    let sql = "SELECT number, id, at_ms, entry_point, query_text, model, method, kept, candidates \
               FROM searches ORDER BY number DESC LIMIT ?1";
    let rows: Vec<(i64, SearchSummary)> = all(connection, sql, [at_most(limit)], |row| {
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
        Ok((row.get(0)?, summary))
    })?;
    let counted = rows.into_iter().map(|(number, mut summary)| {
        let judgements = judgements(connection, number)?;
        summary.relevant = judgements.iter().filter(|judgement| judgement.relevant).count() as u32;
        summary.not_relevant = judgements.len() as u32 - summary.relevant;
        Ok(summary)
    });
    counted.collect()
}

pub(super) fn search_ids(
    connection: &Connection,
    since_ms: Option<i64>,
    until_ms: Option<i64>,
    limit: usize,
) -> rusqlite::Result<Vec<String>> {
    let sql = "SELECT id FROM searches WHERE at_ms >= ?1 AND at_ms < ?2 ORDER BY number DESC LIMIT ?3";
    let mut ids: Vec<String> = all(connection, sql, period(since_ms, until_ms, limit), |row| row.get(0))?;
    ids.reverse();
    Ok(ids)
}

pub(super) fn judged(connection: &Connection) -> rusqlite::Result<Vec<JudgedSearch>> {
    judged_where(connection, "judged = 1 ORDER BY number", [])
}

pub(super) fn judged_as(
    connection: &Connection,
    query_hash: &[u8; 32],
    namespace: &str,
) -> rusqlite::Result<Vec<JudgedSearch>> {
    let condition = "judged = 1 AND query_hash = ?1 AND namespace = ?2 ORDER BY number";
    judged_where(connection, condition, params![query_hash.as_slice(), namespace])
}

fn judged_where(
    connection: &Connection,
    condition: &str,
    values: impl rusqlite::Params,
) -> rusqlite::Result<Vec<JudgedSearch>> {
    let mut judged = Vec::new();
    for (number, search) in searches_where(connection, condition, values)? {
        let judgements = judgements(connection, number)?;
        if !judgements.is_empty() {
            judged.push(JudgedSearch { search, judgements });
        }
    }
    Ok(judged)
}

pub(super) fn label_version(connection: &Connection) -> rusqlite::Result<LabelVersion> {
    let version = |table: &str| {
        let sql = format!("SELECT count(*), ifnull(max(number), 0) FROM {table}");
        connection.prepare_cached(&sql)?.query_row([], |row| Ok((row.get(0)?, row.get(1)?)))
    };
    let openings = if schema::has_labels(connection)? { version("openings")? } else { (0, 0) };
    Ok(LabelVersion { judgements: version("judgements")?, openings })
}

pub(super) fn judgements_of(connection: &Connection, id: &str) -> rusqlite::Result<Vec<Judgement>> {
    number(connection, id)?.map_or(Ok(Vec::new()), |number| judgements(connection, number))
}

/// The number of the search called `id`.
pub(super) fn number(connection: &Connection, id: &str) -> rusqlite::Result<Option<i64>> {
    one(connection, "SELECT number FROM searches WHERE id = ?1", [id], |row| row.get(0))
}

/// The last judgement of each passage, in the order in which these were given. Those with a grade, which a model
/// gave, are kept and not read.
fn judgements(connection: &Connection, search: i64) -> rusqlite::Result<Vec<Judgement>> {
    let by_people = if schema::has_labels(connection)? { "AND grade IS NULL" } else { "" };
    let sql = format!(
        "SELECT passage, relevant, in_pool, at_ms FROM judgements j WHERE search = ?1 AND number = (SELECT max(number) \
         FROM judgements WHERE search = j.search AND passage = j.passage {by_people}) ORDER BY number"
    );
    all(connection, &sql, [search], |row| {
        Ok(Judgement { passage: row.get(0)?, relevant: row.get(1)?, in_pool: row.get(2)?, at_ms: row.get(3)? })
    })
}

fn read_search(row: &Row<'_>, scoring: schema::ScoringColumn) -> rusqlite::Result<(i64, RecordedSearch)> {
    let damaged = |column: usize, error: Box<dyn std::error::Error + Send + Sync>| {
        rusqlite::Error::FromSqlConversionFailure(column, types::Type::Text, error)
    };
    let scoring: ScoringKey = scoring.read(row.get_ref(10)?.as_str()?).map_err(|error| damaged(10, error.into()))?;
    let passages: Vec<String> =
        serde_json::from_str(row.get_ref(17)?.as_str()?).map_err(|error| damaged(17, error.into()))?;
    let candidates = candidate_blob::decode(passages, row.get_ref(18)?.as_blob()?)
        .ok_or_else(|| damaged(18, "the evidence does not match the candidates".into()))?;
    let caller: Option<[u8; 16]> = row.get(19)?;
    let shown: Option<String> = row.get(20)?;
    let shown =
        shown.map(|shown| serde_json::from_str(&shown).map_err(|error| damaged(20, error.into()))).transpose()?;
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
        scoring,
        kept: row.get(11)?,
        passages: crate::query::unsigned(row, 12)?,
        score_background: row.get(13)?,
        similarity_mean: row.get(14)?,
        similarity_deviation: row.get(15)?,
        bm25_mean: row.get(16)?,
        candidates,
        caller: caller.map(CallerKey::from_bytes),
        shown,
    };
    Ok((row.get(0)?, search))
}
