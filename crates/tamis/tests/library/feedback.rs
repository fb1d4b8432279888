//! Recording, judging, importing and promising, through the library.

use crate::support::{ask, assert_says, indexed_notes, judged_directory, notes_tree, search};
use tamis::feedback::Label;
use tamis::{Answer, Error, SearchRequest};

fn id(answer: &Answer) -> &str {
    answer.query_id.as_deref().expect("recorded")
}

#[test]
fn an_answer_is_judged_by_rank_and_by_identifier_and_the_last_word_counts() {
    let (_tree, index) = indexed_notes(&[]);
    let answer = ask(&index, "how hot must the oven be for bread");
    let judge = |passages: &[&str], label| index.feedback().judge(id(&answer), passages, label);
    let first = answer.results[0].id.clone();
    judge(&["1", "2"], Label::Relevant).expect("judged");
    let again = judge(&[&first[..6]], Label::NotRelevant).expect("judged");
    assert_eq!((again[0].passage.as_str(), again[0].rank), (first.as_str(), Some(1)));
    for (passage, part) in [
        ("0", "a rank from 1 to"),
        ("violin.md", "the rank of a result"),
        ("", "the rank of a result"),
        ("abc", "the first four of its digits"),
    ] {
        assert_says(judge(&["2", passage], Label::NotRelevant).expect_err(passage), &[part]);
    }
    let listed = &index.feedback().searches(9).expect("read")[0];
    let said: Vec<_> = listed.judged.iter().map(|judged| (judged.rank, judged.relevance)).collect();
    assert_eq!(said, [(Some(2), Label::Relevant), (Some(1), Label::NotRelevant)]);
    assert_eq!(listed.judged[1].title, again[0].title);
    let recorded = &listed.search;
    assert_eq!((recorded.relevant, recorded.not_relevant), (1, 1), "all or nothing is taken down");
    assert_eq!((recorded.entry_point.as_str(), recorded.kept as usize), ("library", answer.cut.keep));
    assert_eq!(recorded.query, None, "the text is not kept unless asked for");
    let mut wrong = id(&answer).to_owned();
    wrong.replace_range(0..1, "?");
    let said = format!("did you mean {}?", id(&answer));
    assert_says(index.feedback().judge(&wrong, &["1"], Label::Relevant).expect_err("unknown"), &[&said]);

    let violin = SearchRequest::new("violin").paths(["violin.md"]);
    let outside = search(&index, violin);
    let judged = index.feedback().judge(id(&outside), &[&first], Label::Relevant).expect("judged");
    assert_eq!((judged[0].rank, judged[0].place.as_ref().map(|place| place.0.as_str())), (None, Some("oven.md")));
}

#[test]
fn judged_queries_are_imported_by_identifier_and_by_path() {
    let (_tree, index) = indexed_notes(&[]);
    let passage = |path: &str| ask(&index, path.trim_end_matches(".md")).results[0].id.clone();
    let judged = judged_notes(passage);
    let report = index.feedback().import(judged.path(), "test", &()).expect("imported");
    assert_eq!((report.queries, report.relevant, report.unknown_documents), (12, 12, 0));
    let judged = judged_notes(|path| if path < "h" { path.to_owned() } else { format!("elsewhere/{path}") });
    let report = index.feedback().import(judged.path(), "test", &()).expect("imported");
    assert_eq!((report.queries + report.skipped, report.skipped), (12, report.unknown_documents));
    let judged = judged_notes(|path| format!("elsewhere/{path}"));
    let refused = index.feedback().import(judged.path(), "test", &()).expect_err("nothing is here");
    assert_says(refused, &["none of the relevant documents", "named by their path"]);
}

#[test]
fn queries_are_kept_where_a_setting_says_so() {
    let (tree, index) = indexed_notes(&[("telemetry.queries", "true")]);
    ask(&index, "  an oven ");
    assert_eq!(index.feedback().searches(1).expect("read")[0].search.query.as_deref(), Some("an oven"));
    let off = tree.open(&[("telemetry.record", "off")]);
    assert_eq!((ask(&off, "oven").query_id.as_deref(), off.feedback().recording_problem()), (None, None));
    assert_eq!(index.feedback().searches(9).expect("read").len(), 1, "an existing log is left as it is");
    assert_says(off.feedback().import(tree.root(), "test", &()).expect_err("off"), &["telemetry.record = off"]);
}

