//! The changes of one transaction: documents with their passages, in and out.

use rusqlite::{Connection, OptionalExtension, params};

use super::Fault;
use super::evidence::{Unsettled, forget};
use super::names::{Identity, PublicIds, spellings};
use super::namespaces::register;
use super::retired::retire;
use super::write::{count_kept_texts, properties_changed, read_seq, write_seq};
use crate::error::{Result, StoreError};
use crate::evidence::EVIDENCE_COLLECTION;
use crate::filter::folded;
use crate::record::{Applied, Attribute, Change, DocumentId, NewDocument, NewPassage, TextForm, TextHash};

/// The changes of one transaction.
pub(super) struct Batch<'c> {
    connection: &'c Connection,
    seq: i64,
    applied: Applied,
    /// The namespace last put into.
    namespace: Option<String>,
    /// Texts that lost a passage: those without any at the end are forgotten.
    released: Vec<i64>,
    /// How many more texts than before are kept without a passage, for their vectors.
    kept_texts: i64,
    /// Fragments whose tasks may be others now.
    pub(super) unsettled: Unsettled,
}

impl<'c> Batch<'c> {
    pub(super) fn begin(connection: &'c Connection) -> Result<Batch<'c>, Fault> {
        Ok(Batch {
            connection,
            seq: read_seq(connection)?,
            applied: Applied::default(),
            namespace: None,
            released: Vec::new(),
            kept_texts: 0,
            unsettled: Unsettled::default(),
        })
    }

    pub(super) fn end(mut self) -> Result<Applied, Fault> {
        self.forget_texts()?;
        count_kept_texts(self.connection, self.kept_texts)?;
        write_seq(self.connection, self.seq)?;
        let settled = self.unsettled.settle(self.connection)?;
        if self.applied.touched > 0 || settled {
            properties_changed(self.connection)?;
        }
        self.applied.seq = self.seq as u64;
        Ok(self.applied)
    }

    pub(super) fn change(&mut self, change: &Change) -> Result<(), Fault> {
        match change {
            Change::Put(document) => self.put(document),
            Change::Touch { document, size, modified_ns } => self.touch(*document, *size, *modified_ns),
            Change::Move { document, path, size, modified_ns } => self.relocate(*document, path, *size, *modified_ns),
            Change::Delete { document } => self.delete(*document),
        }
    }

    fn next_seq(&mut self) -> i64 {
        self.seq += 1;
        self.seq
    }

    fn put(&mut self, document: &NewDocument) -> Result<(), Fault> {
        validate(document)?;
        self.register(&document.namespace)?;
        let known: Option<i64> = self
            .connection
            .prepare_cached("SELECT id FROM documents WHERE namespace = ?1 AND path = ?2")?
            .query_row([&document.namespace, &document.path], |row| row.get(0))
            .optional()?;
        if let Some(id) = known {
            self.delete_passages(id)?;
            self.applied.replaced += 1;
        } else {
            self.applied.added += 1;
        }
        let id: i64 = self
            .connection
            .prepare_cached(
                "INSERT INTO documents(id, namespace, collection, path, language, role, title, size, modified_ns, dated_ns, \
                 severity, content_hash, note, passages, origin) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15) \
                 ON CONFLICT(id) DO UPDATE SET collection = excluded.collection, language = excluded.language, \
                 role = excluded.role, title = excluded.title, size = excluded.size, modified_ns = excluded.modified_ns, \
                 dated_ns = excluded.dated_ns, severity = excluded.severity, content_hash = excluded.content_hash, note = excluded.note, \
                 passages = excluded.passages, origin = excluded.origin RETURNING id",
            )?
            .query_row(
                params![
                    known,
                    document.namespace,
                    document.collection,
                    document.path,
                    document.language,
                    document.role,
                    document.title,
                    document.size as i64,
                    document.modified_ns,
                    document.dated_ns,
                    document.severity,
                    document.content_hash,
                    document.note,
                    document.passages.len() as i64,
                    document.origin,
                ],
                |row| row.get(0),
            )?;
        if u32::try_from(id).is_err() {
            return Err(StoreError::Invalid {
                what: document.path.clone(),
                reason: "the index has counted 4,294,967,295 documents; delete it and index again".to_owned(),
            }
            .into());
        }
        if known.is_some() {
            self.connection.prepare_cached("DELETE FROM attributes WHERE document = ?1")?.execute([id])?;
            self.connection.prepare_cached("DELETE FROM records WHERE document = ?1")?.execute([id])?;
        }
        if let Some(record) = &document.record {
            self.connection
                .prepare_cached("INSERT INTO records(document, record) VALUES (?1, ?2)")?
                .execute(params![id, record])?;
        }
        self.insert_attributes(id, &document.attributes)?;
        self.unsettled.document(&document.namespace, &document.collection, &document.path);
        self.insert_passages(id, document)
    }

    fn insert_attributes(&mut self, id: i64, attributes: &[Attribute]) -> Result<(), Fault> {
        let mut insert = self.connection.prepare_cached(
            "INSERT OR IGNORE INTO attributes(document, name, value, folded) VALUES (?1, ?2, ?3, ?4)",
        )?;
        for Attribute { name, value } in attributes {
            insert.execute(params![id, name, value, folded(value)])?;
        }
        Ok(())
    }

    /// Gives a namespace its number. Documents of one come together: the last one needs no look.
    pub(super) fn register(&mut self, namespace: &str) -> Result<(), Fault> {
        if self.namespace.as_deref() != Some(namespace) {
            register(self.connection, namespace)?;
            self.namespace = Some(namespace.to_owned());
        }
        Ok(())
    }

    fn insert_passages(&mut self, id: i64, document: &NewDocument) -> Result<(), Fault> {
        let mut names = PublicIds::new(&document.namespace, &document.path);
        for (ordinal, passage) in document.passages.iter().enumerate() {
            let hash = TextHash::of(&passage.embedded_text);
            let text = self.put_text(hash, &passage.embedded_text)?;
            let name = names.next(&Identity {
                language: passage.language.as_deref().or(document.language.as_deref()),
                kind: &passage.kind,
                symbol: passage.symbol.as_deref(),
                signature: passage.signature.as_deref(),
                heading: passage.heading.as_deref(),
                text: hash,
            });
            let shared = passage.embedded_text.ends_with(&passage.text);
            let language = passage.language.as_ref().filter(|language| Some(*language) != document.language.as_ref());
            let seq = self.next_seq();
            let mut insert = self.connection.prepare_cached(
                "INSERT INTO passages(id, document, ordinal, public_id, start_line, end_line, kind, symbol, signature, heading, \
                 context, role, language, prose, text_id, text_bytes, own_text, author, dated_ns, part) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20) \
                 ON CONFLICT(public_id) DO NOTHING",
            )?;
            let mut inserted = false;
            for public_id in spellings(&name) {
                inserted = insert.execute(params![
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
                ])? == 1;
                if inserted {
                    break;
                }
            }
            if !inserted {
                return Err(ambiguous(&document.path));
            }
        }
        self.applied.passages_added += document.passages.len() as u64;
        Ok(())
    }

    /// The row of a text, with its content.
    fn put_text(&mut self, hash: TextHash, text: &str) -> Result<i64, Fault> {
        let inserted = self
            .connection
            .prepare_cached("INSERT INTO texts(hash, text) VALUES (?1, ?2) ON CONFLICT(hash) DO NOTHING")?
            .execute(params![hash.0, text])?;
        if inserted == 1 {
            return Ok(self.connection.last_insert_rowid());
        }
        let id = self
            .connection
            .prepare_cached("SELECT id FROM texts WHERE hash = ?1")?
            .query_row([hash.0], |row| row.get(0))?;
        let back = self
            .connection
            .prepare_cached("UPDATE texts SET text = ?2 WHERE id = ?1 AND text IS NULL")?
            .execute(params![id, text])?;
        self.kept_texts -= back as i64;
        Ok(id)
    }

    fn touch(&mut self, document: DocumentId, size: u64, modified_ns: i64) -> Result<(), Fault> {
        let changed = self
            .connection
            .prepare_cached("UPDATE documents SET size = ?2, modified_ns = ?3 WHERE id = ?1")?
            .execute(params![document.0, size as i64, modified_ns])?;
        if changed == 0 {
            return Err(unknown(document));
        }
        self.applied.touched += 1;
        Ok(())
    }

    /// Passages of a moved document are new ones with the same texts: their public identifiers and the words of their
    /// path are others.
    fn relocate(&mut self, document: DocumentId, path: &str, size: u64, modified_ns: i64) -> Result<(), Fault> {
        let (namespace, old): (String, String) = self
            .connection
            .prepare_cached("SELECT namespace, path FROM documents WHERE id = ?1")?
            .query_row([document.0], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?
            .ok_or_else(|| unknown(document))?;
        if old == path {
            return self.touch(document, size, modified_ns);
        }
        validate_path(path)?;
        let replaced: Option<u32> = self
            .connection
            .prepare_cached("SELECT id FROM documents WHERE namespace = ?1 AND path = ?2")?
            .query_row([&namespace, path], |row| row.get(0))
            .optional()?;
        if let Some(replaced) = replaced {
            self.delete(DocumentId(replaced))?;
        }
        self.connection
            .prepare_cached("UPDATE documents SET path = ?2, size = ?3, modified_ns = ?4 WHERE id = ?1")?
            .execute(params![document.0, path, size as i64, modified_ns])?;
        let mut names = PublicIds::new(&namespace, path);
        let names: Vec<(i64, String)> = self
            .connection
            .prepare_cached(
                "SELECT p.id, coalesce(p.language, d.language), p.kind, p.symbol, p.signature, p.heading, t.hash FROM passages p \
                 JOIN documents d ON d.id = p.document JOIN texts t ON t.id = p.text_id WHERE p.document = ?1 ORDER BY p.ordinal",
            )?
            .query_map([document.0], |row| {
                let name = names.next(&Identity {
                    language: row.get_ref(1)?.as_str_or_null()?,
                    kind: row.get_ref(2)?.as_str()?,
                    symbol: row.get_ref(3)?.as_str_or_null()?,
                    signature: row.get_ref(4)?.as_str_or_null()?,
                    heading: row.get_ref(5)?.as_str_or_null()?,
                    text: TextHash(row.get(6)?),
                });
                Ok((row.get(0)?, name))
            })?
            .collect::<rusqlite::Result<_>>()?;
        for (id, name) in &names {
            self.bury(*id)?;
            let seq = self.next_seq();
            let mut update = self
                .connection
                .prepare_cached("UPDATE OR IGNORE passages SET id = ?2, public_id = ?3 WHERE id = ?1")?;
            let mut moved = false;
            for public_id in spellings(name) {
                moved = update.execute(params![id, seq, public_id])? == 1;
                if moved {
                    break;
                }
            }
            if !moved {
                return Err(ambiguous(path));
            }
        }
        self.applied.moved += 1;
        self.applied.passages_added += names.len() as u64;
        self.applied.passages_deleted += names.len() as u64;
        Ok(())
    }

    /// All documents of a namespace go.
    pub(super) fn empty(&mut self, namespace: &str) -> Result<(), Fault> {
        let documents: Vec<u32> = self
            .connection
            .prepare_cached("SELECT id FROM documents WHERE namespace = ?1 ORDER BY id")?
            .query_map([namespace], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        documents.into_iter().try_for_each(|document| self.delete(DocumentId(document)))
    }

    pub(super) fn delete(&mut self, document: DocumentId) -> Result<(), Fault> {
        self.delete_passages(i64::from(document.0))?;
        let (namespace, collection, path): (String, String, String) = self
            .connection
            .prepare_cached("DELETE FROM documents WHERE id = ?1 RETURNING namespace, collection, path")?
            .query_row([document.0], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
            .optional()?
            .ok_or_else(|| unknown(document))?;
        if collection == EVIDENCE_COLLECTION {
            forget(self.connection, &namespace, &path, &mut self.unsettled)?;
        }
        self.applied.deleted += 1;
        Ok(())
    }

    fn delete_passages(&mut self, document: i64) -> Result<(), Fault> {
        let rows: Vec<(i64, i64)> = self
            .connection
            .prepare_cached("SELECT id, text_id FROM passages WHERE document = ?1 ORDER BY id")?
            .query_map([document], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<rusqlite::Result<_>>()?;
        for (passage, text) in &rows {
            self.bury(*passage)?;
            self.released.push(*text);
        }
        self.connection.prepare_cached("DELETE FROM passages WHERE document = ?1")?.execute([document])?;
        self.applied.passages_deleted += rows.len() as u64;
        Ok(())
    }

    /// Logs that a passage is gone.
    fn bury(&mut self, passage: i64) -> Result<(), Fault> {
        retire(self.connection, passage)?;
        let seq = self.next_seq();
        self.connection
            .prepare_cached("INSERT INTO tombstones(seq, passage) VALUES (?1, ?2)")?
            .execute([seq, passage])?;
        Ok(())
    }

    /// Texts without passages lose their content, and their row where they have no vectors to keep.
    fn forget_texts(&mut self) -> Result<(), Fault> {
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

fn validate_path(path: &str) -> Result<(), Fault> {
    if path.is_empty() || path.contains('\0') {
        return Err(StoreError::Invalid {
            what: format!("path {path:?}"),
            reason: "a path is neither empty nor holds a NUL".to_owned(),
        }
        .into());
    }
    Ok(())
}

fn validate(document: &NewDocument) -> Result<(), Fault> {
    validate_path(&document.path)?;
    if let Some(NewPassage { start_line, end_line, .. }) =
        document.passages.iter().find(|passage| passage.end_line < passage.start_line)
    {
        return Err(StoreError::Invalid {
            what: document.path.clone(),
            reason: format!("a passage starts at line {start_line} and ends before it, at line {end_line}"),
        }
        .into());
    }
    Ok(())
}

fn unknown(document: DocumentId) -> Fault {
    StoreError::UnknownDocument { document: document.0 }.into()
}

fn ambiguous(path: &str) -> Fault {
    StoreError::Invalid {
        what: path.to_owned(),
        reason: "two passages have one identifier in full length; report it with the two".to_owned(),
    }
    .into()
}
