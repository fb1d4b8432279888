//! Handing the records of a log to another log, whatever keeps it.

use std::collections::{HashMap, HashSet};

use tokio_postgres::{Row, Transaction};

use super::searches::{Found, array, found};
use super::text::{all_stored, original, stored};
use super::transactions::{LABELS, patiently, rows};
use super::{quality, recording};
use crate::error::{Result, StoreError};
use crate::postgres::connection::Connections;
use crate::postgres::error::Failure;
use crate::usage::rules::{at_most, check};
use crate::usage_record::{LoggedGrade, LoggedJudgement, LoggedOpening, LoggedSearch, QueryQuality};

const JUDGEMENTS: &str = "SELECT j.search, j.passage, j.relevant, j.in_pool, j.at_ms, g.model, g.pair FROM usage_judgements j \
     LEFT JOIN usage_grades g ON g.number = j.grade WHERE j.namespace = ANY($1) AND j.search = ANY($2) ORDER BY j.number";

const OPENINGS: &str = "SELECT search, passage, entry_point, at_ms FROM usage_openings \
     WHERE namespace = ANY($1) AND search = ANY($2) ORDER BY number";

/// The searches after a number, in the order of recording.
pub(super) fn searches(connections: &Connections, after: i64, limit: usize) -> Result<Vec<LoggedSearch>> {
    connections.read(async |transaction| {
        let values: &[&(dyn tokio_postgres::types::ToSql + Sync)] = &[&after, &at_most(limit)];
        let condition = "number > $1 ORDER BY number LIMIT $2";
        let searches = found(connections, transaction, condition, values).await?;
        logged(connections, transaction, searches).await
    })
}

/// Searches by identifier, in the order given.
pub(super) fn searches_named(connections: &Connections, ids: &[&str]) -> Result<Vec<Option<LoggedSearch>>> {
    let wanted = all_stored(ids.iter().copied());
    let found = connections.read(async |transaction| {
        let searches = found(connections, transaction, "id = ANY($1)", &[&wanted]).await?;
        logged(connections, transaction, searches).await
    })?;
    let mut found: HashMap<String, LoggedSearch> = found.into_iter().map(|one| (one.search.id.clone(), one)).collect();
    Ok(ids.iter().map(|id| found.remove(*id)).collect())
}

/// Searches with their judgements and openings.
async fn logged(
    connections: &Connections,
    transaction: &Transaction<'_>,
    searches: Vec<Found>,
) -> Result<Vec<LoggedSearch>, Failure> {
    let numbers: Vec<i64> = searches.iter().map(|found| found.number).collect();
    let namespaces: HashSet<&str> = searches.iter().map(|found| found.search.namespace.as_str()).collect();
    let namespaces = all_stored(namespaces);
    let mut judgements: HashMap<i64, Vec<LoggedJudgement>> = HashMap::new();
    for row in transaction.query(JUDGEMENTS, &[&namespaces, &numbers]).await? {
        judgements.entry(row.get(0)).or_default().push(judgement(connections, &row)?);
    }
    let mut openings: HashMap<i64, Vec<LoggedOpening>> = HashMap::new();
    for row in transaction.query(OPENINGS, &[&namespaces, &numbers]).await? {
        let opening =
            LoggedOpening { passage: original(row.get(1)), entry_point: original(row.get(2)), at_ms: row.get(3) };
        openings.entry(row.get(0)).or_default().push(opening);
    }
    let whole = searches.into_iter().map(|Found { number, search }| LoggedSearch {
        number,
        judgements: judgements.remove(&number).unwrap_or_default(),
        openings: openings.remove(&number).unwrap_or_default(),
        search,
    });
    Ok(whole.collect())
}

fn judgement(connections: &Connections, row: &Row) -> Result<LoggedJudgement> {
    let grade = match row.get::<_, Option<String>>(5) {
        Some(model) => Some((original(model), array(connections, row, 6)?)),
        None => None,
    };
    Ok(LoggedJudgement {
        passage: original(row.get(1)),
        relevant: row.get(2),
        in_pool: row.get(3),
        at_ms: row.get(4),
        grade,
    })
}

