//! Shown passages that a caller opened after a search.

use std::collections::{HashMap, HashSet};

use super::database::by_search;
use super::rules::{LOOKED_THROUGH, period};
use super::searches::{Found, found};
use crate::session::{Lock, Row, Session, all, first, values};
use crate::usage_record::{LoggedOpening, OpenedCount, OpenedSearch, Opening};

/// What a search showed: its namespace, its number, and the positions of these passages among its candidates, in the order shown.
struct Shown {
    namespace: String,
    number: i64,
    positions: Vec<i64>,
    passages: Vec<String>,
}

/// Reads what a search showed of some passages.
fn shown(row: &mut Row, wanted: &[&str]) -> Result<Shown, String> {
    let (namespace, number) = (row.next()?, row.next()?);
    let (positions, candidates): (Vec<i64>, Vec<String>) = (row.next()?, row.next()?);
    let wanted: HashSet<&str> = wanted.iter().copied().collect();
    let passage = |position: i64| {
        let passage = candidates.get(usize::try_from(position).ok()?)?;
        wanted.contains(passage.as_str()).then(|| (position, passage.clone()))
    };
    let (positions, passages) = positions.into_iter().filter_map(passage).unzip();
    Ok(Shown { namespace, number, positions, passages })
}

/// Credits the caller's latest search that showed one of the passages.
pub(super) async fn record<E>(session: &dyn Session<E>, opening: &Opening<'_>) -> Result<u64, E> {
    let select = "SELECT namespace, number, shown, candidate_ids FROM usage_searches \
         WHERE caller = $1 AND at_ms >= $2 AND shown IS NOT NULL ORDER BY number DESC LIMIT $3";
    let recent = values![opening.caller.bytes(), opening.since_ms, LOOKED_THROUGH];
    let searches = all(session, select, recent, |row| shown(row, opening.passages)).await?;
    // Most openings follow no search, and those write nothing.
    let Some(search) = searches.into_iter().find(|search| !search.passages.is_empty()) else { return Ok(0) };
    session.lock(Lock::Labels).await?;
    // The search may be deleted at the same time. It is then waited for, and nothing is added.
    let select = format!("SELECT number FROM usage_searches WHERE namespace = $1 AND number = $2{}", session.stays());
    let number = first(session, &select, values![&search.namespace, search.number], Row::next::<i64>).await?;
    let Some(number) = number else { return Ok(0) };
    let mut added = 0;
    for passage in search.passages {
        let opening = LoggedOpening { passage, entry_point: opening.entry_point.to_owned(), at_ms: opening.at_ms };
        added += add(session, &search.namespace, number, &opening).await?;
    }
    Ok(added)
}

/// Adds an opening, and returns 1 if it is new.
pub(super) async fn add<E>(
    session: &dyn Session<E>,
    namespace: &str,
    search: i64,
    opening: &LoggedOpening,
) -> Result<u64, E> {
    let insert = "INSERT INTO usage_openings(namespace, search, passage, entry_point, at_ms) VALUES ($1, $2, $3, $4, $5) \
         ON CONFLICT (namespace, search, passage) DO NOTHING";
    let LoggedOpening { passage, entry_point, at_ms } = opening;
    session.execute(insert, values![namespace, search, passage, entry_point, *at_ms]).await
}

/// Reduces what a search showed to these passages.
pub(super) async fn narrow<E>(session: &dyn Session<E>, id: &str, passages: &[&str]) -> Result<(), E> {
    session.lock(Lock::Rows).await?;
    let select =
        "SELECT namespace, number, shown, candidate_ids FROM usage_searches WHERE id = $1 AND shown IS NOT NULL";
    if let Some(search) = first(session, select, values![id], |row| shown(row, passages)).await? {
        let update = "UPDATE usage_searches SET shown = $3 WHERE namespace = $1 AND number = $2";
        session.execute(update, values![&search.namespace, search.number, search.positions]).await?;
    }
    Ok(())
}

/// The last searches with an opened result, earliest first.
pub(super) async fn last<E>(session: &dyn Session<E>, limit: i64) -> Result<Vec<OpenedSearch>, E> {
    let condition =
        "number IN (SELECT DISTINCT search FROM usage_openings ORDER BY search DESC LIMIT $1) ORDER BY number";
    let searches = found(session, condition, values![limit]).await?;
    let mut opened = of_searches(session, &searches).await?;
    let with_openings = |Found { number, search }| {
        let opened = opened.remove(&number).unwrap_or_default().into_iter().map(|opening| opening.passage).collect();
        OpenedSearch { search, opened }
    };
    Ok(searches.into_iter().map(with_openings).collect())
}

/// The openings of searches, by the number of their search, in the order of recording.
pub(super) async fn of_searches<E>(
    session: &dyn Session<E>,
    searches: &[Found],
) -> Result<HashMap<i64, Vec<LoggedOpening>>, E> {
    let select = |namespaces, numbers| {
        format!(
            "SELECT search, passage, entry_point, at_ms FROM usage_openings WHERE namespace {namespaces} AND search {numbers} \
             ORDER BY number"
        )
    };
    by_search(session, searches.iter().map(Found::key), select, |row| {
        Ok(LoggedOpening { passage: row.next()?, entry_point: row.next()?, at_ms: row.next()? })
    })
    .await
}

/// The number of results opened in a period.
pub(super) async fn count<E>(
    session: &dyn Session<E>,
    since_ms: Option<i64>,
    until_ms: Option<i64>,
    namespace: Option<&str>,
) -> Result<OpenedCount, E> {
    let select = "SELECT count(DISTINCT search), count(*) FROM usage_openings WHERE at_ms >= $1 AND at_ms < $2 \
         AND (CAST($3 AS text) IS NULL OR namespace = $3)";
    let [since, until, _] = period(since_ms, until_ms, 0);
    let counted = first(session, select, &[since, until, namespace.into()], |row| {
        Ok(OpenedCount { searches: row.next()?, passages: row.next()? })
    })
    .await?;
    Ok(counted.unwrap_or_default())
}
