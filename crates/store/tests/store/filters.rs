//! Filters take effect inside both retrievers.

use std::collections::BTreeSet;

use crate::common::*;

fn filled() -> (tempfile::TempDir, EmbeddedStore) {
    let (directory, store) = opened();
    let mut documents = Vec::new();
    for (number, path) in ["src/a.rs", "src/deep/b.rs", "tests/c.rs", "docs/d.md", "readme.md"].into_iter().enumerate()
    {
        let code = path.ends_with(".rs");
        let mut passages = vec![function("one", &format!("needle one {number}")), passage(&format!("needle {number}"))];
        passages[1].role = "test".into();
        passages[1].language = (number == 0).then(|| "sql".into());
        let new = document(path, passages);
        documents.push(NewDocument {
            collection: if code { "code" } else { "docs" }.into(),
            language: Some(if code { "rust" } else { "markdown" }.into()),
            ..new.clone()
        });
        documents.push(NewDocument { namespace: "there".into(), ..new });
    }
    put(&store, documents);
    complete(&store);
    (directory, store)
}

/// The passages that pass a filter, by each way of applying it: all ways must agree.
pub fn passing(store: &dyn Store, filter: &Filter) -> BTreeSet<PassageId> {
    let selected: BTreeSet<PassageId> = store.select(filter).unwrap().into_iter().map(|found| found.passage).collect();
    let lexical = store.lexical(&LexicalQuery::new("needle"), filter, 100).unwrap();
    assert_eq!(lexical.hits.iter().map(|hit| hit.passage).collect::<BTreeSet<_>>(), selected);
    assert_eq!(lexical.statistics.passages, selected.len() as u64);
    let nearest = store.nearest(MODEL, &[1.0; 8], filter, 100).unwrap();
    assert_eq!(nearest.hits.iter().map(|hit| hit.passage).collect::<BTreeSet<_>>(), selected);
    assert_eq!(nearest.background.count, selected.len() as u64);
    let coverage = store.coverage(MODEL, filter).unwrap();
    assert_eq!((coverage.passages, coverage.embedded), (selected.len() as u64, selected.len() as u64));
    // The same again, from the cache.
    assert_eq!(store.select(filter).unwrap().len(), selected.len());
    selected
}

fn paths(store: &dyn Store, filter: &Filter) -> Vec<String> {
    let ids: Vec<PassageId> = passing(store, filter).into_iter().collect();
    let passages = store.passages(&[], &ids).unwrap().into_iter();
    let paths: BTreeSet<_> = passages.map(|passage| format!("{}/{}", passage.namespace, passage.path)).collect();
    paths.into_iter().collect()
}

fn owned(values: &[&str]) -> Vec<String> {
    values.iter().map(|value| (*value).to_owned()).collect()
}

#[test]
fn each_part_of_a_filter_restricts() {
    let (_directory, store) = filled();
    let ids = all(&store);
    let everything = Filter::default;
    for (expected, filter) in [
        (20, everything()),
        (10, Filter::namespace("here")),
        (20, Filter { namespaces: owned(&["here", "there"]), ..everything() }),
        (0, Filter::namespace("nowhere")),
        (6, Filter { collections: owned(&["code"]), ..everything() }),
        (5, Filter { languages: owned(&["rust"]), ..everything() }),
        (2, Filter { languages: owned(&["sql"]), ..everything() }),
        (10, Filter { kinds: owned(&["function"]), ..everything() }),
        (5, Filter { roles: owned(&["test"]), ..Filter::namespace("here") }),
        (10, Filter { symbols: owned(&["one"]), ..everything() }),
        (2, Filter { ids: vec![ids[3], ids[3], ids[5], PassageId(12_345)], ..everything() }),
        (1, Filter { ids: ids[..4].to_vec(), kinds: owned(&["function"]), ..Filter::namespace("here") }),
    ] {
        assert_eq!(passing(&store, &filter).len(), expected, "{filter:?}");
    }
}

#[test]
fn globs_restrict_by_path_and_are_resolved_again_after_a_change() {
    let (_directory, store) = filled();
    let here = |globs: &[&str]| paths(&store, &Filter { path_globs: owned(globs), ..Filter::namespace("here") });
    assert_eq!(here(&["src/"]), ["here/src/a.rs", "here/src/deep/b.rs"]);
    assert_eq!(here(&["*.rs", "!tests/"]), ["here/src/a.rs", "here/src/deep/b.rs"]);
    assert_eq!(here(&["src/*.rs", "docs/**"]), ["here/docs/d.md", "here/src/a.rs"]);
    let error = store.select(&Filter { path_globs: owned(&["a[b"]), ..Filter::default() }).unwrap_err();
    assert!(matches!(error, StoreError::Glob { .. }));
    let (_directory, store) = filled();
    let filter = Filter { path_globs: owned(&["*.md"]), ..Filter::namespace("here") };
    assert_eq!(passing(&store, &filter).len(), 4);
    put(&store, vec![prose("new.md", &["needle"])]);
    complete(&store);
    assert_eq!(passing(&store, &filter).len(), 5);
    assert_eq!(store.unembedded("other", &filter, 100).unwrap().len(), 5);
    assert_eq!(store.unembedded("other", &filter, 2).unwrap().len(), 2);
    assert_eq!(store.unembedded("other", &Filter::default(), 2).unwrap().len(), 2);
}
