//! How a server ends: in good order, at once, and with nothing left behind; and how it keeps its index fresh until then.

use crate::support::{Server, headers, message, receive, request, tamis, two_namespaces};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// A tree that takes a while to index.
fn large(root: &Path, files: usize) {
    for number in 0..files {
        let sections: String = (0..10)
            .map(|section| format!("\n## Part {section}\n\nHow the glacier of note {number} moves, part {section}.\n"))
            .collect();
        fs::write(root.join(format!("note-{number}.md")), format!("# Note {number}\n{sections}")).expect("written");
    }
}

/// Whether another process can write the index now.
fn can_be_written(root: &Path) {
    let output = tamis(root).args(["index", "-q"]).output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn calls_in_flight_are_answered_before_the_end() {
    let directory = two_namespaces();
    let mut server = Server::start(directory.path(), &["--no-refresh"]);
    server.answers(None);
    let params = json!({ "name": "search", "arguments": { "query": "how hot should the oven be" } });
    let call = request("POST /mcp HTTP/1.1", &headers(None, "tools/call", &params), &message("tools/call", params));
    let mut streams: Vec<_> = (0..20).map(|_| server.connect()).collect();
    for stream in &mut streams {
        stream.write_all(&call).expect("sent");
    }
    // The first answer is there: the others are being worked on.
    let first = receive(&mut streams[0]);
    assert_eq!(first.status, 200, "{first:?}");
    server.terminate();
    for stream in &mut streams[1..] {
        let reply = receive(stream);
        assert!(reply.status == 200 && reply.body.contains("220 degrees"), "{reply:?}");
    }
    let (code, took) = server.ended(Duration::from_secs(8));
    assert_eq!(code, Some(0), "{}", server.log());
    println!("ended {took:?} after the last answer");
    assert!(std::net::TcpStream::connect(server.address).is_err());
    can_be_written(directory.path());
}

#[test]
fn idle_connections_and_open_streams_do_not_hold_up_the_end() {
    let directory = two_namespaces();
    let mut server = Server::start(directory.path(), &["--no-refresh"]);
    let initialize = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } } });
    let mut plain = vec![
        ("Host", "localhost"),
        ("Accept", "application/json, text/event-stream"),
        ("Content-Type", "application/json"),
    ];
    let opened = server.request("POST /mcp HTTP/1.1", &plain, &initialize.to_string());
    let session = opened.header("mcp-session-id").expect("a session").to_owned();
    plain.push(("Mcp-Session-Id", &session));
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string();
    assert_eq!(server.request("POST /mcp HTTP/1.1", &plain, &initialized).status, 202);
    let mut stream = server.connect();
    stream.write_all(&request("GET /mcp HTTP/1.1", &plain, "")).expect("sent");
    let _idle = server.connect();
    std::thread::sleep(Duration::from_millis(200));
    server.terminate();
    let (code, took) = server.ended(Duration::from_secs(4));
    assert_eq!(code, Some(0));
    assert!(took < Duration::from_secs(3), "{took:?}");
}

#[test]
fn the_end_comes_in_the_midst_of_an_index_run_and_leaves_no_lock() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let root = directory.path();
    fs::create_dir_all(root.join(".tamis")).expect("made");
    large(root, 1500);
    let mut server = Server::start(root, &[]);
    // It answers before there is an index.
    let list = server.rpc(None, "tools/list", json!({}));
    assert!(list.status == 200 && list.body.contains("\"search\""), "{list:?}");
    std::thread::sleep(Duration::from_millis(500));
    server.terminate();
    let (code, took) = server.ended(Duration::from_secs(4));
    assert_eq!(code, Some(0), "{}", server.log());
    println!("ended within {took:?}");
    assert!(took < Duration::from_secs(2), "{took:?}");
    can_be_written(root);
    let search = tamis(root).args(["search", "how does the glacier move"]).output().expect("it runs");
    assert_eq!(search.status.code(), Some(0));
}

