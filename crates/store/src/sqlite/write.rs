//! Changing the database: documents with their passages, vectors, pruning.

use std::collections::HashMap;
use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, OptionalExtension, params};

use super::replay::published_seq;
use super::retired::{forget, retire};
use super::{Database, Fault};
use crate::error::{Result, StoreError};
use crate::record::{Applied, Change, DocumentId, ModelKey, NewDocument, NewPassage, TextForm, TextHash};
use crate::report::Pruned;

/// Fewest hexadecimal digits of a public identifier.
const PUBLIC_ID_DIGITS: usize = 12;

impl Database {
    /// Applies changes in one transaction.
    pub(crate) fn apply(&self, changes: &[Change]) -> Result<Applied> {
        self.write(|connection| {
            let mut batch = Batch::begin(connection)?;
            for change in changes {
                match change {
                    Change::Put(document) => batch.put(document)?,
                    Change::Touch { document, size, modified_ns } => batch.touch(*document, *size, *modified_ns)?,
                    Change::Move { document, path, size, modified_ns } => {
                        batch.relocate(*document, path, *size, *modified_ns)?
                    }
                    Change::Delete { document } => batch.delete(*document)?,
                }
            }
            batch.end()
        })
    }

    /// Stores vectors of unit length for texts that are there and have none.
    pub(crate) fn put_vectors(&self, model: &ModelKey, vectors: &[(TextHash, Vec<f32>)]) -> Result<u64> {
        for (hash, vector) in vectors {
            if vector.len() != model.dimension {
                return Err(StoreError::Dimension {
                    model: model.id.clone(),
                    expected: model.dimension,
                    received: vector.len(),
                });
            }
            if vector.iter().any(|value| !value.is_finite()) {
                return Err(StoreError::NotFinite { model: model.id.clone(), what: format!("text {hash}") });
            }
        }
        self.write(|connection| {
            let model_id = model_id(connection, model)?;
            let mut seq = read_seq(connection)?;
            let mut stored = 0;
            let mut find = connection.prepare_cached("SELECT id FROM texts WHERE hash = ?1")?;
            let mut insert = connection.prepare_cached(
                "INSERT INTO vectors(seq, model, text_id, vector) VALUES (?1, ?2, ?3, ?4) ON CONFLICT(text_id, model) DO NOTHING",
            )?;
            let mut bytes = Vec::with_capacity(model.dimension * 4);
            for (hash, vector) in vectors {
                let text: Option<i64> = find.query_row([&hash.0], |row| row.get(0)).optional()?;
                let Some(text) = text else { continue };
                encode_unit(vector, &mut bytes);
                if insert.execute(params![seq + 1, model_id, text, bytes])? == 1 {
                    seq += 1;
                    stored += 1;
                }
            }
            if stored > 0 {
                write_seq(connection, seq)?;
            }
            Ok(stored)
        })
    }

    /// Removes vectors without passages, then gives the space back.
    pub(crate) fn prune(&self) -> Result<Pruned> {
        let pruned = self.write(|connection| {
            let vectors = connection.execute(
                "DELETE FROM vectors WHERE NOT EXISTS (SELECT 1 FROM passages WHERE passages.text_id = vectors.text_id)",
                [],
            )?;
            connection.execute(
                "DELETE FROM texts WHERE NOT EXISTS (SELECT 1 FROM passages WHERE passages.text_id = texts.id)",
                [],
            )?;
            Ok(Pruned {
                vectors: vectors as u64,
            })
        })?;
        self.with_writer(|connection| {
            connection.execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE);")?;
            Ok(())
        })?;
        Ok(pruned)
    }

    /// Notes up to which change the lexical index and the vector files were published, and forgets the deletions that
    /// all of them have passed.
    pub(crate) fn published(&self, seq: u64, passed_by_all: u64) -> Result<()> {
        self.write(|connection| {
            if connection.execute("DELETE FROM tombstones WHERE seq <= ?1", [passed_by_all as i64])? > 0 {
                set_meta(connection, "tombstone_floor", passed_by_all as i64)?;
            }
            set_meta(connection, "published_seq", (published_seq(connection)?.max(seq)) as i64)?;
            set_meta(connection, "last_publish_ms", now_ms())?;
            forget(connection)
        })
    }

    /// Keeps a property.
    pub(crate) fn set_property(&self, name: &str, value: &str) -> Result<()> {
        self.write(|connection| {
            connection.execute(
                "INSERT INTO properties(name, value) VALUES (?1, ?2) ON CONFLICT(name) DO UPDATE SET value = excluded.value",
                [name, value],
            )?;
            Ok(())
        })
    }
}

/// Milliseconds since 1970.
fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_millis() as i64)
}

