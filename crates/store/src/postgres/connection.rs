//! Connections to the server: a pool, TLS, transactions, and the bridge from blocking calls.

use std::cell::Cell;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use deadpool_postgres::{
    BuildError, Hook, HookError, Manager, ManagerConfig, Object, Pool, PoolError, QueueMode, RecyclingMethod,
    StatementCache, Timeouts, Transaction,
};
use tokio::runtime::Runtime;
use tokio_postgres::config::TargetSessionAttrs;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Config, IsolationLevel, SimpleQueryMessage};

use super::address::{Address, CONNECT_TIMEOUT, Tls};
use super::failure::{Failure, error};
use super::servers::{InOrder, Outage, Sessions};
use super::{address, row_security, servers};
use crate::error::{Result, StoreError};

/// Most connections of one store. As many calls run at a time as there are cores, most of them with a connection for each retriever, and
/// writing takes two more.
pub(crate) fn most_connections() -> usize {
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    (2 * cores + 2).min(16)
}

/// Connections of a store that stay open while nobody needs them; others of the server's connections are left to other processes.
const KEPT_CONNECTIONS: usize = 1;

/// Time after which a connection that nobody needs is closed.
const IDLE: Duration = Duration::from_secs(5);

/// Pause before asking again a server that has no connection left.
const FULL_PAUSE: Duration = Duration::from_millis(50);

/// What each connection asks of the server, as SQL values. Names are looked up in our schema first, so that nobody else's objects are
/// taken for ours, and then where the extensions are. A statement that takes very long has gone wrong; those that may, lift the limit
/// for themselves. Statements are short otherwise, so compiling them takes longer than running them.
const SETTINGS: [(&str, &str); 4] = [
    (
        "search_path",
        "concat_ws(', ', 'tamis', 'public', (SELECT string_agg(DISTINCT quote_ident(n.nspname), ', ') FROM pg_extension e \
         JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname IN ('vector', 'pg_textsearch') AND n.nspname <> 'public'))",
    ),
    ("client_min_messages", "'warning'"),
    ("statement_timeout", "'10min'"),
    ("jit", "'off'"),
];

/// The statement that asks for them, but for those that the user asks for: until the transaction ends if it is `local`, else of the
/// session. A pooler refuses settings in the message that opens a connection.
fn settings(own: Option<&str>, local: bool) -> String {
    let is_own = |name: &str| own.is_some_and(|own| own.contains(&format!("{name}=")));
    let others = SETTINGS.iter().filter(|(name, _)| !is_own(name));
    let set: Vec<String> = others.map(|(name, value)| format!("set_config('{name}', {value}, {local})")).collect();
    format!("SELECT {}", if set.is_empty() { "1".to_owned() } else { set.join(", ") })
}

/// Has the server look for clients that are gone, so that a program that was interrupted leaves no statement behind. Servers on
/// some systems cannot, and refuse.
const WATCH: &str = "SET client_connection_check_interval = '1s'";

/// Most attempts of a transaction that the server asks to repeat, or whose connection breaks.
const ATTEMPTS: u32 = 5;

/// The schema that holds all tables.
pub(crate) const SCHEMA: &str = "tamis";

