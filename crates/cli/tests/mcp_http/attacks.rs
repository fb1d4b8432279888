//! Bytes that no client should send, and floods of them.

use crate::support::{Server, headers, message, receive, request, token, two_namespaces, two_served_namespaces};
use serde_json::json;
use std::fs;
use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};

/// More memory than a server of a small index may ever use.
const MEGABYTES: u64 = 400;

#[test]
fn messages_too_long_too_slow_or_malformed_are_refused() {
    let (_root, mut server) = two_served_namespaces();
    let params = json!({ "name": "search", "arguments": { "query": "oven" } });
    let all = headers(None, "tools/call", &params);
    let post = |extra: &[(&str, &str)], body: &str| {
        let headers: Vec<(&str, &str)> = all.iter().copied().chain(extra.iter().copied()).collect();
        server.send(&request("POST /mcp HTTP/1.1", &headers, body))
    };

    // Too long, declared or discovered.
    assert_eq!(post(&[("Content-Length", "1000000000000")], "{").status, 413);
    assert_eq!(post(&[], &" ".repeat((1 << 20) + 1)).status, 413);
    let chunk = format!("10000\r\n{}\r\n", "a".repeat(0x10000));
    assert_eq!(post(&[("Transfer-Encoding", "chunked"), ("Content-Length", "5")], &chunk.repeat(20)).status, 413);
    for length in ["-1", "1e3", "99999999999999999999999", "0x10", "1, 2", " "] {
        let reply = post(&[("Content-Length", length)], "{}");
        assert!((400..500).contains(&reply.status), "{length}: {reply:?}");
    }

    // Two contradictory message lengths: at most one request is seen, and the smuggled one is not.
    let smuggled = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";
    for extra in [
        &[("Content-Length", "4"), ("Transfer-Encoding", "chunked")][..],
        &[("Transfer-Encoding", "chunked"), ("Content-Length", "4")],
        &[("Content-Length", "4"), ("Content-Length", "48")],
        &[("Transfer-Encoding", "identity, chunked, gzip")],
        &[("Transfer-Encoding", "\u{b}chunked")],
        &[("Transfer-Encoding ", "chunked")],
    ] {
        let body = format!("0\r\n\r\n{smuggled}");
        let reply = post(extra, &body);
        assert!(reply.status != 200 && !reply.body.contains("ok\n"), "{extra:?}: {reply:?}");
    }
    for raw in [
        &b"POST /mcp HTTP/1.1\nHost: localhost\nContent-Length: 2\n\n{}"[..],
        b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nX: a\rb\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nX: a\0b\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n folded: x\r\n\r\n",
        b"POST /mcp HTTP/9.9\r\nHost: localhost\r\n\r\n",
        b"POST /mcp\r\n\r\n",
        b"GET http://[::1/mcp HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"\0\0\0\0\0\0\0\0\r\n\r\n",
    ] {
        let mut stream = server.connect();
        stream.write_all(raw).expect("sent");
        stream.shutdown(std::net::Shutdown::Write).expect("shut");
        let reply = receive(&mut stream);
        assert!(reply.status != 200, "{:?}: {reply:?}", String::from_utf8_lossy(raw));
    }
    let many: Vec<String> = (0..200).map(|number| format!("X-{number}")).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|name| (name.as_str(), "x")).collect();
    assert_eq!(post(&many, "{}").status, 431);
    server.answers(None);
    assert!(server.peak_megabytes() < MEGABYTES, "{} MB", server.peak_megabytes());
}

#[test]
fn what_is_no_message_of_the_protocol_is_an_error_and_nothing_more() {
    let (_root, mut server) = two_served_namespaces();
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let deep_object = format!("{}1{}", "{\"a\":".repeat(100_000), "}".repeat(100_000));
    let good = message("tools/list", json!({}));
    let plain = headers(None, "tools/list", &json!({}));
    for body in [
        "",
        "null",
        "\u{0}",
        "{\"jsonrpc\":\"2.0\"}",
        &deep,
        &deep_object,
        &good.replace("\"id\":1", "\"id\":1e400"),
        &good.replace("\"id\":1", "\"id\":123456789012345678901234567890"),
        &good.replace("\"id\":1", "\"id\":null"),
        &good.replace("\"id\":1", "\"id\":{}"),
        &good.replace("\"id\":1", "\"id\":-1.5"),
        &good.replace("2026-07-28", "1999-01-01"),
    ] {
        let reply = server.request("POST /mcp HTTP/1.1", &plain, body);
        let is_error = (400..500).contains(&reply.status) || reply.body.contains("\"error\"");
        assert!(is_error, "{:.80}: {reply:?}", body);
    }
    for version in ["1999-01-01", "2026-07-28, 2025-06-18", "\u{e9}", "x"] {
        let is_version = |name: &str| name == "MCP-Protocol-Version";
        let headers = plain.iter().map(|&(name, value)| (name, if is_version(name) { version } else { value }));
        let headers: Vec<(&str, &str)> = headers.collect();
        let reply = server.request("POST /mcp HTTP/1.1", &headers, &good);
        assert!((400..500).contains(&reply.status), "{version}: {reply:?}");
    }
    // A repeated identifier is a request like any other.
    for _ in 0..3 {
        server.answers(None);
    }
    assert!(server.peak_megabytes() < MEGABYTES, "{} MB", server.peak_megabytes());
}

