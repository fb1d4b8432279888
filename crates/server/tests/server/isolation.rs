//! A caller that may read one of two namespaces learns nothing about the other, from any tool and any route.

use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use tamis::config::Config;
use tamis::{Index, Location, SourceSettings};
use tamis_server::{Caller, HttpOptions, Server, ServerOptions, Token, serve_http};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_util::sync::CancellationToken;

/// An index of two repositories with files of the same names.
fn index(directory: &Path) -> Arc<Index> {
    for (repository, animal) in [("open", "walrus"), ("sealed", "narwhal")] {
        let root = directory.join(repository);
        std::fs::create_dir_all(root.join("src")).expect("made");
        let page = format!("# The {animal}\n\nThe {animal} of {repository} lives in cold water and sings.\n");
        std::fs::write(root.join("animal.md"), page).expect("written");
        let code = format!("/// Sings like a {animal}.\npub fn sing_{animal}() -> u32 {{\n    42\n}}\n");
        std::fs::write(root.join("src/song.rs"), code).expect("written");
        std::fs::write(root.join(format!("{animal}.md")), format!("# {animal}\n\nOnly {repository} has this.\n"))
            .expect("written");
    }
    let mut config = Config::built_in();
    config.index.models = vec!["static".into()];
    let mut index = Index::at(Location::at(directory, None), config).expect("opens");
    let roots = ["open", "sealed"].map(|name| directory.join(name));
    index.add_sources(&roots, &SourceSettings::default()).expect("added");
    index.refresh().expect("indexed");
    Arc::new(index)
}

/// The answer without the caller's own words as an answer names those that nothing has: between quotation marks.
fn without_missing_words(answer: String, query: &str) -> String {
    query
        .split_whitespace()
        .fold(answer, |answer, word| answer.replace(&format!("\\\"{word}\\\""), "").replace(&format!("\"{word}\""), ""))
}

/// A server over HTTP with the tokens of one who may read `open`, of one who may read nothing and of one who may read everything.
struct Api {
    address: std::net::SocketAddr,
    stop: CancellationToken,
}

const OPEN: &str = "token-of-one-who-reads-open";
const NOBODY: &str = "token-of-one-who-reads-nothing";
const WIDE: &str = "token-of-one-who-reads-all";

impl Api {
    async fn start(index: &Arc<Index>) -> Api {
        let caller = |namespaces| Caller { namespaces, may_remember: true, may_judge: true, may_refresh: true };
        let token = |text: &str, namespaces| Token::plain(text, text, caller(namespaces)).expect("a token");
        let options = ServerOptions { parallel_calls: 2, caller: Caller::default(), output_schemas: true };
        let server = Server::new(index.clone(), options);
        let http = HttpOptions {
            api: true,
            requests_per_minute: None,
            tokens: vec![token(OPEN, Some(vec!["open".into()])), token(NOBODY, Some(Vec::new())), token(WIDE, None)],
            ..HttpOptions::at(([127, 0, 0, 1], 0).into())
        };
        let stop = CancellationToken::new();
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let stopped = stop.clone();
        tokio::spawn(async move {
            let listening = move |address| sender.send(address).expect("it is waited for");
            serve_http(server, http, stopped, listening).await.expect("it serves");
        });
        Api { address: receiver.await.expect("it listens"), stop }
    }

    /// The status, the head and the body of an answer.
    async fn send(&self, token: &str, Probe { line, headers, body }: &Probe) -> (u16, String, String) {
        let mut stream = tokio::net::TcpStream::connect(self.address).await.expect("it listens");
        let request = format!(
            "{line} HTTP/1.1\r\n{headers}Host: localhost\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\
             Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).await.expect("sent");
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).await.expect("an answer");
        let text = String::from_utf8(bytes).expect("UTF-8");
        let (head, body) = text.split_once("\r\n\r\n").expect("a whole head");
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        (status, head.to_owned(), body.to_owned())
    }
}

