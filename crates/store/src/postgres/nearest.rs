//! The passages most similar to a vector, and its similarity to all others.

use deadpool_postgres::Transaction;
use tokio_postgres::types::Type;

use super::PostgresStore;
use super::error::Failure;
use super::models::Model;
use super::scope::Scope;
use super::select::{STORED, Selection, passage};
use super::statement::Statement;
use super::vector_index;
use super::vector_type::Vector;
use super::vectors::of_passages;
use super::vectors_in_memory::{Exact, VectorsInMemory, at_ranks, failed, key, with_vectors};
use crate::filter::Filter;
use crate::hits::{Background, Nearest, SemanticHit};
use crate::record::{DocumentId, PassageId};
use crate::vectors::{self, Effort, cosine};

/// A thread that waits for others may begin another search meanwhile, which must not happen while this one has a connection.
fn alone() -> Effort {
    Effort { in_parallel: false, ..Effort::default() }
}

impl PostgresStore {
    /// The `k` selected passages most similar to a vector.
    ///
    /// The vectors of small namespaces are all in memory, with the codes that the embedded store has. In large ones a short list of
    /// passages is scored by the server, and a long one searched by its index, with a background that is measured on a sample.
    pub(super) async fn nearest_of(
        &self,
        transaction: &Transaction<'_>,
        model: &Model,
        vector: &[f32],
        filter: &Filter,
        selection: &Selection,
        k: usize,
    ) -> Result<Nearest, Failure> {
        let count = k.saturating_add(k / 2).saturating_add(32);
        let unit = Vector::unit(vector).0;
        let scope = &selection.scope;
        let (mut hits, background) = if scope.total.passages as usize <= self.legs.sizes.few {
            self.of_few(transaction, model, vector, selection, count).await?
        } else if selection.listed().is_some() {
            let scored = scored(transaction, model, &unit, |statement| selection.among(statement, STORED)).await?;
            let (candidates, background) = of_all(scored, count);
            (compared(vector, of_passages(transaction, model, Some(scope), &candidates).await?), background)
        } else {
            let candidates = vector_index::search(transaction, model, &unit, selection, count).await?;
            let coverage = self.coverage_of(transaction, model, filter, selection).await?;
            let mut sample = self.sample(transaction, model, vector, selection).await?;
            let hits = compared(vector, of_passages(transaction, model, Some(scope), &candidates).await?);
            let mut top: Vec<f32> = hits.iter().map(|hit| hit.similarity).collect();
            top.sort_unstable_by(|a, b| b.total_cmp(a));
            (hits, vectors::Background::new(coverage.embedded as usize, &mut sample, &top))
        };
        hits.sort_by(|a, b| b.similarity.total_cmp(&a.similarity).then(a.passage.cmp(&b.passage)));
        hits.truncate(k);
        Ok(Nearest { hits, background: Background::from(background) })
    }

    /// The similarities of a vector to passages, in the order given.
    pub(super) async fn similarities_of(
        &self,
        transaction: &Transaction<'_>,
        model: &Model,
        vector: &[f32],
        filter: &Filter,
        ids: &[PassageId],
    ) -> Result<Vec<Option<f32>>, Failure> {
        let scope = Scope::read(transaction, filter).await?;
        let resident = &self.legs.vectors;
        if scope.total.passages as usize <= self.legs.sizes.few && resident.has(&key(&scope, model)) {
            let compare = |vectors: &VectorsInMemory| {
                let similarity = |id: &PassageId| vectors.similarity(vector, *id).map(|(_, similarity)| similarity);
                Ok(ids.iter().map(similarity).collect())
            };
            return with_vectors(resident, transaction, &scope, model, self.legs.sizes, compare).await;
        }
        let scope = (!filter.namespaces.is_empty()).then_some(&scope);
        let found = of_passages(transaction, model, scope, ids).await?;
        Ok(ids.iter().map(|id| found.get(id).map(|(_, stored)| cosine(vector, stored))).collect())
    }

