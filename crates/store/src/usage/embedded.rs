//! The log in a SQLite file.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::{Database, IMPATIENT, PATIENT, Patience};
use crate::cache::lock;
use crate::error::{Result, StoreError};
use crate::files::{FileId, has_log, log_bytes, log_path};
use crate::session::Session;
use crate::sqlite::TransactionError;
use crate::sqlite::connection::{Access, Schema, checkpoint, count, immutable_uri, open, read_schema, whole_check};
use crate::sqlite::session::{SqliteSession, now};

/// The file in the directory of an index.
pub(crate) const FILE: &str = "usage.db";

/// The log grows to this many bytes before closing writes it back. The next process then has little to read again, and
/// closing rarely waits for the disk.
const CHECKPOINT_BYTES: u64 = 2 << 20;

/// The [`UsageLog`](crate::UsageLog) in the directory of an index. Threads can share it.
///
/// ```
/// use tamis_store::{
///     Access, EmbeddedUsageLog, RecordedCandidate, RecordedSearch, ScoringKey, ScoringKind, UsageLog,
/// };
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let directory = tempfile::tempdir()?;
/// let log = EmbeddedUsageLog::open(directory.path(), Access::ReadWrite)?;
/// let candidate = |passage: &str, score| RecordedCandidate {
///     passage: passage.into(),
///     score: Some(score),
///     ..RecordedCandidate::default()
/// };
/// log.record(&RecordedSearch {
///     id: "7k2m9qrt".into(),
///     at_ms: 1_700_000_000_000,
///     namespace: "kitchen".into(),
///     mode: "lexical".into(),
///     scoring: ScoringKey::new(ScoringKind::Search, "convex 0.5"),
///     kept: 1,
///     candidates: vec![candidate("3f9a1c2b4d5e", 0.9), candidate("81b2c3d4e5f6", 0.4)],
///     ..RecordedSearch::default()
/// })?;
///
/// log.judge("7k2m9qrt", &[("3f9a1c2b4d5e", true)], 1_700_000_060_000)?;
/// let judged = log.judged()?;
/// assert_eq!(judged[0].search.candidates[0].score, Some(0.9));
/// assert!(judged[0].judgements[0].relevant);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct EmbeddedUsageLog {
    path: PathBuf,
    access: Access,
    /// `None` without a log that exists or may be created.
    connection: Option<Mutex<Opened>>,
}

/// A connection and the file it is connected to.
#[derive(Debug)]
struct Opened {
    connection: Connection,
    file: Option<FileId>,
}

impl Opened {
    fn open(path: &Path, access: Access) -> Result<Opened> {
        let connection = match access {
            Access::ReadWrite => open_writable(path, IMPATIENT)?,
            Access::ReadOnly => open_read_only(path, PATIENT)?,
        };
        Ok(Opened { connection, file: FileId::from_path(path) })
    }
}

/// The findings of [`EmbeddedUsageLog::check`].
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct UsageCheck {
    /// The log's file.
    pub path: PathBuf,
    /// Number of recorded searches.
    pub searches: u64,
    /// Number of judgements.
    pub judgements: u64,
}

impl EmbeddedUsageLog {
    /// Opens the log in the directory of an index. A writer creates a missing log; to a reader a missing log is empty.
    ///
    /// # Errors
    /// [`ReadOnly`](StoreError::ReadOnly) when a writer cannot write it, [`Busy`](StoreError::Busy) when another process keeps it,
    /// [`OtherVersion`](StoreError::OtherVersion) when another version of the program wrote it, [`Corrupt`](StoreError::Corrupt) when
    /// it is damaged or not a log, [`Unfinished`](StoreError::Unfinished) when only a writer can read it.
    pub fn open(directory: impl AsRef<Path>, access: Access) -> Result<EmbeddedUsageLog> {
        let path = directory.as_ref().join(FILE);
        let connection = match access {
            Access::ReadOnly if !path.exists() => None,
            _ => Some(Mutex::new(Opened::open(&path, access)?)),
        };
        Ok(EmbeddedUsageLog { path, access, connection })
    }

