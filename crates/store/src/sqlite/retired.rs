//! Passages that are gone but still named by the published lexical index. They are kept whole until the next
//! publication, so that a search during a run finds what it replaces instead of nothing.

use rusqlite::{Connection, OptionalExtension};

use super::Fault;
use super::read::passage_by_id;
use crate::error::StoreError;
use crate::record::{PassageId, StoredPassage};

/// Keeps a passage that is about to go.
pub(super) fn retire(connection: &Connection, passage: i64) -> Result<(), Fault> {
    if let Some(stored) = passage_by_id(connection, PassageId(passage as u64))? {
        let record = serde_json::to_string(&stored).map_err(|error| StoreError::Invalid {
            what: format!("passage {}", stored.id),
            reason: error.to_string(),
        })?;
        connection
            .prepare_cached("INSERT OR REPLACE INTO retired(passage, record) VALUES (?1, ?2)")?
            .execute((passage, record))?;
    }
    Ok(())
}

/// A passage that is gone, if it is still kept.
pub(super) fn retired(connection: &Connection, passage: PassageId) -> Result<Option<StoredPassage>, Fault> {
    let record: Option<String> = connection
        .prepare_cached("SELECT record FROM retired WHERE passage = ?1")?
        .query_row([passage.0 as i64], |row| row.get(0))
        .optional()?;
    // A record that cannot be read any more is one that is gone.
    Ok(record.and_then(|record| serde_json::from_str(&record).ok()))
}

/// Lets go of all of them.
pub(super) fn forget(connection: &Connection) -> Result<(), Fault> {
    connection.execute("DELETE FROM retired", [])?;
    Ok(())
}
