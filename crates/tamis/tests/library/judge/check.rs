//! The agreement of a model with people on a test collection.

use super::endpoint::grading;
use super::index;
use crate::support::notes_tree;
use std::fs;
use tamis::judge::{JudgeBudget, JudgeQueries, JudgeRequest, JudgeStop};

fn request() -> JudgeRequest {
    JudgeRequest::new(JudgeQueries::Past(1))
}

/// A collection of six judged pairs: the model agrees on four.
fn collection(grades: [i32; 6]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let texts =
        ["The oven is hot", "An oven of stone", "Bread and butter", "Ships wait", "The tide comes", "An oven door"];
    let corpus =
        texts.iter().zip(1..).map(|(text, at)| format!("{{\"_id\":\"d{at}\",\"title\":\"\",\"text\":\"{text}\"}}\n"));
    fs::write(directory.path().join("corpus.jsonl"), corpus.collect::<String>()).expect("written");
    let queries = "{\"_id\":\"q1\",\"text\":\"how hot is it\"}\n{\"_id\":\"q2\",\"text\":\"of what is it made\"}\n";
    fs::write(directory.path().join("queries.jsonl"), queries).expect("written");
    fs::create_dir(directory.path().join("qrels")).expect("made");
    let qrels = grades.iter().zip(1..).map(|(grade, at)| format!("q{}\td{at}\t{grade}\n", 1 + at % 2));
    let missing = "q1\td9\t1\n";
    fs::write(directory.path().join("qrels/test.tsv"), qrels.collect::<String>() + missing).expect("written");
    directory
}

#[test]
fn agreement_comes_with_its_counts_and_makes_no_judgement() {
    let (tree, endpoint) = (notes_tree(), grading());
    let index = index(&tree, &endpoint, &[]);
    // The model says 3, 3, 1, 0, 0, 3.
    let collection = collection([3, 1, 2, 0, 0, 2]);
    let report = index.judge().check(collection.path(), "test", &request(), &()).expect("checked");
    assert_eq!((report.pairs, report.graded, report.stopped), (6, 6, None));
    assert_eq!((report.relevant_from, report.people_relevant_from), (2, 2));
    assert_eq!(report.relevance.table, [[2, 1], [1, 2]], "people in rows, not relevant first");
    assert!((report.relevance.kappa.expect("both kinds") - 1.0 / 3.0).abs() < 1e-12);
    let grades = report.grades.expect("people graded up to 3");
    assert_eq!((grades.table[3][3], grades.table[1][3], grades.table[2][1], grades.table[2][3]), (1, 1, 1, 1));
    assert!(grades.quadratic_kappa.expect("spread") > grades.kappa.expect("spread"));
    assert_eq!(report.notes, ["judged pairs left out, since a text is missing: 1"]);
    assert!(report.checked.iter().all(|pair| !pair.reason.is_empty()));
    assert!(
        index.judge().graded(9).expect("listed").is_empty() && index.feedback().searches(9).expect("read").is_empty()
    );
    let again = index.judge().check(collection.path(), "test", &request(), &()).expect("checked");
    assert_eq!((again.reused, again.spent.calls, endpoint.calls()), (6, 0, 6));
}

#[test]
fn a_budget_grades_a_sample_that_the_next_run_completes() {
    let (tree, endpoint) = (notes_tree(), grading());
    let index = index(&tree, &endpoint, &[]);
    let collection = collection([1, 1, 0, 0, 0, 1]);
    let limited = JudgeRequest { budget: JudgeBudget { calls: 2, tokens: 1_000_000 }, ..request() };
    let plan = index.judge().plan_check(collection.path(), "test", &limited).expect("planned");
    assert_eq!((plan.queries, plan.pairs, plan.calls, endpoint.calls()), (2, 6, 6, 0));
    let first = index.judge().check(collection.path(), "test", &limited, &()).expect("checked");
    assert_eq!((first.graded, first.stopped, first.relevance.items), (2, Some(JudgeStop::Calls), 2));
    let rest = index.judge().check(collection.path(), "test", &request(), &()).expect("checked");
    assert_eq!((rest.reused, rest.graded, rest.people_relevant_from), (2, 4, 1));
    assert_eq!((rest.relevance.kappa, rest.grades), (Some(1.0), None), "people said yes or no");
}

#[test]
fn figures_that_say_little_say_so() {
    let (tree, endpoint) = (notes_tree(), grading());
    let index = index(&tree, &endpoint, &[]);
    let report = index.judge().check(collection([1; 6]).path(), "test", &request(), &()).expect("checked");
    assert!(report.notes.iter().any(|note| note.contains("all 6 graded pairs relevant")), "{:?}", report.notes);
    let report = index.judge().check(collection([2, 1, 0, 0, 0, 2]).path(), "test", &request(), &()).expect("checked");
    assert!(report.notes.iter().any(|note| note.contains("0 to 2")) && report.grades.is_some(), "{:?}", report.notes);
    let error = index.judge().check(tree.root(), "test", &request(), &()).expect_err("no collection").to_string();
    assert!(error.contains("test.tsv: not there"), "{error}");
}
