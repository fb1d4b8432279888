//! Changes give what the embedded store gives for the same ones.

use super::PostgresStore;
use super::testing::{self, TestStore, content, counts, embedded};
use crate::error::StoreError;
use crate::namespace::NewNamespace;
use crate::record::{Attribute, Change, DocumentId, NewDocument, NewPassage, TextForm};
use crate::store::{Changes, Documents, Maintenance};

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
