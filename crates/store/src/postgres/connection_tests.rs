//! A server without a free connection, and connections that nobody needs.

use std::time::{Duration, Instant};

use super::PostgresStore;
use super::connection::Connections;
use super::testing;
use crate::filter::Filter;
use crate::record::{Change, ModelKey, NewDocument, NewPassage, TextForm, TextHash};
use crate::store::{Changes, Maintenance, VectorLeg};

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
    let held = holder.wait(holder.lasting()).unwrap();
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
        let count = async { Ok(test.connections.session_of_its_own().await?.query_one(count, &[]).await?.get(0)) };
        test.connections.wait(count).unwrap()
    };
    let before = open();
    other
        .connections
        .wait(async {
            let connections = [
                other.connections.session_of_its_own().await?,
                other.connections.session_of_its_own().await?,
                other.connections.session_of_its_own().await?,
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

#[test]
fn settings_of_the_address_override_ours() {
    let Some(test) = testing::store() else { return };
    let separator = if test.url().contains('?') { '&' } else { '?' };
    let url = format!("{}{separator}options=-c%20statement_timeout%3D7s", test.url());
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
    let Some(test) = testing::store() else { return };
    test.execute("DROP SCHEMA tamis CASCADE; DROP EXTENSION vector CASCADE; CREATE SCHEMA \"ex-t\"");
    test.execute("CREATE EXTENSION vector SCHEMA \"ex-t\"");
    let store = PostgresStore::open(&test.url(), "here").unwrap();
    let passage = NewPassage::new("paragraph", 1..=1, "one", TextForm::Prose);
    let text = TextHash::of("one");
    store
        .apply(&[Change::Put(NewDocument { passages: vec![passage], ..NewDocument::new("here", "docs", "a.md") })])
        .unwrap();
    let model = ModelKey { id: "toy".into(), dimension: 2 };
    assert_eq!(store.put_vectors(&model, &[(text, vec![1.0, 0.0])]).unwrap(), 1);
    // Under the role of searches.
    let nearest = store.nearest("toy", &[1.0, 0.0], &Filter::namespace("here"), 5).unwrap();
    assert_eq!(nearest.hits.len(), 1);
    assert!(store.status().unwrap().row_security);
}

#[test]
fn a_database_without_a_place_for_the_tables_is_refused_with_the_way_out() {
    let Some(test) = testing::store() else { return };
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
    let (server, database) = (test.url(), "tamis_test_latin");
    let other = format!("{database}_{}", std::process::id());
    test.execute(&format!("DROP DATABASE IF EXISTS {other}"));
    test.execute(&format!("CREATE DATABASE {other} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0"));
    let (before, _) = server.rsplit_once('/').unwrap();
    let refused = PostgresStore::open(&format!("{before}/{other}"), "here").unwrap_err().to_string();
    test.execute(&format!("DROP DATABASE {other} WITH (FORCE)"));
    assert!(refused.contains("LATIN1") && refused.contains("ENCODING 'UTF8'"), "{refused}");
}
