//! A server over an index with code, documents, issues, notes and evidence.

use crate::support::{Reply, Root, Server, succeed, tamis};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Sends a request on a connection of its own.
pub fn send(server: &Server, line: &str, headers: &[(&str, &str)], body: &str) -> Reply {
    let all = [&[("Host", "localhost"), ("Connection", "close")], headers].concat();
    server.request(&format!("{line} HTTP/1.1"), &all, body)
}

pub fn get(server: &Server, path: &str) -> Reply {
    send(server, &format!("GET {path}"), &[], "")
}

pub fn get_as(server: &Server, authorization: &str, path: &str) -> Reply {
    send(server, &format!("GET {path}"), &[("Authorization", authorization)], "")
}

pub fn post(server: &Server, path: &str, body: &Value) -> Reply {
    send(server, &format!("POST {path}"), &[("Content-Type", "application/json")], &body.to_string())
}

pub const EVIDENCE: &str = r#"{"record":"task","id":"t1","question":"Does folic acid prevent strokes?"}
{"record":"page","id":"p1","url":"https://www.trials.example/folic","title":"A trial of vitamins"}
{"record":"fragment","id":"f1","page_id":"p1","text":"Strokes were a tenth rarer among those who took folic acid.","position":3}
{"record":"claim","id":"c1","task_id":"t1","text":"Folic acid makes strokes rarer."}
{"record":"edge","source_type":"fragment","source_id":"f1","target_type":"claim","target_id":"c1","relation":"supports"}
"#;

pub const ISSUES: &str = r#"{"number":1,"title":"The oven turns off by itself","body":"After ten minutes the oven turns off and shows error E7.","state":"closed","created_at":"2025-01-01T00:00:00Z","closed_at":"2025-01-03T00:00:00Z","comments":[{"author":"mia","body":"Error E7 means that the fan is blocked. Clean the fan of the oven and it works again.","created_at":"2025-01-02T00:00:00Z"}]}
{"number":2,"title":"Oven shows error E7 and turns off","body":"Ten minutes after the start the oven turns off with error E7.","state":"open","created_at":"2025-02-01T00:00:00Z","comments":[]}
"#;

/// A project with an index of one tree.
pub fn kitchen() -> Root {
    let root = Root::new();
    let write = |path: &str, text: &str| {
        let path = root.join(path);
        fs::create_dir_all(path.parent().expect("a directory")).expect("made");
        fs::write(path, text).expect("written");
    };
    write("oven.md", "# Oven\n\nHeat the oven to 220 degrees before baking bread.\n");
    write("garden.md", "# Garden\n\nTurn the compost every two weeks.\n");
    write(
        "src/retry.rs",
        "/// Waits longer after each failed attempt.\npub fn retry_with_backoff(attempts: u32) -> u32 {\n    attempts * 2\n}\n\n\
         pub fn connect() -> u32 {\n    retry_with_backoff(3)\n}\n",
    );
    write("memory/2026-11-01.md", "# 2026-11-01\n\n- We bake bread on Fridays.\n");
    write("hidden.md", "# Hidden\n\nA \u{202e}reversed\u{202c} word about xylophones.\n");
    write("data/evidence.jsonl", EVIDENCE);
    write("data/issues.jsonl", ISSUES);
    succeed(&root, &["index", "-q"]);
    for kind in ["evidence", "issues"] {
        succeed(&root, &["import", kind, &format!("data/{kind}.jsonl")]);
    }
    root
}

/// The same, and a server of it as it is.
pub fn served_kitchen() -> (Root, Server) {
    let root = kitchen();
    let server = serve(&root, &[]);
    (root, server)
}

/// Serves the index of a directory as it is.
pub fn serve(root: &Path, arguments: &[&str]) -> Server {
    let served = ["serve", "--http", "127.0.0.1:0", "--no-refresh", "--log-format", "json"];
    Server::of(tamis(root).args(served).args(arguments))
}

/// The same with a limit of sixty requests a minute.
pub fn limited_to_sixty_a_minute(root: &Path) -> Server {
    let served = ["serve", "--http", "127.0.0.1:0", "--no-refresh"];
    Server::of(tamis(root).args(served).env("TAMIS_MCP_REQUESTS_PER_MINUTE", "60"))
}

/// The output of a command in the directory, as JSON.
pub fn command(root: &Path, arguments: &[&str]) -> Value {
    let output = tamis(root).args(arguments).output().expect("it runs");
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{arguments:?}: {error}: {}", String::from_utf8_lossy(&output.stderr)))
}
