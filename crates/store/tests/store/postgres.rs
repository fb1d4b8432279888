//! Databases to test with, on the server that TAMIS_TEST_POSTGRES names, and PgBouncer, where it is installed, as a pooler before it.

use std::collections::BTreeSet;
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::{Duration, Instant};

use tamis_store::PostgresStore;
use tokio_postgres::config::Host;
use tokio_postgres::{Config, NoTls, SimpleQueryMessage};

/// A database that is dropped at the end.
pub struct TestDatabase {
    server: Config,
    name: String,
    /// What the store talks to, if it is not the server.
    pooler: Option<Pooler>,
}

impl TestDatabase {
    /// An empty database; `None` without a server.
    pub fn create() -> Option<TestDatabase> {
        Some(TestDatabase::with(server()?, None))
    }

    /// An empty database behind a pooler whose clients share its sessions; `None` without a server or a pooler.
    #[allow(dead_code)]
    pub fn pooled() -> Option<TestDatabase> {
        let server = server()?;
        let pooler = Pooler::start(&server)?;
        Some(TestDatabase::with(server, Some(pooler)))
    }

    fn with(server: Config, pooler: Option<Pooler>) -> TestDatabase {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!("tamis_test_{}_{}", std::process::id(), NUMBER.fetch_add(1, SeqCst));
        let database = TestDatabase { server, name, pooler };
        database.server_does(&format!("CREATE DATABASE {}", database.name));
        database
    }

    /// The store in it, for a tree.
    pub fn open(&self, namespace: &str) -> PostgresStore {
        PostgresStore::open(&self.url(), namespace).expect("opened")
    }

    /// Its address.
    pub fn url(&self) -> String {
        let user = self.server.get_user().expect("the address of the test server names a user");
        let password = self.server.get_password().map(String::from_utf8_lossy);
        let password = password.map(|password| format!(":{password}")).unwrap_or_default();
        let (host, port) = match &self.pooler {
            Some(pooler) => ("127.0.0.1", pooler.port),
            None => place(&self.server),
        };
        format!("postgres://{user}{password}@{host}:{port}/{}", self.name)
    }

    /// Runs statements in it, past the store.
    #[allow(dead_code)]
    pub fn execute(&self, statements: &str) {
        does(&self.url().parse().expect("an address"), statements);
    }

    /// The statements that the store left in the sessions of a pooler, where other clients would meet them.
    fn left_behind(&self, pooler: &Pooler) -> BTreeSet<String> {
        let mut config = Config::new();
        config.host("127.0.0.1").port(pooler.port).user("anyone").dbname(&self.name);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let (client, connection) = config.connect(NoTls).await.expect("the pooler answers");
            tokio::spawn(connection);
            let mut left = BTreeSet::new();
            // The sessions come in turn.
            for _ in 0..2 * Pooler::SESSIONS {
                let select = "SELECT statement FROM pg_prepared_statements WHERE name LIKE 's%'";
                for message in client.simple_query(select).await.expect("asked") {
                    if let SimpleQueryMessage::Row(row) = message {
                        left.extend(row.get(0).map(str::to_owned));
                    }
                }
            }
            left
        })
    }

    fn server_does(&self, statement: &str) {
        does(&self.server, statement);
    }
}

/// The server to test with.
fn server() -> Option<Config> {
    let Ok(url) = std::env::var("TAMIS_TEST_POSTGRES") else {
        eprintln!("not tested with PostgreSQL: TAMIS_TEST_POSTGRES is not set");
        return None;
    };
    Some(url.parse().expect("an address"))
}

/// The host and the port of a server.
fn place(server: &Config) -> (&str, u16) {
    let Some(Host::Tcp(host)) = server.get_hosts().first() else { panic!("TAMIS_TEST_POSTGRES: name a host") };
    (host, server.get_ports().first().copied().unwrap_or(5432))
}

fn does(server: &Config, statements: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let (client, connection) = server.connect(NoTls).await.expect("the server answers");
        let driving = tokio::spawn(connection);
        client.batch_execute(statements).await.expect("done");
        drop(client);
        let _ = driving.await;
    });
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        if let Some(pooler) = self.pooler.as_ref().filter(|_| !std::thread::panicking()) {
            assert_eq!(self.left_behind(pooler), BTreeSet::new());
        }
        self.server_does(&format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name));
    }
}

/// A pooler, until it is dropped.
pub struct Pooler {
    process: Child,
    /// Its port on this machine.
    pub port: u16,
    _directory: tempfile::TempDir,
}

impl Pooler {
    /// The number of its sessions of a database.
    pub const SESSIONS: usize = 20;

    /// Starts one before a server; `None` after saying that it is not installed.
    pub fn start(server: &Config) -> Option<Pooler> {
        let programs = ["pgbouncer", "/usr/sbin/pgbouncer"];
        let is_installed = |name: &&str| Command::new(name).arg("--version").stdout(Stdio::null()).status().is_ok();
        let Some(program) = programs.into_iter().find(is_installed) else {
            eprintln!("not tested behind a pooler: pgbouncer is not installed");
            return None;
        };
        let (user, (host, to)) = (server.get_user().expect("a user"), place(server));
        let password = server.get_password().map(|password| format!("password={}", String::from_utf8_lossy(password)));
        let port = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a port").port();
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("pgbouncer.ini");
        // In turn, the sessions change as often as they can.
        let settings = format!(
            "[databases]\n* = host={host} port={to} user={user} {}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\n\
             unix_socket_dir =\nauth_type = any\npool_mode = transaction\ndefault_pool_size = {}\nserver_round_robin = 1\n",
            password.unwrap_or_default(),
            Self::SESSIONS
        );
        std::fs::write(&path, settings).expect("written");
        let mut command = Command::new(program);
        command.arg("--quiet").arg(&path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        #[cfg(unix)]
        if std::os::unix::fs::MetadataExt::uid(&std::fs::metadata(&path).expect("written")) == 0 {
            // It refuses to run as root.
            command.args(["--user", "nobody"]);
        }
        let pooler = Pooler { process: command.spawn().expect("started"), port, _directory: directory };
        let started = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(started.elapsed() < Duration::from_secs(10), "pgbouncer does not listen");
            std::thread::sleep(Duration::from_millis(10));
        }
        Some(pooler)
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
