//! Vectors in memory, for the similarity of a query to everything: codes of all passages of small namespaces, with the vectors
//! themselves, and codes of a sample of large ones.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::error::Error;

use deadpool_postgres::Transaction;
use half::f16;
use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, Type};

use crate::content::Model;
use crate::error::StoreError;
use crate::postgres::failure::Failure;
use crate::postgres::select::{Scope, Selection, Statement};
use crate::postgres::session::{document_id, passage_id};
use crate::postgres::{Cached, Sizes};
use crate::record::{DocumentId, PassageId, TextHash};
use crate::retrieval::SemanticHit;
use crate::vectors::{Background, Effort, Owner, VectorIndex, cosine, unit};

/// A thread that waits for others may begin another search meanwhile, which must not happen while this one has a connection.
fn alone() -> Effort {
    Effort { in_parallel: false, ..Effort::default() }
}

/// What vectors are of.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Key {
    namespaces: Vec<String>,
    model: i32,
    dimension: usize,
}

/// The vectors of some namespaces.
#[derive(Debug)]
pub(crate) struct VectorsInMemory {
    codes: VectorIndex,
    /// The document and the vector of each passage; of a sample, none.
    exact: Exact,
}

impl Cached for VectorsInMemory {
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
        let is_among =
            |listed: &Vec<i64>| self.codes.rows_of_passages(&|passage| listed.binary_search(&(passage as i64)).is_ok());
        let rows = selection.listed().map(is_among);
        let found = self.codes.nearest(vector, rows.as_ref(), count, &alone()).map_err(|error| failed(model, error))?;
        let hits = found.hits.iter().filter_map(|hit| {
            let passage = PassageId(hit.passage);
            let (document, similarity) = self.compared(vector, passage)?;
            Some(SemanticHit { passage, document, similarity })
        });
        Ok((hits.collect(), found.background))
    }

    /// The similarities of a vector to all passages that are kept.
    pub fn measure(&self, model: &Model, vector: &[f32]) -> Result<Vec<f32>, Failure> {
        let found = self.codes.nearest(vector, None, self.codes.len(), &alone());
        let found = found.map_err(|error| failed(model, error))?;
        Ok(found.hits.iter().map(|hit| hit.similarity).collect())
    }
}

/// What vectors of some namespaces in memory are of.
pub(crate) fn key(scope: &Scope, model: &Model) -> Key {
    Key { namespaces: scope.namespaces.clone(), model: model.number, dimension: model.dimension }
}

/// Brings vectors up to the snapshot of a transaction: those of passages that are gone leave, and new ones come in.
pub(crate) async fn catch_up(
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
pub(crate) async fn at_ranks<'s>(
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

/// Most vectors of one statement.
pub(crate) const BATCH: usize = 1_000;

/// Begins a statement on `passages q` and `vectors v` whose rows [`exact`] reads.
pub(crate) const EXACT: &str = "SELECT q.passage, q.document, vector_send(v.embedding)";

/// Passages with their documents and vectors.
pub(crate) type Exact = HashMap<PassageId, (DocumentId, Vec<f32>)>;

/// Stores vectors of unit length in each namespace whose passages have the text and lack its vector. Returns how many texts got one,
/// and the namespaces that changed.
pub(crate) async fn put(
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
             SELECT p.namespace, $1, g.text_hash, ($3::real[])[(g.at::integer - 1) * $5 + 1:g.at::integer * $5]::vector \
             FROM unnest($2::bytea[]) WITH ORDINALITY AS g(text_hash, at) \
             CROSS JOIN LATERAL (SELECT DISTINCT namespace FROM passages WHERE namespace = ANY($4) AND text_hash = g.text_hash) AS p \
             ON CONFLICT DO NOTHING RETURNING namespace, text_hash",
        )
        .await?;
    let dimension = model.dimension as i32;
    // Of two vectors of a text, the first one counts.
    let mut seen = HashSet::new();
    let mut distinct: Vec<&(TextHash, Vec<f32>)> = vectors.iter().filter(|(hash, _)| seen.insert(*hash)).collect();
    // In one order everywhere, so that nobody waits in a circle.
    distinct.sort_unstable_by_key(|(hash, _)| *hash);
    let mut changed: BTreeSet<String> = BTreeSet::new();
    let mut stored: HashSet<Vec<u8>> = HashSet::new();
    for batch in distinct.chunks(BATCH) {
        let hashes: Vec<&[u8]> = batch.iter().map(|(hash, _)| hash.0.as_slice()).collect();
        let units: Vec<f32> = batch.iter().flat_map(|(_, vector)| Vector::unit(vector).0).collect();
        for row in transaction.query(&insert, &[&model.number, &hashes, &units, &namespaces, &dimension]).await? {
            changed.insert(row.get(0));
            stored.insert(row.get(1));
        }
    }
    Ok((stored.len() as u64, changed.into_iter().collect()))
}

