//! Judgements act: the same question obeys what people said of its results.

use crate::support::{ask, indexed_notes, judged_directory, search, store};
use tamis::feedback::Label;
use tamis::search::SearchCaller;
use tamis::{Answer, Hit, Index, SearchRequest};

const QUESTION: &str = "how hot must the oven be for bread";

fn judge(index: &Index, answer: &Answer, passage: &str, label: Label) {
    let id = answer.query_id.as_deref().expect("recorded");
    index.feedback().judge(id, &[passage], label).expect("judged");
}

fn above<'a>(answer: &'a Answer, path: &str) -> Option<&'a Hit> {
    answer.results.iter().find(|hit| hit.path == path)
}

#[test]
fn another_question_scope_or_an_opened_result_is_not_affected() {
    let (_tree, index) = indexed_notes(&[]);
    let somebody = || SearchCaller::session(&["test", "somebody"]);
    let request = || SearchRequest::new(QUESTION).asker(tamis::search::Asker::at("test").called_by(somebody()));
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
