//! The JSON form of an answer is a contract: its schema is committed, and real answers conform to it.

use crate::json_schema::Schema;
use crate::support::{Tree, bare, run};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;

fn committed(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../docs/schema/{name}.schema.json"));
    std::fs::read_to_string(path).expect("the schema is committed")
}

#[test]
fn committed_schema_is_that_of_the_program() {
    let (code, out, _) = run(bare(&["schema"]));
    assert_eq!(code, 0);
    let changed = "the answer's form changed; write it down: tamis schema > docs/schema/search.schema.json";
    assert!(out == committed("search"), "{changed}");
}

#[test]
fn answers_conform_to_the_schema() {
    let schema = Schema::new(&serde_json::from_str(&committed("search")).expect("JSON"));
    let tree = Tree::indexed();
    for arguments in [
        &["search", "--json", "how hot should the oven be"][..],
        &["search", "--json", "--explain", "retry with backoff"],
        &["search", "--json", "--mode", "lexical", "zeppelin"],
        &["search", "--json", "--mode", "semantic", "--no-refresh", "moon"],
        &["search", "--json", "--cut", "max_gap", "compost"],
    ] {
        let answer = tree.json(arguments);
        assert_eq!(schema.check(&answer), Ok(()), "{arguments:?}");
    }
    assert!(schema.check(&json!({ "query": "x" })).is_err(), "the schema asks for something");
}

#[test]
fn evidence_schema_allows_what_an_import_takes_and_nothing_else() {
    let schema: Value = serde_json::from_str(&committed("evidence")).expect("JSON");
    let compiled = Schema::new(&schema);
    let full = [
        json!({"record": "task", "id": "t", "question": "?", "status": "open", "created_at": "2026-11-22"}),
        json!({"record": "work", "id": "w", "title": "T", "authors": ["A"], "year": 1, "venue": "V", "doi": "D", "citation_count": 1}),
        json!({"record": "page", "id": "p", "url": "u", "title": "T", "work_id": "w", "published_at": "2026-11-22T08:30:00Z",
               "fetched_at": "2026-11-22T08:30:00.5+01:00"}),
        json!({"record": "fragment", "id": "f", "page_id": "p", "text": "x", "heading": "h", "position": 1, "created_at": "2026-11-22"}),
        json!({"record": "claim", "id": "c", "task_id": "t", "text": "x", "type": "y", "confidence": 0.5, "status": "s",
               "created_at": "2026-11-22"}),
        json!({"record": "edge", "source_type": "fragment", "source_id": "f", "target_type": "claim", "target_id": "c",
               "relation": "supports", "nli_edge_confidence": 1.0, "note": "n", "created_at": "2026-11-22"}),
    ];
    let tree = Tree::empty();
    let imports = |record: &Value| {
        let others = full.iter().filter(|other| other["record"] != record["record"] && other["record"] != "edge");
        let text: String = others.chain([record]).map(|record| format!("{record}\n")).collect();
        tree.write("try.jsonl", &text);
        run(tree.tamis(&["import", "evidence", "--dry-run", "try.jsonl"])).0 == 0
    };
    let names = |value: &Value| -> BTreeSet<String> {
        value.as_object().map(|object| object.keys().cloned().collect()).unwrap_or_default()
    };
    let wrong = [
        (0, "id", json!("")),
        (0, "question", json!(" ")),
        (0, "why", json!(1)),
        (1, "authors", json!("A")),
        (1, "citation_count", json!(-1)),
        (2, "published_at", json!("yesterday")),
        (3, "position", json!(0.5)),
        (3, "text", json!(null)),
        (4, "confidence", json!(1.5)),
        (4, "id", json!("a\nb")),
        (5, "relation", json!("cites")),
        (5, "source_type", json!("page")),
        (5, "relation", json!("proves")),
    ];
    for record in &full {
        // Everything is kept, so the list of fields is complete.
        assert_eq!(compiled.check(record), Ok(()), "{record}");
        assert!(imports(record), "{record}");
        let kind = record["record"].as_str().unwrap_or_default();
        assert_eq!(names(&schema["$defs"][kind]["properties"]), names(record), "{kind}");
        let read: tamis_store::EvidenceRecord = serde_json::from_value(record.clone()).expect("a record");
        assert_eq!(serde_json::to_value(read).ok().as_ref(), Some(record), "{kind}");
    }
    for (at, name, value) in wrong {
        let mut record = full[at].clone();
        record[name] = value;
        assert!(compiled.check(&record).is_err(), "{record}");
        assert!(!imports(&record), "{record}");
    }
}
