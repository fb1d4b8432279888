//! A database that is missing, empty, or created by several processes at once, or that does not grow with each change.

use std::sync::Barrier;

use tamis_store::prelude::*;
use tamis_store::{Access, Change, EmbeddedStore, StoreError};

use crate::common::*;

#[test]
fn all_who_open_a_new_index_at_once_get_the_same_one() {
    for _ in 0..5 {
        let directory = temporary();
        let barrier = Barrier::new(8);
        let place = directory.path().join("new/index");
        std::thread::scope(|scope| {
            let opened: Vec<_> = (0..8)
                .map(|number| {
                    let (barrier, place) = (&barrier, &place);
                    scope.spawn(move || {
                        barrier.wait();
                        let store = EmbeddedStore::open(place, Access::ReadWrite).unwrap();
                        let patience = std::time::Duration::from_secs(600);
                        let _writing = store.wait_to_write(patience, &mut |_| true).unwrap();
                        put(&store, vec![prose(&format!("{number}.md"), &["flour"])]);
                    })
                })
                .collect();
            opened.into_iter().for_each(|thread| thread.join().unwrap());
        });
        let store = open(&place);
        assert_eq!(store.documents("here").unwrap().len(), 8);
        publish(&store);
        assert_sound(&store);
    }
}

#[test]
fn an_empty_database_where_an_index_was_is_damage() {
    for left in ["lexical", "vectors", "usage.db", "tamis.db-wal"] {
        let directory = temporary();
        let store = open(directory.path());
        put(&store, vec![prose("imported.md", &["flour"])]);
        embed(&store);
        publish(&store);
        drop(store);
        for part in ["lexical", "vectors"].iter().filter(|part| **part != left) {
            std::fs::remove_dir_all(directory.path().join(part)).unwrap();
        }
        if left.contains("db") {
            std::fs::write(directory.path().join(left), "something").unwrap();
        }
        std::fs::write(directory.path().join("tamis.db"), "").unwrap();
        for access in [Access::ReadOnly, Access::ReadWrite] {
            let error = EmbeddedStore::open(directory.path(), access).unwrap_err();
            let message = error.to_string();
            assert!(matches!(error, StoreError::Corrupt { .. }), "{left}: {message}");
            assert!(message.contains("empty") && message.contains(left.trim_start_matches("tamis.db-w")), "{message}");
        }
        assert_eq!(std::fs::metadata(directory.path().join("tamis.db")).unwrap().len(), 0, "it is left alone");
    }
}

#[test]
fn an_empty_database_where_nothing_was_is_a_new_index() {
    let directory = temporary();
    std::fs::write(directory.path().join("tamis.db"), "").unwrap();
    let missing = EmbeddedStore::open(directory.path(), Access::ReadOnly).unwrap_err();
    assert!(matches!(missing, StoreError::Missing { .. }), "{missing}");
    put(&open(directory.path()), vec![prose("a.md", &["flour"])]);
    assert_eq!(open(directory.path()).documents("here").unwrap().len(), 1);
}

#[test]
fn the_log_of_a_deleted_database_does_not_get_into_a_new_one() {
    let directory = temporary();
    let aside = temporary();
    let store = open(directory.path());
    put(&store, vec![prose("old.md", &["flour"])]);
    // The log as a killed process leaves it.
    std::fs::copy(directory.path().join("tamis.db-wal"), aside.path().join("log")).unwrap();
    drop(store);
    std::fs::remove_file(directory.path().join("tamis.db")).unwrap();
    std::fs::copy(aside.path().join("log"), directory.path().join("tamis.db-wal")).unwrap();
    let store = open(directory.path());
    assert!(store.documents("here").unwrap().is_empty());
    put(&store, vec![prose("new.md", &["flour"])]);
    publish(&store);
    assert_sound(&store);
}

#[test]
fn the_database_does_not_grow_with_every_change() {
    let directory = temporary();
    let store = open(directory.path());
    let change = |round: usize| {
        let texts: Vec<String> = (0..200).map(|number| format!("text {number} of round {round}")).collect();
        put(&store, vec![document("a.md", texts.iter().map(|text| passage(text)).collect())]);
        embed(&store);
        publish(&store);
        let summary = store.summary().unwrap();
        summary.models[0].vectors
    };
    let most = (0..40).map(change).max().unwrap();
    assert!(most <= 200 + 1024 + 200, "{most} vectors are kept for 200 passages");
    assert!(most > 1000, "what was there a moment ago is kept for when it comes back");
    // The texts kept last serve those that come back.
    let texts: Vec<String> = (0..200).map(|number| format!("text {number} of round 38")).collect();
    put(&store, vec![document("a.md", texts.iter().map(|text| passage(text)).collect())]);
    assert_eq!(embed(&store), 0);
    store.apply(&[Change::Delete { document: id_of(&store, "a.md") }]).unwrap();
    assert!(store.prune().unwrap().vectors > 0);
    assert_eq!(store.summary().unwrap().models[0].vectors, 0);
    publish(&store);
    assert_sound(&store);
}
