//! Ctrl-C and watching: a run stops at a whole step, a watch ends on request.

use crate::support::{Tree, run};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// A child that is killed when it outlives any reasonable wait, so that a test that waits for it fails and does not
/// hang. No machine is so loaded that the expected event takes this long.
struct Watched {
    child: Child,
    _done: Sender<()>,
}

fn spawn(tree: &Tree, arguments: &[&str], models: &str) -> Watched {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tamis"));
    command.args(arguments).current_dir(tree.root()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.env("TAMIS_CONFIG_HOME", tree.home()).env("TAMIS_INDEX_MODELS", models);
    let child = command.env("TAMIS_INDEX_EMBEDDING_CACHE_MB", "0").spawn().expect("starts");
    let (done, ended) = channel::<()>();
    let pid = child.id();
    std::thread::spawn(move || {
        if ended.recv_timeout(Duration::from_secs(900)) == Err(RecvTimeoutError::Timeout) {
            signal(pid, "-KILL");
        }
    });
    Watched { child, _done: done }
}

fn signal(pid: u32, name: &str) {
    // The process may have ended by itself, which the test's own checks detect.
    let _ = Command::new("kill").args([name, &pid.to_string()]).status();
}

#[test]
fn ctrl_c_keeps_what_is_done_and_the_next_run_completes_it() {
    let tree = Tree::empty();
    for number in 0..300 {
        tree.write(&format!("note{number}.md"), &format!("# Note {number}\n\nA glacier of number {number}.\n"));
    }
    let mut watched = spawn(&tree, &["index", "--wait", "-v"], "static,minilm");
    let err = BufReader::new(watched.child.stderr.take().expect("a pipe"));
    let mut lines = err.lines().map_while(Result::ok);
    assert!(lines.by_ref().any(|line| line.contains("embedding with minilm")), "the stages are told");
    signal(watched.child.id(), "-INT");
    let rest: Vec<String> = lines.collect();
    assert_eq!(watched.child.wait().expect("ends").code(), Some(130), "{rest:?}");
    assert!(rest.iter().any(|line| line.contains("stopped; the finished part of the index is kept")), "{rest:?}");

    tree.succeed(&["doctor", "--check-only"]);
    let status = tree.json(&["status", "--json"]);
    assert_eq!((&status["documents"], &status["stale"]), (&300.into(), &0.into()));
    assert_eq!(run(tree.tamis(&["search", "glacier", "--limit", "1"])).0, 0);
    let mut command = tree.tamis(&["index", "--wait", "--json"]);
    command.env("TAMIS_INDEX_MODELS", "static,minilm");
    let report: Value = serde_json::from_str(&run(command).1).expect("JSON");
    assert!(report["embedded"]["minilm"].as_u64().is_some_and(|embedded| embedded > 0), "{report}");
    assert_eq!(report["pending"], serde_json::json!({}), "{report}");
}

#[test]
fn a_watch_embeds_with_the_better_model_between_changes() {
    let tree = Tree::new();
    // More passages than the first run embeds with it.
    for number in 0..510 {
        tree.write(&format!("note{number}.md"), &format!("# Note {number}\n\nA glacier of number {number}.\n"));
    }
    let mut watched = spawn(&tree, &["index", "--watch", "--json"], "static,minilm");
    let out = BufReader::new(watched.child.stdout.take().expect("a pipe"));
    let mut reports = out.lines().map_while(Result::ok).map(|line| serde_json::from_str::<Value>(&line).expect("JSON"));
    let first = reports.next().expect("a first run");
    assert!(first["pending"]["minilm"].as_u64() > Some(0) && first["embedded"].get("minilm").is_none(), "{first}");
    let embeds = |report: &Value| report["embedded"]["minilm"] == first["pending"]["minilm"];
    assert!(reports.by_ref().any(|report| embeds(&report)), "the rest is embedded");
    tree.write("memory/2026-05-06.md", "# 2026-05-06\n\n- the lease of the workshop ends in june\n");
    let sees = |report: &Value| report["added"] == 1 || report["changed"] == 1;
    let seen = reports.by_ref().find(sees).expect("the new file is read");
    assert_eq!(seen["embedded"]["minilm"], 1, "and a few passages are embedded at once");
    signal(watched.child.id(), "-INT");
    drop(reports);
    assert_eq!(watched.child.wait().expect("ends").code(), Some(0));
    let answer = tree.json(&["search", "--no-gate", "when does the lease end", "--json", "--no-refresh"]);
    assert_eq!(answer["results"][0]["path"], "memory/2026-05-06.md", "{answer}");
}
