//! Answers from the database: documents, passages, vectors.

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::replay::{ModelRow, decode, form, own_text};
use super::retired::retired;
use super::{Database, Fault};
use crate::error::{Result, StoreError};
use crate::filter::Selection;
use crate::record::{Attribute, DocumentId, DocumentState, PassageId, StoredPassage, TextHash, TextToEmbed};
use crate::report::Coverage;

const DOCUMENT: &str = "SELECT id, namespace, collection, path, language, role, title, size, modified_ns, dated_ns, content_hash, note, passages, origin FROM documents";
const PASSAGE: &str = "SELECT p.id, p.public_id, p.document, d.namespace, d.collection, d.path, d.title, d.modified_ns, coalesce(p.dated_ns, d.dated_ns), p.ordinal, p.start_line, \
     p.end_line, p.kind, p.symbol, p.heading, p.context, t.text, p.text_bytes, p.own_text, coalesce(p.language, d.language), p.role, \
     p.prose, t.hash, d.severity, p.author, p.part FROM passages p JOIN documents d ON d.id = p.document JOIN texts t ON t.id = p.text_id";

impl Database {
    /// All documents of a namespace, by path.
    pub(crate) fn documents(&self, namespace: &str) -> Result<Vec<DocumentState>> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(&format!("{DOCUMENT} WHERE namespace = ?1 ORDER BY path"))?;
            let rows = statement.query_map([namespace], document)?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// The document at a path.
    pub(crate) fn document(&self, namespace: &str, path: &str) -> Result<Option<DocumentState>> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(&format!("{DOCUMENT} WHERE namespace = ?1 AND path = ?2"))?;
            Ok(statement.query_row([namespace, path], document).optional()?)
        })
    }

    /// The passages of a document, in their order.
    pub(crate) fn document_passages(&self, namespace: &str, path: &str) -> Result<Vec<StoredPassage>> {
        self.read(|connection| {
            let mut statement = connection
                .prepare_cached(&format!("{PASSAGE} WHERE d.namespace = ?1 AND d.path = ?2 ORDER BY p.ordinal"))?;
            let rows = statement.query_map([namespace, path], passage)?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// Passages in the order asked for, without those that are gone; until the next publication those that the lexical
    /// index still names are not.
    pub(crate) fn passages(&self, ids: &[PassageId]) -> Result<Vec<StoredPassage>> {
        self.snapshot(|connection| {
            let mut statement = connection.prepare_cached(&format!("{PASSAGE} WHERE p.id = ?1"))?;
            let mut found = Vec::with_capacity(ids.len());
            for &id in ids {
                match statement.query_row([id.0 as i64], passage).optional()? {
                    Some(passage) => found.push(passage),
                    None => found.extend(retired(connection, id)?),
                }
            }
            Ok(found)
        })
    }

    /// Passages by the start of their public identifier.
    pub(crate) fn find(&self, prefix: &str, limit: usize) -> Result<Vec<StoredPassage>> {
        let prefix = prefix.trim().to_ascii_lowercase();
        if prefix.is_empty() || !prefix.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(Vec::new());
        }
        self.snapshot(|connection| {
            let mut exact = connection.prepare_cached(&format!("{PASSAGE} WHERE p.public_id = ?1"))?;
            if let Some(found) = exact.query_row([&prefix], passage).optional()? {
                return Ok(vec![found]);
            }
            // 'g' comes after every hexadecimal digit.
            let mut statement = connection.prepare_cached(&format!(
                "{PASSAGE} WHERE p.public_id > ?1 AND p.public_id < ?1 || 'g' ORDER BY p.public_id LIMIT ?2"
            ))?;
            let rows = statement.query_map(params![prefix, limit as i64], passage)?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// Of these passages, those that are there; ascending in, ascending out.
    pub(crate) fn existing(&self, ids: &[u64]) -> Result<Vec<u64>> {
        self.snapshot(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT 1 FROM passages WHERE id = ?1 UNION ALL SELECT 1 FROM retired WHERE passage = ?1",
            )?;
            let mut existing = Vec::with_capacity(ids.len());
            for &id in ids {
                if statement.exists([id as i64])? {
                    existing.push(id);
                }
            }
            Ok(existing)
        })
    }

    /// Texts without a vector of the model.
    pub(crate) fn unembedded(&self, model: &str, selection: &Selection, limit: usize) -> Result<Vec<TextToEmbed>> {
        let model = self.model(model)?.map_or(-1, |model| model.id);
        self.snapshot(|connection| {
            let texts = if selection.is_everything() {
                texts_without_vector(connection, model, limit)?
            } else {
                selected_texts_without_vector(connection, model, selection, limit)?
            };
            let mut statement =
                connection.prepare_cached("SELECT hash, text FROM texts WHERE id = ?1 AND text IS NOT NULL")?;
            let mut result = Vec::with_capacity(texts.len());
            for text in texts {
                let row = statement
                    .query_row([text], |row| Ok(TextToEmbed { hash: TextHash(row.get(0)?), text: row.get(1)? }));
                result.extend(row.optional()?);
            }
            Ok(result)
        })
    }

    /// How far the vectors of a model go.
    pub(crate) fn coverage(&self, model: &str, selection: &Selection) -> Result<Coverage> {
        let model = self.model(model)?.map_or(-1, |model| model.id);
        self.read(|connection| {
            const EMBEDDED: &str =
                "FROM passages p WHERE EXISTS (SELECT 1 FROM vectors v WHERE v.text_id = p.text_id AND v.model = ?1)";
            let embedded = if selection.is_everything() {
                let mut statement = connection.prepare_cached(&format!("SELECT count(*) {EMBEDDED}"))?;
                statement.query_row([model], |row| row.get::<_, i64>(0))? as u64
            } else {
                let mut statement = connection.prepare_cached(&format!("SELECT p.id, p.document {EMBEDDED}"))?;
                let mut rows = statement.query([model])?;
                let mut embedded = 0;
                while let Some(row) = rows.next()? {
                    let passage = PassageId(row.get::<_, i64>(0)? as u64);
                    embedded += u64::from(selection.contains(passage, DocumentId(row.get(1)?)));
                }
                embedded
            };
            Ok(Coverage { passages: selection.count, embedded })
        })
    }

    /// Hands over the vector of each passage, where it has one of the model.
    pub(crate) fn each_vector(
        &self,
        model: &ModelRow,
        ids: &[PassageId],
        mut each: impl FnMut(Option<&[f32]>) -> Result<()>,
    ) -> Result<()> {
        self.snapshot(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT v.vector FROM passages p JOIN vectors v ON v.text_id = p.text_id AND v.model = ?2 WHERE p.id = ?1",
            )?;
            let mut vector = Vec::with_capacity(model.dimension);
            for id in ids {
                let mut rows = statement.query([id.0 as i64, model.id])?;
                match rows.next()? {
                    None => each(None)?,
                    Some(row) => {
                        decode(row.get_ref(0)?.as_blob()?, &mut vector);
                        if vector.len() != model.dimension {
                            return Err(Fault::Store(StoreError::Corrupt {
                                path: self.path().to_owned(),
                                reason: format!(
                                    "the vector of passage {} under model {} has {} dimensions, not {}",
                                    id.0,
                                    model.name,
                                    vector.len(),
                                    model.dimension
                                ),
                            }));
                        }
                        each(Some(&vector))?;
                    }
                }
            }
            Ok(())
        })
    }

    /// The records of documents, in the order asked for.
    pub(crate) fn records(&self, documents: &[DocumentId]) -> Result<Vec<Option<String>>> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached("SELECT record FROM records WHERE document = ?1")?;
            let record = |document: &DocumentId| statement.query_row([document.0], |row| row.get(0)).optional();
            Ok(documents.iter().map(record).collect::<rusqlite::Result<_>>()?)
        })
    }

    /// The attributes of documents, in the order asked for.
    pub(crate) fn attributes(&self, documents: &[DocumentId]) -> Result<Vec<Vec<Attribute>>> {
        self.read(|connection| {
            let mut statement = connection
                .prepare_cached("SELECT name, value FROM attributes WHERE document = ?1 ORDER BY name, value")?;
            let attribute = |row: &Row<'_>| Ok(Attribute { name: row.get(0)?, value: row.get(1)? });
            let of = |document: &DocumentId| statement.query_map([document.0], attribute)?.collect();
            Ok(documents.iter().map(of).collect::<rusqlite::Result<_>>()?)
        })
    }

    /// A property.
    pub(crate) fn property(&self, name: &str) -> Result<Option<String>> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached("SELECT value FROM properties WHERE name = ?1")?;
            Ok(statement.query_row([name], |row| row.get(0)).optional()?)
        })
    }
}

