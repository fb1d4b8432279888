//! What searches ask of passages.

use super::Database;
use crate::error::Result;

impl Database {
    /// Returns the passages among `ids` that exist or are retired. Takes and returns them ascending.
    pub(crate) fn existing(&self, ids: &[u64]) -> Result<Vec<u64>> {
        self.snapshot(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT 1 FROM passages WHERE passage = ?1 UNION ALL SELECT 1 FROM retired WHERE passage = ?1",
            )?;
            let mut existing = Vec::with_capacity(ids.len());
            for &id in ids {
                if statement.exists([id as i64])? {
                    existing.push(id);
                }
            }
            Ok(existing)
        })
    }
}
