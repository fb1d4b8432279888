//! A month of a project's notes (`tests/fixtures/notes`), asked in other words than the notes use.

use crate::support::{Tree, run};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// The notes, indexed, and asked as if for the first time: no question learns from another.
fn month() -> Tree {
    let tree = Tree::empty();
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/notes");
    for directory in ["", "memory"] {
        for entry in fs::read_dir(fixture.join(directory)).expect("the fixture").flatten() {
            if entry.path().is_file() {
                let name = Path::new(directory).join(entry.file_name());
                tree.write(&name.to_string_lossy(), &fs::read_to_string(entry.path()).expect("text"));
            }
        }
    }
    tree.write(".tamis/config.toml", "telemetry.record = \"off\"\n");
    tree.tamis(&["index"]).assert().success();
    tree
}

/// The answer to a question, and its reason.
fn said(tree: &Tree, question: &str, more: &[&str]) -> (Vec<String>, String) {
    let (status, out, error) = run(tree.tamis(&[&["recall", question, "--json", "-n", "100"], more].concat()));
    let answer: Value = serde_json::from_str(&out).expect(&error);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let said: Vec<String> =
        answer["results"].as_array().expect("results").iter().map(|hit| text(&hit["snippet"])).collect();
    assert_eq!(status, i32::from(said.is_empty()), "{error}");
    (said, text(&answer["cut"]["reason"]))
}

#[test]
fn questions_in_other_words_are_answered_from_the_notes() {
    let tree = month();
    for (question, more, expected) in [
        (
            "what did we decide about backups",
            &["--since", "2026-09-28", "--until", "2026-10-05"][..],
            &["full dump every night", "second provider in Aarhus", "restored last night's dump"][..],
        ),
        ("XJ-4471", &[], &["ticket XJ-4471 at the provider"]),
        ("what is the test server called", &[], &["is called puffin"]),
        ("two people reserved the same boat at the same moment", &[], &["tester booked the same dinghy"]),
        ("bugs with daylight saving", &["--topic", "bugs"], &["summer time ends then", "local time and zone"]),
        ("when are classes cancelled because of a storm", &[], &["above six Beaufort"]),
    ] {
        let (said, reason) = said(&tree, question, more);
        for expected in expected {
            assert!(said.iter().any(|said| said.contains(expected)), "{question}: {expected}: {said:#?}\n{reason}");
        }
    }
}

#[test]
fn dates_and_topics_leave_only_what_was_asked_for() {
    let tree = month();
    let paths = |more: &[&str]| -> Vec<String> {
        let (_, out, _) = run(tree
            .tamis(&[&["recall", "what was decided", "--files", "--cut", "off", "--path", "memory/"], more].concat()));
        let mut paths: Vec<String> = out.lines().map(str::to_owned).collect();
        paths.sort();
        paths
    };
    assert_eq!(paths(&["--since", "2026-10-29"]), ["memory/2026-10-29.md", "memory/2026-10-30.md"]);
    assert_eq!(paths(&["--until", "2026-09-22"]), ["memory/2026-09-21.md"]);
    assert_eq!(paths(&["--topic", "law"]), ["memory/2026-10-14.md", "memory/2026-10-27.md"]);
}

#[test]
fn nothing_is_said_to_what_has_nothing_to_do_with_the_notes() {
    let tree = month();
    for question in [
        "who won the football world cup",
        "how do I bake sourdough bread",
        "kubernetes ingress controller annotations",
        "what is the capital of Mongolia",
        "symptoms of vitamin D deficiency",
        "borrow checker lifetime error in rust",
        "quarterly revenue of the car maker",
        "best pizza in Naples",
    ] {
        let (said, reason) = said(&tree, question, &[]);
        assert!(said.is_empty(), "{question}: {said:#?}\n{reason}");
        assert!(!reason.is_empty(), "silence has its reason");
    }
}
