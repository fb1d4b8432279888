//! Connections to the server: a pool, TLS, transactions, and the bridge from blocking calls.

use std::cell::Cell;
use std::future::Future;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use deadpool_postgres::{
    Hook, Manager, ManagerConfig, Object, Pool, PoolError, RecyclingMethod, Timeouts, Transaction,
};
use tokio::runtime::Runtime;
#[cfg(feature = "evidence")]
use tokio_postgres::CancelToken;
use tokio_postgres::{IsolationLevel, NoTls};
#[cfg(feature = "evidence")]
use tokio_postgres_rustls::MakeRustlsConnect;

use super::address::Address;
use super::error::{Failure, error};
use super::{row_security, tls};
use crate::error::{Result, StoreError};

/// Most connections of one store.
pub(super) const MOST_CONNECTIONS: usize = 16;

/// Longest wait for a server that ended a connection to take another, and for one of its connections to become free.
const RETURN_TIMEOUT: Duration = Duration::from_secs(5);

/// Time between two attempts to connect to such a server.
const RETURN_INTERVAL: Duration = Duration::from_millis(100);

/// What each connection asks of the server. Names are looked up in our schema alone, so that nobody else's objects are taken for
/// ours; extensions live in public. A statement that takes very long has gone wrong; those that may, lift the limit for themselves.
const OPTIONS: &str = "-c search_path=tamis,public -c client_min_messages=warning -c statement_timeout=10min";

/// Has the server look for clients that are gone, so that a program that was interrupted leaves no statement behind. Servers on
/// some systems cannot, and refuse.
const WATCH: &str = "SET client_connection_check_interval = '1s'";

/// Time after which a silent network counts as cut.
const SILENCE: Duration = Duration::from_secs(30);

/// Longest wait for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Most attempts of a transaction that the server asks to repeat.
const ATTEMPTS: u32 = 5;

/// Most broken connections that a transaction survives.
const MOST_CUTS: u32 = 3;

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
    /// True if transactions can be confined to namespaces; unset until it was asked.
    pub(super) row_security: OnceLock<bool>,
}

/// Cancels statements, over connections of its own.
#[cfg(feature = "evidence")]
#[derive(Clone)]
pub(super) struct Canceller {
    /// `None` without encryption.
    encryption: Option<MakeRustlsConnect>,
}

