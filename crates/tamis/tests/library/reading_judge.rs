//! The built-in judge in a search: it reads the best entries, says so, and can be left out.

use crate::support::{Tree, refresh, search};
use tamis::SearchRequest;

fn tree() -> Tree {
    let tree = Tree::new(&[]);
    for (name, text) in [
        ("oven.md", "# The oven\n\nHeat the oven to 220 degrees before the bread goes in.\n"),
        (
            "buying.md",
            "# Buying an oven\n\nAn oven costs money. Ask how hot the shop is in summer, and bring a friend.\n",
        ),
        ("tide.md", "# The tide\n\nShips wait for the tide before they leave the harbour.\n"),
        ("violin.md", "# The violin\n\nThe bow needs rosin, and the strings are tuned in fifths.\n"),
    ] {
        tree.write(name, text.as_bytes());
    }
    tree
}

#[test]
fn the_judge_reads_what_the_cut_counts_and_says_what_it_thinks() {
    let tree = tree();
    let settings = [("search.judge", "on"), ("search.judge_ms", "60000"), ("search.gate", "false")];
    let index = tree.open(&settings);
    refresh(&index);
    let request = SearchRequest { explain: true, ..SearchRequest::new("how hot must the oven be for bread") };
    let answer = search(&index, request.clone());
    assert_eq!(answer.results[0].path, "oven.md");
    assert!(answer.cut.diagnostics["judge"].as_str().expect("a name").starts_with("judge-"));
    let pool = answer.pool.expect("explained");
    assert_eq!(answer.cut.diagnostics["judged"], pool.len());
    let judged =
        |path: &str| pool.iter().find(|entry| entry.path == path).and_then(|entry| entry.judged).expect("read");
    assert!(judged("oven.md") > judged("violin.md"), "{pool:?}");
    assert!(answer.results[0].probability.is_some() && answer.results[0].judged.is_some());

    let fast = search(&index, SearchRequest { fast: true, ..request.clone() });
    assert!(!fast.cut.diagnostics.contains_key("judge") && fast.results[0].judged.is_none());
    let other = search(&index, SearchRequest { cut: Some(index.config().cut("fixed:k=2").expect("a cut")), ..request });
    assert!(!other.cut.diagnostics.contains_key("judge"), "a cut that reads no probabilities asks nobody");
}