/// The vectors of passages, with their documents. The passages are of these namespaces, or of any if none is named.
pub(crate) async fn of_passages(
    transaction: &Transaction<'_>,
    model: &Model,
    namespaces: &[String],
    ids: &[PassageId],
) -> Result<Exact, Failure> {
    let mut found = HashMap::with_capacity(ids.len());
    for batch in ids.chunks(BATCH) {
        let numbers: Vec<i64> = batch.iter().filter_map(|id| i64::try_from(id.0).ok()).collect();
        let mut statement = Statement::new(EXACT);
        statement.push(
            " FROM passages q JOIN vectors v ON v.namespace = q.namespace AND v.text_hash = q.text_hash WHERE v.model = ",
        );
        statement.bind(&model.number, Type::INT4).push(" AND q.passage = ANY(").numbers(&numbers).push(")");
        if !namespaces.is_empty() {
            statement.push(" AND q.namespace = ANY(").bind(&namespaces, Type::TEXT_ARRAY).push(")");
        }
        found.extend(exact(&statement.query(transaction).await?, model)?);
    }
    Ok(found)
}

/// Reads rows of [`EXACT`].
pub(crate) fn exact(rows: &[Row], model: &Model) -> Result<Exact, Failure> {
    let read = |row: &Row| {
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
        Ok((passage_id(row.get(0)), (document_id(row.get(1)), vector)))
    };
    rows.iter().map(read).collect()
}

/// A vector of full precision.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Vector(pub Vec<f32>);

impl Vector {
    /// Scales a vector to unit length. Its values have half precision, so that answers are those of a directory.
    pub fn unit(values: &[f32]) -> Vector {
        Vector(unit(values).map(f16::to_f32).collect())
    }
}

/// The bytes before the values.
const HEADER: usize = 4;

impl<'r> FromSql<'r> for Vector {
    fn from_sql(_: &Type, raw: &'r [u8]) -> Result<Vector, Box<dyn Error + Sync + Send>> {
        let (header, values) = raw.split_at_checked(HEADER).ok_or("a vector without its dimensions")?;
        let (values, rest) = values.as_chunks::<4>();
        if values.len() != usize::from(u16::from_be_bytes([header[0], header[1]])) || !rest.is_empty() {
            return Err("a vector of another length than it says".into());
        }
        Ok(Vector(values.iter().map(|bytes| f32::from_be_bytes(*bytes)).collect()))
    }

    /// A statement reads a vector as the bytes of `vector_send`. Looking up a type of an extension while rows of the same statement are
    /// waiting would never end: the connection reads one answer after the other.
    fn accepts(of: &Type) -> bool {
        *of == Type::BYTEA
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn vectors_read_back(values in prop::collection::vec(-1.0f32..1.0, 0..50)) {
            let mut bytes = vec![0, values.len() as u8, 0, 0];
            bytes.extend(values.iter().flat_map(|value| value.to_be_bytes()));
            prop_assert_eq!(Vector::from_sql(&Type::TEXT, &bytes).unwrap(), Vector(values));
        }

        #[test]
        fn any_bytes_are_a_vector_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let _ = Vector::from_sql(&Type::TEXT, &bytes);
        }
    }

    #[test]
    fn a_vector_of_unit_length_points_the_same_way() {
        assert_eq!(Vector::unit(&[3.0, 4.0]), Vector(vec![0.600_097_66, 0.799_804_7]), "in half precision");
        assert_eq!(Vector::unit(&[0.0, 0.0]), Vector(vec![0.0, 0.0]));
    }
}
