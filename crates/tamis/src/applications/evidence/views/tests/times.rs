//! Views by year. The year is 2026; 2024 and later count as recent by default.

use tamis_store::SqlValue;

use super::{Graph, text};

/// Fragments y2026, y2024, y2023, y2010 of those years (y2010 by its work, the others by their pages) and none without.
///
/// | claim | task | supports | refutes |
/// | --- | --- | --- | --- |
/// | new | t | y2026 y2024 y2010 | |
/// | old | t | y2010 | y2026 |
/// | even | u | y2024 y2023 | |
/// | disputed | u | y2026 y2024 | y2026b y2024b |
/// | undated | t | none | |
/// | refuted | u | | y2010 |
fn graph() -> Graph {
    let graph = Graph::empty();
    graph.work("w", Some(2010)).page("y2010", Some("w"), Some("2025-01-01"));
    graph.page("y2026", None, Some("2026-01-31")).page("y2026b", None, Some("2026-02-01T00:00:00Z"));
    graph.page("y2024", None, Some("2024-01-01")).page("y2024b", None, Some("2024")).page(
        "y2023",
        None,
        Some("2023-12-31"),
    );
    graph.page("none", None, None);
    for (claim, task) in
        [("new", "t"), ("old", "t"), ("even", "u"), ("disputed", "u"), ("undated", "t"), ("refuted", "u")]
    {
        graph.claim(claim, task, None);
    }
    graph.stand(&["y2026", "y2024", "y2010"], "supports", "new");
    graph.stand(&["y2010"], "supports", "old").stand(&["y2026"], "refutes", "old");
    graph.stand(&["y2024", "y2023"], "supports", "even");
    graph.stand(&["y2026", "y2024"], "supports", "disputed").stand(&["y2026b", "y2024b"], "refutes", "disputed");
    graph.stand(&["none"], "supports", "undated").stand(&["y2010"], "refutes", "refuted");
    graph
}

#[test]
fn times_are_years_of_pages_and_works() {
    let graph = self::graph();
    let columns = [
        "claim_id", "dated", "undated", "mean_age", "newest_support", "newest_refutation", "recent_supports",
        "recent_refutes",
    ];
    // disputed: (0 + 2 + 0 + 2) / 4; even: (2 + 3) / 2; new: (0 + 2 + 16) / 3; old: (16 + 0) / 2.
    assert_eq!(
        graph.asked("v_evidence_freshness", &columns, &[]),
        [
            "disputed 4 0 1 2026 2026 2 2", "even 2 0 2.5 2024 - 1 0", "new 3 0 6 2026 - 2 0",
            "old 2 0 8 2010 2026 0 1", "refuted 1 0 16 - 2010 0 0", "undated 0 1 - - - 0 0",
        ]
    );
    let then = [("task_id", text("u")), ("now", text("2024-06-01")), ("recent_years", SqlValue::Integer(1))];
    let rows = graph.asked("v_evidence_freshness", &["claim_id", "mean_age", "recent_supports"], &then);
    // Seen from 2024, later evidence has a negative age and is recent.
    assert_eq!(rows, ["disputed -1 2", "even 0.5 1", "refuted 14 0"]);

    graph.stand(&["none"], "supports", "new");
    let columns = ["claim_id", "recent_supports", "earlier_supports", "undated_supports", "recent_refutes", "trend"];
    // even has as much support as before, disputed as much against it, old none recently.
    assert_eq!(graph.asked("v_emerging_consensus", &columns, &[]), ["new 2 1 1 0 1"]);
    let wider = graph.asked("v_emerging_consensus", &["claim_id", "trend"], &[("recent_years", SqlValue::Integer(4))]);
    assert_eq!(wider, ["even 2", "new 1"], "2023 and later");
    assert!(graph.asked("v_emerging_consensus", &columns, &[("task_id", text("u"))]).is_empty());

    let columns = ["claim_id", "newest_support", "years_since", "supports", "undated_supports", "newest_refutation"];
    // Only refuted: without support that could be old. Undated: unknown.
    assert_eq!(graph.asked("v_outdated_evidence", &columns, &[]), ["old 2010 16 1 0 2026"]);
    let from =
        |years: i64| graph.asked("v_outdated_evidence", &["claim_id"], &[("min_years", SqlValue::Integer(years))]);
    assert_eq!(from(2), ["old", "even"]);
    assert_eq!(from(16), ["old"], "the bound itself passes");
    assert!(from(17).is_empty());
    assert!(graph.asked("v_outdated_evidence", &columns, &[("task_id", text("u"))]).is_empty());

    let graph = self::graph();
    graph.stand(&["y2023"], "neutral", "new").stand(&["y2023"], "origin", "old");
    let columns = ["year", "fragments", "claims", "sources", "supports", "refutes", "neutral"];
    assert_eq!(
        graph.asked("v_evidence_timeline", &columns, &[]),
        ["2010 1 3 1 2 1 0", "2023 1 2 1 1 0 1", "2024 2 3 2 3 1 0", "2026 2 3 2 2 2 0", "- 1 1 1 1 0 0"]
    );
    let years = |given: &[(&str, SqlValue)]| graph.asked("v_evidence_timeline", &["year", "supports"], given);
    assert_eq!(years(&[("claim_id", text("new"))]), ["2010 1", "2023 0", "2024 1", "2026 1"]);
    assert_eq!(years(&[("task_id", text("t"))]), ["2010 2", "2023 0", "2024 1", "2026 1", "- 1"]);
}
