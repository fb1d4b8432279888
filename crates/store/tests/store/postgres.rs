//! Databases to test with, on the server that TAMIS_TEST_POSTGRES names.

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use tamis_store::PostgresStore;
use tokio_postgres::{Config, NoTls};

/// A database that is dropped at the end.
pub struct TestDatabase {
    server: Config,
    name: String,
}

impl TestDatabase {
    /// An empty database; `None` without a server.
    pub fn create() -> Option<TestDatabase> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let Ok(url) = std::env::var("TAMIS_TEST_POSTGRES") else {
            eprintln!("not tested with PostgreSQL: TAMIS_TEST_POSTGRES is not set");
            return None;
        };
        let server: Config = url.parse().expect("an address");
        let name = format!("tamis_test_{}_{}", std::process::id(), NUMBER.fetch_add(1, SeqCst));
        let database = TestDatabase { server, name };
        database.server_does(&format!("CREATE DATABASE {}", database.name));
        Some(database)
    }

    /// The store in it, for a tree.
    pub fn open(&self, namespace: &str) -> PostgresStore {
        PostgresStore::open(&self.url(), namespace).expect("opened")
    }

    /// Its address.
    pub fn url(&self) -> String {
        let url = std::env::var("TAMIS_TEST_POSTGRES").expect("a server");
        let end = url.find('?').unwrap_or(url.len());
        let (address, options) = url.split_at(end);
        let start = address.find("//").map_or(0, |place| place + 2);
        let host = address[start..].find('/').map_or(address, |place| &address[..start + place]);
        format!("{host}/{}{options}", self.name)
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
    }
}
