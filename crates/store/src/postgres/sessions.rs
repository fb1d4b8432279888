//! Whether each connection has a session of the server to itself, or a pooler gives each transaction the one that is free.
//!
//! Shared sessions keep nothing from one transaction to the next: no settings, no prepared statements, no locks, no `LISTEN`. What does
//! without them works with both, so sessions count as shared unless they are seen to be own.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use deadpool_postgres::Connect;
use tokio::sync::OnceCell;
use tokio_postgres::config::Host;
use tokio_postgres::{Client, Config, Error, NoTls, SimpleQueryMessage};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::servers::InOrder;

/// The port of an address that names none.
const DEFAULT_PORT: u16 = 5432;

/// Longest wait for a session of a pooler that may have none to spare.
const PATIENCE: Duration = Duration::from_secs(2);

const PROCESS: &str = "SELECT pg_backend_pid()";

/// What is known of the sessions at an address.
pub(super) struct Sessions {
    config: Config,
    encryption: Option<MakeRustlsConnect>,
    /// True if they are own; unset until there is a connection.
    own: OnceCell<bool>,
}

impl Sessions {
    pub fn new(config: Config, encryption: Option<MakeRustlsConnect>) -> Sessions {
        Sessions { config, encryption, own: OnceCell::new() }
    }

    /// True if each connection is known to have its own.
    pub fn are_own(&self) -> bool {
        self.own.get().copied().unwrap_or(false)
    }

    /// Finds out by a connection, unless it is known.
    pub async fn find_out(&self, client: &Client) -> Result<bool, Error> {
        let found = self.own.get_or_try_init(async || Ok(self.is_server(client).await? || self.differ(client).await?));
        found.await.copied()
    }

    /// True if the address is the server's own. A pooler cannot have the same.
    async fn is_server(&self, client: &Client) -> Result<bool, Error> {
        let select = "SELECT host(inet_server_addr()), inet_server_port()";
        let answer = client.simple_query(select).await?;
        let server = answer.iter().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => {
                Some(SocketAddr::new(row.get(0)?.parse::<IpAddr>().ok()?, row.get(1)?.parse().ok()?))
            }
            _ => None,
        });
        let Some(server) = server else { return Ok(false) };
        let ports = self.config.get_ports();
        for (at, host) in self.config.get_hosts().iter().enumerate() {
            let port = ports.get(at).or(ports.first()).copied().unwrap_or(DEFAULT_PORT);
            let Host::Tcp(host) = host else { continue };
            let named = tokio::net::lookup_host((host.as_str(), port)).await;
            if named.is_ok_and(|mut named| named.any(|named| named == server)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// True if the sessions of two connections stay the same while both are used in turn. A pooler that shares them gives out the one
    /// that was used last, or the one that was not used for longest.
    async fn differ(&self, first: &Client) -> Result<bool, Error> {
        let taking_turns = async {
            let opened = match &self.encryption {
                Some(encryption) => InOrder::new(&self.config, encryption.clone()).connect(&self.config).await,
                None => InOrder::new(&self.config, NoTls).connect(&self.config).await,
            };
            let Ok((other, _driving)) = opened else { return Ok(false) };
            let mut firsts = vec![process(first).await?];
            other.batch_execute("BEGIN").await?;
            let mut others = vec![process(&other).await?];
            firsts.push(process(first).await?);
            other.batch_execute("ROLLBACK").await?;
            others.push(process(&other).await?);
            firsts.push(process(first).await?);
            firsts.dedup();
            others.dedup();
            Ok(firsts.len() == 1 && others.len() == 1 && firsts != others)
        };
        tokio::time::timeout(PATIENCE, taking_turns).await.unwrap_or(Ok(false))
    }
}

/// The number of the session's process. Nothing is prepared.
async fn process(client: &Client) -> Result<Option<String>, Error> {
    let answer = client.simple_query(PROCESS).await?;
    Ok(answer.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
        _ => None,
    }))
}
