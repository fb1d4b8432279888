//! Noticing changes of other processes: by `LISTEN` on a connection of its own, and by asking in between, since not every change is
//! published and a broken connection hears nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{AsyncMessage, Config, NoTls, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::PostgresStore;
use super::address::CONNECT_TIMEOUT;
use super::maintenance::CHANNEL;
use super::servers::InOrder;
use crate::error::Result;
use crate::store::{Maintenance, Serving, SharedSessions};

/// How often the change number is asked for.
const ASK_INTERVAL: Duration = Duration::from_secs(1);

/// Pause before a broken connection is opened again.
const RECONNECT_PAUSE: Duration = Duration::from_millis(500);

/// Wakes those who wait for a change. The connection is opened when somebody waits for the first time.
#[derive(Debug, Default)]
pub(super) struct Listening {
    started: AtomicBool,
    /// Counts what was heard.
    heard: Arc<watch::Sender<u64>>,
}

impl PostgresStore {
    pub(super) fn heard(&self) -> watch::Receiver<u64> {
        if !self.listening.started.swap(true, Ordering::Relaxed) {
            let (config, encryption) = self.connections.apart();
            self.connections.spawn(listen(config, encryption, self.listening.heard.clone()));
        }
        self.listening.heard.subscribe()
    }
}

impl Serving for PostgresStore {
    fn wait_for_change(&self, seen: Option<u64>, patience: Duration) -> Result<u64> {
        let started = Instant::now();
        let mut heard = self.heard();
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
