//! The log on real files.

use super::*;
use crate::{CallerKey, RETAINED, RecordedCandidate, ScoringKey, ScoringKind};
use proptest::prelude::*;
use std::collections::BTreeMap;

pub(super) fn search(id: &str, passages: &[&str]) -> RecordedSearch {
    let candidate = |(at, passage): (usize, &&str)| RecordedCandidate {
        passage: (*passage).to_owned(),
        similarity: Some(0.8 - 0.01 * at as f32),
        bm25: (at % 2 == 0).then_some(3.5),
        coverage: Some(0.5),
        score: Some(1.0 - 0.02 * at as f32),
        probability: None,
        entry: None,
        required: None,
        exact: None,
    };
    RecordedSearch {
        id: id.to_owned(),
        at_ms: 1_700_000_000_123,
        entry_point: "search".into(),
        namespace: "here".into(),
        query_hash: *blake3::hash(id.as_bytes()).as_bytes(),
        query_text: Some("what is \u{1f9c0}".into()),
        mode: "hybrid".into(),
        model: Some("static-256-v1".into()),
        method: "background".into(),
        scoring: ScoringKey::new(ScoringKind::Search, "convex 0.5").with("pool", 100),
        kept: passages.len().min(2) as u32,
        passages: 4000,
        score_background: Some(0.31),
        similarity_mean: Some(0.1),
        similarity_deviation: Some(0.05),
        bm25_mean: None,
        candidates: passages.iter().enumerate().map(candidate).collect(),
        caller: Some(CallerKey::of(["session", "one"])),
        shown: Some((0..passages.len().min(2) as u32).collect()),
    }
}

pub(super) fn log() -> (tempfile::TempDir, EmbeddedUsageLog) {
    let directory = tempfile::tempdir().unwrap();
    let log = EmbeddedUsageLog::open(directory.path(), Access::ReadWrite).unwrap();
    (directory, log)
}

#[test]
fn a_search_comes_back_as_it_was_recorded_also_by_another_process() {
    let (directory, log) = log();
    let first = search("aaaa", &["p1", "p2", "p3"]);
    let bare = RecordedSearch { query_text: None, model: None, score_background: None, ..search("bbbb", &[]) };
    log.record(&first).unwrap();
    log.record(&bare).unwrap();
    let other = EmbeddedUsageLog::open(directory.path(), Access::ReadOnly).unwrap();
    for log in [&log, &other] {
        assert_eq!(log.search("aaaa").unwrap(), Some(first.clone()));
        assert_eq!(log.search("bbbb").unwrap(), Some(bare.clone()));
        assert_eq!(log.search("cccc").unwrap(), None);
        let recent: Vec<String> = log.recent(9).unwrap().into_iter().map(|summary| summary.id).collect();
        assert_eq!(recent, ["bbbb", "aaaa"], "the latest first");
        assert_eq!(log.recent(1).unwrap().len(), 1);
    }
    drop((log, other));
    let log = EmbeddedUsageLog::open(directory.path(), Access::ReadWrite).unwrap();
    assert_eq!(log.search("aaaa").unwrap(), Some(first), "nothing is lost when the log is closed");
}

#[test]
fn the_last_word_on_a_passage_counts_and_the_earlier_stay() {
    let (_directory, log) = log();
    log.record(&search("aaaa", &["p1", "p2"])).unwrap();
    log.record(&search("bbbb", &["p1"])).unwrap();
    assert_eq!(log.judge("zzzz", &[("p1", true)], 1).unwrap(), None);
    let taken = log.judge("aaaa", &[("p1", true), ("elsewhere", true)], 1).unwrap().unwrap();
    assert_eq!(taken.iter().map(|judgement| judgement.in_pool).collect::<Vec<_>>(), [true, false]);
    log.judge("aaaa", &[("p1", false), ("p2", false)], 2).unwrap();
    let judged = log.judged().unwrap();
    assert_eq!(judged.len(), 1);
    assert_eq!(judged[0].search, search("aaaa", &["p1", "p2"]));
    let said: Vec<_> = judged[0].judgements.iter().map(|j| (j.passage.as_str(), j.relevant, j.at_ms)).collect();
    assert_eq!(said, [("elsewhere", true, 1), ("p1", false, 2), ("p2", false, 2)]);
    assert_eq!(log.judgements("aaaa").unwrap(), judged[0].judgements);
    assert_eq!(log.judgements("zzzz").unwrap(), []);
    let history = log.with(|c| c.query_row("SELECT count(*) FROM judgements", [], |row| row.get::<_, i64>(0)));
    assert_eq!(history.unwrap(), 4);
    let summary = &log.recent(9).unwrap()[1];
    assert_eq!((summary.id.as_str(), summary.relevant, summary.not_relevant), ("aaaa", 1, 2));
    assert!(log.forget("aaaa").unwrap() && !log.forget("aaaa").unwrap());
    assert_eq!(log.judged().unwrap(), []);
    let history = log.with(|c| c.query_row("SELECT count(*) FROM judgements", [], |row| row.get::<_, i64>(0)));
    assert_eq!(history.unwrap(), 0, "judgements go with their search");
}

