//! The table `meta`: numbers about the database as a whole, by key.

use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::Connection;

use crate::query::{count, execute, one};

/// The state of the database that a result was computed from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ContentState {
    /// The number of the last change.
    pub(crate) seq: u64,
    /// The number of the last change of dates, attributes and evidence; 0 where they do not matter.
    pub(crate) properties: i64,
}

/// Returns a number.
pub(super) fn get(connection: &Connection, key: &str) -> rusqlite::Result<Option<i64>> {
    one(connection, "SELECT value FROM meta WHERE key = ?1", [key], |row| row.get(0))
}

/// Returns a number that every database has.
fn existing(connection: &Connection, key: &str) -> rusqlite::Result<i64> {
    get(connection, key)?.ok_or(rusqlite::Error::QueryReturnedNoRows)
}

/// Stores a number.
pub(super) fn set(connection: &Connection, key: &str, value: i64) -> rusqlite::Result<()> {
    let sql = "INSERT INTO meta(key, value) VALUES (?1, ?2) ON CONFLICT(key) DO UPDATE SET value = excluded.value";
    execute(connection, sql, (key, value)).map(drop)
}

/// Returns the random number that identifies this database.
pub(super) fn instance(connection: &Connection) -> rusqlite::Result<[u8; 16]> {
    connection.query_row("SELECT value FROM meta WHERE key = 'instance'", [], |row| row.get(0))
}

/// Returns the current time in milliseconds since 1970.
pub(super) fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_millis() as i64)
}

/// Returns the number of the last change.
pub(crate) fn seq(connection: &Connection) -> rusqlite::Result<u64> {
    Ok(existing(connection, "seq")? as u64)
}

/// Stores the number of the last change, and its time.
pub(super) fn write_seq(connection: &Connection, seq: u64) -> rusqlite::Result<()> {
    set(connection, "seq", seq as i64)?;
    set(connection, "last_change_ms", now_ms())
}

/// Returns the number of the last change of dates, attributes and evidence, which no derived index holds.
pub(super) fn read_properties(connection: &Connection) -> rusqlite::Result<i64> {
    existing(connection, "properties")
}

/// Counts a change of dates, attributes or evidence.
pub(super) fn properties_changed(connection: &Connection) -> rusqlite::Result<()> {
    set(connection, "properties", read_properties(connection)? + 1)
}

/// Returns the state of the evidence: each change of it changes one of these numbers.
#[cfg(feature = "evidence")]
pub(super) fn evidence_state(connection: &Connection) -> rusqlite::Result<String> {
    let (changed, properties) = (get(connection, "last_change_ms")?, read_properties(connection)?);
    Ok(format!("{} {properties} {}", seq(connection)?, changed.unwrap_or(0)))
}

/// Returns the change number of the last publication.
///
/// An index with a higher number was published from another copy of the database, or just before a crash, and cannot be
/// trusted.
pub(crate) fn published_seq(connection: &Connection) -> rusqlite::Result<u64> {
    Ok(existing(connection, "published_seq")? as u64)
}

/// Returns the change number up to which deletions are forgotten. An index below it cannot catch up and must be rebuilt.
pub(crate) fn tombstone_floor(connection: &Connection) -> rusqlite::Result<u64> {
    Ok(existing(connection, "tombstone_floor")? as u64)
}

/// Returns the number of texts without passages that are kept for their vectors.
pub(super) fn kept_texts(connection: &Connection) -> rusqlite::Result<i64> {
    existing(connection, "kept_texts")
}

/// Adds to the number of kept texts.
pub(super) fn add_kept_texts(connection: &Connection, more: i64) -> rusqlite::Result<()> {
    if more == 0 {
        return Ok(());
    }
    set(connection, "kept_texts", (kept_texts(connection)? + more).max(0))
}

/// Recounts the kept texts.
pub(super) fn count_kept_texts(connection: &Connection) -> rusqlite::Result<()> {
    let kept = count(connection, "SELECT count(*) FROM texts WHERE text IS NULL", [])?;
    set(connection, "kept_texts", kept as i64)
}
