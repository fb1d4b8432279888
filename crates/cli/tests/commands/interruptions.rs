//! Commands that are killed, that run while others write, or whose reader goes away.

use crate::support::{Kills, Tree, run};
use serde_json::{Value, json};
use std::fs;
use std::io::Read;
use std::process::Stdio;

#[test]
fn killed_command_leaves_a_note_whole_or_not_there() {
    let tree = Tree::indexed();
    let note = |text: &str| tree.tamis(&["remember", "--quiet", text]).output().expect("it runs").stdout;
    let place = String::from_utf8(note("the first")).expect("text");
    let file = tree.root().join(place.split(':').next().expect("a path"));
    let long = format!("{} end", "word ".repeat(1_500));
    let mut kills = Kills::within(|| tree.spawn(&["remember", &long]).wait().expect("it ends").success());
    while kills.landed < 16 {
        let after = kills.kill(tree.spawn(&["remember", &long]));
        let text = fs::read_to_string(&file).expect("a file of notes");
        let is_whole = |line: &str| line.starts_with("- ") && (line.ends_with("the first") || line.ends_with("end"));
        assert!(text.ends_with('\n') && text.lines().skip(2).all(is_whole), "killed after {after:?}: {text}");
    }
    note("the last end");
    assert_eq!(fs::read_dir(tree.root().join("memory")).expect("listed").count(), 1, "half-written files are gone");
    tree.succeed(&["doctor"]);
}

/// Enough that their import can be stopped in the middle.
const ISSUES: u64 = 300;

/// Writes a tracker large enough that its import can be stopped in the middle.
fn write_tracker(tree: &Tree, version: u64) {
    let words = ["pump", "spool", "engine", "valve", "ledger", "harbour", "glacier", "violin"];
    let text = |one: u64| (0..40).map(|at| words[((one * 7 + at * at + version) % 8) as usize]).collect::<Vec<_>>();
    let issue = |number: u64| {
        json!({
            "number": number, "title": format!("Trouble {number}"), "body": text(number).join(" "), "state": "closed",
            "user": { "login": "ada", "type": "User" }, "locked": false, "comments": 1, "labels": [{ "name": "bug" }],
            "created_at": "2024-01-01T08:00:00Z", "updated_at": format!("2024-02-{version:02}T08:00:00Z"),
            "closed_at": "2024-01-05T08:00:00Z", "html_url": format!("https://github.com/ada/engine/issues/{number}"),
        })
    };
    tree.write("large.json", &(1..=ISSUES).map(issue).collect::<Value>().to_string());
}

/// The number of imported issues, and the time of the newest change.
fn imported(tree: &Tree) -> (Value, Value) {
    let listed = tree.json(&["import", "--list", "--json"]);
    (listed[0]["documents"].clone(), listed[0]["updated"].clone())
}

#[test]
fn killed_import_leaves_all_or_nothing() {
    const ROUNDS: u32 = 6;
    let tree = Tree::empty();
    tree.succeed(&["index"]);
    write_tracker(&tree, 1);
    let import = || tree.spawn(&["import", "issues", "large.json"]);
    let whole = |version: u64| (json!(ISSUES), json!(format!("2024-02-{version:02}T08:00:00Z")));
    let mut kills = Kills::within(|| import().wait().expect("ends").success());
    let mut before = imported(&tree);
    assert_eq!(before, whole(1));
    let mut version = 1;
    while kills.landed < ROUNDS {
        version = 1 + version % 27;
        write_tracker(&tree, version);
        kills.kill(import());
        let after = imported(&tree);
        assert!(after == before || after == whole(version), "version {version}: {after:?} after {before:?}");
        before = after;
        // All of them belong to one version.
        let documents = tree.json(&["import", "issues", "large.json", "--dry-run", "--json"]);
        assert!([&documents["updated"], &documents["unchanged"]].contains(&&json!(ISSUES)), "{documents}");
        tree.succeed(&["doctor"]);
    }
    assert!(import().wait().expect("ends").success());
    assert_eq!(imported(&tree), whole(version));
}

#[test]
fn interrupted_first_search_is_no_damage() {
    // On a fast machine a small tree is read before the kill lands.
    let tree = [1_500, 4_500, 13_500].into_iter().find_map(tree_of_interrupted_first_search);
    let tree = tree.expect("a first search that was killed between two commits");
    assert_eq!(run(tree.tamis(&["search", "glacier", "--limit", "1"])).0, 0);
    let (code, out, _) = run(tree.tamis(&["doctor", "--check-only"]));
    assert!(code == 0 && out.contains("ok: index: sound: "), "{out}");
}

/// A tree of so many notes whose first search was killed once something was committed; `None` where it had read them all.
fn tree_of_interrupted_first_search(notes: usize) -> Option<Tree> {
    let tree = Tree::empty();
    for number in 0..notes {
        tree.write(&format!("note{number}.md"), &format!("# Note {number}\n\nA glacier of number {number}.\n"));
    }
    let mut first = tree.spawn(&["search", "glacier"]);
    let documents = || {
        let status: Value = serde_json::from_str(&run(tree.tamis(&["status", "--json"])).1).unwrap_or_default();
        status["documents"].as_u64().unwrap_or_default()
    };
    while documents() == 0 && first.try_wait().expect("its state").is_none() {}
    // One that has ended by itself cannot be killed.
    let _ = first.kill();
    first.wait().expect("ended");
    let (code, out, _) = run(tree.tamis(&["doctor", "--check-only"]));
    // A kill after the last commit can leave the vector file unwritten, and doctor rightly says so.
    let is_interrupted = out.contains("note: index: its first run was interrupted after ");
    assert!(!is_interrupted || (code == 0 && !out.contains("missing")), "{out}");
    is_interrupted.then_some(tree)
}

#[test]
fn reader_that_stops_reading_is_no_error() {
    let tree = Tree::empty();
    // More text than any pipe holds.
    let text = "# Kelp\n\nKelp grows in cold water, and this line is long.\n\n".repeat(60);
    for file in 0..40 {
        tree.write(&format!("part{file}.md"), &text);
    }
    tree.succeed(&["index"]);
    let arguments =
        ["search", "--json", "--no-refresh", "--cut", "fixed:k=1000", "-n", "1000", "--context", "500", "kelp"];
    let mut command = tree.tamis(&arguments);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
    child.stdout.take().expect("a pipe").read_exact(&mut [0; 16]).expect("some output");
    let output = child.wait_with_output().expect("ends");
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""));
}
