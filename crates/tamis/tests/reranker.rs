//! A reranker of the user's choice in a search, against an endpoint in the same process.

mod support;

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use support::{Tree, paths, search};
use tamis::config::{Config, Origins};
use tamis::search::{Judge, JudgedPassage};
use tamis::{Answer, Index, Location, SearchRequest};

const QUERY: &str = "how hot must the oven be for bread";

/// A reranker's endpoint.
struct Endpoint {
    url: String,
    requests: Arc<Mutex<Vec<Value>>>,
}

impl Endpoint {
    /// Answers each request with the status and the body that `reply` makes of its documents; `None`: never.
    fn start(reply: impl Fn(&[&str]) -> Option<(u16, String)> + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}/v1", listener.local_addr().expect("an address"));
        let requests = Arc::new(Mutex::new(Vec::new()));
        let received = requests.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let stream = stream.expect("a connection");
                let request = request(&stream);
                received.lock().expect("no panic").push(request.clone());
                let documents = request["documents"].as_array().expect("documents").iter();
                let documents: Vec<&str> = documents.map(|text| text.as_str().expect("a text")).collect();
                match reply(&documents) {
                    Some((status, body)) => respond(stream, status, &body),
                    None => std::thread::sleep(Duration::from_secs(2)),
                }
            }
        });
        Endpoint { url, requests }
    }

    /// An endpoint that takes what speaks of a shop for an answer, and nothing else.
    fn for_shops() -> Self {
        Self::start(|documents| {
            Some((200, scores(documents, |text| if text.contains("shop") { 0.999 } else { 0.001 })))
        })
    }

    fn requests(&self) -> Vec<Value> {
        self.requests.lock().expect("no panic").clone()
    }
}

fn scores(documents: &[&str], score: impl Fn(&str) -> f64) -> String {
    let of = |(index, text): (usize, &&str)| json!({ "index": index, "relevance_score": score(text) });
    json!({ "results": documents.iter().enumerate().map(of).rev().collect::<Vec<_>>() }).to_string()
}

fn request(stream: &TcpStream) -> Value {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        reader.read_line(&mut head).expect("a head");
    }
    assert!(head.starts_with("POST /v1/rerank "), "{head}");
    let lower = head.to_lowercase();
    let length = lower.split("content-length: ").nth(1).and_then(|rest| rest.lines().next()).map(str::trim);
    let mut body = vec![0; length.expect("a length").parse().expect("a number")];
    reader.read_exact(&mut body).expect("a body");
    serde_json::from_slice(&body).expect("JSON")
}

fn respond(mut stream: TcpStream, status: u16, body: &str) {
    let head = format!("HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", body.len());
    let _ = stream.write_all(format!("{head}{body}").as_bytes());
}

fn tree() -> Tree {
    Tree::new(&[
        ("oven.md", "# The oven\n\nHeat the oven to 220 degrees before the bread goes in.\n"),
        ("shop.md", "# The shop\n\nIn summer the shop sells bread and lemonade at the corner.\n"),
        ("tide.md", "# The tide\n\nShips wait for the tide before they leave the harbour.\n"),
        ("violin.md", "# The violin\n\nThe bow needs rosin, and the strings are tuned in fifths.\n"),
    ])
}

/// The configuration of a user with these models and settings.
fn configured(tree: &Tree, models: &str, settings: &[(&str, &str)]) -> Config {
    let user = tree.root().join(".user/config.toml");
    std::fs::create_dir_all(user.parent().expect("a directory")).expect("made");
    std::fs::write(&user, models).expect("written");
    let usual = [("index.models", "static"), ("search.gate", "false"), ("rerank.model", "reader")];
    let flags = usual.iter().chain(settings).map(|&(key, value)| (key.into(), value.into(), "test".into()));
    let origins = Origins { user: Some(user), flags: flags.collect(), ..Origins::default() };
    Config::load(&origins, None).expect("a valid configuration")
}

fn reader(url: &str) -> String {
    format!("[models.reader]\nprovider = \"rerank\"\nurl = \"{url}\"\nmodel = \"m\"\nmax_retries = 0\n")
}

fn index(tree: &Tree, url: &str, settings: &[(&str, &str)]) -> Index {
    let index = Index::at(Location::at(tree.root(), None), configured(tree, &reader(url), settings)).expect("opened");
    index.refresh().expect("refreshed");
    index
}

fn ask(index: &Index) -> Answer {
    search(index, SearchRequest { explain: true, ..SearchRequest::new(QUERY) })
}

/// Asks and asserts that the scores alone decided, with a warning. Returns the warning.
fn unread(index: &Index) -> String {
    let answer = ask(index);
    assert_eq!(answer.results[0].path, "oven.md");
    assert!(!answer.cut.diagnostics.contains_key("judge") && answer.results[0].judged.is_none());
    let warning = answer.warnings.into_iter().find(|warning| warning.starts_with("decided without "));
    warning.expect("a warning")
}

