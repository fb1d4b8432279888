//! The quality of queries, on real files.

use super::contract::quality::{quality, times};
use super::contract::searches::search;
use super::tests::log;
use super::*;
use rusqlite::Connection;

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
fn a_row_says_its_hash_as_digits() {
    let json = serde_json::to_value(quality(10)).unwrap();
    assert_eq!(json["query_hash"], "07".repeat(32));
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
