//! Recording, judging and deleting.

use rusqlite::{Connection, TransactionBehavior, params};

use super::rules::{PURGE_EVERY, check, invalid};
use super::{candidate_blob, quality, read};
use crate::connection::checkpoint;
use crate::error::Result;
use crate::query::{count, execute};
use crate::usage_record::{CallerKey, Judgement, Purged, QueryQuality, RETAINED, RecordedSearch};

/// A search in the form of its row.
pub(super) struct SearchRow<'s> {
    search: &'s RecordedSearch,
    candidate_ids: String,
    evidence: Vec<u8>,
    shown: Option<String>,
}

impl<'s> SearchRow<'s> {
    pub(super) fn of(search: &'s RecordedSearch) -> Result<SearchRow<'s>> {
        check(search)?;
        let passages: Vec<&str> = search.candidates.iter().map(|candidate| candidate.passage.as_str()).collect();
        let json = |error: serde_json::Error| invalid(search, error.to_string());
        let candidate_ids = serde_json::to_string(&passages).map_err(json)?;
        let shown = search.shown.as_ref().map(serde_json::to_string).transpose().map_err(json)?;
        Ok(SearchRow { search, candidate_ids, evidence: candidate_blob::encode(&search.candidates), shown })
    }

    pub(super) fn insert(&self, connection: &mut Connection, quality: Option<&QueryQuality>) -> rusqlite::Result<()> {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let number = self.put(&transaction)?;
        if number % PURGE_EVERY == 0 {
            purge(&transaction, RETAINED)?;
        }
        if let Some(quality) = quality {
            quality::insert(&transaction, quality, PURGE_EVERY)?;
        }
        transaction.commit()
    }

    /// Inserts the row and returns its number.
    pub(super) fn put(&self, connection: &Connection) -> rusqlite::Result<i64> {
        let search = self.search;
        connection
            .prepare_cached(
                "INSERT INTO searches(id, at_ms, entry_point, namespace, query_hash, query_text, mode, model, \
                 method, scoring, kept, candidates, passages, score_background, similarity_mean, \
                 similarity_deviation, bm25_mean, candidate_ids, evidence, \
                 caller, shown) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, \
                 ?20, ?21)",
            )?
            .insert(params![
                search.id,
                search.at_ms,
                search.entry_point,
                search.namespace,
                search.query_hash.as_slice(),
                search.query_text,
                search.mode,
                search.model,
                search.method,
                search.scoring.to_string(),
                search.kept,
                search.candidates.len() as i64,
                search.passages as i64,
                search.score_background,
                search.similarity_mean,
                search.similarity_deviation,
                search.bm25_mean,
                self.candidate_ids,
                self.evidence,
                search.caller.as_ref().map(CallerKey::bytes),
                self.shown,
            ])
    }
}

pub(super) fn judge(
    connection: &mut Connection,
    id: &str,
    judged: &[(&str, bool)],
    at_ms: i64,
) -> rusqlite::Result<Option<Vec<Judgement>>> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let Some(search) = read::number(&transaction, id)? else { return Ok(None) };
    let mut recorded = Vec::with_capacity(judged.len());
    for &(passage, relevant) in judged {
        let in_pool = transaction
            .prepare_cached(
                "INSERT INTO judgements(search, passage, relevant, in_pool, at_ms) VALUES (?1, ?2, ?3, \
                 EXISTS (SELECT 1 FROM searches s, json_each(s.candidate_ids) c WHERE s.number = ?1 AND c.value = ?2), \
                 ?4) RETURNING in_pool",
            )?
            .query_row(params![search, passage, relevant, at_ms], |row| row.get(0))?;
        recorded.push(Judgement { passage: passage.to_owned(), relevant, in_pool, at_ms });
    }
    if !judged.is_empty() {
        execute(&transaction, "UPDATE searches SET judged = 1 WHERE number = ?1", [search])?;
    }
    transaction.commit()?;
    // Feedback is on the disk before it is acknowledged, and stays readable in a directory that becomes read-only. A
    // concurrent reader may prevent that without harm.
    let _ = checkpoint(connection);
    Ok(Some(recorded))
}

/// Deletes unjudged searches except the last `retained`.
pub(super) fn purge(connection: &Connection, retained: usize) -> rusqlite::Result<usize> {
    execute(
        connection,
        "DELETE FROM searches WHERE judged = 0 AND number <= \
         (SELECT number FROM searches WHERE judged = 0 ORDER BY number DESC LIMIT 1 OFFSET ?1)",
        [retained as i64],
    )
}

pub(super) fn purge_telemetry(connection: &mut Connection, judged: bool) -> rusqlite::Result<Purged> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let purged = Purged {
        judgements: if judged { count(&transaction, "SELECT count(*) FROM judgements", [])? } else { 0 },
        queries: transaction.execute("DELETE FROM retrieval_quality", [])? as u64,
        searches: transaction.execute("DELETE FROM searches WHERE judged = 0 OR ?1", [judged])? as u64,
        judged_kept: count(&transaction, "SELECT count(*) FROM searches", [])?,
    };
    transaction.execute("DELETE FROM openings", [])?;
    // What a model said stays with the judgements made from it.
    transaction
        .execute("DELETE FROM grades WHERE number NOT IN (SELECT grade FROM judgements WHERE grade IS NOT NULL)", [])?;
    transaction.commit()?;
    // Deleted rows must leave the disk too, not only the tables. A concurrent reader may delay that to the next purge.
    let _ = connection.execute_batch("VACUUM");
    let _ = checkpoint(connection);
    Ok(purged)
}
