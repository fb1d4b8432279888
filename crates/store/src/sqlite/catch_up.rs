//! Change numbers and other numbers about the database as a whole, and the changes that a derived index lacks.

use std::time::{SystemTime, UNIX_EPOCH};

use half::f16;
use rusqlite::{Connection, Row};

use super::texts::{content, own_text};
use super::{Database, TransactionError};
use crate::content::Model;
use crate::error::Result;
use crate::record::{PassageId, TextForm};
use crate::sqlite::connection;
use crate::sqlite::connection::{all, count, execute, one, unsigned};
use crate::vectors::Owner;

/// A passage as the lexical index needs it.
#[derive(Debug)]
pub(crate) struct LexicalRow<'r> {
    pub(crate) passage: u64,
    pub(crate) document: u32,
    pub(crate) namespace: u32,
    pub(crate) form: TextForm,
    pub(crate) path: &'r str,
    pub(crate) title: Option<&'r str>,
    pub(crate) symbol: Option<&'r str>,
    pub(crate) heading: Option<&'r str>,
    pub(crate) context: Option<&'r str>,
    pub(crate) text: &'r str,
}

impl Database {
    /// Returns the number of the last change.
    pub(crate) fn seq(&self) -> Result<u64> {
        self.read(|connection| Ok(seq(connection)?))
    }

    /// Returns the number of the last change, and that of the last change of properties where they matter.
    pub(crate) fn content_state(&self, by_properties: bool) -> Result<ContentState> {
        self.read(|connection| {
            let properties = if by_properties { read_properties(connection)? } else { 0 };
            Ok(ContentState { seq: seq(connection)?, properties })
        })
    }
}

/// Returns passages deleted after a change number.
pub(crate) fn deleted_since(connection: &Connection, seq: u64) -> Result<Vec<u64>, TransactionError> {
    let sql = "SELECT passage FROM tombstones WHERE seq > ?1 ORDER BY seq";
    Ok(all(connection, sql, [seq as i64], |row| unsigned(row, 0))?)
}

/// Passes the passages inserted after a change number to `each`, ascending.
pub(crate) fn passages_since(
    connection: &Connection,
    seq: u64,
    mut each: impl FnMut(LexicalRow<'_>) -> Result<(), TransactionError>,
) -> Result<(), TransactionError> {
    let select = "SELECT p.passage, p.document, p.prose, d.path, d.title, p.symbol, p.heading, \
         t.text, p.text_bytes, p.own_text, (SELECT n.number FROM namespaces n WHERE n.namespace = d.namespace), p.context \
         FROM passages p JOIN documents d ON d.document = p.document JOIN texts t ON t.id = p.text_id WHERE p.passage > ?1 ORDER BY p.passage";
    connection::each(connection, select, [seq as i64], |row| {
        let optional = |index: usize| -> rusqlite::Result<Option<&str>> { Ok(row.get_ref(index)?.as_str_or_null()?) };
        let embedded = content(row, 7)?;
        let text = own_text(&embedded, row.get(8)?, optional(9)?);
        each(LexicalRow {
            passage: unsigned(row, 0)?,
            document: row.get(1)?,
            namespace: row.get(10)?,
            form: TextForm::from_prose(row.get(2)?),
            path: row.get_ref(3)?.as_str()?,
            title: optional(4)?,
            symbol: optional(5)?,
            heading: optional(6)?,
            context: optional(11)?,
            text,
        })
    })
}

/// Passes the vectors that a model's vector file lacks to `each`: first those of passages inserted after the change number,
/// ascending, then later vectors of earlier passages. From 0, each passage comes once and ascending.
pub(crate) fn vectors_since(
    connection: &Connection,
    model: &Model,
    seq: u64,
    mut each: impl FnMut(u64, Owner, &[f32]) -> Result<(), TransactionError>,
) -> Result<(), TransactionError> {
    const ROW: &str = "SELECT p.passage, p.document, v.vector, \
         (SELECT n.number FROM documents d JOIN namespaces n ON n.namespace = d.namespace WHERE d.document = p.document)";
    let queries = [
        format!(
            "{ROW} FROM passages p JOIN vectors v ON v.text_id = p.text_id AND v.model = ?1 WHERE p.passage > ?2 ORDER BY p.passage"
        ),
        format!(
            "{ROW} FROM vectors v JOIN passages p ON p.text_id = v.text_id \
             WHERE v.seq > ?2 AND v.model = ?1 AND p.passage <= ?2 ORDER BY v.seq, p.passage"
        ),
    ];
    let mut vector = Vec::new();
    for query in &queries {
        connection::each(connection, query, [i64::from(model.number), seq as i64], |row| {
            decode_vector(row.get_ref(2)?.as_blob()?, &mut vector);
            let owner = Owner { document: row.get(1)?, namespace: row.get(3)? };
            each(unsigned(row, 0)?, owner, &vector)
        })?;
    }
    Ok(())
}

/// Returns a column with the number of a passage.
pub(crate) fn passage_id(row: &Row<'_>, column: usize) -> rusqlite::Result<PassageId> {
    unsigned(row, column).map(PassageId)
}

/// Reads a stored vector.
pub(crate) fn decode_vector(bytes: &[u8], vector: &mut Vec<f32>) {
    vector.clear();
    vector.extend(decoded_vector(bytes));
}

pub(crate) fn decoded_vector(bytes: &[u8]) -> impl Iterator<Item = f32> {
    bytes.as_chunks().0.iter().map(|chunk| f16::from_le_bytes(*chunk).to_f32())
}

/// The state of the database that a result was computed from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ContentState {
    /// The number of the last change.
    pub(crate) seq: u64,
    /// The number of the last change of dates, attributes and evidence; 0 where they do not matter.
    pub(crate) properties: i64,
}

