//! Openings.

use super::TestLog;
use super::searches::{at_last, search};
use crate::{CallerKey, OpenedCount, Opening, RecordedSearch, UsageLog};

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
    at_last(|| log.record(&shown("aaaa", "one", &[0, 1])));
    at_last(|| log.record(&shown("bbbb", "two", &[0, 1, 2])));
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
    at_last(|| log.record(&shown("aaaa", "one", &[3, 1])));
    at_last(|| log.record(&shown("bbbb", "one", &[0, 1])));
    at_last(|| log.record(&RecordedSearch { shown: None, ..shown("cccc", "one", &[]) }));
    log.record_opened(&opening("one", &["p1"], 0)).unwrap();
    log.record_opened(&opening("one", &["p3"], 0)).unwrap();
    let expected = [("aaaa".to_owned(), vec!["p3".to_owned()]), ("bbbb".to_owned(), vec!["p1".to_owned()])];
    assert_eq!(opened(log), expected);
    assert_eq!(log.opened(1).unwrap()[0].search.id, "bbbb", "the last ones");
    assert_eq!(log.opened(1).unwrap()[0].search, shown("bbbb", "one", &[0, 1]));
}

pub fn an_answer_that_was_shown_in_part_counts_by_that_part(test: &dyn TestLog) {
    let log = test.log();
    at_last(|| log.record(&shown("aaaa", "one", &[2, 0, 1])));
    log.narrow_shown("aaaa", &["p0", "p2", "p3"]).unwrap();
    assert_eq!(log.search("aaaa").unwrap().unwrap().shown, Some(vec![2, 0]));
    assert_eq!(log.record_opened(&opening("one", &["p1", "p3"], 0)).unwrap(), 0);
    log.narrow_shown("zzzz", &["p0"]).unwrap();
    at_last(|| log.record(&RecordedSearch { shown: None, ..shown("bbbb", "one", &[]) }));
    log.narrow_shown("bbbb", &["p0"]).unwrap();
    assert_eq!(log.search("bbbb").unwrap().unwrap().shown, None);
}

pub fn openings_go_with_their_search_and_with_the_telemetry(test: &dyn TestLog) {
    let log = test.log();
    for id in ["aaaa", "bbbb", "cccc"] {
        at_last(|| log.record(&shown(id, id, &[0, 1])));
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

pub fn what_was_shown_twice_is_opened_once_in_the_order_shown(test: &dyn TestLog) {
    let log = test.log();
    at_last(|| log.record(&shown("aaaa", "one", &[3, 0, 3, 9])));
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
        at_last(|| log.record(&shown(&format!("s{number}"), "one", &[position])));
    }
    assert_eq!(log.record_opened(&opening("one", &["p0"], 0)).unwrap(), 0, "50 others came after it");
    assert_eq!(log.record_opened(&opening("one", &["p1"], 0)).unwrap(), 1);
}
