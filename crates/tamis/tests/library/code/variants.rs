//! Several phrasings of one question.

use crate::support::{ask, notes_tree, paths, refresh, search};
use tamis::SearchRequest;
use tamis::search::Variant;

fn variant(text: &str) -> Variant {
    text.parse().expect("a variant")
}

#[test]
fn what_another_phrasing_finds_is_found_and_what_both_find_comes_first() {
    let tree = notes_tree();
    let index = tree.open(&[("search.gate", "false"), ("search.cut", "fixed:k=4")]);
    refresh(&index);
    let request = |variants: &[&str]| SearchRequest {
        variants: variants.iter().map(|text| variant(text)).collect(),
        ..SearchRequest::new("fifths that are tuned")
    };
    assert_eq!(paths(&search(&index, request(&[])))[0], "violin.md");
    let answer = search(&index, request(&["ships wait for the tide and the pilot", "paths:harbour.md"]));
    assert_eq!(paths(&answer)[0], "harbour.md", "found by two of three");
    assert!(paths(&answer).contains(&"violin.md"));
    assert!(answer.results.iter().all(|hit| hit.bm25.is_some() && hit.similarity.is_some()), "under the query itself");
}

#[test]
fn the_query_repeated_as_a_variant_changes_no_order() {
    let tree = notes_tree();
    let index = tree.open(&[("search.gate", "false"), ("search.cut", "fixed:k=5")]);
    refresh(&index);
    let alone = ask(&index, "bread in the oven");
    let twice = search(
        &index,
        SearchRequest { variants: vec![variant("bread in the oven")], ..SearchRequest::new("bread in the oven") },
    );
    assert_eq!(paths(&alone), paths(&twice));
    assert_eq!(alone.cut.keep, twice.cut.keep);
}

#[test]
fn a_cut_reads_values_and_not_ranks() {
    let tree = notes_tree();
    let index = tree.open(&[("search.cut", "background")]);
    refresh(&index);
    let request = SearchRequest {
        variants: vec![variant("code:zzqx qqzx"), variant("xyzzy plugh")],
        ..SearchRequest::new("frobnicate the quux")
    };
    let nothing = search(&index, request);
    assert_eq!(
        (nothing.cut.keep, nothing.cut.method.as_str()),
        (0, "gate"),
        "ranks always look good: {:?}",
        nothing.cut
    );
    let request =
        SearchRequest { variants: vec![variant("rosin on the bow")], ..SearchRequest::new("frobnicate the quux") };
    let found = search(&index, request);
    assert_eq!(paths(&found), ["violin.md"], "one phrasing that answers is enough: {:?}", found.cut);
}

#[test]
fn too_long_too_many_and_empty_ones_are_refused_with_the_limit() {
    let tree = notes_tree();
    let index = tree.open(&[]);
    refresh(&index);
    let long = SearchRequest { variants: vec![variant(&"x".repeat(801))], ..SearchRequest::new("oven") };
    let error = index.search(&long).expect_err("too long").to_string();
    assert!(error.contains("801 characters") && error.contains("1 to 800"), "{error}");
    let many =
        SearchRequest { variants: vec![variant("x"); tamis::search::MAX_VARIANTS + 1], ..SearchRequest::new("oven") };
    assert!(many.check().is_err());
}
