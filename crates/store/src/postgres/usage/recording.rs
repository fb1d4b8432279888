//! Recording a search and the quality of its answer.

use deadpool_postgres::Transaction;
use tokio_postgres::Statement;

use super::deleting;
use super::quality;
use super::text::{all_stored, stored};
use super::transactions::impatiently;
use crate::error::{Result, StoreError};
use crate::postgres::connection::Connections;
use crate::postgres::error::Failure;
use crate::usage::candidate_blob;
use crate::usage::rules::{PURGE_EVERY, check};
use crate::usage_record::{CallerKey, QueryQuality, RETAINED, RETAINED_QUALITY, RecordedSearch};

/// Identifiers are unique in all namespaces, and no index of a distributed table can say so. Two that are equal wait for each other.
const LOCK: &str = "SELECT pg_advisory_xact_lock(hashtextextended($1, 8386104280808947714))";

/// Takes the locks of several identifiers, in one order everywhere, so that nobody waits in a circle.
pub(super) const LOCK_ALL: &str = "SELECT pg_advisory_xact_lock(hashtextextended(id, 8386104280808947714)) \
     FROM (SELECT DISTINCT id FROM unnest($1::text[]) AS id ORDER BY id) AS ids";

const INSERT: &str = "INSERT INTO usage_searches(id, at_ms, entry_point, namespace, query_hash, query_text, mode, model, method, \
     scoring, kept, candidates, passages, score_background, similarity_mean, similarity_deviation, bm25_mean, candidate_ids, \
     evidence, caller, shown) \
     SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21 \
     WHERE NOT EXISTS (SELECT 1 FROM usage_searches WHERE id = $1) RETURNING number";

pub(super) fn record(connections: &Connections, search: &RecordedSearch, quality: Option<&QueryQuality>) -> Result<()> {
    check(search)?;
    let (number, quality_number) = impatiently(connections, async |transaction| {
        let id = stored(&search.id);
        let lock = transaction.prepare_cached(LOCK).await?;
        let insert = transaction.prepare_cached(INSERT).await?;
        let searched = async {
            let taken = || Failure::from(taken(connections, &search.id));
            insert_search(transaction, &insert, search).await?.ok_or_else(taken)
        };
        let locked = async { Ok(transaction.execute(&lock, &[&id]).await?) };
        // None waits for the answer to the one before.
        let (_, number, quality_number) =
            tokio::try_join!(biased; locked, searched, insert_quality(transaction, quality))?;
        Ok((number, quality_number))
    })?;
    // The search is recorded. What goes wrong here is made up for the next time.
    if number % PURGE_EVERY == 0 {
        let _ = impatiently(connections, async |transaction| deleting::some_searches(transaction, RETAINED).await);
    }
    if let Some(last) = quality_number.filter(|number| number % PURGE_EVERY == 0) {
        let _ = impatiently(connections, async |transaction| {
            deleting::some_quality(transaction, last, RETAINED_QUALITY).await
        });
    }
    Ok(())
}

/// Prepares what [`insert_search`] runs.
pub(super) async fn prepare(transaction: &tokio_postgres::Transaction<'_>) -> Result<Statement, Failure> {
    Ok(transaction.prepare(INSERT).await?)
}

/// Inserts the row of a search and returns its number; `None` if its identifier is taken.
pub(super) async fn insert_search(
    transaction: &tokio_postgres::Transaction<'_>,
    insert: &Statement,
    search: &RecordedSearch,
) -> Result<Option<i64>, Failure> {
    let candidate_ids = all_stored(search.candidates.iter().map(|candidate| candidate.passage.as_str()));
    let evidence = candidate_blob::encode(&search.candidates);
    let shown: Option<Vec<i64>> = search.shown.as_ref().map(|shown| shown.iter().copied().map(i64::from).collect());
    let row = transaction
        .query_opt(
            insert,
            &[
                &stored(&search.id),
                &search.at_ms,
                &stored(&search.entry_point),
                &stored(&search.namespace),
                &search.query_hash.as_slice(),
                &search.query_text.as_deref().map(stored),
                &stored(&search.mode),
                &search.model.as_deref().map(stored),
                &stored(&search.method),
                &stored(&search.scoring.to_string()),
                &i64::from(search.kept),
                &(search.candidates.len() as i64),
                &(search.passages as i64),
                &number(search.score_background),
                &number(search.similarity_mean),
                &number(search.similarity_deviation),
                &number(search.bm25_mean),
                &candidate_ids,
                &evidence,
                &search.caller.as_ref().map(CallerKey::bytes),
                &shown,
            ],
        )
        .await?;
    Ok(row.map(|row| row.get(0)))
}

async fn insert_quality(transaction: &Transaction<'_>, quality: Option<&QueryQuality>) -> Result<Option<i64>, Failure> {
    match quality {
        Some(quality) => quality::insert(transaction, quality).await.map(Some),
        None => Ok(None),
    }
}

/// A figure, unless it is not a number.
fn number(figure: Option<f64>) -> Option<f64> {
    figure.filter(|figure| !figure.is_nan())
}

fn taken(connections: &Connections, id: &str) -> StoreError {
    StoreError::Database {
        path: connections.address().into(),
        reason: format!("a search with the identifier {id} is recorded already"),
    }
}
