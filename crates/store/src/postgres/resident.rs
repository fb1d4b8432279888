//! Codes of vectors in memory, for the similarity of a query to everything.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use deadpool_postgres::Transaction;
use tokio::sync::RwLock;
use tokio_postgres::types::Type;

use super::error::Failure;
use super::legs::{Sizes, State};
use super::models::Model;
use super::scope::Scope;
use super::statement::Statement;
use super::vectors::of_passages;
use crate::error::StoreError;
use crate::mutex::lock;
use crate::record::PassageId;
use crate::vectors::{Owner, VectorIndex};

/// The most memory for codes, in bytes.
const MOST_BYTES: usize = 256 << 20;

/// Vectors fetched at once.
const BATCH: usize = 1_000;

/// The vectors of recently searched namespaces, the last used one at the end.
#[derive(Debug, Default)]
pub(super) struct Resident {
    entries: Mutex<Vec<(Key, Entry)>>,
}

/// The vectors of one key, once they are read.
type Entry = Arc<RwLock<Option<Level>>>;

#[derive(Debug, Clone, PartialEq, Eq)]
struct Key {
    namespaces: Vec<String>,
    model: i32,
    dimension: usize,
}

/// Vectors as they were at a state of their namespaces: of all passages, or of a sample.
#[derive(Debug)]
pub(super) struct Level {
    state: State,
    pub index: VectorIndex,
}

impl Resident {
    /// The vectors of some namespaces in this snapshot, once read from the database. `use_level` gets them.
    pub async fn with<T>(
        &self,
        transaction: &Transaction<'_>,
        scope: &Scope,
        model: &Model,
        sizes: Sizes,
        use_level: impl FnOnce(&Level) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let entry =
            self.entry(Key { namespaces: scope.namespaces.clone(), model: model.number, dimension: model.dimension });
        {
            let known = entry.read().await;
            if let Some(level) = known.as_ref().filter(|level| level.state == scope.state) {
                return use_level(level);
            }
        }
        let mut known = entry.write().await;
        if known.as_ref().is_none_or(|level| level.state != scope.state) {
            let index = match known.take() {
                Some(level) => level.index,
                None => VectorIndex::new(model.dimension).map_err(|error| failed(model, error))?,
            };
            let index = catch_up(transaction, scope, model, sizes, index).await?;
            *known = Some(Level { state: scope.state.clone(), index });
        }
        let known = known.downgrade();
        self.make_room(&entry, known.as_ref().map_or(0, |level| bytes(&level.index)));
        match known.as_ref() {
            Some(level) => use_level(level),
            None => unreachable!("the vectors were just read"),
        }
    }

    fn entry(&self, key: Key) -> Entry {
        let mut entries = lock(&self.entries);
        let entry = match entries.iter().position(|(known, _)| *known == key) {
            Some(place) => entries.remove(place),
            None => (key, Arc::default()),
        };
        let found = entry.1.clone();
        entries.push(entry);
        found
    }

    /// Drops the entries used longest ago, until this one and the others fit. One in use counts nothing and stays.
    fn make_room(&self, used: &Entry, mut size: usize) {
        let mut entries = lock(&self.entries);
        let mut kept = Vec::with_capacity(entries.len());
        for (key, entry) in entries.drain(..).rev() {
            if !Arc::ptr_eq(&entry, used) {
                size += match entry.try_read() {
                    Ok(known) => known.as_ref().map_or(0, |level| bytes(&level.index)),
                    Err(_) => 0,
                };
                if size > MOST_BYTES {
                    continue;
                }
            }
            kept.push((key, entry));
        }
        kept.reverse();
        *entries = kept;
    }
}

/// The memory of an index: its codes, and the numbers of each row.
fn bytes(index: &VectorIndex) -> usize {
    index.len() * (index.dimension().next_multiple_of(64) + 64)
}

/// Brings an index up to the snapshot of a transaction: vectors of passages that are gone leave it, and new ones come in.
async fn catch_up(
    transaction: &Transaction<'_>,
    scope: &Scope,
    model: &Model,
    sizes: Sizes,
    mut index: VectorIndex,
) -> Result<VectorIndex, Failure> {
    let wanted = wanted(transaction, scope, model, sizes).await?;
    let known: HashSet<u64> = index.passages().collect();
    let missing: Vec<PassageId> = wanted.iter().filter(|id| !known.contains(*id)).map(|id| PassageId(*id)).collect();
    // Rows leave an index one by one, so one that keeps little is made anew.
    if missing.len() == wanted.len() {
        index = VectorIndex::new(model.dimension).map_err(|error| failed(model, error))?;
    } else {
        let wanted: HashSet<u64> = wanted.into_iter().collect();
        known.iter().filter(|id| !wanted.contains(*id)).for_each(|id| {
            index.delete(*id);
        });
    }
    for batch in missing.chunks(BATCH) {
        for (passage, (document, vector)) in of_passages(transaction, model, Some(scope), batch).await? {
            let owner = Owner::from(document.0);
            index.add(passage.0, owner, &vector).map_err(|error| failed(model, error))?;
        }
    }
    Ok(index)
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
pub(super) fn failed(model: &Model, error: crate::vectors::VectorError) -> Failure {
    StoreError::vectors("postgres".as_ref(), &model.name, error).into()
}
