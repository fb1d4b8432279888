//! Storing vectors, and reading those of passages.

use std::collections::{BTreeSet, HashMap, HashSet};

use deadpool_postgres::Transaction;
use tokio_postgres::types::Type;

use super::PostgresStore;
use super::error::Failure;
use super::models::{Model, NO_MODEL, model, model_of, register};
use super::namespaces::NOW_MS;
use super::scope::Scope;
use super::select::{STORED, Selection, document, passage};
use super::statement::Statement;
use super::vector_type::Vector;
use crate::error::{Result, StoreError};
use crate::filter::Filter;
use crate::hits::Nearest;
use crate::record::{DocumentId, ModelKey, PassageId, TextHash, TextToEmbed};
use crate::report::Coverage;
use crate::store::VectorLeg;
use crate::vectors::cosine;

/// Most vectors of one statement.
const BATCH: usize = 1_000;

impl VectorLeg for PostgresStore {
    fn unembedded(&self, name: &str, filter: &Filter, limit: usize) -> Result<Vec<TextToEmbed>> {
        self.connections.read(async |transaction| {
            let number = model(transaction, name).await?.map_or(NO_MODEL, |model| model.number);
            let selection = self.selection(transaction, filter).await?;
            unembedded(transaction, number, &selection, limit).await
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
        self.connections.read(async |transaction| {
            let Some(model) = model_of(transaction, model, vector).await? else {
                return Ok(Nearest::default());
            };
            let selection = self.selection(transaction, filter).await?;
            self.nearest_of(transaction, &model, vector, filter, &selection, k).await
        })
    }

    fn similarities(&self, model: &str, vector: &[f32], ids: &[PassageId]) -> Result<Vec<Option<f32>>> {
        self.connections.read(async |transaction| {
            let Some(model) = model_of(transaction, model, vector).await? else {
                return Ok(vec![None; ids.len()]);
            };
            let found = of_passages(transaction, &model, None, ids).await?;
            Ok(ids.iter().map(|id| found.get(id).map(|(_, stored)| cosine(vector, stored))).collect())
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

    fn coverage(&self, name: &str, filter: &Filter) -> Result<Coverage> {
        self.connections.read(async |transaction| {
            let selection = self.selection(transaction, filter).await?;
            match model(transaction, name).await? {
                Some(model) => self.coverage_of(transaction, &model, filter, &selection).await,
                None => Ok(Coverage { passages: selection.count, embedded: 0 }),
            }
        })
    }
}

impl PostgresStore {
    /// Counts the selected passages that have a vector of a model.
    pub(super) async fn coverage_of(
        &self,
        transaction: &Transaction<'_>,
        model: &Model,
        filter: &Filter,
        selection: &Selection,
    ) -> Result<Coverage, Failure> {
        let passages = selection.count;
        let whole = Filter { namespaces: filter.namespaces.clone(), ..Filter::default() };
        let all = self.whole_coverage(transaction, model, whole, selection).await?;
        // Where a model covers all passages, or none, the selected ones need not be counted.
        let embedded = match all {
            _ if selection.is_by_namespace() => all.embedded,
            all if all.embedded == all.passages => passages,
            all if all.embedded == 0 => 0,
            _ => embedded(transaction, model, |statement| selection.among(statement, STORED)).await?,
        };
        Ok(Coverage { passages, embedded })
    }

    /// The coverage of all passages of the namespaces.
    async fn whole_coverage(
        &self,
        transaction: &Transaction<'_>,
        model: &Model,
        filter: Filter,
        selection: &Selection,
    ) -> Result<Coverage, Failure> {
        let scope = &selection.scope;
        let known =
            |(state, name, of): &(_, String, Filter)| *state == scope.state && *name == model.name && *of == filter;
        if let Some(coverage) = self.legs.coverages.get(known) {
            return Ok(coverage);
        }
        let embedded = embedded(transaction, model, |statement| {
            statement.push("q.namespace = ANY(").texts(&scope.namespaces).push(")");
        });
        let coverage = Coverage { passages: scope.total.passages, embedded: embedded.await? };
        self.legs.coverages.retain(|(state, name, of)| *name != model.name || *of != filter || *state == scope.state);
        self.legs.coverages.push((scope.state.clone(), model.name.clone(), filter), coverage);
        Ok(coverage)
    }
}

/// Counts passages with a vector.
async fn embedded<'s>(
    transaction: &Transaction<'_>,
    model: &'s Model,
    restrict: impl FnOnce(&mut Statement<'s>),
) -> Result<u64, Failure> {
    let mut statement = Statement::new(
        "SELECT count(*) FROM passages q JOIN vectors v ON v.namespace = q.namespace \
        AND v.text_hash = q.text_hash WHERE v.model = ",
    );
    statement.bind(&model.number, Type::INT4).push(" AND ");
    restrict(&mut statement);
    Ok(statement.query(transaction).await?.first().map_or(0, |row| row.get::<_, i64>(0)) as u64)
}

/// Texts of selected passages without a vector, by their first passage.
async fn unembedded(
    transaction: &Transaction<'_>,
    model: i32,
    selection: &Selection,
    limit: usize,
) -> Result<Vec<TextToEmbed>, Failure> {
    let mut statement = Statement::new(
        "SELECT f.text_hash, coalesce(t.embedded_text, t.before_text || t.text) FROM (\
         SELECT q.text_hash, min(q.passage) AS passage FROM passages q WHERE NOT EXISTS (\
         SELECT 1 FROM vectors v WHERE v.namespace = q.namespace AND v.text_hash = q.text_hash AND v.model = ",
    );
    statement.bind(&model, Type::INT4).push(") AND ");
    selection.among(&mut statement, STORED);
    statement.push(" GROUP BY q.text_hash ORDER BY passage LIMIT ");
    statement.push_number(u32::try_from(limit).unwrap_or(i32::MAX as u32));
    statement.push(") AS f JOIN passages t ON t.passage = f.passage WHERE t.namespace = ANY(");
    statement.texts(&selection.scope.namespaces).push(") ORDER BY f.passage");
    let read = |row: &tokio_postgres::Row| Ok(TextToEmbed { hash: TextHash(hash(row.get(0))?), text: row.get(1) });
    statement.query(transaction).await?.iter().map(read).collect()
}

fn hash(bytes: &[u8]) -> Result<[u8; 32], Failure> {
    let damaged =
        |_| StoreError::Corrupt { path: "postgres".into(), reason: "a text's hash has another length".to_owned() };
    Ok(bytes.try_into().map_err(damaged)?)
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
