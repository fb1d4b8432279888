//! Changing the database: documents with their passages, vectors, pruning.

use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, OptionalExtension, params};

use super::batch::Batch;
use super::replay::published_seq;
use super::retired::forget;
use super::{Database, Fault};
use crate::error::{Result, StoreError};
use crate::record::{Applied, Change, ModelKey, TextHash};
use crate::report::Pruned;

/// Texts without passages that are kept in any case.
const FEWEST_KEPT: i64 = 1024;
/// Free pages that are left for the next changes in any case.
const FEWEST_FREE: i64 = 4096;

impl Database {
    /// Applies changes in one transaction.
    pub(crate) fn apply(&self, changes: &[Change]) -> Result<Applied> {
        self.write(|connection| {
            let mut batch = Batch::begin(connection)?;
            for change in changes {
                batch.change(change)?;
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
        let pruned = self.write(|connection| prune(connection, 0))?;
        self.vacuum()?;
        Ok(pruned)
    }

    /// Prunes where that pays: so far that as many texts without passages are left as there are others, at most, since they
    /// come back with the branch that they are on. Space is given back once most of the file is free.
    pub(crate) fn tidy(&self) -> Result<Pruned> {
        let (kept, pages, free) = self.read(|connection| {
            let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
            Ok((read_kept_texts(connection)?.unwrap_or(0), pragma("page_count")?, pragma("freelist_count")?))
        })?;
        let mut pruned = Pruned::default();
        if kept > FEWEST_KEPT {
            let passages: i64 = self
                .read(|connection| Ok(connection.query_row("SELECT count(*) FROM passages", [], |row| row.get(0))?))?;
            let most = passages.max(FEWEST_KEPT);
            if kept > most {
                pruned = self.write(|connection| prune(connection, most / 2))?;
            }
        }
        if free > pages / 2 && free > FEWEST_FREE {
            self.vacuum()?;
        }
        Ok(pruned)
    }

    fn vacuum(&self) -> Result<()> {
        self.with_writer(|connection| {
            connection.execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE);")?;
            Ok(())
        })
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

pub(super) fn write_seq(connection: &Connection, seq: i64) -> rusqlite::Result<()> {
    set_meta(connection, "seq", seq)?;
    set_meta(connection, "last_change_ms", now_ms())
}

/// The number of the last change of documents' properties alone, dates and attributes, which no derived index holds.
pub(super) fn read_properties(connection: &Connection) -> rusqlite::Result<i64> {
    let number = connection
        .prepare_cached("SELECT value FROM meta WHERE key = 'dates'")?
        .query_row([], |row| row.get(0))
        .optional()?;
    Ok(number.unwrap_or(0))
}

/// Says that dates or attributes of documents are others now.
pub(super) fn properties_changed(connection: &Connection) -> rusqlite::Result<()> {
    set_meta(connection, "dates", read_properties(connection)? + 1)
}

/// How many texts without passages are kept for their vectors; `None`: not counted yet.
fn read_kept_texts(connection: &Connection) -> rusqlite::Result<Option<i64>> {
    connection
        .prepare_cached("SELECT value FROM meta WHERE key = 'kept_texts'")?
        .query_row([], |row| row.get(0))
        .optional()
}

/// Counts texts in that lost their last passage and are kept, and those out that have one again.
pub(super) fn count_kept_texts(connection: &Connection, more: i64) -> rusqlite::Result<()> {
    let kept = match read_kept_texts(connection)? {
        Some(_) if more == 0 => return Ok(()),
        Some(kept) => (kept + more).max(0),
        None => connection.query_row("SELECT count(*) FROM texts WHERE text IS NULL", [], |row| row.get(0))?,
    };
    set_meta(connection, "kept_texts", kept)
}

/// Removes what no passage refers to, except for the `kept` texts that came last.
fn prune(connection: &Connection, kept: i64) -> Result<Pruned, Fault> {
    connection.execute_batch(
        "CREATE TEMP TABLE IF NOT EXISTS pruned(id INTEGER NOT NULL PRIMARY KEY) STRICT; DELETE FROM temp.pruned;",
    )?;
    connection.execute(
        "INSERT INTO temp.pruned SELECT t.id FROM texts t WHERE NOT EXISTS \
         (SELECT 1 FROM passages p WHERE p.text_id = t.id) ORDER BY t.id DESC LIMIT -1 OFFSET ?1",
        [kept],
    )?;
    let vectors = connection.execute("DELETE FROM vectors WHERE text_id IN (SELECT id FROM temp.pruned)", [])?;
    connection.execute("DELETE FROM texts WHERE id IN (SELECT id FROM temp.pruned)", [])?;
    connection.execute("DELETE FROM temp.pruned", [])?;
    let left = connection.query_row("SELECT count(*) FROM texts WHERE text IS NULL", [], |row| row.get(0))?;
    set_meta(connection, "kept_texts", left)?;
    Ok(Pruned { vectors: vectors as u64 })
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
