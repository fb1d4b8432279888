//! `tamis stats`: figures of past queries, and the effect of another cut on them.

use crate::support::{Tree, run};
use serde_json::Value;

/// A tree in which three questions were asked, one of them without a result.
fn asked() -> Tree {
    let tree = Tree::indexed();
    for (query, code) in [("how hot should the oven be", 0), ("retry with backoff", 0), ("zzyzx qwrtplk", 1)] {
        assert_eq!(run(tree.tamis(&["search", query])).0, code, "{query}");
    }
    tree
}

#[test]
fn nothing_recorded_is_said_and_is_exit_status_1() {
    let tree = Tree::indexed();
    for (arguments, part) in [
        (&["stats"][..], "no query is recorded yet"),
        (&["stats", "--since", "7d"], "no query of that period and namespace is recorded"),
        (&["stats", "--replay", "auto"], "no search is recorded yet"),
    ] {
        let (code, out, err) = run(tree.tamis(arguments));
        assert_eq!((code, out.as_str()), (1, ""), "{arguments:?}");
        assert!(err.contains(part), "{arguments:?}: {err}");
    }
    assert!(!tree.root().join(".tamis/usage.db-wal").exists() || tree.json(&["stats", "--json"])["queries"] == 0);
    let mut off = tree.tamis(&["stats"]);
    off.env("TAMIS_TELEMETRY_RECORD", "off");
    let (code, _, err) = run(off);
    assert_eq!(code, 1);
    assert!(err.contains("telemetry is off"), "{err}");
    let empty = Tree::empty();
    let (code, _, err) = run(empty.tamis(&["stats"]));
    assert_eq!(code, 2);
    assert!(err.contains("no index here yet"), "{err}");
}

#[test]
fn trap_queries_that_found_nothing_are_counted() {
    let tree = asked();
    let (code, out, err) = run(tree.tamis(&["stats"]));
    assert_eq!(code, 0, "{err}");
    assert!(out.starts_with("3 queries on "), "{out}");
    assert!(out.contains("1 query found nothing (33%)"), "{out}");
    assert!(out.contains("Kept by the cut") && out.contains("Time") && out.contains("total"), "{out}");
    assert!(out.lines().all(|line| line.chars().count() <= 80), "{out}");
    let stats = tree.json(&["stats", "--json"]);
    assert_eq!((&stats["queries"], &stats["empty"], &stats["distinct_queries"]), (&3.into(), &1.into(), &3.into()));
    assert_eq!(stats["entry_points"][0]["name"], "cli");
    assert!(stats["from"].as_str().is_some_and(|from| from.ends_with('Z')), "{}", stats["from"]);
    assert_eq!(
        stats["latency"].as_array().and_then(|all| all.last()).map(|last| &last["stage"]),
        Some(&"total".into())
    );
    assert!(stats["slowest"][0]["text"].is_null(), "no text is recorded unless asked for");
}

#[test]
fn a_period_is_looked_at_alone() {
    let tree = asked();
    let queries = |arguments: &[&str]| {
        let stats = tree.json(&[&["stats", "--json"], arguments].concat());
        stats["queries"].as_u64().expect("a number")
    };
    assert_eq!(queries(&["--since", "1h"]), 3);
    assert_eq!(queries(&["--until", "1h"]), 0);
    assert_eq!(queries(&["--since", "2000-01-01", "--until", "2000-02-01T12:00"]), 0);
    assert_eq!(queries(&["--namespace", "elsewhere"]), 0);
    for wrong in ["soon", "-7d", ""] {
        let (code, out, err) = run(tree.tamis(&["stats", "--since", wrong]));
        assert_eq!((code, out.as_str()), (2, ""), "{wrong}");
        assert!(err.contains("--since") && err.contains("2026-11-01"), "{wrong}: {err}");
    }
}

#[test]
fn two_cuts_are_compared_on_what_was_asked() {
    let tree = asked();
    let (code, out, err) = run(tree.tamis(&["stats", "--replay", "fixed:k=1,max_gap:min_gap=0.1,floor=0.2,auto"]));
    assert_eq!(code, 0, "{err}");
    assert!(out.starts_with("3 searches from "), "{out}");
    for part in ["1 recorded", "fixed:k=1", "2 fixed", "max_gap:min_gap=0.1,floor…", "4 auto", "overlap"] {
        assert!(out.contains(part), "{part}: {out}");
    }
    let replay = tree.json(&["stats", "--json", "--replay", "auto", "--replay", "fixed:k=1", "-n", "2"]);
    assert_eq!((&replay["searches"], replay["comparisons"].as_array().map(Vec::len)), (&2.into(), Some(3)));
    let same = &replay["comparisons"][0];
    assert_eq!((&same["a"], &same["b"], &same["overlap"]), (&"recorded".into(), &"auto".into(), &1.0.into()));
    assert_eq!(tree.json(&["stats", "--json"])["queries"], 3, "a replay is no query");
    for (cuts, part) in [("max_gab", "max_gap"), (",", "one cut or several"), ("auto:budget_tokens=9", "not recorded")]
    {
        let (code, out, err) = run(tree.tamis(&["stats", "--replay", cuts]));
        assert_eq!((code, out.as_str()), (2, ""), "{cuts}");
        assert!(err.contains(part), "{cuts}: {err}");
    }
}

#[test]
fn judgements_make_precision_and_recall() {
    let tree = Tree::indexed();
    let id =
        tree.json(&["search", "--json", "how hot should the oven be"])["query_id"].as_str().expect("an id").to_owned();
    tree.tamis(&["feedback", &id, "1", "--relevant"]).assert().success();
    let (code, out, err) = run(tree.tamis(&["stats", "--replay", "fixed:k=1,auto"]));
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("1 of them judged") && out.contains("recall") && out.contains("auto has learnt"), "{out}");
    let cuts = &tree.json(&["stats", "--json", "--replay", "fixed:k=1"])["cuts"];
    assert_eq!((&cuts[1]["precision"], &cuts[1]["recall"]), (&1.0.into(), &1.0.into()));
}

#[test]
fn purging_says_how_much_and_spares_what_was_judged() {
    let tree = asked();
    let id = tree.json(&["feedback", "--list", "--json"])[1]["id"].as_str().expect("an id").to_owned();
    tree.tamis(&["feedback", &id, "1", "--relevant"]).assert().success();
    let (code, out, err) = run(tree.tamis(&["stats", "--purge"]));
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("deleted the record of 3 queries and 2 searches\n"), "{out}");
    assert!(out.contains("kept 1 judged search") && out.contains("--purge --judged"), "{out}");
    assert_eq!(run(tree.tamis(&["stats"])).0, 1);
    assert_eq!(tree.json(&["feedback", "--list", "--json"]).as_array().map(Vec::len), Some(1));
    let purged: Value = tree.json(&["stats", "--purge", "--judged", "--json"]);
    assert_eq!((&purged["searches"], &purged["judgements"], &purged["judged_kept"]), (&1.into(), &1.into(), &0.into()));
    let (code, _, err) = run(tree.tamis(&["stats", "--judged"]));
    assert_eq!(code, 2);
    assert!(err.contains("--purge"), "{err}");
}
