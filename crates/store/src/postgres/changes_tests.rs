//! Changes give what the embedded store gives for the same ones; several stores on one database take turns to write; checking, mending,
//! pruning and publishing.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::testing::{TestStore, content, counts, embedded};
use super::{PostgresStore, testing};
use crate::error::StoreError;
use crate::record::{
    Attribute, Change, DocumentId, ModelKey, NewDocument, NewNamespace, NewPassage, TextForm, TextHash,
};
use crate::report::Part;
use crate::store::{Changes, Documents, Maintenance, VectorLeg};

fn document(path: &str, texts: &[&str]) -> NewDocument {
    NewDocument {
        size: 7,
        modified_ns: 11,
        passages: texts.iter().map(|text| NewPassage::new("paragraph", 1..=2, *text, TextForm::Prose)).collect(),
        ..NewDocument::new("here", "docs", path)
    }
}

fn put(path: &str, texts: &[&str]) -> Change {
    Change::Put(document(path, texts))
}

/// A document with every field set.
fn rich(path: &str) -> NewDocument {
    let attribute = |name: &str, value: &str| Attribute { name: name.into(), value: value.into() };
    let mut passage = NewPassage::new("function", 3..=9, "fn openDoor(key: Key)", TextForm::Code);
    passage.embedded_text = format!("impl Door\n{}", passage.text);
    passage.symbol = Some("Door::open, Door::close".into());
    passage.signature = Some("key".into());
    passage.context = Some("impl Door".into());
    passage.role = "test".into();
    passage.language = Some("rust".into());
    passage.author = Some("Ada".into());
    passage.dated_ns = Some(5);
    passage.part = Some(2);
    let mut other = NewPassage::new("section", 10..=12, "Doors\0are opened.", TextForm::Prose);
    other.embedded_text = "something else".into();
    other.heading = Some("House > Doors".into());
    NewDocument {
        origin: Some("github:a/b".into()),
        language: Some("markdown".into()),
        role: "vendored".into(),
        title: Some("House".into()),
        dated_ns: Some(17),
        severity: Some("major".into()),
        content_hash: [3; 32],
        note: Some("a note".into()),
        attributes: vec![
            attribute("label", "B"),
            attribute("label", "a"),
            attribute("label", "a"),
            attribute("state", "open"),
        ],
        record: Some("{}".into()),
        passages: vec![passage, other],
        ..document(path, &[])
    }
}

fn number(store: &impl Documents, path: &str) -> DocumentId {
    store.document("here", path).unwrap().unwrap().document
}

#[test]
fn a_document_reads_back_as_from_the_embedded_store() {
    let Some(store) = testing::store() else { return };
    let (_directory, known) = embedded();
    let changes = [Change::Put(rich("a/b.md")), put("plain.md", &["one", "two", "one"])];
    assert_eq!(counts(store.apply(&changes).unwrap()), counts(known.apply(&changes).unwrap()));
    let mut expected = content(&known);
    // The server holds no NUL.
    expected[0].1[1].text = "Doors\u{fffd}are opened.".into();
    assert_eq!(content(&*store), expected);
    assert_eq!(store.namespaces().unwrap(), known.namespaces().unwrap());
    assert_eq!(store.origins().unwrap(), known.origins().unwrap());
    assert_eq!(store.newest_dates().unwrap(), known.newest_dates().unwrap());
    let numbers = |store: &dyn Documents| {
        ["plain.md", "a/b.md"].map(|path| store.document("here", path).unwrap().unwrap().document)
    };
    let asked = |store: &dyn Documents| {
        let [plain, rich] = numbers(store);
        vec![plain, rich, DocumentId(u32::MAX), rich]
    };
    assert_eq!(store.records(&[], &asked(&*store)).unwrap(), known.records(&[], &asked(&known)).unwrap());
    assert_eq!(store.attributes(&[], &asked(&*store)).unwrap(), known.attributes(&[], &asked(&known)).unwrap());
}