/// A pool of connections, with the threads that drive them.
pub(crate) struct Connections {
    /// Taken when this is dropped.
    runtime: Option<Runtime>,
    pool: Pool,
    /// Connections to whichever server answers, where the address names several and asks for the one that takes changes.
    standbys: Option<Pool>,
    outage: Outage,
    /// For connections outside the pool.
    config: Config,
    tls: Tls,
    /// The address without its password, for messages.
    address: String,
    /// Whether connections have sessions of their own.
    sessions: Arc<Sessions>,
    /// The settings of a transaction whose session is shared.
    local_settings: String,
    /// True if transactions can be confined to namespaces; unset until it was asked.
    row_security: OnceLock<bool>,
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
        let Address { mut config, authorities } = address::read(url)?;
        let address = address::described(&config);
        config.application_name("tamis");
        let local_settings = settings(config.get_options(), true);
        let settings: Arc<str> = settings(config.get_options(), false).into();
        let tls = address::connector(config.get_ssl_mode(), authorities.as_deref())?;
        let sessions = Arc::new(Sessions::new(config.clone(), tls.clone()));
        let pool = |config: &Config| {
            pool(config, tls.clone(), settings.clone(), sessions.clone())
                .map_err(|error| StoreError::Database { path: address.clone().into(), reason: error.to_string() })
        };
        let has_standbys =
            address::servers(&config) > 1 && config.get_target_session_attrs() == TargetSessionAttrs::ReadWrite;
        let standbys = match has_standbys {
            true => Some(pool(config.clone().target_session_attrs(TargetSessionAttrs::Any))?),
            false => None,
        };
        let pool = pool(&config)?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("tamis-postgres")
            .enable_all()
            .build()
            .map_err(|error| StoreError::Database { path: address.clone().into(), reason: error.to_string() })?;
        for pool in standbys.iter().chain([&pool]) {
            runtime.spawn(close_idle(pool.clone()));
        }
        Ok(Connections {
            runtime: Some(runtime),
            pool,
            standbys,
            outage: Outage::default(),
            config,
            tls,
            address,
            sessions,
            local_settings,
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
        let mut result = None;
        {
            // As futures of one type, all of them share the compiled code of the runtime.
            let future: Pin<&mut dyn Future<Output = ()>> = pin!(async { result = Some(future.await) });
            self.runtime().block_on(future);
        }
        let result = result.expect("the future ended");
        result.map_err(|failure| error(&self.address, most_connections(), failure))
    }

    /// A connection of the pool. Waits through a short outage of the server, such as a restart, and for one that this process or
    /// another one gives back while the server has none left.
    async fn connection(&self) -> Result<Object, Failure> {
        let started = Instant::now();
        loop {
            match self.pool.get().await.map_err(Failure::from) {
                Ok(connection) => {
                    self.outage.ended();
                    return Ok(connection);
                }
                Err(failure) if failure.is_lost() && self.outage.is_short(failure.is_answer()) => {
                    tokio::time::sleep(servers::PAUSE).await;
                }
                Err(failure) if failure.is_without_connection() && started.elapsed() < CONNECT_TIMEOUT => {
                    tokio::time::sleep(FULL_PAUSE).await;
                }
                Err(failure) => return Err(failure),
            }
        }
    }

    /// A connection to read from: of the pool, or of a standby while no server takes changes. What was acknowledged in the last moments
    /// may be missing on a standby.
    async fn reading(&self) -> Result<Object, Failure> {
        let Some(standbys) = &self.standbys else { return self.connection().await };
        if !self.outage.is_recent() {
            match self.pool.get().await.map_err(Failure::from) {
                Err(failure) if failure.is_lost() => drop(self.outage.is_short(failure.is_answer())),
                Err(_) => return self.connection().await,
                Ok(connection) => {
                    self.outage.ended();
                    return Ok(connection);
                }
            }
        }
        match standbys.get().await {
            Ok(connection) => Ok(connection),
            Err(_) => self.connection().await,
        }
    }

    /// True if each connection has a session of the server to itself. It is known once there was a connection.
    pub fn has_own_sessions(&self) -> bool {
        self.sessions.are_own()
    }

    /// A connection for what needs a session from beginning to end.
    pub async fn session_of_its_own(&self) -> Result<Object, Failure> {
        let connection = self.connection().await?;
        if self.has_own_sessions() {
            return Ok(connection);
        }
        let reason = "this needs a session of the server from beginning to end, and a pooler at this address shares them: name the \
             server itself"
            .to_owned();
        Err(StoreError::Database { path: self.address().into(), reason }.into())
    }

    /// Runs a statement that cannot be part of a transaction, so it has to name schemas. It may take its time. `settings` are statements
    /// that hold for it where sessions are not shared.
    pub async fn run_outside(&self, settings: &str, statement: &str) -> Result<(), Failure> {
        let connection = self.connection().await?;
        if !self.has_own_sessions() {
            return Ok(connection.batch_execute(statement).await?);
        }
        connection.batch_execute(&format!("SET statement_timeout = 0; {settings}")).await?;
        let done = connection.batch_execute(statement).await;
        // The settings end with the session.
        drop(Object::take(connection));
        Ok(done?)
    }

    /// The statement that gives a transaction the settings of connections, where its session may not have them.
    pub fn local_settings(&self) -> &str {
        &self.local_settings
    }

    /// Begins a transaction that may stay open for as long as it likes, also where the server ends those that do nothing.
    pub async fn lasting(&self) -> Result<Lasting, Failure> {
        let lasting = Lasting { connection: Some(self.connection().await?) };
        lasting.batch_execute(&format!("BEGIN ISOLATION LEVEL READ COMMITTED; {LASTS}")).await?;
        Ok(lasting)
    }

    /// Finds out whether transactions can be confined to namespaces, and makes the role for it if the user may.
    ///
    /// # Errors
    /// The server cannot be reached or refuses.
    pub fn prepare_row_security(&self) -> Result<()> {
        let is_ready = self.ask(async |connection| row_security::prepare(connection).await)?;
        // Another call cannot have found anything else.
        let _ = self.row_security.set(is_ready);
        Ok(())
    }

    /// True if a transaction that names its namespaces is confined to them.
    pub fn has_row_security(&self) -> bool {
        self.row_security.get().copied().unwrap_or(false)
    }

    /// Writes in one transaction, once, on a connection that comes within this time.
    pub async fn write_within<T>(
        &self,
        patience: Duration,
        work: impl AsyncFn(&Transaction<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let mut connection = self.connection_within(patience).await?;
        let work = Keeping::new(work);
        self.attempt(&mut connection, Access::Write, &work).await?;
        Ok(work.answer())
    }

    async fn connection_within(&self, patience: Duration) -> Result<Object, Failure> {
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

    /// What a connection outside the pool needs: the address, and the servers there.
    pub fn apart(&self) -> (Config, InOrder) {
        (self.config.clone(), InOrder::new(&self.config, self.tls.clone()))
    }

    /// Runs a future on the threads of the connections.
    pub fn spawn<T: Send + 'static>(
        &self,
        future: impl Future<Output = T> + Send + 'static,
    ) -> tokio::task::JoinHandle<T> {
        self.runtime().spawn(future)
    }

    /// Reads in one snapshot. It is read again if the connection breaks meanwhile.
    pub fn read<T>(&self, work: impl AsyncFn(&Transaction<'_>) -> Result<T, Failure>) -> Result<T> {
        self.wait(self.transaction(Access::Everything, work))
    }

    /// Reads in one snapshot that holds these namespaces alone, or all if none is named.
    pub fn read_of<T>(
        &self,
        namespaces: &[impl AsRef<str>],
        work: impl AsyncFn(&Transaction<'_>) -> Result<T, Failure>,
    ) -> Result<T> {
        let names: Vec<&str> = namespaces.iter().map(AsRef::as_ref).collect();
        self.wait(self.transaction(if names.is_empty() { Access::Everything } else { Access::Of(&names) }, work))
    }

    /// Writes in one transaction: all or nothing. The server may ask to repeat it, and it is repeated if the connection breaks
    /// before it is committed, so `work` may run several times.
    pub fn write<T>(&self, work: impl AsyncFn(&Transaction<'_>) -> Result<T, Failure>) -> Result<T> {
        self.wait(self.writing(work))
    }

    /// [`write`](Self::write), from a task.
    pub async fn writing<T>(&self, work: impl AsyncFn(&Transaction<'_>) -> Result<T, Failure>) -> Result<T, Failure> {
        self.transaction(Access::Write, work).await
    }

    /// Reads by single statements on a connection, perhaps of a standby. They are run again if it breaks meanwhile.
    pub fn ask<T>(&self, work: impl AsyncFn(&Object) -> Result<T, Failure>) -> Result<T> {
        self.wait(self.asking(work))
    }

    /// [`ask`](Self::ask), from a task.
    pub async fn asking<T>(&self, work: impl AsyncFn(&Object) -> Result<T, Failure>) -> Result<T, Failure> {
        let work = Keeping::new(work);
        self.repeated(Work::Statements(&work)).await?;
        Ok(work.answer())
    }

    async fn transaction<T>(
        &self,
        access: Access<'_>,
        work: impl AsyncFn(&Transaction<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let work = Keeping::new(work);
        self.repeated(Work::Transaction(access, &work)).await?;
        Ok(work.answer())
    }

    /// Runs work on a connection, and again on another one where the server asks for it or the connection breaks.
    async fn repeated(&self, work: Work<'_>) -> Result<(), Failure> {
        let writes = matches!(work, Work::Transaction(Access::Write, _));
        let mut attempt = 0;
        loop {
            attempt += 1;
            let mut connection = if writes { self.connection().await? } else { self.reading().await? };
            let result = match work {
                Work::Transaction(access, work) => self.attempt(&mut connection, access, work).await,
                Work::Statements(work) => self.ask_once(&connection, work).await,
            };
            let Err(failure) = &result else { return result };
            if !self.prepare_repetition(writes, failure, connection, attempt).await {
                return result;
            }
        }
    }

    /// Runs statements. In a session that is shared they need a transaction around them.
    async fn ask_once(&self, connection: &Object, work: &dyn Statements) -> Result<(), Failure> {
        if self.has_own_sessions() {
            return work.run(connection).await;
        }
        let result = async {
            connection.batch_execute(&format!("BEGIN; {}", self.local_settings)).await?;
            work.run(connection).await
        };
        let result = result.await;
        connection.statement_cache.clear();
        let ended = connection.batch_execute(if result.is_ok() { "COMMIT" } else { "ROLLBACK" }).await;
        result.and_then(|()| Ok(ended?))
    }

    /// Gives up the connections that a failure concerns. Returns whether the work is worth repeating, after a pause where it needs one.
    async fn prepare_repetition(&self, writes: bool, failure: &Failure, connection: Object, attempt: u32) -> bool {
        let is_demoted = writes && failure.is_read_only();
        if is_demoted || failure.is_lost() {
            // The pool may not notice yet that it broke.
            drop(Object::take(connection));
        }
        if is_demoted {
            // The other connections probably lead to the same server, which was the primary when they were made.
            self.pool.retain(|_, _| false);
        }
        let is_worth_it = is_demoted || failure.is_repeatable() || failure.is_lost();
        if attempt == ATTEMPTS || !is_worth_it {
            return false;
        }
        if failure.is_lost() && !self.has_own_sessions() {
            // A pooler takes connections while the server behind it restarts.
            tokio::time::sleep(servers::PAUSE * (1 << attempt)).await;
        }
        true
    }

    /// Runs a transaction once. A failure before the commit leaves nothing behind, so it may run again.
    async fn attempt(
        &self,
        connection: &mut Object,
        access: Access<'_>,
        work: &dyn InTransaction,
    ) -> Result<(), Failure> {
        let begun = self.begin(connection, access).await?;
        let statements = (!self.has_own_sessions()).then(|| Closing(begun.statement_cache.clone()));
        let work = async {
            match access {
                Access::Of(names) if self.has_row_security() => {
                    row_security::confined(&begun, names, work.run(&begun)).await
                }
                _ => work.run(&begun).await,
            }
        };
        match &statements {
            None => work.await?,
            // The work follows without waiting for the answer.
            Some(_) => {
                let set = async { Ok::<_, Failure>(begun.batch_execute(&self.local_settings).await?) };
                tokio::try_join!(biased; set, work)?;
            }
        }
        drop(statements);
        match begun.commit().await {
            Err(error) if access == Access::Write => Err(Failure::of_commit(error)),
            // What was read is whole.
            _ => Ok(()),
        }
    }

    /// Begins a transaction. A reader needs one snapshot for all its statements. Writers of a namespace wait for each other at its lock,
    /// and must see what the one before them has committed.
    async fn begin<'c>(&self, connection: &'c mut Object, access: Access<'_>) -> Result<Transaction<'c>, Failure> {
        let read_only = access != Access::Write;
        let level = if read_only { IsolationLevel::RepeatableRead } else { IsolationLevel::ReadCommitted };
        let begun = connection.build_transaction().isolation_level(level).read_only(read_only).start().await;
        begun.map_err(|error| match error.code() {
            // So a standby answers to the beginning of a change.
            Some(&SqlState::FEATURE_NOT_SUPPORTED) if !read_only => self.only_reads(&error),
            _ => error.into(),
        })
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

/// Makes a pool of connections to the first server of an address that will do.
fn pool(config: &Config, tls: Tls, settings: Arc<str>, sessions: Arc<Sessions>) -> Result<Pool, BuildError> {
    let manager = ManagerConfig { recycling_method: RecyclingMethod::Fast };
    let manager = Manager::from_connect(config.clone(), InOrder::new(config, tls), manager);
    // Each server of the address has its part of the time.
    let patience = config.get_connect_timeout().map_or(CONNECT_TIMEOUT, |part| match address::servers(config) {
        1 => *part,
        _ => CONNECT_TIMEOUT,
    });
    Pool::builder(manager)
        .max_size(most_connections())
        // The one used last goes first, so that others become idle.
        .queue_mode(QueueMode::Lifo)
        .runtime(deadpool_postgres::Runtime::Tokio1)
        .wait_timeout(Some(CONNECT_TIMEOUT))
        .create_timeout(Some(patience))
        .post_create(Hook::async_fn(move |client, _| {
            let (settings, sessions) = (settings.clone(), sessions.clone());
            Box::pin(async move {
                if sessions.find_out(client).await.map_err(HookError::Backend)? {
                    client.batch_execute(&settings).await.map_err(HookError::Backend)?;
                    // A connection that cannot be watched serves as well.
                    drop(client.batch_execute(WATCH).await);
                }
                Ok(())
            })
        }))
        .build()
}

/// The statements that a transaction prepares in a session that is not its own. The server closes them before it ends, however it
/// ends. Rows hold theirs, so none may leave the transaction.
struct Closing(Arc<StatementCache>);

impl Drop for Closing {
    fn drop(&mut self) {
        self.0.clear();
    }
}

/// A transaction that stays open, for the locks that it holds. It has its session until it ends, also behind a pooler, and has seen
/// nothing, so that it keeps no row from being cleaned up. Dropped, it ends with its connection.
#[derive(Debug)]
pub(crate) struct Lasting {
    /// Taken at the end.
    connection: Option<Object>,
}

impl Lasting {
    /// Tries to take a lock, which ends with the transaction. A prepared statement would keep its snapshot until the next one, and who
    /// creates an index waits for snapshots.
    pub async fn try_lock(&self, key: i64) -> Result<bool, Failure> {
        let answer = self.simple_query(&format!("SELECT pg_try_advisory_xact_lock({key})")).await?;
        Ok(answer.iter().any(|message| matches!(message, SimpleQueryMessage::Row(row) if row.get(0) == Some("t"))))
    }

    /// Ends it, and gives its connection back.
    pub async fn end(mut self) {
        let Some(connection) = self.connection.take() else { return };
        connection.statement_cache.clear();
        if connection.batch_execute("ROLLBACK").await.is_err() {
            drop(Object::take(connection));
        }
    }
}

impl std::ops::Deref for Lasting {
    type Target = Object;

    fn deref(&self) -> &Object {
        self.connection.as_ref().expect("it is taken at the end")
    }
}

impl Drop for Lasting {
    fn drop(&mut self) {
        drop(self.connection.take().map(Object::take));
    }
}

/// Lifts the limits of what does nothing. Servers before PostgreSQL 17 have one of them.
const LASTS: &str = "SELECT set_config('idle_in_transaction_session_timeout', '0', true), \
     CASE WHEN current_setting('transaction_timeout', true) IS NOT NULL THEN set_config('transaction_timeout', '0', true) END";

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

/// Work that keeps its answer aside. So what runs, repeats and confines it is compiled once for answers of all types.
struct Keeping<T, W> {
    work: W,
    answer: Cell<Option<T>>,
}

impl<T, W> Keeping<T, W> {
    fn new(work: W) -> Self {
        Keeping { work, answer: Cell::new(None) }
    }

    /// The answer of work that succeeded.
    fn answer(self) -> T {
        self.answer.into_inner().expect("work that succeeds keeps its answer")
    }
}

/// The rest of some work.
pub(super) type Working<'a> = Pin<Box<dyn Future<Output = Result<(), Failure>> + 'a>>;

/// Work in a transaction.
trait InTransaction {
    fn run<'a>(&'a self, transaction: &'a Transaction<'a>) -> Working<'a>;
}

impl<T, W: AsyncFn(&Transaction<'_>) -> Result<T, Failure>> InTransaction for Keeping<T, W> {
    fn run<'a>(&'a self, transaction: &'a Transaction<'a>) -> Working<'a> {
        Box::pin(async {
            self.answer.set(Some((self.work)(transaction).await?));
            Ok(())
        })
    }
}

/// Work by single statements.
trait Statements {
    fn run<'a>(&'a self, connection: &'a Object) -> Working<'a>;
}

impl<T, W: AsyncFn(&Object) -> Result<T, Failure>> Statements for Keeping<T, W> {
    fn run<'a>(&'a self, connection: &'a Object) -> Working<'a> {
        Box::pin(async {
            self.answer.set(Some((self.work)(connection).await?));
            Ok(())
        })
    }
}

/// What runs on a connection.
#[derive(Clone, Copy)]
enum Work<'w> {
    Transaction(Access<'w>, &'w dyn InTransaction),
    Statements(&'w dyn Statements),
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
