//! Sessions of clients, which any server of the database may continue.

use super::PostgresStore;
use super::namespaces::NOW_MS;
use crate::error::Result;
use crate::store::{SharedSession, SharedSessions};

/// Time after which a session that nobody used has ended, in milliseconds.
const IDLE_MS: i64 = 24 * 60 * 60 * 1000;

/// Time between two notes of a session's use, in milliseconds: reading a session should not write every time.
const NOTE_MS: i64 = 10 * 60 * 1000;

impl SharedSessions for PostgresStore {
    fn open_session(&self, session: &SharedSession, most: usize) -> Result<()> {
        let insert = format!(
            "INSERT INTO sessions(session, owner, opened, opened_ms, used_ms) VALUES ($1, $2, $3, {NOW_MS}, {NOW_MS}) \
             ON CONFLICT DO NOTHING"
        );
        let unused = format!("DELETE FROM sessions WHERE used_ms < {NOW_MS} - {IDLE_MS}");
        let oldest = "DELETE FROM sessions WHERE session IN \
             (SELECT session FROM sessions WHERE owner = $1 ORDER BY opened_ms DESC, session OFFSET $2)";
        let SharedSession { id, owner, opened } = session;
        self.connections.write(async |transaction| {
            transaction.execute(&insert, &[id, owner, opened]).await?;
            transaction.execute(&unused, &[]).await?;
            transaction.execute(oldest, &[owner, &(most as i64)]).await?;
            Ok(())
        })
    }

    fn session(&self, id: &str) -> Result<Option<SharedSession>> {
        let select = format!(
            "SELECT owner, opened, used_ms < {NOW_MS} - {NOTE_MS} FROM sessions \
             WHERE session = $1 AND used_ms >= {NOW_MS} - {IDLE_MS}"
        );
        let used = format!("UPDATE sessions SET used_ms = {NOW_MS} WHERE session = $1");
        self.connections.ask(async |connection| {
            let select = connection.prepare_cached(&select).await?;
            let Some(row) = connection.query_opt(&select, &[&id]).await? else { return Ok(None) };
            if row.get(2) {
                connection.execute(&used, &[&id]).await?;
            }
            Ok(Some(SharedSession { id: id.to_owned(), owner: row.get(0), opened: row.get(1) }))
        })
    }

    fn end_session(&self, id: &str) -> Result<()> {
        self.connections.ask(async |connection| {
            connection.execute("DELETE FROM sessions WHERE session = $1", &[&id]).await?;
            Ok(())
        })
    }
}
