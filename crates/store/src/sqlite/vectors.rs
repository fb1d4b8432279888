//! Vectors in half precision, by text and model.

use std::collections::VecDeque;

use half::f16;
use rusqlite::{Connection, OptionalExtension, params};

use super::catch_up::{decode_vector, passage_id, seq, write_seq};
use super::session::{SqliteSession, now};
use super::texts::content;
use super::{Database, TransactionError};
use crate::cache::lock;
use crate::content::{Model, check_vectors, model, models, register};
use crate::error::{Result, StoreError};
use crate::filter::Selection;
use crate::record::{DocumentId, ModelKey, PassageId, TextHash, TextToEmbed};
use crate::report::Coverage;
use crate::sqlite::connection::{all, count, each, one};
use crate::vectors::unit;

/// Passages with a vector of the model `?1`.
const EMBEDDED: &str =
    "FROM passages p WHERE EXISTS (SELECT 1 FROM vectors v WHERE v.text_id = p.text_id AND v.model = ?1)";

impl Database {
    pub(crate) fn models(&self) -> Result<Vec<Model>> {
        self.read(|connection| now(models(&SqliteSession::new(connection))))
    }

    pub(crate) fn model(&self, name: &str) -> Result<Option<Model>> {
        self.read(|connection| now(model(&SqliteSession::new(connection), name)))
    }

