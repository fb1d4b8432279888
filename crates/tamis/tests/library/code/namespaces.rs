//! Several repositories in one index, to a caller that may read one of them.

use crate::support::{Tree, search};
use tamis::{Answer, Index, RunOptions, SearchRequest};
use tamis_store::{Change, FileStat, NewDocument, NewNamespace, NewPassage, TextForm};

/// Adds documents by path to a namespace beside the tree's own.
fn put(index: &Index, namespace: &str, owner: Option<&str>, shared: bool, documents: &[(&str, &str)]) {
    let document = |&(path, text): &(&str, &str)| {
        Change::Put(NewDocument {
            file: FileStat { size: text.len() as u64, modified_ns: 1, ..FileStat::default() },
            content_hash: *blake3::hash(text.as_bytes()).as_bytes(),
            passages: vec![NewPassage::new("paragraph", 1..=1, text, TextForm::Prose)],
            ..NewDocument::new(namespace, "notes", path)
        })
    };
    let changes: Vec<Change> = documents.iter().map(document).collect();
    let store = crate::support::store(index);
    store.apply(&changes).expect("put");
    let named = NewNamespace { name: namespace.into(), owner: owner.map(str::to_owned), shared };
    store.put_namespace(&named).expect("named");
}

/// An index of two repositories, which share with each other.
fn team() -> (Tree, Index) {
    let tree = Tree::new(&[]);
    let index = tree.indexed(&[("search.gate", "false"), ("search.cut", "fixed:k=50")]);
    put(&index, "north", Some("works"), true, &[("a.md", "The pump of the north station is primed before it starts.")]);
    put(&index, "payroll", Some("works"), true, &[("pay.md", "The pump operator earns a bonus at night.")]);
    index.complete(RunOptions::WHOLE, &()).expect("published");
    (tree, index)
}

fn within(index: &Index, request: SearchRequest) -> Answer {
    search(index, request.explain())
}

fn from(namespace: &str) -> SearchRequest {
    SearchRequest::new("how is the pump primed before it starts").namespace(Some(namespace.into()))
}

#[test]
fn whoever_may_not_read_a_namespace_learns_nothing_of_it() {
    let (_tree, index) = team();
    let refused = |namespace: &str| {
        let request = from(namespace).asker(tamis::search::Asker::with_rights(Some(vec!["north".into()])));
        index.search(&request).expect_err("refused").to_string().replace(namespace, "")
    };
    assert_eq!(refused("payroll"), refused("nowhere"));

    assert!(!within(&index, from("north")).timings_ms.is_empty());
    let limited = from("north").asker(tamis::search::Asker::with_rights(Some(vec!["north".into()])));
    let freshness = tamis::Freshness { stale: Some(3), ..Default::default() };
    let answer = index.search_with(&limited, &freshness, &()).expect("searched");
    assert!(answer.timings_ms.is_empty());
    assert_eq!(answer.index.stale, None, "it counts the files of all");
}
