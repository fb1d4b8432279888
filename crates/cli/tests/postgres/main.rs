//! The program with its index in PostgreSQL, on the server that TAMIS_TEST_POSTGRES names: it answers as with a directory.

mod copy;
#[allow(dead_code)]
#[path = "../../../store/tests/store/postgres.rs"]
mod database;
#[cfg(target_os = "linux")]
mod faults;
#[cfg(target_os = "linux")]
mod private;
#[allow(dead_code)]
#[path = "../mcp_http/support.rs"]
mod support;
mod team;
#[cfg(target_os = "linux")]
mod tls;

use database::TestDatabase;
#[cfg(target_os = "linux")]
use private::ask;
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use support::{Root, Server, request};

/// A tree with more text than fits into one packet of vectors.
fn tree() -> Root {
    let directory = Root::empty();
    let root = directory.join("mill");
    fs::create_dir_all(&root).expect("made");
    fs::write(root.join("oven.md"), "# Oven\n\nHeat the oven to 220 degrees before baking bread.\n").expect("written");
    let retry = "/// Waits longer after each failed attempt.\npub fn retry(n: u32) -> u32 {\n    n * 2\n}\n";
    fs::write(root.join("retry.rs"), retry).expect("written");
    for number in 0..80 {
        let text = format!("# Tide {number}\n\nThe tide of day {number} turned at {} near the mill.\n", number % 24);
        fs::write(root.join(format!("tide-{number}.md")), text).expect("written");
    }
    directory
}

fn tamis(root: &Path, url: Option<&str>) -> Command {
    let mut command = support::tamis(&root.join("mill"));
    command.env("TAMIS_CONFIG_HOME", root.join("user")).env("TAMIS_CACHE", root.join("cache"));
    if let Some(url) = url {
        command.env("TAMIS_STORE_URL", url);
    }
    command
}

/// Runs a command that succeeds. Returns what it prints.
fn done(command: &mut Command) -> String {
    let output = command.output().expect("it runs");
    let [out, err] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).into_owned());
    assert!(output.status.success(), "{out}{err}");
    out
}

fn json_of(command: &mut Command) -> Value {
    let output = command.output().expect("it runs");
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)))
}

/// What an answer keeps and why, with its scores to four digits.
fn decided(answer: &Value) -> Value {
    let rounded = |score: &Value| (score.as_f64().unwrap_or(0.0) * 1e4).round();
    let result = |hit: &Value| json!([hit["path"], hit["start_line"], hit["id"], rounded(&hit["score"])]);
    let results: Vec<Value> = answer["results"].as_array().expect("results").iter().map(result).collect();
    json!([results, answer["cut"]["keep"], answer["cut"]["candidates"], answer["cut"]["reason"]])
}

#[test]
fn a_database_answers_as_a_directory_does() {
    let Some(database) = TestDatabase::create() else { return };
    let (root, url) = (tree(), database.url());
    done(tamis(&root, Some(&url)).args(["index", "-q"]));
    assert!(!root.join("mill/.tamis").exists(), "nothing is kept in the tree");
    for words in [
        &["search", "--json", "how hot should the oven be"][..],
        &["search", "--json", "the tide near the mill", "-n", "50"],
        &["search", "--json", "--mode", "semantic", "when does the water rise", "--no-gate"],
        &["search", "--json", "--mode", "lexical", "retry"],
        &["search", "--json", "who won the football world cup"],
    ] {
        let ours = json_of(tamis(&root, Some(&url)).args(words));
        let theirs = json_of(tamis(&root, None).args(words));
        assert_eq!(decided(&ours), decided(&theirs), "{words:?}");
    }
    let status = json_of(tamis(&root, Some(&url)).args(["store", "status", "--json"]));
    assert_eq!((&status["namespaces"][0]["name"], &status["namespaces"][0]["documents"]), (&json!("mill"), &json!(82)));
    for words in [&["store", "check"][..], &["doctor", "--check-only"]] {
        done(tamis(&root, Some(&url)).args(words));
    }
}

#[test]
fn a_server_on_a_database_serves_everything_and_ends() {
    let Some(database) = TestDatabase::create() else { return };
    let (directory, url) = (tree(), database.url());
    // A server reads a project of its own accord.
    fs::create_dir(directory.join("mill/.git")).expect("made");
    let mut command = tamis(&directory, Some(&url));
    command.args(["serve", "--http", "127.0.0.1:0", "--log-format", "json"]);
    let mut server = Server::of(&mut command);
    let search = "GET /v1/search?query=how+hot+should+the+oven+be HTTP/1.1";
    let mut found = server.request(search, &[("Host", "localhost")], "");
    // A busy machine may answer before the first run has ended, and says so.
    while found.body.contains("the index is being updated") {
        std::thread::sleep(Duration::from_millis(100));
        found = server.request(search, &[("Host", "localhost")], "");
    }
    assert_eq!(found.json()["results"][0]["path"], "oven.md", "{found:?}");
    assert_eq!(server.request("GET /metrics HTTP/1.1", &[("Host", "localhost")], "").status, 200);
    server.answers(None);
    let mut events = server.connect();
    events.write_all(&request("GET /v1/events HTTP/1.1", &[("Host", "localhost")], "")).expect("sent");
    let mut lines = BufReader::new(events).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.starts_with("data: {\"change\":")), "{}", server.log());
    server.terminate();
    assert_eq!(server.ended().0, Some(0), "{}", server.log());
}

#[test]
fn what_cannot_be_opened_is_named_without_its_password() {
    let directory = tree();
    for (url, said) in [
        ("postgres://ada:secret@127.0.0.1:1/tamis", "postgres://127.0.0.1:1/tamis"),
        ("postgres://ada:secret@127.0.0.1:port/tamis", "postgres://"),
        ("mysql://ada:secret@127.0.0.1/tamis", "postgres://USER@HOST"),
    ] {
        let refused = tamis(&directory, Some(url)).args(["search", "oven"]).output().expect("it runs");
        let text = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{text}");
        assert!(text.contains(said) && !text.contains("secret"), "{text}");
    }
    let none = tamis(&directory, None).args(["store", "status"]).output().expect("it runs");
    assert!(String::from_utf8_lossy(&none.stderr).contains("--store"), "{none:?}");
}
