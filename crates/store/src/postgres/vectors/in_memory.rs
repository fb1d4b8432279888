//! Vectors in memory, for the similarity of a query to everything: codes of all passages of small namespaces, with the vectors
//! themselves, and codes of a sample of large ones.

use std::collections::HashSet;

use deadpool_postgres::Transaction;
use tokio_postgres::types::Type;

use super::super::error::Failure;
use super::super::resident::Content;
use super::super::scope::Scope;
use super::super::select::Selection;
use super::super::sizes::Sizes;
use super::super::statement::Statement;
use super::stored::{BATCH, Exact, of_passages};
use crate::content::Model;
use crate::error::StoreError;
use crate::hits::SemanticHit;
use crate::record::{DocumentId, PassageId};
use crate::vectors::{Background, Effort, Owner, VectorIndex, cosine};

/// A thread that waits for others may begin another search meanwhile, which must not happen while this one has a connection.
fn alone() -> Effort {
    Effort { in_parallel: false, ..Effort::default() }
}

/// What vectors are of.
#[derive(Debug, PartialEq, Eq)]
pub(in super::super) struct Key {
    namespaces: Vec<String>,
    model: i32,
    dimension: usize,
}

/// The vectors of some namespaces.
#[derive(Debug)]
pub(in super::super) struct VectorsInMemory {
    codes: VectorIndex,
    /// The document and the vector of each passage; of a sample, none.
    exact: Exact,
}

impl Content for VectorsInMemory {
    fn bytes(&self) -> usize {
        let dimension = self.codes.dimension();
        self.codes.len() * (dimension.next_multiple_of(64) + 64) + self.exact.len() * (4 * dimension + 80)
    }
}

impl VectorsInMemory {
    fn new(model: &Model) -> Result<VectorsInMemory, Failure> {
        let codes = VectorIndex::new(model.dimension).map_err(|error| failed(model, error))?;
        Ok(VectorsInMemory { codes, exact: Exact::new() })
    }

    /// The similarity of a vector to a passage of small namespaces, and its document; `None` without a vector.
    fn compared(&self, vector: &[f32], passage: PassageId) -> Option<(DocumentId, f32)> {
        self.exact.get(&passage).map(|(document, stored)| (*document, cosine(vector, stored)))
    }

    /// The similarities of a vector to passages of small namespaces, in the order given.
    pub fn similarities(&self, vector: &[f32], ids: &[PassageId]) -> Vec<Option<f32>> {
        ids.iter().map(|id| self.compared(vector, *id).map(|(_, similarity)| similarity)).collect()
    }

    /// About the `count` passages of a selection of small namespaces that are most similar to a vector, and the background.
    pub fn nearest(
        &self,
        model: &Model,
        vector: &[f32],
        selection: &Selection,
        count: usize,
    ) -> Result<(Vec<SemanticHit>, Background), Failure> {
        let found = match selection.listed() {
            None => self.codes.nearest_with(vector, None, count, &alone()),
            Some(listed) => {
                let rows = self.codes.rows_of_passages(&|id| listed.binary_search(&(id as i64)).is_ok());
                self.codes.nearest_among_with(vector, &rows, count, &alone())
            }
        };
        let found = found.map_err(|error| failed(model, error))?;
        let hits = found.hits.iter().filter_map(|hit| {
            let passage = PassageId(hit.passage);
            let (document, similarity) = self.compared(vector, passage)?;
            Some(SemanticHit { passage, document, similarity })
        });
        Ok((hits.collect(), found.background))
    }

    /// The similarities of a vector to all passages that are kept.
    pub fn measure(&self, model: &Model, vector: &[f32]) -> Result<Vec<f32>, Failure> {
        let found = self.codes.nearest_with(vector, None, self.codes.len(), &alone());
        let found = found.map_err(|error| failed(model, error))?;
        Ok(found.hits.iter().map(|hit| hit.similarity).collect())
    }
}

/// What vectors of some namespaces in memory are of.
pub(in super::super) fn key(scope: &Scope, model: &Model) -> Key {
    Key { namespaces: scope.namespaces.clone(), model: model.number, dimension: model.dimension }
}

