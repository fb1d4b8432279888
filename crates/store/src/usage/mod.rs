//! What was searched, what was shown with which evidence, and what people said of it.
//!
//! A database of its own, `usage.db` beside the index, so that a search never waits for an index run, and the index can be
//! rebuilt without losing what people said. [`UsageLog::record`] takes a search in well under a millisecond and gives up
//! rather than wait; [`UsageLog::judge`] waits, since what people say must not be lost. The log has no clock: times are
//! handed in.
//!
//! Of the searches that nobody judged the last [`RETAINED`] stay, at 8 KB each for a pool of 200; judged ones stay until they are
//! forgotten. Passages are named by their public identifiers, which survive a rebuilt index.
//!
//! Beside the searches the table `retrieval_quality` has one small row for every query ([`QueryQuality`]), of which the
//! last [`RETAINED_QUALITY`] stay: what statistics are made from.
//!
//! `schema` opens and upgrades the file, `write`, `read`, `quality` and `purge` hold the statements, `evidence` the form
//! of the candidates' figures.

mod evidence;
mod purge;
mod quality;
#[cfg(test)]
mod quality_tests;
mod read;
mod record;
mod schema;
#[cfg(test)]
mod tests;
mod write;

pub use purge::Purged;
pub use quality::{QueryQuality, RETAINED_QUALITY};
pub use record::{JudgedSearch, Judgement, PastQuery, RecordedCandidate, RecordedSearch, SearchSummary};

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use rusqlite::Connection;

use crate::embedded::Access;
use crate::error::{Result, StoreError};
use crate::sqlite::{has_log, lock};
use crate::stamp::FileId;

/// The file in the directory of an index.
const FILE: &str = "usage.db";

/// How many searches without a judgement are kept.
pub const RETAINED: usize = 10_000;

/// How long recording a search waits for another process before it gives up.
const IMPATIENT: Duration = Duration::from_millis(50);

/// How long everything else waits.
const PATIENT: Duration = Duration::from_secs(5);

/// The log of searches and judgements in the directory of an index. It can be shared between threads.
///
/// ```
/// use tamis_store::{Access, RecordedCandidate, RecordedSearch, UsageLog};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let directory = tempfile::tempdir()?;
/// let log = UsageLog::open(directory.path(), Access::ReadWrite)?;
/// let candidate = |passage: &str, score| RecordedCandidate {
///     passage: passage.into(),
///     score: Some(score),
///     ..RecordedCandidate::default()
/// };
/// log.record(&RecordedSearch {
///     id: "7k2m9qrt".into(),
///     at_ms: 1_700_000_000_000,
///     entry_point: "search".into(),
///     namespace: "kitchen".into(),
///     query_hash: [7; 32],
///     query_text: None,
///     mode: "lexical".into(),
///     model: None,
///     method: "background".into(),
///     scale: "convex 0.5".into(),
///     kept: 1,
///     passages: 40,
///     score_background: Some(0.2),
///     similarity_mean: None,
///     similarity_deviation: None,
///     bm25_mean: Some(0.4),
///     coverage_drop: Some(0.3),
///     evidence: Some(1.7),
///     candidates: vec![candidate("3f9a1c2b4d5e", 0.9), candidate("81b2c3d4e5f6", 0.4)],
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
pub struct UsageLog {
    path: PathBuf,
    access: Access,
    /// `None` where there is no log and none may be made.
    connection: Option<Mutex<Opened>>,
}

/// A connection, and the file that it is to.
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

/// What a check of a log found.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct UsageCheck {
    /// The log's file.
    pub path: PathBuf,
    /// Searches that are kept.
    pub searches: u64,
    /// What people said of their results.
    pub judgements: u64,
    #[serde(skip)]
    damage: Option<String>,
}

impl UsageLog {
    /// Opens the log in the directory of an index. To write, it is made where there is none; to read, a log that is not
    /// there is an empty one.
    ///
    /// # Errors
    /// [`ReadOnly`](StoreError::ReadOnly) when it is to be written and cannot be, [`Busy`](StoreError::Busy) when another
    /// process keeps it, [`Newer`](StoreError::Newer) when a newer version of the program wrote it,
    /// [`Corrupt`](StoreError::Corrupt) when it is none, [`Unfinished`](StoreError::Unfinished) when it is only readable
    /// by someone who may write.
    pub fn open(directory: impl AsRef<Path>, access: Access) -> Result<UsageLog> {
        let path = directory.as_ref().join(FILE);
        let opened = match access {
            Access::ReadOnly if !path.exists() => None,
            _ => Some(Mutex::new(Opened::open(&path, access)?)),
        };
        Ok(UsageLog { path, access, connection: opened })
    }

    /// Looks for damage and counts what is kept. Reads everything and changes nothing; `None` where there is no log.
    ///
    /// # Errors
    /// [`Corrupt`](StoreError::Corrupt) when it is damaged; or it cannot be read.
    pub fn check(directory: impl AsRef<Path>) -> Result<Option<UsageCheck>> {
        let path = directory.as_ref().join(FILE);
        match std::fs::metadata(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(StoreError::io(&path, "looking for the log", error)),
            // Nothing was recorded yet.
            Ok(file) if file.len() == 0 && !has_log(&path) => {
                return Ok(Some(UsageCheck { path, ..UsageCheck::default() }));
            }
            Ok(_) => {}
        }
        let connection = schema::open_read_only(&path, PATIENT)?;
        let check = || -> Result<UsageCheck, rusqlite::Error> {
            let state: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
            let count = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
            Ok(UsageCheck {
                damage: (state != "ok").then_some(state),
                searches: count("SELECT count(*) FROM searches")? as u64,
                judgements: count("SELECT count(*) FROM judgements")? as u64,
                path: path.clone(),
            })
        };
        match check().map_err(|error| StoreError::sqlite(&path, error))? {
            UsageCheck { damage: Some(reason), path, .. } => Err(StoreError::Corrupt { path, reason }),
            sound => Ok(Some(sound)),
        }
    }

    /// The log's file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Runs `work` on the connection; `None` where there is no log.
    fn with<T>(&self, work: impl FnOnce(&mut Connection) -> Result<T, rusqlite::Error>) -> Result<Option<T>> {
        let Some(opened) = &self.connection else { return Ok(None) };
        let mut opened = lock(opened);
        if FileId::of(&self.path) != opened.file {
            // Whatever went into the file that was opened would be gone with it.
            *opened = Opened::open(&self.path, self.access)?;
        }
        let result = work(&mut opened.connection);
        result.map(Some).map_err(|error| StoreError::sqlite(&self.path, error))
    }

    /// Runs `work` where the log may be written.
    fn writing<T>(
        &self,
        patience: Duration,
        work: impl FnOnce(&mut Connection) -> Result<T, rusqlite::Error>,
    ) -> Result<T> {
        let read_only =
            || StoreError::ReadOnly { path: self.path.clone(), reason: "opened for reading only".to_owned() };
        if self.access == Access::ReadOnly {
            return Err(read_only());
        }
        let result = self.with(|connection| {
            connection.busy_timeout(patience)?;
            work(connection)
        })?;
        result.ok_or_else(read_only)
    }
}

impl Drop for UsageLog {
    fn drop(&mut self) {
        if let (Some(opened), Access::ReadWrite) = (&self.connection, self.access) {
            let opened = lock(opened);
            if FileId::of(&self.path) == opened.file {
                schema::checkpoint_if_large(&opened.connection, &self.path);
            }
        }
    }
}
