//! `tamis doctor`: repairs derived files, and reports everything else.

use crate::support::{Tree, run};
use std::fs;
use std::process::Stdio;

#[test]
fn a_sound_index_is_well() {
    let tree = Tree::indexed();
    let (code, out, err) = run(tree.tamis(&["doctor"]));
    assert_eq!(code, 0, "{out}{err}");
    for part in ["ok: configuration: ", "ok: index: sound", "ok: model static: works", "ok: freshness: "] {
        assert!(out.contains(part), "{part} is not in:\n{out}");
    }
    let json = tree.json(&["doctor", "--json"]);
    assert_eq!(json["healthy"], true);
}

#[test]
fn deleted_derived_indexes_come_back_and_lose_nothing() {
    let tree = Tree::indexed();
    let ask = ["search", "--cut", "background", "--json", "--no-refresh", "how hot should the oven be"];
    let before = tree.json(&ask);
    fs::remove_dir_all(tree.root().join(".tamis/lexical")).expect("removed");
    fs::remove_dir_all(tree.root().join(".tamis/vectors")).expect("removed");
    let (code, out, err) = run(tree.tamis(&["doctor", "--check-only"]));
    assert_eq!(code, 1, "{out}{err}");
    assert!(out.contains("repairable: lexical index: ") && out.contains("repairable: vectors: "), "{out}");
    let (code, out, err) = run(tree.tamis(&["doctor"]));
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains("repaired: lexical index: ") && out.contains("repaired: vectors: "), "{out}");
    assert!(tree.root().join(".tamis/lexical").is_dir());
    assert_eq!(run(tree.tamis(&["doctor", "--check-only"])).0, 0);
    let after = tree.json(&ask);
    assert_eq!(after["results"], before["results"]);
    assert_eq!(after["cut"], before["cut"]);
}

#[test]
fn what_cannot_be_mended_is_told() {
    let tree = Tree::indexed();
    tree.write(".tamis/config.toml", "[search]\ntop_k = \"many\"\n");
    let (code, out, _) = run(tree.tamis(&["doctor"]));
    assert_eq!(code, 1);
    assert!(out.contains("wrong: configuration: ") && out.contains("must be 1 to 100"), "{out}");
    assert!(out.contains("ok: index: "), "the rest is looked at all the same:\n{out}");

    let tree = Tree::indexed();
    fs::write(tree.root().join(".tamis/tamis.db"), "this is no database, and long enough to be read as one")
        .expect("written");
    let (code, out, _) = run(tree.tamis(&["doctor"]));
    assert_eq!(code, 1, "{out}");
    assert!(out.contains("wrong: index: ") && out.contains("tamis.db"), "{out}");
}

#[test]
fn no_index_and_a_stale_one_are_no_illness() {
    let tree = Tree::new();
    let (code, out, _) = run(tree.tamis(&["doctor"]));
    assert_eq!(code, 0);
    assert!(out.contains("note: index: none in ") && !tree.root().join(".tamis").exists(), "{out}");
    tree.tamis(&["index"]).assert().success();
    tree.write("new.md", "# New\n\nSomething new.\n");
    let (code, out, _) = run(tree.tamis(&["doctor"]));
    assert_eq!(code, 0);
    assert!(out.contains("note: freshness: 1 changed file since"), "{out}");
}

#[test]
fn an_empty_database_beside_what_was_made_from_it_is_told_and_left_alone() {
    let tree = Tree::indexed();
    let database = tree.root().join(".tamis/tamis.db");
    fs::write(&database, "").expect("written");
    for command in [&["doctor"][..], &["doctor", "--check-only"]] {
        let (code, out, _) = run(tree.tamis(command));
        assert_eq!(code, 1, "{out}");
        assert!(out.contains("wrong: index: ") && out.contains("it is empty, but lexical/ remains"), "{out}");
        assert!(!out.contains("delete"), "no advice costs anything:\n{out}");
    }
    for command in [&["index"][..], &["search", "bread"], &["status"]] {
        let (code, _, err) = run(tree.tamis(command));
        assert_eq!(code, 2, "{command:?}: {err}");
        assert!(err.contains("it is empty"), "{err}");
    }
    assert_eq!(fs::metadata(&database).expect("there").len(), 0);
    // The remedy that the message names.
    fs::rename(&database, database.with_extension("aside")).expect("moved");
    tree.tamis(&["index"]).assert().success();
    assert_eq!(run(tree.tamis(&["doctor"])).0, 0);
}

#[test]
fn an_interrupted_first_search_is_no_damage() {
    let tree = Tree::empty();
    for number in 0..3000 {
        tree.write(&format!("note{number}.md"), &format!("# Note {number}\n\nA glacier of number {number}.\n"));
    }
    let mut first = tree.process(&["search", "glacier"]);
    let mut first = first.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("starts");
    let documents = || -> u64 {
        let status = run(tree.tamis(&["status", "--json"])).1;
        let status: serde_json::Value = serde_json::from_str(&status).unwrap_or_default();
        status["documents"].as_u64().unwrap_or_default()
    };
    while documents() == 0 {
        assert!(first.try_wait().expect("its state").is_none(), "it ended before anything was committed");
    }
    first.kill().expect("killed");
    first.wait().expect("ended");
    let (code, out, _) = run(tree.tamis(&["doctor", "--check-only"]));
    assert_eq!(code, 0, "{out}");
    assert!(out.contains("note: index: its first run was interrupted after ") && !out.contains("missing"), "{out}");
    assert_eq!(run(tree.tamis(&["search", "glacier", "--limit", "1"])).0, 0);
    let (code, out, _) = run(tree.tamis(&["doctor", "--check-only"]));
    assert!(code == 0 && out.contains("ok: index: sound: "), "{out}");
}

#[test]
fn the_log_and_the_cache_are_looked_at_whatever_the_index_is() {
    let tree = Tree::indexed();
    tree.tamis(&["search", "how hot should the oven be"]).assert().success();
    let (code, out, _) = run(tree.tamis(&["doctor"]));
    assert_eq!(code, 0, "{out}");
    assert!(out.contains("ok: log of searches: sound: 1 search and 0 judgements in "), "{out}");

    let log = tree.root().join(".tamis/usage.db");
    let _ = fs::remove_file(log.with_extension("db-wal"));
    fs::write(&log, "this is no database, and long enough to be read as one ".repeat(50)).expect("written");
    fs::write(tree.root().join(".tamis/tamis.db"), "no database either, and long enough too ".repeat(50))
        .expect("written");
    let (code, out, _) = run(tree.tamis(&["doctor"]));
    assert_eq!(code, 1, "{out}");
    assert!(out.contains("wrong: index: ") && out.contains("wrong: log of searches: "), "{out}");
    assert!(out.contains("mv usage.db usage.db.aside") && out.contains("what was judged"), "{out}");
    assert!(!out.contains("delete"), "no advice costs anything:\n{out}");
    assert!(log.exists());
}
