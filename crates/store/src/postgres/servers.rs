//! The servers of a database: connecting to the first that will do, waiting through an outage, whether a pooler is between, and the
//! nodes of Citus, over which tables can be distributed.

use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use deadpool_postgres::{Connect, GenericClient};
use tokio::sync::OnceCell;
use tokio::task::JoinHandle;
use tokio_postgres::config::{Host, LoadBalanceHosts};
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{Client, Config, Error, SimpleQueryMessage, Socket};

use super::address::Tls;
use super::failure::Failure;
use crate::cache::lock;
use crate::error::Result;

/// Tries the servers of an address in order, each in its part of the time. The client's own way waits for a server that takes a
/// connection and then says nothing, such as a frozen one, and never comes to the next.
pub(crate) struct InOrder {
    tls: Tls,
    /// The address, once for each of its servers.
    each: Vec<Config>,
}

impl InOrder {
    pub fn new(config: &Config, tls: Tls) -> InOrder {
        let several = config.get_hosts().len().max(config.get_hostaddrs().len());
        let each = match config.get_load_balance_hosts() {
            LoadBalanceHosts::Random => Vec::new(),
            _ => (0..several).map(|at| of_one(config, at)).collect(),
        };
        InOrder { tls, each }
    }
}

/// The address of one of the servers.
fn of_one(config: &Config, at: usize) -> Config {
    let mut one = Config::new();
    match config.get_hosts().get(at) {
        Some(Host::Tcp(host)) => drop(one.host(host)),
        #[cfg(unix)]
        Some(Host::Unix(path)) => drop(one.host_path(path)),
        None => {}
    }
    if let Some(address) = config.get_hostaddrs().get(at) {
        one.hostaddr(*address);
    }
    let ports = config.get_ports();
    if let Some(port) = ports.get(at).or(ports.first()) {
        one.port(*port);
    }
    if let Some(user) = config.get_user() {
        one.user(user);
    }
    if let Some(password) = config.get_password() {
        one.password(password);
    }
    if let Some(database) = config.get_dbname() {
        one.dbname(database);
    }
    if let Some(options) = config.get_options() {
        one.options(options);
    }
    if let Some(name) = config.get_application_name() {
        one.application_name(name);
    }
    if let Some(timeout) = config.get_connect_timeout() {
        one.connect_timeout(*timeout);
    }
    if let Some(timeout) = config.get_tcp_user_timeout() {
        one.tcp_user_timeout(*timeout);
    }
    if let Some(interval) = config.get_keepalives_interval() {
        one.keepalives_interval(interval);
    }
    if let Some(retries) = config.get_keepalives_retries() {
        one.keepalives_retries(retries);
    }
    one.keepalives(config.get_keepalives()).keepalives_idle(config.get_keepalives_idle());
    one.ssl_mode(config.get_ssl_mode()).ssl_negotiation(config.get_ssl_negotiation());
    one.target_session_attrs(config.get_target_session_attrs()).channel_binding(config.get_channel_binding());
    one
}

impl Connect for InOrder {
    fn connect(
        &self,
        config: &Config,
    ) -> Pin<Box<dyn Future<Output = Result<(Client, JoinHandle<()>), Error>> + Send + '_>> {
        let config = config.clone();
        Box::pin(async move {
            let (client, connection) = self.open(&config).await?;
            // Its end shows in the client.
            let task = tokio::spawn(async move { drop(connection.await) });
            Ok((client, task))
        })
    }
}

type Connected = (Client, tokio_postgres::Connection<Socket, <Tls as MakeTlsConnect<Socket>>::Stream>);

impl InOrder {
    /// Connects to the first server of the address that will do.
    pub async fn open(&self, config: &Config) -> Result<Connected, Error> {
        match self.each.as_slice() {
            [] | [_] => config.connect(self.tls.clone()).await,
            each => self.first(each).await,
        }
    }

    async fn first(&self, each: &[Config]) -> Result<Connected, Error> {
        let mut last = None;
        for config in each {
            let part = config.get_connect_timeout().copied().unwrap_or(crate::postgres::address::CONNECT_TIMEOUT);
            match tokio::time::timeout(part, config.connect(self.tls.clone())).await {
                Ok(Ok(connected)) => return Ok(connected),
                Ok(Err(error)) => last = Some(error),
                Err(_) => {}
            }
        }
        match last {
            Some(error) => Err(error),
            // All were silent. The pool's own limit ends this and says so.
            None => std::future::pending().await,
        }
    }
}

