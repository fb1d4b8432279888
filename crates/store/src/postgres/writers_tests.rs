//! Several stores on one database: writers of different namespaces, a reader among them, and the right to write.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::testing;
use crate::error::StoreError;
use crate::record::{Change, ModelKey, NewDocument, NewPassage, TextForm};
use crate::store::{Changes, Documents, Maintenance, VectorLeg};

fn put(namespace: &str, path: &str, texts: &[String]) -> Change {
    Change::Put(NewDocument {
        passages: texts
            .iter()
            .map(|text| NewPassage::new("paragraph", 1..=1, text.as_str(), TextForm::Prose))
            .collect(),
        ..NewDocument::new(namespace, "docs", path)
    })
}

#[test]
fn stores_write_at_once_and_a_reader_sees_whole_documents() {
    const ROUNDS: usize = 30;
    let Some(store) = testing::store() else { return };
    let version = |round: usize| -> Vec<String> { (0..=round % 5).map(|_| format!("round {round}")).collect() };
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let write = |namespace: &'static str, shared: &'static str| {
            let other = store.another();
            for round in 0..ROUNDS {
                // A document of their own each, and one in a namespace that both change.
                other.apply(&[put(namespace, "a.md", &version(round)), put("both", shared, &version(round))]).unwrap();
            }
        };
        let writers = [scope.spawn(move || write("one", "1.md")), scope.spawn(move || write("two", "2.md"))];
        scope.spawn(|| {
            let mut last = 0;
            while !done.load(Ordering::Relaxed) {
                let now = store.change_number().unwrap();
                assert!(now >= last, "{now} after {last}");
                last = now;
                for namespace in ["one", "two"] {
                    let passages = store.document_passages(namespace, "a.md").unwrap();
                    let Some(first) = passages.first() else { continue };
                    let round: usize = first.text.trim_start_matches("round ").parse().unwrap();
                    let texts: Vec<String> = passages.iter().map(|passage| passage.text.clone()).collect();
                    assert_eq!(texts, version(round));
                }
            }
        });
        let results = writers.map(|writer| writer.join());
        done.store(true, Ordering::Relaxed);
        results.into_iter().for_each(|result| result.unwrap());
    });
    assert_eq!(store.change_number().unwrap(), 4 * ROUNDS as u64);
    assert_eq!(store.documents("both").unwrap().len(), 2);
    assert_eq!(store.check().unwrap().problems, []);
}

#[test]
fn the_right_to_write_is_held_and_named() {
    let Some(store) = testing::store() else { return };
    let other = store.another();
    let one = store.writer().unwrap();
    let two = store.writer().unwrap();
    let error = other.writer().unwrap_err();
    assert!(matches!(&error, StoreError::Busy { holder, .. } if holder.contains("tamis, process ")), "{error}");
    drop(one);
    assert!(matches!(other.writer(), Err(StoreError::Busy { .. })));
    // Single changes only lock their namespaces.
    other.apply(&[put("here", "a.md", &["one".to_owned()])]).unwrap();
    drop(two);
    drop(other.writer().unwrap());
    drop(store.writer().unwrap());
}

#[test]
fn waiting_ends_when_patience_does_or_the_holder() {
    let Some(store) = testing::store() else { return };
    let other = store.another();
    let held = store.writer().unwrap();
    assert!(matches!(other.wait_to_write(Duration::ZERO, &mut |_| true), Err(StoreError::Busy { .. })));
    assert!(matches!(other.wait_to_write(Duration::MAX, &mut |_| false), Err(StoreError::Busy { .. })));
    let (told, waits) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| {
            let served = other.wait_to_write(Duration::MAX, &mut |holder| {
                let _ = told.send(holder.to_owned());
                true
            });
            drop(served.unwrap());
        });
        let holder = waits.recv().unwrap();
        assert!(holder.contains("process "), "{holder}");
        // Another share needs no turn, so that what is begun can be ended.
        drop(store.writer().unwrap());
        drop(held);
        waiter.join().unwrap();
    });
    drop(store.writer().unwrap());
}

#[test]
fn the_right_to_write_ends_with_its_connection() {
    let Some(store) = testing::store() else { return };
    let other = store.another();
    let _held = store.writer().unwrap();
    assert!(matches!(other.writer(), Err(StoreError::Busy { .. })));
    store.end_holder();
    let taken = other.wait_to_write(Duration::from_secs(20), &mut |_| true);
    drop(taken.unwrap());
}

#[test]
fn a_holder_whose_connection_broke_changes_nothing_more() {
    let Some(store) = testing::store() else { return };
    let other = store.another();
    let old = [put("here", "a.md", &["old".to_owned()])];
    store.apply(&old).unwrap();
    let model = ModelKey { id: "m".to_owned(), dimension: 1 };
    let text = store.document_passages("here", "a.md").unwrap()[0].text_hash;
    let held = store.writer().unwrap();
    store.apply(&old).unwrap();
    store.end_holder();
    let lost =
        |result: Result<(), StoreError>| assert!(matches!(result, Err(StoreError::WriterLost { .. })), "{result:?}");
    // Also before another store has taken the right.
    lost(store.apply(&old).map(drop));
    let held_by_other = other.wait_to_write(Duration::from_secs(20), &mut |_| true).unwrap();
    other.apply(&[put("here", "a.md", &["new".to_owned()])]).unwrap();
    lost(store.apply(&old).map(drop));
    lost(store.set_dates("here", &[("a.md".to_owned(), 1)]).map(drop));
    lost(store.put_vectors(&model, &[(text, vec![1.0])]).map(drop));
    lost(store.remove_namespace("here").map(drop));
    lost(store.writer().map(drop));
    drop(held_by_other);
    // The right stays lost until its holder has given it up.
    lost(store.wait_to_write(Duration::ZERO, &mut |_| true).map(drop));
    assert_eq!(store.document_passages("here", "a.md").unwrap()[0].text, "new");
    drop(held);
    let _held = store.writer().unwrap();
    store.apply(&old).unwrap();
}

#[test]
fn a_new_holder_waits_for_the_change_of_the_one_before_it() {
    let Some(store) = testing::store() else { return };
    let other = store.another();
    let _held = store.writer().unwrap();
    let taken = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let changed = store.connections.write(async |transaction| {
            store.lock_namespaces(transaction, ["here"]).await?;
            let (store, taken, other) = (&store, &taken, &other);
            scope.spawn(move || {
                store.end_holder();
                let held = other.wait_to_write(Duration::from_secs(20), &mut |_| true);
                taken.store(true, Ordering::SeqCst);
                drop(held.unwrap());
            });
            std::thread::sleep(Duration::from_millis(300));
            assert!(!taken.load(Ordering::SeqCst), "it passed the fence before the change ended");
            Ok(())
        });
        changed.unwrap();
    });
    assert!(taken.load(Ordering::SeqCst));
}

#[test]
fn another_tree_has_a_right_to_write_of_its_own() {
    let Some(store) = testing::store() else { return };
    let other = super::PostgresStore::open(&store.url(), "there").unwrap();
    let _one = store.writer().unwrap();
    let _two = other.writer().unwrap();
}
