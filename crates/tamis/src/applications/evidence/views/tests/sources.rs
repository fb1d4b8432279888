//! Views whose rows are sources.

use super::{Graph, text};

/// Works a 2020 (pages a1, a2) and b 2010 (page b1), pages x 2022 and y without a date.
///
/// | fragment | origin of | supports | refutes | neutral to |
/// | --- | --- | --- | --- | --- |
/// | a1 | one two | three | | |
/// | a2 | two | one three | | |
/// | b1 | | three | | one |
/// | x | four | | one | |
/// | y | | | | one |
///
/// one (0.9) and two (0.5) are of task t, three (no confidence) and four (no confidence) of u.
/// x → a, b → a, x → y.
fn graph() -> Graph {
    let graph = Graph::empty();
    graph.work("a", Some(2020)).work("b", Some(2010));
    graph.page("a1", Some("a"), None).page("a2", Some("a"), None).page("b1", Some("b"), None);
    graph.page("x", None, Some("2022-01-01")).page("y", None, None);
    graph.claim("one", "t", Some(0.9)).claim("two", "t", Some(0.5)).claim("three", "u", None).claim("four", "u", None);
    graph.stand(&["a1"], "origin", "one").stand(&["a1", "a2"], "origin", "two").stand(&["x"], "origin", "four");
    graph.stand(&["a2"], "supports", "one").stand(&["a1", "a2", "b1"], "supports", "three");
    graph.stand(&["x"], "refutes", "one").stand(&["b1", "y"], "neutral", "one");
    graph.cites("page:x", "page:a1").cites("work:b", "work:a").cites("page:x", "page:y");
    graph
}

#[test]
fn sources_are_ranked_by_support_citations_and_impact() {
    let graph = self::graph();
    let columns = ["source_type", "source_id", "year", "claims", "supports", "refutes", "cites"];
    // a and y are cited; y is neutral besides.
    assert_eq!(graph.asked("v_orphan_sources", &columns, &[]), ["page x 2022 2 0 1 2", "work b 2010 1 1 0 1"]);
    assert_eq!(graph.asked("v_orphan_sources", &columns, &[("task_id", text("t"))]), ["page x 2022 1 0 1 2"]);

    let columns = ["source_id", "claims_supported", "cited_by", "cites", "authority"];
    // a: one and three, cited by x and b: 2 + 0.5 · 2. b: three, cites one: 1 + 0.2. y: 0.5. x supports nothing and is not cited.
    assert_eq!(graph.asked("v_source_authority", &columns, &[]), ["a 2 2 0 3", "b 1 0 1 1.2", "y 0 1 0 0.5"]);
    assert_eq!(graph.asked("v_source_authority", &columns, &[("task_id", text("t"))]), ["a 1 2 0 2"]);

    let columns = ["source_id", "claims_generated", "mean_confidence", "supports", "impact"];
    // a: one and two of 0.9 and 0.5, three edges of support: 2 + 0.5 · 0.7 · 2 + 0.3 · 3 = 3.6. x: four, without a
    // confidence: 1 + 0.5 · 0.5. b: 0.3.
    assert_eq!(graph.asked("v_source_impact", &columns, &[]), ["a 2 0.7 3 3.6", "x 1 - 0 1.25", "b 0 - 1 0.3"]);
    // Of t: a supports one: 2 + 0.7 + 0.3.
    assert_eq!(graph.asked("v_source_impact", &columns, &[("task_id", text("t"))]), ["a 2 0.7 1 3"]);
    assert_eq!(graph.asked("v_source_impact", &["source_id"], &[("task_id", text("u"))]), ["x", "a", "b"]);

    let graph = Graph::empty();
    graph.work("b", None).work("a", None).page("b1", Some("b"), None).page("a1", Some("a"), None).page("c", None, None);
    graph.claim("one", "t", None).stand(&["a1", "b1", "c"], "supports", "one");
    for view in ["v_source_impact", "v_source_authority", "v_orphan_sources"] {
        assert_eq!(graph.asked(view, &["source_type", "source_id"], &[]), ["page c", "work a", "work b"], "{view}");
    }
}
