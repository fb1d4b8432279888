//! Searches: recording them, and reading them back.

use super::rules::period;
use super::{candidate_blob, judgements};
use crate::scoring::ScoringKeyError;
use crate::session::{Row, Session, Value, all, first, values};
use crate::usage_record::{CallerKey, JudgedSearch, RecordedSearch, SearchSummary};

const COLUMNS: &str = "id, at_ms, entry_point, namespace, query_hash, query_text, mode, model, method, scoring, kept, passages, \
     score_background, similarity_mean, similarity_deviation, bm25_mean, candidate_ids, evidence, caller, shown";

/// A search and the number that other tables know it by.
pub(super) struct Found {
    pub number: i64,
    pub search: RecordedSearch,
}

impl Found {
    /// The number and the namespace.
    pub(super) fn key(&self) -> (i64, &str) {
        (self.number, &self.search.namespace)
    }
}

/// Inserts the row of a search and returns its number; `None` if its identifier is taken.
pub(super) async fn insert<E>(session: &dyn Session<E>, search: &RecordedSearch) -> Result<Option<i64>, E> {
    let insert = format!(
        "INSERT INTO usage_searches({COLUMNS}, candidates) \
         SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21 \
         WHERE NOT EXISTS (SELECT 1 FROM usage_searches WHERE id = $1) RETURNING number"
    );
    let candidates: Vec<String> = search.candidates.iter().map(|candidate| candidate.passage.clone()).collect();
    let shown: Option<Vec<i64>> = search.shown.as_ref().map(|shown| shown.iter().copied().map(i64::from).collect());
    let values = values![
        &search.id,
        search.at_ms,
        &search.entry_point,
        &search.namespace,
        search.query_hash.as_slice(),
        search.query_text.as_ref(),
        &search.mode,
        search.model.as_ref(),
        &search.method,
        search.scoring.to_string().as_str(),
        search.kept,
        search.passages,
        search.score_background,
        search.similarity_mean,
        search.similarity_deviation,
        search.bm25_mean,
        candidates,
        candidate_blob::encode(&search.candidates).as_slice(),
        search.caller.as_ref().map(CallerKey::bytes),
        shown,
        search.candidates.len() as i64,
    ];
    first(session, &insert, values, Row::next).await
}

/// Searches that a condition finds.
pub(super) async fn found<E>(session: &dyn Session<E>, condition: &str, values: &[Value]) -> Result<Vec<Found>, E> {
    let select = format!("SELECT number, {COLUMNS} FROM usage_searches WHERE {condition}");
    all(session, &select, values, |row| {
        let (number, id) = (row.next()?, row.next::<String>()?);
        let search = search(row, &id).map_err(|reason| format!("search {id}: {reason}"))?;
        Ok(Found { number, search: RecordedSearch { id, ..search } })
    })
    .await
}

/// The rest of a search.
fn search(row: &mut Row, id: &str) -> Result<RecordedSearch, String> {
    let search = RecordedSearch {
        id: id.to_owned(),
        at_ms: row.next()?,
        entry_point: row.next()?,
        namespace: row.next()?,
        query_hash: row.next()?,
        query_text: row.next()?,
        mode: row.next()?,
        model: row.next()?,
        method: row.next()?,
        scoring: row.next::<String>()?.parse().map_err(|error: ScoringKeyError| error.to_string())?,
        kept: row.next()?,
        passages: row.next()?,
        score_background: row.next()?,
        similarity_mean: row.next()?,
        similarity_deviation: row.next()?,
        bm25_mean: row.next()?,
        candidates: candidate_blob::decode(row.next()?, &row.next::<Vec<u8>>()?)
            .ok_or("the evidence does not match the candidates")?,
        caller: row.next::<Option<[u8; 16]>>()?.map(CallerKey::from_bytes),
        shown: row.next::<Option<Vec<i64>>>()?.map(|shown| shown.into_iter().map(|position| position as u32).collect()),
    };
    Ok(search)
}

/// The search called `id`.
pub(super) async fn named<E>(session: &dyn Session<E>, id: &str) -> Result<Option<RecordedSearch>, E> {
    Ok(found(session, "id = $1", values![id]).await?.pop().map(|found| found.search))
}

/// The identifiers of the last searches of a period, earliest first.
pub(super) async fn ids<E>(
    session: &dyn Session<E>,
    since_ms: Option<i64>,
    until_ms: Option<i64>,
    limit: usize,
) -> Result<Vec<String>, E> {
    let select = "SELECT id FROM usage_searches WHERE at_ms >= $1 AND at_ms < $2 ORDER BY number DESC LIMIT $3";
    let mut ids = all(session, select, &period(since_ms, until_ms, limit), Row::next).await?;
    ids.reverse();
    Ok(ids)
}

/// The last searches, latest first.
pub(super) async fn recent<E>(session: &dyn Session<E>, limit: i64) -> Result<Vec<SearchSummary>, E> {
    let select = "SELECT number, namespace, id, at_ms, entry_point, query_text, model, method, kept, candidates \
         FROM usage_searches ORDER BY number DESC LIMIT $1";
    let mut summaries = all(session, select, values![limit], |row| {
        let search: (i64, String) = (row.next()?, row.next()?);
        let summary = SearchSummary {
            id: row.next()?,
            at_ms: row.next()?,
            entry_point: row.next()?,
            query: row.next()?,
            model: row.next()?,
            method: row.next()?,
            kept: row.next()?,
            candidates: row.next()?,
            relevant: 0,
            not_relevant: 0,
        };
        Ok((search, summary))
    })
    .await?;
    let searches = summaries.iter().map(|((number, namespace), _)| (*number, namespace.as_str()));
    let judged = judgements::that_count(session, searches).await?;
    for ((number, _), summary) in &mut summaries {
        let judgements = judged.get(number).map_or(&[][..], Vec::as_slice);
        summary.relevant = judgements.iter().filter(|judgement| judgement.relevant).count() as u32;
        summary.not_relevant = judgements.len() as u32 - summary.relevant;
    }
    Ok(summaries.into_iter().map(|(_, summary)| summary).collect())
}

/// Judged searches that a condition finds, earliest first, with the judgements that count.
pub(super) async fn judged<E>(
    session: &dyn Session<E>,
    condition: &str,
    values: &[Value],
) -> Result<Vec<JudgedSearch>, E> {
    let found = found(session, &format!("{condition} ORDER BY number"), values).await?;
    let mut judged = judgements::that_count(session, found.iter().map(Found::key)).await?;
    let with_judgements =
        |found: Found| Some(JudgedSearch { search: found.search, judgements: judged.remove(&found.number)? });
    Ok(found.into_iter().filter_map(with_judgements).collect())
}
