//! Judgements act: the same question obeys what people said of its results.

use crate::support::{Tree, ask, ask_for_all, indexed_notes, judged_directory, notes_tree, search, store};
use tamis::feedback::Label;
use tamis::search::{Nearest, SearchCaller};
use tamis::{Answer, Hit, Index, SearchRequest};

const QUESTION: &str = "how hot must the oven be for bread";

fn judge(index: &Index, answer: &Answer, passage: &str, label: Label) {
    let id = answer.query_id.as_deref().expect("recorded");
    index.feedback().judge(id, &[passage], label).expect("judged");
}

fn above<'a>(answer: &'a Answer, path: &str) -> Option<&'a Hit> {
    answer.results.iter().find(|hit| hit.path == path)
}

fn below<'a>(answer: &'a Answer, path: &str) -> Option<&'a Nearest> {
    answer.nearest.iter().find(|one| one.path == path)
}

#[test]
fn what_was_judged_not_relevant_goes_below_the_line_and_says_so() {
    let (tree, index) = indexed_notes(&[]);
    let first = ask(&index, QUESTION);
    let oven = above(&first, "oven.md").expect("found");
    assert_eq!((oven.rank, oven.judged_relevant), (1, None));
    for hit in &first.results {
        judge(&index, &first, &hit.id, Label::NotRelevant);
    }
    // Another process knows it too.
    for index in [&index, &tree.open(&[])] {
        let again = ask(index, QUESTION);
        assert_eq!(again.results.len(), 0, "nothing else passes: {}", again.summary);
        assert!(again.summary.starts_with("Nothing clearly relevant"), "{}", again.summary);
        assert!(again.summary.contains("judged not relevant"), "what emptied it: {}", again.summary);
        let oven = below(&again, "oven.md").expect("shown below the line");
        assert_eq!(oven.judged_relevant, Some(false));
        assert!(oven.probability.expect("a probability") < 0.001);
        assert!(again.nearest[0].judged_relevant.is_none(), "what nobody refused is nearer");
        assert_eq!(again.cut.diagnostics["judged_not_relevant"], first.results.len());
        // Not even an answer without a cut puts it first.
        let uncut = search(
            index,
            SearchRequest {
                cut: Some(index.config().cut("fixed:k=99").expect("a cut")),
                gate: Some(false),
                limit: Some(99),
                ..SearchRequest::new(QUESTION)
            },
        );
        assert_eq!(uncut.results.last().and_then(|hit| hit.judged_relevant), Some(false));
    }
    // The last word counts.
    judge(&index, &first, &oven.id, Label::Relevant);
    let again = ask(&index, QUESTION);
    assert_eq!((again.results[0].path.as_str(), again.results[0].judged_relevant), ("oven.md", Some(true)));
    // It can be taken back, also in another search of the same question.
    judge(&index, &again, &oven.id, Label::Unjudged);
    let without = ask(&index, QUESTION);
    assert_eq!(
        above(&without, "oven.md").map(|hit| (hit.judged_relevant, hit.probability)),
        Some((None, oven.probability))
    );
    index.feedback().forget(first.query_id.as_deref().expect("recorded")).expect("forgotten");
    let forgotten = ask(&index, QUESTION);
    assert_eq!(forgotten.summary, first.summary);
}

#[test]
fn what_was_judged_relevant_comes_above_the_line() {
    let (_tree, index) = indexed_notes(&[]);
    let first = ask(&index, QUESTION);
    let less_likely = ask_for_all(&index, QUESTION).results.pop().expect("the last");
    judge(&index, &first, &less_likely.id, Label::Relevant);
    let again = ask(&index, QUESTION);
    let risen = &again.results[0];
    assert_eq!((risen.path.as_str(), risen.judged_relevant), (less_likely.path.as_str(), Some(true)));
    assert!(risen.probability.expect("a probability") > 0.99 && below(&again, &less_likely.path).is_none());
    // Among judged ones the other evidence decides.
    judge(&index, &first, &first.results[0].id, Label::Relevant);
    let both = ask(&index, QUESTION);
    let order: Vec<&str> = both.results.iter().take(2).map(|hit| hit.path.as_str()).collect();
    assert_eq!(order, ["oven.md", less_likely.path.as_str()]);
    // It also opens an answer that was empty.
    for hit in &both.results {
        judge(&index, &first, &hit.id, Label::NotRelevant);
    }
    for hit in &ask(&index, QUESTION).results {
        judge(&index, &first, &hit.id, Label::NotRelevant);
    }
    let nothing = ask(&index, QUESTION);
    assert_eq!(nothing.results.len(), 0, "{}", nothing.summary);
    judge(&index, &nothing, &nothing.nearest[0].id, Label::Relevant);
    let opened = ask(&index, QUESTION);
    assert_eq!((opened.results.len(), opened.results[0].path.as_str()), (1, nothing.nearest[0].path.as_str()));
}

