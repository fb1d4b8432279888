//! A server without a free connection, connections that nobody needs or that break, standbys, and waiting for changes of other processes.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::{Duration, Instant};

use super::*;
use crate::postgres::connection::Connections;
use crate::postgres::failure::Failure;
use crate::{NewNamespace, SharedSession, SharedSessions, StoreError};

/// A user of a test's database who may have one connection; removed at the end.
struct Limited<'t> {
    test: &'t TestStore,
    name: String,
}

impl Limited<'_> {
    fn of(test: &TestStore) -> Limited<'_> {
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
    let Some(test) = store() else { return };
    let limited = Limited::of(&test);
    let holder = Connections::new(&limited.url()).unwrap();
    let held = holder.wait(holder.lasting()).unwrap();
    let started = Instant::now();
    let refused = PostgresStore::open(&limited.url(), "here").unwrap_err().to_string();
    assert!(refused.contains("all connections of the server are taken"), "{refused}");
    assert!(refused.contains("max_connections"), "{refused}");
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
    let Some(test) = store() else { return };
    let other = test.another();
    let open = || test.count("pg_stat_activity WHERE datname = current_database()");
    let before = open();
    let connections = &other.connections;
    let several = connections.wait(async {
        let own = || connections.session_of_its_own();
        Ok([own().await?, own().await?, own().await?])
    });
    drop(several.unwrap());
    assert!(open() > before);
    let started = Instant::now();
    while open() > before {
        assert!(started.elapsed() < Duration::from_secs(30), "{} connections stay open", open());
        // It is used all the time.
        other.change_number().unwrap();
        std::thread::sleep(Duration::from_millis(300));
    }
}

fn with_parameter(url: &str, parameter: &str) -> String {
    format!("{url}{}{parameter}", if url.contains('?') { '&' } else { '?' })
}

#[test]
fn settings_of_the_address_override_ours() {
    let Some(test) = store() else { return };
    let url = with_parameter(&test.url(), "options=-c%20statement_timeout%3D7s");
    let shown = |url: &str| {
        let connections = Connections::new(url).unwrap();
        connections
            .ask(async |connection| {
                let select = "SELECT current_setting('statement_timeout'), current_setting('jit'), current_setting('search_path')";
                let row = connection.query_one(select, &[]).await?;
                Ok([0, 1, 2].map(|at| row.get::<_, String>(at)))
            })
            .unwrap()
    };
    assert_eq!(shown(&test.url()), ["10min", "off", "tamis, public"]);
    assert_eq!(shown(&url), ["7s", "off", "tamis, public"]);
}

#[test]
fn extensions_may_live_in_a_schema_of_their_own() {
    let Some(test) = store() else { return };
    test.execute("DROP SCHEMA tamis CASCADE; DROP EXTENSION vector CASCADE; CREATE SCHEMA \"ex-t\"");
    test.execute("CREATE EXTENSION vector SCHEMA \"ex-t\"");
    let store = PostgresStore::open(&test.url(), "here").unwrap();
    store.apply(&[put("a.md", &["one"])]).unwrap();
    let model = ModelKey { id: "toy".into(), dimension: 2 };
    assert_eq!(store.put_vectors(&model, &[(TextHash::from_text("one"), vec![1.0, 0.0])]).unwrap(), 1);
    // Under the role of searches.
    let nearest = store.nearest("toy", &[1.0, 0.0], &Filter::namespace("here"), 5).unwrap();
    assert_eq!(nearest.hits.len(), 1);
    assert!(store.status().unwrap().row_security);
}

#[test]
fn a_database_without_a_place_for_the_tables_is_refused_with_the_way_out() {
    let Some(test) = store() else { return };
    for (makes, said) in
        [("CREATE TABLE tamis.orders(id integer)", "orders"), ("CREATE TABLE tamis.meta(version integer)", "meta")]
    {
        test.execute(&format!("DROP SCHEMA IF EXISTS tamis CASCADE; CREATE SCHEMA tamis; {makes}"));
        let refused = PostgresStore::open(&test.url(), "here").unwrap_err().to_string();
        assert!(refused.contains(said) && refused.contains("name another database"), "{refused}");
    }
    // A table of that name elsewhere is nobody's business.
    test.execute("DROP SCHEMA tamis CASCADE; CREATE TABLE public.meta(version integer)");
    PostgresStore::open(&test.url(), "here").unwrap();
    let (server, other) = (test.url(), format!("tamis_test_latin_{}", std::process::id()));
    test.database.execute(&format!("DROP DATABASE IF EXISTS {other}"));
    test.database.execute(&format!("CREATE DATABASE {other} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0"));
    let (before, _) = server.rsplit_once('/').unwrap();
    let refused = PostgresStore::open(&format!("{before}/{other}"), "here").unwrap_err().to_string();
    test.database.execute(&format!("DROP DATABASE {other} WITH (FORCE)"));
    assert!(refused.contains("LATIN1") && refused.contains("ENCODING 'UTF8'"), "{refused}");
}

