//! The log's file: opening, creating and upgrading it.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, params};

use crate::connection::{immutable_uri, open, read_schema};
use crate::error::{Result, StoreError};
use crate::files::{has_log, log_path};
use crate::query::{all, count};
use crate::schema::{Migration, Schema};
use crate::scoring::{ScoringKey, ScoringKeyError};

/// Identified by "TAMU".
pub(super) const SCHEMA: Schema = Schema {
    application_id: 0x5441_4d55,
    migrations: &[
        Migration::sql(include_str!("migrations/0001.sql")),
        Migration::sql(include_str!("migrations/0002.sql")),
        Migration { sql: include_str!("migrations/0003.sql"), then: Some(sentences_to_keys) },
        Migration::sql(include_str!("migrations/0004.sql")),
    ],
};

/// A record writes the write-ahead log back at this many pages, which waits for the disk. Most processes end before, and
/// closing does it.
const CHECKPOINT_PAGES: i64 = 2048;

/// Opens the log for writing and creates it if it is missing.
pub(super) fn open_writable(path: &Path, busy_timeout: Duration) -> Result<Connection> {
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
    SCHEMA.migrate(&mut connection, path)?;
    Ok(connection)
}

/// Opens an existing log for reading, also in a directory that cannot be written. A log of an earlier version is read as
/// it is.
pub(super) fn open_read_only(path: &Path, busy_timeout: Duration) -> Result<Connection> {
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
    match SCHEMA.version_of(&connection, path)? {
        0 => Err(SCHEMA.older(path, 0)),
        _ => Ok(connection),
    }
}

/// The column that holds the scoring key, and its form.
#[derive(Clone, Copy)]
pub(super) enum ScoringColumn {
    /// `scoring`: a key in its text form.
    Key,
    /// `scale`: a sentence, in logs of version 1 and 2 that are read as they are.
    Sentence,
}

impl ScoringColumn {
    pub(super) fn name(self) -> &'static str {
        match self {
            ScoringColumn::Key => "scoring",
            ScoringColumn::Sentence => "scale",
        }
    }

    pub(super) fn read(self, text: &str) -> Result<ScoringKey, ScoringKeyError> {
        match self {
            ScoringColumn::Key => text.parse(),
            ScoringColumn::Sentence => Ok(ScoringKey::from_sentence(text)),
        }
    }
}

/// The scoring column of a log.
pub(super) fn scoring_column(connection: &Connection) -> rusqlite::Result<ScoringColumn> {
    let sentences = "SELECT count(*) FROM pragma_table_info('searches') WHERE name = 'scale'";
    Ok(if count(connection, sentences, [])? > 0 { ScoringColumn::Sentence } else { ScoringColumn::Key })
}

/// Returns `true` if the log has a table for the quality of queries. Logs of version 1 lack it.
pub(super) fn has_quality(connection: &Connection) -> rusqlite::Result<bool> {
    Ok(count(connection, "SELECT count(*) FROM sqlite_schema WHERE name = 'retrieval_quality'", [])? > 0)
}

/// Whether the log has openings and grades. Logs up to version 3 have none.
pub(super) fn has_labels(connection: &Connection) -> rusqlite::Result<bool> {
    Ok(count(connection, "SELECT count(*) FROM sqlite_schema WHERE name = 'grades'", [])? > 0)
}

/// Rewrites the sentences of earlier versions as keys. A log has few different ones.
fn sentences_to_keys(connection: &Connection) -> rusqlite::Result<()> {
    let sentences: Vec<String> = all(connection, "SELECT DISTINCT scoring FROM searches", [], |row| row.get(0))?;
    let mut update = connection.prepare("UPDATE searches SET scoring = ?2 WHERE scoring = ?1")?;
    for sentence in sentences {
        let key = ScoringKey::from_sentence(&sentence).to_string();
        update.execute(params![sentence, key])?;
    }
    Ok(())
}
