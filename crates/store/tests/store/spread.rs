//! Searches of many namespaces on several partitions find what they find in one directory.

use tamis_store::prelude::*;
use tamis_store::{Change, Filter, LexicalQuery, NewDocument, PassageId, Store, TextHash};

use crate::common::*;
use crate::postgres::TestDatabase;

const NAMESPACES: usize = 200;

const WORDS: [&str; 12] =
    ["mill", "grain", "river", "flour", "sieve", "wheel", "stone", "weir", "sluice", "barley", "ledger", "oven"];

/// A text that depends on its number alone.
fn text(number: usize) -> String {
    let mut state = number as u64 + 1;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    let length = 4 + next() % 9;
    // The first words are the most frequent.
    let words: Vec<&str> = (0..length).map(|_| WORDS[(next() % WORDS.len()).min(next() % WORDS.len())]).collect();
    format!("{} number{number}", words.join(" "))
}

fn name(namespace: usize) -> String {
    format!("tree{namespace:03}")
}

fn fill(store: &dyn Store) {
    let changes: Vec<Change> = (0..NAMESPACES)
        .map(|namespace| {
            let texts: Vec<String> = (0..3).map(|place| text(namespace * 3 + place)).collect();
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            Change::Put(NewDocument { namespace: name(namespace), ..prose("a.md", &texts) })
        })
        .collect();
    store.apply(&changes).unwrap();
    embed(store);
    publish(store);
}

/// Texts with their values, the greatest first. Equal values can come in any order.
fn named(store: &dyn Store, found: Vec<(PassageId, f32)>) -> Vec<(String, f32)> {
    let ids: Vec<PassageId> = found.iter().map(|(id, _)| *id).collect();
    let mut named: Vec<(String, f32)> =
        texts(store, &ids).into_iter().zip(found.into_iter().map(|(_, value)| value)).collect();
    named.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    named
}

fn assert_same(left: &[(String, f32)], right: &[(String, f32)], what: &str) {
    assert_eq!(left.len(), right.len(), "{what}");
    for ((text, value), (other, expected)) in left.iter().zip(right) {
        assert_eq!(text, other, "{what}");
        assert!((value - expected).abs() <= 1e-4 * expected.abs().max(1.0), "{what}: {text}: {value}, not {expected}");
    }
}

#[test]
fn searches_of_many_namespaces_are_merged_exactly() {
    let Some(database) = TestDatabase::partitioned() else { return };
    let partitioned = database.open(&name(0));
    let directory = temporary();
    let embedded = open(directory.path());
    fill(&partitioned);
    fill(&embedded);
    assert!(database.partitions_with_rows("passages") > 1, "the namespaces are spread");

    let several: Vec<String> = (0..NAMESPACES).step_by(7).map(name).collect();
    let filters = [
        Filter::default(),
        Filter { namespaces: several.clone(), ..Filter::default() },
        Filter::namespace(name(11)),
        Filter { namespaces: several, path_globs: vec!["*.md".into()], ..Filter::default() },
    ];
    for filter in &filters {
        for query in ["mill by the river", "barley ledger", "the oven", "number37", "nothing at all"] {
            // As many as there are, so that equal scores at the end make no difference.
            let lexical = |store: &dyn Store| {
                let found = store.lexical(&LexicalQuery::new(query), filter, 1_000).unwrap();
                let hits = found.hits.iter().map(|hit| (hit.passage, hit.score.bm25)).collect();
                (named(store, hits), found.statistics)
            };
            let ((hits, statistics), (expected, of_embedded)) = (lexical(&partitioned), lexical(&embedded));
            assert_same(&hits, &expected, query);
            assert_eq!(statistics.passages, of_embedded.passages);
            assert!((statistics.expected_score - of_embedded.expected_score).abs() < 1e-4);

            let vector = vector_of(TextHash::of(query));
            let nearest = |store: &dyn Store| {
                let found = store.nearest(MODEL, &vector, filter, 40).unwrap();
                (named(store, found.hits.iter().map(|hit| (hit.passage, hit.similarity)).collect()), found.background)
            };
            let ((hits, background), (expected, of_embedded)) = (nearest(&partitioned), nearest(&embedded));
            assert_same(&hits, &expected, query);
            assert_eq!(background.count, of_embedded.count);
            assert!((background.mean - of_embedded.mean).abs() < 1e-4, "{background:?} {of_embedded:?}");
        }
        assert_eq!(partitioned.coverage(MODEL, filter).unwrap(), embedded.coverage(MODEL, filter).unwrap());
        assert_eq!(partitioned.select(filter).unwrap().len(), embedded.select(filter).unwrap().len());
    }
    assert_sound(&partitioned);
}