#[test]
fn the_oldest_without_a_judgement_go_and_judged_ones_stay() {
    let (_directory, log) = log();
    for number in 0..10 {
        log.record(&search(&format!("s{number}"), &["p"])).unwrap();
    }
    log.judge("s0", &[("p", true)], 1).unwrap();
    log.judge("s5", &[("p", false)], 1).unwrap();
    assert_eq!(log.purge().unwrap(), 0, "ten are far from too many");
    let gone = log.with(|connection| write::purge(connection, 3)).unwrap();
    assert_eq!(gone, 5);
    let left: Vec<String> = log.recent(99).unwrap().into_iter().map(|summary| summary.id).collect();
    assert_eq!(left, ["s9", "s8", "s7", "s5", "s0"]);
}

#[test]
fn recording_keeps_the_log_at_its_size() {
    let (_directory, log) = log();
    // As if more than enough had been recorded before.
    log.with(|connection| {
        connection.execute_batch(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10100) \
             INSERT INTO searches(id, at_ms, entry_point, namespace, query_hash, mode, method, scoring, kept, candidates, \
             passages, candidate_ids, evidence) \
             SELECT 'old' || i, 0, 'search', '', zeroblob(32), 'lexical', 'fixed', 'search; fusion=', 0, 0, 0, '[]', x'00' FROM n",
        )
    })
    .unwrap();
    for number in 0..64 {
        log.record(&search(&format!("new{number}"), &["p"])).unwrap();
    }
    let count = log.recent(usize::MAX).unwrap().len();
    assert!((RETAINED..RETAINED + 64).contains(&count), "{count}");
    assert!(log.search("new0").unwrap().is_some() && log.search("old1").unwrap().is_none());
}

#[test]
fn what_cannot_be_a_search_is_refused() {
    let (_directory, log) = log();
    let mut wrong = search("aaaa", &["p"]);
    wrong.kept = 2;
    assert!(matches!(log.record(&wrong), Err(StoreError::Invalid { .. })));
    log.record(&search("aaaa", &["p"])).unwrap();
    assert!(log.record(&search("aaaa", &["q"])).is_err(), "the identifier is taken");
    assert_eq!(log.recent(9).unwrap().len(), 1);
}

#[test]
fn a_log_that_is_not_there_is_empty_to_a_reader_and_refuses_to_be_written() {
    let directory = tempfile::tempdir().unwrap();
    let log = EmbeddedUsageLog::open(directory.path(), Access::ReadOnly).unwrap();
    assert_eq!((log.search("aaaa").unwrap(), log.judged().unwrap().len(), log.recent(9).unwrap().len()), (None, 0, 0));
    for refused in [
        log.record(&search("aaaa", &[])).unwrap_err(),
        log.judge("aaaa", &[], 0).unwrap_err(),
        log.forget("aaaa").unwrap_err(),
    ] {
        assert!(matches!(refused, StoreError::ReadOnly { .. }), "{refused}");
    }
    assert!(!log.path().exists(), "looking made nothing");
}

#[test]
fn a_busy_log_drops_a_record_and_says_so_and_judging_waits() {
    let (directory, log) = log();
    log.record(&search("aaaa", &["p"])).unwrap();
    let holder = EmbeddedUsageLog::open(directory.path(), Access::ReadWrite).unwrap();
    let begin = |sql: &'static str| holder.with(move |connection| connection.execute_batch(sql)).unwrap();
    begin("BEGIN IMMEDIATE");
    assert!(matches!(log.record(&search("bbbb", &["p"])), Err(StoreError::Busy { .. })));
    std::thread::scope(|scope| {
        let (begun, begins) = std::sync::mpsc::channel();
        let log = &log;
        let judging = scope.spawn(move || {
            begun.send(()).unwrap();
            log.judge("aaaa", &[("p", true)], 1)
        });
        begins.recv().unwrap();
        // Longer than recording would wait; the judgement still succeeds once the other is done.
        std::thread::sleep(2 * IMPATIENT);
        assert!(!judging.is_finished());
        begin("COMMIT");
        assert!(judging.join().unwrap().unwrap().is_some());
    });
    log.record(&search("bbbb", &["p"])).unwrap();
}

#[test]
fn newer_foreign_and_damaged_files_are_told_apart() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(FILE);
    let open = || EmbeddedUsageLog::open(directory.path(), Access::ReadWrite);
    std::fs::write(&path, "no database at all, but long enough to be looked at as one").unwrap();
    assert!(matches!(open(), Err(StoreError::Corrupt { .. })));
    std::fs::remove_file(&path).unwrap();
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE foreign_table(x)").unwrap();
    assert!(matches!(open(), Err(StoreError::Corrupt { .. })));
    std::fs::remove_file(&path).unwrap();
    drop(open().unwrap());
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 99).unwrap();
    assert!(matches!(open(), Err(StoreError::Newer { found: 99, .. })));
    assert!(matches!(EmbeddedUsageLog::open(directory.path(), Access::ReadOnly), Err(StoreError::Newer { .. })));
}