/// Reads two indexes side by side and no text.
fn texts_without_vector(connection: &Connection, model: i64, limit: usize) -> Result<Vec<i64>, Fault> {
    let mut statement = connection.prepare_cached(
        "SELECT p.text_id FROM passages p \
         WHERE NOT EXISTS (SELECT 1 FROM vectors v WHERE v.text_id = p.text_id AND v.model = ?1) \
         GROUP BY p.text_id ORDER BY p.text_id LIMIT ?2",
    )?;
    let rows = statement.query_map(params![model, limit as i64], |row| row.get(0))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

fn selected_texts_without_vector(
    connection: &Connection,
    model: i64,
    selection: &Selection,
    limit: usize,
) -> Result<Vec<i64>, Fault> {
    let mut statement = connection.prepare_cached(
        "SELECT p.text_id, p.id, p.document FROM passages p \
         WHERE NOT EXISTS (SELECT 1 FROM vectors v WHERE v.text_id = p.text_id AND v.model = ?1) ORDER BY p.text_id, p.id",
    )?;
    let mut rows = statement.query([model])?;
    let mut texts: Vec<i64> = Vec::new();
    while let Some(row) = rows.next()? {
        if texts.len() == limit {
            break;
        }
        let text = row.get(0)?;
        let passage = PassageId(row.get::<_, i64>(1)? as u64);
        if texts.last() != Some(&text) && selection.contains(passage, DocumentId(row.get(2)?)) {
            texts.push(text);
        }
    }
    Ok(texts)
}

fn document(row: &Row<'_>) -> rusqlite::Result<DocumentState> {
    Ok(DocumentState {
        document: DocumentId(row.get(0)?),
        namespace: row.get(1)?,
        collection: row.get(2)?,
        path: row.get(3)?,
        language: row.get(4)?,
        role: row.get(5)?,
        title: row.get(6)?,
        size: row.get::<_, i64>(7)? as u64,
        modified_ns: row.get(8)?,
        dated_ns: row.get(9)?,
        content_hash: row.get(10)?,
        note: row.get(11)?,
        passages: row.get(12)?,
        origin: row.get(13)?,
    })
}

/// One passage.
pub(super) fn passage_by_id(connection: &Connection, id: PassageId) -> rusqlite::Result<Option<StoredPassage>> {
    let mut statement = connection.prepare_cached(&format!("{PASSAGE} WHERE p.id = ?1"))?;
    statement.query_row([id.0 as i64], passage).optional()
}

fn passage(row: &Row<'_>) -> rusqlite::Result<StoredPassage> {
    let embedded = row.get_ref(16)?.as_str_or_null()?.unwrap_or_default();
    let text = own_text(embedded, row.get(17)?, row.get_ref(18)?.as_str_or_null()?);
    Ok(StoredPassage {
        passage: PassageId(row.get::<_, i64>(0)? as u64),
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
