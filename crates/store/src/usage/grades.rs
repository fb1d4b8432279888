//! What models said of pairs of query and passage, and the judgements made from it.

use rusqlite::{Connection, TransactionBehavior, params};

use super::read::number;
use super::rules::at_most;
use super::schema;
use crate::query::{all, count, execute, one};
use crate::usage_record::{GradedPassage, ModelGrade, RecordedGrade, RemovedGrades};

pub(super) fn find(connection: &Connection, model: &str, pair: &[u8; 32]) -> rusqlite::Result<Option<RecordedGrade>> {
    if !schema::has_labels(connection)? {
        return Ok(None);
    }
    let sql = "SELECT number, grade, reason FROM grades WHERE model = ?1 AND pair = ?2";
    one(connection, sql, params![model, pair.as_slice()], |row| {
        Ok(RecordedGrade { number: row.get(0)?, grade: row.get(1)?, reason: row.get(2)? })
    })
}

pub(super) fn record(
    connection: &mut Connection,
    model: &str,
    pair: &[u8; 32],
    grade: Option<u8>,
    reason: &str,
    at_ms: i64,
) -> rusqlite::Result<i64> {
    connection
        .prepare_cached(
            "INSERT INTO grades(model, pair, grade, reason, at_ms) VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (model, pair) \
             DO UPDATE SET grade = excluded.grade, reason = excluded.reason, at_ms = excluded.at_ms RETURNING number",
        )?
        .query_row(params![model, pair.as_slice(), grade, reason, at_ms], |row| row.get(0))
}

/// Records judgements made from grades, and returns how many are new.
pub(super) fn judge(
    connection: &mut Connection,
    id: &str,
    judged: &[(&str, bool, i64)],
    at_ms: i64,
) -> rusqlite::Result<Option<u64>> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let Some(search) = number(&transaction, id)? else { return Ok(None) };
    let mut added = 0;
    for &(passage, relevant, grade) in judged {
        added += execute(
            &transaction,
            "INSERT INTO judgements(search, passage, relevant, in_pool, at_ms, grade) SELECT ?1, ?2, ?3, \
             EXISTS (SELECT 1 FROM searches s, json_each(s.candidate_ids) c WHERE s.number = ?1 AND c.value = ?2), \
             ?5, ?4 WHERE (?3, ?4) IS NOT (SELECT relevant, grade FROM judgements WHERE search = ?1 AND passage = ?2 \
             AND grade IS NOT NULL ORDER BY number DESC LIMIT 1)",
            params![search, passage, relevant, grade, at_ms],
        )?;
    }
    if added > 0 {
        execute(&transaction, "UPDATE searches SET judged = 1 WHERE number = ?1", [search])?;
    }
    transaction.commit()?;
    Ok(Some(added as u64))
}

/// The last judgements made from grades, latest first.
pub(super) fn list(connection: &Connection, limit: usize) -> rusqlite::Result<Vec<GradedPassage>> {
    if !schema::has_labels(connection)? {
        return Ok(Vec::new());
    }
    let sql = "SELECT s.id, s.query_text, j.passage, j.relevant, g.model, g.grade, g.reason, j.at_ms \
               FROM judgements j JOIN grades g ON g.number = j.grade JOIN searches s ON s.number = j.search \
               WHERE j.number = (SELECT max(number) FROM judgements WHERE search = j.search AND passage = j.passage \
               AND grade IS NOT NULL) ORDER BY j.number DESC LIMIT ?1";
    all(connection, sql, [at_most(limit)], |row| {
        Ok(GradedPassage {
            query_id: row.get(0)?,
            query: row.get(1)?,
            passage: row.get(2)?,
            relevant: row.get(3)?,
            grade: ModelGrade { model: row.get(4)?, grade: row.get(5)?, reason: row.get(6)? },
            at_ms: row.get(7)?,
        })
    })
}

/// Deletes a model's grades with the judgements made from them. A search without another judgement counts as unjudged again.
pub(super) fn remove(connection: &mut Connection, model: Option<&str>) -> rusqlite::Result<RemovedGrades> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let judgements = count(
        &transaction,
        "SELECT count(*) FROM judgements j JOIN grades g ON g.number = j.grade WHERE ?1 IS NULL OR g.model = ?1",
        [model],
    )?;
    // Their judgements go with them.
    let grades = execute(&transaction, "DELETE FROM grades WHERE ?1 IS NULL OR model = ?1", [model])?;
    execute(
        &transaction,
        "UPDATE searches SET judged = 0 WHERE judged = 1 AND NOT EXISTS \
         (SELECT 1 FROM judgements WHERE search = searches.number)",
        [],
    )?;
    transaction.commit()?;
    Ok(RemovedGrades { grades: grades as u64, judgements })
}
