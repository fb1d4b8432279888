//! Shown passages that a caller opened after a search.

use std::collections::{HashMap, HashSet};

use super::database::by_search;
use super::searches::Found;
use crate::session::{Row, Session, read, values};
use crate::usage_record::LoggedOpening;

/// What a search showed: its namespace, its number, and the positions of these passages among its candidates, in the order shown.
pub(super) struct Shown {
    pub(super) namespace: String,
    pub(super) number: i64,
    pub(super) positions: Vec<i64>,
    pub(super) passages: Vec<String>,
}

/// Selects searches for [`shown`].
pub(super) const SHOWN: &str = "SELECT namespace, number, shown, candidate_ids FROM usage_searches";

/// Reads what a search showed of some passages.
pub(super) fn shown(row: &mut Row, wanted: &[&str]) -> Result<Shown, String> {
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
        Ok(read!(row => LoggedOpening { passage, entry_point, at_ms }))
    })
    .await
}
