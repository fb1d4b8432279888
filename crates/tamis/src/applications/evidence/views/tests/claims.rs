//! Views whose rows are claims, or fragments by claim.

use tamis_store::SqlValue;

use super::{Graph, text};

/// | claim | task | supports | refutes | neutral | origin |
/// | --- | --- | --- | --- | --- | --- |
/// | a | t | p1 p2 | p3 | | p1 |
/// | b | t | p1 | p2 | p3 p4 | |
/// | c | u | p1 p2 | p3 p4 | | |
/// | d | t | | p1 p2 | | p3 |
/// | e | t | p1 p2 p3 | | | |
/// | f | u | | | p1 | |
/// | g | t | | | | |
/// | h | u | p1 | p2 | | |
///
/// p1 and p2 are pages of the work w, p3 and p4 have none; p1 has a second fragment p1b, which supports e.
fn graph() -> Graph {
    let graph = Graph::empty();
    graph.work("w", Some(2020)).page("p1", Some("w"), None).page("p2", Some("w"), None).page("p3", None, None);
    graph.page("p4", None, Some("2024-05-01")).fragment("p1b", "p1");
    for (claim, task) in
        [("a", "t"), ("b", "t"), ("c", "u"), ("d", "t"), ("e", "t"), ("f", "u"), ("g", "t"), ("h", "u")]
    {
        graph.claim(claim, task, None);
    }
    graph.stand(&["p1", "p2"], "supports", "a").stand(&["p3"], "refutes", "a").stand(&["p1"], "origin", "a");
    graph.stand(&["p1"], "supports", "b").stand(&["p2"], "refutes", "b").stand(&["p3", "p4"], "neutral", "b");
    graph.stand(&["p1", "p2"], "supports", "c").stand(&["p3", "p4"], "refutes", "c");
    graph.stand(&["p1", "p2"], "refutes", "d").stand(&["p3"], "origin", "d");
    graph.stand(&["p1", "p1b", "p3"], "supports", "e").stand(&["p1"], "neutral", "f");
    graph.stand(&["p1"], "supports", "h").stand(&["p2"], "refutes", "h");
    graph
}

#[test]
fn contradictions_and_summaries_count_each_side_of_a_claim() {
    let graph = self::graph();
    let columns = ["claim_id", "supports", "refutes", "neutral", "n", "controversy"];
    // c and h are both half disputed: more evidence first. d has only refutations, e only support.
    let rows = graph.asked("v_contradictions", &columns, &[]);
    assert_eq!(rows, ["c 2 2 0 4 0.5", "h 1 1 0 2 0.5", "a 2 1 0 3 0.3333", "b 1 1 2 4 0.25"]);
    let of_t = graph.asked("v_contradictions", &["claim_id"], &[("task_id", text("t"))]);
    assert_eq!(of_t, ["a", "b"]);
    let at_least =
        |least: f64| graph.asked("v_contradictions", &["claim_id"], &[("min_controversy", SqlValue::Real(least))]);
    assert_eq!(at_least(0.3), ["c", "h", "a"]);
    assert_eq!(at_least(0.25), ["c", "h", "a", "b"], "the bound itself passes");
    assert!(at_least(0.51).is_empty());

    let columns = ["claim_id", "supports", "refutes", "neutral", "origins", "sources", "support_share"];
    // Sources: p1 and p2 are one work. Shares: a (1+2)/(2+3), e (1+3)/(2+3), d 1/(2+2).
    assert_eq!(
        graph.asked("v_claim_evidence_summary", &columns, &[]),
        [
            "c 2 2 0 0 3 0.5", "a 2 1 0 1 2 0.6", "e 3 0 0 0 2 0.8", "b 1 1 2 0 1 0.5", "d 0 2 0 1 1 0.25",
            "h 1 1 0 0 1 0.5", "f 0 0 1 0 0 0.5", "g 0 0 0 0 0 0.5",
        ]
    );
    let one = graph.asked("v_claim_evidence_summary", &columns, &[("claim_id", text("d"))]);
    assert_eq!(one, ["d 0 2 0 1 1 0.25"]);
    assert!(
        graph
            .asked("v_claim_evidence_summary", &columns, &[("claim_id", text("d")), ("task_id", text("u"))])
            .is_empty()
    );

    let columns = ["claim_id", "refutes", "neutral", "origins"];
    assert_eq!(graph.asked("v_unsupported_claims", &columns, &[]), ["d 2 0 1", "f 0 1 0", "g 0 0 0"]);
    assert_eq!(graph.asked("v_unsupported_claims", &["claim_id"], &[("task_id", text("t"))]), ["d", "g"]);

    let graph = Graph::empty();
    graph.page("p", None, None).page("q", None, None).page("r", None, None).claim("a", "t", Some(0.5));
    graph.edge("p", "supports", "a", Some(0.5)).edge("q", "refutes", "a", None).edge("r", "neutral", "a", Some(1.0));
    let rows = graph.asked("v_claim_evidence_summary", &["confidence", "support_share"], &[]);
    assert_eq!(rows, ["0.5 0.4286"], "(1 + 0.5) / (2 + 0.5 + 1)");
}

#[test]
fn the_chain_holds_stands_by_confidence_and_origins_lead_to_works() {
    let graph = self::graph();
    let columns = ["claim_id", "relation", "fragment_id", "page_id", "domain", "work_id"];
    assert_eq!(
        graph.asked("v_evidence_chain", &columns, &[("claim_id", text("a"))]),
        ["a supports p1 p1 example.org w", "a supports p2 p2 example.org w", "a refutes p3 p3 example.org -"]
    );
    let of_b = graph.asked("v_evidence_chain", &["relation", "fragment_id"], &[("claim_id", text("b"))]);
    assert_eq!(of_b, ["supports p1", "refutes p2", "neutral p3", "neutral p4"]);
    let refuting = graph.asked(
        "v_evidence_chain",
        &["claim_id", "fragment_id"],
        &[("relation", text("refutes")), ("task_id", text("t"))],
    );
    assert_eq!(refuting, ["a p3", "b p2", "d p1", "d p2"]);
    assert_eq!(graph.asked("v_evidence_chain", &columns, &[]).len(), 3 + 4 + 4 + 2 + 3 + 1 + 2);

    graph.stand(&["p4"], "origin", "a");
    let columns = ["claim_id", "fragment_id", "page_id", "work_id", "year"];
    assert_eq!(graph.asked("v_claim_origins", &columns, &[]), ["a p1 p1 w 2020", "a p4 p4 - 2024", "d p3 p3 - -"]);
    assert_eq!(graph.asked("v_claim_origins", &["fragment_id"], &[("claim_id", text("d"))]), ["p3"]);
    assert!(graph.asked("v_claim_origins", &columns, &[("task_id", text("u"))]).is_empty());

    let graph = Graph::empty();
    graph.page("p", None, None).page("q", None, None).page("r", None, None).claim("a", "t", None);
    graph.edge("p", "supports", "a", Some(0.7)).edge("q", "supports", "a", None).edge("r", "supports", "a", Some(0.9));
    let rows = graph.asked("v_evidence_chain", &["fragment_id", "nli_edge_confidence"], &[]);
    assert_eq!(rows, ["r 0.9", "p 0.7", "q -"]);
}
