//! A server without a free connection, and connections that nobody needs.

use std::time::{Duration, Instant};

use super::PostgresStore;
use super::connection::Connections;
use super::testing;
use crate::store::Maintenance;

/// A user of a test's database who may have one connection; removed at the end.
struct Limited<'t> {
    test: &'t testing::TestStore,
    name: String,
}

impl Limited<'_> {
    fn of(test: &testing::TestStore) -> Limited<'_> {
        let url = test.url();
        let (_, database) = url.rsplit_once('/').unwrap();
        let name = format!("{}_limited", database.split('?').next().unwrap());
        test.execute(&format!("CREATE ROLE {name} LOGIN CONNECTION LIMIT 1; GRANT pg_read_all_data TO {name}"));
        Limited { test, name }
    }

    fn url(&self) -> String {
        let url = self.test.url();
        let (scheme, rest) = url.split_once("://").unwrap();
        let host = rest.split_once('@').map_or(rest, |(_, host)| host);
        format!("{scheme}://{}@{host}", self.name)
    }
}

impl Drop for Limited<'_> {
    fn drop(&mut self) {
        let name = &self.name;
        self.test.execute(&format!(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '{name}'; DROP OWNED BY {name}; DROP ROLE {name}"
        ));
    }
}

#[test]
fn a_full_server_is_waited_for_and_then_named_with_the_way_out() {
    let Some(test) = testing::store() else { return };
    let limited = Limited::of(&test);
    let holder = Connections::new(&limited.url()).unwrap();
    let held = holder.wait(async { holder.connection().await }).unwrap();
    let started = Instant::now();
    let refused = PostgresStore::open(&limited.url(), "here").unwrap_err().to_string();
    assert!(
        refused.contains("all connections of the server are taken") && refused.contains("max_connections"),
        "{refused}"
    );
    assert!(started.elapsed() >= Duration::from_secs(5), "it gave up after {:?}", started.elapsed());
    // A connection that comes free in time is taken.
    std::thread::scope(|scope| {
        let opening = scope.spawn(|| PostgresStore::open(&limited.url(), "here"));
        std::thread::sleep(Duration::from_millis(500));
        drop(held);
        drop(holder);
        opening.join().unwrap().unwrap();
    });
}

#[test]
fn connections_that_nobody_needs_are_given_back() {
    let Some(test) = testing::store() else { return };
    let other = test.another();
    let open = || -> i64 {
        let count = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()";
        let count = async { Ok(test.connections.connection().await?.query_one(count, &[]).await?.get(0)) };
        test.connections.wait(count).unwrap()
    };
    let before = open();
    other
        .connections
        .wait(async {
            let connections = [
                other.connections.connection().await?,
                other.connections.connection().await?,
                other.connections.connection().await?,
            ];
            drop(connections);
            Ok(())
        })
        .unwrap();
    assert!(open() > before);
    let started = Instant::now();
    while open() > before {
        assert!(started.elapsed() < Duration::from_secs(30), "{} connections stay open", open());
        // It is used all the time.
        other.change_number().unwrap();
        std::thread::sleep(Duration::from_millis(300));
    }
}
