//! Storing vectors, and reading those of passages.

use std::collections::{BTreeSet, HashMap, HashSet};

use deadpool_postgres::Transaction;
use tokio_postgres::types::Type;

use super::PostgresStore;
use super::error::Failure;
use super::models::{Model, NO_MODEL, model, model_of, register};
use super::namespaces::NOW_MS;
use super::scope::Scope;
use super::select::{document, passage};
use super::statement::Statement;
use super::vector_type::Vector;
use crate::error::{Result, StoreError};
use crate::filter::Filter;
use crate::hits::Nearest;
use crate::record::{DocumentId, ModelKey, PassageId, TextHash, TextToEmbed};
use crate::report::Coverage;
use crate::store::VectorLeg;
use crate::ties::{settle, with_spare};

/// Most vectors of one statement.
const BATCH: usize = 1_000;

impl VectorLeg for PostgresStore {
    fn unembedded(&self, name: &str, filter: &Filter, limit: usize) -> Result<Vec<TextToEmbed>> {
        self.connections.read_of(&filter.namespaces, async |transaction| {
            let number = model(transaction, name).await?.map_or(NO_MODEL, |model| model.number);
            let selection = self.selection(transaction, filter).await?;
            self.unembedded_of(transaction, number, &selection, limit).await
        })
    }

    fn put_vectors(&self, model: &ModelKey, vectors: &[(TextHash, Vec<f32>)]) -> Result<u64> {
        for (hash, vector) in vectors {
            if vector.len() != model.dimension {
                let (model, expected, received) = (model.id.clone(), model.dimension, vector.len());
                return Err(StoreError::Dimension { model, expected, received });
            }
            if vector.iter().any(|value| !value.is_finite()) {
                return Err(StoreError::NotFinite { model: model.id.clone(), what: format!("text {hash}") });
            }
        }
        let raise = format!(
            "UPDATE namespaces SET change_number = change_number + 1, changed_ms = {NOW_MS} WHERE namespace = ANY($1)"
        );
        self.connections.write(async |transaction| {
            let model = register(transaction, model).await?;
            let (stored, changed) = put(transaction, &model, vectors).await?;
            self.lock_namespaces(transaction, changed.iter().map(String::as_str)).await?;
            transaction.execute(&raise, &[&changed]).await?;
            Ok(stored)
        })
    }

    fn nearest(&self, model: &str, vector: &[f32], filter: &Filter, k: usize) -> Result<Nearest> {
        let mut found = self.connections.read_of(&filter.namespaces, async |transaction| {
            let Some(model) = model_of(transaction, model, vector).await? else {
                return Ok(Nearest::default());
            };
            let selection = self.selection(transaction, filter).await?;
            self.nearest_of(transaction, &model, vector, filter, &selection, with_spare(k)).await
        })?;
        settle(self, &mut found.hits, k)?;
        Ok(found)
    }

    fn similarities(
        &self,
        model: &str,
        vector: &[f32],
        filter: &Filter,
        ids: &[PassageId],
    ) -> Result<Vec<Option<f32>>> {
        self.connections.read_of(&filter.namespaces, async |transaction| {
            match model_of(transaction, model, vector).await? {
                Some(model) => self.similarities_of(transaction, &model, vector, filter, ids).await,
                None => Ok(vec![None; ids.len()]),
            }
        })
    }

    fn vectors(&self, name: &str, ids: &[PassageId]) -> Result<Vec<Option<Vec<f32>>>> {
        self.connections.read(async |transaction| {
            let Some(model) = model(transaction, name).await? else {
                return Ok(vec![None; ids.len()]);
            };
            let found = of_passages(transaction, &model, None, ids).await?;
            Ok(ids.iter().map(|id| found.get(id).map(|(_, stored)| stored.clone())).collect())
        })
    }

    fn models(&self) -> Result<Vec<ModelKey>> {
        self.connections.read(async |transaction| {
            let rows = transaction.query("SELECT name, dimension FROM models ORDER BY name", &[]).await?;
            let key = |row: &tokio_postgres::Row| ModelKey { id: row.get(0), dimension: row.get::<_, i32>(1) as usize };
            Ok(rows.iter().map(key).collect())
        })
    }