    /// Stores vectors of unit length for texts that exist and have none.
    pub(crate) fn put_vectors(&self, model: &ModelKey, vectors: &[(TextHash, Vec<f32>)]) -> Result<u64> {
        check_vectors(model, vectors)?;
        self.write(|connection| {
            let model_id = now(register(&SqliteSession::new(connection), model))?.number;
            let mut seq = seq(connection)?;
            let mut stored = 0;
            let mut find = connection.prepare_cached("SELECT id FROM texts WHERE hash = ?1")?;
            let mut insert = connection.prepare_cached(
                "INSERT INTO vectors(seq, model, text_id, vector) VALUES (?1, ?2, ?3, ?4) ON CONFLICT(text_id, model) DO NOTHING",
            )?;
            let mut bytes = Vec::with_capacity(model.dimension * 2);
            for (hash, vector) in vectors {
                let text: Option<i64> = find.query_row([&hash.0], |row| row.get(0)).optional()?;
                let Some(text) = text else { continue };
                bytes.clear();
                bytes.extend(unit(vector).flat_map(f16::to_le_bytes));
                if insert.execute(params![seq as i64 + 1, model_id, text, bytes])? == 1 {
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

    /// Returns texts without a vector of the model.
    ///
    /// Whoever embeds asks again and again, and all but the last few texts have a vector by then. So each question about everything goes
    /// on where the last one found its first text. Only when nothing is left from there on, all texts are looked at: an earlier one may
    /// have come back without its vector.
    pub(crate) fn unembedded(&self, model: &str, selection: &Selection, limit: usize) -> Result<Vec<TextToEmbed>> {
        let model = self.model_number(model)?;
        self.snapshot(|connection| {
            let texts = if selection.is_everything() {
                let after = lock(&self.embedded_up_to).get(&model).copied().unwrap_or(0);
                let mut texts = texts_without_vector(connection, model, after, limit)?;
                if texts.is_empty() && after > 0 {
                    texts = texts_without_vector(connection, model, 0, limit)?;
                }
                if let Some(first) = texts.first() {
                    lock(&self.embedded_up_to).insert(model, first - 1);
                }
                texts
            } else {
                selected_texts_without_vector(connection, model, selection, limit)?
            };
            let text = |id| text_to_embed(connection, model, id).transpose();
            Ok(texts.into_iter().filter_map(text).collect::<rusqlite::Result<_>>()?)
        })
    }

    /// Returns texts without a vector of the model, the most telling first. Their order is that of the last time as long as there are
    /// enough of them.
    pub(crate) fn most_telling(&self, model: &str, limit: usize) -> Result<Vec<TextToEmbed>> {
        let model = self.model_number(model)?;
        self.snapshot(|connection| {
            let mut orders = lock(&self.embedding_orders);
            let order = orders.entry(model).or_default();
            let mut texts = first_unembedded(connection, model, order, limit)?;
            if texts.len() < limit {
                *order = embedding_order(connection, model)?.into();
                texts = first_unembedded(connection, model, order, limit)?;
            }
            Ok(texts)
        })
    }

    /// Counts the selected passages that have a vector of the model.
    pub(crate) fn coverage(&self, model: &str, selection: &Selection) -> Result<Coverage> {
        let model = self.model_number(model)?;
        self.read(|connection| {
            let embedded = if selection.is_everything() {
                count(connection, &format!("SELECT count(*) {EMBEDDED}"), [model])?
            } else {
                let mut embedded = 0;
                each(connection, &format!("SELECT p.passage, p.document {EMBEDDED}"), [model], |row| {
                    embedded += u64::from(selection.contains(passage_id(row, 0)?, DocumentId(row.get(1)?)));
                    Ok::<(), TransactionError>(())
                })?;
                embedded
            };
            Ok(Coverage { passages: selection.count, embedded })
        })
    }

    /// Returns passages with a vector of a model, ascending.
    pub(crate) fn embedded(&self, model: i32) -> Result<Vec<u64>> {
        let sql = format!("SELECT p.passage {EMBEDDED} ORDER BY p.passage");
        self.read(|connection| Ok(all(connection, &sql, [model], |row| crate::sqlite::connection::unsigned(row, 0))?))
    }

    /// Passes each passage's vector of the model to `each`, in the order given.
    pub(crate) fn each_vector(
        &self,
        model: &Model,
        namespaces: &[String],
        ids: &[PassageId],
        mut each: impl FnMut(Option<(DocumentId, &[f32])>),
    ) -> Result<()> {
        self.snapshot(|connection| {
            // Every hit of a search passes here, so documents are joined only where they matter.
            let mut statement = connection.prepare_cached(match namespaces {
                [] => {
                    "SELECT v.vector, p.document, '' FROM passages p \
                     JOIN vectors v ON v.text_id = p.text_id AND v.model = ?2 WHERE p.passage = ?1"
                }
                _ => {
                    "SELECT v.vector, p.document, d.namespace FROM passages p JOIN documents d ON d.document = p.document \
                     JOIN vectors v ON v.text_id = p.text_id AND v.model = ?2 WHERE p.passage = ?1"
                }
            })?;
            let is_among = |namespace: &str| namespaces.is_empty() || namespaces.iter().any(|name| name == namespace);
            let mut vector = Vec::with_capacity(model.dimension);
            for id in ids {
                let mut rows = statement.query([id.0 as i64, i64::from(model.number)])?;
                let row = match rows.next()? {
                    Some(row) if is_among(row.get_ref(2)?.as_str()?) => row,
                    _ => {
                        each(None);
                        continue;
                    }
                };
                decode_vector(row.get_ref(0)?.as_blob()?, &mut vector);
                if vector.len() != model.dimension {
                    let (length, Model { name, dimension, .. }) = (vector.len(), model);
                    let reason = format!(
                        "the vector of passage {} under model {name} has {length} dimensions, not {dimension}",
                        id.0
                    );
                    return Err(StoreError::Corrupt { path: self.path().to_owned(), reason }.into());
                }
                each(Some((DocumentId(row.get(1)?), &vector)));
            }
            Ok(())
        })
    }

    /// Returns the vectors of texts that passages of a namespace have, in the order given.
    pub(crate) fn text_vectors(
        &self,
        namespace: &str,
        model: &Model,
        texts: &[TextHash],
    ) -> Result<Vec<Option<Vec<f32>>>> {
        let sql = "SELECT v.vector FROM texts t JOIN vectors v ON v.text_id = t.id AND v.model = ?2 WHERE t.hash = ?1 \
                   AND EXISTS (SELECT 1 FROM passages p JOIN documents d ON d.document = p.document \
                   WHERE p.text_id = t.id AND d.namespace = ?3)";
        self.snapshot(|connection| {
            let read = |hash: &TextHash| {
                one(connection, sql, params![hash.0, model.number, namespace], |row| {
                    let mut vector = Vec::with_capacity(model.dimension);
                    decode_vector(row.get_ref(0)?.as_blob()?, &mut vector);
                    Ok(vector)
                })
            };
            Ok(texts.iter().map(read).collect::<rusqlite::Result<_>>()?)
        })
    }

    /// The number of a model; an unused number if the model is unknown.
    fn model_number(&self, name: &str) -> Result<i32> {
        Ok(self.model(name)?.map_or(-1, |model| model.number))
    }
}

/// Reads two indexes side by side and no text.
fn texts_without_vector(connection: &Connection, model: i32, after: i64, limit: usize) -> rusqlite::Result<Vec<i64>> {
    let sql = "SELECT p.text_id FROM passages p \
               WHERE p.text_id > ?3 AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.text_id = p.text_id AND v.model = ?1) \
               GROUP BY p.text_id ORDER BY p.text_id LIMIT ?2";
    all(connection, sql, params![model, limit as i64, after], |row| row.get(0))
}

/// The last changes among which vectors say of which documents a search has had passages embedded.
const LOOKED_AT: i64 = 4096;

/// Returns all texts without a vector, the most telling first: those of the project itself before tests and the like, of these the
/// first of each document and those of documents that searches looked at, and the most recent documents first.
fn embedding_order(connection: &Connection, model: i32) -> rusqlite::Result<Vec<i64>> {
    let sql = "SELECT p.text_id FROM passages p JOIN documents d ON d.document = p.document \
               WHERE NOT EXISTS (SELECT 1 FROM vectors v WHERE v.text_id = p.text_id AND v.model = ?1) \
               GROUP BY p.text_id ORDER BY min(2 * (p.role <> 'main') + (p.ordinal > 0 AND p.document NOT IN (\
                 SELECT q.document FROM vectors w JOIN passages q ON q.text_id = w.text_id WHERE w.model = ?1 AND q.ordinal > 0 \
                 AND w.seq > (SELECT max(seq) FROM vectors) - ?2))), \
               max(coalesce(d.dated_ns, d.modified_ns)) DESC, min(p.passage)";
    all(connection, sql, params![model, LOOKED_AT], |row| row.get(0))
}

/// Returns the first texts of an order that still lack a vector, and removes those before them that no longer do.
fn first_unembedded(
    connection: &Connection,
    model: i32,
    order: &mut VecDeque<i64>,
    limit: usize,
) -> rusqlite::Result<Vec<TextToEmbed>> {
    let (mut texts, mut kept) = (Vec::new(), Vec::new());
    while texts.len() < limit
        && let Some(id) = order.pop_front()
    {
        if let Some(text) = text_to_embed(connection, model, id)? {
            texts.push(text);
            kept.push(id);
        }
    }
    kept.into_iter().rev().for_each(|id| order.push_front(id));
    Ok(texts)
}

/// Returns a text with the path of a passage that has it; `None` if no passage has it, or it has a vector.
fn text_to_embed(connection: &Connection, model: i32, id: i64) -> rusqlite::Result<Option<TextToEmbed>> {
    let sql = "SELECT t.hash, t.text, d.path FROM texts t JOIN passages p ON p.text_id = t.id JOIN documents d ON d.document = p.document \
               WHERE t.id = ?1 AND t.text IS NOT NULL \
               AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.text_id = t.id AND v.model = ?2) ORDER BY p.passage LIMIT 1";
    let read = |row: &rusqlite::Row<'_>| {
        Ok(TextToEmbed { hash: TextHash(row.get(0)?), text: content(row, 1)?.into_owned(), path: row.get(2)? })
    };
    one(connection, sql, params![id, model], read)
}

fn selected_texts_without_vector(
    connection: &Connection,
    model: i32,
    selection: &Selection,
    limit: usize,
) -> Result<Vec<i64>, TransactionError> {
    let mut statement = connection.prepare_cached(
        "SELECT p.text_id, p.passage, p.document FROM passages p \
         WHERE NOT EXISTS (SELECT 1 FROM vectors v WHERE v.text_id = p.text_id AND v.model = ?1) ORDER BY p.text_id, p.passage",
    )?;
    let mut rows = statement.query([model])?;
    let mut texts: Vec<i64> = Vec::new();
    while let Some(row) = rows.next()? {
        if texts.len() == limit {
            break;
        }
        let text = row.get(0)?;
        if texts.last() != Some(&text) && selection.contains(passage_id(row, 1)?, DocumentId(row.get(2)?)) {
            texts.push(text);
        }
    }
    Ok(texts)
}