/// The number of the last change.
pub(super) fn read_seq(connection: &Connection) -> rusqlite::Result<i64> {
    connection.prepare_cached("SELECT value FROM meta WHERE key = 'seq'")?.query_row([], |row| row.get(0))
}

fn write_seq(connection: &Connection, seq: i64) -> rusqlite::Result<()> {
    set_meta(connection, "seq", seq)?;
    set_meta(connection, "last_change_ms", now_ms())
}

fn set_meta(connection: &Connection, key: &str, value: i64) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO meta(key, value) VALUES (?1, ?2) ON CONFLICT(key) DO UPDATE SET value = excluded.value",
        )?
        .execute(params![key, value])?;
    Ok(())
}

/// The model's row, made where it is new; its dimension never changes.
fn model_id(connection: &Connection, model: &ModelKey) -> Result<i64, Fault> {
    let known: Option<(i64, i64)> = connection
        .query_row("SELECT id, dimension FROM models WHERE name = ?1", [&model.id], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .optional()?;
    match known {
        Some((id, dimension)) if dimension == model.dimension as i64 => Ok(id),
        Some((_, dimension)) => Err(StoreError::Dimension {
            model: model.id.clone(),
            expected: dimension as usize,
            received: model.dimension,
        }
        .into()),
        None => {
            if model.dimension == 0
                || model.dimension > crate::vectors::MAX_DIMENSION
                || model.id.is_empty()
                || model.id.len() > crate::vectors::MAX_MODEL_BYTES
            {
                return Err(StoreError::Invalid {
                    what: format!("model {:?} of {} dimensions", model.id, model.dimension),
                    reason: format!(
                        "a model has a name of 1 to {} bytes and 1 to {} dimensions",
                        crate::vectors::MAX_MODEL_BYTES,
                        crate::vectors::MAX_DIMENSION
                    ),
                }
                .into());
            }
            connection.execute(
                "INSERT INTO models(name, dimension) VALUES (?1, ?2)",
                params![model.id, model.dimension as i64],
            )?;
            Ok(connection.last_insert_rowid())
        }
    }
}

/// A vector scaled to unit length, as stored. The zero vector stays what it is: similar to nothing.
fn encode_unit(vector: &[f32], bytes: &mut Vec<u8>) {
    let norm = vector.iter().map(|&value| f64::from(value) * f64::from(value)).sum::<f64>().sqrt();
    let scale = if norm > 0.0 { 1.0 / norm } else { 0.0 };
    bytes.clear();
    for &value in vector {
        bytes.extend_from_slice(&((f64::from(value) * scale) as f32).to_le_bytes());
    }
}

/// The changes of one transaction.
struct Batch<'c> {
    connection: &'c Connection,
    seq: i64,
    applied: Applied,
    /// Texts that lost a passage: those without any at the end are forgotten.
    released: Vec<i64>,
}

