//! The log in a SQLite file.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use rusqlite::Connection;

use super::database::{Database, Patience};
use super::rules::{IMPATIENT, PATIENT};
use super::schema;
use crate::access::Access;
use crate::connection::{checkpoint, whole_check};
use crate::error::{Result, StoreError};
use crate::files::{has_log, log_bytes};
use crate::mutex::lock;
use crate::query::count;
use crate::session::Session;
use crate::session::sqlite::{SqliteSession, now};
use crate::sqlite::TransactionError;
use crate::stamp::FileId;

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
    /// keeps it, [`OtherVersion`](StoreError::OtherVersion) when another version of the program wrote it, [`Corrupt`](StoreError::Corrupt) when it is damaged or not a log, [`Unfinished`](StoreError::Unfinished) when only a
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
        if FileId::of(&self.path) != opened.file {
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
            if FileId::of(&self.path) == opened.file && log_bytes(&self.path) >= CHECKPOINT_BYTES {
                // A failed checkpoint loses nothing.
                let _ = checkpoint(&opened.connection);
            }
        }
    }
}
