//! The JSON form of an answer is a contract: its schema is committed, and real answers conform to it.

use crate::support::{Tree, bare, run};
use serde_json::Value;
use std::path::Path;

fn committed() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema/search.schema.json");
    std::fs::read_to_string(path).expect("the schema is committed")
}

#[test]
fn the_committed_schema_is_that_of_the_program() {
    let (code, out, _) = run(bare(&["schema"]));
    assert_eq!(code, 0);
    assert!(
        out == committed(),
        "the answer's form changed; write it down: tamis schema > docs/schema/search.schema.json"
    );
}

#[test]
fn real_answers_hold_to_the_schema() {
    let schema: Value = serde_json::from_str(&committed()).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let tree = Tree::indexed();
    for arguments in [
        &["search", "--json", "how hot should the oven be"][..],
        &["search", "--json", "--explain", "retry with backoff"],
        &["search", "--json", "--mode", "lexical", "zeppelin"],
        &["search", "--json", "--mode", "semantic", "--no-refresh", "moon"],
        &["search", "--json", "--cut", "max_gap", "compost"],
    ] {
        let answer = tree.json(arguments);
        let wrong: Vec<String> = validator.iter_errors(&answer).map(|error| error.to_string()).collect();
        assert!(wrong.is_empty(), "{arguments:?}: {wrong:?}");
    }
    assert!(!validator.is_valid(&serde_json::json!({ "query": "x" })), "the schema asks for something");
}
