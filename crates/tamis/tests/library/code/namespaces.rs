//! Several repositories in one index: one's own first, shared ones next, and nothing of the rest.

use crate::support::{Tree, search};
use tamis::{Answer, Index, RunOptions, SearchRequest};
use tamis_store::{Change, NewDocument, NewNamespace, NewPassage, TextForm};

/// Adds documents by path to a namespace beside the tree's own.
fn put(index: &Index, namespace: &str, owner: Option<&str>, shared: bool, documents: &[(&str, &str)]) {
    let document = |&(path, text): &(&str, &str)| {
        Change::Put(NewDocument {
            size: text.len() as u64,
            modified_ns: 1,
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

const OWN: [(&str, &str); 3] = [
    ("a.md", "The pump of the north station is primed before it starts."),
    ("b.md", "Valves are greased in spring."),
    ("c.md", "The gate of the weir is opened by hand."),
];
const SHARED: [(&str, &str); 3] = [
    ("a.md", "A pump that runs dry is primed again and its seal is looked at."),
    ("copy.md", "Valves are greased in spring."),
    ("d.md", "The crane is inspected once a year."),
];
const PRIVATE: [(&str, &str); 2] = [
    ("pay.md", "The pump operator earns a bonus when the pump is primed at night."),
    ("more.md", "Pump, pump, pump: primed, primed, primed before it starts."),
];

/// An index of the team: two repositories that share, one that does not, and one of somebody else's.
fn team() -> (Tree, Index) {
    let tree = Tree::new(&[]);
    let index = tree.indexed(&[("search.gate", "false"), ("search.cut", "fixed:k=50"), ("search.top_k", "50")]);
    put(&index, "north", Some("works"), true, &OWN);
    put(&index, "south", Some("works"), true, &SHARED);
    put(&index, "payroll", Some("works"), false, &PRIVATE);
    put(&index, "others", Some("rivals"), true, &[("x.md", "Our pump is primed before it starts, too.")]);
    index.complete(RunOptions::WHOLE, &()).expect("published");
    (tree, index)
}

fn within(index: &Index, request: SearchRequest) -> Answer {
    search(index, SearchRequest { explain: true, ..request })
}

fn from(namespace: &str) -> SearchRequest {
    SearchRequest { namespace: Some(namespace.into()), ..SearchRequest::new("how is the pump primed before it starts") }
}

/// An unreadable passage looks the same as a missing one: it is not among the candidates, and not in any figure.
#[test]
fn nothing_of_another_namespace_is_read_scored_counted_or_named() {
    let (_tree, index) = team();
    let alone = {
        let tree = Tree::new(&[]);
        let index = tree.indexed(&[("search.gate", "false"), ("search.cut", "fixed:k=50"), ("search.top_k", "50")]);
        put(&index, "north", Some("works"), true, &OWN);
        index.complete(RunOptions::WHOLE, &()).expect("published");
        within(&index, SearchRequest { namespaces: vec!["north".into()], ..SearchRequest::new(from("north").query) })
    };
    for request in [
        SearchRequest { namespaces: vec!["north".into()], namespace: None, ..from("north") },
        SearchRequest { sharing: Some(false), ..from("north") },
        SearchRequest { allowed_namespaces: Some(vec!["north".into()]), ..from("north") },
    ] {
        let answer = within(&index, request);
        let figures = |answer: &Answer| {
            let hit = |hit: &tamis::Hit| (hit.path.clone(), hit.bm25, hit.similarity, hit.score);
            let hits: Vec<_> = answer.results.iter().map(hit).collect();
            (hits, answer.cut.candidates, answer.index.passages, answer.index.embedded)
        };
        assert_eq!(figures(&answer), figures(&alone), "every score is that of an index without the others");
        let mut json = serde_json::to_value(&answer).expect("JSON");
        json["query_id"] = serde_json::Value::Null;
        for other in ["south", "payroll", "others"] {
            assert!(!json.to_string().contains(other), "{other}: {json}");
        }
    }
}

#[test]
fn whoever_may_not_read_a_namespace_learns_nothing_of_it() {
    let (_tree, index) = team();
    let refused = |namespace: &str| {
        let allowed_namespaces = Some(vec!["north".into()]);
        let request = SearchRequest { allowed_namespaces, ..from(namespace) };
        index.search(&request).expect_err("refused").to_string().replace(namespace, "")
    };
    assert_eq!(refused("payroll"), refused("nowhere"));

    assert!(!within(&index, from("north")).timings_ms.is_empty());
    let limited = SearchRequest { allowed_namespaces: Some(vec!["north".into()]), ..from("north") };
    let freshness = tamis::Freshness { stale: Some(3), ..Default::default() };
    let answer = index.search_with(&limited, &freshness, &()).expect("searched");
    assert!(answer.timings_ms.is_empty());
    assert_eq!(answer.index.stale, None, "it counts the files of all");
}