#[test]
fn a_reranker_decides_and_no_pair_is_sent_twice() {
    let (tree, endpoint) = (tree(), Endpoint::for_shops());
    let index = index(&tree, &endpoint.url, &[("rerank.slope", "0.9")]);
    let fast = SearchRequest { fast: true, ..SearchRequest::new(QUERY) };
    assert_eq!(search(&index, fast.clone()).results[0].path, "oven.md");
    assert!(endpoint.requests().is_empty(), "--fast asks nobody");

    let answer = ask(&index);
    assert_eq!(paths(&answer)[0], "shop.md");
    let judged = 1.0 / (1.0 + (-0.9 * (0.999f64 / 0.001).ln()).exp());
    assert!((answer.results[0].judged.expect("read") - judged).abs() < 1e-6 && answer.warnings.is_empty());
    let name = answer.cut.diagnostics["judge"].as_str().expect("a name");
    assert!(name.starts_with("rerank:m@127.0.0.1:"), "{name}");
    let requests = endpoint.requests();
    assert_eq!((requests.len(), &requests[0]["query"], &requests[0]["model"]), (1, &json!(QUERY), &json!("m")));
    let documents = requests[0]["documents"].as_array().expect("documents");
    assert_eq!(answer.cut.diagnostics["judged"], documents.len());
    assert!(documents.iter().any(|text| text.as_str().is_some_and(|text| text.contains("220 degrees"))));

    assert_eq!(ask(&index).results[0].path, "shop.md");
    assert_eq!(search(&index, fast).results[0].path, "oven.md");
    assert_eq!(endpoint.requests().len(), 1);
}

#[test]
fn search_judge_turns_it_off_and_a_long_query_does_without() {
    let (tree, endpoint) = (tree(), Endpoint::for_shops());
    let off = index(&tree, &endpoint.url, &[("search.judge", "off")]);
    assert!(!ask(&off).cut.diagnostics.contains_key("judge"));
    let usual = index(&tree, &endpoint.url, &[]);
    search(&usual, SearchRequest::new(format!("{QUERY} {}", "please ".repeat(60))));
    assert!(endpoint.requests().is_empty());
    // Without a calibration it compares.
    let answer = ask(&usual);
    assert_eq!(endpoint.requests().len(), 1);
    let judged =
        answer.pool.expect("explained").into_iter().find(|entry| entry.path == "shop.md").expect("there").judged;
    assert!((judged.expect("read") - 0.999).abs() < 1e-6);
}

#[test]
fn depth_and_calibration_are_settings() {
    let (tree, endpoint) = (tree(), Endpoint::for_shops());
    let settings = [("rerank.depth", "1"), ("rerank.slope", "0.5"), ("rerank.offset", "-1")];
    let index = index(&tree, &endpoint.url, &settings);
    let answer = ask(&index);
    assert_eq!(endpoint.requests()[0]["documents"].as_array().map(Vec::len), Some(1));
    let judged: Vec<f64> = answer.pool.expect("explained").iter().filter_map(|entry| entry.judged).collect();
    let odds = 0.5 * (0.001f64 / 0.999).ln() - 1.0;
    assert!(judged.len() == 1 && (judged[0] - 1.0 / (1.0 + (-odds).exp())).abs() < 1e-6, "{judged:?}");
    assert!(answer.cut.diagnostics["judge"].as_str().is_some_and(|name| name.ends_with("#0.5,-1")));
}

#[test]
fn a_server_that_fails_leaves_the_decision_to_the_scores() {
    let cases: [(u16, &str, &str); 4] = [
        (500, "busy", "status 500: busy"),
        (401, "who are you", "check the API key"),
        (200, "<html>", "not a reranker's answer"),
        (200, "{\"results\": [", "the answer ends after"),
    ];
    for (status, body, named) in cases {
        let (tree, endpoint) = (tree(), Endpoint::start(move |_| Some((status, body.to_owned()))));
        let index = index(&tree, &endpoint.url, &[]);
        let warning = unread(&index);
        assert!(warning.contains("rerank:m@127.0.0.1") && warning.contains(named), "{warning}");
        assert_eq!(unread(&index), warning, "a while passes before it is asked again");
        assert_eq!(endpoint.requests().len(), 1);
    }
}

#[test]
fn a_server_that_is_not_there_is_named() {
    let gone = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    let warning = unread(&index(&tree(), &format!("http://me:pass@{gone}/v1"), &[]));
    assert!(warning.contains("connection refused") && !warning.contains("pass"), "{warning}");
}

#[test]
fn a_search_waits_no_longer_than_the_limit() {
    let (tree, endpoint) = (tree(), Endpoint::start(|_| None));
    let index = index(&tree, &endpoint.url, &[("rerank.timeout_ms", "100")]);
    let began = Instant::now();
    let warning = unread(&index);
    assert!(warning.contains("no answer in time"), "{warning}");
    assert!(began.elapsed() < Duration::from_millis(1500), "{:?}", began.elapsed());
}

#[test]
fn a_directory_without_a_model_is_named() {
    let tree = tree();
    let config = configured(&tree, "[models.reader]\nprovider = \"cross-encoder\"\npath = \"nowhere\"\n", &[]);
    let index = Index::at(Location::at(tree.root(), None), config).expect("opened");
    index.refresh().expect("refreshed");
    let warning = unread(&index);
    assert!(warning.contains("decided without cross-encoder:reader: ") && warning.contains("nowhere"), "{warning}");
}

/// A judge that the program gives.
#[derive(Debug)]
struct Own;

impl Judge for Own {
    fn name(&self) -> &str {
        "own"
    }

    fn judge(&self, _: &str, passages: &[JudgedPassage<'_>]) -> Result<Vec<Option<f64>>, String> {
        Ok(passages.iter().map(|passage| Some(if passage.text.contains("rosin") { 0.999 } else { 0.001 })).collect())
    }
}

#[test]
fn a_judge_of_the_program_wins() {
    let (tree, endpoint) = (tree(), Endpoint::for_shops());
    let config = configured(&tree, &reader(&endpoint.url), &[]);
    let index = Index::builder(tree.root()).config(config).judge(Arc::new(Own)).open().expect("opened");
    index.refresh().expect("refreshed");
    assert_eq!(ask(&index).cut.diagnostics["judge"], "own");
    assert!(endpoint.requests().is_empty());
}
