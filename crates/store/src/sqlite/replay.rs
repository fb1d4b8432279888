//! What a derived index lacks: everything after the change number that it holds.

use rusqlite::{Connection, OptionalExtension};

use super::write::{read_properties, read_seq};
use super::{Database, Fault};
use crate::error::Result;
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
    pub(crate) text: &'r str,
}

/// What a selection of passages was made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ContentState {
    /// The number of the last change.
    pub(crate) seq: u64,
    /// The number of the last change of dates and attributes alone; 0 where they do not matter.
    pub(crate) properties: i64,
}

/// A model's row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ModelRow {
    pub(crate) id: i64,
    pub(crate) name: String,
    pub(crate) dimension: usize,
}

impl Database {
    /// The number of the last change.
    pub(crate) fn seq(&self) -> Result<u64> {
        self.read(|connection| Ok(read_seq(connection)? as u64))
    }

    /// How far changes went, and, where documents' properties matter, changes of those, which have a number of their own.
    pub(crate) fn content_state(&self, by_properties: bool) -> Result<ContentState> {
        self.read(|connection| {
            let seq = read_seq(connection)? as u64;
            Ok(ContentState { seq, properties: if by_properties { read_properties(connection)? } else { 0 } })
        })
    }

    /// All models.
    pub(crate) fn models(&self) -> Result<Vec<ModelRow>> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached("SELECT id, name, dimension FROM models ORDER BY id")?;
            let rows = statement.query_map([], model_row)?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// A model by its name.
    pub(crate) fn model(&self, name: &str) -> Result<Option<ModelRow>> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached("SELECT id, name, dimension FROM models WHERE name = ?1")?;
            Ok(statement.query_row([name], model_row).optional()?)
        })
    }
}

fn model_row(row: &rusqlite::Row<'_>) -> rusqlite::Result<ModelRow> {
    Ok(ModelRow { id: row.get(0)?, name: row.get(1)?, dimension: row.get::<_, i64>(2)? as usize })
}

/// The number of the last change, within a transaction.
pub(crate) fn seq(connection: &Connection) -> Result<u64, Fault> {
    Ok(read_seq(connection)? as u64)
}

/// Deletions up to this number are forgotten: an index that holds less can not be caught up, only rebuilt.
pub(crate) fn tombstone_floor(connection: &Connection) -> Result<u64, Fault> {
    meta(connection, "tombstone_floor")
}

/// The change number of the last publication. An index that holds more was published from another copy of the database,
/// which then went its own way, or just before a crash: what it holds can not be trusted.
pub(crate) fn published_seq(connection: &Connection) -> Result<u64, Fault> {
    meta(connection, "published_seq")
}

fn meta(connection: &Connection, key: &str) -> Result<u64, Fault> {
    let value: i64 =
        connection.prepare_cached("SELECT value FROM meta WHERE key = ?1")?.query_row([key], |row| row.get(0))?;
    Ok(value as u64)
}

/// Passages deleted after a change number.
pub(crate) fn deleted_since(connection: &Connection, seq: u64) -> Result<Vec<u64>, Fault> {
    let mut statement = connection.prepare_cached("SELECT passage FROM tombstones WHERE seq > ?1 ORDER BY seq")?;
    let rows = statement.query_map([seq as i64], |row| row.get::<_, i64>(0).map(|passage| passage as u64))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// How many passages were inserted after a change number.
pub(crate) fn count_since(connection: &Connection, seq: u64) -> Result<u64, Fault> {
    let count: i64 = connection
        .prepare_cached("SELECT count(*) FROM passages WHERE id > ?1")?
        .query_row([seq as i64], |row| row.get(0))?;
    Ok(count as u64)
}

/// Hands over the passages inserted after a change number, ascending.
pub(crate) fn passages_since(
    connection: &Connection,
    seq: u64,
    mut each: impl FnMut(LexicalRow<'_>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let mut statement = connection.prepare_cached(
        "SELECT p.id, p.document, p.prose, d.path, d.title, p.symbol, p.heading, t.text, p.text_bytes, p.own_text, \
         (SELECT n.id FROM namespaces n WHERE n.name = d.namespace) \
         FROM passages p JOIN documents d ON d.id = p.document JOIN texts t ON t.id = p.text_id WHERE p.id > ?1 ORDER BY p.id",
    )?;
    let mut rows = statement.query([seq as i64])?;
    while let Some(row) = rows.next()? {
        let optional = |index: usize| -> rusqlite::Result<Option<&str>> { Ok(row.get_ref(index)?.as_str_or_null()?) };
        let embedded = optional(7)?.unwrap_or_default();
        let text = own_text(embedded, row.get(8)?, optional(9)?);
        each(LexicalRow {
            passage: row.get::<_, i64>(0)? as u64,
            document: row.get(1)?,
            namespace: row.get(10)?,
            form: form(row.get(2)?),
            path: row.get_ref(3)?.as_str()?,
            title: optional(4)?,
            symbol: optional(5)?,
            heading: optional(6)?,
            text,
        })?;
    }
    Ok(())
}

/// Hands over (passage, owner, vector) of what a model's vector file lacks: vectors of passages inserted after the
/// change number, ascending, then vectors that came after it to passages from before. From 0 on, each passage comes
/// once and ascending.
pub(crate) fn vectors_since(
    connection: &Connection,
    model: i64,
    seq: u64,
    mut each: impl FnMut(u64, Owner, &[f32]) -> Result<(), Fault>,
) -> Result<(), Fault> {
    const ROW: &str = "SELECT p.id, p.document, v.vector, \
         (SELECT n.id FROM documents d JOIN namespaces n ON n.name = d.namespace WHERE d.id = p.document)";
    let queries = [
        format!(
            "{ROW} FROM passages p JOIN vectors v ON v.text_id = p.text_id AND v.model = ?1 WHERE p.id > ?2 ORDER BY p.id"
        ),
        format!(
            "{ROW} FROM vectors v JOIN passages p ON p.text_id = v.text_id \
             WHERE v.seq > ?2 AND v.model = ?1 AND p.id <= ?2 ORDER BY v.seq, p.id"
        ),
    ];
    let mut vector = Vec::new();
    for query in &queries {
        let mut statement = connection.prepare_cached(query)?;
        let mut rows = statement.query([model, seq as i64])?;
        while let Some(row) = rows.next()? {
            decode(row.get_ref(2)?.as_blob()?, &mut vector);
            let owner = Owner { document: row.get(1)?, namespace: row.get(3)? };
            each(row.get::<_, i64>(0)? as u64, owner, &vector)?;
        }
    }
    Ok(())
}

/// A stored vector.
pub(super) fn decode(bytes: &[u8], vector: &mut Vec<f32>) {
    vector.clear();
    vector.extend(bytes.as_chunks().0.iter().map(|chunk| f32::from_le_bytes(*chunk)));
}

/// The passage's own text: the last bytes of the embedded one, or what is stored beside it.
pub(super) fn own_text<'t>(embedded: &'t str, bytes: Option<i64>, own: Option<&'t str>) -> &'t str {
    match bytes {
        Some(bytes) => {
            let start = embedded.len().saturating_sub(bytes as usize);
            embedded.get(start..).unwrap_or(embedded)
        }
        None => own.unwrap_or_default(),
    }
}

/// How the lexical leg reads a passage.
pub(super) fn form(prose: bool) -> TextForm {
    if prose { TextForm::Prose } else { TextForm::Code }
}