#[test]
fn a_second_put_replaces_and_a_moved_document_keeps_its_number() {
    let Some(store) = testing::store() else { return };
    let applied = store.apply(&[put("a.md", &["one", "two"])]).unwrap();
    assert_eq!((applied.added, applied.passages_added), (1, 2));
    let a = number(&*store, "a.md");
    let applied = store.apply(&[put("a.md", &["three"])]).unwrap();
    assert_eq!((applied.replaced, applied.passages_added, applied.passages_deleted), (1, 1, 2));
    assert_eq!(number(&*store, "a.md"), a);
    let applied =
        store.apply(&[Change::Move { document: a, path: "b.md".into(), size: 1, modified_ns: 2, stamp: 0 }]).unwrap();
    assert_eq!((applied.moved, applied.passages_added, applied.passages_deleted), (1, 1, 1));
    assert_eq!(store.document("here", "a.md").unwrap(), None);
    assert_eq!(number(&*store, "b.md"), a);
    assert_sound(&store);
}

#[test]
fn documents_can_swap_their_paths() {
    let Some(store) = testing::store() else { return };
    let (_directory, known) = embedded();
    let headed = |path: &str, text: &str| {
        let mut document = document(path, &[text]);
        document.passages[0].heading = Some("Same".into());
        Change::Put(document)
    };
    for store in [&*store as &dyn Both, &known] {
        store.apply(&[headed("a.md", "one"), headed("b.md", "two")]).unwrap();
        let [a, b] = ["a.md", "b.md"].map(|path| store.document("here", path).unwrap().unwrap().document);
        let to = |document, path: &str| Change::Move { document, path: path.into(), size: 1, modified_ns: 2, stamp: 0 };
        store.apply(&[to(a, "c.md"), to(b, "a.md"), to(a, "b.md")]).unwrap();
    }
    assert_eq!(content(&*store), content(&known));
    assert_sound(&store);
}

trait Both: Documents + Changes {}
impl<S: Documents + Changes> Both for S {}

#[test]
fn a_list_with_one_bad_change_changes_nothing() {
    let Some(store) = testing::store() else { return };
    store.apply(&[put("a.md", &["one"])]).unwrap();
    let before = store.change_number().unwrap();
    let good = put("b.md", &["two"]);
    let a = number(&*store, "a.md");
    let error = store.apply(&[good.clone(), Change::Delete { document: DocumentId(77) }]).unwrap_err();
    assert!(matches!(error, StoreError::UnknownDocument { document: 77 }), "{error}");
    let twice = [Change::Delete { document: a }, Change::Touch { document: a, size: 1, modified_ns: 1, stamp: 0 }];
    assert!(matches!(store.apply(&twice), Err(StoreError::UnknownDocument { .. })));
    for path in ["", "a\0b"] {
        assert!(matches!(store.apply(&[good.clone(), put(path, &["three"])]), Err(StoreError::Invalid { .. })));
        let moved = Change::Move { document: a, path: path.into(), size: 1, modified_ns: 1, stamp: 0 };
        assert!(matches!(store.apply(&[moved]), Err(StoreError::Invalid { .. })));
    }
    assert_eq!(store.documents("here").unwrap().len(), 1);
    assert_eq!(store.change_number().unwrap(), before);
}

