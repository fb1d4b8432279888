//! Handing the records of a log to another log, whatever keeps it.

use std::collections::HashSet;

use rusqlite::{Connection, TransactionBehavior, params};

use super::read::{number, searches_where};
use super::rules::at_most;
use super::write::SearchRow;
use super::{quality, schema};
use crate::query::{all, execute};
use crate::usage_record::{LoggedGrade, LoggedJudgement, LoggedOpening, LoggedSearch, QueryQuality, RecordedSearch};

/// The searches after a number, in the order of recording.
pub(super) fn searches(connection: &Connection, after: i64, limit: usize) -> rusqlite::Result<Vec<LoggedSearch>> {
    let found = searches_where(connection, "number > ?1 ORDER BY number LIMIT ?2", [after, at_most(limit)])?;
    found.into_iter().map(|(number, search)| logged(connection, number, search)).collect()
}

/// Searches by identifier, in the order given.
pub(super) fn searches_named(connection: &Connection, ids: &[&str]) -> rusqlite::Result<Vec<Option<LoggedSearch>>> {
    let of = |id: &&str| {
        let found = searches_where(connection, "id = ?1", [id])?.pop();
        found.map(|(number, search)| logged(connection, number, search)).transpose()
    };
    ids.iter().map(of).collect()
}

fn logged(connection: &Connection, number: i64, search: RecordedSearch) -> rusqlite::Result<LoggedSearch> {
    let has_labels = schema::has_labels(connection)?;
    Ok(LoggedSearch {
        number,
        judgements: judgements(connection, number, has_labels)?,
        openings: if has_labels { openings(connection, number)? } else { Vec::new() },
        search,
    })
}

fn judgements(connection: &Connection, search: i64, has_labels: bool) -> rusqlite::Result<Vec<LoggedJudgement>> {
    let sql = match has_labels {
        true => {
            "SELECT j.passage, j.relevant, j.in_pool, j.at_ms, g.model, g.pair FROM judgements j \
             LEFT JOIN grades g ON g.number = j.grade WHERE j.search = ?1 ORDER BY j.number"
        }
        false => {
            "SELECT passage, relevant, in_pool, at_ms, NULL, NULL FROM judgements WHERE search = ?1 ORDER BY number"
        }
    };
    all(connection, sql, [search], |row| {
        let model: Option<String> = row.get(4)?;
        let pair: Option<[u8; 32]> = row.get(5)?;
        Ok(LoggedJudgement {
            passage: row.get(0)?,
            relevant: row.get(1)?,
            in_pool: row.get(2)?,
            at_ms: row.get(3)?,
            grade: model.zip(pair),
        })
    })
}

fn openings(connection: &Connection, search: i64) -> rusqlite::Result<Vec<LoggedOpening>> {
    let sql = "SELECT passage, entry_point, at_ms FROM openings WHERE search = ?1 ORDER BY number";
    all(connection, sql, [search], |row| {
        Ok(LoggedOpening { passage: row.get(0)?, entry_point: row.get(1)?, at_ms: row.get(2)? })
    })
}

/// Adds searches, and what is missing of those that are there. `rows` are the rows of the searches.
pub(super) fn add_searches(
    connection: &mut Connection,
    searches: &[LoggedSearch],
    rows: &[SearchRow<'_>],
) -> rusqlite::Result<u64> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut changed = 0;
    for (logged, row) in searches.iter().zip(rows) {
        let (search, mut is_changed) = match number(&transaction, &logged.search.id)? {
            Some(search) => (search, false),
            None => (row.put(&transaction)?, true),
        };
        let known: HashSet<LoggedJudgement> = judgements(&transaction, search, true)?.into_iter().collect();
        for judgement in logged.judgements.iter().filter(|judgement| !known.contains(judgement)) {
            add_judgement(&transaction, search, judgement)?;
            is_changed = true;
        }
        for opening in &logged.openings {
            let sql = "INSERT OR IGNORE INTO openings(search, passage, entry_point, at_ms) VALUES (?1, ?2, ?3, ?4)";
            let added =
                execute(&transaction, sql, params![search, opening.passage, opening.entry_point, opening.at_ms])?;
            is_changed |= added > 0;
        }
        changed += u64::from(is_changed);
    }
    transaction.commit()?;
    Ok(changed)
}

fn add_judgement(connection: &Connection, search: i64, judgement: &LoggedJudgement) -> rusqlite::Result<()> {
    let LoggedJudgement { passage, relevant, in_pool, at_ms, grade } = judgement;
    match grade {
        // Without the grade, a model's judgement would pass for a person's: the number that no grade has is refused.
        Some((model, pair)) => execute(
            connection,
            "INSERT INTO judgements(search, passage, relevant, in_pool, at_ms, grade) VALUES (?1, ?2, ?3, ?4, ?5, \
             ifnull((SELECT number FROM grades WHERE model = ?6 AND pair = ?7), -1))",
            params![search, passage, relevant, in_pool, at_ms, model, pair.as_slice()],
        )?,
        None => execute(
            connection,
            "INSERT INTO judgements(search, passage, relevant, in_pool, at_ms) VALUES (?1, ?2, ?3, ?4, ?5)",
            params![search, passage, relevant, in_pool, at_ms],
        )?,
    };
    execute(connection, "UPDATE searches SET judged = 1 WHERE number = ?1", [search])?;
    Ok(())
}

/// The grades after a number, in the order of recording.
pub(super) fn grades(connection: &Connection, after: i64, limit: usize) -> rusqlite::Result<Vec<LoggedGrade>> {
    if !schema::has_labels(connection)? {
        return Ok(Vec::new());
    }
    let sql = "SELECT number, model, pair, grade, reason, at_ms FROM grades WHERE number > ?1 ORDER BY number LIMIT ?2";
    all(connection, sql, [after, at_most(limit)], |row| {
        Ok(LoggedGrade {
            number: row.get(0)?,
            model: row.get(1)?,
            pair: row.get(2)?,
            grade: row.get(3)?,
            reason: row.get(4)?,
            at_ms: row.get(5)?,
        })
    })
}

/// Adds grades. Of two grades of a pair the later one stays.
pub(super) fn add_grades(connection: &mut Connection, grades: &[LoggedGrade]) -> rusqlite::Result<u64> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut changed = 0;
    for LoggedGrade { model, pair, grade, reason, at_ms, .. } in grades {
        changed += execute(
            &transaction,
            "INSERT INTO grades(model, pair, grade, reason, at_ms) VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (model, pair) \
             DO UPDATE SET grade = excluded.grade, reason = excluded.reason, at_ms = excluded.at_ms \
             WHERE excluded.at_ms > at_ms",
            params![model, pair.as_slice(), grade, reason, at_ms],
        )? as u64;
    }
    transaction.commit()?;
    Ok(changed)
}

/// Adds quality rows.
pub(super) fn add_quality(connection: &mut Connection, rows: &[QueryQuality]) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for row in rows {
        quality::insert(&transaction, row, i64::MAX)?;
    }
    transaction.commit()
}
