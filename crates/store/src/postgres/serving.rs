//! Serving a team: waiting for changes, the sessions of clients, and what a database holds and can do.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio_postgres::{AsyncMessage, Config};

use super::PostgresStore;
use super::address::CONNECT_TIMEOUT;
use super::connection::Connections;
use super::error::Failure;
use super::failover::InOrder;
use super::namespaces::NOW_MS;
use super::schema::VERSION;
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

/// What a database holds and can do.
#[derive(Debug, Clone, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct PostgresStatus {
    /// Host, port and database.
    pub address: String,
    /// Versions of the server, its extensions and the tables.
    #[serde(flatten)]
    pub versions: Versions,
    /// What finds candidates by words: `gin`, or `bm25` with pg_textsearch.
    pub candidates_by: String,
    /// True if the tables are distributed over the nodes of Citus.
    pub distributed: bool,
    /// The namespaces whose node does not answer now, by name.
    pub unreachable: Vec<String>,
    /// True if row-level security is a second wall between namespaces, behind the filters of searches.
    pub row_security: bool,
    /// User of the database.
    pub user: String,
    /// The namespaces, by name.
    pub namespaces: Vec<NamespaceStatus>,
    /// Bytes of all tables and indexes.
    pub bytes: u64,
}

/// The versions of a server, its extensions and the tables.
#[derive(Debug, Clone, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct Versions {
    /// Version of the server.
    pub server_version: String,
    /// Version of the tables.
    pub schema_version: u32,
    /// Version of pgvector; `None` if it is not installed.
    pub vector_version: Option<String>,
    /// Version of pg_textsearch; `None` if it is not installed.
    pub textsearch_version: Option<String>,
}

/// A namespace in a [`PostgresStatus`].
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct NamespaceStatus {
    /// Its name.
    pub name: String,
    /// Number of its documents.
    pub documents: u64,
    /// Number of its passages.
    pub passages: u64,
    /// Number of its last change.
    pub change_number: u64,
    /// Time of its last change, in milliseconds since 1970.
    pub changed_ms: Option<i64>,
    /// Time of its last publication, in milliseconds since 1970.
    pub published_ms: Option<i64>,
}

impl PostgresStore {
    /// Returns what the database holds and can do.
    ///
    /// # Errors
    /// The server cannot be reached or refuses.
    pub fn status(&self) -> Result<PostgresStatus> {
        let unreachable = self.read_unreachable()?;
        self.connections.read(async |transaction| {
            let one = async |statement: &str| -> Result<Option<String>, crate::postgres::error::Failure> {
                Ok(transaction.query_opt(statement, &[]).await?.and_then(|row| row.get(0)))
            };
            let namespaces = format!(
                "SELECT namespace, documents, passages, change_number, changed_ms, published_ms FROM {} ORDER BY namespace",
                self.list()
            );
            let namespaces = transaction.query(&namespaces, &[]).await?;
            let bytes = transaction
                .query_one(
                    "SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class \
                     WHERE relnamespace = 'tamis'::regnamespace AND relkind IN ('r', 'p')",
                    &[],
                )
                .await?;
            let has_bm25 = "SELECT to_regclass('words_bm25') IS NOT NULL OR EXISTS (SELECT FROM meta WHERE key = $1)";
            let has_bm25 = transaction.query_one(has_bm25, &[&crate::postgres::words::index::ON_SHARDS]).await?;
            Ok(PostgresStatus {
                address: self.address().to_owned(),
                versions: Versions {
                    server_version: one("SHOW server_version").await?.unwrap_or_default(),
                    schema_version: VERSION,
                    vector_version: one("SELECT extversion FROM pg_extension WHERE extname = 'vector'").await?,
                    textsearch_version: one("SELECT extversion FROM pg_extension WHERE extname = 'pg_textsearch'").await?,
                },
                candidates_by: if has_bm25.get::<_, bool>(0) { "bm25" } else { "gin" }.to_owned(),
                distributed: self.is_distributed,
                unreachable: unreachable.clone(),
                row_security: self.connections.has_row_security(),
                user: one("SELECT current_user::text").await?.unwrap_or_default(),
                namespaces: namespaces
                    .iter()
                    .map(|row| NamespaceStatus {
                        name: row.get(0),
                        documents: row.get::<_, i64>(1) as u64,
                        passages: row.get::<_, i64>(2) as u64,
                        change_number: row.get::<_, i64>(3) as u64,
                        changed_ms: row.get(4),
                        published_ms: row.get(5),
                    })
                    .collect(),
                bytes: bytes.get::<_, i64>(0) as u64,
            })
        })
    }
}