#[test]
fn an_identifier_that_is_taken_gets_longer() {
    let Some(store) = testing::store() else { return };
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
fn touches_and_dates_leave_the_change_number() {
    let Some(store) = testing::store() else { return };
    store.apply(&[put("a.md", &["one"]), put("b.md", &["two"])]).unwrap();
    let before = store.change_number().unwrap();
    let a = number(&*store, "a.md");
    let applied = store.apply(&[Change::Touch { document: a, size: 5, modified_ns: 6, stamp: 0 }]).unwrap();
    assert_eq!((applied.touched, applied.seq), (1, before));
    let dates = [("a.md".to_owned(), 7), ("a.md".to_owned(), 8), ("gone.md".to_owned(), 9)];
    assert_eq!(store.set_dates("here", &dates).unwrap(), 2);
    assert_eq!(store.set_dates("here", &dates[1..]).unwrap(), 0);
    let state = store.document("here", "a.md").unwrap().unwrap();
    assert_eq!((state.size, state.modified_ns, state.dated_ns), (5, 6, Some(8)));
    assert_eq!(store.document_passages("here", "a.md").unwrap()[0].dated_ns, Some(8));
    assert_eq!(store.change_number().unwrap(), before);
    assert!(store.apply(&[Change::Delete { document: a }]).unwrap().seq > before);
}

#[test]
fn namespaces_are_registered_and_removed() {
    let Some(store) = testing::store() else { return };
    let (_directory, known) = embedded();
    let elsewhere = |path: &str| Change::Put(NewDocument { namespace: "there".into(), ..document(path, &["one"]) });
    let registered = NewNamespace { name: "here".into(), owner: None, shared: true };
    let mut before = 0;
    for store in [&*store as &dyn Both, &known] {
        store.put_namespace(&registered).unwrap();
        store.apply(&[put("a.md", &["one", "two"]), elsewhere("a.md")]).unwrap();
        assert!(store.put_namespace(&NewNamespace::default()).is_err());
    }
    assert_eq!(store.namespaces().unwrap(), known.namespaces().unwrap());
    let mut grows = |store: &PostgresStore| {
        let now = store.change_number().unwrap();
        assert!(now > before, "{now} after {before}");
        before = now;
    };
    grows(&store);
    let removed = store.remove_namespace("here").unwrap();
    assert_eq!(counts(removed), counts(known.remove_namespace("here").unwrap()));
    assert_eq!(removed.seq, store.change_number().unwrap());
    grows(&store);
    assert_eq!(store.namespaces().unwrap(), known.namespaces().unwrap());
    assert_eq!(store.remove_namespace("nowhere").unwrap().deleted, 0);
    store.apply(&[put("a.md", &["again"])]).unwrap();
    grows(&store);
    assert_eq!(store.documents("here").unwrap().len(), 1);
    assert_sound(&store);
}

#[test]
fn an_origin_is_removed_where_asked() {
    let Some(store) = testing::store() else { return };
    let (_directory, known) = embedded();
    let imported = |namespace: &str, path: &str| {
        Change::Put(NewDocument {
            namespace: namespace.into(),
            origin: Some("web:x".into()),
            ..document(path, &["one"])
        })
    };
    let changes = [imported("here", "1"), imported("here", "2"), imported("there", "1"), put("own.md", &["two"])];
    for store in [&*store as &dyn Both, &known] {
        store.apply(&changes).unwrap();
    }
    let namespaces = ["here".to_owned(), "nowhere".to_owned(), "here".to_owned()];
    let removed = store.remove_origin("web:x", &namespaces).unwrap();
    assert_eq!(counts(removed), counts(known.remove_origin("web:x", &namespaces).unwrap()));
    assert_eq!(content(&*store), content(&known));
    assert_eq!(store.origins().unwrap(), known.origins().unwrap());
    assert_sound(&store);
}

/// Fails unless words, frequencies and totals agree with the passages.
fn assert_sound(store: &TestStore) {
    assert_eq!(store.check().unwrap().problems, []);
}

fn put_texts(namespace: &str, path: &str, texts: &[String]) -> Change {
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
                other
                    .apply(&[put_texts(namespace, "a.md", &version(round)), put_texts("both", shared, &version(round))])
                    .unwrap();
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
    other.apply(&[put_texts("here", "a.md", &["one".to_owned()])]).unwrap();
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
    let old = [put_texts("here", "a.md", &["old".to_owned()])];
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
    other.apply(&[put_texts("here", "a.md", &["new".to_owned()])]).unwrap();
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
    let other = crate::postgres::PostgresStore::open(&store.url(), "there").unwrap();
    let _one = store.writer().unwrap();
    let _two = other.writer().unwrap();
}

fn put_text(path: &str, text: &str) -> Change {
    Change::Put(NewDocument {
        passages: vec![NewPassage::new("paragraph", 1..=1, text, TextForm::Prose)],
        ..NewDocument::new("here", "docs", path)
    })
}

#[test]
fn damage_is_found_and_words_are_mended() {
    let Some(store) = testing::store() else { return };
    store.apply(&[put_text("a.md", "coarse sieves"), put_text("b.md", "fine sand")]).unwrap();
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
        let mut last = None;
        let before = store.change_number().unwrap();
        assert_eq!(
            store
                .mend(&mut |progress| {
                    last = Some(progress);
                    Ok(())
                })
                .unwrap()
                .problems,
            [],
            "{damage}"
        );
        let last = last.unwrap();
        assert_eq!((last.part, last.done, last.total), (Part::Lexical, 2, 2));
        assert!(store.change_number().unwrap() > before, "results from before are known to be old");
    }
    store.execute("UPDATE tamis.documents SET passages = 7 WHERE path = 'a.md'");
    let found = store.mend(&mut |_| Ok(())).unwrap().problems;
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].part, found[0].mendable), (Part::Database, false));
    assert_eq!(found[0].message, "1 documents have a wrong passage count");
}

