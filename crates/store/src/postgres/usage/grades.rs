//! What models said of pairs of query and passage.

use super::text::{original, stored};
use super::transactions::{LABELS, patiently, rows};
use crate::error::Result;
use crate::postgres::connection::Connections;
use crate::postgres::error::Failure;
use crate::usage::rules::at_most;
use crate::usage_record::{GradedPassage, ModelGrade, RecordedGrade, RemovedGrades};

pub(super) fn find(connections: &Connections, model: &str, pair: &[u8; 32]) -> Result<Option<RecordedGrade>> {
    let select = "SELECT number, grade, reason FROM usage_grades WHERE model = $1 AND pair = $2";
    let rows = rows(connections, select, &[&stored(model), &pair.as_slice()])?;
    Ok(rows.first().map(|row| RecordedGrade {
        number: row.get(0),
        grade: row.get::<_, Option<i16>>(1).map(|grade| grade as u8),
        reason: original(row.get(2)),
    }))
}

pub(super) fn record(
    connections: &Connections,
    model: &str,
    pair: &[u8; 32],
    grade: Option<u8>,
    reason: &str,
    at_ms: i64,
) -> Result<i64> {
    let put = "INSERT INTO usage_grades(model, pair, grade, reason, at_ms) VALUES ($1, $2, $3, $4, $5) \
         ON CONFLICT (model, pair) DO UPDATE SET grade = excluded.grade, reason = excluded.reason, at_ms = excluded.at_ms \
         RETURNING number";
    patiently(connections, "", async |transaction| {
        let grade = grade.map(i16::from);
        let row =
            transaction.query_one(put, &[&stored(model), &pair.as_slice(), &grade, &stored(reason), &at_ms]).await?;
        Ok(row.get(0))
    })
}

/// The last judgements made from grades, latest first.
pub(super) fn list(connections: &Connections, limit: usize) -> Result<Vec<GradedPassage>> {
    let select = "SELECT s.id, s.query_text, j.passage, j.relevant, g.model, g.grade, g.reason, j.at_ms \
         FROM usage_judgements j JOIN usage_grades g ON g.number = j.grade \
         JOIN usage_searches s ON s.namespace = j.namespace AND s.number = j.search \
         WHERE j.number = (SELECT max(l.number) FROM usage_judgements l WHERE l.namespace = j.namespace \
         AND l.search = j.search AND l.passage = j.passage AND l.grade IS NOT NULL) ORDER BY j.number DESC LIMIT $1";
    connections.ask(async |connection| {
        let listed = connection.query(select, &[&at_most(limit)]).await?;
        let graded = listed.iter().map(|row| {
            Ok::<_, Failure>(GradedPassage {
                query_id: original(row.get(0)),
                query: row.get::<_, Option<String>>(1).map(original),
                passage: original(row.get(2)),
                relevant: row.get(3),
                grade: ModelGrade {
                    model: original(row.get(4)),
                    grade: row.try_get::<_, i16>(5)? as u8,
                    reason: original(row.get(6)),
                },
                at_ms: row.get(7),
            })
        });
        graded.collect()
    })
}

/// Deletes a model's grades with the judgements made from them. A search without another judgement counts as unjudged again.
pub(super) fn remove(connections: &Connections, model: Option<&str>) -> Result<RemovedGrades> {
    let count = "SELECT count(*) FROM usage_judgements j JOIN usage_grades g ON g.number = j.grade \
         WHERE $1::text IS NULL OR g.model = $1";
    // Their judgements go with them.
    let delete = "DELETE FROM usage_grades WHERE $1::text IS NULL OR model = $1";
    let unjudged = "UPDATE usage_searches s SET judged = false WHERE judged AND NOT EXISTS \
         (SELECT 1 FROM usage_judgements j WHERE j.namespace = s.namespace AND j.search = s.number)";
    let model = model.map(stored);
    // Nobody judges in between: a search that is judged now would count as unjudged.
    patiently(connections, LABELS, async |transaction| {
        let judgements = transaction.query_one(count, &[&model]).await?.get::<_, i64>(0) as u64;
        let grades = transaction.execute(delete, &[&model]).await?;
        transaction.execute(unjudged, &[]).await?;
        Ok(RemovedGrades { grades, judgements })
    })
}
