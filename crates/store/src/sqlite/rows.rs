//! Rows of the database as values of the library.

use half::f16;
use rusqlite::Row;

use crate::record::PassageId;

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
