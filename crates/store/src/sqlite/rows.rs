//! Rows of the database as values of the library.

use half::f16;
use rusqlite::{Connection, Params, Row};

use super::texts::content;
use crate::query::{all, one};
use crate::record::{DocumentId, PassageId, StoredPassage, TextForm, TextHash};

const PASSAGE: &str = "SELECT p.id, p.public_id, p.document, d.namespace, d.collection, d.path, d.title, d.modified_ns, \
     coalesce(p.dated_ns, d.dated_ns), p.ordinal, p.start_line, p.end_line, p.kind, p.symbol, p.heading, p.context, \
     t.text, p.text_bytes, p.own_text, coalesce(p.language, d.language), p.role, p.prose, t.hash, d.severity, p.author, p.part \
     FROM passages p JOIN documents d ON d.id = p.document JOIN texts t ON t.id = p.text_id WHERE ";

/// Returns the passages that meet a condition.
pub(super) fn passages(
    connection: &Connection,
    condition: &str,
    values: impl Params,
) -> rusqlite::Result<Vec<StoredPassage>> {
    all(connection, &format!("{PASSAGE}{condition}"), values, passage)
}

/// Returns a passage by number.
pub(super) fn passage_by_id(connection: &Connection, id: PassageId) -> rusqlite::Result<Option<StoredPassage>> {
    one(connection, &format!("{PASSAGE}p.id = ?1"), [id.0 as i64], passage)
}

fn passage(row: &Row<'_>) -> rusqlite::Result<StoredPassage> {
    let embedded = content(row, 16)?;
    let text = own_text(&embedded, row.get(17)?, row.get_ref(18)?.as_str_or_null()?);
    Ok(StoredPassage {
        passage: passage_id(row, 0)?,
        id: row.get(1)?,
        document: DocumentId(row.get(2)?),
        namespace: row.get(3)?,
        collection: row.get(4)?,
        path: row.get(5)?,
        title: row.get(6)?,
        modified_ns: row.get(7)?,
        dated_ns: row.get(8)?,
        severity: row.get(23)?,
        author: row.get(24)?,
        part: row.get(25)?,
        ordinal: row.get(9)?,
        start_line: row.get(10)?,
        end_line: row.get(11)?,
        kind: row.get(12)?,
        symbol: row.get(13)?,
        heading: row.get(14)?,
        context: row.get(15)?,
        text: text.to_owned(),
        language: row.get(19)?,
        role: row.get(20)?,
        form: form(row.get(21)?),
        text_hash: TextHash(row.get(22)?),
    })
}

/// Returns a column with the number of a passage.
pub(super) fn passage_id(row: &Row<'_>, column: usize) -> rusqlite::Result<PassageId> {
    crate::query::unsigned(row, column).map(PassageId)
}

/// Reads a stored vector into `vector`.
pub(super) fn decode_vector(bytes: &[u8], vector: &mut Vec<f32>) {
    vector.clear();
    vector.extend(bytes.as_chunks().0.iter().map(|chunk| f16::from_le_bytes(*chunk).to_f32()));
}

/// Returns a passage's own text: the last bytes of the embedded text, or the text stored beside it.
pub(super) fn own_text<'t>(embedded: &'t str, bytes: Option<i64>, own: Option<&'t str>) -> &'t str {
    match bytes {
        Some(bytes) => {
            let start = embedded.len().saturating_sub(bytes as usize);
            embedded.get(start..).unwrap_or(embedded)
        }
        None => own.unwrap_or_default(),
    }
}

/// Returns the way the lexical leg reads a passage.
pub(super) fn form(prose: bool) -> TextForm {
    if prose { TextForm::Prose } else { TextForm::Code }
}