#[test]
fn whoever_only_holds_connections_keeps_nobody_out() {
    let root = two_namespaces();
    let user = root.join("user");
    fs::create_dir_all(&user).expect("made");
    fs::write(user.join("config.toml"), "[mcp]\nmax_connections = 40\n").expect("written");
    let mut server = Server::start(&root, &["--no-refresh"]);
    let params = json!({ "name": "search", "arguments": { "query": "oven" } });
    let whole = request("POST /mcp HTTP/1.1", &headers(None, "tools/call", &params), &message("tools/call", params));
    let mut held = Vec::new();
    for number in 0..200 {
        let mut stream = server.connect();
        // Nothing, half a line, half a head, half a message.
        let sent = [0, 10, 60, whole.len() - 10][number % 4];
        let _ = stream.write_all(&whole[..sent]);
        held.push(stream);
        if number % 25 == 0 {
            server.answers(None);
        }
    }
    server.answers(None);
    drop(held);
    server.answers(None);
}

/// Runs the server where a process may have only so many files open.
#[cfg(unix)]
#[test]
fn idle_connections_go_first_when_file_descriptors_are_used_up() {
    let root = two_namespaces();
    let mut command = std::process::Command::new("sh");
    let served = "ulimit -n 64 && exec \"$0\" mcp --output-schemas --http 127.0.0.1:0 --no-refresh";
    command.args(["-c", served, env!("CARGO_BIN_EXE_tamis")]).current_dir(&*root);
    command.env("TAMIS_CONFIG_HOME", root.join("user")).env("TAMIS_CACHE", root.join("cache"));
    command.env("TAMIS_INDEX_MODELS", "static").env_remove("TAMIS_MCP_TOKEN");
    let mut server = Server::of(&mut command);
    let started = Instant::now();
    let held: Vec<_> = (0..200).map(|_| server.connect()).collect();
    for _ in 0..5 {
        server.answers(None);
    }
    // A connection without a request is closed after 30 seconds in any case.
    assert!(started.elapsed() < Duration::from_secs(20), "five calls took {:?}", started.elapsed());
    drop(held);
    server.answers(None);
}

#[test]
fn a_message_that_does_not_come_is_given_up() {
    let (_root, server) = two_served_namespaces();
    let params = json!({ "name": "search", "arguments": { "query": "oven" } });
    let mut stream = server.connect();
    let mut all = headers(None, "tools/call", &params);
    all.push(("Content-Length", "1000"));
    stream.write_all(&request("POST /mcp HTTP/1.1", &all, "{\"jsonrpc\"")).expect("sent");
    // The client waits far longer than the server does.
    let reply = receive(&mut stream);
    assert_eq!(reply.status, 408, "{reply:?}");
}

#[test]
fn one_who_asks_too_often_waits_and_others_do_not() {
    let root = two_namespaces();
    let (one, other) = (token(&root, &["one"]), token(&root, &["other"]));
    let file = root.join("user/config.toml");
    let text = fs::read_to_string(&file).expect("there");
    fs::write(&file, format!("[mcp]\nrequests_per_minute = 30\n\n{text}")).expect("written");
    let mut server = Server::start(&root, &["--no-refresh"]);
    let replies: Vec<_> = (0..40).map(|_| server.rpc(Some(&one), "tools/list", json!({}))).collect();
    assert!(replies.iter().filter(|reply| reply.status == 200).count() >= 30);
    let refused = replies.iter().rfind(|reply| reply.status == 429).expect("one too many");
    let wait: u64 = refused.header("retry-after").expect("a time").parse().expect("seconds");
    assert!((1..=60).contains(&wait), "{wait}");
    // Guessed tokens are counted too, without taking anything from clients with a token.
    let guesses: Vec<u16> =
        (0..40).map(|_| server.rpc(Some("a-wrong-token-12345"), "tools/list", json!({})).status).collect();
    assert!(guesses.contains(&401) && guesses.last() == Some(&429), "{guesses:?}");
    server.answers(Some(&other));
}

#[test]
fn good_requests_are_answered_in_the_midst_of_a_flood() {
    let root = two_namespaces();
    let good = token(&root, &["good"]);
    let mut server = Server::start(&root, &["--no-refresh", "--log", "warn"]);
    let (answered, sent) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for attacker in 0..6 {
            let (server, sent, answered) = (&server, &sent, &answered);
            scope.spawn(move || {
                let wrong = "a-token-of-nobody-at-all";
                while answered.load(SeqCst) < 30 {
                    match attacker % 3 {
                        0 => drop(server.rpc(Some(wrong), "tools/list", json!({}))),
                        1 => drop(server.send(&[b'x'; 4000])),
                        _ => drop(server.connect()),
                    }
                    sent.fetch_add(1, SeqCst);
                }
            });
        }
        for _ in 0..3 {
            let (server, good, answered) = (&server, &good, &answered);
            scope.spawn(move || {
                for _ in 0..10 {
                    let reply = server.call(Some(good), "search", json!({ "query": "how hot should the oven be" }));
                    // Counted before it is checked, so that the flood ends even after a failure.
                    answered.fetch_add(1, SeqCst);
                    assert!(reply.status == 200 && reply.body.contains("220 degrees"), "{reply:?}");
                }
                answered.fetch_add(10, SeqCst);
            });
        }
    });
    println!("{} requests of attackers beside 30 good ones", sent.load(SeqCst));
    assert!(sent.load(SeqCst) > 30);
    server.answers(Some(&good));
    assert!(server.peak_megabytes() < MEGABYTES, "{} MB", server.peak_megabytes());
}
