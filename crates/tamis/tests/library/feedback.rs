//! Recording, judging, importing and promising, through the library.

use crate::support::{Tree, ask, notes_tree, refresh, search};
use std::fs;
use std::path::Path;
use tamis::feedback::Label;
use tamis::{Answer, Error, Index, SearchRequest};
use tamis_cut::Guarantee;

fn id(answer: &Answer) -> &str {
    answer.query_id.as_deref().expect("recorded")
}

fn indexed(tree: &Tree, settings: &[(&str, &str)]) -> Index {
    let index = tree.open(settings);
    refresh(&index);
    index
}

#[test]
fn an_answer_is_judged_by_rank_and_by_identifier_and_the_last_word_counts() {
    let tree = notes_tree();
    let index = indexed(&tree, &[]);
    let answer = ask(&index, "how hot must the oven be for bread");
    let first = answer.results[0].id.clone();
    let judged = index.feedback().judge(id(&answer), &["1", "2"], Label::Relevant).expect("judged");
    assert_eq!((judged[0].passage.as_str(), judged[0].rank), (first.as_str(), Some(1)));
    assert_eq!(judged[0].place, Some(("oven.md".into(), answer.results[0].start_line)));
    assert_eq!(judged[1].rank, Some(2));
    let again = index.feedback().judge(id(&answer), &[&first[..6]], Label::NotRelevant).expect("judged");
    assert_eq!((again[0].passage.as_str(), again[0].rank), (first.as_str(), Some(1)));
    let recorded = &index.feedback().searches(9).expect("read")[0];
    assert_eq!((recorded.id.as_str(), recorded.relevant, recorded.not_relevant), (id(&answer), 1, 1));
    assert_eq!((recorded.entry_point.as_str(), recorded.kept as usize), ("library", answer.cut.keep));
    assert_eq!(recorded.query, None, "the text is not kept unless asked for");
    index.feedback().forget(id(&answer)).expect("forgotten");
    assert!(index.feedback().searches(9).expect("read").is_empty());
    assert!(index.feedback().forget(id(&answer)).is_err());
}

#[test]
fn what_cannot_be_judged_is_said_and_nothing_is_taken_down() {
    let tree = notes_tree();
    let index = indexed(&tree, &[]);
    let answer = ask(&index, "tuning a violin");
    let mut wrong = id(&answer).to_owned();
    wrong.replace_range(0..1, "?");
    let error = index.feedback().judge(&wrong, &["1"], Label::Relevant).expect_err("unknown").to_string();
    assert!(error.contains("recorded search") && error.contains(&format!("did you mean {}?", id(&answer))), "{error}");
    for (passage, part) in [
        ("0", "a rank from 1 to"),
        ("999", "a rank from 1 to"),
        ("violin.md", "the rank of a result"),
        ("", "the rank of a result"),
        ("abc", "the first four of its digits"),
    ] {
        let error =
            index.feedback().judge(id(&answer), &["1", passage], Label::Relevant).expect_err(passage).to_string();
        assert!(error.contains(part), "{passage}: {error}");
    }
    let error = index.feedback().judge(id(&answer), &["1", "ffffffffffff"], Label::Relevant).expect_err("unknown");
    assert!(matches!(error, Error::NotFound { .. }), "{error}");
    assert_eq!(index.feedback().searches(1).expect("read")[0].relevant, 0);
}

#[test]
fn a_passage_outside_of_the_pool_is_taken_down_and_marked() {
    let tree = notes_tree();
    let index = indexed(&tree, &[]);
    let oven = ask(&index, "oven").results[0].id.clone();
    let request = SearchRequest { paths: vec!["violin.md".into()], ..SearchRequest::new("violin") };
    let answer = search(&index, request);
    let judged = index.feedback().judge(id(&answer), &[&oven], Label::Relevant).expect("judged");
    assert_eq!((judged[0].rank, judged[0].place.as_ref().map(|place| place.0.as_str())), (None, Some("oven.md")));
}

