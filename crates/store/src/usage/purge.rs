//! Deleting on request what was recorded.

use rusqlite::TransactionBehavior;

use super::{PATIENT, UsageLog, schema};
use crate::error::Result;

/// What [`UsageLog::purge_telemetry`] deleted and left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct Purged {
    /// Rows on how queries were served.
    pub queries: u64,
    /// Searches with their candidates, the judged ones among them.
    pub searches: u64,
    /// Judgements that went with their searches.
    pub judgements: u64,
    /// Judged searches that stayed.
    pub judged_kept: u64,
}

impl UsageLog {
    /// Deletes all that was recorded of queries: how they were served, and the searches with their candidates. Searches
    /// that people judged stay unless `judged` is set; then their judgements go too.
    ///
    /// # Errors
    /// The log is read-only, or busy for seconds.
    pub fn purge_telemetry(&self, judged: bool) -> Result<Purged> {
        self.writing(PATIENT, |connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let judgements = if judged {
                transaction.query_row("SELECT count(*) FROM judgements", [], |row| row.get::<_, i64>(0))? as u64
            } else {
                0
            };
            let purged = Purged {
                queries: transaction.execute("DELETE FROM retrieval_quality", [])? as u64,
                searches: transaction.execute("DELETE FROM searches WHERE judged = 0 OR ?1", [judged])? as u64,
                judgements,
                judged_kept: transaction.query_row("SELECT count(*) FROM searches", [], |row| row.get::<_, i64>(0))?
                    as u64,
            };
            transaction.commit()?;
            // What was deleted is to be gone from the disk, not only from the tables. Neither is worth failing for: a
            // reader in the way delays it to the next time.
            let _ = connection.execute_batch("VACUUM");
            let _ = schema::checkpoint(connection);
            Ok(purged)
        })
    }
}
