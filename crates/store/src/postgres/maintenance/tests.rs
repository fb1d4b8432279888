//! Checking, mending, pruning, publishing, and noticing other tables.

use super::super::testing;
use crate::error::StoreError;
use crate::record::{Change, ModelKey, NewDocument, NewPassage, TextForm, TextHash};
use crate::report::Part;
use crate::store::{Changes, Documents, Maintenance, VectorLeg};

fn put(path: &str, text: &str) -> Change {
    Change::Put(NewDocument {
        passages: vec![NewPassage::new("paragraph", 1..=1, text, TextForm::Prose)],
        ..NewDocument::new("here", "docs", path)
    })
}

#[test]
fn damage_is_found_and_words_are_mended() {
    let Some(store) = testing::store() else { return };
    store.apply(&[put("a.md", "coarse sieves"), put("b.md", "fine sand")]).unwrap();
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
    store.apply(&[put("a.md", "one"), put("b.md", "two")]).unwrap();
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
    store.apply(&[put("a.md", "one")]).unwrap();
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
    assert!(replaced(store.apply(&[put("a.md", "one")]).unwrap_err(), false));
    assert!(replaced(store.writer().unwrap_err(), false));
    drop(store.another().writer().unwrap());
    store.execute("DROP SCHEMA tamis CASCADE");
    assert!(replaced(store.check_replaced().unwrap_err(), true));
    assert!(replaced(store.apply(&[put("a.md", "one")]).unwrap_err(), true));
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
    let more: Vec<Change> = (0..1_100).map(|at| put(&format!("{at}.md"), &format!("sand {at}"))).collect();
    store.apply(&more).unwrap();
    assert_eq!(counted("passages"), 5_000, "it does not count for a fifth");
    store.publish(&mut |_| Ok(())).unwrap();
    assert_eq!(counted("passages"), 1_100);
}