#[cfg(feature = "evidence")]
impl Canceller {
    /// Asks the server to cancel what a connection runs. A request that does not arrive leaves the statement to its time limit.
    pub async fn cancel(&self, token: CancelToken) {
        let asked = async {
            match self.encryption.clone() {
                Some(encryption) => token.cancel_query(encryption).await,
                None => token.cancel_query(NoTls).await,
            }
        };
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
    /// The address cannot be read, or names certificates that cannot be.
    pub fn new(url: &str) -> Result<Connections> {
        let given = Address::parse(url)?;
        let address = given.described();
        let Address { mut config, authorities } = given;
        let connect = config.get_connect_timeout().copied().unwrap_or(CONNECT_TIMEOUT);
        config.application_name("tamis").connect_timeout(connect);
        config.keepalives_idle(SILENCE).keepalives_interval(SILENCE / 3).keepalives_retries(3);
        config.tcp_user_timeout(SILENCE);
        // The user's own settings come last, and so override ours.
        let own = config.get_options().map(|options| format!(" {options}")).unwrap_or_default();
        config.options(format!("{OPTIONS}{own}"));
        let manager = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let encryption = match config.get_ssl_mode() {
            tokio_postgres::config::SslMode::Disable => None,
            _ => Some(tls::connector(authorities.as_deref())?),
        };
        let manager = match &encryption {
            Some(encryption) => Manager::from_config(config, encryption.clone(), manager),
            None => Manager::from_config(config, NoTls, manager),
        };
        #[cfg(feature = "evidence")]
        let canceller = Canceller { encryption };
        let failed = |reason: String| StoreError::Database { path: address.clone().into(), reason };
        let pool = Pool::builder(manager)
            .max_size(MOST_CONNECTIONS)
            .runtime(deadpool_postgres::Runtime::Tokio1)
            .wait_timeout(Some(CONNECT_TIMEOUT))
            .create_timeout(Some(connect))
            .post_create(Hook::async_fn(|client, _| {
                Box::pin(async move {
                    // A connection that cannot be watched serves as well.
                    drop(client.batch_execute(WATCH).await);
                    Ok(())
                })
            }))
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
            #[cfg(feature = "evidence")]
            canceller,
            address,
            row_security: OnceLock::new(),
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

    /// A connection of the pool. If the server has none left, it waits a little for one that others give back.
    pub async fn connection(&self) -> Result<Object, Failure> {
        let started = Instant::now();
        loop {
            match self.pool.get().await.map_err(Failure::from) {
                Err(failure) if failure.is_without_connection() && started.elapsed() < RETURN_TIMEOUT => {
                    tokio::time::sleep(RETURN_INTERVAL).await;
                }
                result => return result,
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
        self.canceller.clone()
    }

    /// Reads in one snapshot. It is read again if the connection breaks meanwhile.
    pub fn read<T>(&self, work: impl AsyncFn(&Transaction<'_>) -> Result<T, Failure>) -> Result<T> {
        self.transaction(Access::Everything, work)
    }

    /// Reads in one snapshot that holds these namespaces alone, or all if none is named.
    pub fn read_of<T>(
        &self,
        namespaces: &[impl AsRef<str>],
        work: impl AsyncFn(&Transaction<'_>) -> Result<T, Failure>,
    ) -> Result<T> {
        let names: Vec<&str> = namespaces.iter().map(AsRef::as_ref).collect();
        self.transaction(if names.is_empty() { Access::Everything } else { Access::Of(&names) }, work)
    }

    /// Writes in one transaction: all or nothing. The server may ask to repeat it, and it is repeated if the connection breaks
    /// before it is committed, so `work` may run several times.
    pub fn write<T>(&self, work: impl AsyncFn(&Transaction<'_>) -> Result<T, Failure>) -> Result<T> {
        self.transaction(Access::Write, work)
    }

    /// Reads by single statements on a connection. They are run again if it breaks meanwhile.
    pub fn ask<T>(&self, work: impl AsyncFn(&Object) -> Result<T, Failure>) -> Result<T> {
        self.repeated(async |_| work(&self.connection().await?).await)
    }

    fn transaction<T>(
        &self,
        access: Access<'_>,
        work: impl AsyncFn(&Transaction<'_>) -> Result<T, Failure>,
    ) -> Result<T> {
        self.repeated(async |is_committing| self.attempt(access, &work, is_committing).await)
    }

    /// Runs an attempt until it succeeds, where the server asks to repeat it or the connection breaks. The attempt says when it
    /// begins to commit something: nobody knows what became of a commit that was not answered.
    fn repeated<T>(&self, attempt: impl AsyncFn(&Cell<bool>) -> Result<T, Failure>) -> Result<T> {
        self.wait(async {
            let mut attempts = 0;
            // The number of times that the connection broke, and the time of the first.
            let mut cuts = 0;
            let mut cut: Option<Instant> = None;
            loop {
                attempts += 1;
                let is_committing = Cell::new(false);
                let failure = match attempt(&is_committing).await {
                    Err(failure) if attempts < ATTEMPTS && failure.is_repeatable() => continue,
                    Err(failure) => failure,
                    done => return done,
                };
                let is_returning = cut.is_some_and(|since| since.elapsed() < RETURN_TIMEOUT) && failure.is_restarting();
                cuts += u32::from(failure.is_cut());
                if is_committing.get() || !is_returning && !(failure.is_cut() && cuts <= MOST_CUTS) {
                    return Err(failure);
                }
                cut.get_or_insert_with(Instant::now);
                tokio::time::sleep(RETURN_INTERVAL).await;
            }
        })
    }

    async fn attempt<T>(
        &self,
        access: Access<'_>,
        work: &impl AsyncFn(&Transaction<'_>) -> Result<T, Failure>,
        is_committing: &Cell<bool>,
    ) -> Result<T, Failure> {
        let mut connection = self.connection().await?;
        // A reader needs one snapshot for all its statements. Writers of a namespace wait for each other at its lock, and must see
        // what the one before them has committed.
        let read_only = access != Access::Write;
        let level = if read_only { IsolationLevel::RepeatableRead } else { IsolationLevel::ReadCommitted };
        let begun = connection.build_transaction().isolation_level(level).read_only(read_only).start().await?;
        let result = match access {
            Access::Of(names) if self.has_row_security() => row_security::confined(&begun, names, work(&begun)).await?,
            _ => work(&begun).await?,
        };
        is_committing.set(!read_only);
        begun.commit().await?;
        Ok(result)
    }
}

/// What a transaction may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access<'n> {
    /// Reading everything.
    Everything,
    /// Reading these namespaces.
    Of(&'n [&'n str]),
    /// Writing.
    Write,
}

impl Drop for Connections {
    /// Ends the threads without waiting for them: the last owner may be a task of another runtime, which must not wait.
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