impl Drop for Api {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// What a caller sends: the first line of a request, further headers, and the body.
struct Probe {
    line: String,
    headers: String,
    body: String,
}

impl Probe {
    /// A line of the table: a route, a tool, or a method of the protocol for agents.
    fn new(text: &str) -> Probe {
        let (target, rest) = text.split_once(' ').expect("two words");
        if ["GET", "POST"].contains(&target) {
            let (path, body) = rest.split_once(' ').unwrap_or((rest, ""));
            return Probe { line: format!("{target} {path}"), headers: String::new(), body: body.to_owned() };
        }
        let given: Value = serde_json::from_str(rest).expect(text);
        match target.contains('/') {
            true => Probe::method(target, given),
            false => Probe::method("tools/call", json!({ "name": target, "arguments": given })),
        }
    }

    fn method(method: &str, mut params: Value) -> Probe {
        let name = params["name"].as_str().or(params["uri"].as_str()).map(str::to_owned);
        let named = name.map(|name| format!("Mcp-Name: {name}\r\n")).unwrap_or_default();
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
        Probe { line: "POST /mcp".to_owned(), headers: format!("{named}Mcp-Method: {method}\r\n"), body }
    }
}

/// Every text of a value.
fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.to_lowercase()],
        Value::Array(values) => values.iter().flat_map(texts).collect(),
        Value::Object(values) => values.values().flat_map(texts).collect(),
        _ => Vec::new(),
    }
}

