//! Serving a team: waiting for changes, and the sessions of clients.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio_postgres::{AsyncMessage, Config};

use super::PostgresStore;
use super::address::CONNECT_TIMEOUT;
use super::connection::Connections;
use super::failure::Failure;
use super::namespaces::NOW_MS;
use super::servers::InOrder;
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

/// Where servers listen for the names of namespaces that were published.
pub(crate) const CHANNEL: &str = "tamis_changes";

/// Pause before a broken connection is opened again.
const RECONNECT_PAUSE: Duration = Duration::from_millis(500);

/// Wakes those who wait for a change. The connection is opened when somebody waits for the first time.
#[derive(Debug, Default)]
pub(crate) struct Listening {
    started: AtomicBool,
    /// Counts what was heard.
    heard: Arc<watch::Sender<u64>>,
}

impl Listening {
    /// Begins to listen, unless somebody does already. Nothing is heard in a session that is shared.
    pub fn heard(&self, connections: &Connections) -> watch::Receiver<u64> {
        if connections.has_own_sessions() && !self.started.swap(true, Ordering::Relaxed) {
            let (config, servers) = connections.apart();
            connections.spawn(listen(config, servers, self.heard.clone()));
        }
        self.heard.subscribe()
    }
}

/// Listens for as long as the threads of the connections live.
async fn listen(config: Config, servers: InOrder, heard: Arc<watch::Sender<u64>>) {
    loop {
        // Why it ended shows in the calls that ask.
        let _ = listen_once(&servers, &config, &heard).await;
        tokio::time::sleep(RECONNECT_PAUSE).await;
    }
}

/// Listens until the connection breaks.
async fn listen_once(
    servers: &InOrder,
    config: &Config,
    heard: &watch::Sender<u64>,
) -> Result<(), tokio_postgres::Error> {
    let Ok(connected) = tokio::time::timeout(CONNECT_TIMEOUT, servers.open(config)).await else { return Ok(()) };
    let (client, mut connection) = connected?;
    let hearing = async {
        while let Some(message) = std::future::poll_fn(|context| connection.poll_message(context)).await {
            if let AsyncMessage::Notification(_) = message? {
                heard.send_modify(|count| *count += 1);
            }
        }
        Ok(())
    };
    let asking = async {
        client.batch_execute(&format!("LISTEN {CHANNEL}")).await?;
        // There may have been changes while nobody listened.
        heard.send_modify(|count| *count += 1);
        std::future::pending().await
    };
    tokio::select! {
        ended = hearing => ended,
        failed = asking => failed,
    }
}
