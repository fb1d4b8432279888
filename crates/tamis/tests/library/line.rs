//! The line that every answer draws: what is relevant above it, what comes next below.

use crate::support::{ask, assert_says, indexed_notes, notes_tree, paths, search};
use std::collections::HashSet;
use tamis::search::Aim;
use tamis::{Answer, SearchRequest};
use tamis_cut::{Guarantee, Want, parse};

const PRUNING: &str = "how are apple trees pruned";
const GLASS: &str = "glass mirror and lens";
const FOREIGN: &str = "kubernetes ingress controller";

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
        let answer = search(&index, SearchRequest::new(PRUNING).gate(false).cut(parse(cut).expect("a rule")));
        let shown: HashSet<&str> = paths(&answer).into_iter().collect();
        let all: Vec<&str> = shown.into_iter().chain(below(&answer)).collect();
        assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len(), "{cut}: {all:?}");
    }
}

#[test]
fn strict_all_and_empty_answers_say_what_they_are() {
    let (tree, index) = indexed_notes(&[]);
    for query in [PRUNING, FOREIGN] {
        let answer = search(&index, SearchRequest::new(query).all().limit(7));
        assert_eq!((answer.results.len(), answer.nearest.len()), (7, 0), "{query}");
        assert_eq!(answer.summary, format!("The first 7 of {}, without a cut.", answer.cut.candidates));
        let off = tree.open(&[("search.cut", "off")]);
        assert_eq!(paths(&search(&off, SearchRequest::new(query).limit(7))), paths(&answer));
    }

    for query in [GLASS, FOREIGN] {
        let (lax, strict) = (ask(&index, query), search(&index, SearchRequest::new(query).strict()));
        assert!(strict.nearest.is_empty() && (query == GLASS || !lax.nearest.is_empty()));
        assert_eq!((paths(&strict), &strict.summary), (paths(&lax), &lax.summary));
    }

    let answer = ask(&index, FOREIGN);
    assert!(answer.results.is_empty() && answer.nearest.len() == 8, "{:?}", below(&answer));
    assert_eq!(answer.missing_words, ["kubernetes", "ingress", "controller"]);
    assert!(answer.summary.starts_with("Nothing clearly relevant: "), "{}", answer.summary);
    assert_says(&answer.summary, &[r#"no passage has "kubernetes", "ingress" or "controller"."#]);
    let inflected = ask(&index, "Is the Glacier in Mongolia?");
    assert_eq!(inflected.missing_words, ["Mongolia"]);

    let all = || SearchRequest::new(PRUNING).all();
    let guarantee: Guarantee = "recall=0.9".parse().expect("a promise");
    for request in [
        all().cut(parse("otsu").expect("a rule")),
        all().want(Want::One),
        all().aim(Aim { budget_tokens: Some(500), ..Aim::default() }),
        all().guarantee(guarantee),
    ] {
        let error = index.search(request).expect_err("refused").to_string();
        assert!(error.starts_with("all = true: must be used without a cut"), "{error}");
    }
}
