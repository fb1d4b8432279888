//! A caller that may read one of two namespaces learns nothing about the other, from any tool and any route.

use crate::support::{Session, session};
use rmcp::model::{CallToolRequestParams, PaginatedRequestParams, ReadResourceRequestParams};
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

/// Connects a client that may read these namespaces.
async fn reader(index: &Arc<Index>, namespaces: Option<Vec<String>>) -> Session {
    session(index, Caller { namespaces, may_remember: true, may_judge: true, may_refresh: true }).await
}

async fn call(session: &Session, tool: &'static str, arguments: Value) -> Value {
    let Value::Object(arguments) = arguments else { panic!("an object") };
    let request = CallToolRequestParams::new(tool).with_arguments(arguments);
    match session.call_tool(request).await {
        Ok(result) => serde_json::to_value(result).expect("JSON"),
        Err(error) => json!({ "refused": error.to_string() }),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn trap_a_namespace_that_a_caller_may_not_read_looks_missing() {
    let directory = tempfile::tempdir().expect("a directory");
    let root = directory.path().canonicalize().expect("a path");
    let index = index(&root);
    let all = reader(&index, None).await;
    let some = reader(&index, Some(vec!["open".to_owned()])).await;

    // A passage and a search of each namespace, seen by a caller that may read everything.
    let found = call(&all, "search", json!({ "query": "narwhal", "namespace": "sealed" })).await;
    let id = found["structuredContent"]["results"][0]["id"].as_str().expect("found").to_owned();
    let query_id = found["structuredContent"]["query_id"].as_str().expect("recorded").to_owned();
    let own = call(&some, "search", json!({ "query": "walrus" })).await;
    let own_query = own["structuredContent"]["query_id"].as_str().expect("recorded").to_owned();
    assert_eq!(own["structuredContent"]["results"][0]["namespace"], "open", "{own}");

    let note = json!({ "text": "x", "namespace": "sealed" });
    for (tool, arguments) in [
        ("search", json!({ "query": "narwhal sings in cold water", "want": "all" })),
        ("search", json!({ "query": "narwhal", "namespace": "sealed" })),
        ("search", json!({ "query": "song", "paths": ["**"], "collections": ["code"] })),
        ("memory_search", json!({ "query": "narwhal" })),
        ("memory_search", json!({ "query": "narwhal", "namespace": "sealed" })),
        ("explain_cut", json!({ "query": "narwhal", "cut": "fixed:k=9", "around": 20 })),
        ("explain_cut", json!({ "query": "narwhal", "namespace": "sealed" })),
        ("get", json!({ "id": id })),
        ("get", json!({ "id": &id[..4] })),
        ("get", json!({ "id": "narwhal.md" })),
        ("get", json!({ "id": "narwhale.md" })),
        ("get", json!({ "id": "sealed:animal.md" })),
        ("get", json!({ "id": root.join("sealed/animal.md") })),
        ("related", json!({ "id": id })),
        ("related", json!({ "id": "src/song.rs:2" })),
        ("related", json!({ "id": "sealed:src/song.rs:2" })),
        ("troubleshoot", json!({ "title": "The narwhal does not sing" })),
        ("troubleshoot", json!({ "title": "The narwhal does not sing", "namespace": "sealed" })),
        ("remember", note),
        ("feedback", json!({ "query_id": query_id, "ids": ["1"], "relevant": true })),
        ("feedback", json!({ "query_id": format!("{}x", &query_id[1..]), "ids": ["1"], "relevant": true })),
        ("feedback", json!({ "query_id": own_query, "ids": [id], "relevant": true })),
        ("get_status", json!({})),
        ("get_status", json!({ "namespace": "sealed" })),
        ("query_sql", json!({ "sql": "SELECT * FROM claims", "namespace": "sealed" })),
        ("query_sql", json!({ "sql": "SELECT name FROM sqlite_schema" })),
        ("vector_search", json!({ "query": "narwhal" })),
        ("vector_search", json!({ "query": "narwhal", "namespace": "sealed" })),
        ("query_view", json!({ "view_name": "v_contradictions", "namespace": "sealed" })),
        ("list_views", json!({})),
    ] {
        let answer = call(&some, tool, arguments.clone()).await;
        let mut answer_text = answer.to_string();
        // Messages repeat the caller's own words, which reveal nothing.
        if let Some(values) = arguments.as_object() {
            for value in values.values().filter_map(Value::as_str) {
                answer_text = answer_text.replace(value, "");
                answer_text = answer_text.replace(value.rsplit_once(':').map_or(value, |(path, _)| path), "");
                answer_text = without_missing_words(answer_text, value);
            }
        }
        for secret in ["narwhal", "sealed", query_id.as_str()] {
            assert!(!answer_text.to_lowercase().contains(secret), "{tool} {arguments} reveals {secret}: {answer}");
        }
    }

    let resources = some.list_resources(Some(PaginatedRequestParams::default())).await.expect("a list");
    assert_eq!(resources.resources.len(), 3, "{resources:?}");
    assert!(resources.resources.iter().all(|one| one.uri.starts_with("tamis://open/")), "{resources:?}");
    for uri in ["tamis://sealed/animal.md", "tamis://open/../sealed/animal.md", "tamis://open/sealed:animal.md"] {
        assert!(some.read_resource(ReadResourceRequestParams::new(uri)).await.is_err(), "{uri}");
    }
    let read = some.read_resource(ReadResourceRequestParams::new("tamis://open/animal.md")).await.expect("a page");
    assert!(serde_json::to_string(&read).expect("JSON").contains("walrus of open"));

    // A note goes only where the caller may write.
    let noted = call(&some, "remember", json!({ "text": "The walrus sang on Monday." })).await;
    assert_eq!(noted["structuredContent"]["namespace"], "open", "{noted}");
    assert!(!root.join("sealed/memory").exists());

    // A caller that may read everything still finds all of it.
    let everything = call(&all, "get_status", json!({})).await.to_string();
    assert!(everything.contains("sealed") && everything.contains("open"), "{everything}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_caller_that_may_read_nothing_learns_nothing() {
    let directory = tempfile::tempdir().expect("a directory");
    let index = index(&directory.path().canonicalize().expect("a path"));
    let nobody = reader(&index, Some(Vec::new())).await;
    for (tool, arguments) in [
        ("search", json!({ "query": "walrus" })),
        ("get", json!({ "id": "walrus.md" })),
        ("get_status", json!({})),
        ("remember", json!({ "text": "x" })),
        ("troubleshoot", json!({ "title": "song" })),
    ] {
        let answer = call(&nobody, tool, arguments.clone()).await.to_string();
        for secret in ["sealed", "narwhal", "\"open\"", "cold water"] {
            assert!(!answer.contains(secret), "{tool} {arguments}: {answer}");
        }
    }
    let listed = nobody.list_resources(None).await.expect("a list");
    assert!(listed.resources.is_empty());
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
        let options = ServerOptions { parallel_calls: 2, caller: Caller::default(), output_schemas: false };
        let server = Server::new(index.clone(), options);
        let http = HttpOptions {
            api: true,
            tokens: vec![
                token(OPEN, Some(vec!["open".to_owned()])),
                token(NOBODY, Some(Vec::new())),
                token(WIDE, None),
            ],
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
    async fn send(&self, token: &str, line: &str, body: &str) -> (u16, String, String) {
        let mut stream = tokio::net::TcpStream::connect(self.address).await.expect("it listens");
        let request = format!(
            "{line} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn trap_no_route_answers_for_a_namespace_that_the_token_does_not_open() {
    let directory = tempfile::tempdir().expect("a directory");
    let root = directory.path().canonicalize().expect("a path");
    let index = index(&root);
    let api = Api::start(&index).await;

    let (_, _, found) = api.send(WIDE, "GET /v1/search?query=narwhal&namespaces=sealed", "").await;
    let found: Value = serde_json::from_str(&found).expect("JSON");
    let id = found["results"][0]["id"].as_str().expect("found").to_owned();
    let query_id = found["query_id"].as_str().expect("recorded").to_owned();
    let (_, _, own) = api.send(OPEN, "GET /v1/search?query=walrus", "").await;
    let own: Value = serde_json::from_str(&own).expect("JSON");
    assert_eq!(own["results"][0]["namespace"], "open", "{own}");
    let own_query = own["query_id"].as_str().expect("recorded").to_owned();

    let path = root.join("sealed/animal.md").display().to_string().replace('/', "%2F");
    let prefix = &id[..4];
    let judge = |query: &str, id: &str| format!("{{\"query_id\":\"{query}\",\"ids\":[\"{id}\"],\"relevant\":true}}");
    let probes: Vec<(String, String)> = [
        "GET /v1/search?query=narwhal+sings+in+cold+water&want=all&explain",
        "GET /v1/search?query=narwhal&namespaces=sealed",
        "GET /v1/search?query=narwhal&namespaces=open,sealed",
        "GET /v1/search?query=song&paths=**&collections=code&no_gate&explain",
        "GET /v1/search?query=narwhal&no_gate&cut=fixed:k=9&explain&passages",
        "GET /v1/search?query=narwhal&symbols=sing_narwhal&no_gate",
        "GET /v1/search?query=narwhal&all&limit=100",
        "GET /v1/search?query=narwhal&guarantee=recall=0.9",
        "GET /v1/recall?query=narwhal&no_gate",
        "GET /v1/recall?query=narwhal&namespaces=sealed",
        "GET /v1/documents/{id}",
        "GET /v1/documents/{prefix}",
        "GET /v1/documents/narwhal.md",
        "GET /v1/documents/narwhale.md",
        "GET /v1/documents/sealed:animal.md",
        "GET /v1/documents/sealed:animal.md:1-2",
        "GET /v1/documents/{path}",
        "GET /v1/documents?path=narwhal.md",
        "GET /v1/documents?path=sealed:animal.md&context=10",
        "GET /v1/documents?path={path}",
        "GET /v1/documents?path=..%2Fsealed%2Fanimal.md",
        "GET /v1/related?id={id}",
        "GET /v1/related?id=src%2Fsong.rs:2",
        "GET /v1/related?id=sealed:src%2Fsong.rs:2",
        "GET /v1/pack?query=narwhal",
        "GET /v1/pack?query=narwhal&namespaces=sealed",
        "GET /v1/grep?pattern=.&context=5",
        "GET /v1/grep?pattern=narwhal&namespace=sealed",
        "GET /v1/grep?pattern=.&paths=..%2Fsealed",
        "GET /v1/files",
        "GET /v1/files?pattern=narwhal",
        "GET /v1/files?namespace=sealed",
        "GET /v1/outline?path=src",
        "GET /v1/outline?path=src&namespace=sealed",
        "GET /v1/outline?path=narwhal.md",
        "GET /v1/troubleshoot?title=The+narwhal+does+not+sing",
        "GET /v1/troubleshoot?title=The+narwhal+does+not+sing&namespace=sealed",
        "GET /v1/troubleshoot?issue=1",
        "GET /v1/duplicates?title=The+narwhal+does+not+sing",
        "GET /v1/duplicates?number=1&namespace=sealed",
        "GET /v1/evidence/rank?claim=c1",
        "GET /v1/evidence/rank?claim=c1&namespace=sealed",
        "GET /v1/evidence/search?query=narwhal",
        "GET /v1/evidence/search?query=narwhal&namespace=sealed",
        "GET /v1/evidence/views",
        "GET /v1/evidence/views/v_contradictions",
        "GET /v1/evidence/views/v_contradictions?namespace=sealed",
        "GET /v1/evidence/sql?sql=SELECT+*+FROM+claims",
        "GET /v1/evidence/sql?sql=SELECT+*+FROM+claims&namespace=sealed",
        "GET /v1/evidence/sql?sql=SELECT+name+FROM+sqlite_schema",
        "GET /v1/feedback?limit=5",
        "GET /v1/stats",
        "GET /v1/stats?namespace=sealed",
        "GET /v1/stats?namespace=open",
        "GET /v1/replay?cuts=auto",
        "GET /v1/replay?cuts=auto&namespace=sealed",
        "GET /v1/status",
        "GET /v1/namespaces",
        "GET /metrics",
        "GET /v1/narwhal",
    ]
    .into_iter()
    .map(|line| (line.replace("{id}", &id).replace("{prefix}", prefix).replace("{path}", &path), String::new()))
    .chain([
        ("POST /v1/feedback".to_owned(), judge(&query_id, "1")),
        ("POST /v1/feedback".to_owned(), judge(&format!("{}x", &query_id[1..]), "1")),
        ("POST /v1/feedback".to_owned(), judge(&own_query, &id)),
        ("POST /v1/refresh".to_owned(), "{}".to_owned()),
        ("POST /v1/remember".to_owned(), "{\"text\":\"x\",\"namespace\":\"sealed\"}".to_owned()),
        ("POST /v1/search".to_owned(), "{\"query\":\"narwhal\",\"namespaces\":[\"sealed\"]}".to_owned()),
        ("POST /v1/cut".to_owned(), "{\"lists\":[{\"scores\":[1]}]}".to_owned()),
    ])
    .collect();

    // Each route of the API is probed. A stream of events never ends; it has a test of its own, over real connections.
    let document = tamis_server::openapi();
    for route in document["paths"].as_object().expect("paths").keys().filter(|route| route.starts_with("/v1/")) {
        let start = route.split('{').next().unwrap_or(route);
        let probed = probes.iter().any(|(line, _)| line.split(' ').nth(1).is_some_and(|path| path.starts_with(start)));
        assert!(probed || ["/v1/openapi.json", "/v1/events"].contains(&route.as_str()), "{route} is not probed");
    }

    let mut refused = 0;
    for (line, sent) in &probes {
        let (status, head, body) = api.send(OPEN, line, sent).await;
        refused += u32::from(status >= 400);
        assert!(status < 500, "{line}: {head} {body}");
        let mut said = format!("{head}{body}").to_lowercase();
        // Messages repeat the caller's own words, which reveal nothing.
        let words = line.replace("%2F", "/").replace('+', " ");
        let mut own: Vec<String> = words.split(['?', '&', '=', ',']).map(str::to_lowercase).collect();
        own.extend(serde_json::from_str::<Value>(sent).ok().into_iter().flat_map(|value| {
            let values = value.as_object().cloned().unwrap_or_default().into_iter();
            let values = values.flat_map(|(_, value)| match value {
                Value::Array(values) => values,
                value => vec![value],
            });
            values.map(|value| value.as_str().unwrap_or_default().to_lowercase()).collect::<Vec<_>>()
        }));
        own.extend(words.split_once("/v1/documents/").map(|(_, id)| id.to_lowercase()));
        own.extend(own.clone().iter().map(|word| word.rsplit('/').next().unwrap_or_default().to_owned()));
        own.extend(own.clone().iter().filter_map(|word| Some(word.rsplit_once(':')?.0.to_owned())));
        own.sort_by_key(|word| std::cmp::Reverse(word.len()));
        own.iter().filter(|word| word.len() > 3).for_each(|word| said = said.replace(word.as_str(), ""));
        said = own.iter().fold(said, |said, own| without_missing_words(said, own));
        for secret in ["narwhal", "sealed", query_id.as_str(), root.to_str().expect("UTF-8")] {
            assert!(!said.contains(&secret.to_lowercase()), "{line} {sent} reveals {secret}: {status} {body}");
        }
        // One who may read nothing gets nothing of either.
        let (status, _, body) = api.send(NOBODY, line, sent).await;
        assert!(status < 500 && !body.contains("cold water") && !body.contains("sing_"), "{line}: {status} {body}");
    }
    assert!(refused > 20, "{refused}");
    assert!(!root.join("sealed/memory").exists());
    let (_, _, everything) = api.send(WIDE, "GET /v1/status", "").await;
    assert!(everything.contains("sealed") && everything.contains("open"), "{everything}");
}
