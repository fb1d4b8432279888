//! A store in a database of its own for each test.

use std::ops::Deref;
use std::sync::atomic::{AtomicU32, Ordering};

use super::PostgresStore;
use super::connection::Connections;

/// The variable with the address of a server whose user may create databases.
const SERVER: &str = "TAMIS_TEST_POSTGRES";

/// Numbers the databases of this process.
static COUNT: AtomicU32 = AtomicU32::new(0);

/// A store whose database is dropped with it, also when the test panics.
pub(super) struct TestStore {
    store: Option<PostgresStore>,
    server: String,
    database: String,
}

/// An empty store, or `None` after saying why the test is skipped.
pub(super) fn store() -> Option<TestStore> {
    let Ok(server) = std::env::var(SERVER) else {
        eprintln!("skipped: {SERVER} is not set");
        return None;
    };
    let database = format!("tamis_test_{}_{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    // A process that was killed leaves its databases, and another one may get its number.
    run(&server, &format!("DROP DATABASE IF EXISTS {database} WITH (FORCE)"));
    run(&server, &format!("CREATE DATABASE {database}"));
    let mut test = TestStore { store: None, server, database };
    test.store = Some(test.another());
    Some(test)
}

impl TestStore {
    /// The address of the store's database.
    pub fn url(&self) -> String {
        let (address, parameters) = match self.server.split_once('?') {
            Some((address, parameters)) => (address, format!("?{parameters}")),
            None => (self.server.as_str(), String::new()),
        };
        let host = address.find("://").map_or(0, |scheme| scheme + 3);
        let end = address[host..].find('/').map_or(address.len(), |slash| host + slash);
        format!("{}/{}{parameters}", &address[..end], self.database)
    }

    /// Another store in the same database, as another process would open it.
    pub fn another(&self) -> PostgresStore {
        PostgresStore::open(&self.url(), "here").expect("the database of the test can be opened")
    }

    /// Runs statements on the database, past the store.
    pub fn execute(&self, statements: &str) {
        run(&self.url(), statements);
    }
}

impl Deref for TestStore {
    type Target = PostgresStore;

    fn deref(&self) -> &PostgresStore {
        self.store.as_ref().expect("a test's store is open until it is dropped")
    }
}

impl Drop for TestStore {
    fn drop(&mut self) {
        self.store = None;
        run(&self.server, &format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.database));
    }
}

fn run(url: &str, statements: &str) {
    let connections = Connections::new(url).expect("the address of the test server can be read");
    let done = connections.wait(async { Ok(connections.connection().await?.batch_execute(statements).await?) });
    // A test that has failed already shows its own failure.
    if !std::thread::panicking() {
        done.expect("the test server runs a statement");
    }
}