/// The longest that calls wait for a server that went away. A restart is shorter; the election of another primary may be longer.
const SHORT: Duration = Duration::from_secs(5);

/// Pause between two attempts to connect.
pub(crate) const PAUSE: Duration = Duration::from_millis(100);

/// Time after a failed attempt to connect in which who reads goes to a standby at once.
const RECENT: Duration = Duration::from_secs(1);

/// The state of a server, as the attempts to connect to it show.
#[derive(Debug, Default)]
pub(crate) struct Outage(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    phase: Phase,
    /// The last failed attempt since a connection was made.
    failed: Option<Instant>,
}

#[derive(Debug, Default)]
enum Phase {
    /// No connection was made yet. The address may be wrong, so nobody waits.
    #[default]
    Unknown,
    Up,
    DownSince(Instant),
}

impl Outage {
    /// Notes a connection.
    pub fn ended(&self) {
        *lock(&self.0) = State { phase: Phase::Up, failed: None };
    }

    /// Notes a failed attempt to connect, and whether the server answered it. Returns true if another one is worth waiting for.
    pub fn is_short(&self, answered: bool) -> bool {
        self.is_short_at(Instant::now(), answered)
    }

    /// True if an attempt failed a moment ago and none succeeded since.
    pub fn is_recent(&self) -> bool {
        lock(&self.0).failed.is_some_and(|failed| failed.elapsed() < RECENT)
    }

    fn is_short_at(&self, now: Instant, answered: bool) -> bool {
        let mut state = lock(&self.0);
        state.failed = Some(now);
        match state.phase {
            Phase::Unknown if !answered => false,
            Phase::Unknown | Phase::Up => {
                state.phase = Phase::DownSince(now);
                true
            }
            Phase::DownSince(since) => now.saturating_duration_since(since) < SHORT,
        }
    }
}

/// The port of an address that names none.
const DEFAULT_PORT: u16 = 5432;

/// Longest wait for a session of a pooler that may have none to spare.
const LONGEST_CHECK: Duration = Duration::from_secs(2);

const PROCESS: &str = "SELECT pg_backend_pid()";

/// What is known of the sessions at an address.
///
/// Shared sessions keep nothing from one transaction to the next: no settings, no prepared statements, no locks, no `LISTEN`. What does
/// without them works with both, so sessions count as shared unless they are seen to be own.
pub(crate) struct Sessions {
    config: Config,
    tls: Tls,
    /// True if they are own; unset until there is a connection.
    own: OnceCell<bool>,
}

