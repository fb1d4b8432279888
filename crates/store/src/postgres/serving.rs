//! Serving a team: waiting for changes, and the sessions of clients, which any server of the database may continue.
//!
//! The change number is also asked for while it is waited for, since not every change is published and a broken connection hears
//! nothing.

use std::time::{Duration, Instant};

use super::error::Failure;
use super::namespaces::NOW_MS;
use super::store::PostgresStore;
use crate::error::Result;
use crate::store::{Maintenance, Serving, SharedSession, SharedSessions};

/// How often the change number is asked for.
const ASK_INTERVAL: Duration = Duration::from_secs(1);

/// Time after which a session that nobody used has ended, in milliseconds.
const IDLE_MS: i64 = 24 * 60 * 60 * 1000;

/// Time between two notes of a session's use, in milliseconds: reading a session should not write every time.
const NOTE_MS: i64 = 10 * 60 * 1000;

impl Serving for PostgresStore {
    fn wait_for_change(&self, seen: Option<u64>, patience: Duration) -> Result<u64> {
        let started = Instant::now();
        let mut heard = self.listening.heard(&self.connections);
        loop {
            // What is heard from here on is a reason to ask again.
            heard.mark_unchanged();
            let number = self.change_number()?;
            let left = patience.saturating_sub(started.elapsed());
            if seen != Some(number) || left.is_zero() {
                return Ok(number);
            }
            let wait = left.min(ASK_INTERVAL);
            self.connections.wait(async {
                // Both ends of the wait are the same reason to ask.
                let _ = tokio::time::timeout(wait, heard.changed()).await;
                Ok(())
            })?;
        }
    }

    fn waits_for_server(&self) -> bool {
        true
    }

    fn shared_sessions(&self) -> Option<&dyn SharedSessions> {
        Some(self)
    }
}

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
                match connection.execute(&used, &[&id]).await.map_err(Failure::from) {
                    // A standby. A later call notes it.
                    Err(failure) if failure.is_read_only() => {}
                    noted => drop(noted?),
                }
            }
            Ok(Some(SharedSession { id: id.to_owned(), owner: row.get(0), opened: row.get(1) }))
        })
    }

    fn end_session(&self, id: &str) -> Result<()> {
        self.connections.write(async |transaction| {
            transaction.execute("DELETE FROM sessions WHERE session = $1", &[&id]).await?;
            Ok(())
        })
    }
}
