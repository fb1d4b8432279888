//! What only a server does with changes: several stores on one database take turns to write; checking, mending and publishing.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::*;
use crate::{EvidenceRecord, Part, StoreError, Work};

#[test]
fn a_text_loses_what_the_server_cannot_hold() {
    let Some(store) = store() else { return };
    store.apply(&[put("a.md", &["Doors\0are opened."])]).unwrap();
    let stored = &store.document_passages("here", "a.md").unwrap()[0];
    assert_eq!(stored.text, "Doors\u{fffd}are opened.");
    assert_eq!(stored.text_hash, TextHash::from_text("Doors\0are opened."));
}

#[test]
fn an_identifier_that_is_taken_gets_longer() {
    let Some(store) = store() else { return };
    store.apply(&[put("a.md", &["one"])]).unwrap();
    let id = store.document_passages("here", "a.md").unwrap()[0].id.clone();
    // Another passage takes the place of the one with the same twelve digits.
    store.apply(&[put("a.md", &["two"]), put("b.md", &["three"])]).unwrap();
    store.execute(&format!("UPDATE tamis.passages SET public_id = '{id}' WHERE text = 'three'"));
    store.apply(&[put("a.md", &["one"])]).unwrap();
    let longer = store.document_passages("here", "a.md").unwrap()[0].id.clone();
    assert_eq!(longer.len(), 16);
    assert!(longer.starts_with(&id));
    assert_eq!(store.find(&id, 5).unwrap().len(), 1, "the whole identifier of one, found alone");
    assert_eq!(store.find(&id[..8], 5).unwrap().len(), 2);
    assert_eq!(store.find(&id[..8].to_uppercase(), 1).unwrap().len(), 1);
    assert_eq!(store.find("", 5).unwrap(), []);
    assert_eq!(store.find("xyz", 5).unwrap(), []);
}

#[test]
fn stores_write_at_once_and_a_reader_sees_whole_documents() {
    const ROUNDS: usize = 30;
    let Some(store) = store() else { return };
    let version = |round: usize| -> Vec<String> { (0..=round % 5).map(|_| format!("round {round}")).collect() };
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let write = |namespace: &'static str, shared: &'static str| {
            let other = store.another();
            for round in 0..ROUNDS {
                // A document of their own each, and one in a namespace that both change.
                let texts = version(round);
                other.apply(&[put_in(namespace, "a.md", &texts), put_in("both", shared, &texts)]).unwrap();
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
    let Some(store) = store() else { return };
    let other = store.another();
    let one = store.writer().unwrap();
    let two = store.writer().unwrap();
    let error = other.writer().unwrap_err();
    assert!(matches!(&error, StoreError::Busy { holder, .. } if holder.contains("tamis, process ")), "{error}");
    drop(one);
    assert!(matches!(other.writer(), Err(StoreError::Busy { .. })));
    // Single changes only lock their namespaces.
    other.apply(&[put("a.md", &["one"])]).unwrap();
    drop(two);
    drop(other.writer().unwrap());
    drop(store.writer().unwrap());
}

#[test]
fn waiting_ends_when_patience_does_or_the_holder_or_its_connection() {
    let Some(store) = store() else { return };
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
    let _held = store.writer().unwrap();
    assert!(matches!(other.writer(), Err(StoreError::Busy { .. })));
    store.end_holder();
    let taken = other.wait_to_write(Duration::from_secs(20), &mut |_| true);
    drop(taken.unwrap());
}

#[test]
fn a_holder_whose_connection_broke_changes_nothing_more() {
    let Some(store) = store() else { return };
    let other = store.another();
    let old = [put("a.md", &["old"])];
    store.apply(&old).unwrap();
    let model = ModelKey { id: "m".to_owned(), dimension: 1 };
    let text = store.document_passages("here", "a.md").unwrap()[0].text_hash;
    let held = store.writer().unwrap();
    store.apply(&old).unwrap();
    store.end_holder();
    let lost = |told: Result<(), StoreError>| assert!(matches!(told, Err(StoreError::WriterLost { .. })), "{told:?}");
    // Also before another store has taken the right.
    lost(store.apply(&old).map(drop));
    let held_by_other = other.wait_to_write(Duration::from_secs(20), &mut |_| true).unwrap();
    other.apply(&[put("a.md", &["new"])]).unwrap();
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
    let Some(store) = store() else { return };
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
    let Some(store) = store() else { return };
    let other = crate::postgres::PostgresStore::open(&store.url(), "there").unwrap();
    let _one = store.writer().unwrap();
    let _two = other.writer().unwrap();
}

#[test]
fn damage_is_found_and_words_are_mended() {
    let Some(store) = store() else { return };
    store.apply(&[put("a.md", &["coarse sieves"]), put("b.md", &["fine sand"])]).unwrap();
    assert_eq!(store.check().unwrap().problems, []);
    assert_eq!(store.check().unwrap().passages, 2);
    for damage in [
        "DELETE FROM tamis.words WHERE passage = (SELECT min(passage) FROM tamis.words)",
        "UPDATE tamis.frequencies SET passages = passages + 1 WHERE term = (SELECT min(term) FROM tamis.frequencies WHERE field = 0) AND field = 0",
        "DELETE FROM tamis.frequencies WHERE term = (SELECT min(term) FROM tamis.frequencies WHERE field = 0)",
        "INSERT INTO tamis.frequencies VALUES ('here', 7, 1, 4)",
        "UPDATE tamis.namespaces SET body_terms = body_terms + 1",
        "UPDATE tamis.namespaces SET analysis = 0",
        "UPDATE tamis.words SET body_terms = 99",
    ] {
        store.execute(damage);
        let found = store.check().unwrap().problems;
        assert!(!found.is_empty(), "{damage}");
        assert!(found.iter().all(|problem| problem.part == Part::Lexical && problem.mendable), "{damage}: {found:?}");
        let (mut last, before) = (None, store.change_number().unwrap());
        let mended = store.mend(&mut |progress| {
            last = Some(progress);
            Ok(())
        });
        assert_eq!(mended.unwrap().problems, [], "{damage}");
        let last = last.unwrap();
        assert_eq!((last.part, last.done, last.total), (Part::Lexical, 2, 2));
        assert!(store.change_number().unwrap() > before, "results from before are known to be old");
    }
    store.execute("UPDATE tamis.documents SET passages = 7 WHERE path = 'a.md'");
    let found = store.mend(&mut |_| Ok(())).unwrap().problems;
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].part, found[0].mendable), (Part::Database, false));
    assert_eq!(found[0].message, "1 documents have a wrong passage count");
    let model = ModelKey { id: "toy".into(), dimension: 2 };
    store.put_vectors(&model, &[(TextHash::from_text("fine sand"), vec![1.0, 0.5])]).unwrap();
    store.execute("UPDATE tamis.vectors SET model = model + 1");
    let found = store.check().unwrap().problems;
    let messages: Vec<&str> = found.iter().map(|problem| problem.message.as_str()).collect();
    assert!(messages.len() == 2 && messages.contains(&"1 vectors are of an unknown model"), "{messages:?}");
}