/// An answer in small letters without the caller's own words, which reveal nothing.
fn without_own_words(answer: &str, probe: &Probe) -> String {
    let words = probe.line.replace("%2F", "/").replace('+', " ");
    let mut own: Vec<String> = words.split(['?', '&', '=', ',']).map(str::to_lowercase).collect();
    own.extend(serde_json::from_str(&probe.body).ok().iter().flat_map(texts));
    own.extend(words.split_once("/v1/documents/").map(|(_, id)| id.to_lowercase()));
    own.extend(own.clone().iter().map(|word| word.rsplit('/').next().unwrap_or_default().to_owned()));
    own.extend(own.clone().iter().filter_map(|word| Some(word.rsplit_once(':')?.0.to_owned())));
    own.sort_by_key(|word| std::cmp::Reverse(word.len()));
    let long = own.iter().filter(|word| word.len() > 3);
    let said = long.fold(answer.to_lowercase(), |said, word| said.replace(word.as_str(), ""));
    own.iter().fold(said, |said, own| without_missing_words(said, own))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn trap_a_namespace_that_a_caller_may_not_read_looks_missing() {
    let directory = tempfile::tempdir().expect("a directory");
    let root = directory.path().canonicalize().expect("a path");
    let index = index(&root);
    let api = Api::start(&index).await;
    let read = async |token: &str, probe: &Probe| -> Value {
        let (_, _, body) = api.send(token, probe).await;
        serde_json::from_str(&body).unwrap_or_else(|error| panic!("{}: {error}: {body}", probe.line))
    };
    let found = read(WIDE, &Probe::new("GET /v1/search?query=narwhal&namespaces=sealed")).await;
    let id = found["results"][0]["id"].as_str().expect("found").to_owned();
    let query_id = found["query_id"].as_str().expect("recorded").to_owned();
    let own = read(OPEN, &Probe::new("GET /v1/search?query=walrus")).await;
    assert_eq!(own["results"][0]["namespace"], "open", "{own}");

    let path = root.join("sealed/animal.md").display().to_string();
    let filled = |line: &str| {
        let path = if line.starts_with("GET") { path.replace('/', "%2F") } else { path.clone() };
        let own = own["query_id"].as_str().expect("recorded");
        let line = line.replace("x{query}", &format!("{}x", &query_id[1..])).replace("{query}", &query_id);
        line.replace("{id}", &id).replace("{prefix}", &id[..4]).replace("{own}", own).replace("{path}", &path)
    };
    let table = include_str!("isolation.txt").lines().filter(|line| !line.starts_with('#'));
    let mut probes: Vec<Probe> = table.map(|line| Probe::new(&filled(line))).collect();
    // Whatever a tool calls its arguments, their values open nothing.
    let tools = read(OPEN, &Probe::method("tools/list", json!({}))).await["result"]["tools"].take();
    let tools: Vec<&str> = tools.as_array().expect("a list").iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert!(tools.contains(&"get"), "{tools:?}");
    for key in ["id", "query", "namespace"] {
        let values = [id.as_str(), "sealed:animal.md"];
        let calls = tools.iter().flat_map(|tool| values.map(|one| json!({ "name": tool, "arguments": { key: one } })));
        probes.extend(calls.map(|call| Probe::method("tools/call", call)));
    }

    // Each route of the API is probed. A stream of events never ends; it has a test of its own, over real connections.
    let document = tamis_server::openapi();
    for route in document["paths"].as_object().expect("paths").keys().filter(|route| route.starts_with("/v1/")) {
        let start = route.split('{').next().unwrap_or(route);
        let probed = probes.iter().any(|one| one.line.split(' ').nth(1).is_some_and(|path| path.starts_with(start)));
        assert!(probed || ["/v1/openapi.json", "/v1/events"].contains(&route.as_str()), "{route} is not probed");
    }

    let mut refused = 0;
    for probe in &probes {
        let Probe { line, body: sent, .. } = probe;
        let (status, head, body) = api.send(OPEN, probe).await;
        refused += u32::from(status >= 400);
        assert!(status < 500 && status != 429, "{line}: {head} {body}");
        let said = without_own_words(&format!("{head}{body}"), probe);
        for secret in ["narwhal", "sealed", query_id.as_str(), root.to_str().expect("UTF-8")] {
            assert!(!said.contains(&secret.to_lowercase()), "{line} {sent} reveals {secret}: {status} {body}");
        }
        // One who may read nothing gets nothing of either.
        let (status, head, body) = api.send(NOBODY, probe).await;
        let said = without_own_words(&format!("{head}{body}"), probe);
        for secret in ["narwhal", "sealed", "cold water", "sing_", "walrus"] {
            assert!(status < 500 && !said.contains(secret), "{line} {sent} reveals {secret}: {status} {body}");
        }
    }
    assert!(refused > 20, "{refused}");

    let resources = read(OPEN, &Probe::new("resources/list {}")).await;
    let resources = resources["result"]["resources"].as_array().expect("a list").iter();
    let resources: Vec<&str> = resources.filter_map(|one| one["uri"].as_str()).collect();
    assert!(resources.len() == 3 && resources.iter().all(|uri| uri.starts_with("tamis://open/")), "{resources:?}");
    let page = read(OPEN, &Probe::new(r#"resources/read {"uri":"tamis://open/animal.md"}"#)).await;
    assert!(page.to_string().contains("walrus of open"), "{page}");
    let none = read(NOBODY, &Probe::new("resources/list {}")).await;
    assert_eq!(none["result"]["resources"], json!([]));
    let status = read(NOBODY, &Probe::new("get_status {}")).await.to_string();
    assert!(!status.contains("\"open\""), "{status}");
    // A note goes only where the caller may write.
    let noted = read(OPEN, &Probe::new(r#"remember {"text":"The walrus sang on Monday."}"#)).await;
    assert_eq!(noted["result"]["structuredContent"]["namespace"], "open", "{noted}");
    assert!(!root.join("sealed/memory").exists());
    // A caller that may read everything still finds all of it.
    for everything in ["GET /v1/status", "get_status {}"] {
        let everything = read(WIDE, &Probe::new(everything)).await.to_string();
        assert!(everything.contains("sealed") && everything.contains("open"), "{everything}");
    }
}
