//! `tamis troubleshoot` and `tamis duplicates`, through the binary.

use crate::support::{Tree, run};
use serde_json::json;

const TITLE: &str = "Login fails with a bad token after the update";

/// The sample files and a tracker in the project's own format.
fn tracker() -> Tree {
    let tree = Tree::new();
    let issues = [
        json!({
            "number": 1, "title": TITLE, "body": "Since the update the login page says bad token.", "state": "closed",
            "closed_at": "2024-03-02T10:00:00Z", "url": "https://example.org/issues/1",
            "comments": [{ "author": "alice", "created_at": "2024-03-01T10:00:00Z", "body": "Clear the session store." }],
        }),
        json!({ "number": 2, "title": "Printer cannot find the paper tray", "body": "No tray at all.", "state": "closed" }),
        json!({ "number": 3, "title": "Login fails after the update: bad token", "body": "The login page says bad token since the update.", "state": "open" }),
    ];
    let lines: Vec<String> = issues.iter().map(ToString::to_string).collect();
    tree.write("issues.jsonl", &lines.join("\n"));
    tree.tamis(&["import", "issues", "issues.jsonl"]).assert().success();
    tree
}

#[test]
fn a_trouble_is_answered_for_people_programs_and_prompts() {
    let tree = tracker();
    let (code, out, error) = run(tree.tamis(&["troubleshoot", "--title", TITLE]));
    assert_eq!(code, 0, "{error}");
    assert!(
        out.starts_with("[Issue #1]  ") && out.contains("(issue, closed)\n  https://example.org/issues/1\n"),
        "{out}"
    );
    assert!(out.contains("  │ alice (2024-03-01): Clear the session store.\n  1 of 1 comment, "), "{out}");

    let found = tree.json(&["troubleshoot", "--issue", "3", "--json", "--budget", "2000"]);
    assert_eq!(found["sources"], json!(["[Issue #1]"]));
    assert_eq!(found["matches"][0]["thread"]["budget"], 2000);
    assert_eq!(found["matches"][0]["thread"]["comments"][0]["reason"], "tail");
    assert_eq!((&found["fallback"], &found["issue"]), (&json!("none"), &json!(3)));

    let (code, out, _) = run(tree.tamis(&["troubleshoot", "--title", TITLE, "--markdown"]));
    assert_eq!(code, 0);
    assert!(out.contains("\n## [Issue #1] Login fails") && out.contains("\n> alice (2024-03-01): Clear"), "{out}");
}

#[test]
fn silence_is_a_status_of_its_own_with_its_reason() {
    let tree = tracker();
    let off_topic = ["troubleshoot", "--title", "Quarterly harvest of seaweed", "--body", "How much kelp is there?"];
    let (code, out, _) = run(tree.tamis(&off_topic));
    assert_eq!(code, 1);
    assert!(out.starts_with("Nothing similar was solved: nothing is clearly relevant"), "{out}");
    let (code, by_floor, _) = run(tree.tamis(&[&off_topic[..], &["--keep-by", "floor"]].concat()));
    assert_eq!(code, 1);
    assert!(
        by_floor.starts_with("Nothing similar was solved: the nearest solved issue, #")
            && by_floor.contains("below 0.65"),
        "{by_floor}"
    );
    let (code, out, error) = run(tree.tamis(&[&off_topic[..], &["--markdown"]].concat()));
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(error.contains("nothing is clearly relevant"), "{error}");
    let found = tree.json(&[&off_topic[..], &["--json"]].concat());
    assert_eq!((&found["matches"], &found["wiki"], &found["fallback"]), (&json!([]), &json!([]), &json!("no_wiki")));
}

#[test]
fn a_body_comes_from_a_file_or_standard_input() {
    let tree = tracker();
    tree.write("report.md", "Since the update the login page says bad token.\n");
    let by_file = tree.json(&["troubleshoot", "--title", "Login", "--body-file", "report.md", "--json"]);
    let mut command = tree.tamis(&["troubleshoot", "--title", "Login", "--body-file", "-", "--json"]);
    let output = command.write_stdin("Since the update the login page says bad token.\n").output().expect("runs");
    let piped: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&by_file["query"], &by_file["matches"]), (&piped["query"], &piped["matches"]));
}

#[test]
fn duplicates_are_told_with_their_likeness() {
    let tree = tracker();
    let (code, out, error) = run(tree.tamis(&["duplicates", "3"]));
    assert_eq!(code, 0, "{error}");
    assert!(out.starts_with("#1  0.") && out.contains("  (closed)\n") && !out.contains("#3 "), "{out}");
    let found = tree.json(&["duplicates", "3", "--json"]);
    assert_eq!(found["duplicates"][0]["number"], 1);
    let (code, out, _) = run(
        tree.tamis(&["duplicates", "--title", "Quarterly harvest of seaweed", "--body", "How much kelp is there?"])
    );
    assert_eq!(code, 1);
    assert!(out.starts_with("No likely duplicate: the nearest issue, #"), "{out}");
    let open = tree.json(&["duplicates", "1", "--state", "open", "--json"]);
    let open = open["considered"].as_array().expect("a list");
    assert!(open.iter().all(|one| one["state"] == "open") && open.len() == 1, "{open:?}");
}

#[test]
fn what_cannot_be_asked_is_an_error_that_says_what_can() {
    let tree = tracker();
    for (arguments, said) in [
        (&["troubleshoot"][..], "--title"),
        (&["troubleshoot", "--body", "x"], "--title"),
        (&["troubleshoot", "--issue", "99"], "issue 99"),
        (&["troubleshoot", "--title", "x", "--threshold", "1.5"], "0 to 1"),
        (&["troubleshoot", "--title", "x", "--max-results", "11"], "1 to 10"),
        (&["troubleshoot", "--title", "x", "--budget", "10"], "1000 to 50000"),
        (&["troubleshoot", "--title", "x", "--body-file", "none.md"], "none.md"),
        (&["troubleshoot", "--title", " "], "a title, or a body"),
        (&["duplicates"], "<N|--title"),
        (&["duplicates", "99"], "issue 99"),
    ] {
        let (code, _, error) = run(tree.tamis(arguments));
        assert_eq!(code, 2, "{arguments:?}: {error}");
        assert!(error.contains(said), "{arguments:?}: {error}");
    }
    let nowhere = Tree::empty();
    let (code, _, error) = run(nowhere.tamis(&["troubleshoot", "--title", "x"]));
    assert_eq!(code, 2);
    assert!(error.contains("no index here yet"), "{error}");
}
