//! Connections to the server: a pool, TLS, transactions, and the bridge from blocking calls.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{Manager, ManagerConfig, Object, Pool, PoolError, RecyclingMethod, Timeouts, Transaction};
use rustls::{ClientConfig, RootCertStore};
use tokio::runtime::Runtime;
#[cfg(feature = "evidence")]
use tokio_postgres::CancelToken;
use tokio_postgres::error::SqlState;
use tokio_postgres::{IsolationLevel, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::address::{self, CONNECT_TIMEOUT};
use super::error::{Failure, error};
use super::outage::{self, Outage};
use super::servers::InOrder;
use crate::error::{Result, StoreError};

/// Most connections of one store.
const MOST_CONNECTIONS: usize = 16;

/// Most attempts of a transaction that the server asks to repeat, or whose connection breaks.
const ATTEMPTS: u32 = 5;

/// The schema that holds all tables.
pub(super) const SCHEMA: &str = "tamis";

/// A pool of connections, with the threads that drive them.
pub(super) struct Connections {
    /// Taken when this is dropped.
    runtime: Option<Runtime>,
    pool: Pool,
    outage: Outage,
    #[cfg(feature = "evidence")]
    canceller: Canceller,
    /// The address without its password, for messages.
    address: String,
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
        let mut config = address::read(url)?;
        let address = address::described(&config);
        config.application_name("tamis");
        // Names are looked up in our schema alone, so that nobody else's objects are taken for ours. Extensions live in public.
        // Statements are short, so compiling them takes longer than running them.
        config.options(format!("-c search_path={SCHEMA},public -c client_min_messages=warning -c jit=off"));
        let manager = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let encrypted = config.get_ssl_mode() != tokio_postgres::config::SslMode::Disable;
        let manager = if encrypted {
            Manager::from_connect(config.clone(), InOrder::new(&config, tls()), manager)
        } else {
            Manager::from_connect(config.clone(), InOrder::new(&config, NoTls), manager)
        };
        #[cfg(feature = "evidence")]
        let canceller = Canceller { encrypted };
        let failed = |reason: String| StoreError::Database { path: address.clone().into(), reason };
        let pool = Pool::builder(manager)
            .max_size(MOST_CONNECTIONS)
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
        Ok(Connections {
            runtime: Some(runtime),
            pool,
            outage: Outage::default(),
            #[cfg(feature = "evidence")]
            canceller,
            address,
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

    /// A connection of the pool. Waits through a short outage of the server, such as a restart.
    pub async fn connection(&self) -> Result<Object, Failure> {
        loop {
            match self.pool.get().await.map_err(Failure::from) {
                Ok(connection) => {
                    self.outage.ended();
                    return Ok(connection);
                }
                Err(failure) if failure.is_lost() && self.outage.is_short() => {
                    tokio::time::sleep(outage::PAUSE).await;
                }
                Err(failure) => return Err(failure),
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
    #[cfg(feature = "evidence")]
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
                let mut connection = self.connection().await?;
                let result = self.attempt(&mut connection, read_only, &work).await;
                let Err(failure) = &result else { return result };
                let is_demoted = !read_only && failure.is_read_only();
                if is_demoted || failure.is_lost() {
                    // The pool may not notice yet that it broke.
                    drop(Object::take(connection));
                }
                if is_demoted {
                    // The other connections probably lead to the same server, which was the primary when they were made.
                    self.pool.retain(|_, _| false);
                }
                if attempt == ATTEMPTS || !(is_demoted || failure.is_repeatable() || failure.is_lost()) {
                    return result;
                }
            }
        })
    }

    /// Runs a transaction once. A failure before the commit leaves nothing behind, so it may run again.
    async fn attempt<T>(
        &self,
        connection: &mut Object,
        read_only: bool,
        work: &impl AsyncFn(&Transaction<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        // A reader needs one snapshot for all its statements. Writers of a namespace wait for each other at its lock, and must see
        // what the one before them has committed.
        let level = if read_only { IsolationLevel::RepeatableRead } else { IsolationLevel::ReadCommitted };
        let begun = connection.build_transaction().isolation_level(level).read_only(read_only).start().await;
        let begun = begun.map_err(|error| match error.code() {
            // So a standby answers to the beginning of a change.
            Some(&SqlState::FEATURE_NOT_SUPPORTED) if !read_only => self.only_reads(&error),
            _ => error.into(),
        })?;
        let result = work(&begun).await?;
        match begun.commit().await {
            Err(error) if !read_only => Err(Failure::of_commit(error)),
            // What was read is whole.
            _ => Ok(result),
        }
    }

    /// The failure of a change on a standby.
    fn only_reads(&self, error: &tokio_postgres::Error) -> Failure {
        let reason = error.as_db_error().map_or_else(|| error.to_string(), |said| said.message().to_owned());
        StoreError::ReadOnly { path: self.address().into(), reason }.into()
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

fn tls() -> MakeRustlsConnect {
    let roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = match ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions() {
        Ok(config) => config,
        // The provider above has these versions.
        Err(_) => unreachable!("the provider supports the default versions"),
    };
    MakeRustlsConnect::new(config.with_root_certificates(roots).with_no_client_auth())
}
