//! Imports of evidence: refusals, changes and consequences.

use crate::support::{Tree, search};
use serde_json::{Value, json};
use tamis::evidence::EvidenceImport;
use tamis::import::{ImportInput, ImportSummary};
use tamis::{Error, Index, RunOptions, SearchRequest};

fn lines(records: &[Value]) -> EvidenceImport {
    let text: String = records.iter().map(|record| format!("{record}\n")).collect();
    EvidenceImport::read(&[ImportInput { name: "graph.jsonl".into(), bytes: text.into_bytes() }], None)
}

fn import(index: &Index, records: &[Value]) -> ImportSummary {
    index.evidence().import(&lines(records), &()).expect("imported")
}

/// The errors of a refused import, one a line.
fn refused(index: &Index, records: &[Value]) -> Vec<String> {
    match index.evidence().import(&lines(records), &()) {
        Err(Error::Unreadable { records }) => records.iter().map(ToString::to_string).collect(),
        other => panic!("{other:?}"),
    }
}

fn graph() -> Vec<Value> {
    vec![
        json!({"record": "edge", "source_type": "fragment", "source_id": "f1", "target_type": "claim", "target_id": "c1",
               "relation": "supports", "nli_edge_confidence": 0.9}),
        json!({"record": "claim", "id": "c1", "task_id": "t1", "text": "Folic acid lowers the risk of stroke.", "type": "effect"}),
        json!({"record": "fragment", "id": "f1", "page_id": "p1", "text": "Strokes were a tenth rarer with folic acid."}),
        json!({"record": "fragment", "id": "f2", "page_id": "p1", "text": "The trial ran for five years in China."}),
        json!({"record": "page", "id": "p1", "url": "https://www.trials.example/folic", "title": "A trial of vitamins"}),
        json!({"record": "task", "id": "t1", "question": "Does folic acid help?"}),
    ]
}

fn attributes(index: &Index, path: &str) -> Vec<String> {
    let document = index.contents().document(index.namespace(), path).expect("read").expect("there").document;
    let attributes = index.contents().attributes(&[document]).expect("read").remove(0);
    attributes.into_iter().map(|attribute| format!("{}={}", attribute.name, attribute.value)).collect()
}

#[test]
fn fragments_and_claims_are_found_by_what_they_say_and_what_they_are_of() {
    let tree = Tree::new(&[]);
    let index = tree.open(&[("search.gate", "false")]);
    let done = import(&index, &graph());
    assert_eq!((done.added, done.passages, done.records["fragment"].added), (6, 3, 2));
    index.complete(RunOptions::WHOLE, &()).expect("embedded");
    assert_eq!(attributes(&index, "fragment:f1"), ["domain=trials.example", "page=p1", "task=t1"]);
    assert_eq!(attributes(&index, "fragment:f2"), ["domain=trials.example", "page=p1"]);
    assert_eq!(attributes(&index, "claim:c1"), ["task=t1", "type=effect"]);
    let found = |kind: &str| {
        let request = SearchRequest {
            collections: vec!["evidence".into()],
            kinds: vec![kind.into()],
            ..SearchRequest::new("folic acid and strokes")
        };
        let answer = search(&index, request);
        answer.results.into_iter().next().map(|hit| (hit.path, hit.title))
    };
    assert_eq!(found("fragment"), Some(("fragment:f1".into(), Some("A trial of vitamins".into()))));
    assert_eq!(found("claim"), Some(("claim:c1".into(), None)));
}

