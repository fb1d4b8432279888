//! Whole documents, as they are put.

use std::collections::HashMap;

use deadpool_postgres::Transaction;
use tokio_postgres::Row;

use super::error::Failure;
use super::rows::{document_id, form, numbers, text_hash};
use crate::error::Result;
use crate::record::{Attribute, DocumentId, NewDocument, NewPassage, PassageKey, WholeDocument};

const DOCUMENTS: &str = "SELECT document, namespace, collection, path, origin, language, role, title, size, modified_ns, dated_ns, \
     severity, content_hash, note, record, stamp FROM documents WHERE namespace = $1 AND document = ANY($2)";

const ATTRIBUTES: &str = "SELECT document, name, value FROM attributes WHERE namespace = $1 AND document = ANY($2) \
     ORDER BY document, name, value";

const PASSAGES: &str = "SELECT document, public_id, text_hash, start_line, end_line, kind, symbol, signature, heading, context, text, \
     coalesce(embedded_text, before_text || text), role, language, author, dated_ns, part, prose \
     FROM passages WHERE namespace = $1 AND document = ANY($2) ORDER BY document, ordinal";

/// Returns whole documents of a namespace, in the order given.
pub(super) async fn read(
    transaction: &Transaction<'_>,
    namespace: &str,
    documents: &[DocumentId],
) -> Result<Vec<Option<WholeDocument>>, Failure> {
    let wanted = numbers(documents);
    let rows = async |statement: &str| -> Result<Vec<Row>, Failure> {
        let statement = transaction.prepare_cached(statement).await?;
        Ok(transaction.query(&statement, &[&namespace, &wanted]).await?)
    };
    let mut found: HashMap<DocumentId, WholeDocument> =
        rows(DOCUMENTS).await?.iter().map(document).map(|whole| (whole.document, whole)).collect();
    for row in rows(ATTRIBUTES).await? {
        if let Some(whole) = found.get_mut(&document_id(row.get(0))) {
            whole.content.attributes.push(Attribute { name: row.get(1), value: row.get(2) });
        }
    }
    for row in rows(PASSAGES).await? {
        if let Some(whole) = found.get_mut(&document_id(row.get(0))) {
            whole.keys.push(PassageKey { id: row.get(1), text_hash: text_hash(row.get(2)) });
            whole.content.passages.push(passage(&row));
        }
    }
    Ok(documents.iter().map(|document| found.get(document).cloned()).collect())
}

fn document(row: &Row) -> WholeDocument {
    let content = NewDocument {
        origin: row.get(4),
        language: row.get(5),
        role: row.get(6),
        title: row.get(7),
        size: row.get::<_, i64>(8) as u64,
        modified_ns: row.get(9),
        dated_ns: row.get(10),
        severity: row.get(11),
        content_hash: text_hash(row.get(12)).0,
        note: row.get(13),
        record: row.get(14),
        stamp: row.get(15),
        ..NewDocument::new(row.get::<_, String>(1), row.get::<_, String>(2), row.get::<_, String>(3))
    };
    WholeDocument { document: document_id(row.get(0)), content, keys: Vec::new() }
}

fn passage(row: &Row) -> NewPassage {
    NewPassage {
        start_line: row.get::<_, i64>(3) as u32,
        end_line: row.get::<_, i64>(4) as u32,
        kind: row.get(5),
        symbol: row.get(6),
        signature: row.get(7),
        heading: row.get(8),
        context: row.get(9),
        text: row.get(10),
        embedded_text: row.get(11),
        role: row.get(12),
        language: row.get(13),
        author: row.get(14),
        dated_ns: row.get(15),
        part: row.get::<_, Option<i64>>(16).map(|part| part as u32),
        form: form(row.get(17)),
    }
}
