//! Who embeds, and in which order.

use std::time::Duration;

use crate::common::*;

/// A document of this date whose passages have this role.
fn dated(path: &str, role: &str, date: i64, texts: &[&str]) -> NewDocument {
    let mut document = NewDocument { dated_ns: Some(date), ..prose(path, texts) };
    document.passages.iter_mut().for_each(|passage| passage.role = role.into());
    document
}

fn most_telling(store: &dyn Store, limit: usize) -> Vec<String> {
    store.most_telling(MODEL, &Filter::default(), limit).unwrap().into_iter().map(|text| text.text).collect()
}

/// Gives the first `count` texts a vector.
fn embed(store: &dyn Store, count: usize) {
    let texts = store.most_telling(MODEL, &Filter::default(), count).unwrap();
    let vectors: Vec<_> = texts.iter().map(|text| (text.hash, vector_of(text.hash))).collect();
    assert_eq!(store.put_vectors(&model(), &vectors).unwrap(), count as u64);
}

#[test]
fn the_most_telling_texts_come_first() {
    let directory = temporary();
    let store = open(directory.path());
    let new = dated("new.rs", "main", 5, &["new 1", "new 2", "new 3"]);
    let old = dated("old.rs", "main", 1, &["old 1", "old 2"]);
    put(&store, vec![dated("test.rs", "test", 9, &["test 1", "test 2"]), old, new]);
    let everything = ["new 1", "old 1", "new 2", "new 3", "old 2", "test 1", "test 2"];
    assert_eq!(most_telling(&store, 100), everything);
    assert_eq!(most_telling(&store, 2), everything[..2]);
    // Of the document that a search has looked at, everything comes with the first passages of the others.
    let seen = store.most_telling(MODEL, &Filter::default(), 100).unwrap().remove(4);
    store.put_vectors(&model(), &[(seen.hash, vector_of(seen.hash))]).unwrap();
    let store = open(directory.path());
    put(&store, vec![dated("old.md", "main", 1, &["page 1", "page 2"])]);
    assert_eq!(most_telling(&store, 3), ["new 1", "old 1", "page 1"]);
    put(&store, vec![dated("old.rs", "main", 1, &["old 1", "old 2", "old 3"])]);
    assert_eq!(most_telling(&open(directory.path()), 4), ["new 1", "page 1", "old 1", "old 3"]);
}

#[test]
fn an_order_that_was_found_is_followed_to_its_end_and_then_found_anew() {
    let directory = temporary();
    let store = open(directory.path());
    put(&store, vec![dated("a.rs", "main", 1, &["a 0", "a 1", "a 2", "a 3"])]);
    // An order belongs to a model, which the store knows from its first vector on.
    embed(&store, 1);
    assert_eq!(most_telling(&store, 2), ["a 1", "a 2"]);
    // Newer, but the order is known already.
    put(&store, vec![dated("b.rs", "main", 5, &["b 1"])]);
    embed(&store, 1);
    assert_eq!(most_telling(&store, 2), ["a 2", "a 3"]);
    assert_eq!(most_telling(&store, 3), ["b 1", "a 2", "a 3"], "three are more than it has");
    embed(&store, 2);
    // A text that is gone is not embedded.
    put(&store, vec![prose("a.rs", &["a 0", "a 1", "a 2"])]);
    assert_eq!(most_telling(&store, 1), Vec::<String>::new());
}

#[test]
fn one_process_embeds_and_others_write_meanwhile() {
    let directory = temporary();
    let [first, second] = [open(directory.path()), open(directory.path())];
    assert!(!first.is_embedding());
    let embedding = first.wait_to_embed(Duration::ZERO).unwrap();
    assert!(second.is_embedding());
    let busy = second.wait_to_embed(Duration::ZERO).unwrap_err();
    assert!(matches!(busy, StoreError::Busy { .. }), "{busy}");
    put(&second, vec![prose("a.md", &["one"])]);
    drop(embedding);
    assert!(!second.is_embedding());
    drop(second.wait_to_embed(Duration::ZERO).unwrap());
}