    /// Hits and background of small namespaces.
    async fn of_few(
        &self,
        transaction: &Transaction<'_>,
        model: &Model,
        vector: &[f32],
        selection: &Selection,
        count: usize,
    ) -> Result<(Vec<SemanticHit>, vectors::Background), Failure> {
        let search = |vectors: &VectorsInMemory| {
            let found = match selection.listed() {
                None => vectors.codes.nearest_with(vector, None, count, &alone()),
                Some(listed) => {
                    let rows = vectors.codes.rows_of_passages(&|id| listed.binary_search(&(id as i64)).is_ok());
                    vectors.codes.nearest_among_with(vector, &rows, count, &alone())
                }
            };
            let found = found.map_err(|error| failed(model, error))?;
            let passages = found.hits.iter().map(|hit| PassageId(hit.passage));
            let hits = passages.filter_map(|passage| {
                let (document, similarity) = vectors.similarity(vector, passage)?;
                Some(SemanticHit { passage, document, similarity })
            });
            Ok((hits.collect(), found.background))
        };
        with_vectors(&self.legs.vectors, transaction, &selection.scope, model, self.legs.sizes, search).await
    }

    /// The similarities of a sample of a large selection.
    async fn sample(
        &self,
        transaction: &Transaction<'_>,
        model: &Model,
        vector: &[f32],
        selection: &Selection,
    ) -> Result<Vec<f32>, Failure> {
        if selection.is_by_namespace() {
            let measure = |vectors: &VectorsInMemory| {
                let codes = &vectors.codes;
                let found = codes.nearest_with(vector, None, codes.len(), &alone());
                let found = found.map_err(|error| failed(model, error))?;
                Ok(found.hits.iter().map(|hit| hit.similarity).collect())
            };
            let scope = &selection.scope;
            return with_vectors(&self.legs.vectors, transaction, scope, model, self.legs.sizes, measure).await;
        }
        let passages = match selection.sample.get() {
            Some(passages) => passages,
            None => {
                let ranks = self.legs.sizes.ranks(selection.count as usize);
                let passages = at_ranks(transaction, &ranks, |statement| selection.among(statement, STORED)).await?;
                selection.sample.get_or_init(|| passages)
            }
        };
        let unit = Vector::unit(vector).0;
        let scored = scored(transaction, model, &unit, |statement| {
            statement.push("q.namespace = ANY(").texts(&selection.scope.namespaces);
            statement.push(") AND q.passage = ANY(").numbers(passages).push(")");
        });
        Ok(scored.await?.into_iter().map(|(_, similarity)| similarity).collect())
    }
}

/// Passages compared with a vector.
fn compared(vector: &[f32], passages: Exact) -> Vec<SemanticHit> {
    let hit = |(passage, (document, stored)): (PassageId, (DocumentId, Vec<f32>))| SemanticHit {
        passage,
        document,
        similarity: cosine(vector, &stored),
    };
    passages.into_iter().map(hit).collect()
}

/// The similarities of passages by the server. The stored vectors have unit length, and so has `unit`.
async fn scored<'s>(
    transaction: &Transaction<'_>,
    model: &'s Model,
    unit: &'s Vec<f32>,
    restrict: impl FnOnce(&mut Statement<'s>),
) -> Result<Vec<(PassageId, f32)>, Failure> {
    let mut statement = Statement::new("SELECT q.passage, -(v.embedding <#> ");
    statement.bind(unit, Type::FLOAT4_ARRAY).push(
        "::vector) FROM passages q JOIN vectors v ON v.namespace = q.namespace \
        AND v.text_hash = q.text_hash WHERE v.model = ",
    );
    statement.bind(&model.number, Type::INT4).push(" AND ");
    restrict(&mut statement);
    let rows = statement.query(transaction).await?;
    Ok(rows.iter().map(|row| (passage(row.get(0)), row.get::<_, f64>(1) as f32)).collect())
}

/// The best of scored passages, and the background of all of them.
fn of_all(mut scored: Vec<(PassageId, f32)>, count: usize) -> (Vec<PassageId>, vectors::Background) {
    let mut similarities: Vec<f32> = scored.iter().map(|(_, similarity)| *similarity).collect();
    let background = vectors::Background::new(similarities.len(), &mut similarities, &[]);
    scored.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    scored.truncate(count);
    (scored.into_iter().map(|(passage, _)| passage).collect(), background)
}
