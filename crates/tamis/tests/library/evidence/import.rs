//! Imports of evidence: refusals, changes and consequences.

use crate::support::Tree;
use serde_json::{Value, json};
use tamis::evidence::EvidenceImport;
use tamis::import::{ImportInput, ImportSummary};
use tamis::{Index, RunOptions};

fn lines(records: &[Value]) -> EvidenceImport {
    let text: String = records.iter().map(|record| format!("{record}\n")).collect();
    EvidenceImport::from_inputs(&[ImportInput { name: "graph.jsonl".into(), bytes: text.into_bytes() }], None)
}

fn import(index: &Index, records: &[Value]) -> ImportSummary {
    index.evidence().import(&lines(records), &()).expect("imported")
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
fn an_unchanged_record_changes_nothing_and_a_changed_one_only_what_follows() {
    let tree = Tree::new(&[]);
    let index = tree.open(&[]);
    import(&index, &graph());
    let first = index.complete(RunOptions::WHOLE, &()).expect("embedded");
    assert_eq!(first.embedding.embedded["static"], 3);
    let before = index.contents().summary().expect("read");
    assert_eq!(import(&index, &graph()).counts.unchanged, 6);
    let elsewhere = EvidenceImport { origin: "copy.jsonl".into(), ..lines(&graph()) };
    assert_eq!(index.evidence().import(&elsewhere, &()).expect("imported").counts.unchanged, 6);
    assert_eq!(index.contents().summary().expect("read").seq, before.seq);
    assert_eq!(index.imports().list().expect("read").len(), 1, "an unchanged record stays whose it was");

    // A changed page name and address updates its fragments.
    let mut page = graph()[4].clone();
    (page["title"], page["url"]) = (json!("Vitamins, tried"), json!("https://other.example/folic"));
    let done = import(&index, &[page]);
    assert_eq!((done.counts.updated, done.counts.unchanged, done.counts.passages), (1, 0, 2));
    assert_eq!(attributes(&index, "fragment:f1"), ["domain=other.example", "page=p1", "task=t1"]);
    // An edge alone writes no passage.
    let mut edge = graph()[0].clone();
    edge["relation"] = json!("neutral");
    assert_eq!(import(&index, &[edge]).counts.passages, 0);
    // A changed confidence of a claim embeds nothing.
    let mut claim = graph()[1].clone();
    claim["confidence"] = json!(0.75);
    assert_eq!((import(&index, &[claim.clone()]).counts.updated, import(&index, &[claim]).counts.unchanged), (1, 1));
    let run = index.complete(RunOptions::WHOLE, &()).expect("embedded");
    assert_eq!(run.embedding.embedded["static"], 2, "the fragments, whose title is embedded with them");
}