impl Sessions {
    pub fn new(config: Config, tls: Tls) -> Sessions {
        Sessions { config, tls, own: OnceCell::new() }
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
            let opened = InOrder::new(&self.config, self.tls.clone()).connect(&self.config).await;
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
        tokio::time::timeout(LONGEST_CHECK, taking_turns).await.unwrap_or(Ok(false))
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

/// The key in `meta` that tells that the tables are distributed.
pub(crate) const DISTRIBUTED_BY: &str = "distributed_by";

/// True if the tables are distributed.
pub(crate) const ARE_DISTRIBUTED: &str = "SELECT EXISTS (SELECT FROM meta WHERE key = 'distributed_by')";

/// Keeps what is created in a transaction on this server. Citus would create functions and roles on its nodes too, for which the user
/// may lack the rights there. Other servers know no such setting, and take it.
pub(crate) const HERE_ALONE: &str = "SET LOCAL citus.enable_ddl_propagation = off";

/// Takes [`HERE_ALONE`] back.
pub(crate) const EVERYWHERE: &str = "SET LOCAL citus.enable_ddl_propagation = on";

/// Creates the list of namespaces on the coordinator.
pub(crate) const CREATE_LIST: &[&str] = &[
    "CREATE TABLE namespace_list AS SELECT namespace, root, machine, owner, shared, documents, passages, change_number, changed_ms, \
     published_ms FROM namespaces",
    "ALTER TABLE namespace_list ADD PRIMARY KEY (namespace)",
    "CREATE OR REPLACE FUNCTION passages_of_all() RETURNS bigint LANGUAGE sql STABLE SECURITY DEFINER \
     SET search_path = tamis, pg_catalog, pg_temp \
     AS $$ SELECT coalesce(sum(n.passages), 0)::bigint FROM namespace_list n $$",
];

/// Drops the list of namespaces.
pub(crate) const DROP_LIST: &[&str] = &[
    "CREATE OR REPLACE FUNCTION passages_of_all() RETURNS bigint LANGUAGE sql STABLE SECURITY DEFINER \
     SET search_path = tamis, pg_catalog, pg_temp \
     AS $$ SELECT coalesce(sum(n.passages), 0)::bigint FROM namespaces n $$",
    "DROP TABLE namespace_list",
];

/// Brings the list up to date for the namespaces `$1`.
pub(crate) const UPDATE_LIST: &str = "INSERT INTO namespace_list(namespace, root, machine, owner, shared, documents, passages, \
       change_number, changed_ms, published_ms) \
     SELECT namespace, root, machine, owner, shared, documents, passages, change_number, changed_ms, published_ms \
     FROM namespaces WHERE namespace = ANY($1) \
     ON CONFLICT (namespace) DO UPDATE SET root = excluded.root, machine = excluded.machine, owner = excluded.owner, \
       shared = excluded.shared, documents = excluded.documents, passages = excluded.passages, \
       change_number = excluded.change_number, changed_ms = excluded.changed_ms, published_ms = excluded.published_ms";

/// The listed namespaces on nodes that do not answer.
pub(crate) const UNREACHABLE: &str = "SELECT l.namespace FROM namespace_list l \
     JOIN pg_dist_placement p ON p.shardid = get_shard_id_for_distribution_column('passages', l.namespace) \
     JOIN pg_dist_node n ON n.groupid = p.groupid AND n.noderole = 'primary' \
     JOIN run_command_on_workers('SELECT 1') w ON w.nodename = n.nodename AND w.nodeport = n.nodeport \
     WHERE NOT w.success ORDER BY l.namespace";

/// Returns `true` if the tables are distributed.
///
/// Each namespace lies on one node. What a search needs to know of all namespaces is listed on the coordinator, so that it asks no
/// node but those of the namespaces that it reads, and answers while others are away.
pub(crate) async fn are_distributed(client: &impl GenericClient) -> Result<bool, Failure> {
    Ok(client.query_one(ARE_DISTRIBUTED, &[]).await?.get(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::postgres::address;

    #[test]
    fn each_server_has_all_of_the_address_but_the_others() {
        let end = "/tamis?target_session_attrs=read-write&application_name=a&options=-c%20x=1&sslmode=require\
             &channel_binding=require&keepalives_idle=7&keepalives_interval=8&keepalives_retries=9&tcp_user_timeout=10\
             &connect_timeout=3";
        let config = address::read(&format!("postgres://ada:secret@one:1,two:2{end}")).expect("read").config;
        for (at, host) in ["one:1", "two:2"].into_iter().enumerate() {
            let one = address::read(&format!("postgres://ada:secret@{host}{end}")).expect("read").config;
            assert_eq!(of_one(&config, at), one);
        }
    }

    #[test]
    fn a_short_outage_is_waited_for_and_a_long_one_is_not() {
        let (outage, start) = (Outage::default(), Instant::now());
        assert!(!outage.is_short_at(start, false), "a server that never answered");
        outage.ended();
        assert!(outage.is_short_at(start, false) && outage.is_short_at(start + SHORT / 2, false));
        assert!(!outage.is_short_at(start + SHORT, false));
        // Another call in the same outage fails at once.
        assert!(!outage.is_short_at(start + SHORT + PAUSE, false));
        outage.ended();
        assert!(outage.is_short_at(start + SHORT * 2, false));
    }

    #[test]
    fn a_server_that_starts_is_waited_for_from_the_first_attempt_on() {
        let (outage, start) = (Outage::default(), Instant::now());
        assert!(outage.is_short_at(start, true) && outage.is_short_at(start + SHORT / 2, false));
        assert!(!outage.is_short_at(start + SHORT, true));
    }
}
