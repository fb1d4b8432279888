//! The end of a server: in good order, at once, and with nothing left behind; and the freshness of its index until
//! then.

use crate::support::{
    PATIENCE, Root, Server, Session, end_of, headers, initialize, initialized, message, receive, request, succeed,
    tamis, terminate, two_namespaces, two_served_namespaces,
};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Stdio};
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

/// The number of documents in the index now.
fn documents(root: &Path) -> u64 {
    let output = tamis(root).args(["status", "--json"]).output().expect("it runs");
    let status: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    status["documents"].as_u64().unwrap_or_default()
}

/// Asserts that another process can write the index now.
fn can_be_written(root: &Path) {
    succeed(root, &["index", "-q"]);
}

#[test]
fn calls_in_flight_are_answered_before_the_end() {
    let (root, mut server) = two_served_namespaces();
    server.answers(None);
    let params = json!({ "name": "search", "arguments": { "query": "how hot should the oven be" } });
    let call = request("POST /mcp HTTP/1.1", &headers(None, "tools/call", &params), &message("tools/call", params));
    let mut streams: Vec<_> = (0..20).map(|_| server.connect()).collect();
    for stream in &mut streams {
        stream.write_all(&call).expect("sent");
    }
    // The first answer has arrived, and the others are in progress.
    let first = receive(&mut streams[0]);
    assert_eq!(first.status, 200, "{first:?}");
    server.terminate();
    for stream in &mut streams[1..] {
        let reply = receive(stream);
        assert!(reply.status == 200 && reply.body.contains("220 degrees"), "{reply:?}");
    }
    let (code, took) = server.ended();
    assert_eq!(code, Some(0), "{}", server.log());
    println!("ended {took:?} after the last answer");
    assert!(std::net::TcpStream::connect(server.address).is_err());
    can_be_written(&root);
}

#[test]
fn idle_connections_and_open_streams_do_not_hold_up_the_end() {
    let root = two_namespaces();
    // The duration of the end with nothing to delay it.
    let mut alone = Server::start(&root, &["--no-refresh"]);
    alone.answers(None);
    alone.terminate();
    let (code, reference) = alone.ended();
    assert_eq!(code, Some(0));

    let mut server = Server::start(&root, &["--no-refresh"]);
    let session = Session::open(&server, None, "2025-06-18");
    let mut stream = server.connect();
    stream.write_all(&session.request("GET", "")).expect("sent");
    // The stream is open once its head has arrived.
    let mut head = String::new();
    BufReader::new(&mut stream).read_line(&mut head).expect("a head");
    assert!(head.contains(" 200 "), "{head}");
    let _idle = server.connect();
    server.terminate();
    let (code, took) = server.ended();
    assert_eq!(code, Some(0));
    // Calls in progress would get five seconds; here nothing is in progress.
    assert!(took < reference * 4 + Duration::from_secs(4), "{took:?}, and {reference:?} without connections");
}

#[test]
fn the_end_comes_in_the_midst_of_an_index_run_and_leaves_no_lock() {
    let root = Root::new();
    const FILES: u64 = 1500;
    large(&root, FILES as usize);
    let mut server = Server::start(&root, &[]);
    // It answers before the index exists.
    let list = server.rpc(None, "tools/list", json!({}));
    assert!(list.status == 200 && list.body.contains("\"search\""), "{list:?}");
    // Some files are indexed, and others are not.
    server.until("the first document", || documents(&root) > 0);
    server.terminate();
    let (code, took) = server.ended();
    assert_eq!(code, Some(0), "{}", server.log());
    let indexed = documents(&root);
    println!("ended within {took:?}, with {indexed} of {FILES} files indexed");
    assert!(indexed < FILES, "the end did not come in the midst");
    can_be_written(&root);
    succeed(&root, &["search", "how does the glacier move"]);
}

/// Waits until a search over HTTP finds a word.
fn found(server: &Server, word: &str) {
    server.until(word, || {
        let reply = server.call(None, "search", json!({ "query": word }));
        assert_eq!(reply.status, 200, "{reply:?}");
        let results = &reply.json()["result"]["structuredContent"]["results"];
        results.as_array().is_some_and(|results| !results.is_empty())
    });
}