    /// Looks for damage and counts the content. Reads everything and changes nothing; `None` without a log.
    ///
    /// # Errors
    /// [`Corrupt`](StoreError::Corrupt) when it is damaged; others when it cannot be read.
    pub fn check(directory: impl AsRef<Path>) -> Result<Option<UsageCheck>> {
        let path = directory.as_ref().join(FILE);
        match std::fs::metadata(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(StoreError::io(&path, "looking for the log", error)),
            // An empty file is a log without any record.
            Ok(file) if file.len() == 0 && !has_log(&path) => {
                return Ok(Some(UsageCheck { path, ..UsageCheck::default() }));
            }
            Ok(_) => {}
        }
        let connection = open_read_only(&path, PATIENT)?;
        let failed = |error| StoreError::sqlite(&path, error);
        // A quick check does not see the lost entries of an index, by which judgements are found.
        if let Some(reason) = whole_check(&connection).map_err(failed)? {
            return Err(StoreError::Corrupt { path, reason });
        }
        let searches = count(&connection, "SELECT count(*) FROM usage_searches", []).map_err(failed)?;
        let judgements = count(&connection, "SELECT count(*) FROM usage_judgements", []).map_err(failed)?;
        Ok(Some(UsageCheck { searches, judgements, path }))
    }

    /// Returns the log's file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Runs `work` on the connection; `None` without a log.
    fn with<T>(&self, work: impl FnOnce(&Connection) -> Result<T, TransactionError>) -> Result<Option<T>> {
        let Some(opened) = &self.connection else { return Ok(None) };
        let mut opened = lock(opened);
        if FileId::from_path(&self.path) != opened.file {
            // The opened file was deleted or replaced: a write to it would be lost.
            *opened = Opened::open(&self.path, self.access)?;
        }
        work(&opened.connection).map(Some).map_err(|error| error.at(&self.path))
    }

    /// Runs SQL and ignores its failure.
    fn tidy(&self, tidy: impl FnOnce(&Connection) -> rusqlite::Result<()>) {
        let _ = self.with(|connection| Ok(tidy(connection)?));
    }
}

impl Database for EmbeddedUsageLog {
    type Error = TransactionError;

    fn ask<T: Default>(
        &self,
        work: impl AsyncFn(&dyn Session<TransactionError>) -> Result<T, TransactionError>,
    ) -> Result<T> {
        Ok(self.with(|connection| now(work(&SqliteSession::new(connection))))?.unwrap_or_default())
    }

    fn read<T: Default>(
        &self,
        work: impl AsyncFn(&dyn Session<TransactionError>) -> Result<T, TransactionError>,
    ) -> Result<T> {
        self.ask(work)
    }

    fn write<T>(
        &self,
        patience: Patience,
        work: impl AsyncFn(&dyn Session<TransactionError>) -> Result<T, TransactionError>,
    ) -> Result<T> {
        let written = match self.access {
            Access::ReadOnly => None,
            Access::ReadWrite => self.with(|connection| {
                connection.busy_timeout(if patience == Patience::Short { IMPATIENT } else { PATIENT })?;
                let session = SqliteSession::new(connection);
                let done = now(work(&session))?;
                session.commit()?;
                Ok(done)
            })?,
        };
        let reason = "opened for reading only".to_owned();
        written.ok_or_else(|| StoreError::ReadOnly { path: self.path.clone(), reason })
    }

    /// Feedback is on the disk before it is acknowledged, and stays readable in a directory that becomes read-only. A concurrent reader
    /// may prevent that without harm.
    fn settle(&self) {
        self.tidy(checkpoint);
    }

    fn shrink(&self) {
        self.tidy(|connection| connection.execute_batch("VACUUM"));
        self.tidy(checkpoint);
    }
}

impl Drop for EmbeddedUsageLog {
    fn drop(&mut self) {
        if let (Some(opened), Access::ReadWrite) = (&self.connection, self.access) {
            let opened = lock(opened);
            if FileId::from_path(&self.path) == opened.file && log_bytes(&self.path) >= CHECKPOINT_BYTES {
                // A failed checkpoint loses nothing.
                let _ = checkpoint(&opened.connection);
            }
        }
    }
}