pub(crate) fn get(connection: &Connection, key: &str) -> rusqlite::Result<Option<i64>> {
    one(connection, "SELECT value FROM meta WHERE key = ?1", [key], |row| row.get(0))
}

/// Returns a number that every database has.
fn existing(connection: &Connection, key: &str) -> rusqlite::Result<i64> {
    get(connection, key)?.ok_or(rusqlite::Error::QueryReturnedNoRows)
}

pub(crate) fn set(connection: &Connection, key: &str, value: i64) -> rusqlite::Result<()> {
    let sql = "INSERT INTO meta(key, value) VALUES (?1, ?2) ON CONFLICT(key) DO UPDATE SET value = excluded.value";
    execute(connection, sql, (key, value)).map(drop)
}

/// Returns the random number that identifies this database.
pub(crate) fn instance(connection: &Connection) -> rusqlite::Result<[u8; 16]> {
    connection.query_row("SELECT value FROM meta WHERE key = 'instance'", [], |row| row.get(0))
}

/// Returns the current time in milliseconds since 1970.
pub(crate) fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_millis() as i64)
}

/// Returns the number of the last change.
pub(crate) fn seq(connection: &Connection) -> rusqlite::Result<u64> {
    Ok(existing(connection, "seq")? as u64)
}

/// Stores the number of the last change, and its time.
pub(crate) fn write_seq(connection: &Connection, seq: u64) -> rusqlite::Result<()> {
    set(connection, "seq", seq as i64)?;
    set(connection, "last_change_ms", now_ms())
}

/// Returns the number of the last change of dates, attributes and evidence, which no derived index holds.
fn read_properties(connection: &Connection) -> rusqlite::Result<i64> {
    existing(connection, "properties")
}

/// Counts a change of dates, attributes or evidence.
pub(crate) fn properties_changed(connection: &Connection) -> rusqlite::Result<()> {
    set(connection, "properties", read_properties(connection)? + 1)
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
pub(crate) fn kept_texts(connection: &Connection) -> rusqlite::Result<i64> {
    existing(connection, "kept_texts")
}

/// Adds to the number of kept texts.
pub(crate) fn add_kept_texts(connection: &Connection, more: i64) -> rusqlite::Result<()> {
    if more == 0 {
        return Ok(());
    }
    set(connection, "kept_texts", (kept_texts(connection)? + more).max(0))
}

pub(crate) fn count_kept_texts(connection: &Connection) -> rusqlite::Result<()> {
    let kept = count(connection, "SELECT count(*) FROM texts WHERE text IS NULL", [])?;
    set(connection, "kept_texts", kept as i64)
}