#[test]
fn telemetry_off_records_nothing_and_feedback_says_why() {
    let tree = notes_tree();
    let index = indexed(&tree, &[("telemetry.record", "off")]);
    let answer = ask(&index, "oven");
    assert_eq!((answer.query_id.as_deref(), index.feedback().recording_problem()), (None, None));
    assert!(!tree.root().join(".tamis/usage.db").exists());
    let error = index.feedback().judge("7k2m9qrt", &["1"], Label::Relevant).expect_err("unknown").to_string();
    assert!(error.contains("telemetry is off"), "{error}");
    let error = index.feedback().import(tree.root(), "test", &()).expect_err("off").to_string();
    assert!(error.contains("telemetry.record = off"), "{error}");
}

#[test]
fn the_text_of_queries_is_kept_when_asked_for() {
    let tree = notes_tree();
    let index = indexed(&tree, &[("telemetry.queries", "true")]);
    ask(&index, "  an oven ");
    assert_eq!(index.feedback().searches(1).expect("read")[0].query.as_deref(), Some("an oven"));
}

#[test]
fn a_log_that_cannot_be_used_never_fails_a_search() {
    let tree = notes_tree();
    let index = indexed(&tree, &[]);
    fs::create_dir(tree.root().join(".tamis/usage.db")).expect("made");
    let answer = ask(&index, "oven");
    assert_eq!((answer.query_id.as_deref(), answer.results[0].path.as_str()), (None, "oven.md"));
    assert!(index.feedback().recording_problem().expect("a problem").contains("usage.db"));
    fs::remove_dir(tree.root().join(".tamis/usage.db")).expect("removed");
    assert!(ask(&index, "oven").query_id.is_some(), "it is tried again");
    assert_eq!(index.feedback().recording_problem(), None);
}

#[test]
fn searches_side_by_side_are_all_recorded_under_their_own_names() {
    let tree = notes_tree();
    let index = indexed(&tree, &[]);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..5).for_each(|_| drop(ask(&index, "oven"))));
        }
    });
    let mut ids: Vec<String> =
        index.feedback().searches(99).expect("read").into_iter().map(|search| search.id).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 20);
}

/// A directory in BEIR's layout: one query for each note.
fn judged_notes(directory: &Path, documents: impl Fn(&str) -> String) {
    let (mut queries, mut qrels) = (String::new(), String::from("query-id\tcorpus-id\tscore\n"));
    for (path, _) in crate::support::notes() {
        let subject = path.trim_end_matches(".md");
        queries.push_str(&format!("{{\"_id\":\"q-{subject}\",\"text\":\"what is written on the {subject}\"}}\n"));
        let other = if subject == "ledger" { "tax.md" } else { "ledger.md" };
        qrels.push_str(&format!("q-{subject}\t{}\t1\nq-{subject}\t{other}\t0\n", documents(&path)));
    }
    fs::create_dir_all(directory.join("qrels")).expect("made");
    fs::write(directory.join("queries.jsonl"), queries).expect("written");
    fs::write(directory.join("qrels/test.tsv"), qrels).expect("written");
}

fn promising(query: &str, promise: &str) -> SearchRequest {
    SearchRequest { guarantee: Some(promise.parse::<Guarantee>().expect("a guarantee")), ..SearchRequest::new(query) }
}

