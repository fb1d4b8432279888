//! The line that every answer draws: what is relevant above it, what comes next below.

use crate::support::{ask, indexed_notes, notes_tree, paths, search};
use std::collections::HashSet;
use tamis::search::Aim;
use tamis::{Answer, SearchRequest};
use tamis_cut::{Guarantee, Want, parse};

const PRUNING: &str = "how are apple trees pruned";
const GLASS: &str = "glass mirror and lens";

fn below(answer: &Answer) -> Vec<&str> {
    answer.nearest.iter().map(|nearest| nearest.path.as_str()).collect()
}

#[test]
fn entries_below_the_line_are_the_next_ones_and_never_kept_ones() {
    let (_tree, index) = indexed_notes(&[]);
    let answer = search(&index, SearchRequest::new(GLASS).explain());
    let (keep, pool) = (answer.cut.keep, answer.pool.as_ref().expect("the pool"));
    assert!(keep > 0 && keep + 5 <= pool.len(), "{:?}", answer.cut);
    // What is hardly ever an answer is not named.
    let next = pool[keep..].iter().filter(|entry| entry.probability.is_none_or(|of| of >= 0.005)).take(5);
    let expected: Vec<_> = next.map(|entry| (entry.path.as_str(), entry.start_line, entry.probability)).collect();
    let nearest = answer.nearest.iter();
    let shown: Vec<_> = nearest.map(|one| (one.path.as_str(), one.start_line, one.probability)).collect();
    assert_eq!(shown, expected);
    assert!(answer.nearest.iter().all(|one| one.end_line >= one.start_line && one.kind == "section"));
    assert!(answer.summary.contains("relevant ("), "{}", answer.summary);
    assert!(answer.missing_words.is_empty(), "{:?}", answer.missing_words);

    let two = SearchRequest::new(GLASS).cut(parse("fixed:k=2").expect("a rule"));
    let whole = search(&index, two.clone());
    let short = search(&index, two.limit(1));
    assert_eq!((whole.results.len(), short.results.len()), (2, 1));
    // Who sees a part of what is relevant is not shown what is less likely.
    assert_eq!(below(&short), Vec::<&str>::new());
    assert!(paths(&whole).iter().all(|path| !below(&whole).contains(path)));

    let tree = notes_tree();
    let section = |number: usize| format!("# Pruning {number}\n\nApple trees are pruned, part {number}.\n\n");
    for file in ["a", "b", "c"] {
        let text: String = (0..8).map(|number| section(number) + file).collect();
        tree.write(&format!("{file}.md"), text.as_bytes());
    }
    let index = tree.indexed(&[]);
    // The second cut counts passages, so its list has several of an entry.
    for cut in ["fixed:k=1", "top_score"] {
        let answer = search(&index, SearchRequest::new(PRUNING).no_gate().cut(parse(cut).expect("a rule")));
        let shown: HashSet<&str> = paths(&answer).into_iter().collect();
        let all: Vec<&str> = shown.into_iter().chain(below(&answer)).collect();
        assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len(), "{cut}: {all:?}");
    }
}

#[test]
fn without_a_cut_nothing_of_a_cut_can_be_asked() {
    let (_tree, index) = indexed_notes(&[]);
    let all = || SearchRequest::new(PRUNING).all();
    let guarantee: Guarantee = "recall=0.9".parse().expect("a promise");
    let aim = Aim { budget_tokens: Some(500), ..Aim::default() };
    let otsu = parse("otsu").expect("a rule");
    for request in [all().cut(otsu), all().want(Want::One), all().aim(aim), all().guarantee(guarantee)] {
        let error = index.search(request).expect_err("refused").to_string();
        assert!(error.starts_with("all = true: must be used without a cut"), "{error}");
    }
    assert_eq!(ask(&index, "Is the Glacier in Mongolia?").missing_words, ["Mongolia"], "other forms are there");
}