#[test]
fn changes_of_the_tree_are_found_and_so_is_what_another_process_indexes() {
    let root = Root::new();
    fs::write(root.join("oven.md"), "# Oven\n\nHeat the oven to 220 degrees before baking.\n").expect("written");
    let server = Server::start(&root, &[]);
    found(&server, "how hot should the oven be");
    fs::write(root.join("quokka.md"), "# Quokka\n\nThe quokka smiles at the visitor.\n").expect("written");
    found(&server, "quokka smiles");
    drop(server);

    let server = Server::start(&root, &["--no-refresh"]);
    found(&server, "quokka smiles");
    fs::write(root.join("numbat.md"), "# Numbat\n\nThe numbat eats termites all day.\n").expect("written");
    let none = server.call(None, "search", json!({ "query": "numbat termites" }));
    assert!(!none.body.contains("numbat.md"), "{none:?}");
    can_be_written(&root);
    found(&server, "numbat termites");
}

/// Starts a server on standard input and output, and waits for its first answer.
fn on_stdio(root: &Path, models: &str) -> Child {
    let mut command = tamis(root);
    command.args(["mcp", "--output-schemas"]).env("TAMIS_INDEX_MODELS", models);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    writeln!(child.stdin.as_mut().expect("piped"), "{}", initialize("2025-06-18")).expect("sent");
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().expect("piped")).read_line(&mut line).expect("an answer");
    let answer: Value = serde_json::from_str(&line).expect("JSON");
    assert_eq!(answer["result"]["serverInfo"]["name"], "tamis", "{line}");
    child
}

/// Sends a line to a server on standard input and output and reads its answer.
fn ask(child: &mut Child, message: &Value) -> Value {
    writeln!(child.stdin.as_mut().expect("piped"), "{message}").expect("sent");
    let mut output = BufReader::new(child.stdout.as_mut().expect("piped"));
    loop {
        let mut line = String::new();
        assert!(output.read_line(&mut line).expect("an answer") > 0, "it ended");
        let answer: Value = serde_json::from_str(&line).expect("JSON");
        if answer["id"] == message["id"] {
            return answer;
        }
    }
}

/// Waits until the better model is embedding.
fn embeds(child: &mut Child) {
    writeln!(child.stdin.as_mut().expect("piped"), "{}", initialized()).expect("sent");
    let started = Instant::now();
    for id in 2.. {
        let params = json!({ "name": "get_status", "arguments": {} });
        let answer = ask(child, &json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }));
        if answer["result"]["structuredContent"]["embedding"].is_object() {
            return;
        }
        assert!(started.elapsed() < PATIENCE, "it does not embed: {answer}");
        // A server that is asked all the time postpones its own work.
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// Passages that the better model has not embedded yet.
fn pending(root: &Path) -> u64 {
    let mut status = tamis(root);
    let output = status.args(["status", "--json"]).env("TAMIS_INDEX_MODELS", "static,minilm").output().expect("runs");
    let status: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let of = |model: &Value| model["coverage"]["embedded"].as_u64().unwrap_or_default();
    let models = status["models"].as_array().expect("models").iter();
    let better = models.filter(|model| model.to_string().contains("minilm")).map(of).sum::<u64>();
    status["passages"].as_u64().expect("passages").saturating_sub(better)
}

#[test]
fn a_client_that_goes_ends_the_server_in_the_midst_of_embedding() {
    let root = Root::new();
    large(&root, 150);
    can_be_written(&root);
    // Standard input closed, and a termination.
    let ends: [fn(&mut Child); 2] = [|child| drop(child.stdin.take()), |child| terminate(child)];
    for end in ends {
        let mut child = on_stdio(&root, "static,minilm");
        embeds(&mut child);
        end(&mut child);
        assert_eq!(end_of(&mut child), Some(Some(0)));
        assert!(pending(&root) > 0, "the end waited for all to be embedded");
        can_be_written(&root);
    }
    // Standard output closed, then asked once more.
    let mut child = on_stdio(&root, "static,minilm");
    drop(child.stdout.take());
    let mut input = child.stdin.take().expect("piped");
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
    let _ = writeln!(input, "{}\n{list}", initialized());
    let code = end_of(&mut child).expect("it ends");
    assert!(matches!(code, Some(0 | 2)), "{code:?}");
    can_be_written(&root);
}
