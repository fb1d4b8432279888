//! Hearing of changes of other processes, by `LISTEN` on a connection of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::watch;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{AsyncMessage, Config, NoTls, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::address::CONNECT_TIMEOUT;
use super::connection::Connections;
use super::servers::InOrder;

/// Where servers listen for the names of namespaces that were published.
pub(super) const CHANNEL: &str = "tamis_changes";

/// Pause before a broken connection is opened again.
const RECONNECT_PAUSE: Duration = Duration::from_millis(500);

/// Wakes those who wait for a change. The connection is opened when somebody waits for the first time.
#[derive(Debug, Default)]
pub(super) struct Listening {
    started: AtomicBool,
    /// Counts what was heard.
    heard: Arc<watch::Sender<u64>>,
}

impl Listening {
    /// Begins to listen, unless somebody does already. Nothing is heard in a session that is shared.
    pub fn heard(&self, connections: &Connections) -> watch::Receiver<u64> {
        if connections.has_own_sessions() && !self.started.swap(true, Ordering::Relaxed) {
            let (config, encryption) = connections.apart();
            connections.spawn(listen(config, encryption, self.heard.clone()));
        }
        self.heard.subscribe()
    }
}

/// Listens for as long as the threads of the connections live.
async fn listen(config: Config, encryption: Option<MakeRustlsConnect>, heard: Arc<watch::Sender<u64>>) {
    loop {
        // Why it ended shows in the calls that ask.
        let _ = match &encryption {
            Some(encryption) => listen_once(&InOrder::new(&config, encryption.clone()), &config, &heard).await,
            None => listen_once(&InOrder::new(&config, NoTls), &config, &heard).await,
        };
        tokio::time::sleep(RECONNECT_PAUSE).await;
    }
}

/// Listens until the connection breaks.
async fn listen_once<T>(
    servers: &InOrder<T>,
    config: &Config,
    heard: &watch::Sender<u64>,
) -> Result<(), tokio_postgres::Error>
where
    T: MakeTlsConnect<Socket> + Clone,
{
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
