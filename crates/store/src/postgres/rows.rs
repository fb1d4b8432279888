//! Rows of the tables as values of the library.

use crate::record::{DocumentId, PassageId, TextHash};

/// The number of a passage.
pub(super) fn passage_id(column: i64) -> PassageId {
    PassageId(column as u64)
}

/// The number of a document.
pub(super) fn document_id(column: i32) -> DocumentId {
    DocumentId(column as u32)
}

/// A hash of 32 bytes, which the tables make sure of.
pub(super) fn text_hash(column: &[u8]) -> TextHash {
    TextHash(column.try_into().unwrap_or_default())
}
