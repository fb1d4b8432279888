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
    let (directory, store) = opened();
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
    let (_directory, store) = opened();
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

#[test]
fn searches_of_a_busy_pool_end_while_the_vectors_change() {
    // Enough rows for a search to be divided over the threads of its pool.
    const ROWS: usize = 20_000;
    const CHANGES: usize = 20;
    const SEARCHES: usize = 6;
    let (directory, store) = opened();
    let texts: Vec<String> = (0..ROWS).map(|row| format!("row {row}")).collect();
    put(&store, vec![prose("rows.md", &texts.iter().map(String::as_str).collect::<Vec<_>>())]);
    put(&store, vec![prose("other.md", &["something else"])]);
    embed(&store, ROWS + 1);
    let store = std::sync::Arc::new(open(directory.path()));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
    let (done, ended) = std::sync::mpsc::channel();
    let filtered = Filter { path_globs: vec!["rows.md".into()], ..Filter::default() };
    for change in 0..CHANGES {
        for search in 0..SEARCHES {
            let (searched, done, filtered) = (store.clone(), done.clone(), filtered.clone());
            pool.spawn(move || {
                let filter = if search % 2 == 0 { filtered } else { Filter::default() };
                let hits = searched.nearest(MODEL, &[1.0; 8], &filter, 5).unwrap().hits;
                done.send(hits.len()).unwrap();
            });
        }
        // Each change makes the next search wait for the lock as a writer does.
        put(&*store, vec![prose("other.md", &[&format!("something else {change}")])]);
        for search in 0..SEARCHES {
            assert_eq!(ended.recv_timeout(Duration::from_secs(60)), Ok(5), "search {search} beside change {change}");
        }
    }
}
