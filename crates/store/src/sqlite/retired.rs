//! Deleted passages that the published lexical index still finds. They are kept whole until the next publication, so that
//! a search during an index run finds the old version instead of nothing.

use rusqlite::Connection;

use super::TransactionError;
use crate::content::found_passages;
use crate::error::StoreError;
use crate::query::execute;
use crate::session::sqlite::{SqliteSession, now};
use crate::session::values;

/// Keeps a passage that is about to be deleted.
pub(super) fn retire(connection: &Connection, passage: i64) -> Result<(), TransactionError> {
    let session = SqliteSession::new(connection);
    if let Some(stored) = now(found_passages(&session, "p.passage = $1", values![passage]))?.pop() {
        let record = serde_json::to_string(&stored).map_err(|error| StoreError::Invalid {
            what: format!("passage {}", stored.id),
            reason: error.to_string(),
        })?;
        execute(connection, "INSERT OR REPLACE INTO retired(passage, record) VALUES (?1, ?2)", (passage, record))?;
    }
    Ok(())
}

/// Deletes all of them.
pub(super) fn clear(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute("DELETE FROM retired", []).map(drop)
}