#[test]
fn vectors_without_a_text_are_pruned() {
    let Some(store) = testing::store() else { return };
    store.apply(&[put_text("a.md", "one"), put_text("b.md", "two")]).unwrap();
    let model = ModelKey { id: "toy".into(), dimension: 2 };
    let vectors = ["one", "two"].map(|text| (TextHash::of(text), vec![1.0, 0.5]));
    assert_eq!(store.put_vectors(&model, &vectors).unwrap(), 2);
    assert_eq!(store.prune().unwrap().vectors, 0);
    let document = store.document("here", "a.md").unwrap().unwrap().document;
    store.apply(&[Change::Delete { document }]).unwrap();
    let summary = store.summary().unwrap();
    assert_eq!((summary.models[0].vectors, summary.models[0].coverage.embedded), (2, 1));
    assert_eq!(store.prune().unwrap().vectors, 1);
    assert_eq!(store.summary().unwrap().models[0].vectors, 1);
    store.execute("UPDATE tamis.vectors SET model = model + 1");
    let found = store.check().unwrap().problems;
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].message, "1 vectors are of an unknown model");
}

#[test]
fn publishing_stamps_what_changed_and_reads_old_words_again() {
    let Some(store) = testing::store() else { return };
    store.publish(&mut |_| Ok(())).unwrap();
    assert_eq!(store.summary().unwrap().last_publish_ms, None);
    store.apply(&[put_text("a.md", "one")]).unwrap();
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
}

#[test]
fn other_tables_are_noticed() {
    let Some(store) = testing::store() else { return };
    store.check_replaced().unwrap();
    store.execute("UPDATE tamis.meta SET value = 'another' WHERE key = 'instance'");
    let replaced =
        |error: StoreError, was_gone: bool| matches!(error, StoreError::Replaced { gone, .. } if gone == was_gone);
    assert!(replaced(store.check_replaced().unwrap_err(), false));
    assert!(replaced(store.apply(&[put_text("a.md", "one")]).unwrap_err(), false));
    assert!(replaced(store.writer().unwrap_err(), false));
    drop(store.another().writer().unwrap());
    store.execute("DROP SCHEMA tamis CASCADE");
    assert!(replaced(store.check_replaced().unwrap_err(), true));
    assert!(replaced(store.apply(&[put_text("a.md", "one")]).unwrap_err(), true));
}

#[cfg(feature = "evidence")]
#[test]
fn the_server_knows_how_much_an_import_wrote_once_it_is_published() {
    use crate::evidence::{EvidenceRecord, Work};
    use crate::store::EvidenceGraph;
    let Some(store) = testing::store() else { return };
    let counted = |table: &str| {
        let select = "SELECT reltuples::bigint FROM pg_class WHERE oid = to_regclass($1)";
        let count =
            async |connection: &deadpool_postgres::Object| Ok(connection.query_one(select, &[&table]).await?.get(0));
        store.connections.ask::<i64>(count).unwrap()
    };
    let work = |at: usize| {
        let title = format!("The work {at}");
        EvidenceRecord::Work(Work { id: format!("w{at}"), title, ..Work::default() })
    };
    let works: Vec<EvidenceRecord> = (0..1_200).map(work).collect();
    store.apply_evidence("here", "corpus", &works, &[]).unwrap();
    store.publish(&mut |_| Ok(())).unwrap();
    assert_eq!(counted("evidence_works"), 1_200);
    // Another namespace, which is small beside what the server has counted.
    store.execute("UPDATE pg_class SET reltuples = 5000 WHERE oid = 'tamis.passages'::regclass");
    let more: Vec<Change> = (0..1_100).map(|at| put_text(&format!("{at}.md"), &format!("sand {at}"))).collect();
    store.apply(&more).unwrap();
    assert_eq!(counted("passages"), 5_000, "it does not count for a fifth");
    store.publish(&mut |_| Ok(())).unwrap();
    assert_eq!(counted("passages"), 1_100);
}
