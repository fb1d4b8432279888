//! The log on real files.

use super::contract::TestLog;
use super::contract::searches::search;
use super::*;
use crate::ScoringKind;

pub(super) fn log() -> (tempfile::TempDir, EmbeddedUsageLog) {
    let directory = tempfile::tempdir().unwrap();
    let log = EmbeddedUsageLog::open(directory.path(), Access::ReadWrite).unwrap();
    (directory, log)
}

impl TestLog for (tempfile::TempDir, EmbeddedUsageLog) {
    fn log(&self) -> &dyn UsageLog {
        &self.1
    }

    fn look_from_elsewhere(&self, look: &dyn Fn(&dyn UsageLog)) {
        look(&EmbeddedUsageLog::open(self.0.path(), Access::ReadOnly).unwrap());
    }

    fn run(&self, sqlite: &str, _postgres: &str) {
        self.1.with(|connection| connection.execute_batch(sqlite)).unwrap();
    }

    fn purge(&self, retained: usize) -> u64 {
        self.1.with(|connection| write::purge(connection, retained)).unwrap() as u64
    }

    fn purge_quality(&self, last: i64, retained: i64) -> u64 {
        self.1.with(|connection| quality::purge(connection, last, retained)).unwrap() as u64
    }
}

fn on_a_file(test: &dyn Fn(&dyn TestLog)) {
    test(&log());
}

mod as_every_log {
    super::super::contract::contract!(super::on_a_file);
}

#[test]
fn nothing_is_lost_when_the_log_is_closed() {
    let (directory, log) = log();
    log.record(&search("aaaa", &["p"])).unwrap();
    drop(log);
    let log = EmbeddedUsageLog::open(directory.path(), Access::ReadWrite).unwrap();
    assert_eq!(log.search("aaaa").unwrap(), Some(search("aaaa", &["p"])));
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
