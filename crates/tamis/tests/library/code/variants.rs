//! Several phrasings of one question.

use crate::support::{ask, assert_says, indexed_notes, paths, search};
use tamis::SearchRequest;
use tamis::search::Variant;

fn variant(text: &str) -> Variant {
    text.parse().expect("a variant")
}

#[test]
fn variants_add_finds_and_change_no_values() {
    let (_tree, index) = indexed_notes(&[("search.gate", "false"), ("search.cut", "fixed:k=4")]);
    let request = |variants: &[&str]| SearchRequest {
        variants: variants.iter().map(|text| variant(text)).collect(),
        ..SearchRequest::new("fifths that are tuned")
    };
    assert_eq!(paths(&search(&index, request(&[])))[0], "violin.md");
    let answer = search(&index, request(&["ships wait for the tide and the pilot", "paths:harbour.md"]));
    assert_eq!(paths(&answer)[0], "harbour.md", "found by two of three");
    assert!(paths(&answer).contains(&"violin.md"));
    assert!(answer.results.iter().all(|hit| hit.bm25.is_some() && hit.similarity.is_some()), "under the query itself");

    let alone = ask(&index, "bread in the oven");
    let twice = search(
        &index,
        SearchRequest { variants: vec![variant("bread in the oven")], ..SearchRequest::new("bread in the oven") },
    );
    // Merged ranks order what hardly matters in another way.
    assert_eq!(paths(&alone)[0], paths(&twice)[0]);
    assert_eq!(alone.cut.keep, twice.cut.keep);

    let (_tree, index) = indexed_notes(&[("search.cut", "background")]);
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

    let long = SearchRequest { variants: vec![variant(&"x".repeat(801))], ..SearchRequest::new("oven") };
    assert_says(index.search(&long).expect_err("too long"), &["801 characters", "1 to 800"]);
    let many =
        SearchRequest { variants: vec![variant("x"); tamis::search::MAX_VARIANTS + 1], ..SearchRequest::new("oven") };
    assert!(many.check().is_err());
}
