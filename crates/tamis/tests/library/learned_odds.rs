//! Judgements of some questions move the odds of the results of others.

use crate::support::{ask, indexed_notes, search, store};
use tamis::feedback::Label;
use tamis::{Answer, Index, Mode, SearchRequest};

/// Questions whose answers are judged.
const JUDGED: [&str; 6] = [
    "how is a violin tuned", "when are apple trees pruned", "what a telescope gathers light with",
    "how often is a bicycle chain oiled", "where do ships wait for the tide", "how long are receipts for the tax kept",
];

const OTHER: &str = "how hot must the oven be for bread";

/// Judges every result of the answers; `label` gets the number of the question.
fn judge_all(index: &Index, label: impl Fn(usize) -> Option<Label>) -> usize {
    let mut labels = 0;
    for (number, question) in JUDGED.iter().enumerate() {
        let answer = ask(index, question);
        assert!(!answer.results.is_empty() && answer.results.len() == answer.cut.keep, "{question}");
        let ids: Vec<&str> = answer.results.iter().map(|hit| hit.id.as_str()).collect();
        if let Some(label) = label(number) {
            index.feedback().judge(answer.query_id.as_deref().expect("recorded"), &ids, label).expect("judged");
            labels += ids.len();
        }
    }
    labels
}

/// The first as `one` says, and all others the other way.
fn mostly(label: Label, one: Label) -> impl Fn(usize) -> Option<Label> {
    move |number| Some(if number == 0 { one } else { label })
}

fn explained(index: &Index) -> Answer {
    search(index, SearchRequest::new(OTHER).explain())
}

/// The probability of each candidate, best first.
fn probabilities(answer: &Answer) -> Vec<f64> {
    answer.pool.iter().flatten().map(|entry| entry.probability.expect("a probability")).collect()
}

fn order(answer: &Answer) -> Vec<&str> {
    answer.pool.iter().flatten().map(|entry| entry.path.as_str()).collect()
}

#[test]
fn judgements_move_the_probabilities_of_another_question_and_never_its_order() {
    let cases = [(Label::Relevant, Label::NotRelevant, true), (Label::NotRelevant, Label::Relevant, false)];
    for (label, one, rises) in cases {
        let (tree, index) = indexed_notes(&[]);
        let before = explained(&index);
        assert!(!before.cut.diagnostics.contains_key("judgements"));
        let labels = judge_all(&index, mostly(label, one));
        // Another process knows it too.
        for index in [&index, &tree.open(&[])] {
            let after = explained(index);
            assert_eq!(order(&after), order(&before));
            let first = (probabilities(&before)[0], probabilities(&after)[0]);
            assert_eq!(first.1 > first.0, rises, "{first:?}");
            assert!((first.1 - first.0).abs() > 1e-6, "{first:?}");
            assert_eq!(after.cut.diagnostics["judgements"], labels);
            let entry = &after.pool.as_ref().expect("explained")[0];
            let part = entry.evidence.iter().find(|part| part.name == "judgements").expect("a piece of evidence");
            assert_eq!((part.value, part.log_odds > 0.0), (labels as f64, rises));
            assert!(after.results.iter().all(|hit| hit.judged_relevant.is_none()));
        }
        // The record keeps what the evidence alone said, so that labels keep their meaning.
        let recorded = |answer: &Answer| {
            let store = store(&index);
            let log = store.usage().expect("a log");
            let search = log.search(answer.query_id.as_deref().expect("recorded")).expect("read").expect("there");
            search.candidates.iter().map(|candidate| candidate.probability).collect::<Vec<_>>()
        };
        assert_eq!(recorded(&explained(&index)), recorded(&before));
        // Labels count for their way of searching.
        let by_words = |index: &Index| search(index, SearchRequest::new(OTHER).mode(Mode::Lexical));
        assert!(!by_words(&index).cut.diagnostics.contains_key("judgements"));
    }
}
