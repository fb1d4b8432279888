//! What a store finds in its database when that is full or damaged.

use super::*;
use crate::record::{Change, ModelKey, NewDocument, NewPassage, TextForm, TextHash};
use crate::store::Documents;

fn document(path: &str, text: &str) -> Change {
    Change::Put(NewDocument {
        passages: vec![NewPassage::new("paragraph", 1..=1, text, TextForm::Prose)],
        ..NewDocument::new("here", "docs", path)
    })
}

#[test]
fn a_full_disk_is_named_and_leaves_what_was_there() {
    let directory = tempfile::tempdir().unwrap();
    let store = EmbeddedStore::open(directory.path(), Access::ReadWrite).unwrap();
    let database = &store.database;
    database.apply(&[document("a.md", "kept")]).unwrap();
    // The database may not grow: to SQLite the same as a disk without space.
    let limit = |pages: i64| {
        database
            .with_writer(|writer| {
                writer.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))?;
                Ok(())
            })
            .unwrap();
    };
    limit(1);
    let more: String = (0..20_000).map(|number| format!("{number} ")).collect();
    let error = database.apply(&[document("b.md", &more)]).unwrap_err();
    assert!(matches!(error, StoreError::Full { .. }), "{error}");
    assert_eq!(store.documents("here").unwrap().len(), 1);
    assert_eq!(database.integrity().unwrap().problems, []);
    limit(1 << 30);
    database.apply(&[document("b.md", &more)]).unwrap();
    assert_eq!(store.documents("here").unwrap().len(), 2);
}

#[test]
fn vectors_are_kept_in_half_precision_and_damage_is_found() {
    let directory = tempfile::tempdir().unwrap();
    let store = EmbeddedStore::open(directory.path(), Access::ReadWrite).unwrap();
    let database = &store.database;
    database.apply(&[document("a.md", "plain"), document("b.md", &"compressed ".repeat(9))]).unwrap();
    let model = ModelKey { id: "model".into(), dimension: 3 };
    let text = TextHash::of("plain");
    database.put_vectors(&model, &[(text, vec![0.1, 0.2, 0.3])]).unwrap();
    let model = database.model("model").unwrap().unwrap();
    let vectors = database.text_vectors("here", &model, &[text]).unwrap();
    assert_eq!(vectors, [Some(vec![0.26733398, 0.53466797, 0.8017578])]);
    assert_eq!(store.document_passages("here", "a.md").unwrap()[0].text, "plain");
    assert_eq!(database.integrity().unwrap().problems, []);
    let write = |sql: &str| database.with_writer(|writer| Ok(writer.execute_batch(sql)?)).unwrap();
    write("UPDATE vectors SET vector = x'00'");
    assert_eq!(database.integrity().unwrap().problems.len(), 1, "a wrong length");
    write("UPDATE texts SET text = x'28b52ffd' WHERE id = 2");
    let problems = database.integrity().unwrap().problems;
    assert!(problems[0].message.contains("damaged"), "{problems:?}");
}

#[test]
fn an_identifier_that_is_taken_gets_longer() {
    let directory = tempfile::tempdir().unwrap();
    let store = EmbeddedStore::open(directory.path(), Access::ReadWrite).unwrap();
    let database = &store.database;
    database.apply(&[document("a.md", "one")]).unwrap();
    let id = store.document_passages("here", "a.md").unwrap()[0].id.clone();
    // Another passage takes the place of the one with the same twelve digits.
    database.apply(&[document("a.md", "two"), document("b.md", "three")]).unwrap();
    database
        .with_writer(|writer| {
            writer.execute("UPDATE passages SET public_id = ?1 WHERE text_bytes = 5", [&id])?;
            Ok(())
        })
        .unwrap();
    database.apply(&[document("a.md", "one")]).unwrap();
    let longer = store.document_passages("here", "a.md").unwrap()[0].id.clone();
    assert_eq!(longer.len(), 16);
    assert!(longer.starts_with(&id));
    let moved = Change::Move {
        document: store.document("here", "a.md").unwrap().unwrap().document,
        path: "c.md".into(),
        size: 1,
        modified_ns: 1,
        stamp: 0,
    };
    database.apply(&[moved]).unwrap();
    assert_eq!(store.find(&id, 5).unwrap().len(), 1, "the whole identifier of one, found alone");
    assert_eq!(database.integrity().unwrap().problems, []);
}
