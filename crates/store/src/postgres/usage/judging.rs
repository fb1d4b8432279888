//! Recording judgements: a person's, and those made from a model's grades.

use std::collections::{HashMap, HashSet};

use tokio_postgres::Transaction;

use super::text::{all_stored, stored};
use super::transactions::{LABELS, patiently};
use crate::error::Result;
use crate::postgres::connection::Connections;
use crate::postgres::error::Failure;
use crate::usage_record::Judgement;

const INSERT: &str = "INSERT INTO usage_judgements(namespace, search, passage, relevant, in_pool, at_ms, grade) \
     SELECT $1, $2, j.passage, j.relevant, j.in_pool, $6, j.grade \
     FROM unnest($3::text[], $4::boolean[], $5::boolean[], $7::bigint[]) \
     WITH ORDINALITY AS j(passage, relevant, in_pool, grade, place) ORDER BY j.place";

/// A search that is being judged. It stays until the transaction ends.
struct Held {
    namespace: String,
    number: i64,
    candidates: HashSet<String>,
}

impl Held {
    async fn find(transaction: &Transaction<'_>, id: &str) -> Result<Option<Held>, Failure> {
        let select = "SELECT namespace, number, candidate_ids FROM usage_searches WHERE id = $1 FOR NO KEY UPDATE";
        let row = transaction.query_opt(select, &[&stored(id)]).await?;
        Ok(row.map(|row| Held {
            namespace: row.get(0),
            number: row.get(1),
            candidates: row.get::<_, Vec<String>>(2).into_iter().collect(),
        }))
    }

    fn has_candidate(&self, passage: &str) -> bool {
        self.candidates.contains(&*stored(passage))
    }

    /// Adds judgements: passage, relevance, and the number of the grade.
    async fn add(
        &self,
        transaction: &Transaction<'_>,
        judged: &[(&str, bool, Option<i64>)],
        at_ms: i64,
    ) -> Result<(), Failure> {
        if judged.is_empty() {
            return Ok(());
        }
        let passages = all_stored(judged.iter().map(|one| one.0));
        let relevant: Vec<bool> = judged.iter().map(|one| one.1).collect();
        let in_pool: Vec<bool> = judged.iter().map(|one| self.has_candidate(one.0)).collect();
        let grades: Vec<Option<i64>> = judged.iter().map(|one| one.2).collect();
        transaction
            .execute(INSERT, &[&self.namespace, &self.number, &passages, &relevant, &in_pool, &at_ms, &grades])
            .await?;
        let update = "UPDATE usage_searches SET judged = true WHERE namespace = $1 AND number = $2";
        transaction.execute(update, &[&self.namespace, &self.number]).await?;
        Ok(())
    }

    /// The last judgement from a grade of each of these passages: relevance, and the number of the grade.
    async fn last_graded(
        &self,
        transaction: &Transaction<'_>,
        passages: impl Iterator<Item = &str>,
    ) -> Result<HashMap<String, (bool, i64)>, Failure> {
        let select = "SELECT DISTINCT ON (passage) passage, relevant, grade FROM usage_judgements WHERE namespace = $1 \
             AND search = $2 AND passage = ANY($3) AND grade IS NOT NULL ORDER BY passage, number DESC";
        let rows = transaction.query(select, &[&self.namespace, &self.number, &all_stored(passages)]).await?;
        Ok(rows.iter().map(|row| (row.get(0), (row.get(1), row.get(2)))).collect())
    }
}

pub(super) fn judge(
    connections: &Connections,
    id: &str,
    judged: &[(&str, bool)],
    at_ms: i64,
) -> Result<Option<Vec<Judgement>>> {
    patiently(connections, LABELS, async |transaction| {
        let Some(search) = Held::find(transaction, id).await? else { return Ok(None) };
        let new: Vec<_> = judged.iter().map(|&(passage, relevant)| (passage, relevant, None)).collect();
        search.add(transaction, &new, at_ms).await?;
        let recorded = judged.iter().map(|&(passage, relevant)| Judgement {
            passage: passage.to_owned(),
            relevant,
            in_pool: search.has_candidate(passage),
            at_ms,
            grade: None,
        });
        Ok(Some(recorded.collect()))
    })
}

/// Records judgements made from grades, and returns how many are new.
pub(super) fn judge_by_grades(
    connections: &Connections,
    id: &str,
    judged: &[(&str, bool, i64)],
    at_ms: i64,
) -> Result<Option<u64>> {
    patiently(connections, LABELS, async |transaction| {
        let Some(search) = Held::find(transaction, id).await? else { return Ok(None) };
        let mut last = search.last_graded(transaction, judged.iter().map(|one| one.0)).await?;
        let is_new = |&&(passage, relevant, grade): &&(&str, bool, i64)| {
            last.insert(stored(passage).into_owned(), (relevant, grade)) != Some((relevant, grade))
        };
        let new: Vec<_> =
            judged.iter().filter(is_new).map(|&(passage, relevant, grade)| (passage, relevant, Some(grade))).collect();
        search.add(transaction, &new, at_ms).await?;
        Ok(Some(new.len() as u64))
    })
}
