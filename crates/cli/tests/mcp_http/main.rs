//! A server over HTTP against hostile clients, with the real binary.
#![cfg(target_os = "linux")]

mod attacks;
mod ends;
mod protocol;
mod support;

use serde_json::json;
use support::{Server, Session, headers, message, request, tamis, token, two_namespaces, two_served_namespaces};

#[test]
fn a_good_request_is_answered_and_told_to_nobody_else() {
    let (_root, mut server) = two_served_namespaces();
    server.answers(None);
    let reply = server.call(None, "search", json!({ "query": "oven degrees" }));
    assert_eq!(reply.header("cache-control"), Some("no-store"));
    assert_eq!(reply.header("x-content-type-options"), Some("nosniff"));
    assert!(!reply.head.to_lowercase().contains("access-control"), "{reply:?}");
    let health = server.request("GET /health HTTP/1.1", &[("Host", "localhost")], "");
    assert_eq!((health.status, health.body.as_str()), (200, "ok\n"));
    for (status, lines) in [
        (404, &["GET /", "GET /mcp/../health", "GET /%6dcp"][..]),
        (405, &["GET /mcp/", "PUT /mcp", "OPTIONS /mcp", "TRACE /mcp", "POST /health"]),
    ] {
        for line in lines {
            let reply = server.request(&format!("{line} HTTP/1.1"), &[("Host", "localhost")], "");
            assert_eq!(reply.status, status, "{line}: {reply:?}");
            assert_eq!(status == 405, reply.header("allow").is_some(), "{line}");
        }
    }
}

#[test]
fn the_log_has_no_query_unless_that_is_asked_for_and_cannot_be_forged() {
    let (root, mut server) = two_served_namespaces();
    server.answers(None);
    server.rpc(None, "forged\n{\"level\":\"ERROR\"}\u{1b}[2J", json!({}));
    let params = json!({ "name": "search", "arguments": { "query": "hunter2" } });
    server.request("POST /mcp HTTP/1.1", &headers(None, "tools/call", &params), &message("tools/call", params.clone()));
    // A request is logged after it is answered.
    server.logs(|log| log.matches("search").count() >= 2);
    let log = server.log();
    assert!(!log.contains("how hot") && !log.contains("hunter2") && !log.contains('\u{1b}'), "{log}");
    let lines: Vec<serde_json::Value> =
        log.lines().filter(|line| line.starts_with('{')).map(|line| serde_json::from_str(line).expect(line)).collect();
    assert_eq!(log.lines().count(), lines.len() + 1, "{log}");
    let call = lines.iter().find(|line| line["tool"] == "\"search\"").expect("the call");
    assert_eq!((&call["status"], &call["path"], &call["token"]), (&json!(200), &json!("/mcp"), &json!("-")), "{call}");
    assert!(call["ms"].as_f64().is_some(), "{call}");

    let mut server = Server::start(&root, &["--no-refresh", "--log-queries"]);
    server.answers(None);
    server.logs(|log| log.contains("how hot"));
}

