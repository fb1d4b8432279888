//! Handing the records of a log to another log, whatever keeps it.

use std::collections::{HashMap, HashSet};

use super::searches::{self, Found, found};
use super::{judgements, openings};
use crate::session::{Session, Value, values};
use crate::usage_record::{Judgement, LoggedSearch};

/// The searches that a condition finds, with all that was recorded of them.
pub(super) async fn logged<E>(
    session: &dyn Session<E>,
    condition: &str,
    values: &[Value],
) -> Result<Vec<LoggedSearch>, E> {
    let searches = found(session, condition, values).await?;
    let mut judgements = judgements::of_searches(session, searches.iter().map(Found::key), "").await?;
    let mut openings = openings::of_searches(session, &searches).await?;
    let whole = searches.into_iter().map(|Found { number, search }| LoggedSearch {
        number,
        judgements: judgements.remove(&number).unwrap_or_default(),
        openings: openings.remove(&number).unwrap_or_default(),
        search,
    });
    Ok(whole.collect())
}

/// Searches by identifier.
pub(super) async fn named<E>(session: &dyn Session<E>, ids: &[&str]) -> Result<HashMap<String, LoggedSearch>, E> {
    let ids: Vec<String> = ids.iter().map(|id| (*id).to_owned()).collect();
    let found = logged(session, &format!("id {}", session.one_of(1)), values![ids]).await?;
    Ok(found.into_iter().map(|logged| (logged.search.id.clone(), logged)).collect())
}

/// Adds searches, and what is missing of those that are known.
pub(super) async fn add_missing<E>(
    session: &dyn Session<E>,
    searches: &[LoggedSearch],
    known: &HashMap<String, LoggedSearch>,
) -> Result<u64, E> {
    let mut changed = 0;
    let mut added = HashSet::new();
    for logged in searches.iter().filter(|logged| added.insert(logged.search.id.as_str())) {
        let there = known.get(logged.search.id.as_str());
        let number = match there {
            Some(there) => Some(there.number),
            None => searches::insert(session, &logged.search).await?,
        };
        let Some(number) = number else { continue };
        let namespace = there.map_or(&logged.search.namespace, |there| &there.search.namespace);
        let judged: HashSet<&Judgement> = there.iter().flat_map(|there| &there.judgements).collect();
        let mut is_changed = there.is_none();
        for judgement in logged.judgements.iter().filter(|judgement| !judged.contains(judgement)) {
            judgements::insert(session, namespace, number, judgement).await?;
            let update = "UPDATE usage_searches SET judged = true WHERE namespace = $1 AND number = $2";
            session.execute(update, values![namespace, number]).await?;
            is_changed = true;
        }
        for opening in &logged.openings {
            is_changed |= openings::add(session, namespace, number, opening).await? > 0;
        }
        changed += u64::from(is_changed);
    }
    Ok(changed)
}
