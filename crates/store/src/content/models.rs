//! The embedding models of a database.

use crate::error::StoreError;
use crate::record::{ModelKey, TextHash};
use crate::session::{Row, Session, all, first, values};
use crate::vectors::MAX_MODEL_BYTES;

/// A model's row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Model {
    pub(crate) number: i32,
    pub(crate) name: String,
    pub(crate) dimension: usize,
}

/// Returns all models.
pub(crate) async fn models<E>(session: &dyn Session<E>) -> Result<Vec<Model>, E> {
    all(session, "SELECT model, name, dimension FROM models ORDER BY model", &[], read).await
}

/// Returns the keys of all models, by name.
pub(crate) async fn model_keys<E>(session: &dyn Session<E>) -> Result<Vec<ModelKey>, E> {
    let key = |row: &mut Row| Ok(ModelKey { id: row.next()?, dimension: row.next::<u32>()? as usize });
    all(session, "SELECT name, dimension FROM models ORDER BY name", &[], key).await
}

/// Returns a model by name.
pub(crate) async fn model<E>(session: &dyn Session<E>, name: &str) -> Result<Option<Model>, E> {
    // A server refuses what no model can have.
    if name.contains('\0') {
        return Ok(None);
    }
    first(session, "SELECT model, name, dimension FROM models WHERE name = $1", values![name], read).await
}

/// Returns a model, and adds a new one. Its dimension never changes.
pub(crate) async fn register<E: From<StoreError>>(session: &dyn Session<E>, key: &ModelKey) -> Result<Model, E> {
    let ModelKey { id, dimension } = key;
    let registered = match model(session, id).await? {
        Some(known) => Some(known),
        None => {
            let (most, here) = session.dialect().most_dimensions;
            let named = (1..=MAX_MODEL_BYTES).contains(&id.len()) && !id.contains('\0');
            if !(1..=most).contains(dimension) || !named {
                let what = format!("model {id:?} of {dimension} dimensions");
                let reason =
                    format!("a model has a name of 1 to {MAX_MODEL_BYTES} bytes and 1 to {most} dimensions{here}");
                return Err(StoreError::Invalid { what, reason }.into());
            }
            // Another process may add it at the same time; this waits for it.
            let insert = "INSERT INTO models(name, dimension) VALUES ($1, $2) \
                 ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING model, name, dimension";
            first(session, insert, values![id, *dimension as i64], read).await?
        }
    };
    match registered {
        Some(model) if model.dimension == *dimension => Ok(model),
        Some(Model { name, dimension: expected, .. }) => {
            Err(StoreError::Dimension { model: name, expected, received: *dimension }.into())
        }
        None => Err(session.damaged(format!("model {id} was added and is not there"))),
    }
}

fn read(row: &mut Row) -> Result<Model, String> {
    Ok(Model { number: row.next()?, name: row.next()?, dimension: row.next::<u32>()? as usize })
}

/// Checks that a query's vector fits a model.
pub(crate) fn check_query(model: &Model, vector: &[f32]) -> Result<(), StoreError> {
    check(&model.name, model.dimension, vector, || "the query".to_owned())
}

/// Checks that the vectors of texts fit a model.
pub(crate) fn check_vectors(model: &ModelKey, vectors: &[(TextHash, Vec<f32>)]) -> Result<(), StoreError> {
    let fits =
        |(hash, vector): &(TextHash, Vec<f32>)| check(&model.id, model.dimension, vector, || format!("text {hash}"));
    vectors.iter().try_for_each(fits)
}

fn check(model: &str, expected: usize, vector: &[f32], what: impl FnOnce() -> String) -> Result<(), StoreError> {
    let (model, received) = (model.to_owned(), vector.len());
    if received != expected {
        return Err(StoreError::Dimension { model, expected, received });
    }
    match vector.iter().all(|value| value.is_finite()) {
        true => Ok(()),
        false => Err(StoreError::NotFinite { model, what: what() }),
    }
}
