//! Errors are problem documents with the text of the command.

use crate::served::{get, kitchen, post, send, serve};
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

#[test]
fn a_problem_says_what_is_wrong_and_what_is_allowed() {
    let directory = kitchen();
    let server = serve(directory.path(), &[]);
    for (path, status, kind, said) in [
        ("/v1/search", 400, "invalid-parameter", "search needs query: Question, words, names"),
        ("/v1/search?query=", 400, "invalid-parameter", "must be a text of 1 to 10000 characters"),
        ("/v1/search?query=x&limit=0", 400, "invalid-parameter", "limit = 0: must be a whole number from 1 to 1000"),
        ("/v1/search?query=x&limit=ten", 400, "invalid-parameter", "limit = \"ten\": must be a whole number"),
        ("/v1/search?query=x&limt=5", 400, "invalid-parameter", "no such parameter (did you mean limit?)"),
        ("/v1/search?query=x&query=y", 400, "invalid-parameter", "query: given twice"),
        ("/v1/search?query=x&mode=quick", 400, "invalid-parameter", "must be one of hybrid, lexical, semantic"),
        ("/v1/search?query=x&explain=maybe", 400, "invalid-parameter", "must be true or false"),
        (
            "/v1/search?query=x&languages=klingon",
            400,
            "invalid-parameter",
            "languages = \"klingon\": must be a language",
        ),
        ("/v1/search?query=x&cut=kneedl", 400, "invalid-parameter", "did you mean \"kneedle\"?"),
        ("/v1/search?query=x&cut=otsu&target_recall=0.5", 400, "invalid-parameter", "cut otsu has no such aim"),
        ("/v1/search?query=x&since=soonish", 400, "invalid-parameter", "since: "),
        ("/v1/search?query=x&states=done", 400, "invalid-parameter", "unmerged, resolved"),
        ("/v1/search?query=x&paths=%5B", 400, "invalid-parameter", "["),
        ("/v1/search?query=x&namespaces=other", 400, "invalid-parameter", "namespace"),
        ("/v1/search?query=x&guarantee=recall=0.9", 409, "conflict", "judge more answers"),
        ("/v1/search?query=%ff", 400, "invalid-request", "not UTF-8"),
        ("/v1/search?query=%00", 400, "invalid-parameter", "U+0000"),
        ("/v1/documents/oven.mdx", 404, "not-found", "did you mean oven.md?"),
        ("/v1/documents?path=../../etc/passwd", 404, "not-found", "not in the index"),
        ("/v1/documents/oven.md?id=x", 400, "invalid-parameter", "given by the path"),
        ("/v1/related?id=nothing.rs", 404, "not-found", "not in the index"),
        ("/v1/grep?pattern=(", 400, "invalid-parameter", "("),
        ("/v1/outline?path=nowhere", 404, "not-found", "nowhere"),
        ("/v1/evidence/rank?claim=c9", 404, "not-found", "c9"),
        ("/v1/evidence/views/v_nothing", 404, "not-found", "v_nothing"),
        ("/v1/evidence/sql?sql=DELETE+FROM+claims", 400, "invalid-parameter", ""),
        ("/v1/replay?cuts=nonsense", 400, "invalid-parameter", "nonsense"),
        ("/v1/serach", 404, "unknown-route", "did you mean /v1/search?"),
        ("/nowhere", 404, "unknown-route", "/v1/openapi.json"),
        ("/v1/search/", 404, "unknown-route", "no such route"),
        ("/V1/search", 404, "unknown-route", "no such route"),
    ] {
        let detail = problem(&get(&server, path), status, kind);
        assert!(detail.contains(said), "{path}: {detail}");
    }
}

#[test]
fn methods_bodies_and_their_types_are_checked() {
    let directory = kitchen();
    let server = serve(directory.path(), &[]);
    for (line, allowed) in [
        ("POST /v1/status", "GET, HEAD"),
        ("DELETE /v1/search", "GET, HEAD, POST"),
        ("GET /v1/cut", "POST"),
        ("PUT /v1/feedback", "POST, GET, HEAD"),
        ("PUT /healthz", "GET, HEAD"),
        ("OPTIONS /v1/search", "GET, HEAD, POST"),
        ("POST /metrics", "GET, HEAD"),
    ] {
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
    let directory = kitchen();
    let server = serve(directory.path(), &[]);
    for (path, arguments) in [
        ("/v1/documents/oven.mdx", &["get", "oven.mdx"][..]),
        ("/v1/evidence/views/v_nothing", &["evidence", "view", "v_nothing"]),
        ("/v1/evidence/sql?sql=SELECT+nothing+FROM+claims", &["evidence", "sql", "SELECT nothing FROM claims"]),
    ] {
        let detail = get(&server, path).json()["detail"].as_str().expect("a detail").to_owned();
        let output = crate::support::tamis(directory.path()).args(arguments).output().expect("it runs");
        let printed = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(printed.contains(&detail), "{detail} is not in {printed}");
    }
}