/// Adds searches, and what is missing of those that are there.
pub(super) fn add_searches(connections: &Connections, searches: &[LoggedSearch]) -> Result<u64> {
    for logged in searches {
        check(&logged.search)?;
    }
    let ids = all_stored(searches.iter().map(|logged| logged.search.id.as_str()));
    patiently(connections, LABELS, async |transaction| {
        // Whoever records a search with one of these identifiers waits, and finds it taken.
        transaction.execute(recording::LOCK_ALL, &[&ids]).await?;
        let known = found(connections, transaction, "id = ANY($1)", &[&ids]).await?;
        let known = logged(connections, transaction, known).await?;
        let known: HashMap<&str, &LoggedSearch> = known.iter().map(|one| (one.search.id.as_str(), one)).collect();
        let insert = recording::prepare(transaction).await?;
        let mut changed = 0;
        let mut added = HashSet::new();
        for logged in searches.iter().filter(|logged| added.insert(logged.search.id.as_str())) {
            let there = known.get(logged.search.id.as_str());
            let number = match there {
                Some(there) => Some(there.number),
                None => recording::insert_search(transaction, &insert, &logged.search).await?,
            };
            let Some(number) = number else { continue };
            let namespace = there.map_or(&logged.search.namespace, |there| &there.search.namespace);
            let labels = Labels { connections, transaction, namespace, number };
            let judged =
                labels.add_judgements(&logged.judgements, there.map_or(&[], |there| &there.judgements)).await?;
            let opened = labels.add_openings(&logged.openings).await?;
            changed += u64::from(there.is_none() || judged || opened);
        }
        Ok(changed)
    })
}

/// Adds judgements and openings of a search.
struct Labels<'t, 'c> {
    connections: &'t Connections,
    transaction: &'t Transaction<'c>,
    namespace: &'t str,
    number: i64,
}

impl Labels<'_, '_> {
    /// Adds the judgements that are not known. Returns `true` if there are any.
    async fn add_judgements(&self, judgements: &[LoggedJudgement], known: &[LoggedJudgement]) -> Result<bool, Failure> {
        let known: HashSet<&LoggedJudgement> = known.iter().collect();
        let new: Vec<&LoggedJudgement> = judgements.iter().filter(|judgement| !known.contains(judgement)).collect();
        if new.is_empty() {
            return Ok(false);
        }
        let grades = self.grades(&new).await?;
        let insert = "INSERT INTO usage_judgements(namespace, search, passage, relevant, in_pool, at_ms, grade) \
             SELECT $1, $2, j.passage, j.relevant, j.in_pool, j.at_ms, j.grade \
             FROM unnest($3::text[], $4::boolean[], $5::boolean[], $6::bigint[], $7::bigint[]) \
             WITH ORDINALITY AS j(passage, relevant, in_pool, at_ms, grade, place) ORDER BY j.place";
        let passages = all_stored(new.iter().map(|judgement| judgement.passage.as_str()));
        let relevant: Vec<bool> = new.iter().map(|judgement| judgement.relevant).collect();
        let in_pool: Vec<bool> = new.iter().map(|judgement| judgement.in_pool).collect();
        let at_ms: Vec<i64> = new.iter().map(|judgement| judgement.at_ms).collect();
        let namespace = stored(self.namespace);
        self.transaction
            .execute(insert, &[&namespace, &self.number, &passages, &relevant, &in_pool, &at_ms, &grades])
            .await?;
        let judged = "UPDATE usage_searches SET judged = true WHERE namespace = $1 AND number = $2";
        self.transaction.execute(judged, &[&namespace, &self.number]).await?;
        Ok(true)
    }

