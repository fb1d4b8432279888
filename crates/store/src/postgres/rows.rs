//! Rows of the tables as values of the library.

use tokio_postgres::Row;

use crate::record::{DocumentId, DocumentState, PassageId, StoredPassage, TextForm, TextHash};

/// Selects documents for [`document`].
pub(super) const DOCUMENT: &str = "SELECT document, namespace, collection, path, language, role, title, size, modified_ns, dated_ns, \
     content_hash, note, passages, origin, stamp FROM documents";

/// Selects passages for [`passage`], as `p` with their documents as `d`.
pub(super) const PASSAGE: &str = "SELECT p.passage, p.public_id, p.document, p.namespace, d.collection, d.path, d.title, \
     d.modified_ns, coalesce(p.dated_ns, d.dated_ns), d.severity, p.author, p.part, p.ordinal, p.start_line, p.end_line, p.kind, \
     p.symbol, p.heading, p.context, p.text, coalesce(p.language, d.language), p.role, p.prose, p.text_hash \
     FROM passages p JOIN documents d ON d.namespace = p.namespace AND d.document = p.document";

/// Reads a document.
pub(super) fn document(row: &Row) -> DocumentState {
    DocumentState {
        document: document_id(row.get(0)),
        namespace: row.get(1),
        collection: row.get(2),
        path: row.get(3),
        language: row.get(4),
        role: row.get(5),
        title: row.get(6),
        size: row.get::<_, i64>(7) as u64,
        modified_ns: row.get(8),
        dated_ns: row.get(9),
        content_hash: text_hash(row.get(10)).0,
        note: row.get(11),
        passages: row.get::<_, i32>(12) as u32,
        origin: row.get(13),
        stamp: row.get(14),
    }
}

/// Reads a passage.
pub(super) fn passage(row: &Row) -> StoredPassage {
    StoredPassage {
        passage: passage_id(row.get(0)),
        id: row.get(1),
        document: document_id(row.get(2)),
        namespace: row.get(3),
        collection: row.get(4),
        path: row.get(5),
        title: row.get(6),
        modified_ns: row.get(7),
        dated_ns: row.get(8),
        severity: row.get(9),
        author: row.get(10),
        part: row.get::<_, Option<i64>>(11).map(|part| part as u32),
        ordinal: row.get::<_, i32>(12) as u32,
        start_line: row.get::<_, i64>(13) as u32,
        end_line: row.get::<_, i64>(14) as u32,
        kind: row.get(15),
        symbol: row.get(16),
        heading: row.get(17),
        context: row.get(18),
        text: row.get(19),
        language: row.get(20),
        role: row.get(21),
        form: form(row.get(22)),
        text_hash: text_hash(row.get(23)),
    }
}

/// The number of a passage.
pub(super) fn passage_id(column: i64) -> PassageId {
    PassageId(column as u64)
}

/// The number of a document.
pub(super) fn document_id(column: i32) -> DocumentId {
    DocumentId(column as u32)
}

/// Numbers of documents as the tables hold them. Greater ones are unknown.
pub(super) fn numbers(documents: &[DocumentId]) -> Vec<i32> {
    documents.iter().filter_map(|document| i32::try_from(document.0).ok()).collect()
}

/// The way the lexical leg reads a passage.
pub(super) fn form(prose: bool) -> TextForm {
    if prose { TextForm::Prose } else { TextForm::Code }
}

/// A hash of 32 bytes, which the tables make sure of.
pub(super) fn text_hash(column: &[u8]) -> TextHash {
    TextHash(column.try_into().unwrap_or_default())
}