#[test]
fn every_bad_line_is_told_with_its_number_and_nothing_is_imported() {
    let tree = Tree::new(&[]);
    let index = tree.open(&[]);
    let mut records = graph();
    records.extend([
        json!({"record": "claim", "id": "c2", "task_id": "t1", "text": " "}),
        json!({"record": "claim", "id": "c3", "task_id": "t9", "text": "It is."}),
        json!({"record": "claim", "id": "c1", "task_id": "t1", "text": "Something else."}),
        json!({"record": "task", "id": "t1", "question": "Does folic acid help?"}),
        json!({"record": "edge", "source_type": "fragment", "source_id": "f1", "target_type": "claim", "target_id": "c1",
               "relation": "refutes"}),
        json!({"record": "claim", "id": "c4", "task_id": "t1", "text": "It is.", "confidence": 1.5}),
        json!({"record": "note"}),
        json!({"record": "edge", "source_type": "claim", "source_id": "c1", "target_type": "page", "target_id": "p1",
               "relation": "cites"}),
    ]);
    let told = refused(&index, &records);
    let expected = [
        "line 13: unknown variant `note`",
        "line 7: text is empty",
        "line 9: claim \"c1\" is given twice, and otherwise in graph.jsonl: line 2",
        "line 11: stance from fragment \"f1\" to claim \"c1\" is given twice, and graph.jsonl: line 1 says supports otherwise",
        "line 12: confidence is 1.5: must be a number from 0 to 1",
        "line 14: relation cites leads from a claim to a page",
        "line 8: refers to task \"t9\", which is neither in the input nor stored",
    ];
    assert_eq!(told.len(), expected.len(), "{told:#?}");
    for (told, expected) in told.iter().zip(expected) {
        assert!(told.starts_with(&format!("graph.jsonl: {expected}")), "{told}");
    }
    assert!(index.evidence().records(None).expect("read").is_empty());
    assert_eq!(index.contents().summary().expect("read").documents, 0);

    let dry = EvidenceImport { dry_run: true, ..lines(&graph()) };
    assert_eq!(index.evidence().import(&dry, &()).expect("imported").added, 6);
    assert!(index.evidence().records(None).expect("read").is_empty());

    let mut records = graph();
    records[4]["published_at"] = json!("last spring");
    let skipping = EvidenceImport { skip_bad: true, ..lines(&records) };
    let done = index.evidence().import(&skipping, &()).expect("imported");
    let told: Vec<String> = done.bad.iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 4, "{told:?}");
    assert!(told[0].starts_with("graph.jsonl: line 5: published_at"), "{told:?}");
    assert!(told[1].starts_with("graph.jsonl: line 3: refers to page \"p1\""), "{told:?}");
    assert!(told[3].starts_with("graph.jsonl: line 1: refers to fragment \"f1\""), "{told:?}");
    assert_eq!(done.added, 2, "the task and the claim");
    // Stored records serve as well as given ones.
    let rest = import(
        &index,
        &[records[4].take(), json!({"record": "page", "id": "p1"}), records[2].clone(), records[0].clone()][1..],
    );
    assert_eq!(rest.added, 3);
}

#[test]
fn an_unchanged_record_changes_nothing_and_a_changed_one_only_what_follows() {
    let tree = Tree::new(&[]);
    let index = tree.open(&[]);
    import(&index, &graph());
    let first = index.complete(RunOptions::WHOLE, &()).expect("embedded");
    assert_eq!(first.embedded["static"], 3);
    let before = index.contents().summary().expect("read");
    assert_eq!(import(&index, &graph()).unchanged, 6);
    let elsewhere = EvidenceImport { origin: "copy.jsonl".into(), ..lines(&graph()) };
    assert_eq!(index.evidence().import(&elsewhere, &()).expect("imported").unchanged, 6);
    assert_eq!(index.contents().summary().expect("read").seq, before.seq);
    assert_eq!(index.imports().list().expect("read").len(), 1, "an unchanged record stays whose it was");

    // A changed page name and address updates its fragments.
    let mut page = graph()[4].clone();
    (page["title"], page["url"]) = (json!("Vitamins, tried"), json!("https://other.example/folic"));
    let done = import(&index, &[page]);
    assert_eq!((done.updated, done.unchanged, done.passages), (1, 0, 2));
    assert_eq!(attributes(&index, "fragment:f1"), ["domain=other.example", "page=p1", "task=t1"]);
    // An edge alone writes no passage.
    let mut edge = graph()[0].clone();
    edge["relation"] = json!("neutral");
    assert_eq!(import(&index, &[edge]).passages, 0);
    // A changed confidence of a claim embeds nothing.
    let mut claim = graph()[1].clone();
    claim["confidence"] = json!(0.75);
    assert_eq!((import(&index, &[claim.clone()]).updated, import(&index, &[claim]).unchanged), (1, 1));
    let run = index.complete(RunOptions::WHOLE, &()).expect("embedded");
    assert_eq!(run.embedded["static"], 2, "the fragments, whose title is embedded with them");
}