    /// The numbers of the grades that judgements were made from.
    async fn grades(&self, judgements: &[&LoggedJudgement]) -> Result<Vec<Option<i64>>, Failure> {
        let wanted: Vec<&(String, [u8; 32])> =
            judgements.iter().filter_map(|judgement| judgement.grade.as_ref()).collect();
        let mut numbers: HashMap<(String, [u8; 32]), i64> = HashMap::new();
        if !wanted.is_empty() {
            let select = "SELECT model, pair, number FROM usage_grades WHERE model = ANY($1) AND pair = ANY($2)";
            let models = all_stored(wanted.iter().map(|(model, _)| model.as_str()));
            let pairs: Vec<&[u8]> = wanted.iter().map(|(_, pair)| pair.as_slice()).collect();
            for row in self.transaction.query(select, &[&models, &pairs]).await? {
                numbers.insert((original(row.get(0)), array(self.connections, &row, 1)?), row.get(2));
            }
        }
        // Without the grade, a model's judgement would pass for a person's.
        let missing = |model: &str| StoreError::Invalid {
            what: format!("a judgement by {model}"),
            reason: "its grade is not recorded; add the grades first".to_owned(),
        };
        let number = |judgement: &&LoggedJudgement| match &judgement.grade {
            Some(grade) => Ok(Some(*numbers.get(grade).ok_or_else(|| missing(&grade.0))?)),
            None => Ok(None),
        };
        judgements.iter().map(number).collect()
    }

    /// Adds openings. Returns `true` if one is new.
    async fn add_openings(&self, openings: &[LoggedOpening]) -> Result<bool, Failure> {
        if openings.is_empty() {
            return Ok(false);
        }
        let insert = "INSERT INTO usage_openings(namespace, search, passage, entry_point, at_ms) \
             SELECT $1, $2, o.passage, o.entry_point, o.at_ms FROM unnest($3::text[], $4::text[], $5::bigint[]) \
             WITH ORDINALITY AS o(passage, entry_point, at_ms, place) ORDER BY o.place \
             ON CONFLICT (namespace, search, passage) DO NOTHING";
        let passages = all_stored(openings.iter().map(|opening| opening.passage.as_str()));
        let entry_points = all_stored(openings.iter().map(|opening| opening.entry_point.as_str()));
        let at_ms: Vec<i64> = openings.iter().map(|opening| opening.at_ms).collect();
        let values: &[&(dyn tokio_postgres::types::ToSql + Sync)] =
            &[&stored(self.namespace), &self.number, &passages, &entry_points, &at_ms];
        Ok(self.transaction.execute(insert, values).await? > 0)
    }
}

/// The grades after a number, in the order of recording.
pub(super) fn grades(connections: &Connections, after: i64, limit: usize) -> Result<Vec<LoggedGrade>> {
    let select =
        "SELECT number, model, pair, grade, reason, at_ms FROM usage_grades WHERE number > $1 ORDER BY number LIMIT $2";
    let found = rows(connections, select, &[&after, &at_most(limit)])?;
    let grade = |row: &Row| {
        Ok(LoggedGrade {
            number: row.get(0),
            model: original(row.get(1)),
            pair: array(connections, row, 2)?,
            grade: row.get::<_, Option<i16>>(3).map(|grade| grade as u8),
            reason: original(row.get(4)),
            at_ms: row.get(5),
        })
    };
    found.iter().map(grade).collect()
}

/// Adds grades. Of two grades of a pair the later one stays.
pub(super) fn add_grades(connections: &Connections, grades: &[LoggedGrade]) -> Result<u64> {
    let put = "INSERT INTO usage_grades AS known (model, pair, grade, reason, at_ms) VALUES ($1, $2, $3, $4, $5) \
         ON CONFLICT (model, pair) DO UPDATE SET grade = excluded.grade, reason = excluded.reason, at_ms = excluded.at_ms \
         WHERE excluded.at_ms > known.at_ms";
    patiently(connections, "", async |transaction| {
        let put = transaction.prepare(put).await?;
        let mut changed = 0;
        for LoggedGrade { model, pair, grade, reason, at_ms, .. } in grades {
            let grade = grade.map(i16::from);
            changed +=
                transaction.execute(&put, &[&stored(model), &pair.as_slice(), &grade, &stored(reason), at_ms]).await?;
        }
        Ok(changed)
    })
}

/// Adds quality rows.
pub(super) fn add_quality(connections: &Connections, new: &[QueryQuality]) -> Result<()> {
    patiently(connections, "", async |transaction| {
        let insert = quality::prepare(transaction).await?;
        for row in new {
            quality::put(transaction, &insert, row).await?;
        }
        Ok(())
    })
}
