//! Connections to the server: a pool, TLS, transactions, and the bridge from blocking calls.

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use deadpool_postgres::{
    Manager, ManagerConfig, Object, Pool, PoolError, QueueMode, RecyclingMethod, Timeouts, Transaction,
};
use rustls::{ClientConfig, RootCertStore};
use tokio::runtime::Runtime;
#[cfg(feature = "evidence")]
use tokio_postgres::CancelToken;
use tokio_postgres::{Config, IsolationLevel, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::error::{Failure, error};
use super::password;
use crate::error::{Result, StoreError};

/// Most connections of one store. As many calls run at a time as there are cores, most of them with a connection for each leg, and
/// writing takes two more.
pub(super) fn most_connections() -> usize {
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    (2 * cores + 2).min(16)
}

/// Connections of a store that stay open while nobody needs them; others of the server's connections are left to other processes.
const KEPT_CONNECTIONS: usize = 1;

/// Time after which a connection that nobody needs is closed.
const IDLE: Duration = Duration::from_secs(5);

/// Pause before asking again a server that has no connection left.
const FULL_PAUSE: Duration = Duration::from_millis(50);

/// Longest wait for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Most attempts of a transaction that the server asks to repeat.
const ATTEMPTS: u32 = 5;

/// The schema that holds all tables.
pub(super) const SCHEMA: &str = "tamis";

/// A pool of connections, with the threads that drive them.
pub(super) struct Connections {
    /// Taken when this is dropped.
    runtime: Option<Runtime>,
    pool: Pool,
    #[cfg(feature = "evidence")]
    canceller: Canceller,
    /// The address without its password, for messages.
    address: String,
    /// For connections outside the pool.
    config: Config,
}

/// Cancels statements, over connections of its own.
#[cfg(feature = "evidence")]
#[derive(Debug, Clone, Copy)]
pub(super) struct Canceller {
    encrypted: bool,
}

#[cfg(feature = "evidence")]
impl Canceller {
    /// Asks the server to cancel what a connection runs. A request that does not arrive leaves the statement to its time limit.
    pub async fn cancel(self, token: CancelToken) {
        let asked =
            async { if self.encrypted { token.cancel_query(tls()).await } else { token.cancel_query(NoTls).await } };
        drop(tokio::time::timeout(CONNECT_TIMEOUT, asked).await);
    }
}

impl std::fmt::Debug for Connections {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Connections").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Connections {
    /// Prepares connections to the database at an address, `postgres://…`. Nothing is connected yet.
    ///
    /// # Errors
    /// The address cannot be read.
    pub fn new(url: &str) -> Result<Connections> {
        let mut config: Config = url.parse().map_err(|reason: tokio_postgres::Error| StoreError::Database {
            path: "postgres".into(),
            reason: format!("its address must be postgres://USER@HOST:PORT/DATABASE ({reason})"),
        })?;
        let address = described(&config);
        if let Some(password) = password::find(&config) {
            config.password(password);
        }
        config.application_name("tamis").connect_timeout(CONNECT_TIMEOUT);
        // Names are looked up in our schema alone, so that nobody else's objects are taken for ours. Extensions live in public.
        config.options(format!("-c search_path={SCHEMA},public -c client_min_messages=warning"));
        let manager = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let encrypted = is_encrypted(&config);
        let manager = if encrypted {
            Manager::from_config(config.clone(), tls(), manager)
        } else {
            Manager::from_config(config.clone(), NoTls, manager)
        };
        #[cfg(feature = "evidence")]
        let canceller = Canceller { encrypted };
        let failed = |reason: String| StoreError::Database { path: address.clone().into(), reason };
        let pool = Pool::builder(manager)
            .max_size(most_connections())
            // The one used last goes first, so that others become idle.
            .queue_mode(QueueMode::Lifo)
            .runtime(deadpool_postgres::Runtime::Tokio1)
            .wait_timeout(Some(CONNECT_TIMEOUT))
            .create_timeout(Some(CONNECT_TIMEOUT))
            .build()
            .map_err(|error| failed(error.to_string()))?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("tamis-postgres")
            .enable_all()
            .build()
            .map_err(|error| failed(error.to_string()))?;
        runtime.spawn(close_idle(pool.clone()));
        Ok(Connections {
            runtime: Some(runtime),
            pool,
            #[cfg(feature = "evidence")]
            canceller,
            address,
            config,
        })
    }

    /// The address without its password.
    pub fn address(&self) -> &str {
        &self.address
    }

    fn runtime(&self) -> &Runtime {
        self.runtime.as_ref().expect("it is taken when this is dropped")
    }

    /// Waits for a future, from a thread that may block.
    pub fn wait<T>(&self, future: impl Future<Output = Result<T, Failure>>) -> Result<T> {
        self.runtime().block_on(future).map_err(|failure| error(&self.address, failure))
    }

    /// The settings of a connection outside the pool.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// A connection of the pool. While the server has none left, waits for one that this process or another one gives back.
    pub async fn connection(&self) -> Result<Object, Failure> {
        let started = Instant::now();
        loop {
            match self.pool.get().await {
                Err(PoolError::Backend(error)) if is_full(&error) && started.elapsed() < CONNECT_TIMEOUT => {
                    tokio::time::sleep(FULL_PAUSE).await;
                }
                connection => return connection.map_err(Failure::from),
            }
        }
    }

    /// A connection of the pool that comes within this time.
    pub async fn connection_within(&self, patience: Duration) -> Result<Object, Failure> {
        let pool = self.pool.clone();
        let timeouts = Timeouts { wait: Some(patience), ..pool.timeouts() };
        // The connection is made aside, so that one that comes too late is there for the next caller.
        let coming = tokio::spawn(async move { pool.timeout_get(&timeouts).await });
        let busy = || StoreError::Busy { path: self.address().into(), holder: "no connection is free".to_owned() };
        match tokio::time::timeout(patience, coming).await {
            Ok(Ok(Err(PoolError::Timeout(_)))) | Ok(Err(_)) | Err(_) => Err(busy().into()),
            Ok(Ok(connection)) => Ok(connection?),
        }
    }

    /// Runs a future on the threads of the connections.
    pub fn spawn<T: Send + 'static>(
        &self,
        future: impl Future<Output = T> + Send + 'static,
    ) -> tokio::task::JoinHandle<T> {
        self.runtime().spawn(future)
    }

    /// Cancels statements of these connections.
    #[cfg(feature = "evidence")]
    pub fn canceller(&self) -> Canceller {
        self.canceller
    }

    /// Reads in one snapshot.
    pub fn read<T>(&self, work: impl AsyncFn(&Transaction<'_>) -> Result<T, Failure>) -> Result<T> {
        self.transaction(true, work)
    }

    /// Writes in one transaction: all or nothing. The server may ask to repeat it, so `work` may run several times.
    pub fn write<T>(&self, work: impl AsyncFn(&Transaction<'_>) -> Result<T, Failure>) -> Result<T> {
        self.transaction(false, work)
    }

    fn transaction<T>(&self, read_only: bool, work: impl AsyncFn(&Transaction<'_>) -> Result<T, Failure>) -> Result<T> {
        self.wait(async {
            let mut attempt = 0;
            loop {
                attempt += 1;
                match self.attempt(read_only, &work).await {
                    Err(failure) if attempt < ATTEMPTS && failure.is_repeatable() => {}
                    result => return result,
                }
            }
        })
    }

    async fn attempt<T>(
        &self,
        read_only: bool,
        work: &impl AsyncFn(&Transaction<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let mut connection = self.connection().await?;
        // A reader needs one snapshot for all its statements. Writers of a namespace wait for each other at its lock, and must see
        // what the one before them has committed.
        let level = if read_only { IsolationLevel::RepeatableRead } else { IsolationLevel::ReadCommitted };
        let begun = connection.build_transaction().isolation_level(level).read_only(read_only).start().await?;
        let result = work(&begun).await?;
        begun.commit().await?;
        Ok(result)
    }
}

impl Drop for Connections {
    /// Ends the threads without waiting for them: the last owner may be a task of another runtime, which must not wait.
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Closes connections that nobody needs, for as long as the threads live.
async fn close_idle(pool: Pool) {
    loop {
        tokio::time::sleep(IDLE / 5).await;
        // Those unused for longest come first.
        let mut left = pool.status().available;
        pool.retain(|_, metrics| {
            let stays = left <= KEPT_CONNECTIONS || metrics.last_used() < IDLE;
            left = left.saturating_sub(1);
            stays
        });
    }
}

/// Returns `true` if the server has no connection left.
pub(super) fn is_full(error: &tokio_postgres::Error) -> bool {
    error.code() == Some(&tokio_postgres::error::SqlState::TOO_MANY_CONNECTIONS)
}

/// Returns `true` if connections with these settings try TLS.
pub(super) fn is_encrypted(config: &Config) -> bool {
    config.get_ssl_mode() != tokio_postgres::config::SslMode::Disable
}

/// The address for messages: host, port and database, without user and password.
fn described(config: &Config) -> String {
    let host = match config.get_hosts().first() {
        Some(tokio_postgres::config::Host::Tcp(host)) => host.clone(),
        #[cfg(unix)]
        Some(tokio_postgres::config::Host::Unix(path)) => path.display().to_string(),
        None => "localhost".to_owned(),
    };
    let port = config.get_ports().first().map(|port| format!(":{port}")).unwrap_or_default();
    format!("postgres://{host}{port}/{}", config.get_dbname().unwrap_or_default())
}

pub(super) fn tls() -> MakeRustlsConnect {
    let roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = match ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions() {
        Ok(config) => config,
        // The provider above has these versions.
        Err(_) => unreachable!("the provider supports the default versions"),
    };
    MakeRustlsConnect::new(config.with_root_certificates(roots).with_no_client_auth())
}
