//! The vectors of passages in the database. A short list of passages is scored by the server, and a long one searched by its index,
//! with a background that is measured on a sample.

use deadpool_postgres::Transaction;
use tokio_postgres::types::Type;

use super::super::error::Failure;
use super::super::legs::Legs;
use super::super::rows::passage_id;
use super::super::select::{STORED, Selection};
use super::super::statement::Statement;
use super::in_memory::at_ranks;
use super::index;
use super::stored::{Exact, of_passages};
use super::vector_type::Vector;
use crate::content::Model;
use crate::filter::Filter;
use crate::hits::SemanticHit;
use crate::record::{DocumentId, PassageId};
use crate::vectors::{Background, cosine};

/// The vectors of a model in the snapshot of a transaction.
pub(super) struct VectorsInDatabase<'t> {
    pub legs: &'t Legs,
    pub transaction: &'t Transaction<'t>,
    pub model: &'t Model,
}

impl VectorsInDatabase<'_> {
    /// About the `count` passages of a selection that are most similar to a vector, and the background.
    pub async fn nearest(
        &self,
        vector: &[f32],
        filter: &Filter,
        selection: &Selection,
        count: usize,
    ) -> Result<(Vec<SemanticHit>, Background), Failure> {
        let (transaction, model, scope) = (self.transaction, self.model, &selection.scope);
        let unit = Vector::unit(vector).0;
        if selection.listed().is_some() {
            let scored = scored(transaction, model, &unit, |statement| selection.among(statement, STORED)).await?;
            let (candidates, background) = of_all(scored, count);
            return Ok((
                compared(vector, of_passages(transaction, model, &scope.namespaces, &candidates).await?),
                background,
            ));
        }
        let candidates = index::search(transaction, model, &unit, selection, count).await?;
        let coverage = self.legs.coverage(transaction, model, filter, selection).await?;
        let mut sample = self.sample(vector, selection).await?;
        let hits = compared(vector, candidates);
        let mut top: Vec<f32> = hits.iter().map(|hit| hit.similarity).collect();
        top.sort_unstable_by(|a, b| b.total_cmp(a));
        Ok((hits, Background::new(coverage.embedded as usize, &mut sample, &top)))
    }

    /// The similarities of a vector to passages, in the order given. The passages are of these namespaces, or of
    /// any if none is named.
    pub async fn similarities(
        &self,
        vector: &[f32],
        namespaces: &[String],
        ids: &[PassageId],
    ) -> Result<Vec<Option<f32>>, Failure> {
        let found = of_passages(self.transaction, self.model, namespaces, ids).await?;
        Ok(ids.iter().map(|id| found.get(id).map(|(_, stored)| cosine(vector, stored))).collect())
    }

    /// The similarities of a sample of a large selection.
    async fn sample(&self, vector: &[f32], selection: &Selection) -> Result<Vec<f32>, Failure> {
        let (transaction, model) = (self.transaction, self.model);
        if selection.is_by_namespace() {
            return self.legs.vectors(transaction, &selection.scope, model).await?.measure(model, vector);
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
    Ok(rows.iter().map(|row| (passage_id(row.get(0)), row.get::<_, f64>(1) as f32)).collect())
}

/// The best of scored passages, and the background of all of them.
fn of_all(mut scored: Vec<(PassageId, f32)>, count: usize) -> (Vec<PassageId>, Background) {
    let mut similarities: Vec<f32> = scored.iter().map(|(_, similarity)| *similarity).collect();
    let background = Background::new(similarities.len(), &mut similarities, &[]);
    scored.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    scored.truncate(count);
    (scored.into_iter().map(|(passage, _)| passage).collect(), background)
}
