//! Evidence through the binary: imported, found, extended, exported, removed.

use crate::support::{Tree, run};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;

const GRAPH: &str = r#"{"record":"edge","source_type":"fragment","source_id":"f1","target_type":"claim","target_id":"c1","relation":"supports","nli_edge_confidence":0.9}
{"record":"task","id":"t1","question":"Does folic acid prevent strokes?"}
{"record":"work","id":"w1","title":"Vitamins and the heart","authors":["Ada Ek","Bo Berg"],"year":2015}
{"record":"page","id":"p1","url":"https://www.trials.example/folic","title":"A trial of vitamins","work_id":"w1","published_at":"2015-04-28"}
{"record":"page","id":"p2","url":"https://garden.example/soil","title":"Soil"}
{"record":"fragment","id":"f1","page_id":"p1","text":"Strokes were a tenth rarer among those who took folic acid.","position":3}
{"record":"fragment","id":"f2","page_id":"p1","text":"The trial ran for five years in China.","position":4}
{"record":"fragment","id":"f3","page_id":"p2","text":"Worms loosen the soil."}
{"record":"claim","id":"c1","task_id":"t1","text":"Folic acid makes strokes rarer.","type":"effect","confidence":0.7}
{"record":"claim","id":"c2","task_id":"t1","text":"Worms are good for soil."}
"#;

fn graph() -> Tree {
    let tree = Tree::new();
    tree.write("graph.jsonl", GRAPH);
    let (code, out, error) = run(tree.tamis(&["import", "evidence", "graph.jsonl"]));
    assert_eq!(code, 0, "{error}");
    assert!(out.starts_with("10 records: 10 added; 5 passages written in "), "{out}");
    assert!(out.contains("\n  fragment: 3 added\n"), "{out}");
    tree
}

fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines
}

/// The paths that a search without a gate returns, in order.
fn found(tree: &Tree, arguments: &[&str]) -> Vec<String> {
    let mut all = vec!["search", "--collection", "evidence", "--files"];
    all.extend(arguments);
    let mut search = tree.tamis(&all);
    search.env("TAMIS_SEARCH_GATE", "false");
    run(search).1.lines().map(str::to_owned).collect()
}

#[test]
fn evidence_is_imported_found_exported_and_taken_out() {
    let tree = graph();
    let (code, out, _) = run(tree.tamis(&["import", "evidence", "graph.jsonl"]));
    assert!(code == 0 && out.starts_with("10 records, none changed in "), "{out}");
    let (code, out, _) = run(tree.tamis(&["evidence", "export"]));
    assert_eq!((code, sorted(&out)), (0, sorted(GRAPH)));
    let (code, out, _) = run(tree.tamis(&["evidence", "export", "copy.jsonl"]));
    assert_eq!((code, out.as_str()), (0, "10 records in copy.jsonl\n"));
    assert_eq!(sorted(&std::fs::read_to_string(tree.root().join("copy.jsonl")).expect("written")), sorted(GRAPH));

    let status = tree.json(&["status", "--json"]);
    let evidence = &status["evidence"][0];
    assert_eq!(
        ["tasks", "claims", "fragments", "pages", "supporting", "refuting"].map(|name| evidence[name].clone()),
        [1, 2, 3, 2, 1, 0].map(|number| json!(number))
    );
    assert_eq!(evidence["top_domains"][0], json!({"name": "trials.example", "documents": 1, "passages": 2}));
    let (_, out, _) = run(tree.tamis(&["status"]));
    assert!(out.contains("  evidence: 1 task, 2 claims, 3 fragments, 2 pages; edges to claims: 1 supporting"), "{out}");

    let (code, out, _) = run(tree.tamis(&["import", "--remove", "graph.jsonl"]));
    assert!(code == 0 && out.contains("graph.jsonl from the index"), "{out}");
    assert_eq!(run(tree.tamis(&["evidence", "export"])).0, 1, "nothing is left");
    assert!(tree.json(&["status", "--json"]).get("evidence").is_none());
    assert_eq!(run(tree.tamis(&["doctor"])).0, 0);
}

#[test]
fn both_legs_both_models_and_all_cuts_search_it() {
    let tree = graph();
    for mode in ["lexical", "semantic", "hybrid"] {
        let first = found(&tree, &["--mode", mode, "--kind", "fragment", "folic acid and strokes"]);
        assert_eq!(first.first().map(String::as_str), Some("fragment:f1"), "{mode}");
    }
    for model in ["static", "minilm"] {
        let mut search =
            tree.tamis(&["search", "--mode", "semantic", "--kind", "claim", "--files", "worms in a garden"]);
        search.env("TAMIS_SEARCH_GATE", "false").env("TAMIS_INDEX_MODELS", model);
        assert_eq!(run(search).1.lines().next(), Some("claim:c2"), "{model}");
    }
    let names = [
        "auto", "background", "max_gap", "language", "top_score", "kneedle", "autocut", "adaptive_k", "otsu", "elbow",
        "relative", "percentile", "fixed",
    ];
    for name in names {
        let (code, _, error) = run(tree.tamis(&["search", "--collection", "evidence", "--cut", name, "folic acid"]));
        assert!(code <= 1, "{name}: {error}");
    }
    let (code, out, _) = run(tree.tamis(&["get", "claim:c1"]));
    assert_eq!((code, out.as_str()), (0, "Folic acid makes strokes rarer.\n"));
    let (code, out, _) = run(tree.tamis(&["get", "fragment:f1"]));
    assert_eq!((code, out.as_str()), (0, "Strokes were a tenth rarer among those who took folic acid.\n"));
    let (code, _, error) = run(tree.tamis(&["get", "claim:c9"]));
    assert!(code == 2 && error.contains("claim:c9: not in the index"), "{error}");
    let related = tree.json(&["related", "claim:c1", "--json"]);
    let first = &related["similar"][0]["path"];
    assert_eq!(first, "fragment:f1", "{related}");
}

