//! The API stands behind the gate of the protocol for agents: hosts, origins, tokens, rates, and the end of the server.

use crate::served::{get, get_as, kitchen, limited_to_sixty_a_minute, serve, served_kitchen};
use crate::support::{SECRET, Server, receive, request, tamis, token, two_namespaces};
use serde_json::{Value, json};
use std::io::Write;
use std::net::TcpStream;
use std::sync::mpsc::channel;
use std::thread;

#[test]
fn hosts_origins_and_tokens_are_checked_before_anything_is_said() {
    let root = two_namespaces();
    let (open, wide) = (token(&root, &["narrow", "--namespace", "open"]), token(&root, &["wide"]));
    let server = serve(&root, &[]);
    let (open, wide) = (format!("Bearer {open}"), format!("Bearer {wide}"));
    let by = |authorization: &str, path: &str| get_as(&server, authorization, path);
    for path in ["/v1/search?query=oven", "/v1/status", "/v1/openapi.json", "/metrics", "/v1/nothing"] {
        let refused = get(&server, path);
        assert_eq!(refused.status, 401, "{path}");
        assert_eq!(refused.json()["type"], "urn:tamis:problem:unauthorized", "{path}");
        assert!(refused.header("www-authenticate").is_some_and(|value| value.starts_with("Bearer")), "{path}");
        assert_eq!(by("Bearer wrong", path).status, 401, "{path}");
    }
    assert_eq!((get(&server, "/healthz").status, get(&server, "/readyz").status), (200, 200));
    assert_eq!(by(&wide, "/v1/search?query=oven").status, 200);
    for headers in [&[("Host", "evil.example")][..], &[("Host", "localhost"), ("Origin", "http://evil.example")]] {
        let all = [&[("Authorization", wide.as_str())], headers].concat();
        let refused = server.request("GET /v1/status HTTP/1.1", &all, "");
        assert_eq!(refused.status, 403, "{refused:?}");
        assert_eq!(refused.json()["type"], "urn:tamis:problem:forbidden");
    }
    // A token opens its namespaces and says nothing of others.
    let mine = by(&open, "/v1/search?query=oven+code");
    assert!(mine.status == 200 && !mine.body.contains("4711") && !mine.body.contains("secret"), "{}", mine.body);
    let agent = server.call(Some(&open["Bearer ".len()..]), "search", json!({ "query": "oven code" }));
    assert!(agent.status == 200 && !agent.body.contains("4711") && !agent.body.contains("secret"), "{agent:?}");
    assert!(by(&wide, &format!("/v1/search?query={SECRET}+code")).body.contains("4711"));
    for path in ["/v1/status", "/v1/namespaces", "/v1/files", "/v1/stats", "/v1/replay?cuts=auto"] {
        let answer = by(&open, path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        assert!(!answer.body.contains("secret") && !answer.body.contains(SECRET), "{path}: {}", answer.body);
        assert!(!answer.body.contains(root.to_str().expect("UTF-8")), "{path}: {}", answer.body);
    }
    assert_eq!(by(&open, "/metrics").status, 403, "they tell of all callers");
    let searches = by(&open, "/v1/feedback");
    assert!(searches.status == 403 && searches.body.contains("of all callers"), "{}", searches.body);
    let other = "/v1/stats?namespace=secret";
    assert_eq!([by(&wide, "/v1/feedback"), by(&open, other), by(&wide, other)].map(|it| it.status), [200, 400, 200]);
    // The answers of two callers have different tags.
    let tags = [&open, &wide].map(|token| by(token, "/v1/files").header("etag").map(str::to_owned));
    assert!(tags[0].is_some() && tags[0] != tags[1], "{tags:?}");
}

#[test]
fn requests_are_counted_and_limited() {
    let (root, server) = served_kitchen();
    for path in
        ["/v1/search?query=how+hot+should+the+oven+be", "/v1/search?query=zeppelin", "/v1/search", "/v1/nothing"]
    {
        get(&server, path);
    }
    server.call(None, "search", json!({ "query": "zeppelin" }));
    server.call(None, "search", json!({}));
    let metrics = get(&server, "/metrics");
    assert_eq!(metrics.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    let text = metrics.body;
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

    let server = limited_to_sixty_a_minute(&root);
    let refused = (0..200).map(|_| get(&server, "/v1/namespaces")).find(|one| one.status == 429).expect("a limit");
    assert_eq!(refused.json()["type"], "urn:tamis:problem:too-many-requests");
    assert!(refused.header("retry-after").is_some(), "{}", refused.head);
}

#[test]
fn one_server_answers_agents_and_programs_and_logs_no_query() {
    let (root, mut server) = served_kitchen();
    server.answers(None);
    assert_eq!(get(&server, "/v1/search?query=hunter2").status, 200);
    assert_eq!(server.request("GET /health HTTP/1.1", &[("Host", "localhost")], "").status, 200);
    server.logs(|log| log.contains("/v1/search"));
    assert!(!server.log().contains("hunter2"), "{}", server.log());
    let line = server.log().lines().find(|line| line.contains("/v1/search")).map(str::to_owned).expect("a line");
    let line: Value = serde_json::from_str(&line).expect("JSON");
    let (path, tool) = (json!("/v1/search"), json!("\"search\""));
    assert_eq!((&line["path"], &line["tool"], &line["status"]), (&path, &tool, &json!(200)));
    // Without the API, only the protocol is there.
    let server = Server::start(&root, &["--no-refresh"]);
    assert_eq!([get(&server, "/v1/search?query=oven").status, get(&server, "/metrics").status], [404, 404]);
}

#[test]
fn it_is_ready_once_the_first_refresh_has_ended() {
    let root = kitchen();
    let server = Server::of(tamis(&root).args(["serve", "--http", "127.0.0.1:0"]));
    server.until("the end of the first refresh", || {
        let answer = get(&server, "/readyz");
        let refused = (answer.status, answer.header("retry-after"));
        assert!(answer.status == 200 || refused == (503, Some("1")), "{}", answer.head);
        answer.status == 200
    });
    assert_eq!(get(&server, "/readyz").status, 200, "it stays ready");
}

/// Begins a call that cuts lists.
fn begin_cut(server: &Server, authorization: &str, body: &Value) -> TcpStream {
    let headers = [("Host", "localhost"), ("Content-Type", "application/json"), ("Authorization", authorization)];
    let mut stream = server.connect();
    stream.write_all(&request("POST /v1/cut HTTP/1.1", &headers, &body.to_string())).expect("sent");
    stream
}

/// Begins a call of several seconds.
fn slow_call(server: &Server, authorization: &str) -> TcpStream {
    let scores: Vec<f64> = (0..40).map(|rank| 9.0 - f64::from(rank) / 10.0).collect();
    let lists = vec![json!({ "scores": scores }); 600];
    begin_cut(server, authorization, &json!({ "kept_only": true, "lists": lists }))
}

fn active_calls(server: &Server, authorization: &str) -> usize {
    let metrics = get_as(server, authorization, "/metrics");
    let count = metrics.body.lines().find_map(|line| line.strip_prefix("tamis_active_calls "));
    count.and_then(|count| count.parse().ok()).expect("a count")
}

#[test]
fn slow_calls_of_one_token_hold_up_no_call_of_another() {
    let root = two_namespaces();
    let [busy, other] = ["busy", "other"].map(|name| format!("Bearer {}", token(&root, &[name])));
    let server = serve(&root, &[]);
    let mut calls: Vec<TcpStream> = (0..8).map(|_| slow_call(&server, &busy)).collect();
    server.until("the eighth call", || active_calls(&server, &other) >= 8);
    let (answered, ended) = channel();
    thread::scope(|scope| {
        for mut call in calls.drain(..) {
            let answered = answered.clone();
            scope.spawn(move || answered.send(receive(&mut call).status).expect("somebody counts"));
        }
        // A search, and a call that is slow too: neither waits for more than one of the eight.
        let by = |authorization: &str, path: &str| get_as(&server, authorization, path).status;
        assert_eq!([by(&other, "/v1/search?query=oven"), by(&other, "/v1/grep?pattern=oven")], [200, 200]);
        let before = ended.try_iter().count();
        assert!(before <= 2, "{before} of the eight were answered first");
        // The caller's own searches do not wait for its slow calls either.
        assert_eq!(by(&busy, "/v1/search?query=oven"), 200);
        let before = before + ended.try_iter().count();
        assert!(before <= 4, "{before} of the eight were answered first");
        // They run at a low priority, so on a busy machine their time can be over first.
        assert!(ended.iter().take(8 - before).all(|status| [200, 504].contains(&status)));
    });
}

#[test]
fn one_token_cannot_use_up_all_calls() {
    let root = two_namespaces();
    let [busy, other] = ["busy", "other"].map(|name| format!("Bearer {}", token(&root, &[name])));
    let server = serve(&root, &[]);
    let slow = 4 * thread::available_parallelism().map_or(2, usize::from);
    let _running: Vec<TcpStream> = (0..slow).map(|_| slow_call(&server, &busy)).collect();
    let call = |authorization: &str| begin_cut(&server, authorization, &json!({ "lists": [{ "scores": [2, 1] }] }));
    let waiting: Vec<TcpStream> = (0..300).map(|_| call(&busy)).collect();
    let refused = waiting.into_iter().rev().map(|mut stream| receive(&mut stream).status).find(|status| *status != 200);
    assert_eq!(refused, Some(503));
    assert_eq!(receive(&mut call(&other)).status, 200);
}

#[test]
fn a_slow_call_ends_when_its_client_leaves() {
    let root = two_namespaces();
    let wide = format!("Bearer {}", token(&root, &["wide"]));
    let server = serve(&root, &[]);
    let calls: Vec<TcpStream> = (0..8).map(|_| slow_call(&server, &wide)).collect();
    server.until("the eighth call", || active_calls(&server, &wide) >= 8);
    drop(calls);
    let left = std::time::Instant::now();
    server.until("their end", || active_calls(&server, &wide) == 0);
    let started = std::time::Instant::now();
    receive(&mut slow_call(&server, &wide));
    assert!(left.elapsed() < started.elapsed() * 6, "eight calls went on for {:?}", left.elapsed());
}

#[test]
fn a_server_answers_at_once_while_another_process_writes_the_index() {
    let root = kitchen();
    let lock = std::fs::File::open(root.join(".tamis/write.lock")).expect("there");
    lock.lock().expect("free");
    let server = Server::of(tamis(&root).args(["serve", "--http", "127.0.0.1:0"]));
    let started = std::time::Instant::now();
    for _ in 0..3 {
        let answer = get(&server, "/v1/search?query=how+hot+should+the+oven+be");
        assert_eq!(answer.status, 200, "{}", answer.body);
        assert!(answer.body.contains("220 degrees") && answer.body.contains("is being updated"), "{}", answer.body);
    }
    assert!(started.elapsed() < std::time::Duration::from_secs(5), "three searches took {:?}", started.elapsed());
}

#[test]
fn a_token_limited_to_namespaces_reads_no_path_of_the_server_in_an_error() {
    let root = two_namespaces();
    let open = token(&root, &["narrow", "--namespace", "open"]);
    let server = serve(&root, &[]);
    std::fs::write(root.join(".tamis/tamis.db"), "no database").expect("written");
    let authorization = format!("Bearer {open}");
    for path in ["/v1/search?query=oven", "/v1/files", "/v1/status", "/v1/outline?path=note.md", "/v1/namespaces"] {
        let answer = get_as(&server, &authorization, path);
        assert!(answer.status >= 400, "{path}: {}", answer.body);
        assert!(!answer.body.contains(root.to_str().expect("UTF-8")), "{path}: {}", answer.body);
    }
    for tool in ["search", "files", "get_status"] {
        let reply = server.call(Some(&open), tool, json!({ "query": "oven" }));
        assert!(!reply.body.contains(root.to_str().expect("UTF-8")), "{tool}: {reply:?}");
    }
    server.logs(|log| log.contains("tamis.db"));
}
