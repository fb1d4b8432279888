//! The quality of queries.

use proptest::prelude::*;

use super::TestLog;
use super::searches::{at_last, search};
use crate::{Purged, QueryQuality, RecordedSearch, UsageLog};

/// A row with every value.
pub(crate) fn quality(at_ms: i64) -> QueryQuality {
    QueryQuality {
        at_ms,
        entry_point: "cli".into(),
        namespace: "here".into(),
        corpus: "code,docs".into(),
        query_hash: [7; 32],
        query_text: Some("what is \u{1f9c0}".into()),
        search_id: Some("aaaa".into()),
        model: Some("static-256-v1".into()),
        mode: "hybrid".into(),
        lexical_candidates: Some(3),
        semantic_candidates: Some(4),
        candidates: 5,
        kept: 2,
        dropped: 3,
        returned: 1,
        top_k: 1,
        threshold: Some(0.3),
        threshold_method: "adaptive".into(),
        gap_size: Some(0.125),
        mean_kept_distance: Some(0.25),
        language_match_ratio: Some(0.5),
        best_similarity: Some(0.75),
        similarity_mean: Some(0.0625),
        milliseconds: [("cut".to_owned(), 0.25), ("gather".to_owned(), 1.5)].into(),
        total_ms: 2.5,
        fallback_reason: Some("no vectors yet".into()),
    }
}

/// A query that found nothing, by words alone.
pub(crate) fn empty(at_ms: i64) -> QueryQuality {
    QueryQuality {
        at_ms,
        entry_point: "library".into(),
        namespace: "here".into(),
        corpus: "all".into(),
        mode: "lexical".into(),
        lexical_candidates: Some(0),
        top_k: 10,
        threshold_method: "configured".into(),
        ..QueryQuality::default()
    }
}

pub(crate) fn times(found: &[QueryQuality]) -> Vec<i64> {
    found.iter().map(|quality| quality.at_ms).collect()
}

pub fn trap_a_query_that_found_nothing_is_recorded_like_any_other(test: &dyn TestLog) {
    let log = test.log();
    at_last(|| log.record_query(&search("aaaa", &[]), Some(&empty(10))));
    assert_eq!(log.quality(None, None, 9).unwrap(), [empty(10)]);
}

pub fn a_search_and_its_quality_are_recorded_together_or_not_at_all(test: &dyn TestLog) {
    let log = test.log();
    at_last(|| log.record_query(&search("aaaa", &["p"]), Some(&quality(1))));
    assert!(log.record_query(&search("aaaa", &["p"]), Some(&quality(2))).is_err(), "the identifier is taken");
    assert_eq!(times(&log.quality(None, None, 9).unwrap()), [1]);
}

pub fn a_period_holds_its_beginning_and_not_its_end_and_the_last_ones_come(test: &dyn TestLog) {
    let log = test.log();
    for at in [30, 10, 20, 40] {
        at_last(|| log.record_query(&search(&at.to_string(), &[]), Some(&empty(at))));
    }
    let found = |since, until, limit| times(&log.quality(since, until, limit).unwrap());
    assert_eq!(found(None, None, 9), [10, 20, 30, 40]);
    assert_eq!(found(Some(20), Some(40), 9), [20, 30]);
    assert_eq!(found(None, None, 2), [30, 40]);
    assert_eq!(found(Some(41), None, 9), [0; 0]);
}

pub fn searches_of_a_period_are_named_in_their_order(test: &dyn TestLog) {
    let log = test.log();
    for at in 1..=4 {
        at_last(|| log.record(&RecordedSearch { at_ms: at, ..search(&format!("s{at}"), &["p"]) }));
    }
    assert_eq!(log.search_ids(Some(2), Some(4), 9).unwrap(), ["s2", "s3"]);
    assert_eq!(log.search_ids(None, None, 2).unwrap(), ["s3", "s4"]);
}