const BREAK: &str = "SELECT pg_terminate_backend(pg_backend_pid())";

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
    assert_eq!((attempts.into_inner(), test.count("t")), (2, 1));
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
    assert_eq!((attempted, attempts.swap(0, Relaxed), test.count("t")), (1, 2, 2));
    let error = change(99).expect_err("it only reads");
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error}");
    assert!(error.to_string().ends_with("and target_session_attrs=read-write"), "{error}");
}

#[test]
fn a_lost_right_to_write_is_taken_again() {
    let Some(test) = store() else { return };
    let first = test.hold().expect("free");
    test.end_holder();
    std::thread::sleep(Duration::from_millis(300));
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
    let several = with_parameter(&format!("{start}@127.0.0.1:1,{rest}"), "target_session_attrs=read-write");
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
    let parameters = "target_session_attrs=read-write&connect_timeout=1";
    let several = with_parameter(&format!("{start}@127.0.0.1:{port},{rest}"), parameters);
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
                std::thread::sleep(Duration::from_millis(50));
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

fn namespace(name: &str) -> NewNamespace {
    NewNamespace { name: name.to_owned(), owner: None, shared: false }
}

#[test]
fn what_another_process_publishes_wakes_at_once_and_other_changes_soon() {
    let Some(store) = store() else { return };
    let other = store.another();
    let number = store.wait_for_change(None, Duration::ZERO).unwrap();
    assert_eq!(store.wait_for_change(Some(number), Duration::from_millis(50)).unwrap(), number, "nothing changed");
    let mut seen = number;
    for round in 0..3 {
        let started = Instant::now();
        let changed = std::thread::scope(|scope| {
            let waiting = scope.spawn(|| store.wait_for_change(Some(seen), Duration::from_secs(60)).unwrap());
            other.put_namespace(&namespace(&format!("n{round}"))).unwrap();
            waiting.join().unwrap()
        });
        assert!(changed > seen);
        assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
        seen = changed;
    }
}

#[test]
fn a_broken_connection_is_opened_again_and_hears_again() {
    let Some(store) = store() else { return };
    let other = store.another();
    let number = store.wait_for_change(None, Duration::ZERO).unwrap();
    const LISTENING: &str = "pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN %'";
    let wait_to_listen = || {
        let started = Instant::now();
        while store.count(LISTENING) != 1 {
            assert!(started.elapsed() < Duration::from_secs(5), "it does not listen");
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    wait_to_listen();
    store.execute(&format!("SELECT pg_terminate_backend(pid) FROM {LISTENING}"));
    wait_to_listen();
    // Its notice comes before the next question would be asked.
    let heard = store.listening.heard(&store.connections);
    other.put_namespace(&namespace("n")).unwrap();
    other.publish(&mut |_| Ok(())).unwrap();
    let started = Instant::now();
    while !heard.has_changed().unwrap() {
        assert!(started.elapsed() < Duration::from_secs(5), "it hears nothing");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(store.wait_for_change(Some(number), Duration::ZERO).unwrap() > number);
}

#[test]
fn a_session_is_known_everywhere_until_it_ends() {
    let Some(store) = store() else { return };
    let other = store.another();
    let session = |id: &str, owner: &str| SharedSession { id: id.into(), owner: owner.into(), opened: "{}".to_owned() };
    for id in ["a", "b", "c"] {
        store.open_session(&session(id, "ada"), 2).unwrap();
        std::thread::sleep(Duration::from_millis(2));
    }
    other.open_session(&session("d", "eve"), 2).unwrap();
    assert_eq!(other.session("a").unwrap(), None, "the oldest of too many");
    assert_eq!(other.session("b").unwrap(), Some(session("b", "ada")));
    assert_eq!(store.session("d").unwrap(), Some(session("d", "eve")));
    other.end_session("b").unwrap();
    assert_eq!(store.session("b").unwrap(), None);
    store.execute("UPDATE tamis.sessions SET used_ms = used_ms - 1000000 WHERE session = 'c'");
    assert!(other.session("c").unwrap().is_some());
    store.execute("UPDATE tamis.sessions SET used_ms = used_ms - 80000000 WHERE session = 'c'");
    assert!(other.session("c").unwrap().is_some(), "its use was noted");
    store.execute("UPDATE tamis.sessions SET used_ms = used_ms - 90000000 WHERE session = 'c'");
    assert_eq!(other.session("c").unwrap(), None, "unused for a day");
}
