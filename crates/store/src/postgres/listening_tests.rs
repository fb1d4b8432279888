//! Waiting for changes of other processes, and sessions that all servers know.

use std::time::{Duration, Instant};

use super::testing;
use crate::namespace::NewNamespace;
use crate::store::{Changes, Maintenance, Serving, SharedSession, SharedSessions};

fn namespace(name: &str) -> NewNamespace {
    NewNamespace { name: name.to_owned(), owner: None, shared: false }
}

#[test]
fn what_another_process_publishes_wakes_at_once_and_other_changes_soon() {
    let Some(store) = testing::store() else { return };
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
    let Some(store) = testing::store() else { return };
    let other = store.another();
    let number = store.wait_for_change(None, Duration::ZERO).unwrap();
    let listens = || -> i64 {
        let count =
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN %'";
        let count = async { Ok(store.connections.session_of_its_own().await?.query_one(count, &[]).await?.get(0)) };
        store.connections.wait(count).unwrap()
    };
    let wait_to_listen = || {
        let started = Instant::now();
        while listens() != 1 {
            assert!(started.elapsed() < Duration::from_secs(5), "it does not listen");
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    wait_to_listen();
    store.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN %'",
    );
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
    let Some(store) = testing::store() else { return };
    let other = store.another();
    let session =
        |id: &str, owner: &str| SharedSession { id: id.to_owned(), owner: owner.to_owned(), opened: "{}".to_owned() };
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