/// Identified by "TAMU".
const SCHEMA: Schema = Schema { application_id: 0x5441_4d55, version: 5, tables: include_str!("schema.sql") };

/// A record writes the write-ahead log back at this many pages, which waits for the disk. Most processes end before, and
/// closing does it.
const CHECKPOINT_PAGES: i64 = 2048;

/// Opens the log for writing and creates it if it is missing.
pub(crate) fn open_writable(path: &Path, busy_timeout: Duration) -> Result<Connection> {
    let open = || {
        let connection = open(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)?;
        connection.busy_timeout(busy_timeout)?;
        connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        connection.pragma_update(None, "foreign_keys", true)?;
        connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
        // SQLite's own checkpoint on closing would wait for the disk each time.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        Ok(connection)
    };
    let mut connection = open().map_err(|error| StoreError::sqlite(path, error))?;
    SCHEMA.create(&mut connection, path)?;
    Ok(connection)
}

/// Opens an existing log for reading, also in a directory that cannot be written.
pub(crate) fn open_read_only(path: &Path, busy_timeout: Duration) -> Result<Connection> {
    let failed = |error| StoreError::sqlite(path, error);
    let open = |uri: &str, flags: OpenFlags| {
        let connection = open(uri, flags | OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        connection.busy_timeout(busy_timeout)?;
        read_schema(&connection)?;
        Ok(connection)
    };
    let connection = match open(&path.to_string_lossy(), OpenFlags::empty()).map_err(failed) {
        // Without the right to write, or room, SQLite cannot create the shared memory of a write-ahead log. An empty log can
        // be ignored.
        Err(StoreError::ReadOnly { .. } | StoreError::Full { .. }) => {
            if has_log(path) {
                return Err(StoreError::Unfinished { path: log_path(path) });
            }
            open(&immutable_uri(path), OpenFlags::SQLITE_OPEN_URI).map_err(failed)?
        }
        opened => opened?,
    };
    SCHEMA.expect(&connection, path)?;
    Ok(connection)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usage::contract_tests::{TestLog, quality, search};
    use crate::usage::{Database, IMPATIENT, Patience, rows};
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
            let purged = self.1.write(Patience::Long, async |of| rows::old_searches(of, retained, i64::MAX).await);
            purged.unwrap()
        }

        fn purge_quality(&self, last: i64) -> u64 {
            self.1.write(Patience::Short, async |session| rows::old_quality(session, last).await).unwrap()
        }
    }

    fn on_a_file(test: &dyn Fn(&dyn TestLog)) {
        test(&log());
    }

    mod as_every_log {
        crate::usage::contract_tests::contract!(super::on_a_file);
    }

    #[test]
    fn a_log_that_is_not_there_is_empty_to_a_reader_and_refuses_to_be_written() {
        let directory = tempfile::tempdir().unwrap();
        let log = EmbeddedUsageLog::open(directory.path(), Access::ReadOnly).unwrap();
        let counts =
            (log.judged().unwrap().len(), log.recent(9).unwrap().len(), log.quality(None, None, 9).unwrap().len());
        assert_eq!((log.search("aaaa").unwrap(), counts), (None, (0, 0, 0)));
        for refused in [
            log.record(&search("aaaa", &[])).unwrap_err(),
            log.judge("aaaa", &[], 0).unwrap_err(),
            log.forget("aaaa").unwrap_err(),
            log.purge_telemetry(false).unwrap_err(),
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
        let set_version = |to: u32| Connection::open(&path).unwrap().pragma_update(None, "user_version", to).unwrap();
        for version in [4, 99] {
            set_version(version);
            for access in [Access::ReadOnly, Access::ReadWrite] {
                let refused = EmbeddedUsageLog::open(directory.path(), access).unwrap_err();
                let StoreError::OtherVersion { found, needed: 5, .. } = refused else { panic!("{refused}") };
                assert_eq!(found, version);
                assert!(refused.to_string().contains("usage.db.aside"), "{refused}");
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
}