#[test]
fn another_question_scope_or_an_opened_result_is_not_affected() {
    let (_tree, index) = indexed_notes(&[]);
    let somebody = || SearchCaller::session(&["test", "somebody"]);
    let request = || SearchRequest { caller: Some(somebody()), ..SearchRequest::new(QUESTION) };
    let first = search(&index, request());
    assert_eq!(index.feedback().opened(&index.get(&first.results[0].id).expect("read"), &somebody(), "test get"), 1);
    let again = search(&index, request());
    assert_eq!(again.summary, first.summary);
    assert_eq!(again.nearest, first.nearest);
    assert!(again.results.iter().all(|hit| hit.judged_relevant.is_none()));

    let other = "how hot must an oven be for bread";
    let before = ask(&index, other);
    let first = ask(&index, QUESTION);
    judge(&index, &first, &first.results[0].id, Label::NotRelevant);
    let after = ask(&index, other);
    let shown = |answer: &Answer| -> Vec<(String, Option<f64>, Option<bool>)> {
        answer.results.iter().map(|hit| (hit.id.clone(), hit.probability, hit.judged_relevant)).collect()
    };
    assert_eq!(shown(&after), shown(&before));
    // Filters and the way of searching belong to no question.
    let words = SearchRequest { mode: Some(tamis::Mode::Lexical), ..SearchRequest::new(format!("  {QUESTION} ")) };
    assert!(above(&search(&index, words), "oven.md").is_none());
    let alone = SearchRequest { paths: vec!["oven.md".into()], ..SearchRequest::new(QUESTION) };
    assert_eq!(search(&index, alone).results.len(), 0);
}

/// A long page on ovens in three sections, and other notes.
fn sections() -> Tree {
    let tree = notes_tree();
    let section = |name: &str, text: &str| format!("## {name}\n\n{}\n\n", format!("{text} ").repeat(12));
    let text = format!(
        "# Kitchen\n\n{}{}{}",
        section("Oven for bread", "The oven for bread must be hot: heat the oven to 240 degrees before the bread."),
        section("Oven for cake", "The oven for cake is less hot than for bread: heat the oven to 170 degrees."),
        section("Oven for meat", "A slow oven for meat is hardly hot; bread needs a hot oven, meat does not.")
    );
    tree.write("kitchen.md", text.as_bytes());
    tree
}

#[test]
fn a_passage_speaks_for_its_file_where_it_stands_for_it() {
    let tree = sections();
    let index = tree.indexed(&[]);
    let first = ask(&index, QUESTION);
    let kitchen = above(&first, "kitchen.md").expect("found").clone();
    let further = kitchen.passages.first().expect("another passage").id.clone();
    // Another passage of the file says nothing against the file, but is not shown again.
    judge(&index, &first, &further, Label::NotRelevant);
    let again = ask(&index, QUESTION);
    let hit = above(&again, "kitchen.md").expect("still above");
    assert_eq!(hit.judged_relevant, None);
    assert!(hit.passages.iter().all(|passage| passage.id != further));
    // The passage that stands for it does.
    judge(&index, &first, &kitchen.id, Label::NotRelevant);
    let refused = ask(&index, QUESTION);
    assert!(above(&refused, "kitchen.md").is_none());
    assert_eq!(below(&refused, "kitchen.md").and_then(|one| one.judged_relevant), Some(false));
    // A relevant passage makes its file relevant, whatever was said of the others.
    judge(&index, &first, &further, Label::Relevant);
    let risen = ask(&index, QUESTION);
    assert_eq!((risen.results[0].path.as_str(), risen.results[0].judged_relevant), ("kitchen.md", Some(true)));
}

#[test]
fn judgements_that_are_imported_again_rest_on_the_same_answer() {
    let (_tree, index) = indexed_notes(&[]);
    let query = format!("{{\"_id\":\"q\",\"text\":\"{QUESTION}\"}}\n");
    let directory = judged_directory(&query, "q\ttax.md\t1\nq\toven.md\t0\n");
    for _ in 0..2 {
        index.feedback().import(directory.path(), "test", &()).expect("imported");
    }
    let judged = store(&index).usage().expect("a log").judged().expect("read");
    assert_eq!(judged.len(), 2);
    assert_eq!(judged[0].search.candidates, judged[1].search.candidates);
    // A search of a person obeys it.
    let answer = ask(&index, QUESTION);
    assert_eq!((answer.results[0].path.as_str(), answer.results[0].judged_relevant), ("tax.md", Some(true)));
    assert!(above(&answer, "oven.md").is_none());
}
