//! Recording, judging and forgetting.

use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};

use super::record::{Judgement, RecordedSearch};
use super::{IMPATIENT, PATIENT, QueryQuality, RETAINED, UsageLog, evidence, quality, schema};
use crate::error::{Result, StoreError};

/// After so many records, those beyond the retained ones are deleted: their number is exact to this.
const PURGE_EVERY: i64 = 64;

impl UsageLog {
    /// Takes down a search. Waits 50 ms at most for another process; a caller that goes on answering drops the record
    /// then.
    ///
    /// # Errors
    /// The log is read-only, busy or full, or the identifier is taken.
    pub fn record(&self, search: &RecordedSearch) -> Result<()> {
        self.record_query(search, None)
    }

    /// Takes down a search and how its query was served, both or neither. Waits as [`UsageLog::record`] does.
    ///
    /// # Errors
    /// As [`UsageLog::record`].
    pub fn record_query(&self, search: &RecordedSearch, quality: Option<&QueryQuality>) -> Result<()> {
        let passages: Vec<&str> = search.candidates.iter().map(|candidate| candidate.passage.as_str()).collect();
        let invalid = |reason: String| StoreError::Invalid { what: format!("search {}", search.id), reason };
        let ids = serde_json::to_string(&passages).map_err(|error| invalid(error.to_string()))?;
        let blob = evidence::encode(&search.candidates);
        if search.kept as usize > search.candidates.len() {
            return Err(invalid(format!("{} kept of {} candidates", search.kept, search.candidates.len())));
        }
        self.writing(IMPATIENT, |connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let number = {
                let mut insert = transaction.prepare_cached(
                    "INSERT INTO searches(id, at_ms, entry_point, namespace, query_hash, query_text, mode, model, \
                     method, scale, kept, candidates, passages, score_background, similarity_mean, \
                     similarity_deviation, bm25_mean, focus, evidence_sum, candidate_ids, evidence) \
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, \
                     ?20, ?21)",
                )?;
                insert.insert(params![
                    search.id,
                    search.at_ms,
                    search.entry_point,
                    search.namespace,
                    search.query_hash.as_slice(),
                    search.query_text,
                    search.mode,
                    search.model,
                    search.method,
                    search.scale,
                    search.kept,
                    search.candidates.len() as i64,
                    search.passages as i64,
                    search.score_background,
                    search.similarity_mean,
                    search.similarity_deviation,
                    search.bm25_mean,
                    search.coverage_drop,
                    search.evidence,
                    ids,
                    blob,
                ])?
            };
            if number % PURGE_EVERY == 0 {
                purge(&transaction, RETAINED)?;
            }
            if let Some(quality) = quality {
                quality::insert(&transaction, quality, PURGE_EVERY)?;
            }
            transaction.commit()
        })
    }

    /// Takes down what was said of passages for a search: the passage's public identifier, and whether it answers the
    /// query. The last word on a passage counts. Returns the judgements as they were taken down, in the order given;
    /// `None` when there is no such search.
    ///
    /// # Errors
    /// The log is read-only, busy for seconds, or full.
    pub fn judge(&self, id: &str, judged: &[(&str, bool)], at_ms: i64) -> Result<Option<Vec<Judgement>>> {
        self.writing(PATIENT, |connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let Some(search) = number(&transaction, id)? else { return Ok(None) };
            let mut taken = Vec::with_capacity(judged.len());
            {
                let mut insert = transaction.prepare_cached(
                    "INSERT INTO judgements(search, passage, relevant, in_pool, at_ms) VALUES (?1, ?2, ?3, \
                     EXISTS (SELECT 1 FROM searches s, json_each(s.candidate_ids) c WHERE s.number = ?1 AND c.value = ?2), \
                     ?4) RETURNING in_pool",
                )?;
                for &(passage, relevant) in judged {
                    let in_pool = insert.query_row(params![search, passage, relevant, at_ms], |row| row.get(0))?;
                    taken.push(Judgement { passage: passage.to_owned(), relevant, in_pool, at_ms });
                }
                let mut mark = transaction.prepare_cached("UPDATE searches SET judged = 1 WHERE number = ?1")?;
                if !judged.is_empty() {
                    mark.execute([search])?;
                }
            }
            transaction.commit()?;
            // What people said is on the disk before they are told that it is taken down, and a directory that becomes
            // read-only can still be read. A reader in the way does no harm.
            let _ = schema::checkpoint(connection);
            Ok(Some(taken))
        })
    }

    /// Deletes a search with its judgements. Returns whether there was one.
    ///
    /// # Errors
    /// The log is read-only, busy for seconds, or full.
    pub fn forget(&self, id: &str) -> Result<bool> {
        self.writing(PATIENT, |connection| Ok(connection.execute("DELETE FROM searches WHERE id = ?1", [id])? > 0))
    }

    /// Deletes the searches without a judgement but for the last [`RETAINED`](super::RETAINED). Recording does the same
    /// from time to time. Returns how many went.
    ///
    /// # Errors
    /// The log is read-only, busy for seconds, or full.
    pub fn purge(&self) -> Result<u64> {
        self.writing(PATIENT, |connection| purge(connection, RETAINED)).map(|count| count as u64)
    }
}

pub(super) fn purge(connection: &Connection, retained: usize) -> rusqlite::Result<usize> {
    let mut delete = connection.prepare_cached(
        "DELETE FROM searches WHERE judged = 0 AND number <= \
         (SELECT number FROM searches WHERE judged = 0 ORDER BY number DESC LIMIT 1 OFFSET ?1)",
    )?;
    delete.execute([retained as i64])
}

/// The number of the search called `id`.
fn number(connection: &Connection, id: &str) -> rusqlite::Result<Option<i64>> {
    let mut statement = connection.prepare_cached("SELECT number FROM searches WHERE id = ?1")?;
    statement.query_row([id], |row| row.get(0)).optional()
}
