//! Searching by similarity.
//!
//! `stored` writes and reads the vectors of models as the server's `vector_type`, `adopt` takes vectors
//! from other namespaces, and `unembedded` and `coverage` say what lacks one. The vectors of small namespaces are all kept `in_memory`,
//! with the codes that the embedded store has; those of large ones are sought `in_database`, where the server's `index` helps.

pub(super) mod adopt;
pub(super) mod coverage;
mod in_database;
pub(super) mod in_memory;
pub(super) mod index;
mod stored;
mod unembedded;
pub(super) mod vector_type;

use std::collections::HashMap;

use deadpool_postgres::Transaction;

use super::error::Failure;
use super::namespaces::NOW_MS;
use super::rows::text_hash;
use super::scope::Scope;
use super::store::PostgresStore;
use crate::content::{Content, Model, check_query, check_vectors, model, model_keys, register};
use crate::error::Result;
use crate::filter::Filter;
use crate::hits::{Background, Nearest};
use crate::record::{ModelKey, PassageId, TextHash, TextToEmbed};
use crate::report::Coverage;
use crate::store::VectorLeg;
use crate::ties::{settle, with_spare};
use in_database::VectorsInDatabase;
use in_memory::key;
use stored::{BATCH, of_passages, put};
use vector_type::Vector;

/// A number that no model has.
const NO_MODEL: i32 = -1;

impl VectorLeg for PostgresStore {
    fn unembedded(&self, name: &str, filter: &Filter, limit: usize) -> Result<Vec<TextToEmbed>> {
        self.connections.read_of(&filter.namespaces, async |transaction| {
            let number = self.model(transaction, name).await?.map_or(NO_MODEL, |model| model.number);
            let selection = self.legs.selection(transaction, filter).await?;
            self.legs.unembedded(transaction, number, &selection, limit).await
        })
    }

    fn put_vectors(&self, model: &ModelKey, vectors: &[(TextHash, Vec<f32>)]) -> Result<u64> {
        check_vectors(model, vectors)?;
        let raise = format!(
            "UPDATE namespaces SET change_number = change_number + 1, changed_ms = {NOW_MS} WHERE namespace = ANY($1)"
        );
        self.connections.write(async |transaction| {
            let model = register(&self.connections.content(transaction), model).await?;
            let (stored, changed) = put(transaction, &model, vectors).await?;
            self.lock_namespaces(transaction, changed.iter().map(String::as_str)).await?;
            transaction.execute(&raise, &[&changed]).await?;
            self.note(transaction, &changed.iter().map(String::as_str).collect::<Vec<_>>()).await?;
            Ok(stored)
        })
    }

    fn nearest(&self, model: &str, vector: &[f32], filter: &Filter, k: usize) -> Result<Nearest> {
        let mut found = self.connections.read_of(&filter.namespaces, async |transaction| {
            let Some(model) = self.model_of(transaction, model, vector).await? else {
                return Ok(Nearest::default());
            };
            let selection = self.legs.selection(transaction, filter).await?;
            let k = with_spare(k);
            let count = k.saturating_add(k / 2).saturating_add(32);
            let (mut hits, background) = if self.is_small(&selection.scope) {
                let vectors = self.legs.vectors(transaction, &selection.scope, &model).await?;
                vectors.nearest(&model, vector, &selection, count)?
            } else {
                let vectors = VectorsInDatabase { legs: &self.legs, transaction, model: &model };
                vectors.nearest(vector, filter, &selection, count).await?
            };
            hits.sort_by(|a, b| b.similarity.total_cmp(&a.similarity).then(a.passage.cmp(&b.passage)));
            hits.truncate(k);
            Ok(Nearest { hits, background: Background::from(background) })
        })?;
        settle(self, &filter.namespaces, &mut found.hits, k)?;
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
            let Some(model) = self.model_of(transaction, model, vector).await? else {
                return Ok(vec![None; ids.len()]);
            };
            let scope = Scope::read(transaction, filter).await?;
            if self.is_small(&scope) && self.legs.vectors.has(&key(&scope, &model)) {
                return Ok(self.legs.vectors(transaction, &scope, &model).await?.similarities(vector, ids));
            }
            let vectors = VectorsInDatabase { legs: &self.legs, transaction, model: &model };
            match filter.namespaces.is_empty() {
                true => vectors.similarities(vector, &[], ids).await,
                false if scope.namespaces.is_empty() => Ok(vec![None; ids.len()]),
                false => vectors.similarities(vector, &scope.namespaces, ids).await,
            }
        })
    }

    fn vectors(&self, name: &str, namespaces: &[String], ids: &[PassageId]) -> Result<Vec<Option<Vec<f32>>>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        self.connections.read(async |transaction| {
            let Some(model) = self.model(transaction, name).await? else {
                return Ok(vec![None; ids.len()]);
            };
            let found = of_passages(transaction, &model, namespaces, ids).await?;
            Ok(ids.iter().map(|id| found.get(id).map(|(_, stored)| stored.clone())).collect())
        })
    }

    fn models(&self) -> Result<Vec<ModelKey>> {
        self.ask(async |session| model_keys(session).await)
    }

    fn text_vectors(&self, namespace: &str, name: &str, texts: &[TextHash]) -> Result<Vec<Option<Vec<f32>>>> {
        let select = "SELECT v.text_hash, vector_send(v.embedding) FROM vectors v WHERE v.namespace = $1 AND v.model = $2 \
             AND v.text_hash = ANY($3) \
             AND EXISTS (SELECT 1 FROM passages p WHERE p.namespace = $1 AND p.text_hash = v.text_hash)";
        self.connections.read(async |transaction| {
            let Some(model) = self.model(transaction, name).await? else {
                return Ok(vec![None; texts.len()]);
            };
            let statement = transaction.prepare_cached(select).await?;
            let mut found: HashMap<TextHash, Vec<f32>> = HashMap::with_capacity(texts.len());
            for batch in texts.chunks(BATCH) {
                let hashes: Vec<&[u8]> = batch.iter().map(|text| text.0.as_slice()).collect();
                for row in transaction.query(&statement, &[&namespace, &model.number, &hashes]).await? {
                    let Vector(vector) = row.get(1);
                    found.insert(text_hash(row.get(0)), vector);
                }
            }
            Ok(texts.iter().map(|text| found.get(text).cloned()).collect())
        })
    }

    fn coverage(&self, name: &str, filter: &Filter) -> Result<Coverage> {
        self.connections.read_of(&filter.namespaces, async |transaction| {
            let selection = self.legs.selection(transaction, filter).await?;
            match self.model(transaction, name).await? {
                Some(model) => self.legs.coverage(transaction, &model, filter, &selection).await,
                None => Ok(Coverage { passages: selection.count, embedded: 0 }),
            }
        })
    }
}

impl PostgresStore {
    /// Returns a model by name.
    async fn model(&self, transaction: &Transaction<'_>, name: &str) -> Result<Option<Model>, Failure> {
        model(&self.connections.content(transaction), name).await
    }

    /// Returns a known model, after checking that the query's vector fits it.
    async fn model_of(
        &self,
        transaction: &Transaction<'_>,
        name: &str,
        vector: &[f32],
    ) -> Result<Option<Model>, Failure> {
        let model = self.model(transaction, name).await?;
        model.iter().try_for_each(|model| check_query(model, vector))?;
        Ok(model)
    }

    /// Returns `true` if the vectors of these namespaces are searched in memory.
    fn is_small(&self, scope: &Scope) -> bool {
        scope.total.passages as usize <= self.legs.sizes.few
    }
}
