//! Openings and grades.

use super::TestLog;
use super::searches::search;
use crate::{CallerKey, ModelGrade, OpenedCount, Opening, RecordedSearch, RemovedGrades, UsageLog};

fn caller(name: &str) -> CallerKey {
    CallerKey::of(["session", name])
}

/// An opening of passages by a caller.
pub(crate) fn opening<'a>(name: &str, passages: &'a [&'a str], since_ms: i64) -> Opening<'a> {
    Opening { caller: caller(name), entry_point: "mcp get", passages, since_ms, at_ms: since_ms + 5 }
}

/// A search by a caller that showed the candidates at these positions.
pub(crate) fn shown(id: &str, name: &str, positions: &[u32]) -> RecordedSearch {
    RecordedSearch {
        at_ms: 1000,
        caller: Some(caller(name)),
        shown: Some(positions.to_vec()),
        ..search(id, &["p0", "p1", "p2", "p3"])
    }
}

fn opened(log: &dyn UsageLog) -> Vec<(String, Vec<String>)> {
    log.opened(99).unwrap().into_iter().map(|one| (one.search.id, one.opened)).collect()
}

pub fn only_what_was_shown_to_the_same_caller_counts_as_opened(test: &dyn TestLog) {
    let log = test.log();
    log.record(&shown("aaaa", "one", &[0, 1])).unwrap();
    log.record(&shown("bbbb", "two", &[0, 1, 2])).unwrap();
    assert_eq!(log.record_opened(&opening("one", &["p2"], 0)).unwrap(), 0, "a candidate that was not shown");
    assert_eq!(log.record_opened(&opening("one", &["elsewhere"], 0)).unwrap(), 0);
    assert_eq!(log.record_opened(&opening("three", &["p0"], 0)).unwrap(), 0, "a caller that never searched");
    assert_eq!(log.record_opened(&opening("one", &["p1"], 1001)).unwrap(), 0, "the search was too long ago");
    assert_eq!(log.record_opened(&opening("one", &[], 0)).unwrap(), 0);
    assert!(log.label_version().unwrap().is_empty());
    assert_eq!(log.record_opened(&opening("one", &["p1", "p3"], 0)).unwrap(), 1);
    assert_eq!(log.record_opened(&opening("one", &["p1"], 0)).unwrap(), 0, "again");
    assert_eq!(opened(log), [("aaaa".to_owned(), vec!["p1".to_owned()])]);
    let count = |namespace| log.opened_count(None, None, namespace).unwrap();
    assert_eq!(count(None), OpenedCount { searches: 1, passages: 1 });
    assert_eq!(count(Some("here")), count(None));
    assert_eq!(count(Some("there")), OpenedCount::default());
    assert_eq!(log.opened_count(Some(6), None, None).unwrap(), OpenedCount::default());
}

pub fn the_latest_search_that_showed_it_is_credited(test: &dyn TestLog) {
    let log = test.log();
    log.record(&shown("aaaa", "one", &[3, 1])).unwrap();
    log.record(&shown("bbbb", "one", &[0, 1])).unwrap();
    log.record(&RecordedSearch { shown: None, ..shown("cccc", "one", &[]) }).unwrap();
    log.record_opened(&opening("one", &["p1"], 0)).unwrap();
    log.record_opened(&opening("one", &["p3"], 0)).unwrap();
    let expected = [("aaaa".to_owned(), vec!["p3".to_owned()]), ("bbbb".to_owned(), vec!["p1".to_owned()])];
    assert_eq!(opened(log), expected);
    assert_eq!(log.opened(1).unwrap()[0].search.id, "bbbb", "the last ones");
    assert_eq!(log.opened(1).unwrap()[0].search, shown("bbbb", "one", &[0, 1]));
}

pub fn an_answer_that_was_shown_in_part_counts_by_that_part(test: &dyn TestLog) {
    let log = test.log();
    log.record(&shown("aaaa", "one", &[2, 0, 1])).unwrap();
    log.narrow_shown("aaaa", &["p0", "p2", "p3"]).unwrap();
    assert_eq!(log.search("aaaa").unwrap().unwrap().shown, Some(vec![2, 0]));
    assert_eq!(log.record_opened(&opening("one", &["p1", "p3"], 0)).unwrap(), 0);
    log.narrow_shown("zzzz", &["p0"]).unwrap();
    log.record(&RecordedSearch { shown: None, ..shown("bbbb", "one", &[]) }).unwrap();
    log.narrow_shown("bbbb", &["p0"]).unwrap();
    assert_eq!(log.search("bbbb").unwrap().unwrap().shown, None);
}

pub fn openings_go_with_their_search_and_with_the_telemetry(test: &dyn TestLog) {
    let log = test.log();
    for id in ["aaaa", "bbbb", "cccc"] {
        log.record(&shown(id, id, &[0, 1])).unwrap();
        log.record_opened(&opening(id, &["p0"], 0)).unwrap();
    }
    log.judge("cccc", &[("p1", true)], 2).unwrap();
    let before = log.label_version().unwrap();
    log.forget("aaaa").unwrap();
    assert_ne!(log.label_version().unwrap(), before);
    assert_eq!(opened(log).len(), 2);
    test.purge(0);
    assert_eq!(opened(log).len(), 1, "an opened search is kept no longer than others; a judged one stays");
    log.purge_telemetry(false).unwrap();
    assert_eq!(opened(log), []);
    assert_eq!(log.judged().unwrap().len(), 1);
}

pub fn a_person_wins_over_a_model_whoever_came_last(test: &dyn TestLog) {
    let log = test.log();
    log.record(&search("aaaa", &["p0", "p1"])).unwrap();
    let yes = log.record_grade("m", &[1; 32], Some(3), "it answers", 1).unwrap();
    let no = log.record_grade("m", &[2; 32], Some(1), "only related", 1).unwrap();
    log.judge("aaaa", &[("p0", false)], 1).unwrap();
    let graded = [("p0", true, yes.number), ("p1", false, no.number)];
    assert_eq!(log.judge_by_grades("aaaa", &graded, 2).unwrap(), Some(2));
    assert_eq!(log.judge_by_grades("aaaa", &graded, 3).unwrap(), Some(0), "the same again adds nothing");
    assert_eq!(log.judge_by_grades("zzzz", &graded, 3).unwrap(), None);
    let lax = [("p1", true, no.number)];
    assert_eq!(log.judge_by_grades("aaaa", &lax, 4).unwrap(), Some(1), "the grade counts otherwise");
    assert_eq!(log.judge_by_grades("aaaa", &graded, 5).unwrap(), Some(1), "and back");
    let said: Vec<_> = log.judgements("aaaa").unwrap();
    assert_eq!(
        said.iter().map(|one| (one.passage.as_str(), one.relevant)).collect::<Vec<_>>(),
        [("p0", false), ("p1", false)]
    );
    assert_eq!(said[0].grade, None);
    assert_eq!(said[1].grade, Some(ModelGrade { model: "m".into(), grade: 1, reason: "only related".into() }));
    assert!(said[1].in_pool);
    let listed = log.graded(9).unwrap();
    assert!(!listed[0].relevant, "only the last is listed");
    assert_eq!(
        listed.iter().map(|one| (one.passage.as_str(), one.grade.grade)).collect::<Vec<_>>(),
        [("p1", 1), ("p0", 3)]
    );
    assert_eq!(listed[0].query_id, "aaaa");
}

pub fn grades_are_found_again_replaced_and_removed_by_model(test: &dyn TestLog) {
    let log = test.log();
    log.record(&search("aaaa", &["p0"])).unwrap();
    log.record(&search("bbbb", &["p0"])).unwrap();
    let first = log.record_grade("m", &[1; 32], None, "no score in the reply", 1).unwrap();
    assert_eq!(log.grade("m", &[1; 32]).unwrap(), Some(first.clone()));
    assert_eq!((log.grade("n", &[1; 32]).unwrap(), log.grade("m", &[2; 32]).unwrap()), (None, None));
    let second = log.record_grade("m", &[1; 32], Some(2), "it helps", 2).unwrap();
    assert_eq!((second.number, second.grade), (first.number, Some(2)));
    log.judge_by_grades("aaaa", &[("p0", true, second.number)], 2).unwrap();
    let other = log.record_grade("n", &[1; 32], Some(0), "nothing", 3).unwrap();
    log.judge_by_grades("bbbb", &[("p0", false, other.number)], 3).unwrap();
    assert!(log.record_grade("m", &[3; 32], Some(4), "too high", 3).is_err());
    assert_eq!(log.remove_grades(Some("m")).unwrap(), RemovedGrades { grades: 1, judgements: 1 });
    assert_eq!(log.judged().unwrap().len(), 1, "a search without another judgement counts as unjudged");
    assert_eq!(log.remove_grades(None).unwrap(), RemovedGrades { grades: 1, judgements: 1 });
    assert!(log.label_version().unwrap().is_empty() && log.judged().unwrap().is_empty());
}

pub fn a_purge_deletes_the_grades_that_no_judgement_needs(test: &dyn TestLog) {
    let log = test.log();
    log.record(&search("aaaa", &["p0"])).unwrap();
    let used = log.record_grade("m", &[1; 32], Some(2), "it helps", 1).unwrap();
    log.record_grade("m", &[2; 32], Some(2), "of a test collection", 1).unwrap();
    log.judge_by_grades("aaaa", &[("p0", true, used.number)], 2).unwrap();
    log.purge_telemetry(false).unwrap();
    assert!(log.grade("m", &[1; 32]).unwrap().is_some() && log.grade("m", &[2; 32]).unwrap().is_none());
    log.purge_telemetry(true).unwrap();
    assert_eq!(log.grade("m", &[1; 32]).unwrap(), None);
}

pub fn queries_with_text_are_listed_once_the_latest_first(test: &dyn TestLog) {
    let log = test.log();
    let asked = |id: &str, query: u8, text: Option<&str>, from: &str| RecordedSearch {
        query_hash: [query; 32],
        query_text: text.map(str::to_owned),
        entry_point: from.into(),
        ..search(id, &["p0"])
    };
    for one in [
        asked("a1", 1, Some("first"), "cli"),
        asked("b1", 2, Some("second"), "mcp"),
        asked("a2", 1, Some("first"), "cli"),
        asked("c1", 3, None, "cli"),
        asked("d1", 4, Some("asked to be judged"), "judge"),
    ] {
        log.record(&one).unwrap();
    }
    assert_eq!(log.searches_with_text("judge", 9).unwrap(), ["a2", "b1"]);
    assert_eq!(log.searches_with_text("judge", 1).unwrap(), ["a2"]);
    let of = |query: u8, except: &str| log.search_of(&[query; 32], "cli", except).unwrap().map(|search| search.id);
    assert_eq!((of(1, ""), of(1, "a2"), of(2, "")), (Some("a2".into()), Some("a1".into()), None));
}

pub fn what_was_shown_twice_is_opened_once_in_the_order_shown(test: &dyn TestLog) {
    let log = test.log();
    log.record(&shown("aaaa", "one", &[3, 0, 3, 9])).unwrap();
    assert_eq!(log.record_opened(&opening("one", &["p0", "p3", "p3"], 0)).unwrap(), 2);
    assert_eq!(opened(log), [("aaaa".to_owned(), vec!["p3".to_owned(), "p0".to_owned()])]);
    log.narrow_shown("aaaa", &["p3"]).unwrap();
    assert_eq!(log.search("aaaa").unwrap().unwrap().shown, Some(vec![3, 3]));
    log.narrow_shown("aaaa", &[]).unwrap();
    assert_eq!(log.search("aaaa").unwrap().unwrap().shown, Some(vec![]));
}

pub fn a_search_looked_for_too_far_back_is_not_credited(test: &dyn TestLog) {
    let log = test.log();
    for number in 0..51 {
        let position = u32::from(number > 0);
        log.record(&shown(&format!("s{number}"), "one", &[position])).unwrap();
    }
    assert_eq!(log.record_opened(&opening("one", &["p0"], 0)).unwrap(), 0, "50 others came after it");
    assert_eq!(log.record_opened(&opening("one", &["p1"], 0)).unwrap(), 1);
}

pub fn a_judgement_from_a_grade_that_is_gone_is_refused_with_all_others(test: &dyn TestLog) {
    let log = test.log();
    log.record(&search("aaaa", &["p0", "p1"])).unwrap();
    let grade = log.record_grade("m", &[1; 32], Some(3), "it answers", 1).unwrap();
    let judged = [("p0", true, grade.number), ("p1", true, grade.number + 9)];
    assert!(log.judge_by_grades("aaaa", &judged, 1).is_err());
    assert!(log.judged().unwrap().is_empty() && log.label_version().unwrap().is_empty());
}
