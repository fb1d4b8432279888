//! Applying changes, in one transaction: to documents with their passages, and to namespaces.

use rusqlite::{Connection, Params, params, params_from_iter};

use super::catch_up::{add_kept_texts, properties_changed, seq, write_seq};
use super::session::{SqliteSession, now};
use super::texts::{Identity, PublicIds, prefixes, stored};
use super::{Database, TransactionError};
use crate::content::{Changing, found_passages};
use crate::error::{Result, StoreError};
use crate::evidence::EVIDENCE_COLLECTION;
use crate::filter::folded;
use crate::graph::{EvidenceChange, REMOVE, TaskUpdates, documents_changed};
use crate::record::{Applied, Attribute, Change, DocumentId, FileStat, NewDocument, NewPassage, TextForm, TextHash};
use crate::session::{Session, bind, values};
use crate::sqlite::connection::{all, execute, one};

impl Database {
    pub(crate) fn change(
        &self,
        changing: &Changing<'_>,
        evidence: impl AsyncFn(&dyn Session<TransactionError>, &mut TaskUpdates) -> Result<u64, TransactionError>,
    ) -> Result<Applied> {
        let Changing { changes, origin, namespaces, registers } = *changing;
        self.write(|connection| {
            let mut batch = Batch::begin(connection)?;
            for namespace in namespaces {
                if registers {
                    batch.register(namespace)?;
                }
                if let Some(origin) = origin {
                    batch.delete_selected("namespace = ?1 AND origin = ?2", [namespace, origin])?;
                }
            }
            changes.iter().try_for_each(|change| batch.change(change))?;
            if !namespaces.is_empty() {
                now(evidence(&SqliteSession::new(connection), batch.follow_documents()?))?;
                properties_changed(connection)?;
            }
            batch.end()
        })
    }

    /// Writes the rows of namespaces. It takes a change number like any other change, so that caches of namespaces are refreshed.
    pub(crate) fn write_namespaces(
        &self,
        names: &[&str],
        work: impl AsyncFn(&dyn Session<TransactionError>) -> Result<(), TransactionError>,
    ) -> Result<()> {
        self.write(|connection| {
            names.iter().try_for_each(|name| register_namespace(connection, name))?;
            now(work(&SqliteSession::new(connection)))?;
            Ok(write_seq(connection, seq(connection)? + 1)?)
        })
    }
}

/// The changes of one transaction.
pub(crate) struct Batch<'c> {
    connection: &'c Connection,
    seq: i64,
    applied: Applied,
    /// The namespace of the last document.
    namespace: Option<String>,
    /// Texts that lost a passage. Those without any at the end are deleted.
    released: Vec<i64>,
    /// Change in the number of texts that are kept without a passage, for their vectors.
    kept_texts: i64,
    /// Changes of documents of the evidence that its records do not follow yet.
    evidence: Vec<EvidenceChange>,
    /// Fragments whose tasks may have changed.
    tasks: TaskUpdates,
}

