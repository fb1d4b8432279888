//! The quality of queries, on real files.

use super::tests::{log, search};
use super::*;
use proptest::prelude::*;
use rusqlite::Connection;

fn quality(at_ms: i64) -> QueryQuality {
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
fn empty(at_ms: i64) -> QueryQuality {
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

fn times(found: &[QueryQuality]) -> Vec<i64> {
    found.iter().map(|quality| quality.at_ms).collect()
}

/// A log of version 1: one search judged, one not.
fn of_version_1(directory: &std::path::Path) {
    let connection = Connection::open(directory.join(FILE)).unwrap();
    connection.execute_batch(schema::SCHEMA.migrations[0].sql).unwrap();
    connection.pragma_update(None, "user_version", 1).unwrap();
    connection.pragma_update(None, "application_id", 0x5441_4d55).unwrap();
    connection
        .execute_batch(
            "INSERT INTO searches(id, at_ms, entry_point, namespace, query_hash, mode, method, scale, kept, candidates, \
             passages, candidate_ids, evidence, judged) VALUES \
             ('old1', 5, 'cli', 'here', zeroblob(32), 'lexical', 'fixed', '', 1, 1, 9, '[\"p\"]', x'020000803f', 1), \
             ('old2', 6, 'cli', 'here', zeroblob(32), 'lexical', 'fixed', '', 0, 0, 9, '[]', x'00', 0); \
             INSERT INTO judgements(search, passage, relevant, in_pool, at_ms) VALUES (1, 'p', 1, 1, 7)",
        )
        .unwrap();
}

#[test]
fn what_is_recorded_of_a_query_comes_back_also_to_another_process() {
    let (directory, log) = log();
    log.record_query(&search("aaaa", &["p"]), Some(&quality(10))).unwrap();
    let other = EmbeddedUsageLog::open(directory.path(), Access::ReadOnly).unwrap();
    for log in [&log, &other] {
        assert_eq!(log.quality(None, None, 9).unwrap(), [quality(10)]);
    }
    let json = serde_json::to_value(quality(10)).unwrap();
    assert_eq!(json["query_hash"], "07".repeat(32));
}

#[test]
fn trap_a_query_that_found_nothing_is_recorded_like_any_other() {
    let (_directory, log) = log();
    log.record_query(&search("aaaa", &[]), Some(&empty(10))).unwrap();
    assert_eq!(log.quality(None, None, 9).unwrap(), [empty(10)]);
}

#[test]
fn a_search_and_its_quality_are_recorded_together_or_not_at_all() {
    let (_directory, log) = log();
    log.record_query(&search("aaaa", &["p"]), Some(&quality(1))).unwrap();
    assert!(log.record_query(&search("aaaa", &["p"]), Some(&quality(2))).is_err(), "the identifier is taken");
    assert_eq!(times(&log.quality(None, None, 9).unwrap()), [1]);
}

#[test]
fn a_period_holds_its_beginning_and_not_its_end_and_the_last_ones_come() {
    let (_directory, log) = log();
    for at in [30, 10, 20, 40] {
        log.record_query(&search(&at.to_string(), &[]), Some(&empty(at))).unwrap();
    }
    let found = |since, until, limit| times(&log.quality(since, until, limit).unwrap());
    assert_eq!(found(None, None, 9), [10, 20, 30, 40]);
    assert_eq!(found(Some(20), Some(40), 9), [20, 30]);
    assert_eq!(found(None, None, 2), [30, 40]);
    assert_eq!(found(Some(41), None, 9), [0; 0]);
}

#[test]
fn searches_of_a_period_are_named_in_their_order() {
    let (_directory, log) = log();
    for at in 1..=4 {
        log.record(&RecordedSearch { at_ms: at, ..search(&format!("s{at}"), &["p"]) }).unwrap();
    }
    assert_eq!(log.search_ids(Some(2), Some(4), 9).unwrap(), ["s2", "s3"]);
    assert_eq!(log.search_ids(None, None, 2).unwrap(), ["s3", "s4"]);
}

#[test]
fn numbers_that_are_none_are_left_out() {
    let (_directory, log) = log();
    let wrong = QueryQuality {
        threshold: Some(f64::NAN),
        gap_size: Some(f64::INFINITY),
        milliseconds: [("cut".to_owned(), f64::NAN)].into(),
        total_ms: f64::NAN,
        ..empty(1)
    };
    // A stage without a number must not lose the row or make it unreadable.
    log.record_query(&search("aaaa", &[]), Some(&wrong)).unwrap();
    let found = log.quality(None, None, 9).unwrap();
    assert_eq!((found[0].threshold, found[0].gap_size, found[0].total_ms), (None, None, 0.0));
    assert!(found[0].milliseconds.is_empty());
}

#[test]
fn a_log_of_version_1_is_upgraded_with_all_that_it_holds() {
    let directory = tempfile::tempdir().unwrap();
    of_version_1(directory.path());
    let log = EmbeddedUsageLog::open(directory.path(), Access::ReadWrite).unwrap();
    assert_eq!(log.quality(None, None, 9).unwrap(), []);
    log.record_query(&search("aaaa", &["p"]), Some(&quality(10))).unwrap();
    assert_eq!(times(&log.quality(None, None, 9).unwrap()), [10]);
    assert_eq!(log.search("old1").unwrap().unwrap().candidates[0].bm25, Some(1.0));
    let judged = log.judged().unwrap();
    assert_eq!((judged.len(), judged[0].search.id.as_str(), judged[0].judgements[0].relevant), (1, "old1", true));
    assert_eq!(log.search_ids(None, None, 9).unwrap(), ["old1", "old2", "aaaa"]);
    let version =
        log.with(|connection| connection.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0)));
    assert_eq!(version.unwrap(), i64::from(schema::SCHEMA.version()));
}