#[test]
fn publishing_stamps_what_changed_and_reads_old_words_again() {
    let Some(store) = store() else { return };
    store.publish(&mut |_| Ok(())).unwrap();
    assert_eq!(store.summary().unwrap().last_publish_ms, None);
    store.apply(&[put("a.md", &["one"])]).unwrap();
    store.publish(&mut |_| Ok(())).unwrap();
    let summary = store.summary().unwrap();
    assert!(summary.last_publish_ms >= summary.last_change_ms && summary.last_change_ms.is_some());
    assert_eq!(summary.lexical_seq, Some(summary.seq));
    store.execute("UPDATE tamis.namespaces SET analysis = 0");
    let mut done = 0;
    store
        .publish(&mut |progress| {
            done = progress.done;
            Ok(())
        })
        .unwrap();
    assert_eq!(done, 1);
    assert_eq!(store.check().unwrap().problems, []);
    assert_eq!(store.remove_namespace("here").unwrap().seq, store.change_number().unwrap());
}

#[test]
fn other_tables_are_noticed() {
    let Some(store) = store() else { return };
    store.check_replaced().unwrap();
    store.execute("UPDATE tamis.meta SET value = 'another' WHERE key = 'instance'");
    let replaced =
        |error: StoreError, was_gone: bool| matches!(error, StoreError::Replaced { gone, .. } if gone == was_gone);
    assert!(replaced(store.check_replaced().unwrap_err(), false));
    assert!(replaced(store.apply(&[put("a.md", &["one"])]).unwrap_err(), false));
    assert!(replaced(store.writer().unwrap_err(), false));
    drop(store.another().writer().unwrap());
    store.execute("DROP SCHEMA tamis CASCADE");
    assert!(replaced(store.check_replaced().unwrap_err(), true));
    assert!(replaced(store.apply(&[put("a.md", &["one"])]).unwrap_err(), true));
}

#[test]
fn the_server_knows_how_much_an_import_wrote_once_it_is_published() {
    let Some(store) = store() else { return };
    let counted = |table: &str| {
        let select = format!("SELECT reltuples::bigint::text FROM pg_class WHERE oid = to_regclass('{table}')");
        store.rows(&select).remove(0)
    };
    let work = |at: usize| {
        let title = format!("The work {at}");
        EvidenceRecord::Work(Work { id: format!("w{at}"), title, ..Work::default() })
    };
    let works: Vec<EvidenceRecord> = (0..1_200).map(work).collect();
    store.apply_evidence("here", "corpus", &works, &[]).unwrap();
    store.publish(&mut |_| Ok(())).unwrap();
    assert_eq!(counted("evidence_works"), "1200");
    // Another namespace, which is small beside what the server has counted.
    store.execute("UPDATE pg_class SET reltuples = 5000 WHERE oid = 'tamis.passages'::regclass");
    let more: Vec<Change> = (0..1_100).map(|at| put(&format!("{at}.md"), &[&format!("sand {at}")])).collect();
    store.apply(&more).unwrap();
    assert_eq!(counted("passages"), "5000", "it does not count for a fifth");
    store.publish(&mut |_| Ok(())).unwrap();
    assert_eq!(counted("passages"), "1100");
}
