//! Handing the records of a log to another log, whatever keeps it.

use std::collections::{HashMap, HashSet};

use super::database::{Lock, Row, Session, Value, all, by_search, first, values};
use super::openings;
use super::searches::{self, Found, found};
use crate::error::StoreError;
use crate::usage_record::{LoggedGrade, LoggedJudgement, LoggedSearch};

/// The searches that a condition finds, with all that was recorded of them.
pub(super) async fn logged<E>(
    session: &dyn Session<E>,
    condition: &str,
    values: &[Value],
) -> Result<Vec<LoggedSearch>, E> {
    let searches = found(session, condition, values).await?;
    let mut judgements = judgements(session, &searches).await?;
    let mut openings = openings::of_searches(session, &searches).await?;
    let whole = searches.into_iter().map(|Found { number, search }| LoggedSearch {
        number,
        judgements: judgements.remove(&number).unwrap_or_default(),
        openings: openings.remove(&number).unwrap_or_default(),
        search,
    });
    Ok(whole.collect())
}

/// All judgements of searches, by the number of their search, in the order of recording.
async fn judgements<E>(session: &dyn Session<E>, searches: &[Found]) -> Result<HashMap<i64, Vec<LoggedJudgement>>, E> {
    let select = |namespaces, numbers| {
        format!(
            "SELECT j.search, j.passage, j.relevant, j.in_pool, j.at_ms, g.model, g.pair FROM usage_judgements j \
             LEFT JOIN usage_grades g ON g.number = j.grade WHERE j.namespace {namespaces} AND j.search {numbers} ORDER BY j.number"
        )
    };
    by_search(session, searches.iter().map(Found::key), select, |row| {
        Ok(LoggedJudgement {
            passage: row.next()?,
            relevant: row.next()?,
            in_pool: row.next()?,
            at_ms: row.next()?,
            grade: row.next::<Option<String>>()?.zip(row.next()?),
        })
    })
    .await
}

/// Searches by identifier.
pub(super) async fn named<E>(session: &dyn Session<E>, ids: &[&str]) -> Result<HashMap<String, LoggedSearch>, E> {
    let ids: Vec<String> = ids.iter().map(|id| (*id).to_owned()).collect();
    let found = logged(session, &format!("id {}", session.one_of(1)), values![ids]).await?;
    Ok(found.into_iter().map(|logged| (logged.search.id.clone(), logged)).collect())
}

/// Adds searches, and what is missing of those that are there.
pub(super) async fn add_searches<E: From<StoreError>>(
    session: &dyn Session<E>,
    searches: &[LoggedSearch],
) -> Result<u64, E> {
    let ids: Vec<&str> = searches.iter().map(|logged| logged.search.id.as_str()).collect();
    session.lock(Lock::Labels).await?;
    // Whoever records a search with one of these identifiers waits, and finds it taken.
    session.lock(Lock::Searches(&ids)).await?;
    let known = named(session, &ids).await?;
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
        let judged: HashSet<&LoggedJudgement> = there.iter().flat_map(|there| &there.judgements).collect();
        let mut is_changed = there.is_none();
        for judgement in logged.judgements.iter().filter(|judgement| !judged.contains(judgement)) {
            add_judgement(session, namespace, number, judgement).await?;
            is_changed = true;
        }
        for opening in &logged.openings {
            is_changed |= openings::add(session, namespace, number, opening).await? > 0;
        }
        changed += u64::from(is_changed);
    }
    Ok(changed)
}

async fn add_judgement<E: From<StoreError>>(
    session: &dyn Session<E>,
    namespace: &str,
    search: i64,
    judgement: &LoggedJudgement,
) -> Result<(), E> {
    let LoggedJudgement { passage, relevant, in_pool, at_ms, grade } = judgement;
    let mut number: Option<i64> = None;
    if let Some((model, pair)) = grade {
        let select = "SELECT number FROM usage_grades WHERE model = $1 AND pair = $2";
        number = first(session, select, values![model, pair.as_slice()], Row::next).await?;
        // Without the grade, a model's judgement would pass for a person's.
        if number.is_none() {
            let reason = "its grade is not recorded; add the grades first".to_owned();
            return Err(StoreError::Invalid { what: format!("a judgement by {model}"), reason }.into());
        }
    }
    let insert = "INSERT INTO usage_judgements(namespace, search, passage, relevant, in_pool, at_ms, grade) \
         VALUES ($1, $2, $3, $4, $5, $6, $7)";
    session.execute(insert, values![namespace, search, passage, *relevant, *in_pool, *at_ms, number]).await?;
    let update = "UPDATE usage_searches SET judged = true WHERE namespace = $1 AND number = $2";
    session.execute(update, values![namespace, search]).await?;
    Ok(())
}

/// The grades after a number, in the order of recording.
pub(super) async fn grades<E>(session: &dyn Session<E>, after: i64, limit: i64) -> Result<Vec<LoggedGrade>, E> {
    let select =
        "SELECT number, model, pair, grade, reason, at_ms FROM usage_grades WHERE number > $1 ORDER BY number LIMIT $2";
    all(session, select, values![after, limit], |row| {
        Ok(LoggedGrade {
            number: row.next()?,
            model: row.next()?,
            pair: row.next()?,
            grade: row.next()?,
            reason: row.next()?,
            at_ms: row.next()?,
        })
    })
    .await
}

/// Adds grades. Of two grades of a pair the later one stays.
pub(super) async fn add_grades<E>(session: &dyn Session<E>, grades: &[LoggedGrade]) -> Result<u64, E> {
    let put = "INSERT INTO usage_grades(model, pair, grade, reason, at_ms) VALUES ($1, $2, $3, $4, $5) \
         ON CONFLICT (model, pair) DO UPDATE SET grade = excluded.grade, reason = excluded.reason, at_ms = excluded.at_ms \
         WHERE excluded.at_ms > usage_grades.at_ms";
    session.lock(Lock::Rows).await?;
    let mut changed = 0;
    for LoggedGrade { model, pair, grade, reason, at_ms, .. } in grades {
        changed += session.execute(put, values![model, pair.as_slice(), *grade, reason, *at_ms]).await?;
    }
    Ok(changed)
}
