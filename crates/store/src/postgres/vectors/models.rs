//! The embedding models of the database.

use deadpool_postgres::Transaction;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::super::error::Failure;
use crate::error::StoreError;
use crate::record::ModelKey;
use crate::vectors::MAX_MODEL_BYTES;

/// Most dimensions of the server's vectors.
const MOST_DIMENSIONS: usize = 16_000;

/// A model's row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Model {
    pub number: i32,
    pub name: String,
    pub dimension: usize,
}

/// A number that no model has.
pub(super) const NO_MODEL: i32 = -1;

/// Returns a model by name.
pub(super) async fn model(transaction: &Transaction<'_>, name: &str) -> Result<Option<Model>, Failure> {
    if name.contains('\0') {
        return Ok(None);
    }
    let sql = "SELECT model, name, dimension FROM models WHERE name = $1";
    Ok(transaction.query_typed_opt(sql, &[(&name, Type::TEXT)]).await?.map(|row| read(&row)))
}

/// Returns a known model, after checking that the query's vector fits it.
pub(super) async fn model_of(
    transaction: &Transaction<'_>,
    name: &str,
    vector: &[f32],
) -> Result<Option<Model>, Failure> {
    let Some(model) = model(transaction, name).await? else {
        return Ok(None);
    };
    if vector.len() != model.dimension {
        let (expected, received) = (model.dimension, vector.len());
        return Err(StoreError::Dimension { model: model.name, expected, received }.into());
    }
    if vector.iter().any(|value| !value.is_finite()) {
        return Err(StoreError::NotFinite { model: model.name, what: "the query".to_owned() }.into());
    }
    Ok(Some(model))
}

/// Returns a model, and adds a new one. Its dimension never changes.
pub(super) async fn register(transaction: &Transaction<'_>, key: &ModelKey) -> Result<Model, Failure> {
    if let Some(known) = model(transaction, &key.id).await? {
        return fitting(known, key);
    }
    let named = (1..=MAX_MODEL_BYTES).contains(&key.id.len()) && !key.id.contains('\0');
    if !(1..=MOST_DIMENSIONS).contains(&key.dimension) || !named {
        return Err(StoreError::Invalid {
            what: format!("model {:?} of {} dimensions", key.id, key.dimension),
            reason: format!(
                "a model has a name of 1 to {MAX_MODEL_BYTES} bytes and 1 to {MOST_DIMENSIONS} dimensions in PostgreSQL"
            ),
        }
        .into());
    }
    // Another process may add it at the same time; this waits for it.
    let sql = "INSERT INTO models(name, dimension) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET name = excluded.name \
               RETURNING model, name, dimension";
    let row = transaction.query_one(sql, &[&key.id, &(key.dimension as i32)]).await?;
    fitting(read(&row), key)
}

fn fitting(model: Model, key: &ModelKey) -> Result<Model, Failure> {
    if model.dimension == key.dimension {
        return Ok(model);
    }
    let (expected, received) = (model.dimension, key.dimension);
    Err(StoreError::Dimension { model: model.name, expected, received }.into())
}

fn read(row: &Row) -> Model {
    Model { number: row.get(0), name: row.get(1), dimension: row.get::<_, i32>(2) as usize }
}
