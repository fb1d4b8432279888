//! Databases to test with, on the server that TAMIS_TEST_POSTGRES names.

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use tamis_store::PostgresStore;
use tokio_postgres::config::Host;
use tokio_postgres::{Config, NoTls};

use crate::sharding::{self, Proxy};

/// A database that is dropped at the end.
pub struct TestDatabase {
    server: Config,
    name: String,
    /// What the store talks to.
    proxy: Proxy,
}

impl TestDatabase {
    /// An empty database; `None` without a server.
    pub fn create() -> Option<TestDatabase> {
        TestDatabase::with_tables(false)
    }

    /// An empty database whose tables will be partitioned where they would be distributed; `None` without a server.
    pub fn partitioned() -> Option<TestDatabase> {
        TestDatabase::with_tables(true)
    }

    fn with_tables(partitioned: bool) -> Option<TestDatabase> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let Ok(url) = std::env::var("TAMIS_TEST_POSTGRES") else {
            eprintln!("not tested with PostgreSQL: TAMIS_TEST_POSTGRES is not set");
            return None;
        };
        let server: Config = url.parse().expect("an address");
        let name = format!("tamis_test_{}_{}", std::process::id(), NUMBER.fetch_add(1, SeqCst));
        let Some(Host::Tcp(host)) = server.get_hosts().first() else { panic!("TAMIS_TEST_POSTGRES: name a host") };
        let port = server.get_ports().first().copied().unwrap_or(5432);
        let proxy = Proxy::start(host, port, partitioned);
        let database = TestDatabase { server, name, proxy };
        database.server_does(&format!("CREATE DATABASE {}", database.name));
        Some(database)
    }

    /// The store in it, for a tree.
    pub fn open(&self, namespace: &str) -> PostgresStore {
        PostgresStore::open(&self.url(), namespace).expect("opened")
    }

    /// Its address, at the proxy.
    pub fn url(&self) -> String {
        let user = self.server.get_user().expect("the address of the test server names a user");
        let password = self.server.get_password().map(String::from_utf8_lossy);
        let password = password.map(|password| format!(":{password}")).unwrap_or_default();
        format!("postgres://{user}{password}@127.0.0.1:{}/{}", self.proxy.port, self.name)
    }

    /// The number of partitions of a table that have rows.
    pub fn partitions_with_rows(&self, table: &str) -> i64 {
        let mut config = self.server.clone();
        config.dbname(&self.name);
        let count = format!("SELECT count(DISTINCT tableoid) FROM tamis.{table}");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let (client, connection) = config.connect(NoTls).await.expect("the server answers");
            tokio::spawn(connection);
            client.query_one(&count, &[]).await.expect("counted").get(0)
        })
    }

    /// Runs statements in it, past the store.
    #[allow(dead_code)]
    pub fn execute(&self, statements: &str) {
        does(&self.url().parse().expect("an address"), statements);
    }

    fn server_does(&self, statement: &str) {
        does(&self.server, statement);
    }
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
        self.server_does(&format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name));
        if !std::thread::panicking() {
            sharding::check(self.proxy.take());
        }
    }
}