/// Brings vectors up to the snapshot of a transaction: those of passages that are gone leave, and new ones come in.
pub(in super::super) async fn catch_up(
    transaction: &Transaction<'_>,
    scope: &Scope,
    model: &Model,
    sizes: Sizes,
    known: Option<VectorsInMemory>,
) -> Result<VectorsInMemory, Failure> {
    let is_small = scope.total.passages as usize <= sizes.few;
    // What is known of a namespace that was large has no vectors, and the other way round it has too many.
    let known = known.filter(|known| known.exact.len() == if is_small { known.codes.len() } else { 0 });
    let mut vectors = known.map_or_else(|| VectorsInMemory::new(model), Ok)?;
    let wanted = wanted(transaction, scope, model, sizes).await?;
    let known: HashSet<u64> = vectors.codes.passages().collect();
    let missing: Vec<PassageId> = wanted.iter().filter(|id| !known.contains(*id)).map(|id| PassageId(*id)).collect();
    // Rows leave an index one by one, so one that keeps little is made anew.
    if missing.len() == wanted.len() {
        vectors = VectorsInMemory::new(model)?;
    } else {
        let wanted: HashSet<u64> = wanted.into_iter().collect();
        known.iter().filter(|id| !wanted.contains(*id)).for_each(|id| {
            vectors.codes.delete(*id);
            vectors.exact.remove(&PassageId(*id));
        });
    }
    for batch in missing.chunks(BATCH) {
        for (passage, (document, vector)) in of_passages(transaction, model, &scope.namespaces, batch).await? {
            let owner = Owner::from(document.0);
            vectors.codes.add(passage.0, owner, &vector).map_err(|error| failed(model, error))?;
            if is_small {
                vectors.exact.insert(passage, (document, vector));
            }
        }
    }
    Ok(vectors)
}

/// The passages whose vectors are kept: all with a vector, or those of a sample.
async fn wanted(
    transaction: &Transaction<'_>,
    scope: &Scope,
    model: &Model,
    sizes: Sizes,
) -> Result<Vec<u64>, Failure> {
    let total = scope.total.passages as usize;
    let sample = if total <= sizes.few {
        None
    } else {
        let ranks = sizes.ranks(total);
        let found = at_ranks(transaction, &ranks, |statement| {
            statement.push("q.namespace = ANY(").texts(&scope.namespaces).push(")");
        });
        Some(found.await?)
    };
    let mut statement = Statement::new("SELECT q.passage FROM passages q WHERE q.namespace = ANY(");
    statement.texts(&scope.namespaces).push(") AND ");
    if let Some(sample) = &sample {
        statement.push("q.passage = ANY(").numbers(sample).push(") AND ");
    }
    statement.push(
        "EXISTS (SELECT 1 FROM vectors v WHERE v.namespace = q.namespace AND v.text_hash = q.text_hash AND v.model = ",
    );
    statement.bind(&model.number, Type::INT4).push(")");
    Ok(statement.query(transaction).await?.iter().map(|row| row.get::<_, i64>(0) as u64).collect())
}

/// The passages of a restriction at some ranks, from 0, in the order of their numbers.
pub(super) async fn at_ranks<'s>(
    transaction: &Transaction<'_>,
    ranks: &'s Vec<i64>,
    restrict: impl FnOnce(&mut Statement<'s>),
) -> Result<Vec<i64>, Failure> {
    let mut statement = Statement::new(
        "SELECT r.passage FROM (SELECT q.passage, row_number() OVER (ORDER BY q.passage) - 1 AS rank FROM passages q WHERE ",
    );
    restrict(&mut statement);
    statement.push(") AS r WHERE r.rank = ANY(").numbers(ranks).push(")");
    Ok(statement.query(transaction).await?.iter().map(|row| row.get(0)).collect())
}

/// The error of vectors in memory.
fn failed(model: &Model, error: crate::vectors::VectorError) -> Failure {
    StoreError::vectors("postgres".as_ref(), &model.name, error).into()
}