#[test]
fn damaged_evidence_is_an_error_and_not_a_panic() {
    let (_directory, log) = log();
    log.record(&search("aaaa", &["p", "q"])).unwrap();
    log.with(|connection| connection.execute("UPDATE searches SET evidence = x'1f00'", [])).unwrap();
    assert!(log.search("aaaa").unwrap_err().to_string().contains("does not match the candidates"));
}

#[test]
fn threads_share_one_log() {
    let (_directory, log) = log();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let log = &log;
            scope.spawn(move || {
                for number in 0..20 {
                    log.record(&search(&format!("{thread}-{number}"), &["p"])).unwrap();
                }
            });
        }
    });
    assert_eq!(log.recent(1000).unwrap().len(), 80);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn judgements_are_those_of_a_simple_model(
        said in prop::collection::vec((0usize..4, 0usize..6, any::<bool>()), 0..24),
    ) {
        let (_directory, log) = log();
        let pool = ["p0", "p1", "p2"];
        for number in 0..4 {
            log.record(&search(&format!("s{number}"), &pool)).unwrap();
        }
        let mut model: BTreeMap<usize, BTreeMap<String, bool>> = BTreeMap::new();
        for (at, (search, passage, relevant)) in said.into_iter().enumerate() {
            let passage = format!("p{passage}");
            log.judge(&format!("s{search}"), &[(&passage, relevant)], at as i64).unwrap();
            model.entry(search).or_default().insert(passage, relevant);
        }
        let judged = log.judged().unwrap();
        prop_assert_eq!(judged.len(), model.len());
        for (judged, (search, expected)) in judged.into_iter().zip(model) {
            prop_assert_eq!(judged.search.id, format!("s{search}"));
            prop_assert!(judged.judgements.iter().all(|j| j.in_pool == pool.contains(&j.passage.as_str())));
            let said: BTreeMap<String, bool> = judged.judgements.into_iter().map(|j| (j.passage, j.relevant)).collect();
            prop_assert_eq!(said, expected);
        }
    }
}

/// A copy of a log that version 2 wrote, with a sentence in place of each scoring key.
fn of_version_2() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join(FILE), include_bytes!("../../tests/fixtures/usage-2.db")).unwrap();
    directory
}

/// The keys of all searches, earliest first.
fn keys(log: &EmbeddedUsageLog) -> Vec<String> {
    let ids = log.search_ids(None, None, 99).unwrap();
    ids.iter().map(|id| log.search(id).unwrap().unwrap().scoring.to_string()).collect()
}

const KEYS_OF_VERSION_2: [&str; 5] = [
    "search; fusion=convex 0.5; language=1.2 1.1; pool=100; roles=0.9 0.85 0.85 0.8 0.7 0.6 0.5 0.4; usage=0.9",
    "memories; fusion=weighted 0.7; decay=30 of notes conversations but decisions; pool=100; \
     roles=0.9 0.85 0.85 0.8 0.7 0.6 0.5 0.4; usage=0.9",
    "issues; fusion=rrf 60",
    "evidence; fusion=weighted 1; proposed=100",
    "search; fusion=",
];

#[test]
fn a_log_of_version_2_is_upgraded_and_its_sentences_become_keys() {
    let directory = of_version_2();
    let log = EmbeddedUsageLog::open(directory.path(), Access::ReadWrite).unwrap();
    assert_eq!(keys(&log), KEYS_OF_VERSION_2);
    assert_eq!(log.judged().unwrap()[0].search.scoring.kind, ScoringKind::Memories);
    let stored: Vec<String> = log
        .with(|connection| {
            crate::query::all(connection, "SELECT scoring FROM searches ORDER BY number", [], |row| row.get(0))
        })
        .unwrap();
    assert_eq!(stored, KEYS_OF_VERSION_2, "the file holds the keys");
    log.record(&search("cccc", &["p"])).unwrap();
    drop(log);
    let again = EmbeddedUsageLog::open(directory.path(), Access::ReadWrite).unwrap();
    assert_eq!(again.search("cccc").unwrap().unwrap().scoring, search("cccc", &[]).scoring);
    assert_eq!(keys(&again)[..5], KEYS_OF_VERSION_2);
}

#[test]
fn a_log_of_version_2_that_may_not_be_upgraded_is_read_as_it_is() {
    let directory = of_version_2();
    let before = std::fs::read(directory.path().join(FILE)).unwrap();
    let log = EmbeddedUsageLog::open(directory.path(), Access::ReadOnly).unwrap();
    assert_eq!(keys(&log), KEYS_OF_VERSION_2);
    assert_eq!(log.judged().unwrap().len(), 1);
    drop(log);
    assert_eq!(std::fs::read(directory.path().join(FILE)).unwrap(), before);
}

#[test]
fn a_scoring_key_of_no_known_form_is_damage_and_names_itself() {
    let (_directory, log) = log();
    log.record(&search("aaaa", &["p"])).unwrap();
    log.with(|connection| connection.execute("UPDATE searches SET scoring = 'convex 0.5'", [])).unwrap();
    assert!(log.search("aaaa").unwrap_err().to_string().contains("\"convex 0.5\" is not a scoring key"));
}
