//! Errors are problem documents with the text of the command.

use crate::served::{get, post, send, served_kitchen};
use crate::support::Reply;
use serde_json::json;

fn problem(response: &Reply, status: u16, kind: &str) -> String {
    assert_eq!(response.status, status, "{} {}", response.head, response.body);
    assert_eq!(response.header("content-type"), Some("application/problem+json"), "{}", response.head);
    let document = response.json();
    assert_eq!(document["type"], format!("urn:tamis:problem:{kind}"), "{document}");
    assert_eq!(document["status"], status, "{document}");
    assert!(document["title"].as_str().is_some_and(|title| !title.is_empty()), "{document}");
    document["detail"].as_str().expect("a detail").to_owned()
}

/// The status and kind of a problem, the path that has it, and a part of what it says.
const PROBLEMS: &str = r#"
400 invalid-parameter /v1/search search needs query: Question, words, names
400 invalid-parameter /v1/search?query= must be a text of 1 to 10000 characters
400 invalid-parameter /v1/search?query=x&limit=0 limit = 0: must be a whole number from 1 to 1000
400 invalid-parameter /v1/search?query=x&limit=ten limit = "ten": must be a whole number
400 invalid-parameter /v1/search?query=x&limt=5 no such parameter (did you mean limit?)
400 invalid-parameter /v1/search?query=x&query=y query: given twice
400 invalid-parameter /v1/search?query=x&mode=quick must be one of hybrid, lexical, semantic
400 invalid-parameter /v1/search?query=x&explain=maybe must be true or false
400 invalid-parameter /v1/search?query=x&languages=klingon languages = "klingon": must be a language
400 invalid-parameter /v1/search?query=x&cut=kneedl did you mean "kneedle"?
400 invalid-parameter /v1/search?query=x&cut=otsu&target_recall=0.5 not supported by the cut otsu
400 invalid-parameter /v1/search?query=x&since=soonish since:
400 invalid-parameter /v1/search?query=x&states=done unmerged, resolved
400 invalid-parameter /v1/search?query=x&paths=%5B [
400 invalid-parameter /v1/search?query=x&namespaces=other namespace
409 conflict /v1/search?query=x&guarantee=recall=0.9 judge more answers
400 invalid-request /v1/search?query=%ff not UTF-8
400 invalid-parameter /v1/search?query=%00 U+0000
404 not-found /v1/documents/oven.mdx did you mean oven.md?
404 not-found /v1/documents?path=../../etc/passwd not in the index
400 invalid-parameter /v1/documents/oven.md?id=x given by the path
404 not-found /v1/related?id=nothing.rs not in the index
400 invalid-parameter /v1/grep?pattern=( (
404 not-found /v1/outline?path=nowhere nowhere
404 not-found /v1/evidence/rank?claim=c9 c9
404 not-found /v1/evidence/views/v_nothing v_nothing
400 invalid-parameter /v1/evidence/sql?sql=DELETE+FROM+claims DELETE is not allowed
400 invalid-parameter /v1/replay?cuts=nonsense nonsense
404 unknown-route /v1/serach did you mean /v1/search?
404 unknown-route /nowhere /v1/openapi.json
404 unknown-route /v1/search/ no such route
404 unknown-route /V1/search no such route
400 invalid-parameter /v1/search?query=oven&all&want=one all = true
"#;

#[test]
fn a_problem_says_what_is_wrong_and_what_is_allowed() {
    let (_root, server) = served_kitchen();
    for line in PROBLEMS.trim().lines() {
        let [status, kind, path, said] = line.splitn(4, ' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let status = status.parse().expect("a number");
        let detail = problem(&get(&server, path), status, kind);
        assert!(detail.contains(said), "{path}: {detail}");
    }
}

#[test]
fn methods_bodies_and_their_types_are_checked() {
    let (_root, server) = served_kitchen();
    for case in [
        "POST /v1/status => GET, HEAD", "DELETE /v1/search => GET, HEAD, POST", "GET /v1/cut => POST",
        "PUT /v1/feedback => POST, GET, HEAD", "PUT /healthz => GET, HEAD", "OPTIONS /v1/search => GET, HEAD, POST",
        "POST /metrics => GET, HEAD",
    ] {
        let (line, allowed) = case.split_once(" => ").expect("two parts");
        let refused = send(&server, line, &[], "");
        let detail = problem(&refused, 405, "method-not-allowed");
        assert_eq!(refused.header("allow"), Some(allowed), "{line}");
        assert!(detail.contains(allowed), "{detail}");
    }
    let json = ("Content-Type", "application/json; charset=utf-8");
    let with = |body: &str, headers: &[(&str, &str)]| send(&server, "POST /v1/search", headers, body);
    assert_eq!(with("{\"query\":\"oven\"}", &[json]).status, 200);
    assert_eq!(with("{\"query\":\"oven\",\"limit\":\"5\"}", &[json]).status, 200, "it can mean one thing only");
    problem(&with("{\"query\":\"oven\"}", &[("Content-Type", "text/plain")]), 415, "unsupported-media-type");
    problem(&with("query=oven", &[]), 415, "unsupported-media-type");
    assert!(problem(&with("{\"query\":", &[json]), 400, "invalid-body").contains("not JSON"));
    assert!(problem(&with("[\"oven\"]", &[json]), 400, "invalid-body").contains("object"));
    assert!(problem(&with("{\"query\":{\"oven\":1}}", &[json]), 400, "invalid-parameter").contains("must be a text"));
    let null = "{\"query\":\"oven\",\"limit\":null}";
    assert!(problem(&with(null, &[json]), 400, "invalid-parameter").contains("limit = null"));
    let deep = format!("{{\"query\":{}", "[".repeat(10_000));
    problem(&with(&deep, &[json]), 400, "invalid-body");
    let long = json!({ "query": "a".repeat(2 << 20) }).to_string();
    problem(&with(&long, &[json]), 413, "too-large");
    let both = send(&server, "POST /v1/search?limit=5", &[json], "{\"query\":\"oven\"}");
    assert!(problem(&both, 400, "invalid-request").contains("belong into its body"));
    assert_eq!(post(&server, "/v1/search", &json!({ "query": "oven" })).status, 200, "it still answers");
}

#[test]
fn a_problem_has_the_text_that_the_command_prints() {
    let (root, server) = served_kitchen();
    for (path, arguments) in [
        ("/v1/documents/oven.mdx", &["get", "oven.mdx"][..]),
        ("/v1/evidence/views/v_nothing", &["evidence", "view", "v_nothing"]),
        ("/v1/evidence/sql?sql=SELECT+nothing+FROM+claims", &["evidence", "sql", "SELECT nothing FROM claims"]),
    ] {
        let detail = get(&server, path).json()["detail"].as_str().expect("a detail").to_owned();
        let output = crate::support::tamis(&root).args(arguments).output().expect("it runs");
        let printed = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(printed.contains(&detail), "{detail} is not in {printed}");
    }
}
