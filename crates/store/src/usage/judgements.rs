//! Judgements of passages.

use std::collections::{HashMap, HashSet};

use super::database::by_search;
use crate::session::{Lock, Session, first, values};
use crate::usage_record::{Judgement, LabelVersion};

/// Records judgements; `None` if the search does not exist.
pub(super) async fn add<E>(
    session: &dyn Session<E>,
    id: &str,
    judged: &[(&str, bool)],
    at_ms: i64,
) -> Result<Option<Vec<Judgement>>, E> {
    session.lock(Lock::Labels).await?;
    // Once it is changed, the search stays until the transaction ends.
    let found = match judged {
        [] => "SELECT namespace, number, candidate_ids FROM usage_searches WHERE id = $1",
        _ => "UPDATE usage_searches SET judged = true WHERE id = $1 RETURNING namespace, number, candidate_ids",
    };
    let found = first(session, found, values![id], |row| {
        Ok((row.next::<String>()?, row.next::<i64>()?, row.next::<Vec<String>>()?))
    })
    .await?;
    let Some((namespace, number, candidates)) = found else { return Ok(None) };
    let candidates: HashSet<&str> = candidates.iter().map(String::as_str).collect();
    let mut recorded = Vec::with_capacity(judged.len());
    for &(passage, relevant) in judged {
        let in_pool = candidates.contains(passage);
        let insert = "INSERT INTO usage_judgements(namespace, search, passage, relevant, in_pool, at_ms) \
             VALUES ($1, $2, $3, $4, $5, $6)";
        session.execute(insert, values![&namespace, number, passage, relevant, in_pool, at_ms]).await?;
        recorded.push(Judgement { passage: passage.to_owned(), relevant, in_pool, at_ms });
    }
    Ok(Some(recorded))
}

/// Takes back what was said of passages in the search called `id` and in the others of the same question, and returns how many
/// judgements are gone; `None` if the search does not exist.
pub(super) async fn remove<E>(session: &dyn Session<E>, id: &str, passages: &[&str]) -> Result<Option<u64>, E> {
    session.lock(Lock::Labels).await?;
    let select = "SELECT namespace, query_hash FROM usage_searches WHERE id = $1";
    let found = first(session, select, values![id], |row| Ok((row.next::<String>()?, row.next::<[u8; 32]>()?))).await?;
    let Some((namespace, query_hash)) = found else { return Ok(None) };
    let mut removed = 0;
    for &passage in passages {
        let delete = "DELETE FROM usage_judgements WHERE namespace = $1 AND passage = $2 AND search IN \
             (SELECT number FROM usage_searches WHERE namespace = $1 AND query_hash = $3 AND judged)";
        removed += session.execute(delete, values![&namespace, passage, query_hash.as_slice()]).await?;
    }
    let unjudged = "UPDATE usage_searches SET judged = false WHERE namespace = $1 AND query_hash = $2 AND judged AND NOT EXISTS \
         (SELECT 1 FROM usage_judgements j WHERE j.namespace = $1 AND j.search = usage_searches.number)";
    session.execute(unjudged, values![&namespace, query_hash.as_slice()]).await?;
    Ok(Some(removed))
}

/// The judgements that count, by the number of their search: the last one of each passage, in the order in which these were given.
pub(super) async fn that_count<'n, E>(
    session: &dyn Session<E>,
    searches: impl Iterator<Item = (i64, &'n str)>,
) -> Result<HashMap<i64, Vec<Judgement>>, E> {
    let select = |namespaces, numbers| {
        format!(
            "SELECT search, passage, relevant, in_pool, at_ms FROM usage_judgements j WHERE namespace {namespaces} AND search {numbers} \
             AND number = (SELECT max(number) FROM usage_judgements k WHERE k.namespace = j.namespace AND k.search = j.search \
             AND k.passage = j.passage) ORDER BY number"
        )
    };
    by_search(session, searches, select, |row| {
        Ok(Judgement { passage: row.next()?, relevant: row.next()?, in_pool: row.next()?, at_ms: row.next()? })
    })
    .await
}

/// The judgements that count for the search called `id`.
pub(super) async fn of_search<E>(session: &dyn Session<E>, id: &str) -> Result<Vec<Judgement>, E> {
    let select = "SELECT number, namespace FROM usage_searches WHERE id = $1";
    let search: Option<(i64, String)> =
        first(session, select, values![id], |row| Ok((row.next()?, row.next()?))).await?;
    let search = search.iter().map(|(number, namespace)| (*number, namespace.as_str()));
    Ok(that_count(session, search).await?.into_values().next().unwrap_or_default())
}

/// What changes with every judgement and opening.
pub(super) async fn version<E>(session: &dyn Session<E>) -> Result<LabelVersion, E> {
    let select = "SELECT j.count, j.last, o.count, o.last FROM \
         (SELECT count(*) AS count, coalesce(max(number), 0) AS last FROM usage_judgements) j, \
         (SELECT count(*) AS count, coalesce(max(number), 0) AS last FROM usage_openings) o";
    let version = first(session, select, &[], |row| {
        Ok(LabelVersion { judgements: (row.next()?, row.next()?), openings: (row.next()?, row.next()?) })
    })
    .await?;
    Ok(version.unwrap_or_default())
}
