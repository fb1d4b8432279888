//! Connections that break, standbys, and what is repeated then.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::PostgresStore;
use super::connection::Connections;
use super::error::Failure;
use super::testing::{TestStore, store};
use crate::error::StoreError;
use crate::store::{Properties, SharedSessions};

const BREAK: &str = "SELECT pg_terminate_backend(pg_backend_pid())";

/// The number of rows in the table of the tests.
fn rows(test: &TestStore) -> i64 {
    let connections = Connections::new(&test.url()).expect("an address");
    let count = connections.read(async |transaction| Ok(transaction.query_one("SELECT count(*) FROM t", &[]).await?));
    count.expect("counted").get(0)
}

#[test]
fn a_change_whose_connection_breaks_is_made_once() {
    let Some(test) = store() else { return };
    test.execute("CREATE TABLE t (x int)");
    let attempts = AtomicU32::new(0);
    let done = test.connections.write(async |transaction| {
        transaction.execute("INSERT INTO t VALUES (1)", &[]).await?;
        if attempts.fetch_add(1, Relaxed) == 0 {
            transaction.batch_execute(BREAK).await?;
        }
        Ok(())
    });
    done.expect("repeated");
    assert_eq!((attempts.into_inner(), rows(&test)), (2, 1));
}

#[test]
fn a_connection_that_always_breaks_is_an_error_in_the_end() {
    let Some(test) = store() else { return };
    let attempts = AtomicU32::new(0);
    let done = test.connections.read(async |transaction| {
        attempts.fetch_add(1, Relaxed);
        Ok(transaction.batch_execute(BREAK).await?)
    });
    let error = done.expect_err("it always breaks").to_string();
    assert!(error.contains("terminating connection") && error.contains("try again"), "{error}");
    assert_eq!(attempts.into_inner(), 5);
}

#[test]
fn a_change_that_the_server_did_not_confirm_is_not_repeated() {
    let Some(test) = store() else { return };
    test.execute(
        "CREATE TABLE t (x int); CREATE FUNCTION stop() RETURNS trigger LANGUAGE plpgsql \
         AS $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$; \
         CREATE CONSTRAINT TRIGGER stop AFTER INSERT ON t DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION stop()",
    );
    let attempts = AtomicU32::new(0);
    let done = test.connections.write(async |transaction| {
        attempts.fetch_add(1, Relaxed);
        Ok(transaction.execute("INSERT INTO t VALUES (1)", &[]).await?)
    });
    let error = done.expect_err("the commit broke").to_string();
    assert!(error.contains("may or may not be saved"), "{error}");
    assert_eq!(attempts.into_inner(), 1);
}

#[test]
fn a_change_on_a_server_that_became_a_standby_goes_to_another_connection() {
    let Some(test) = store() else { return };
    test.execute("CREATE TABLE t (x int)");
    let attempts = AtomicU32::new(0);
    let change = |times: u32| {
        test.connections.write(async |transaction| {
            if attempts.fetch_add(1, Relaxed) < times {
                transaction.batch_execute("SET TRANSACTION READ ONLY").await?;
            }
            transaction.execute("INSERT INTO t VALUES (1)", &[]).await?;
            Ok::<i32, Failure>(transaction.query_one("SELECT pg_backend_pid()", &[]).await?.get(0))
        })
    };
    let first = change(0).expect("a primary");
    let attempted = attempts.swap(0, Relaxed);
    let second = change(1).expect("another connection");
    assert_ne!(first, second);
    assert_eq!((attempted, attempts.swap(0, Relaxed), rows(&test)), (1, 2, 2));
    let error = change(99).expect_err("it only reads");
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error}");
    assert!(error.to_string().ends_with("and target_session_attrs=read-write"), "{error}");
}

#[test]
fn a_lost_right_to_write_is_taken_again() {
    let Some(test) = store() else { return };
    let first = test.hold().expect("free");
    test.end_holder();
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert!(matches!(test.hold(), Err(StoreError::WriterLost { .. })), "what the first share has read may be outdated");
    drop(first);
    let second = test.hold().expect("taken again");
    assert!(matches!(test.another().hold(), Err(StoreError::Busy { .. })), "nobody else has it");
    drop(second);
    test.another().hold().expect("free again");
}

#[test]
fn the_server_that_takes_changes_is_found_among_several() {
    let Some(test) = store() else { return };
    let url = test.url();
    let (start, rest) = url.split_once('@').expect("a user");
    let several = format!("{start}@127.0.0.1:1,{rest}");
    let separator = if several.contains('?') { '&' } else { '?' };
    let several = format!("{several}{separator}target_session_attrs=read-write");
    let found = PostgresStore::open(&several, "here").expect("the second one");
    assert!(found.address().starts_with("postgres://127.0.0.1:1,"), "{}", found.address());
    found.status().expect("it answers");
    let name = rest.split('?').next().and_then(|rest| rest.rsplit('/').next()).expect("a database");
    test.execute(&format!("ALTER DATABASE {name} SET default_transaction_read_only = on"));
    let standby = PostgresStore::open(&several, "here").expect("one reads");
    standby.status().expect("it answers");
    let error = standby.set_property("a", "b").expect_err("none takes changes").to_string();
    assert!(error.contains("no server of this address takes changes now (the last one: it is a standby"), "{error}");
    assert!(standby.session("none").expect("read").is_none());
    let nobody = several.replacen(rest.split('/').next().expect("a host"), "127.0.0.1:2", 1);
    let error = PostgresStore::open(&nobody, "here").expect_err("nobody").to_string();
    assert!(error.contains("no server of this address takes changes now (the last one: Connection refused"), "{error}");
}

#[test]
fn a_server_that_says_nothing_is_passed_over() {
    let Some(test) = store() else { return };
    // The system takes connections for it, and nobody reads them.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let (url, port) = (test.url(), silent.local_addr().expect("an address").port());
    let (start, rest) = url.split_once('@').expect("a user");
    let separator = if rest.contains('?') { '&' } else { '?' };
    let several =
        format!("{start}@127.0.0.1:{port},{rest}{separator}target_session_attrs=read-write&connect_timeout=1");
    let found = PostgresStore::open(&several, "here").expect("the second one");
    found.status().expect("it answers");
}

#[test]
fn a_server_that_cuts_connections_while_it_starts_is_waited_for() {
    let Some(test) = store() else { return };
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = test.url();
    let port: u16 = url.rsplit(':').next().and_then(|rest| rest.split('/').next()?.parse().ok()).expect("a port");
    let starting =
        url.replace(&format!(":{port}/"), &format!(":{}/", listener.local_addr().expect("an address").port()));
    std::thread::spawn(move || {
        for (number, client) in listener.incoming().flatten().enumerate() {
            if number < 3 {
                // What arrived and was not read makes the system reset the connection.
                std::thread::sleep(std::time::Duration::from_millis(50));
                continue;
            }
            let Ok(server) = std::net::TcpStream::connect(("127.0.0.1", port)) else { continue };
            let pairs = [(client.try_clone(), server.try_clone()), (Ok(server), Ok(client))];
            for (from, to) in pairs {
                let (Ok(mut from), Ok(mut to)) = (from, to) else { continue };
                std::thread::spawn(move || std::io::copy(&mut from, &mut to));
            }
        }
    });
    PostgresStore::open(&starting, "here").expect("waited for").status().expect("it answers");
}