    fn text_vectors(&self, namespace: &str, name: &str, texts: &[TextHash]) -> Result<Vec<Option<Vec<f32>>>> {
        let select = "SELECT v.text_hash, vector_send(v.embedding) FROM vectors v WHERE v.namespace = $1 AND v.model = $2 \
             AND v.text_hash = ANY($3) \
             AND EXISTS (SELECT 1 FROM passages p WHERE p.namespace = $1 AND p.text_hash = v.text_hash)";
        self.connections.read(async |transaction| {
            let Some(model) = model(transaction, name).await? else {
                return Ok(vec![None; texts.len()]);
            };
            let statement = transaction.prepare_cached(select).await?;
            let mut found: HashMap<TextHash, Vec<f32>> = HashMap::with_capacity(texts.len());
            for batch in texts.chunks(BATCH) {
                let hashes: Vec<&[u8]> = batch.iter().map(|text| text.0.as_slice()).collect();
                for row in transaction.query(&statement, &[&namespace, &model.number, &hashes]).await? {
                    let Vector(vector) = row.get(1);
                    found.insert(TextHash(super::unembedded::hash(row.get(0))?), vector);
                }
            }
            Ok(texts.iter().map(|text| found.get(text).cloned()).collect())
        })
    }

    fn coverage(&self, name: &str, filter: &Filter) -> Result<Coverage> {
        self.connections.read_of(&filter.namespaces, async |transaction| {
            let selection = self.selection(transaction, filter).await?;
            match model(transaction, name).await? {
                Some(model) => self.coverage_of(transaction, &model, filter, &selection).await,
                None => Ok(Coverage { passages: selection.count, embedded: 0 }),
            }
        })
    }
}

/// Stores vectors of unit length in each namespace whose passages have the text and lack its vector. Returns how many texts got one,
/// and the namespaces that changed.
async fn put(
    transaction: &Transaction<'_>,
    model: &Model,
    vectors: &[(TextHash, Vec<f32>)],
) -> Result<(u64, Vec<String>), Failure> {
    let namespaces: Vec<String> = transaction
        .query("SELECT namespace FROM namespaces WHERE passages > 0", &[])
        .await?
        .iter()
        .map(|row| row.get(0))
        .collect();
    let insert = transaction
        .prepare(
            "INSERT INTO vectors(namespace, model, text_hash, embedding) \
             SELECT p.namespace, $1, g.text_hash, g.embedding FROM unnest($2::bytea[], $3::vector[]) AS g(text_hash, embedding) \
             CROSS JOIN LATERAL (SELECT DISTINCT namespace FROM passages WHERE namespace = ANY($4) AND text_hash = g.text_hash) AS p \
             ON CONFLICT DO NOTHING RETURNING namespace, text_hash",
        )
        .await?;
    // Of two vectors of a text, the first one counts.
    let mut seen = HashSet::new();
    let mut distinct: Vec<&(TextHash, Vec<f32>)> = vectors.iter().filter(|(hash, _)| seen.insert(*hash)).collect();
    // In one order everywhere, so that nobody waits in a circle.
    distinct.sort_unstable_by_key(|(hash, _)| *hash);
    let mut changed: BTreeSet<String> = BTreeSet::new();
    let mut stored: HashSet<Vec<u8>> = HashSet::new();
    for batch in distinct.chunks(BATCH) {
        let hashes: Vec<&[u8]> = batch.iter().map(|(hash, _)| hash.0.as_slice()).collect();
        let units: Vec<Vector> = batch.iter().map(|(_, vector)| Vector::unit(vector)).collect();
        for row in transaction.query(&insert, &[&model.number, &hashes, &units, &namespaces]).await? {
            changed.insert(row.get(0));
            stored.insert(row.get(1));
        }
    }
    Ok((stored.len() as u64, changed.into_iter().collect()))
}

/// The vectors of passages, with their documents. `scope` has their namespaces, where they are known.
pub(super) async fn of_passages(
    transaction: &Transaction<'_>,
    model: &Model,
    scope: Option<&Scope>,
    ids: &[PassageId],
) -> Result<HashMap<PassageId, (DocumentId, Vec<f32>)>, Failure> {
    let mut found = HashMap::with_capacity(ids.len());
    for batch in ids.chunks(BATCH) {
        let numbers: Vec<i64> = batch.iter().filter_map(|id| i64::try_from(id.0).ok()).collect();
        let mut statement = Statement::new(
            "SELECT q.passage, q.document, vector_send(v.embedding) FROM passages q \
             JOIN vectors v ON v.namespace = q.namespace AND v.text_hash = q.text_hash WHERE v.model = ",
        );
        statement.bind(&model.number, Type::INT4).push(" AND q.passage = ANY(").numbers(&numbers).push(")");
        if let Some(scope) = scope {
            statement.push(" AND q.namespace = ANY(").texts(&scope.namespaces).push(")");
        }
        for row in statement.query(transaction).await? {
            let Vector(vector) = row.get(2);
            if vector.len() != model.dimension {
                let reason = format!(
                    "the vector of passage {} under model {} has {} dimensions, not {}",
                    row.get::<_, i64>(0),
                    model.name,
                    vector.len(),
                    model.dimension
                );
                return Err(StoreError::Corrupt { path: "postgres".into(), reason }.into());
            }
            found.insert(passage(row.get(0)), (document(row.get(1)), vector));
        }
    }
    Ok(found)
}
