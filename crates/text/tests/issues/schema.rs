//! The schema of the project's own format matches the format.

use std::collections::BTreeSet;
use std::path::Path;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use tamis_text::{CommentKind, IssueKind, IssueState, Verdict, read_issues};

use super::fixture;
use super::json_schema::Schema;
use super::strategies::{issue, markdown};

fn schema() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema/issue.schema.json");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn what_is_written_and_what_is_shown_in_the_fixture_is_valid() {
    let schema = Schema::new(&schema());
    let text = String::from_utf8(fixture("own.jsonl")).expect("the fixture is UTF-8");
    for line in text.lines() {
        let value: Value = serde_json::from_str(line).expect("the line is JSON");
        assert_eq!(schema.check(&value), Ok(()), "{line}");
    }
    let mut runner = TestRunner::deterministic();
    let run = runner.run(&issue(markdown().boxed()), |issue| {
        let value = serde_json::to_value(&issue).map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(schema.check(&value), Ok(()), "{}", value);
        Ok(())
    });
    run.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn what_the_schema_refuses_is_a_bad_record() {
    let schema = Schema::new(&schema());
    let good = json!({"number": 1, "title": "A", "comments": [{"body": "b"}]});
    assert_eq!(schema.check(&good), Ok(()));
    for change in [
        "number 0", r#"number "1""#, "title null", r#"kind "epic""#, "state 3", r#"labels "bug""#, r#"locked "yes""#,
        "created_at 17", r#"comments [{"kind": "remark"}]"#, r#"comments [{"verdict": "meh"}]"#,
        r#"comments [{"line": 0}]"#,
    ] {
        let (name, wrong) = change.split_once(' ').expect("a field and a value");
        let mut value = good.clone();
        value[name] = wrong.parse().expect("JSON");
        assert!(schema.check(&value).is_err(), "{value}");
        let archive = read_issues(format!("{value}\n{good}\n").as_bytes()).expect("the other line is good");
        assert_eq!(archive.bad.len(), 1, "{value}");
    }
}

#[test]
fn the_schema_names_every_field_and_every_value() {
    let schema = schema();
    let names = |value: &Value| -> BTreeSet<String> {
        value.as_object().map(|object| object.keys().cloned().collect()).unwrap_or_default()
    };
    let full = json!({
        "number": 1, "kind": "issue", "title": "A", "body": "b", "state": "open", "state_reason": "c", "author": "d", "bot": true,
        "labels": ["e"], "milestone": "f", "locked": true, "created_at": "2024-05-01T10:00:00Z", "updated_at": "2024-05-01T10:00:00Z",
        "closed_at": "2024-05-01T10:00:00Z", "merged_at": "2024-05-01T10:00:00Z", "url": "g",
        "comments": [{
            "kind": "review", "author": "h", "bot": true, "body": "i", "created_at": "2024-05-01T10:00:00Z",
            "updated_at": "2024-05-01T10:00:00Z", "url": "j", "verdict": "approved", "file": "k", "line": 1,
        }],
    });
    // Nothing of it is ignored, so the list of fields is complete.
    let issue: tamis_text::Issue = serde_json::from_value(full.clone()).expect("it is an issue");
    assert_eq!(serde_json::to_value(&issue).ok(), Some(full.clone()));
    assert_eq!(names(&schema["properties"]), names(&full));
    assert_eq!(names(&schema["$defs"]["comment"]["properties"]), names(&full["comments"][0]));
    assert_eq!(schema["properties"]["kind"]["enum"], json!(IssueKind::NAMES));
    assert_eq!(schema["properties"]["state"]["enum"], json!(IssueState::NAMES));
    assert_eq!(schema["$defs"]["comment"]["properties"]["kind"]["enum"], json!(CommentKind::NAMES));
    let verdicts: Vec<Value> = Verdict::NAMES.iter().map(|name| json!(name)).chain([Value::Null]).collect();
    assert_eq!(schema["$defs"]["comment"]["properties"]["verdict"]["enum"], json!(verdicts));
}