/// A directory in BEIR's layout: one query for each note.
fn judged_notes(documents: impl Fn(&str) -> String) -> tempfile::TempDir {
    let (mut queries, mut qrels) = (String::new(), String::new());
    for (path, _) in crate::support::notes() {
        let subject = path.trim_end_matches(".md");
        queries.push_str(&format!("{{\"_id\":\"q-{subject}\",\"text\":\"what is written on the {subject}\"}}\n"));
        let other = if subject == "ledger" { "tax.md" } else { "ledger.md" };
        qrels.push_str(&format!("q-{subject}\t{}\t1\nq-{subject}\t{other}\t0\n", documents(&path)));
    }
    judged_directory(&queries, &qrels)
}

fn promising(query: &str, promise: &str) -> SearchRequest {
    SearchRequest::new(query).guarantee(promise)
}

#[test]
fn a_stronger_promise_keeps_no_less_and_imports_count_once() {
    let (_tree, index) = indexed_notes(&[]);
    let refused = index.search(promising("oven", "recall=0.9")).expect_err("too few");
    assert!(matches!(refused, Error::Guarantee { .. }));
    let judged = judged_notes(str::to_owned);
    let report = index.feedback().import(judged.path(), "test", &()).expect("imported");
    assert_eq!((report.queries, report.relevant, report.outside_pool, report.skipped), (12, 12, 0, 0));
    assert_eq!(index.feedback().searches(1).expect("read")[0].search.entry_point, "import");

    let answer = search(&index, promising("what is written on the oven", "recall=0.9"));
    assert_eq!(answer.cut.reason, "on average, at least 90% of what is relevant is kept, going by 12 judged queries");
    assert_eq!(answer.cut.diagnostics["rule_method"], "auto");
    // A stronger promise keeps no less, and importing again counts nothing twice.
    let more = search(&index, promising("what is written on the oven", "recall=0.92"));
    assert!(more.cut.keep >= answer.cut.keep);
    index.feedback().import(judged.path(), "test", &()).expect("imported");
    let again = search(&index, promising("what is written on the oven", "recall=0.9"));
    assert_eq!((again.cut.keep, again.cut.reason), (answer.cut.keep, answer.cut.reason));
    // The limit only shortens what is shown.
    let limited = search(&index, promising("what is written on the oven", "recall=0.9").limit(1));
    assert_eq!((limited.cut.keep, limited.results.len()), (answer.cut.keep, 1));
    assert_says(index.search(promising("oven", "recall=0.99")).expect_err("too few"), &["at least 99 are needed"]);
}

#[test]
fn a_promise_counts_judgements_under_the_same_settings_alone() {
    let tree = notes_tree();
    let judged = judged_notes(str::to_owned);
    tree.indexed(&[]).feedback().import(judged.path(), "test", &()).expect("imported");
    let other = tree.open(&[("search.fusion_weight", "0.9")]);
    let refused = other.search(promising("oven", "recall=0.9")).expect_err("none");
    assert_says(refused, &["from 0 judged queries", "12 more were judged with"]);
    let lexical = promising("oven", "recall=0.9").mode(tamis::Mode::Lexical);
    assert!(tree.open(&[]).search(&lexical).is_err());
    assert!(tree.open(&[]).search(promising("oven", "recall=0.9")).is_ok());

    let (_tree, index) = indexed_notes(&[("search.guarantee", "recall=0.9")]);
    assert!(index.search(SearchRequest::new("oven")).is_err(), "nothing is judged yet");
    let judged = judged_notes(str::to_owned);
    index.feedback().import(judged.path(), "test", &()).expect("imported");
    assert_eq!(ask(&index, "oven").cut.method, "guarantee");
}
