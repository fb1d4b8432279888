//! Reading documents and their passages.

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::Database;
use super::retired::retired;
use super::rows::{passage_by_id, passages};
use crate::error::Result;
use crate::query::{all, one, unsigned};
use crate::record::{Attribute, DocumentId, DocumentState, PassageId, Place, StoredPassage};
use crate::report::Origin;

const DOCUMENT: &str = "SELECT id, namespace, collection, path, language, role, title, size, modified_ns, dated_ns, \
     content_hash, note, passages, origin, stamp FROM documents WHERE ";

impl Database {
    /// Returns all documents of a namespace, by path.
    pub(crate) fn documents(&self, namespace: &str) -> Result<Vec<DocumentState>> {
        let sql = format!("{DOCUMENT}namespace = ?1 ORDER BY path");
        self.read(|connection| Ok(all(connection, &sql, [namespace], document)?))
    }

    /// Returns the document at a path.
    pub(crate) fn document(&self, namespace: &str, path: &str) -> Result<Option<DocumentState>> {
        let sql = format!("{DOCUMENT}namespace = ?1 AND path = ?2");
        self.read(|connection| Ok(one(connection, &sql, [namespace, path], document)?))
    }

    /// Returns the passages of a document, in document order.
    pub(crate) fn document_passages(&self, namespace: &str, path: &str) -> Result<Vec<StoredPassage>> {
        let condition = "d.namespace = ?1 AND d.path = ?2 ORDER BY p.ordinal";
        self.read(|connection| Ok(passages(connection, condition, [namespace, path])?))
    }

    /// Returns passages in the order given, retired ones included.
    pub(crate) fn passages(&self, ids: &[PassageId]) -> Result<Vec<StoredPassage>> {
        self.snapshot(|connection| {
            let mut found = Vec::with_capacity(ids.len());
            for &id in ids {
                match passage_by_id(connection, id)? {
                    Some(passage) => found.push(passage),
                    None => found.extend(retired(connection, id)?),
                }
            }
            Ok(found)
        })
    }

    /// Returns the places of passages in the order given, retired ones included.
    pub(crate) fn places(&self, ids: &[PassageId]) -> Result<Vec<(PassageId, Place)>> {
        let sql = "SELECT d.namespace, d.path, p.ordinal FROM passages p JOIN documents d ON d.id = p.document WHERE p.id = ?1";
        self.snapshot(|connection| {
            let mut statement = connection.prepare_cached(sql)?;
            let mut found = Vec::with_capacity(ids.len());
            for &id in ids {
                let place =
                    |row: &Row<'_>| Ok(Place { namespace: row.get(0)?, path: row.get(1)?, ordinal: row.get(2)? });
                let place = match statement.query_row([id.0 as i64], place).optional()? {
                    Some(place) => Some(place),
                    None => retired(connection, id)?.map(|StoredPassage { namespace, path, ordinal, .. }| Place {
                        namespace,
                        path,
                        ordinal,
                    }),
                };
                found.extend(place.map(|place| (id, place)));
            }
            Ok(found)
        })
    }

    /// Returns passages by the start of their public identifier.
    pub(crate) fn find(&self, prefix: &str, limit: usize) -> Result<Vec<StoredPassage>> {
        let prefix = prefix.trim().to_ascii_lowercase();
        if prefix.is_empty() || !prefix.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(Vec::new());
        }
        self.snapshot(|connection| {
            let exact = passages(connection, "p.public_id = ?1", [&prefix])?;
            if !exact.is_empty() {
                return Ok(exact);
            }
            // 'g' sorts after every hexadecimal digit.
            let condition = "p.public_id > ?1 AND p.public_id < ?1 || 'g' ORDER BY p.public_id LIMIT ?2";
            Ok(passages(connection, condition, params![prefix, limit as i64])?)
        })
    }

    /// Returns the passages among `ids` that exist or are retired. Takes and returns them ascending.
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

    /// Returns the records of documents, in the order given.
    pub(crate) fn records(&self, documents: &[DocumentId]) -> Result<Vec<Option<String>>> {
        let of = |connection: &Connection, document: &DocumentId| {
            one(connection, "SELECT record FROM records WHERE document = ?1", [document.0], |row| row.get(0))
        };
        self.read(|connection| {
            Ok(documents.iter().map(|document| of(connection, document)).collect::<rusqlite::Result<_>>()?)
        })
    }

    /// Returns the attributes of documents, in the order given.
    pub(crate) fn attributes(&self, documents: &[DocumentId]) -> Result<Vec<Vec<Attribute>>> {
        let sql = "SELECT name, value FROM attributes WHERE document = ?1 ORDER BY name, value";
        let attribute = |row: &Row<'_>| Ok(Attribute { name: row.get(0)?, value: row.get(1)? });
        self.read(|connection| {
            let of = |document: &DocumentId| all(connection, sql, [document.0], attribute);
            Ok(documents.iter().map(of).collect::<rusqlite::Result<_>>()?)
        })
    }

    /// Returns the origins of imported documents and evidence.
    pub(crate) fn origins(&self) -> Result<Vec<Origin>> {
        let sql = "SELECT namespace, collection, origin, sum(documents), sum(passages), max(dated_ns) FROM (\
             SELECT namespace, collection, origin, count(*) AS documents, sum(passages) AS passages, \
               max(dated_ns) AS dated_ns FROM documents WHERE origin IS NOT NULL GROUP BY 1, 2, 3 \
             UNION ALL SELECT namespace, 'evidence', origin, 0, 0, NULL FROM (\
               SELECT namespace, origin FROM evidence_tasks UNION SELECT namespace, origin FROM evidence_works \
               UNION SELECT namespace, origin FROM evidence_pages UNION SELECT namespace, origin FROM evidence_edges)) \
             GROUP BY 1, 2, 3 ORDER BY 1, 2, 3";
        let origin = |row: &Row<'_>| {
            Ok(Origin {
                namespace: row.get(0)?,
                collection: row.get(1)?,
                name: row.get(2)?,
                documents: unsigned(row, 3)?,
                passages: unsigned(row, 4)?,
                dated_ns: row.get(5)?,
            })
        };
        self.read(|connection| Ok(all(connection, sql, [], origin)?))
    }

    /// Returns the date of the newest document of each namespace.
    pub(crate) fn newest_dates(&self) -> Result<Vec<(String, i64)>> {
        // A file that git does not know has only the time when it was written, which in an old checkout is that of today.
        let sql = "SELECT namespace, coalesce(max(dated_ns), max(nullif(modified_ns, 0))) AS newest \
             FROM documents GROUP BY namespace HAVING newest IS NOT NULL ORDER BY namespace";
        self.read(|connection| Ok(all(connection, sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?))
    }
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
        size: unsigned(row, 7)?,
        modified_ns: row.get(8)?,
        dated_ns: row.get(9)?,
        content_hash: row.get(10)?,
        note: row.get(11)?,
        passages: row.get(12)?,
        origin: row.get(13)?,
        stamp: row.get(14)?,
    })
}
