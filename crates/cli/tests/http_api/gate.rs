//! The API stands behind the gate of the protocol for agents: hosts, origins, tokens, rates, and the end of the server.

use crate::served::{get, kitchen, send, serve};
use crate::support::{SECRET, Server, tamis, token, two_namespaces};
use serde_json::json;

#[test]
fn hosts_origins_and_tokens_are_checked_before_anything_is_said() {
    let directory = two_namespaces();
    let root = directory.path();
    let (open, wide) = (token(root, &["narrow", "--namespace", "open"]), token(root, &["wide"]));
    let server = serve(root, &[]);
    let (open, wide) = (format!("Bearer {open}"), format!("Bearer {wide}"));
    let by = |authorization: &str, path: &str| {
        send(&server, &format!("GET {path}"), &[("Authorization", authorization)], "")
    };
    for path in ["/v1/search?query=oven", "/v1/status", "/v1/openapi.json", "/metrics", "/v1/nothing"] {
        let refused = get(&server, path);
        assert_eq!(
            (refused.status, refused.json()["type"].as_str()),
            (401, Some("urn:tamis:problem:unauthorized")),
            "{path}"
        );
        assert!(refused.header("www-authenticate").is_some_and(|value| value.starts_with("Bearer")), "{path}");
        assert_eq!(by("Bearer wrong", path).status, 401, "{path}");
    }
    assert_eq!((get(&server, "/healthz").status, get(&server, "/readyz").status), (200, 200));
    assert_eq!(by(&wide, "/v1/search?query=oven").status, 200);
    for headers in [&[("Host", "evil.example")][..], &[("Origin", "http://evil.example")]] {
        let mut all = vec![("Authorization", wide.as_str())];
        all.extend(headers);
        let refused = match headers[0].0 {
            "Host" => server.request("GET /v1/status HTTP/1.1", &all, ""),
            _ => {
                all.push(("Host", "localhost"));
                server.request("GET /v1/status HTTP/1.1", &all, "")
            }
        };
        assert_eq!(refused.status, 403, "{refused:?}");
        assert_eq!(refused.json()["type"], "urn:tamis:problem:forbidden");
    }
    // A token opens its namespaces and says nothing of others.
    let mine = by(&open, "/v1/search?query=oven+code");
    assert!(mine.status == 200 && !mine.text().contains("4711") && !mine.text().contains("secret"), "{}", mine.text());
    assert!(by(&wide, &format!("/v1/search?query={SECRET}+code")).text().contains("4711"));
    for path in ["/v1/status", "/v1/namespaces", "/v1/files", "/v1/stats", "/v1/replay?cuts=auto"] {
        let answer = by(&open, path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        assert!(!answer.text().contains("secret") && !answer.text().contains(SECRET), "{path}: {}", answer.text());
        assert!(!answer.text().contains(root.to_str().expect("UTF-8")), "{path}: {}", answer.text());
    }
    assert_eq!(by(&open, "/metrics").status, 403, "they tell of all callers");
    let searches = by(&open, "/v1/feedback");
    assert!(searches.status == 403 && searches.text().contains("of all callers"), "{}", searches.text());
    assert_eq!(by(&wide, "/v1/feedback").status, 200);
    assert_eq!(by(&open, "/v1/stats?namespace=secret").status, 400);
    assert_eq!(by(&wide, "/v1/stats?namespace=secret").status, 200);
    // The answers of two callers have different tags.
    let tags = [&open, &wide].map(|token| by(token, "/v1/files").header("etag").map(str::to_owned));
    assert!(tags[0].is_some() && tags[0] != tags[1], "{tags:?}");
}

#[test]
fn requests_are_counted_and_limited() {
    let directory = kitchen();
    let root = directory.path();
    let server = serve(root, &[]);
    get(&server, "/v1/search?query=how+hot+should+the+oven+be");
    get(&server, "/v1/search?query=zeppelin");
    get(&server, "/v1/search");
    get(&server, "/v1/nothing");
    server.call(None, "search", json!({ "query": "zeppelin" }));
    server.call(None, "search", json!({}));
    let metrics = get(&server, "/metrics");
    assert_eq!(metrics.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    let text = metrics.text();
    for line in [
        "tamis_http_requests_total{route=\"/v1/search\",method=\"GET\",status=\"200\"} 2",
        "tamis_http_requests_total{route=\"/v1/search\",method=\"GET\",status=\"400\"} 1",
        "tamis_http_requests_total{route=\"other\",method=\"GET\",status=\"404\"} 1",
        "tamis_http_request_duration_seconds_count{route=\"/v1/search\"} 3",
        "tamis_searches_total{route=\"/v1/search\"} 2",
        "tamis_searches_empty_total{route=\"/v1/search\"} 1",
        "tamis_searches_empty_total{route=\"/mcp\",tool=\"search\"} 1",
        "tamis_tool_calls_total{tool=\"search\",outcome=\"answered\"} 1",
        "tamis_tool_calls_total{tool=\"search\",outcome=\"error\"} 1",
        "tamis_index_phase{phase=\"off\"} 1",
    ] {
        assert!(text.lines().any(|one| one == line), "{line} is not in:\n{text}");
    }
    assert!(text.contains("tamis_index_documents ") && text.contains("tamis_index_embedded_passages{model="), "{text}");

    let mut command = tamis(root);
    command.args(["serve", "--http", "127.0.0.1:0", "--no-refresh"]).env("TAMIS_MCP_REQUESTS_PER_MINUTE", "60");
    let server = Server::of(&mut command);
    let refused =
        (0..200).map(|_| get(&server, "/v1/namespaces")).find(|answer| answer.status == 429).expect("a limit");
    assert_eq!(refused.json()["type"], "urn:tamis:problem:too-many-requests");
    assert!(refused.header("retry-after").is_some(), "{}", refused.head);
}

#[test]
fn one_server_answers_agents_and_programs_and_logs_no_query() {
    let directory = kitchen();
    let mut server = serve(directory.path(), &[]);
    server.answers(None);
    assert_eq!(get(&server, "/v1/search?query=hunter2").status, 200);
    assert_eq!(server.request("GET /health HTTP/1.1", &[("Host", "localhost")], "").status, 200);
    server.logs(|log| log.contains("/v1/search"));
    assert!(!server.log().contains("hunter2"), "{}", server.log());
    let line = server.log().lines().find(|line| line.contains("/v1/search")).map(str::to_owned).expect("a line");
    let line: serde_json::Value = serde_json::from_str(&line).expect("JSON");
    assert_eq!(
        (&line["path"], &line["status"], &line["tool"]),
        (&json!("/v1/search"), &json!(200), &json!("\"search\""))
    );
    // Without the API, only the protocol is there.
    let server = Server::start(directory.path(), &["--no-refresh"]);
    assert_eq!(get(&server, "/v1/search?query=oven").status, 404);
    assert_eq!(get(&server, "/metrics").status, 404);
}

#[test]
fn it_is_ready_once_the_first_refresh_has_ended() {
    let directory = kitchen();
    let mut command = tamis(directory.path());
    command.args(["serve", "--http", "127.0.0.1:0"]);
    let server = Server::of(&mut command);
    let mut seen = Vec::new();
    let started = std::time::Instant::now();
    loop {
        let answer = get(&server, "/readyz");
        seen.push(answer.status);
        if answer.status == 200 {
            break;
        }
        assert_eq!((answer.status, answer.header("retry-after")), (503, Some("1")), "{}", answer.head);
        assert!(started.elapsed() < crate::support::PATIENCE, "{seen:?}");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert_eq!(get(&server, "/readyz").status, 200, "it stays ready");
}
