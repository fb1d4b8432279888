//! Reading searches back.

use tokio_postgres::{Row, Transaction};

use super::judgements;
use super::text::{original, stored};
use super::transactions::{Values, rows};
use crate::error::{Result, StoreError};
use crate::postgres::connection::Connections;
use crate::postgres::error::Failure;
use crate::usage::candidate_blob;
use crate::usage::rules::{at_most, period};
use crate::usage_record::{CallerKey, JudgedSearch, RecordedSearch, SearchSummary};

/// Reads whole searches; a condition follows.
const SELECT: &str = "SELECT number, id, at_ms, entry_point, namespace, query_hash, query_text, mode, model, method, scoring, kept, \
     passages, score_background, similarity_mean, similarity_deviation, bm25_mean, candidate_ids, evidence, caller, shown \
     FROM usage_searches WHERE";

/// A search and what other tables know it by.
pub(super) struct Found {
    pub number: i64,
    pub search: RecordedSearch,
}

/// Searches that a condition finds.
pub(super) async fn found(
    connections: &Connections,
    transaction: &Transaction<'_>,
    condition: &str,
    values: Values<'_>,
) -> Result<Vec<Found>, Failure> {
    let rows = transaction.query(&format!("{SELECT} {condition}"), values).await?;
    rows.iter().map(|row| Ok(search(connections, row)?)).collect()
}

pub(super) fn find(connections: &Connections, id: &str) -> Result<Option<RecordedSearch>> {
    let rows = rows(connections, &format!("{SELECT} id = $1"), &[&stored(id)])?;
    rows.first().map(|row| Ok(search(connections, row)?.search)).transpose()
}

pub(super) fn ids(
    connections: &Connections,
    since_ms: Option<i64>,
    until_ms: Option<i64>,
    limit: usize,
) -> Result<Vec<String>> {
    let select = "SELECT id FROM usage_searches WHERE at_ms >= $1 AND at_ms < $2 ORDER BY number DESC LIMIT $3";
    let [since, until, limit] = period(since_ms, until_ms, limit);
    let rows = rows(connections, select, &[&since, &until, &limit])?;
    Ok(rows.iter().rev().map(|row| original(row.get(0))).collect())
}

pub(super) fn recent(connections: &Connections, limit: usize) -> Result<Vec<SearchSummary>> {
    let select = "SELECT number, namespace, id, at_ms, entry_point, query_text, model, method, kept, candidates \
         FROM usage_searches ORDER BY number DESC LIMIT $1";
    connections.read(async |transaction| {
        let rows = transaction.query(select, &[&at_most(limit)]).await?;
        let searches = rows.iter().map(|row| (row.get(0), row.get(1)));
        let judged = judgements::of_searches(transaction, searches).await?;
        let summaries = rows.iter().map(|row| {
            let judgements = judged.get(&row.get(0)).map_or(&[][..], Vec::as_slice);
            let relevant = judgements.iter().filter(|judgement| judgement.relevant).count() as u32;
            SearchSummary {
                id: original(row.get(2)),
                at_ms: row.get(3),
                entry_point: original(row.get(4)),
                query: row.get::<_, Option<String>>(5).map(original),
                model: row.get::<_, Option<String>>(6).map(original),
                method: original(row.get(7)),
                kept: unsigned(row, 8),
                candidates: unsigned(row, 9),
                relevant,
                not_relevant: judgements.len() as u32 - relevant,
            }
        });
        Ok(summaries.collect())
    })
}

pub(super) fn judged(connections: &Connections) -> Result<Vec<JudgedSearch>> {
    judged_where(connections, "judged", &[])
}

pub(super) fn judged_as(
    connections: &Connections,
    query_hash: &[u8; 32],
    namespace: &str,
) -> Result<Vec<JudgedSearch>> {
    let condition = "judged AND query_hash = $1 AND namespace = $2";
    judged_where(connections, condition, &[&query_hash.as_slice(), &stored(namespace)])
}

fn judged_where(connections: &Connections, condition: &str, values: Values<'_>) -> Result<Vec<JudgedSearch>> {
    connections.read(async |transaction| {
        let found = found(connections, transaction, &format!("{condition} ORDER BY number"), values).await?;
        let searches = found.iter().map(|found| (found.number, stored(&found.search.namespace).into_owned()));
        let mut judged = judgements::of_searches(transaction, searches).await?;
        let searches = found
            .into_iter()
            .filter_map(|Found { number, search }| Some(JudgedSearch { search, judgements: judged.remove(&number)? }));
        Ok(searches.collect())
    })
}

fn search(connections: &Connections, row: &Row) -> Result<Found> {
    let text = |column: usize| original(row.get(column));
    let known_text = |column: usize| row.get::<_, Option<String>>(column).map(original);
    let id = text(1);
    let damage = |reason: String| damaged(connections, format!("search {id}: {reason}"));
    let passages = row.get::<_, Vec<String>>(17).into_iter().map(original).collect();
    let candidates = candidate_blob::decode(passages, row.get(18))
        .ok_or_else(|| damage("the evidence does not match the candidates".to_owned()))?;
    let caller = match row.get::<_, Option<&[u8]>>(19) {
        Some(_) => Some(CallerKey::from_bytes(array(connections, row, 19)?)),
        None => None,
    };
    let shown = row.get::<_, Option<Vec<i64>>>(20);
    let search = RecordedSearch {
        at_ms: row.get(2),
        entry_point: text(3),
        namespace: text(4),
        query_hash: array(connections, row, 5)?,
        query_text: known_text(6),
        mode: text(7),
        model: known_text(8),
        method: text(9),
        scoring: text(10).parse().map_err(|error: crate::scoring::ScoringKeyError| damage(error.to_string()))?,
        kept: unsigned(row, 11),
        passages: row.get::<_, i64>(12) as u64,
        score_background: row.get(13),
        similarity_mean: row.get(14),
        similarity_deviation: row.get(15),
        bm25_mean: row.get(16),
        candidates,
        caller,
        shown: shown.map(|shown| shown.into_iter().map(|position| position as u32).collect()),
        id,
    };
    Ok(Found { number: row.get(0), search })
}

/// A count that is never negative and fits; PostgreSQL has signed integers alone.
pub(super) fn unsigned(row: &Row, column: usize) -> u32 {
    row.get::<_, i64>(column) as u32
}

/// Bytes of a fixed number.
pub(super) fn array<const LENGTH: usize>(connections: &Connections, row: &Row, column: usize) -> Result<[u8; LENGTH]> {
    let bytes: &[u8] = row.get(column);
    let wrong = |_| damaged(connections, format!("expected {LENGTH} bytes, found {}", bytes.len()));
    bytes.try_into().map_err(wrong)
}

/// The error for a row that cannot have been written by this program.
pub(super) fn damaged(connections: &Connections, reason: String) -> StoreError {
    StoreError::Database { path: connections.address().into(), reason }
}