impl<'c> Batch<'c> {
    fn begin(connection: &'c Connection) -> Result<Batch<'c>, Fault> {
        Ok(Batch { connection, seq: read_seq(connection)?, applied: Applied::default(), released: Vec::new() })
    }

    fn end(mut self) -> Result<Applied, Fault> {
        self.forget_texts()?;
        write_seq(self.connection, self.seq)?;
        self.applied.seq = self.seq as u64;
        Ok(self.applied)
    }

    fn next_seq(&mut self) -> i64 {
        self.seq += 1;
        self.seq
    }

    fn put(&mut self, document: &NewDocument) -> Result<(), Fault> {
        validate(document)?;
        let known: Option<i64> = self
            .connection
            .prepare_cached("SELECT id FROM documents WHERE namespace = ?1 AND path = ?2")?
            .query_row([&document.namespace, &document.path], |row| row.get(0))
            .optional()?;
        let id = match known {
            Some(id) => {
                self.delete_passages(id)?;
                self.applied.replaced += 1;
                self.connection
                    .prepare_cached(
                        "UPDATE documents SET collection = ?2, language = ?3, role = ?4, title = ?5, size = ?6, modified_ns = ?7, \
                         content_hash = ?8, note = ?9, passages = ?10 WHERE id = ?1",
                    )?
                    .execute(params![
                        id,
                        document.collection,
                        document.language,
                        document.role,
                        document.title,
                        document.size as i64,
                        document.modified_ns,
                        document.content_hash,
                        document.note,
                        document.passages.len() as i64,
                    ])?;
                id
            }
            None => {
                self.applied.added += 1;
                self.connection
                    .prepare_cached(
                        "INSERT INTO documents(namespace, collection, path, language, role, title, size, modified_ns, content_hash, note, passages) \
                         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
                    )?
                    .execute(params![
                        document.namespace,
                        document.collection,
                        document.path,
                        document.language,
                        document.role,
                        document.title,
                        document.size as i64,
                        document.modified_ns,
                        document.content_hash,
                        document.note,
                        document.passages.len() as i64,
                    ])?;
                let id = self.connection.last_insert_rowid();
                if u32::try_from(id).is_err() {
                    return Err(StoreError::Invalid {
                        what: document.path.clone(),
                        reason: "the index has counted 4,294,967,295 documents; delete it and index again".to_owned(),
                    }
                    .into());
                }
                id
            }
        };
        self.insert_passages(id, document)
    }

    fn insert_passages(&mut self, id: i64, document: &NewDocument) -> Result<(), Fault> {
        let mut names = PublicIds::new(&document.namespace, &document.path);
        for (ordinal, passage) in document.passages.iter().enumerate() {
            let hash = TextHash::of(&passage.embedded_text);
            let text = self.put_text(hash, &passage.embedded_text)?;
            let name = names.next(&passage.kind, passage.symbol.as_deref(), passage.heading.as_deref(), hash);
            let shared = passage.embedded_text.ends_with(&passage.text);
            let language = passage.language.as_ref().filter(|language| Some(*language) != document.language.as_ref());
            let seq = self.next_seq();
            let mut insert = self.connection.prepare_cached(
                "INSERT INTO passages(id, document, ordinal, public_id, start_line, end_line, kind, symbol, heading, context, role, \
                 language, prose, text_id, text_bytes, own_text) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16) ON CONFLICT(public_id) DO NOTHING",
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
                    passage.heading,
                    passage.context,
                    passage.role,
                    language,
                    passage.form == TextForm::Prose,
                    text,
                    shared.then_some(passage.text.len() as i64),
                    (!shared).then_some(&passage.text),
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
        self.connection
            .prepare_cached("UPDATE texts SET text = ?2 WHERE id = ?1 AND text IS NULL")?
            .execute(params![id, text])?;
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
        type Row = (i64, String, Option<String>, Option<String>, [u8; 32]);
        let rows: Vec<Row> = self
            .connection
            .prepare_cached(
                "SELECT p.id, p.kind, p.symbol, p.heading, t.hash FROM passages p JOIN texts t ON t.id = p.text_id \
                 WHERE p.document = ?1 ORDER BY p.ordinal",
            )?
            .query_map([document.0], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?)))?
            .collect::<rusqlite::Result<_>>()?;
        let mut names = PublicIds::new(&namespace, path);
        for (id, kind, symbol, heading, hash) in &rows {
            let name = names.next(kind, symbol.as_deref(), heading.as_deref(), TextHash(*hash));
            self.bury(*id)?;
            let seq = self.next_seq();
            let mut update = self
                .connection
                .prepare_cached("UPDATE OR IGNORE passages SET id = ?2, public_id = ?3 WHERE id = ?1")?;
            let mut moved = false;
            for public_id in spellings(&name) {
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
        self.applied.passages_added += rows.len() as u64;
        self.applied.passages_deleted += rows.len() as u64;
        Ok(())
    }

    fn delete(&mut self, document: DocumentId) -> Result<(), Fault> {
        self.delete_passages(i64::from(document.0))?;
        let deleted = self.connection.prepare_cached("DELETE FROM documents WHERE id = ?1")?.execute([document.0])?;
        if deleted == 0 {
            return Err(unknown(document));
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
                empty.execute([text])?;
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

/// Names the passages of one document in their order.
struct PublicIds<'d> {
    namespace: &'d str,
    path: &'d str,
    seen: HashMap<[u8; 32], u32>,
}

impl<'d> PublicIds<'d> {
    fn new(namespace: &'d str, path: &'d str) -> PublicIds<'d> {
        PublicIds { namespace, path, seen: HashMap::new() }
    }

    /// The full name, in hexadecimal. What carries a name of its own keeps its identifier while its text changes; what
    /// does not keeps it wherever in the document the text goes. Equal ones are counted.
    fn next(&mut self, kind: &str, symbol: Option<&str>, heading: Option<&str>, text: TextHash) -> String {
        let text = text.to_string();
        let (tag, own) = match (symbol, heading) {
            (Some(symbol), _) => ("symbol", symbol),
            (None, Some(heading)) => ("heading", heading),
            (None, None) => ("text", text.as_str()),
        };
        let mut hasher = blake3::Hasher::new();
        for part in [self.namespace, self.path, kind, tag, own] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        let count = self.seen.entry(*hasher.finalize().as_bytes()).or_default();
        hasher.update(&count.to_le_bytes());
        *count += 1;
        hasher.finalize().to_hex().to_string()
    }
}

/// The identifiers to try for a name, shortest first: the next one is needed when another passage has the one before.
fn spellings(name: &str) -> impl Iterator<Item = &str> {
    (PUBLIC_ID_DIGITS..=name.len()).step_by(4).filter_map(|digits| name.get(..digits))
}