#[test]
fn a_promise_is_refused_with_the_number_needed_and_kept_once_enough_is_judged() {
    let tree = notes_tree();
    let index = indexed(&tree, &[]);
    let answer = ask(&index, "when do ships wait for the tide");
    index.feedback().judge(id(&answer), &["1"], Label::Relevant).expect("judged");
    let refused = index.search(promising("oven", "recall=0.9")).expect_err("too few");
    assert!(matches!(refused, Error::Guarantee { .. }));
    let message = refused.to_string();
    assert!(message.contains("from 1 judged query") && message.contains("at least 9 are needed, 8 more"), "{message}");
    assert!(message.contains("judge more answers"), "{message}");

    let judged = tempfile::tempdir().expect("a temporary directory");
    judged_notes(judged.path(), str::to_owned);
    let report = index.feedback().import(judged.path(), "test", &()).expect("imported");
    assert_eq!((report.queries, report.relevant, report.outside_pool, report.skipped), (12, 12, 0, 0));
    assert_eq!(index.feedback().searches(1).expect("read")[0].entry_point, "import");

    let answer = search(&index, promising("what is written on the oven", "recall=0.9"));
    assert_eq!((answer.cut.method.as_str(), answer.results[0].path.as_str()), ("guarantee", "oven.md"));
    assert_eq!(answer.cut.reason, "on average, at least 90% of what is relevant is kept, going by 13 judged queries");
    assert_eq!(answer.cut.diagnostics["rule_method"], "auto");
    // A stronger promise keeps no less, and importing again counts nothing twice.
    let more = search(&index, promising("what is written on the oven", "recall=0.92"));
    assert!(more.cut.keep >= answer.cut.keep);
    index.feedback().import(judged.path(), "test", &()).expect("imported");
    let again = search(&index, promising("what is written on the oven", "recall=0.9"));
    assert_eq!((again.cut.keep, again.cut.reason), (answer.cut.keep, answer.cut.reason));
    // The limit only shortens what is shown.
    let limited =
        search(&index, SearchRequest { limit: Some(1), ..promising("what is written on the oven", "recall=0.9") });
    assert_eq!((limited.cut.keep, limited.results.len()), (answer.cut.keep, 1));
    let message = index.search(promising("oven", "recall=0.99")).expect_err("too few").to_string();
    assert!(message.contains("at least 99 are needed"), "{message}");
}

#[test]
fn judgements_under_other_settings_do_not_count() {
    let tree = notes_tree();
    let judged = tempfile::tempdir().expect("a temporary directory");
    judged_notes(judged.path(), str::to_owned);
    indexed(&tree, &[]).feedback().import(judged.path(), "test", &()).expect("imported");
    let other = tree.open(&[("search.fusion_weight", "0.9")]);
    let message = other.search(promising("oven", "recall=0.9")).expect_err("none").to_string();
    assert!(message.contains("from 0 judged queries") && message.contains("12 more were judged with"), "{message}");
    let lexical = SearchRequest { mode: Some(tamis::Mode::Lexical), ..promising("oven", "recall=0.9") };
    assert!(tree.open(&[]).search(&lexical).is_err());
    assert!(tree.open(&[]).search(promising("oven", "recall=0.9")).is_ok());
}

#[test]
fn a_configured_promise_holds_for_searches_and_does_not_hinder_an_import() {
    let tree = notes_tree();
    let index = indexed(&tree, &[("search.guarantee", "recall=0.9")]);
    assert!(index.search(SearchRequest::new("oven")).is_err(), "nothing is judged yet");
    let judged = tempfile::tempdir().expect("a temporary directory");
    judged_notes(judged.path(), str::to_owned);
    index.feedback().import(judged.path(), "test", &()).expect("imported");
    assert_eq!(ask(&index, "oven").cut.method, "guarantee");
}

#[test]
fn documents_are_named_by_path_or_by_a_passages_identifier() {
    let tree = notes_tree();
    let index = indexed(&tree, &[]);
    let judged = tempfile::tempdir().expect("a temporary directory");
    let passage = |path: &str| ask(&index, path.trim_end_matches(".md")).results[0].id.clone();
    judged_notes(judged.path(), passage);
    let report = index.feedback().import(judged.path(), "test", &()).expect("imported");
    assert_eq!((report.queries, report.relevant, report.unknown_documents), (12, 12, 0));
    judged_notes(judged.path(), |path| if path < "h" { path.to_owned() } else { format!("elsewhere/{path}") });
    let report = index.feedback().import(judged.path(), "test", &()).expect("imported");
    assert_eq!(report.queries + report.skipped, 12);
    assert_eq!(report.skipped, report.unknown_documents);
    judged_notes(judged.path(), |path| format!("elsewhere/{path}"));
    let error = index.feedback().import(judged.path(), "test", &()).expect_err("nothing is here").to_string();
    assert!(error.contains("none of the relevant documents") && error.contains("named by their path"), "{error}");
}
