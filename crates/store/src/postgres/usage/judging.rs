//! Recording judgements.

use std::collections::HashSet;

use super::text::{all_stored, stored};
use super::transactions::{LABELS, patiently};
use crate::error::Result;
use crate::postgres::connection::Connections;
use crate::usage_record::Judgement;

const INSERT: &str = "INSERT INTO usage_judgements(namespace, search, passage, relevant, in_pool, at_ms) \
     SELECT $1, $2, j.passage, j.relevant, j.in_pool, $6 FROM unnest($3::text[], $4::boolean[], $5::boolean[]) \
     WITH ORDINALITY AS j(passage, relevant, in_pool, place) ORDER BY j.place";

pub(super) fn judge(
    connections: &Connections,
    id: &str,
    judged: &[(&str, bool)],
    at_ms: i64,
) -> Result<Option<Vec<Judgement>>> {
    patiently(connections, LABELS, async |transaction| {
        // The search stays until the transaction ends.
        let select = "SELECT namespace, number, candidate_ids FROM usage_searches WHERE id = $1 FOR NO KEY UPDATE";
        let Some(row) = transaction.query_opt(select, &[&stored(id)]).await? else { return Ok(None) };
        let (namespace, number): (String, i64) = (row.get(0), row.get(1));
        let candidates: HashSet<String> = row.get::<_, Vec<String>>(2).into_iter().collect();
        let recorded: Vec<Judgement> = judged
            .iter()
            .map(|&(passage, relevant)| Judgement {
                passage: passage.to_owned(),
                relevant,
                in_pool: candidates.contains(&*stored(passage)),
                at_ms,
            })
            .collect();
        if !recorded.is_empty() {
            let passages = all_stored(judged.iter().map(|one| one.0));
            let relevant: Vec<bool> = recorded.iter().map(|one| one.relevant).collect();
            let in_pool: Vec<bool> = recorded.iter().map(|one| one.in_pool).collect();
            transaction.execute(INSERT, &[&namespace, &number, &passages, &relevant, &in_pool, &at_ms]).await?;
            let update = "UPDATE usage_searches SET judged = true WHERE namespace = $1 AND number = $2";
            transaction.execute(update, &[&namespace, &number]).await?;
        }
        Ok(Some(recorded))
    })
}