/// Where a search over HTTP finds a word, within a time.
fn found_within(server: &Server, word: &str, most: Duration) -> Duration {
    let started = Instant::now();
    loop {
        let reply = server.call(None, "search", json!({ "query": word }));
        assert_eq!(reply.status, 200, "{reply:?}");
        if reply.json()["result"]["structuredContent"]["results"].as_array().is_some_and(|results| !results.is_empty())
        {
            return started.elapsed();
        }
        assert!(started.elapsed() < most, "{word} is not found after {most:?}: {}", server.log());
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn changes_of_the_tree_are_found_and_so_is_what_another_process_indexes() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let root = directory.path();
    fs::create_dir_all(root.join(".tamis")).expect("made");
    fs::write(root.join("oven.md"), "# Oven\n\nHeat the oven to 220 degrees before baking.\n").expect("written");
    let server = Server::start(root, &[]);
    found_within(&server, "how hot should the oven be", Duration::from_secs(30));
    fs::write(root.join("quokka.md"), "# Quokka\n\nThe quokka smiles at the visitor.\n").expect("written");
    found_within(&server, "quokka smiles", Duration::from_secs(30));
    drop(server);

    let server = Server::start(root, &["--no-refresh"]);
    found_within(&server, "quokka smiles", Duration::from_secs(30));
    fs::write(root.join("numbat.md"), "# Numbat\n\nThe numbat eats termites all day.\n").expect("written");
    let none = server.call(None, "search", json!({ "query": "numbat termites" }));
    assert!(!none.body.contains("numbat.md"), "{none:?}");
    can_be_written(root);
    found_within(&server, "numbat termites", Duration::from_secs(30));
}

/// Starts a server on standard input and output, and has it answer.
fn on_stdio(root: &Path, models: &str) -> std::process::Child {
    let mut child = tamis(root)
        .args(["mcp"])
        .env("TAMIS_INDEX_MODELS", models)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let initialize = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } } });
    writeln!(child.stdin.as_mut().expect("piped"), "{initialize}").expect("sent");
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().expect("piped")).read_line(&mut line).expect("an answer");
    let answer: Value = serde_json::from_str(&line).expect("JSON");
    assert_eq!(answer["result"]["serverInfo"]["name"], "tamis", "{line}");
    child
}

fn ends_within(child: &mut std::process::Child, most: Duration) -> Option<i32> {
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("its state") {
            println!("ended within {:?}", started.elapsed());
            return status.code();
        }
        if started.elapsed() > most {
            child.kill().expect("killed");
            panic!("it goes on after {most:?}");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_client_that_goes_ends_the_server_in_the_midst_of_embedding() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let root = directory.path();
    fs::create_dir_all(root.join(".tamis")).expect("made");
    large(root, 150);
    can_be_written(root);
    // Standard input closed.
    let mut child = on_stdio(root, "static,minilm");
    std::thread::sleep(Duration::from_millis(1500));
    drop(child.stdin.take());
    assert_eq!(ends_within(&mut child, Duration::from_secs(1)), Some(0));
    can_be_written(root);
    // A termination.
    let mut child = on_stdio(root, "static,minilm");
    std::thread::sleep(Duration::from_millis(1500));
    let killed = std::process::Command::new("kill").arg("-TERM").arg(child.id().to_string()).status().expect("it runs");
    assert!(killed.success());
    assert_eq!(ends_within(&mut child, Duration::from_secs(1)), Some(0));
    can_be_written(root);
    // Standard output closed, then asked once more.
    let mut child = on_stdio(root, "static,minilm");
    drop(child.stdout.take());
    let mut input = child.stdin.take().expect("piped");
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
    let _ = writeln!(input, "{initialized}\n{list}");
    let code = ends_within(&mut child, Duration::from_secs(2));
    assert!(matches!(code, Some(0 | 2)), "{code:?}");
    can_be_written(root);
}