#[test]
fn a_log_of_version_1_that_may_not_be_upgraded_is_read_as_it_is() {
    let directory = tempfile::tempdir().unwrap();
    of_version_1(directory.path());
    let log = EmbeddedUsageLog::open(directory.path(), Access::ReadOnly).unwrap();
    assert_eq!(log.quality(None, None, 9).unwrap(), []);
    assert_eq!(log.judged().unwrap().len(), 1);
}

#[test]
fn the_oldest_rows_go() {
    let (_directory, log) = log();
    for at in 1..=9 {
        log.record_query(&search(&at.to_string(), &[]), Some(&empty(at))).unwrap();
    }
    let gone = log.with(|connection| quality::purge(connection, 9, 4)).unwrap();
    assert_eq!(gone, 5);
    assert_eq!(times(&log.quality(None, None, 9).unwrap()), [6, 7, 8, 9]);
    // Simulates what recording does on its own after far too many rows.
    log.with(|connection| {
        connection.execute("UPDATE sqlite_sequence SET seq = 200000 WHERE name = 'retrieval_quality'", [])
    })
    .unwrap();
    for at in 10..=74 {
        log.record_query(&search(&at.to_string(), &[]), Some(&empty(at))).unwrap();
    }
    assert_eq!(log.quality(None, None, 999).unwrap()[0].at_ms, 10, "the rows far behind are gone");
}

#[test]
fn purging_deletes_what_nobody_judged_and_says_how_much() {
    let (_directory, log) = log();
    for id in ["a", "b", "c"] {
        log.record_query(&search(id, &["p", "q"]), Some(&quality(1))).unwrap();
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

#[test]
fn what_was_purged_is_gone_from_the_files() {
    let (directory, log) = log();
    let secret = "a-query-nobody-shall-read";
    let text = Some(secret.to_owned());
    let recorded = RecordedSearch { query_text: text.clone(), ..search("aaaa", &["p"]) };
    log.record_query(&recorded, Some(&QueryQuality { query_text: text, ..quality(1) })).unwrap();
    log.purge_telemetry(false).unwrap();
    for file in std::fs::read_dir(directory.path()).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        assert!(!bytes.windows(secret.len()).any(|window| window == secret.as_bytes()));
    }
}

#[test]
fn a_log_for_reading_refuses_to_be_purged() {
    let directory = tempfile::tempdir().unwrap();
    let log = EmbeddedUsageLog::open(directory.path(), Access::ReadOnly).unwrap();
    assert_eq!(log.quality(None, None, 9).unwrap(), []);
    assert!(matches!(log.purge_telemetry(false), Err(StoreError::ReadOnly { .. })));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn any_row_comes_back(
        texts in prop::collection::vec(any::<String>(), 5),
        numbers in prop::collection::vec(any::<u32>(), 5),
        figure in prop::option::of(-1e9f64..1e9),
        at_ms in 0i64..i64::MAX,
    ) {
        let (_directory, log) = log();
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
        log.record_query(&search("aaaa", &[]), Some(&row)).unwrap();
        prop_assert_eq!(log.quality(None, None, 9).unwrap(), vec![row]);
    }
}
