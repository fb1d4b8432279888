//! The log on real files.

use rusqlite::Connection;

use super::contract::TestLog;
use super::contract::quality::quality;
use super::contract::searches::search;
use super::database::{Database, Patience};
use super::deleting;
use super::rules::IMPATIENT;
use super::*;
use crate::{Access, QueryQuality, RecordedSearch, StoreError, UsageLog};

fn log() -> (tempfile::TempDir, EmbeddedUsageLog) {
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
        Connection::open(self.1.path()).unwrap().execute_batch(sqlite).unwrap();
    }

    fn purge(&self, retained: i64) -> u64 {
        let purged =
            self.1.write(Patience::Long, async |session| deleting::old_searches(session, retained, i64::MAX).await);
        purged.unwrap()
    }

    fn purge_quality(&self, last: i64) -> u64 {
        self.1.write(Patience::Short, async |session| deleting::old_quality(session, last).await).unwrap()
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
    let (_directory, log) = log();
    log.record(&search("aaaa", &["p"])).unwrap();
    let holder = Connection::open(log.path()).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
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
        holder.execute_batch("COMMIT").unwrap();
        assert!(judging.join().unwrap().unwrap().is_some());
    });
    log.record(&search("bbbb", &["p"])).unwrap();
}

#[test]
fn foreign_and_damaged_files_are_refused() {
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
}

/// A log whose judged search is in the file, and whose later ones are in the write-ahead log.
fn judged(directory: &std::path::Path) {
    let log = EmbeddedUsageLog::open(directory, Access::ReadWrite).unwrap();
    for number in 0..12 {
        let id = format!("first-{number}");
        log.record_query(&search(&id, &["p", "q"]), Some(&quality(1))).unwrap();
        log.judge(&id, &[("p", true), ("q", false)], 2).unwrap();
    }
    for number in 0..3 {
        log.record_query(&search(&format!("later-{number}"), &["p"]), Some(&quality(1))).unwrap();
    }
}

#[test]
fn a_log_that_was_cut_short_is_found_damaged_or_has_all_that_was_judged() {
    let whole = tempfile::tempdir().unwrap();
    judged(whole.path());
    let name = |suffix: &str| format!("{FILE}{suffix}");
    let length = std::fs::metadata(whole.path().join(FILE)).unwrap().len();
    let expected = EmbeddedUsageLog::open(whole.path(), Access::ReadOnly).unwrap().judged().unwrap();
    assert_eq!(expected.len(), 12);
    for end in [1, 2, 99].into_iter().chain((283..length).step_by(1021)) {
        for with_log in [false, true] {
            let cut = tempfile::tempdir().unwrap();
            for suffix in if with_log { &["", "-wal"][..] } else { &[""] } {
                std::fs::copy(whole.path().join(name(suffix)), cut.path().join(name(suffix))).unwrap();
            }
            std::fs::File::options().write(true).open(cut.path().join(FILE)).unwrap().set_len(end).unwrap();
            // A search is recorded before anybody looks.
            if let Ok(log) = EmbeddedUsageLog::open(cut.path(), Access::ReadWrite) {
                let _ = log.record_query(&search("after", &["p"]), Some(&quality(1)));
            }
            let Ok(found) = EmbeddedUsageLog::check(cut.path()) else { continue };
            let log = EmbeddedUsageLog::open(cut.path(), Access::ReadOnly).unwrap();
            assert!(log.judged().unwrap() == expected, "{end} of {length} bytes, {with_log}: {found:?}");
        }
    }
}

#[test]
fn a_log_of_another_version_is_refused_and_left_alone() {
    let (directory, log) = log();
    log.record(&search("aaaa", &["p"])).unwrap();
    let path = log.path().to_owned();
    drop(log);
    let set_version =
        |version: u32| Connection::open(&path).unwrap().pragma_update(None, "user_version", version).unwrap();
    for version in [4, 99] {
        set_version(version);
        for access in [Access::ReadOnly, Access::ReadWrite] {
            let refused = EmbeddedUsageLog::open(directory.path(), access).unwrap_err();
            assert!(
                matches!(refused, StoreError::OtherVersion { found, needed: 5, .. } if found == version),
                "{refused}"
            );
            assert!(refused.to_string().contains("mv usage.db usage.db.aside"), "{refused}");
        }
    }
    set_version(5);
    let log = EmbeddedUsageLog::open(directory.path(), Access::ReadOnly).unwrap();
    assert_eq!(log.search("aaaa").unwrap(), Some(search("aaaa", &["p"])));
}

#[test]
fn a_row_says_its_hash_as_digits() {
    let json = serde_json::to_value(quality(10)).unwrap();
    assert_eq!(json["query_hash"], "07".repeat(32));
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