#[test]
fn a_single_record_is_added_and_found_at_once() {
    let tree = graph();
    let add = |arguments: &[&str]| {
        let mut all = vec!["evidence", "add"];
        all.extend(arguments);
        run(tree.tamis(&all))
    };
    let (code, out, error) =
        add(&["fragment", "--id", "f4", "--page-id", "p1", "--text", "Bleeding in the brain was as common as before."]);
    assert_eq!(code, 0, "{error}");
    assert!(out.starts_with("1 record: 1 added; 1 passage written in "), "{out}");
    assert_eq!(found(&tree, &["--kind", "fragment", "bleeding in the brain"])[0], "fragment:f4");
    let edge =
        ["edge", "--source-id", "f4", "--target-id", "c1", "--relation", "refutes", "--nli-edge-confidence", "0.6"];
    assert_eq!(add(&edge).0, 0);
    assert_eq!(add(&["task", "--id", "t2", "--question", "And the heart?", "--namespace", "other"]).0, 0);
    assert_eq!(add(&["work", "--id", "w2", "--title", "T", "--author", "A", "--author", "B", "--year", "1999"]).0, 0);
    assert_eq!(add(&["page", "--id", "p3", "--url", "https://a.example", "--work-id", "w2"]).0, 0);
    let cites = ["edge", "--source-type", "page", "--source-id", "p3", "--target-type", "work", "--target-id", "w1"];
    assert_eq!(add(&[&cites[..], &["--relation", "cites"]].concat()).0, 0);
    let claim =
        ["claim", "--id", "c1", "--task-id", "t1", "--text", "Folic acid makes strokes rarer.", "--status", "open"];
    assert!(add(&claim).1.starts_with("1 record: 1 updated"));
    let out = run(tree.tamis(&["evidence", "export"])).1;
    let refutes =
        r#""source_id":"f4","target_type":"claim","target_id":"c1","relation":"refutes","nli_edge_confidence":0.6"#;
    assert!(out.contains(refutes), "{out}");
    assert!(out.contains(
        r#"{"record":"claim","id":"c1","task_id":"t1","text":"Folic acid makes strokes rarer.","status":"open"}"#
    ));
    assert!(out.contains(r#""authors":["A","B"],"year":1999"#), "{out}");

    let (code, _, error) = add(&["claim", "--id", "c3", "--task-id", "t9", "--text", "It is."]);
    assert!(code == 2 && error.contains("refers to task \"t9\", which is neither in the input nor stored"), "{error}");
    let (code, _, error) = add(&["edge", "--source-id", "f1", "--target-id", "c1", "--relation", "proves"]);
    assert!(code == 2 && error.contains("[possible values: origin, supports, refutes, neutral, cites]"), "{error}");
    assert_eq!(run(tree.tamis(&["doctor"])).0, 0);
}

#[test]
fn a_bad_line_and_nothing_is_imported() {
    let tree = Tree::new();
    tree.write("bad.jsonl", &format!("{GRAPH}{{\"record\":\"claim\",\"id\":\"c3\"}}\n"));
    let (code, _, error) = run(tree.tamis(&["import", "evidence", "bad.jsonl"]));
    assert!(code == 2 && error.contains("bad.jsonl: line 11: missing field `task_id`"), "{error}");
    assert!(!run(tree.tamis(&["evidence", "export"])).1.contains("record"));
    let (code, out, _) = run(tree.tamis(&["import", "evidence", "bad.jsonl", "--skip-bad"]));
    assert!(code == 0 && out.contains("1 bad record left out:\n    bad.jsonl: line 11"), "{out}");
}

fn schema() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema/evidence.schema.json");
    serde_json::from_str(&std::fs::read_to_string(path).expect("the schema is committed")).expect("JSON")
}

#[test]
fn the_schema_says_what_an_import_takes() {
    let schema = schema();
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    for line in GRAPH.lines() {
        assert!(validator.is_valid(&serde_json::from_str(line).expect("JSON")), "{line}");
    }
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
        assert!(validator.is_valid(record), "{record}");
        assert!(imports(record), "{record}");
        let kind = record["record"].as_str().unwrap_or_default();
        assert_eq!(names(&schema["$defs"][kind]["properties"]), names(record), "{kind}");
        let read: tamis_store::EvidenceRecord = serde_json::from_value(record.clone()).expect("a record");
        assert_eq!(serde_json::to_value(read).ok().as_ref(), Some(record), "{kind}");
    }
    for (at, name, value) in wrong {
        let mut record = full[at].clone();
        record[name] = value;
        assert!(!validator.is_valid(&record), "{record}");
        assert!(!imports(&record), "{record}");
    }
}