#[test]
fn who_may_come_in_is_told_by_names_origins_and_tokens() {
    let root = two_namespaces();
    let token = token(&root, &["laptop"]);
    let mut server = Server::start(&root, &["--no-refresh"]);
    server.answers(Some(&token));
    let port = server.address.port();
    let own = format!("http://localhost:{port}");
    let host = format!("localhost:{port}");
    let with = |changed: &[(&str, &str)]| {
        let params = json!({ "name": "search", "arguments": { "query": "oven degrees" } });
        let mut all: Vec<(&str, &str)> = headers(Some(&token), "tools/call", &params);
        for (name, _) in changed {
            all.retain(|(other, _)| other != name);
        }
        all.extend(changed.iter().filter(|(_, value)| *value != "-"));
        server.send(&request("POST /mcp HTTP/1.1", &all, &message("tools/call", params)))
    };
    assert_eq!(with(&[("Host", &host), ("Origin", &own)]).status, 200);
    let refused = |changed: &[(&str, &str)], status: u16| {
        let reply = with(changed);
        assert_eq!(reply.status, status, "{:.100?}: {reply:?}", changed);
        assert_eq!(reply.header("www-authenticate").is_some(), status == 401, "{reply:?}");
        assert!(!reply.body.contains("220 degrees"), "{reply:?}");
    };
    let wrong = [token.as_str(), "x"].concat();
    let shorter = &token[..token.len() - 1];
    let long = format!("Bearer {}", "a".repeat(20_000));
    let longest = format!("Bearer {}", "a".repeat(200_000));
    let right = format!("Bearer {token}");
    let [wrong, shorter] = [wrong.as_str(), shorter].map(|token| format!("Bearer {token}"));
    let basic = format!("Basic {token}");
    for (status, name, values) in [
        (403, "Host", &["evil.example", "localhost.evil.example", "10.0.0.1"][..]),
        (400, "Host", &["-", "a b"]),
        (403, "Origin", &["null", "http://evil.example", "http://localhost:1"]),
        (401, "Authorization", &["-", &wrong, &shorter, &basic, "Bearer", &long]),
        (431, "Authorization", &[&longest]),
    ] {
        values.iter().for_each(|value| refused(&[(name, value)], status));
    }
    refused(&[("Host", "localhost"); 2], 400);
    refused(&[("Authorization", right.as_str()); 2], 401);
    // This also holds where nothing is revealed.
    assert_eq!(server.request("GET /health HTTP/1.1", &[("Host", "evil.example")], "").status, 403);
    let absolute = "GET http://evil.example/health HTTP/1.1";
    assert_eq!(server.request(absolute, &[("Host", "localhost")], "").status, 403);
    server.answers(Some(&token));
}

#[test]
fn an_address_that_others_reach_needs_a_token_and_a_short_one_is_refused() {
    let root = two_namespaces();
    let refused = |address: &str, token: Option<&str>| {
        let mut command = tamis(&root);
        command.args(["mcp", "--http", address, "--no-refresh"]).envs(token.map(|token| ("TAMIS_MCP_TOKEN", token)));
        let output = command.output().expect("it runs");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, error) = refused("0.0.0.0:0", None);
    assert!(code == Some(2) && error.contains("TAMIS_MCP_TOKEN") && error.contains("127.0.0.1"), "{error}");
    let (code, error) = refused("127.0.0.1:0", Some("hunter2"));
    assert!(code == Some(2) && error.contains("16 to 512") && !error.contains("hunter2"), "{error}");

    let mut server = Server::of(
        tamis(&root)
            .args(["mcp", "--http", "0.0.0.0:0", "--no-refresh"])
            .env("TAMIS_MCP_TOKEN", "a-token-that-is-long-enough"),
    );
    server.address.set_ip([127, 0, 0, 1].into());
    server.answers(Some("a-token-that-is-long-enough"));
    assert_eq!(server.call(None, "search", json!({ "query": "oven" })).status, 401);
}

#[test]
fn a_session_belongs_to_the_token_that_opened_it() {
    let root = two_namespaces();
    let (one, other) = (token(&root, &["one"]), token(&root, &["other"]));
    let mut server = Server::start(&root, &["--no-refresh"]);
    let session = Session::open(&server, Some(&one), "2025-06-18");
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }).to_string();
    let listed = session.send("POST", &list);
    assert!(listed.status == 200 && listed.body.contains("\"search\""), "{listed:?}");
    let stranger = Session { token: Some(other), ..session.clone() };
    for method in ["POST", "GET", "DELETE"] {
        let reply = stranger.send(method, if method == "POST" { &list } else { "" });
        assert_eq!(reply.status, 404, "{method}: {reply:?}");
    }
    let unknown = Session { id: "00000000-0000-0000-0000-000000000000".to_owned(), ..stranger };
    assert_eq!(unknown.send("POST", &list).status, 404);
    assert_eq!(session.send("POST", &list).status, 200, "it was not ended by another");
    server.answers(Some(&one));
}
