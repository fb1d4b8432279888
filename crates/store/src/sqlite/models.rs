//! The embedding models of the database.

use rusqlite::{Connection, Row, params};

use super::{Database, TransactionError};
use crate::error::{Result, StoreError};
use crate::query::{all, one};
use crate::record::ModelKey;
use crate::vectors::{MAX_DIMENSION, MAX_MODEL_BYTES};

/// A model's row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ModelRow {
    pub(crate) id: i64,
    pub(crate) name: String,
    pub(crate) dimension: usize,
}

impl Database {
    /// Returns all models.
    pub(crate) fn models(&self) -> Result<Vec<ModelRow>> {
        self.read(|connection| {
            Ok(all(connection, "SELECT id, name, dimension FROM models ORDER BY id", [], model_row)?)
        })
    }

    /// Returns a model by name.
    pub(crate) fn model(&self, name: &str) -> Result<Option<ModelRow>> {
        self.read(|connection| Ok(model(connection, name)?))
    }
}

fn model(connection: &Connection, name: &str) -> rusqlite::Result<Option<ModelRow>> {
    one(connection, "SELECT id, name, dimension FROM models WHERE name = ?1", [name], model_row)
}

fn model_row(row: &Row<'_>) -> rusqlite::Result<ModelRow> {
    Ok(ModelRow { id: row.get(0)?, name: row.get(1)?, dimension: crate::query::unsigned(row, 2)? as usize })
}

/// Returns the number of a model, and adds a new one. Its dimension never changes.
pub(super) fn register(connection: &Connection, key: &ModelKey) -> Result<i64, TransactionError> {
    if let Some(known) = model(connection, &key.id)? {
        if known.dimension == key.dimension {
            return Ok(known.id);
        }
        let (model, expected) = (known.name, known.dimension);
        return Err(StoreError::Dimension { model, expected, received: key.dimension }.into());
    }
    if !(1..=MAX_DIMENSION).contains(&key.dimension) || !(1..=MAX_MODEL_BYTES).contains(&key.id.len()) {
        return Err(StoreError::Invalid {
            what: format!("model {:?} of {} dimensions", key.id, key.dimension),
            reason: format!("a model has a name of 1 to {MAX_MODEL_BYTES} bytes and 1 to {MAX_DIMENSION} dimensions"),
        }
        .into());
    }
    connection.execute("INSERT INTO models(name, dimension) VALUES (?1, ?2)", params![key.id, key.dimension as i64])?;
    Ok(connection.last_insert_rowid())
}