impl<'c> Batch<'c> {
    pub(crate) fn begin(connection: &'c Connection) -> Result<Batch<'c>, TransactionError> {
        Ok(Batch {
            connection,
            seq: seq(connection)? as i64,
            applied: Applied::default(),
            namespace: None,
            released: Vec::new(),
            kept_texts: 0,
            evidence: Vec::new(),
            tasks: TaskUpdates::default(),
        })
    }

    pub(crate) fn end(mut self) -> Result<Applied, TransactionError> {
        self.delete_released_texts()?;
        add_kept_texts(self.connection, self.kept_texts)?;
        write_seq(self.connection, self.seq as u64)?;
        let session = SqliteSession::new(self.connection);
        let tasks_changed = now(self.follow_documents()?.apply(&session))?;
        if self.applied.touched > 0 || tasks_changed {
            properties_changed(self.connection)?;
        }
        self.applied.seq = self.seq as u64;
        Ok(self.applied)
    }

    /// Lets the records of the evidence follow its documents, and returns the fragments whose tasks may have changed.
    pub(crate) fn follow_documents(&mut self) -> Result<&mut TaskUpdates, TransactionError> {
        let changes = std::mem::take(&mut self.evidence);
        now(documents_changed(&SqliteSession::new(self.connection), &changes, &mut self.tasks))?;
        Ok(&mut self.tasks)
    }

    pub(crate) fn change(&mut self, change: &Change) -> Result<(), TransactionError> {
        match change {
            Change::Put(document) => self.put(document),
            Change::Touch { document, file } => self.touch(*document, *file),
            Change::Move { document, path, file } => self.relocate(*document, path, *file),
            Change::Delete { document } => self.delete(*document),
        }
    }

    fn next_seq(&mut self) -> i64 {
        self.seq += 1;
        self.seq
    }

    fn put(&mut self, document: &NewDocument) -> Result<(), TransactionError> {
        validate(document)?;
        self.register(&document.namespace)?;
        let known = document_at(self.connection, &document.namespace, &document.path)?;
        if let Some(id) = known {
            self.delete_passages(id)?;
            self.applied.replaced += 1;
        } else {
            self.applied.added += 1;
        }
        let mut values = vec![known.into(), (document.passages.len() as i64).into()];
        values.extend(bind!(document =>
            namespace, collection, path, language, role, title, file.size, file.modified_ns, dated_ns, severity, content_hash,
            note, origin, file.stamp,
        ));
        let insert = "INSERT INTO documents(document, passages, namespace, collection, path, language, role, title, size, modified_ns, dated_ns, \
             severity, content_hash, note, origin, stamp) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16) \
             ON CONFLICT(document) DO UPDATE SET collection = excluded.collection, language = excluded.language, \
             role = excluded.role, title = excluded.title, size = excluded.size, modified_ns = excluded.modified_ns, \
             dated_ns = excluded.dated_ns, severity = excluded.severity, content_hash = excluded.content_hash, note = excluded.note, \
             passages = excluded.passages, origin = excluded.origin, stamp = excluded.stamp RETURNING document";
        let id: i64 = self.connection.prepare_cached(insert)?.query_row(params_from_iter(&values), |row| row.get(0))?;
        if u32::try_from(id).is_err() {
            return Err(StoreError::Invalid {
                what: document.path.clone(),
                reason: "the index has counted 4,294,967,295 documents; delete it and index again".to_owned(),
            }
            .into());
        }
        if known.is_some() {
            execute(self.connection, "DELETE FROM attributes WHERE document = ?1", [id])?;
            execute(self.connection, "DELETE FROM records WHERE document = ?1", [id])?;
        }
        if let Some(record) = &document.record {
            execute(self.connection, "INSERT INTO records(document, record) VALUES (?1, ?2)", params![id, record])?;
        }
        self.insert_attributes(id, &document.attributes)?;
        if document.collection == EVIDENCE_COLLECTION {
            let (namespace, path) = (document.namespace.clone(), document.path.clone());
            self.evidence.push(EvidenceChange::Put { namespace, path });
        }
        self.insert_passages(id, document)
    }

    fn insert_attributes(&mut self, id: i64, attributes: &[Attribute]) -> Result<(), TransactionError> {
        let mut insert = self.connection.prepare_cached(
            "INSERT OR IGNORE INTO attributes(document, name, value, folded) VALUES (?1, ?2, ?3, ?4)",
        )?;
        for Attribute { name, value } in attributes {
            insert.execute(params![id, name, value, folded(value)])?;
        }
        Ok(())
    }

    /// Gives a namespace its number. Documents of a namespace come together, so the last one is remembered.
    pub(crate) fn register(&mut self, namespace: &str) -> Result<(), TransactionError> {
        if self.namespace.as_deref() != Some(namespace) {
            register_namespace(self.connection, namespace)?;
            self.namespace = Some(namespace.to_owned());
        }
        Ok(())
    }

    fn insert_passages(&mut self, id: i64, document: &NewDocument) -> Result<(), TransactionError> {
        let mut names = PublicIds::new(&document.namespace, &document.path);
        for (ordinal, passage) in document.passages.iter().enumerate() {
            let hash = TextHash::from_text(&passage.embedded_text);
            let text = self.put_text(hash, &passage.embedded_text)?;
            let name = names.next(&Identity::new(passage, document.language.as_deref(), hash));
            let shared = passage.embedded_text.ends_with(&passage.text);
            let language = passage.language.as_ref().filter(|language| Some(*language) != document.language.as_ref());
            let seq = self.next_seq();
            let mut insert = self.connection.prepare_cached(
                "INSERT INTO passages(passage, document, ordinal, public_id, start_line, end_line, kind, symbol, signature, heading, \
                 context, role, language, prose, text_id, text_bytes, own_text, author, dated_ns, part) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20) \
                 ON CONFLICT(public_id) DO NOTHING",
            )?;
            let inserted = first_free(&document.path, &name, |public_id| {
                insert.execute(params![
                    seq,
                    id,
                    ordinal as i64,
                    public_id,
                    passage.start_line,
                    passage.end_line,
                    passage.kind,
                    passage.symbol,
                    passage.signature,
                    passage.heading,
                    passage.context,
                    passage.role,
                    language,
                    passage.form == TextForm::Prose,
                    text,
                    shared.then_some(passage.text.len() as i64),
                    (!shared).then_some(&passage.text),
                    passage.author,
                    passage.dated_ns,
                    passage.part,
                ])
            });
            inserted?;
        }
        self.applied.passages_added += document.passages.len() as u64;
        Ok(())
    }

    /// Returns the row of a text and makes sure it has its content.
    fn put_text(&mut self, hash: TextHash, text: &str) -> Result<i64, TransactionError> {
        let sql = "SELECT id, text IS NULL FROM texts WHERE hash = ?1";
        let known: Option<(i64, bool)> = one(self.connection, sql, [hash.0], |row| Ok((row.get(0)?, row.get(1)?)))?;
        if let Some((id, false)) = known {
            return Ok(id);
        }
        if let Some((id, _)) = known {
            let restore = "UPDATE texts SET text = ?2 WHERE id = ?1";
            self.kept_texts -= execute(self.connection, restore, params![id, stored(text)])? as i64;
            return Ok(id);
        }
        let insert = "INSERT INTO texts(hash, text) VALUES (?1, ?2)";
        execute(self.connection, insert, params![hash.0, stored(text)])?;
        Ok(self.connection.last_insert_rowid())
    }

    fn touch(&mut self, document: DocumentId, file: FileStat) -> Result<(), TransactionError> {
        let FileStat { size, modified_ns, stamp } = file;
        let sql = "UPDATE documents SET size = ?2, modified_ns = ?3, stamp = ?4 WHERE document = ?1";
        if execute(self.connection, sql, params![document.0, size as i64, modified_ns, stamp])? == 0 {
            return Err(unknown(document));
        }
        self.applied.touched += 1;
        Ok(())
    }

    /// Passages of a moved document are new ones with the same texts, because their public identifiers and the words of
    /// their path change.
    fn relocate(&mut self, document: DocumentId, path: &str, file: FileStat) -> Result<(), TransactionError> {
        let sql = "SELECT namespace, path FROM documents WHERE document = ?1";
        let known = one(self.connection, sql, [document.0], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let (namespace, old): (String, String) = known.ok_or_else(|| unknown(document))?;
        if old == path {
            return self.touch(document, file);
        }
        validate_path(path)?;
        if let Some(replaced) = document_at(self.connection, &namespace, path)? {
            self.delete(DocumentId(replaced as u32))?;
        }
        let FileStat { size, modified_ns, stamp } = file;
        let sql = "UPDATE documents SET path = ?2, size = ?3, modified_ns = ?4, stamp = ?5 WHERE document = ?1";
        execute(self.connection, sql, params![document.0, path, size as i64, modified_ns, stamp])?;
        let mut names = PublicIds::new(&namespace, path);
        let sql = "SELECT p.passage, coalesce(p.language, d.language), p.kind, p.symbol, p.signature, p.heading, t.hash FROM passages p \
             JOIN documents d ON d.document = p.document JOIN texts t ON t.id = p.text_id WHERE p.document = ?1 ORDER BY p.ordinal";
        let names: Vec<(i64, String)> = all(self.connection, sql, [document.0], |row| {
            let name = names.next(&Identity {
                language: row.get_ref(1)?.as_str_or_null()?,
                kind: row.get_ref(2)?.as_str()?,
                symbol: row.get_ref(3)?.as_str_or_null()?,
                signature: row.get_ref(4)?.as_str_or_null()?,
                heading: row.get_ref(5)?.as_str_or_null()?,
                text: TextHash(row.get(6)?),
            });
            Ok((row.get(0)?, name))
        })?;
        let update = "UPDATE OR IGNORE passages SET passage = ?2, public_id = ?3 WHERE passage = ?1";
        for (id, name) in &names {
            self.log_deletion(*id)?;
            let seq = self.next_seq();
            first_free(path, name, |public_id| execute(self.connection, update, params![id, seq, public_id]))?;
        }
        self.applied.moved += 1;
        self.applied.passages_added += names.len() as u64;
        self.applied.passages_deleted += names.len() as u64;
        Ok(())
    }

    /// Deletes the documents that meet a condition.
    fn delete_selected(&mut self, condition: &str, values: impl Params) -> Result<(), TransactionError> {
        let sql = format!("SELECT document FROM documents WHERE {condition} ORDER BY document");
        let documents: Vec<u32> = all(self.connection, &sql, values, |row| row.get(0))?;
        documents.into_iter().try_for_each(|document| self.delete(DocumentId(document)))
    }

    fn delete(&mut self, document: DocumentId) -> Result<(), TransactionError> {
        self.delete_passages(i64::from(document.0))?;
        let sql = "DELETE FROM documents WHERE document = ?1 RETURNING namespace, collection, path";
        let deleted = one(self.connection, sql, [document.0], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        let (namespace, collection, path): (String, String, String) = deleted.ok_or_else(|| unknown(document))?;
        if collection == EVIDENCE_COLLECTION {
            self.evidence.push(EvidenceChange::Deleted { namespace, path });
        }
        self.applied.deleted += 1;
        Ok(())
    }

    fn delete_passages(&mut self, document: i64) -> Result<(), TransactionError> {
        let sql = "SELECT passage, text_id FROM passages WHERE document = ?1 ORDER BY passage";
        let rows: Vec<(i64, i64)> = all(self.connection, sql, [document], |row| Ok((row.get(0)?, row.get(1)?)))?;
        for (passage, text) in &rows {
            self.log_deletion(*passage)?;
            self.released.push(*text);
        }
        execute(self.connection, "DELETE FROM passages WHERE document = ?1", [document])?;
        self.applied.passages_deleted += rows.len() as u64;
        Ok(())
    }

    /// Logs the deletion of a passage for the derived indexes, and retires the passage.
    fn log_deletion(&mut self, passage: i64) -> Result<(), TransactionError> {
        retire(self.connection, passage)?;
        let seq = self.next_seq();
        execute(self.connection, "INSERT INTO tombstones(seq, passage) VALUES (?1, ?2)", [seq, passage])?;
        Ok(())
    }

    /// Deletes released texts without passages. One with vectors keeps its row, for the vectors, and loses its content.
    fn delete_released_texts(&mut self) -> Result<(), TransactionError> {
        self.released.sort_unstable();
        self.released.dedup();
        let mut referenced =
            self.connection.prepare_cached("SELECT EXISTS (SELECT 1 FROM passages WHERE text_id = ?1)")?;
        let mut embedded =
            self.connection.prepare_cached("SELECT EXISTS (SELECT 1 FROM vectors WHERE text_id = ?1)")?;
        let mut empty = self.connection.prepare_cached("UPDATE texts SET text = NULL WHERE id = ?1")?;
        let mut delete = self.connection.prepare_cached("DELETE FROM texts WHERE id = ?1")?;
        for text in &self.released {
            if referenced.query_row([text], |row| row.get(0))? {
                continue;
            }
            if embedded.query_row([text], |row| row.get(0))? {
                self.kept_texts += empty.execute([text])? as i64;
            } else {
                delete.execute([text])?;
            }
        }
        Ok(())
    }
}

pub(crate) fn validate_path(path: &str) -> Result<(), StoreError> {
    if path.is_empty() || path.contains('\0') {
        return Err(StoreError::Invalid {
            what: format!("path {path:?}"),
            reason: "a path is neither empty nor holds a NUL".to_owned(),
        });
    }
    Ok(())
}

pub(crate) fn validate(document: &NewDocument) -> Result<(), StoreError> {
    validate_path(&document.path)?;
    if let Some(NewPassage { start_line, end_line, .. }) =
        document.passages.iter().find(|passage| passage.end_line < passage.start_line)
    {
        return Err(StoreError::Invalid {
            what: document.path.clone(),
            reason: format!("a passage starts at line {start_line} and ends before it, at line {end_line}"),
        });
    }
    Ok(())
}

fn unknown(document: DocumentId) -> TransactionError {
    StoreError::UnknownDocument { document: document.0 }.into()
}

/// Returns the number of the document at a path.
fn document_at(connection: &Connection, namespace: &str, path: &str) -> rusqlite::Result<Option<i64>> {
    let sql = "SELECT document FROM documents WHERE namespace = ?1 AND path = ?2";
    one(connection, sql, [namespace, path], |row| row.get(0))
}

/// Gives a namespace its number, if it has none.
fn register_namespace(connection: &Connection, name: &str) -> rusqlite::Result<()> {
    if !connection.prepare_cached("SELECT 1 FROM namespaces WHERE namespace = ?1")?.exists([name])? {
        execute(connection, "INSERT INTO namespaces(namespace) VALUES (?1)", [name])?;
    }
    Ok(())
}

/// Tries prefixes of a passage's full identifier, shortest first, until `write` changes a row.
fn first_free(
    path: &str,
    name: &str,
    mut write: impl FnMut(&str) -> rusqlite::Result<usize>,
) -> Result<(), TransactionError> {
    for public_id in prefixes(name) {
        if write(public_id)? == 1 {
            return Ok(());
        }
    }
    Err(same_identifier(path).into())
}

/// The error of a document whose passage has the full identifier of another one.
pub(crate) fn same_identifier(path: &str) -> StoreError {
    let reason = "two passages have the same full identifier; report it with both passages".to_owned();
    StoreError::Invalid { what: path.to_owned(), reason }
}

/// Lists namespaces with what they hold.
pub(crate) const NAMESPACES: &str = "SELECT n.namespace, n.root, n.machine, n.owner, n.shared, count(d.document), coalesce(sum(d.passages), 0) \
     FROM namespaces n LEFT JOIN documents d ON d.namespace = n.namespace GROUP BY n.number ORDER BY n.namespace";

impl Database {
    pub(crate) fn remove_namespace(&self, name: &str) -> Result<Applied> {
        self.write(|connection| {
            let mut batch = Batch::begin(connection)?;
            REMOVE.iter().try_for_each(|delete| execute(connection, delete, [name]).map(drop))?;
            batch.delete_selected("namespace = ?1", [name])?;
            connection.execute("DELETE FROM namespaces WHERE namespace = ?1", [name])?;
            // Its registration is a change too.
            batch.next_seq();
            batch.end()
        })
    }

    /// Sets the dates of documents and returns how many changed.
    pub(crate) fn set_dates(&self, namespace: &str, dates: &[(String, i64)]) -> Result<u64> {
        let sql = "UPDATE documents SET dated_ns = ?3 WHERE namespace = ?1 AND path = ?2 AND dated_ns IS NOT ?3";
        self.write(|connection| {
            let mut changed = 0;
            for (path, date) in dates {
                changed += execute(connection, sql, params![namespace, path, date])? as u64;
            }
            if changed > 0 {
                properties_changed(connection)?;
            }
            Ok(changed)
        })
    }
}

/// Keeps a passage that is about to be deleted.
///
/// Deleted passages that the published lexical index still finds. They are kept whole until the next publication, so that
/// a search during an index run finds the old version instead of nothing.
fn retire(connection: &Connection, passage: i64) -> Result<(), TransactionError> {
    let session = SqliteSession::new(connection);
    if let Some(stored) = now(found_passages(&session, "p.passage = $1", values![passage]))?.pop() {
        let record = serde_json::to_string(&stored).map_err(|error| StoreError::Invalid {
            what: format!("passage {}", stored.id),
            reason: error.to_string(),
        })?;
        execute(connection, "INSERT OR REPLACE INTO retired(passage, record) VALUES (?1, ?2)", (passage, record))?;
    }
    Ok(())
}

/// Deletes all of them.
pub(crate) fn clear(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute("DELETE FROM retired", []).map(drop)
}
