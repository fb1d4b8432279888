//! The changes that a derived index lacks: everything after the change number that it holds.

use rusqlite::Connection;

use super::meta::{self, ContentState, read_properties};
use super::rows::{decode_vector, own_text};
use super::texts::content;
use super::{Database, TransactionError};
use crate::content::Model;
use crate::error::Result;
use crate::query::{all, count, unsigned};
use crate::record::TextForm;
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
        self.read(|connection| Ok(meta::seq(connection)?))
    }

    /// Returns the number of the last change, and that of the last change of properties where they matter.
    pub(crate) fn content_state(&self, by_properties: bool) -> Result<ContentState> {
        self.read(|connection| {
            let properties = if by_properties { read_properties(connection)? } else { 0 };
            Ok(ContentState { seq: meta::seq(connection)?, properties })
        })
    }
}

/// Returns passages deleted after a change number.
pub(crate) fn deleted_since(connection: &Connection, seq: u64) -> Result<Vec<u64>, TransactionError> {
    let sql = "SELECT passage FROM tombstones WHERE seq > ?1 ORDER BY seq";
    Ok(all(connection, sql, [seq as i64], |row| unsigned(row, 0))?)
}

/// Counts passages inserted after a change number.
pub(crate) fn count_since(connection: &Connection, seq: u64) -> Result<u64, TransactionError> {
    Ok(count(connection, "SELECT count(*) FROM passages WHERE passage > ?1", [seq as i64])?)
}

/// Passes the passages inserted after a change number to `each`, ascending.
pub(crate) fn passages_since(
    connection: &Connection,
    seq: u64,
    mut each: impl FnMut(LexicalRow<'_>) -> Result<(), TransactionError>,
) -> Result<(), TransactionError> {
    let mut statement = connection.prepare_cached(
        "SELECT p.passage, p.document, p.prose, d.path, d.title, p.symbol, p.heading, \
         t.text, p.text_bytes, p.own_text, (SELECT n.number FROM namespaces n WHERE n.namespace = d.namespace), p.context \
         FROM passages p JOIN documents d ON d.document = p.document JOIN texts t ON t.id = p.text_id WHERE p.passage > ?1 ORDER BY p.passage",
    )?;
    let mut rows = statement.query([seq as i64])?;
    while let Some(row) = rows.next()? {
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
        })?;
    }
    Ok(())
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
        let mut statement = connection.prepare_cached(query)?;
        let mut rows = statement.query([i64::from(model.number), seq as i64])?;
        while let Some(row) = rows.next()? {
            decode_vector(row.get_ref(2)?.as_blob()?, &mut vector);
            let owner = Owner { document: row.get(1)?, namespace: row.get(3)? };
            each(unsigned(row, 0)?, owner, &vector)?;
        }
    }
    Ok(())
}
