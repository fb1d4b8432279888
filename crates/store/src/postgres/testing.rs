//! A store in a database of its own for each test.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU32, Ordering};

use tokio_postgres::Config;
use tokio_postgres::config::Host;

use super::PostgresStore;
use super::connection::Connections;
use super::statements::{self, Proxy};
use crate::access::Access;
use crate::embedded::EmbeddedStore;
use crate::record::{Applied, DocumentId, DocumentState, PassageId, StoredPassage};
use crate::store::Documents;

/// The variable with the address of a server whose user may create databases.
const SERVER: &str = "TAMIS_TEST_POSTGRES";

/// Numbers the databases of this process.
static COUNT: AtomicU32 = AtomicU32::new(0);

/// A store whose database is dropped with it, also when the test panics.
pub(super) struct TestStore {
    store: Option<PostgresStore>,
    server: String,
    database: String,
    /// What the store talks to.
    proxy: Proxy,
    /// True if all its statements are the store's own.
    is_checked: bool,
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
    let config: Config = server.parse().expect("the address of the test server can be read");
    let Some(Host::Tcp(host)) = config.get_hosts().first() else { panic!("{SERVER}: name a host") };
    let proxy = Proxy::start(host, config.get_ports().first().copied().unwrap_or(5432), false);
    let mut test = TestStore { store: None, server, database, proxy, is_checked: true };
    test.store = Some(test.another());
    Some(test)
}

impl TestStore {
    /// The same store, for a test that has it run statements of others, which need not keep the rule of distributed tables.
    pub fn with_statements_of_others(self) -> TestStore {
        let mut store = self;
        store.is_checked = false;
        store
    }

    /// The address of the store's database, at the proxy.
    pub fn url(&self) -> String {
        let config: Config = self.server.parse().expect("the address of the test server can be read");
        let user = config.get_user().expect("the address of the test server names a user");
        let password = config.get_password().map(String::from_utf8_lossy);
        let password = password.map(|password| format!(":{password}")).unwrap_or_default();
        format!("postgres://{user}{password}@127.0.0.1:{}/{}", self.proxy.port, self.database)
    }

    /// The address of the store's database.
    fn direct_url(&self) -> String {
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

    /// Ends the connection that holds the right to write. Others that hold locks are in the middle of a change.
    pub fn end_holder(&self) {
        self.execute(
            "SELECT pg_terminate_backend(l.pid, 10000) FROM pg_locks l JOIN pg_stat_activity a USING (pid) \
             WHERE l.locktype = 'advisory' AND l.granted AND a.state = 'idle in transaction' \
             AND NOT EXISTS (SELECT FROM pg_locks o WHERE o.pid = l.pid AND o.locktype = 'relation') \
             AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())",
        );
    }

    /// Runs statements on the database, past the store.
    pub fn execute(&self, statements: &str) {
        run(&self.direct_url(), statements);
    }
}

impl Deref for TestStore {
    type Target = PostgresStore;

    fn deref(&self) -> &PostgresStore {
        self.store.as_ref().expect("a test's store is open until it is dropped")
    }
}

impl DerefMut for TestStore {
    fn deref_mut(&mut self) -> &mut PostgresStore {
        self.store.as_mut().expect("a test's store is open until it is dropped")
    }
}

impl Drop for TestStore {
    fn drop(&mut self) {
        self.store = None;
        run(&self.server, &format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.database));
        if self.is_checked && !std::thread::panicking() {
            statements::check(self.proxy.take());
        }
    }
}

fn run(url: &str, statements: &str) {
    let connections = Connections::new(url).expect("the address of the test server can be read");
    let done = connections.wait(async { Ok(connections.session_of_its_own().await?.batch_execute(statements).await?) });
    // A test that has failed already shows its own failure.
    if !std::thread::panicking() {
        done.expect("the test server runs a statement");
    }
}

/// All documents and passages, with numbers that count from 0 in their order.
pub(super) fn content(store: &impl Documents) -> Vec<(DocumentState, Vec<StoredPassage>)> {
    let mut documents: Vec<(DocumentState, Vec<StoredPassage>)> = Vec::new();
    for namespace in store.namespaces().unwrap() {
        for document in store.documents(&namespace.name).unwrap() {
            let passages = store.document_passages(&namespace.name, &document.path).unwrap();
            documents.push((document, passages));
        }
    }
    let mut numbers: Vec<u32> = documents.iter().map(|(document, _)| document.document.0).collect();
    let mut passages: Vec<u64> = documents.iter().flat_map(|(_, all)| all).map(|passage| passage.passage.0).collect();
    numbers.sort_unstable();
    passages.sort_unstable();
    for (document, of) in &mut documents {
        document.document = DocumentId(numbers.binary_search(&document.document.0).unwrap() as u32);
        for passage in of {
            assert_eq!(numbers.binary_search(&passage.document.0).unwrap() as u32, document.document.0);
            passage.document = document.document;
            passage.passage = PassageId(passages.binary_search(&passage.passage.0).unwrap() as u64);
        }
    }
    documents
}

/// An empty embedded store, for the same changes.
pub(super) fn embedded() -> (tempfile::TempDir, EmbeddedStore) {
    let directory = tempfile::tempdir().unwrap();
    let store = EmbeddedStore::open(directory.path(), Access::ReadWrite).unwrap();
    (directory, store)
}

/// The counts without the change number, which each kind of store counts its own way.
pub(super) fn counts(applied: Applied) -> Applied {
    Applied { seq: 0, ..applied }
}
