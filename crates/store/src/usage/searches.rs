//! Searches: recording them, and reading them back.

use super::candidate_blob;
use super::judgements::{self, COUNTS};
use crate::session::{Row, Session, Value, all, bind, first, read, values};
use crate::usage_record::{JudgedSearch, RecordedSearch};

const COLUMNS: &str = "id, candidate_ids, evidence, at_ms, entry_point, namespace, query_hash, query_text, mode, model, method, scoring, \
     kept, passages, score_background, similarity_mean, similarity_deviation, bm25_mean, caller, shown";

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
    let evidence = candidate_blob::encode(&search.candidates);
    let mut values = values![&search.id, candidates, evidence.as_slice()].to_vec();
    values.extend(bind!(search =>
        at_ms, entry_point, namespace, query_hash, query_text, mode, model, method, scoring, kept, passages, score_background,
        similarity_mean, similarity_deviation, bm25_mean, caller, shown,
    ));
    values.push((search.candidates.len() as i64).into());
    first(session, &insert, &values, Row::next).await
}

/// Searches that a condition finds.
pub(super) async fn found<E>(session: &dyn Session<E>, condition: &str, values: &[Value]) -> Result<Vec<Found>, E> {
    let select = format!("SELECT number, {COLUMNS} FROM usage_searches WHERE {condition}");
    all(session, &select, values, |row| {
        let (number, id) = (row.next()?, row.next::<String>()?);
        let search = search(row).map_err(|reason| format!("search {id}: {reason}"))?;
        Ok(Found { number, search: RecordedSearch { id, ..search } })
    })
    .await
}

/// The rest of a search.
fn search(row: &mut Row) -> Result<RecordedSearch, String> {
    let candidates = candidate_blob::decode(row.next()?, &row.next::<Vec<u8>>()?)
        .ok_or("the evidence does not match the candidates")?;
    Ok(read!(row => RecordedSearch {
        at_ms, entry_point, namespace, query_hash, query_text, mode, model, method, scoring, kept, passages, score_background,
        similarity_mean, similarity_deviation, bm25_mean, caller, shown,
        ..RecordedSearch { candidates, ..RecordedSearch::default() }
    }))
}

/// Judged searches that a condition finds, earliest first, with the judgements that count.
pub(super) async fn judged<E>(
    session: &dyn Session<E>,
    condition: &str,
    values: &[Value],
) -> Result<Vec<JudgedSearch>, E> {
    let found = found(session, &format!("{condition} ORDER BY number"), values).await?;
    let mut judged = judgements::of_searches(session, found.iter().map(Found::key), COUNTS).await?;
    let with_judgements =
        |found: Found| Some(JudgedSearch { search: found.search, judgements: judged.remove(&found.number)? });
    Ok(found.into_iter().filter_map(with_judgements).collect())
}
