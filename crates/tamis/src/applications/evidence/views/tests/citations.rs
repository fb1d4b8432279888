//! Views of citations.

use tamis_store::SqlValue;

use super::{Graph, text};

/// Works a 2024, b 2020, c 2010, d without a year, and a page x from 2022 without a work. Pages a1 and a2 belong to a,
/// b1 to b.
///
/// Citations as given: a1 → b, a → b (the same once pages count as their works), a → c, b1 → c, c → a (a circle), x →
/// c, x → b, x → d, a1 → a2 (a work does not cite itself).
///
/// Citations between sources: a → b, a → c, b → c, c → a, x → b, x → c, x → d.
///
/// The task t has a claim taken from a1; u has one that x refutes; v has one to which b1 is neutral, so b1 is not its
/// source.
fn graph() -> Graph {
    let graph = Graph::empty();
    graph.work("a", Some(2024)).work("b", Some(2020)).work("c", Some(2010)).work("d", None);
    graph.page("a1", Some("a"), None).page("a2", Some("a"), None).page("b1", Some("b"), None);
    graph.page("x", None, Some("2022-03-04T05:06:07Z"));
    for (citing, cited) in [
        ("page:a1", "work:b"),
        ("work:a", "work:b"),
        ("work:a", "work:c"),
        ("page:b1", "work:c"),
        ("work:c", "work:a"),
        ("page:x", "work:c"),
        ("page:x", "work:b"),
        ("page:x", "work:d"),
        ("page:a1", "page:a2"),
    ] {
        graph.cites(citing, cited);
    }
    graph.claim("one", "t", None).claim("two", "u", None).claim("three", "v", None);
    graph.stand(&["a1"], "origin", "one").stand(&["x"], "refutes", "two").stand(&["b1"], "neutral", "three");
    graph
}

const FLOW: [&str; 4] = ["citing_type", "citing_id", "cited_type", "cited_id"];

#[test]
fn the_flow_is_that_of_works() {
    let graph = self::graph();
    let all = [
        "page x work b", "page x work c", "page x work d", "work a work b", "work a work c", "work b work c",
        "work c work a",
    ];
    assert_eq!(graph.asked("v_citation_flow", &FLOW, &[]), all);
    let of = |task: &str| graph.asked("v_citation_flow", &FLOW, &[("task_id", text(task))]);
    assert_eq!(of("t"), all[3..5]);
    assert_eq!(of("u"), all[..3]);
    assert!(of("v").is_empty(), "what is neutral is no source");
    let around = graph.asked("v_citation_flow", &["citing_id", "cited_id"], &[("source_id", text("b"))]);
    assert_eq!(around, ["x b", "a b", "b c"]);
    let titled =
        graph.asked("v_citation_flow", &["citing_title", "citing_year", "cited_title"], &[("source_id", text("d"))]);
    assert_eq!(titled, ["- 2022 title of d"], "a page without a title has none");

    let columns = ["citing_id", "cited_id", "age_gap"];
    assert_eq!(
        graph.asked("v_citation_age_gap", &columns, &[]),
        ["a c 14", "x c 12", "b c 10", "a b 4", "x b 2", "c a -14", "x d -"]
    );
    assert_eq!(
        graph.asked("v_citation_age_gap", &columns, &[("min_gap", SqlValue::Integer(12))]),
        ["a c 14", "x c 12"]
    );
    assert_eq!(graph.asked("v_citation_age_gap", &columns, &[("task_id", text("t"))]), ["a c 14", "a b 4"]);

    graph.page("d1", Some("d"), Some("2015-01-01")).page("d2", Some("d"), Some("2013"));
    let rows = graph.asked("v_citation_flow", &["cited_id", "cited_year"], &[("source_id", text("d"))]);
    assert_eq!(rows, ["d 2013"]);
}

#[test]
fn trap_chains_end_where_they_would_go_round() {
    let graph = self::graph();
    let path = |given: &[(&str, SqlValue)]| graph.asked("v_citation_chains", &["steps", "path"], given);
    // Two steps: every pair of neighbours but a → c → a and the like.
    assert_eq!(path(&[]), ["2 a → b → c", "2 b → c → a", "2 c → a → b", "2 x → b → c", "2 x → c → a"]);
    let three = path(&[("max_steps", SqlValue::Integer(50))]);
    assert_eq!(
        three,
        [
            "2 a → b → c", "2 b → c → a", "2 c → a → b", "2 x → b → c", "2 x → c → a", "3 x → b → c → a",
            "3 x → c → a → b"
        ]
    );
    assert_eq!(path(&[("source_id", text("x"))]), ["2 x → b → c", "2 x → c → a"]);
    assert_eq!(path(&[("task_id", text("t"))]), ["2 a → b → c"]);
    assert!(path(&[("max_steps", SqlValue::Integer(1))]).is_empty());
    let columns = ["first_type", "first_title", "last_type", "last_title", "last_id"];
    let titles = graph.asked("v_citation_chains", &columns, &[("source_id", text("x"))]);
    assert_eq!(titles, ["page - work title of c c", "page - work title of a a"]);

    let graph = Graph::empty();
    graph.work("a", None).work("aa", None).work("work a", None);
    graph.cites("work:aa", "work:work a").cites("work:work a", "work:a");
    assert_eq!(graph.asked("v_citation_chains", &["path"], &[]), ["aa → work a → a"]);
}

#[test]
fn coupling_and_candidates_count_common_citations() {
    let graph = self::graph();
    let columns = ["a_id", "b_id", "shared", "a_references", "b_references", "coupling"];
    // c is cited by a, b and x; b by a and x.
    assert_eq!(
        graph.asked("v_bibliographic_coupling", &columns, &[]),
        ["x a 2 3 2 0.6667", "a b 1 2 1 0.5", "x b 1 3 1 0.3333"]
    );
    let two = graph.asked("v_bibliographic_coupling", &["a_id", "b_id"], &[("min_shared", SqlValue::Integer(2))]);
    assert_eq!(two, ["x a"]);
    assert!(graph.asked("v_bibliographic_coupling", &columns, &[("task_id", text("t"))]).is_empty(), "one is no pair");
    graph.stand(&["x"], "supports", "one");
    assert_eq!(graph.asked("v_bibliographic_coupling", &columns, &[("task_id", text("t"))]), ["x a 2 3 2 0.6667"]);

    let graph = self::graph();
    graph.0.execute("UPDATE works SET citation_count = 7, doi = '10.1/d' WHERE id = 'd'", []).expect("set");
    let columns = ["candidate_type", "candidate_id", "cited_by", "citation_count", "fragments"];
    // Ours are a and x: both cite b and c, x alone d. b has a fragment, which is neutral.
    let all = graph.asked("v_reference_candidates", &columns, &[]);
    assert_eq!(all, ["work b 2 - 1", "work c 2 - 0", "work d 1 7 0"]);
    // For t only a is ours.
    let of_t = graph.asked("v_reference_candidates", &["candidate_id", "cited_by"], &[("task_id", text("t"))]);
    assert_eq!(of_t, ["b 1", "c 1"]);
    // A source of the task is no longer a candidate.
    graph.stand(&["b1"], "supports", "one");
    let of_t = graph.asked("v_reference_candidates", &["candidate_id", "cited_by"], &[("task_id", text("t"))]);
    assert_eq!(of_t, ["c 2"]);
    assert!(graph.asked("v_reference_candidates", &columns, &[("task_id", text("v"))]).is_empty());
}
