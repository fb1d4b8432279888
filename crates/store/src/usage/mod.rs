//! The usage log in a SQLite file: searches with their evidence, and the feedback on them.
//!
//! It is a database of its own, `usage.db` beside the index, so that a search never waits for an index run, and the index
//! can be rebuilt without losing feedback.
//!
//! Of the unjudged searches the last [`RETAINED`](crate::RETAINED) stay, at 8 KB each for a pool of 200; judged ones stay
//! until they are forgotten. Passages are identified by their public identifiers, which survive a rebuilt index. The table
//! `retrieval_quality` has one small row for every query ([`QueryQuality`](crate::QueryQuality)), for statistics.
//!
//! `schema` opens and upgrades the file, `write`, `read`, `quality`, `openings` and `grades` hold the statements, `exchange`
//! hands a log's records to another log, `candidate_blob` encodes the candidates' figures. `rules` holds what is the same in every usage log.

pub(crate) mod candidate_blob;
#[cfg(test)]
pub(crate) mod contract;
mod exchange;
#[cfg(test)]
mod label_tests;
mod openings;
mod quality;
#[cfg(test)]
mod quality_tests;
mod read;
pub(crate) mod rules;
mod schema;
#[cfg(test)]
mod tests;
mod write;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use rules::{IMPATIENT, PATIENT};
use rusqlite::Connection;

use crate::access::Access;
use crate::connection::quick_check;
use crate::error::{Result, StoreError};
use crate::files::{has_log, log_bytes};
use crate::mutex::lock;
use crate::query::count;
use crate::stamp::FileId;
use crate::store::UsageLog;
use crate::usage_record::{
    JudgedSearch, Judgement, LabelVersion, LoggedGrade, LoggedSearch, OpenedCount, OpenedSearch, Opening, Purged,
    QueryQuality, RecordedSearch, SearchSummary,
};

/// The file in the directory of an index.
pub(crate) const FILE: &str = "usage.db";

/// The log grows to this many bytes before closing writes it back. The next process then has little to read again, and
/// closing rarely waits for the disk.
const CHECKPOINT_BYTES: u64 = 2 << 20;

/// The [`UsageLog`] in the directory of an index. Threads can share it.
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
            Access::ReadWrite => schema::open_writable(path, IMPATIENT)?,
            Access::ReadOnly => schema::open_read_only(path, PATIENT)?,
        };
        Ok(Opened { connection, file: FileId::of(path) })
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
    /// [`ReadOnly`](StoreError::ReadOnly) when a writer cannot write it, [`Busy`](StoreError::Busy) when another process
    /// keeps it, [`Newer`](StoreError::Newer) when a newer version of the program wrote it,
    /// [`Corrupt`](StoreError::Corrupt) when it is damaged or not a log, [`Unfinished`](StoreError::Unfinished) when only a
    /// writer can read it.
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
        let connection = schema::open_read_only(&path, PATIENT)?;
        let failed = |error| StoreError::sqlite(&path, error);
        if let Some(reason) = quick_check(&connection).map_err(failed)? {
            return Err(StoreError::Corrupt { path, reason });
        }
        let searches = count(&connection, "SELECT count(*) FROM searches", []).map_err(failed)?;
        let judgements = count(&connection, "SELECT count(*) FROM judgements", []).map_err(failed)?;
        Ok(Some(UsageCheck { searches, judgements, path }))
    }

    /// Returns the log's file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Runs `work` on the connection; returns the default without a log.
    fn with<T: Default>(&self, work: impl FnOnce(&mut Connection) -> rusqlite::Result<T>) -> Result<T> {
        let Some(opened) = &self.connection else { return Ok(T::default()) };
        let mut opened = lock(opened);
        if FileId::of(&self.path) != opened.file {
            // The opened file was deleted or replaced: a write to it would be lost.
            *opened = Opened::open(&self.path, self.access)?;
        }
        work(&mut opened.connection).map_err(|error| StoreError::sqlite(&self.path, error))
    }

    /// Runs `work` if the log may be written.
    fn writing<T: Default>(
        &self,
        patience: Duration,
        work: impl FnOnce(&mut Connection) -> rusqlite::Result<T>,
    ) -> Result<T> {
        if self.access == Access::ReadOnly {
            let reason = "opened for reading only".to_owned();
            return Err(StoreError::ReadOnly { path: self.path.clone(), reason });
        }
        self.with(|connection| {
            connection.busy_timeout(patience)?;
            work(connection)
        })
    }
}

impl UsageLog for EmbeddedUsageLog {
    fn record_query(&self, search: &RecordedSearch, quality: Option<&QueryQuality>) -> Result<()> {
        let row = write::SearchRow::of(search)?;
        self.writing(IMPATIENT, |connection| row.insert(connection, quality))
    }

