//! Deleted passages that the published lexical index still finds. They are kept whole until the next publication, so that
//! a search during an index run finds the old version instead of nothing.

use rusqlite::Connection;

use super::TransactionError;
use super::rows::passage_by_id;
use crate::error::StoreError;
use crate::query::{execute, one};
use crate::record::{PassageId, StoredPassage};

/// Keeps a passage that is about to be deleted.
pub(super) fn retire(connection: &Connection, passage: i64) -> Result<(), TransactionError> {
    if let Some(stored) = passage_by_id(connection, PassageId(passage as u64))? {
        let record = serde_json::to_string(&stored).map_err(|error| StoreError::Invalid {
            what: format!("passage {}", stored.id),
            reason: error.to_string(),
        })?;
        execute(connection, "INSERT OR REPLACE INTO retired(passage, record) VALUES (?1, ?2)", (passage, record))?;
    }
    Ok(())
}

/// Returns a deleted passage that is still kept.
pub(super) fn retired(connection: &Connection, passage: PassageId) -> rusqlite::Result<Option<StoredPassage>> {
    let sql = "SELECT record FROM retired WHERE passage = ?1";
    let record: Option<String> = one(connection, sql, [passage.0 as i64], |row| row.get(0))?;
    // An unreadable record counts as gone.
    Ok(record.and_then(|record| serde_json::from_str(&record).ok()))
}

/// Deletes all of them.
pub(super) fn clear(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute("DELETE FROM retired", []).map(drop)
}