pub fn numbers_that_are_none_are_left_out(test: &dyn TestLog) {
    let log = test.log();
    let wrong = QueryQuality {
        threshold: Some(f64::NAN),
        gap_size: Some(f64::INFINITY),
        milliseconds: [("cut".to_owned(), f64::NAN)].into(),
        total_ms: f64::NAN,
        ..empty(1)
    };
    // A stage without a number must not lose the row or make it unreadable.
    at_last(|| log.record_query(&search("aaaa", &[]), Some(&wrong)));
    let found = log.quality(None, None, 9).unwrap();
    assert_eq!((found[0].threshold, found[0].gap_size, found[0].total_ms), (None, None, 0.0));
    assert!(found[0].milliseconds.is_empty());
}

pub fn the_oldest_rows_go(test: &dyn TestLog) {
    let log = test.log();
    for at in 1..=9 {
        at_last(|| log.record_query(&search(&at.to_string(), &[]), Some(&empty(at))));
    }
    assert_eq!(test.purge_quality(5), 5);
    assert_eq!(times(&log.quality(None, None, 9).unwrap()), [6, 7, 8, 9]);
    // Simulates what recording does on its own after far too many rows.
    test.run(
        "UPDATE sqlite_sequence SET seq = 200000 WHERE name = 'usage_quality'",
        "ALTER TABLE usage_quality ALTER COLUMN number RESTART WITH 200001",
    );
    for at in 10..=74 {
        at_last(|| log.record_query(&search(&at.to_string(), &[]), Some(&empty(at))));
    }
    assert_eq!(log.quality(None, None, 999).unwrap()[0].at_ms, 10, "the rows far behind are gone");
}

pub fn purging_deletes_what_nobody_judged_and_says_how_much(test: &dyn TestLog) {
    let log = test.log();
    for id in ["a", "b", "c"] {
        at_last(|| log.record_query(&search(id, &["p", "q"]), Some(&quality(1))));
    }
    log.judge("b", &[("p", true), ("q", false)], 2).unwrap();
    let purged = log.purge_telemetry(false).unwrap();
    assert_eq!(purged, Purged { queries: 3, searches: 2, judgements: 0, judged_kept: 1 });
    assert_eq!(log.judged().unwrap().len(), 1);
    assert_eq!(log.purge_telemetry(false).unwrap(), Purged { judged_kept: 1, ..Purged::default() });
    let purged = log.purge_telemetry(true).unwrap();
    assert_eq!(purged, Purged { queries: 0, searches: 1, judgements: 2, judged_kept: 0 });
    assert!(log.label_version().unwrap().is_empty());
}

pub fn what_is_recorded_of_a_query_comes_back_also_to_another_process(test: &dyn TestLog) {
    at_last(|| test.log().record_query(&search("aaaa", &["p"]), Some(&quality(10))));
    let look = |log: &dyn UsageLog| assert_eq!(log.quality(None, None, 9).unwrap(), [quality(10)]);
    look(test.log());
    test.look_from_elsewhere(&look);
}

pub fn any_row_comes_back(test: &dyn TestLog) {
    let log = test.log();
    let texts = || prop::collection::vec(prop_oneof![any::<String>(), Just("\0\u{10ffff}".to_owned())], 5);
    let numbers = prop::collection::vec(any::<u32>(), 5);
    let figure = prop::option::of(-1e9f64..1e9);
    let strategy = (texts(), numbers, figure, 0i64..i64::MAX);
    proptest!(ProptestConfig::with_cases(24), |((texts, numbers, figure, at_ms) in strategy)| {
        log.purge_telemetry(true).unwrap();
        let row = QueryQuality {
            entry_point: texts[0].clone(),
            namespace: texts[1].clone(),
            query_text: Some(texts[2].clone()),
            threshold_method: texts[3].clone(),
            milliseconds: [(texts[4].clone(), 0.5)].into(),
            candidates: numbers[0],
            kept: numbers[1],
            dropped: numbers[2],
            returned: numbers[3],
            top_k: numbers[4],
            threshold: figure,
            similarity_mean: figure,
            ..empty(at_ms)
        };
        at_last(|| log.record_query(&search("aaaa", &[]), Some(&row)));
        prop_assert_eq!(log.quality(None, None, 9).unwrap(), vec![row]);
    });
}