    fn judge(&self, id: &str, judged: &[(&str, bool)], at_ms: i64) -> Result<Option<Vec<Judgement>>> {
        self.writing(PATIENT, |connection| write::judge(connection, id, judged, at_ms))
    }

    fn record_opened(&self, opening: &Opening<'_>) -> Result<u64> {
        self.writing(IMPATIENT, |connection| openings::record(connection, opening))
    }

    fn narrow_shown(&self, id: &str, passages: &[&str]) -> Result<()> {
        self.writing(IMPATIENT, |connection| openings::narrow(connection, id, passages))
    }

    fn opened(&self, limit: usize) -> Result<Vec<OpenedSearch>> {
        self.with(|connection| openings::read(connection, limit))
    }

    fn opened_count(
        &self,
        since_ms: Option<i64>,
        until_ms: Option<i64>,
        namespace: Option<&str>,
    ) -> Result<OpenedCount> {
        self.with(|connection| openings::count(connection, since_ms, until_ms, namespace))
    }

    fn forget(&self, id: &str) -> Result<bool> {
        self.writing(PATIENT, |connection| Ok(connection.execute("DELETE FROM searches WHERE id = ?1", [id])? > 0))
    }

    fn purge(&self) -> Result<u64> {
        self.writing(PATIENT, |connection| write::purge(connection, crate::RETAINED)).map(|deleted| deleted as u64)
    }

    fn purge_telemetry(&self, judged: bool) -> Result<Purged> {
        self.writing(PATIENT, |connection| write::purge_telemetry(connection, judged))
    }

    fn search(&self, id: &str) -> Result<Option<RecordedSearch>> {
        self.with(|connection| read::search(connection, id))
    }

    fn recent(&self, limit: usize) -> Result<Vec<SearchSummary>> {
        self.with(|connection| read::recent(connection, limit))
    }

    fn search_ids(&self, since_ms: Option<i64>, until_ms: Option<i64>, limit: usize) -> Result<Vec<String>> {
        self.with(|connection| read::search_ids(connection, since_ms, until_ms, limit))
    }

    fn judged(&self) -> Result<Vec<JudgedSearch>> {
        self.with(|connection| read::judged(connection))
    }

    fn judged_as(&self, query_hash: &[u8; 32], namespace: &str) -> Result<Vec<JudgedSearch>> {
        self.with(|connection| read::judged_as(connection, query_hash, namespace))
    }

    fn judgements(&self, id: &str) -> Result<Vec<Judgement>> {
        self.with(|connection| read::judgements_of(connection, id))
    }

    fn label_version(&self) -> Result<LabelVersion> {
        self.with(|connection| read::label_version(connection))
    }

    fn quality(&self, since_ms: Option<i64>, until_ms: Option<i64>, limit: usize) -> Result<Vec<QueryQuality>> {
        self.with(|connection| quality::read(connection, since_ms, until_ms, limit))
    }

    fn logged_searches(&self, after: i64, limit: usize) -> Result<Vec<LoggedSearch>> {
        self.with(|connection| exchange::searches(connection, after, limit))
    }

    fn logged(&self, ids: &[&str]) -> Result<Vec<Option<LoggedSearch>>> {
        let found = self.with(|connection| exchange::searches_named(connection, ids))?;
        // Without a log nothing is found.
        Ok(if found.is_empty() { vec![None; ids.len()] } else { found })
    }

    fn add_searches(&self, searches: &[LoggedSearch]) -> Result<u64> {
        let rows = searches.iter().map(|one| write::SearchRow::of(&one.search)).collect::<Result<Vec<_>>>()?;
        self.writing(PATIENT, |connection| exchange::add_searches(connection, searches, &rows))
    }

    fn logged_grades(&self, after: i64, limit: usize) -> Result<Vec<LoggedGrade>> {
        self.with(|connection| exchange::grades(connection, after, limit))
    }

    fn add_grades(&self, grades: &[LoggedGrade]) -> Result<u64> {
        self.writing(PATIENT, |connection| exchange::add_grades(connection, grades))
    }

    fn logged_quality(&self, after: i64, limit: usize) -> Result<Vec<(i64, QueryQuality)>> {
        self.with(|connection| quality::numbered(connection, after, limit))
    }

    fn add_quality(&self, rows: &[QueryQuality]) -> Result<()> {
        self.writing(PATIENT, |connection| exchange::add_quality(connection, rows))
    }
}

impl Drop for EmbeddedUsageLog {
    fn drop(&mut self) {
        if let (Some(opened), Access::ReadWrite) = (&self.connection, self.access) {
            let opened = lock(opened);
            if FileId::of(&self.path) == opened.file && log_bytes(&self.path) >= CHECKPOINT_BYTES {
                // A failed checkpoint loses nothing.
                let _ = crate::connection::checkpoint(&opened.connection);
            }
        }
    }
}
