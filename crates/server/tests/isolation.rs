//! A caller that may read one of two namespaces learns nothing about the other, from any tool.

mod support;

use rmcp::model::{CallToolRequestParams, PaginatedRequestParams, ReadResourceRequestParams};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use support::{Session, session};
use tamis::config::Config;
use tamis::{Index, Location, SourceSettings};
use tamis_server::Caller;

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
    session(index, Caller { namespaces, may_remember: true, may_judge: true }).await
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
