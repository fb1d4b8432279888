//! `tamis index`, `status` and `get`: what is there.

use crate::support::{Tree, run};

#[test]
fn a_run_reports_what_it_did_and_the_next_one_that_nothing_changed() {
    let tree = Tree::new();
    tree.write("picture.png", "\u{0}\u{1}\u{0}binary");
    let report = tree.json(&["index", "--json"]);
    assert_eq!((&report["added"], &report["changed"]), (&7.into(), &0.into()), "{report}");
    assert_eq!(report["embedded"]["static"], report["passages"]);
    let (code, out, _) = run(tree.tamis(&["index"]));
    assert_eq!(code, 0);
    assert!(out.contains("none changed"), "{out}");

    tree.write("docs/tides.md", "# Tides\n\nSpring tides follow the new moon.\n");
    std::fs::rename(tree.root().join("README.md"), tree.root().join("INTRO.md")).expect("moved");
    std::fs::remove_file(tree.root().join("docs/garden.md")).expect("removed");
    let (code, out, _) = run(tree.tamis(&["index"]));
    assert_eq!(code, 0);
    assert!(out.contains("1 changed, 1 moved, 1 removed"), "{out}");
    let (_, out, _) = run(tree.tamis(&["index", "--full"]));
    assert!(out.contains("none changed"), "read again, and the same: {out}");
}

#[test]
fn what_was_left_out_is_counted_and_listed_when_asked() {
    let tree = Tree::new();
    tree.write(".env", "PASSWORD=swordfish\n");
    tree.write("Cargo.lock", "version = 4\n");
    let (_, out, _) = run(tree.tamis(&["index"]));
    assert!(out.contains("2 files left out (-v says why)"), "{out}");
    let (_, out, _) = run(tree.tamis(&["index", "-v"]));
    assert!(out.contains("1 lock") && out.contains("1 secret"), "{out}");
    let (_, out, _) = run(tree.tamis(&["search", "--mode", "lexical", "swordfish"]));
    assert!(out.starts_with("Nothing relevant"), "{out}");
}

#[test]
fn status_counts_by_collection_language_and_model_and_changes_nothing() {
    let tree = Tree::indexed();
    let (code, out, err) = run(tree.tamis(&["status"]));
    assert_eq!(code, 0, "{err}");
    for part in
        ["7 documents in ", "up to date", "collection", "docs", "Markdown", "Rust", "100%", "index in ", "just now"]
    {
        assert!(out.contains(part), "{part} is not in:\n{out}");
    }
    tree.write("new.md", "# New\n\nSomething new.\n");
    let status = tree.json(&["status", "--json"]);
    assert_eq!((&status["stale"], &status["documents"]), (&1.into(), &7.into()));
    assert!(status["models"][0]["coverage"]["embedded"].as_u64().is_some_and(|embedded| embedded > 0));
    assert!(status["collections"].is_array() && status["languages"].is_array() && status["sizes"]["database"].is_u64());
    assert!(run(tree.tamis(&["status"])).1.contains("1 changed file since"), "looking changed nothing");
}

#[test]
fn text_comes_by_path_by_lines_and_by_identifier() {
    let tree = Tree::indexed();
    let whole = std::fs::read_to_string(tree.root().join("src/retry.rs")).expect("read");
    assert_eq!(run(tree.tamis(&["get", "src/retry.rs"])).1, whole);
    assert_eq!(run(tree.tamis(&["get", "./src/retry.rs:2"])).1, format!("{}\n", whole.lines().nth(1).expect("a line")));
    let answer = tree.json(&["search", "--json", "retry with exponential backoff"]);
    let first = &answer["results"][0];
    let id = first["id"].as_str().expect("an id");
    let by_id = tree.json(&["get", id, "--json"]);
    assert_eq!((&by_id["path"], &by_id["start_line"]), (&first["path"], &first["start_line"]));
    let beginning = tree.json(&["get", &id[..10], "--json"]);
    assert_eq!(beginning, by_id);
    assert!(by_id["text"].as_str().expect("text").contains("fn with_backoff"));
}
