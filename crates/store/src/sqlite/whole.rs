//! Whole documents, as they are put.

use rusqlite::{Connection, Row, params};

use super::Database;
use super::rows::{form, own_text};
use super::texts::content;
use crate::error::Result;
use crate::query::{all, one, unsigned};
use crate::record::{Attribute, DocumentId, NewDocument, NewPassage, PassageKey, TextHash, WholeDocument};

const DOCUMENT: &str = "SELECT d.namespace, d.collection, d.path, d.origin, d.language, d.role, d.title, d.size, d.modified_ns, \
     d.dated_ns, d.severity, d.content_hash, d.note, r.record, d.stamp FROM documents d LEFT JOIN records r ON r.document = d.id \
     WHERE d.id = ?1 AND d.namespace = ?2";

const PASSAGES: &str = "SELECT p.public_id, t.hash, p.start_line, p.end_line, p.kind, p.symbol, p.signature, p.heading, p.context, \
     t.text, p.text_bytes, p.own_text, p.role, p.language, p.author, p.dated_ns, p.part, p.prose \
     FROM passages p JOIN texts t ON t.id = p.text_id WHERE p.document = ?1 ORDER BY p.ordinal";

impl Database {
    /// Returns whole documents of a namespace, in the order given.
    pub(crate) fn whole_documents(
        &self,
        namespace: &str,
        documents: &[DocumentId],
    ) -> Result<Vec<Option<WholeDocument>>> {
        self.snapshot(|connection| {
            let read = |document: &DocumentId| whole(connection, namespace, *document);
            Ok(documents.iter().map(read).collect::<rusqlite::Result<_>>()?)
        })
    }
}

fn whole(connection: &Connection, namespace: &str, id: DocumentId) -> rusqlite::Result<Option<WholeDocument>> {
    let Some(mut content) = one(connection, DOCUMENT, params![id.0, namespace], document)? else { return Ok(None) };
    let attributes = "SELECT name, value FROM attributes WHERE document = ?1 ORDER BY name, value";
    content.attributes =
        all(connection, attributes, [id.0], |row| Ok(Attribute { name: row.get(0)?, value: row.get(1)? }))?;
    let passages: Vec<(PassageKey, NewPassage)> = all(connection, PASSAGES, [id.0], passage)?;
    let keys;
    (keys, content.passages) = passages.into_iter().unzip();
    Ok(Some(WholeDocument { document: id, content, keys }))
}

fn document(row: &Row<'_>) -> rusqlite::Result<NewDocument> {
    Ok(NewDocument {
        origin: row.get(3)?,
        language: row.get(4)?,
        role: row.get(5)?,
        title: row.get(6)?,
        size: unsigned(row, 7)?,
        modified_ns: row.get(8)?,
        dated_ns: row.get(9)?,
        severity: row.get(10)?,
        content_hash: row.get(11)?,
        note: row.get(12)?,
        record: row.get(13)?,
        stamp: row.get(14)?,
        ..NewDocument::new(row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get::<_, String>(2)?)
    })
}

fn passage(row: &Row<'_>) -> rusqlite::Result<(PassageKey, NewPassage)> {
    let embedded_text = content(row, 9)?.into_owned();
    let text = own_text(&embedded_text, row.get(10)?, row.get_ref(11)?.as_str_or_null()?).to_owned();
    let passage = NewPassage {
        start_line: row.get(2)?,
        end_line: row.get(3)?,
        kind: row.get(4)?,
        symbol: row.get(5)?,
        signature: row.get(6)?,
        heading: row.get(7)?,
        context: row.get(8)?,
        text,
        embedded_text,
        role: row.get(12)?,
        language: row.get(13)?,
        author: row.get(14)?,
        dated_ns: row.get(15)?,
        part: row.get(16)?,
        form: form(row.get(17)?),
    };
    Ok((PassageKey { id: row.get(0)?, text_hash: TextHash(row.get(1)?) }, passage))
}
