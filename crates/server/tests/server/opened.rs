//! What a client opens after a search is credited to its own search, and to no other client's.

use crate::support::{Session, session};
use rmcp::model::{CallToolRequestParams, ReadResourceRequestParams};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use tamis::config::Config;
use tamis::{Index, Location};
use tamis_server::Caller;
use tamis_store::{Access, EmbeddedUsageLog, LoggedSearch, UsageLog};

fn index(root: &Path) -> Arc<Index> {
    for (at, animal) in ["walrus", "narwhal", "seal", "orca", "otter", "puffin"].into_iter().enumerate() {
        let verses = format!("The {animal} lives in cold water and sings in verse {at}. ").repeat(4);
        let page = format!("# The {animal}\n\n{verses}\n");
        std::fs::write(root.join(format!("{animal}.md")), page).expect("written");
    }
    let mut config = Config::built_in();
    config.index.models = vec!["static".into()];
    config.search.gate = false;
    config.search.cut = Some(config.cut("fixed:k=5").expect("a cut"));
    let index = Index::at(Location::at(root, None), config).expect("opens");
    index.refresh().expect("indexed");
    Arc::new(index)
}

async fn call(session: &Session, tool: &'static str, arguments: Value) -> Value {
    page(session, tool, arguments).await.0
}

/// The data and the offset of the next page.
async fn page(session: &Session, tool: &'static str, arguments: Value) -> (Value, Option<usize>) {
    let Value::Object(arguments) = arguments else { panic!("an object") };
    let result = session.call_tool(CallToolRequestParams::new(tool).with_arguments(arguments)).await.expect("answered");
    let text = result.content[0].as_text().expect("a text").text.clone();
    let next = text.trim_end().trim_end_matches('.').rsplit_once("call again with offset = ").map(|of| of.1.parse());
    (result.structured_content.expect("data"), next.transpose().expect("a number"))
}

fn opened(root: &Path) -> Vec<LoggedSearch> {
    let log = EmbeddedUsageLog::open(root.join(".tamis"), Access::ReadOnly).expect("a log");
    log.logged_searches(0, 99).expect("read").into_iter().filter(|one| !one.openings.is_empty()).collect()
}

fn ids(found: &Value) -> Vec<String> {
    let results = found["results"].as_array().expect("results");
    results.iter().map(|result| result["id"].as_str().expect("an id").to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_clients_openings_are_its_own() {
    let directory = tempfile::tempdir().expect("a directory");
    let index = index(directory.path());
    let (one, other) = (session(&index, Caller::default()).await, session(&index, Caller::default()).await);
    let found = call(&one, "search", json!({ "query": "cold water", "limit": 3 })).await;
    let shown = ids(&found);
    assert_eq!(shown.len(), 3);

    call(&other, "get", json!({ "id": shown[0] })).await;
    assert!(opened(directory.path()).is_empty(), "another client's search is not credited");
    let unseen = call(&other, "search", json!({ "query": "cold water", "limit": 5 })).await;
    call(&one, "get", json!({ "id": ids(&unseen)[4] })).await;
    assert!(opened(directory.path()).is_empty(), "it was not shown to this client");

    call(&one, "get", json!({ "id": shown[1] })).await;
    call(&one, "related", json!({ "id": shown[2], "by": "vector" })).await;
    let path = found["results"][0]["path"].as_str().expect("a path");
    let namespace = found["results"][0]["namespace"].as_str().expect("a namespace");
    let uri = format!("tamis://{namespace}/{path}");
    one.read_resource(ReadResourceRequestParams::new(uri)).await.expect("read");
    let log = opened(directory.path());
    assert_eq!(log.len(), 1);
    assert_eq!(log[0].search.id, found["query_id"].as_str().expect("recorded"));
    let passages: Vec<&String> = log[0].openings.iter().map(|opening| &opening.passage).collect();
    assert_eq!(passages, [&shown[1], &shown[2], &shown[0]]);
    assert_eq!(log[0].search.query_text, None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_shows_what_is_on_it() {
    let directory = tempfile::tempdir().expect("a directory");
    let index = index(directory.path());
    let session = session(&index, Caller::default()).await;
    let mut arguments = json!({ "query": "cold water", "max_chars": 1000 });
    let (first, offset) = page(&session, "search", arguments.clone()).await;
    let offset = offset.expect("the page is too short for all");
    let all = ids(&first);
    let (shown, next) = all.split_at(offset);
    arguments["offset"] = json!(offset);
    let second = call(&session, "search", arguments).await;
    assert_eq!(ids(&second), all, "the data is the whole answer");
    call(&session, "get", json!({ "id": next[0] })).await;
    call(&session, "get", json!({ "id": shown[0] })).await;
    let log = opened(directory.path());
    let credited: Vec<(&str, usize)> = log.iter().map(|one| (one.search.id.as_str(), one.openings.len())).collect();
    let id = |found: &Value| found["query_id"].as_str().expect("recorded").to_owned();
    assert_eq!(credited, [(id(&first).as_str(), 1), (id(&second).as_str(), 1)], "each page by itself");
    assert_eq!(log[0].search.shown.as_ref().map(Vec::len), Some(shown.len()));
}
