//! The vectors of passages in the database. A short list of passages is scored by the server, and a long one searched by its index,
//! with a background that is measured on a sample.

use deadpool_postgres::Transaction;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;

use super::in_memory::{EXACT, Exact, Vector, at_ranks, exact, of_passages};
use crate::content::Model;
use crate::filter::Filter;
use crate::postgres::Retrievers;
use crate::postgres::connection::{Connections, SCHEMA};
use crate::postgres::failure::Failure;
use crate::postgres::select::{STORED, Selection, Statement};
use crate::postgres::session::passage_id;
use crate::postgres::words::index as word_index;
use crate::record::{DocumentId, PassageId};
use crate::retrieval::SemanticHit;
use crate::vectors::{Background, cosine};

/// The vectors of a model in the snapshot of a transaction.
pub(crate) struct VectorsInDatabase<'t> {
    pub retrievers: &'t Retrievers,
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
        let candidates = search(transaction, model, &unit, selection, count).await?;
        let coverage = self.retrievers.coverage(transaction, model, filter, selection).await?;
        let sample = self.sample(vector, selection).await?;
        Ok((compared(vector, candidates), Background::new(coverage.embedded as usize, &sample)))
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
            return self.retrievers.vectors(transaction, &selection.scope, model).await?.measure(model, vector);
        }
        let passages = match selection.sample.get() {
            Some(passages) => passages,
            None => {
                let ranks = self.retrievers.sizes.ranks(selection.count as usize);
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
    let similarities: Vec<f32> = scored.iter().map(|(_, similarity)| *similarity).collect();
    let background = Background::new(similarities.len(), &similarities);
    scored.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    scored.truncate(count);
    (scored.into_iter().map(|(passage, _)| passage).collect(), background)
}

/// The number of vectors of a model from which it gets an index. Fewer are scanned as quickly.
const LEAST_VECTORS: i64 = 50_000;

/// Most dimensions that an index of half-precision vectors holds.
const MOST_DIMENSIONS: i32 = 4_000;

/// A selection of less than this part of all passages is scanned, because a search of the index would reject most of what it finds.
const LEAST_SHARE: u64 = 16;

/// Most candidates that a search of the index keeps in view.
const MOST_IN_VIEW: usize = 1_000;

/// The lock of whoever creates an index.
const LOCK: i64 = 0x7461_6d69_7300_0002;

/// Creates the indexes that large namespaces are searched with: of each model with many vectors, and of words. Writers go on
/// meanwhile. What another process is creating is left to it, and a user without the right to create them goes without.
///
/// # Errors
/// The server refuses.
pub(crate) async fn ensure_indexes(connections: &Connections) -> Result<(), Failure> {
    match ensure(connections, LEAST_VECTORS).await {
        Err(Failure::Server(error)) if error.code() == Some(&SqlState::INSUFFICIENT_PRIVILEGE) => Ok(()),
        done => done,
    }
}

pub(crate) async fn ensure(connections: &Connections, least: i64) -> Result<(), Failure> {
    let passages = connections
        .asking(async |connection| Ok(connection.query_one("SELECT passages_of_all()", &[]).await?.get::<_, i64>(0)));
    if passages.await? < least {
        return Ok(());
    }
    let lasting = connections.lasting().await?;
    let mut created = Ok(());
    if lasting.try_lock(LOCK).await? {
        created = create(connections, least).await;
        if created.is_ok() {
            created = word_index::ensure(connections).await;
        }
    }
    lasting.end().await;
    created
}

async fn create(connections: &Connections, least: i64) -> Result<(), Failure> {
    let models = "SELECT model, dimension, (SELECT quote_ident(n.nspname) FROM pg_extension e \
         JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector') FROM models WHERE dimension <= $1";
    let models: Vec<(i32, i32, String)> = connections
        .asking(async |connection| {
            let rows = connection.query(models, &[&MOST_DIMENSIONS]).await?;
            Ok(rows.iter().map(|row| (row.get(0), row.get(1), row.get(2))).collect())
        })
        .await?;
    for (model, dimension, schema) in models {
        let name = name(model);
        let (is_valid, count): (Option<bool>, i64) = connections
            .asking(async |connection| {
                let is_valid =
                    connection.query_typed_opt(VALIDITY, &[(&name, Type::TEXT)]).await?.map(|row| row.get(0));
                if is_valid == Some(true) {
                    return Ok((is_valid, 0));
                }
                // Counting stops at the number that decides.
                let count = "SELECT count(*) FROM (SELECT 1 FROM vectors WHERE model = $1 LIMIT $2) AS counted";
                Ok((is_valid, connection.query_one(count, &[&model, &least]).await?.get(0)))
            })
            .await?;
        let drop = format!("DROP INDEX CONCURRENTLY IF EXISTS {SCHEMA}.{name}");
        match is_valid {
            Some(true) => continue,
            // A creation that was interrupted leaves an index that cannot be used.
            Some(false) => connections.run_outside("", &drop).await?,
            None => {}
        }
        if count < least {
            continue;
        }
        let create = format!(
            "CREATE INDEX CONCURRENTLY IF NOT EXISTS {name} ON {SCHEMA}.vectors \
             USING hnsw ((embedding::{schema}.halfvec({dimension})) {schema}.halfvec_cosine_ops) WHERE model = {model}"
        );
        match connections.run_outside(MEMORY, &create).await {
            Err(Failure::Server(error)) if error.code() == Some(&SqlState::DISK_FULL) => {
                // A container often has little of the memory that several processes of the server share. One needs none.
                connections.run_outside("", &drop).await?;
                let alone = format!("{MEMORY}; SET max_parallel_maintenance_workers = 0");
                connections.run_outside(&alone, &create).await?;
            }
            created => created?,
        }
    }
    Ok(())
}

/// An index that does not fit into the memory for its creation takes many times as long. Half of what the server keeps in memory
/// is more than it has by default and no burden.
const MEMORY: &str = "SELECT set_config('maintenance_work_mem', greatest(pg_size_bytes(current_setting('maintenance_work_mem')), \
     pg_size_bytes(current_setting('shared_buffers')) / 2) / 1024 || 'kB', false)";

fn name(model: i32) -> String {
    format!("vectors_hnsw_{model}")
}

/// `None` without an index, else `true` if it can be used.
const VALIDITY: &str = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1)";

/// About the `count` most similar passages of a selection with their vectors, by the index if the model has one, else by scanning.
pub(crate) async fn search(
    transaction: &Transaction<'_>,
    model: &Model,
    unit: &Vec<f32>,
    selection: &Selection,
    count: usize,
) -> Result<Exact, Failure> {
    if is_worth_it(transaction, model, selection, count).await? {
        let found = by_index(transaction, model, unit, selection, count).await?;
        // It gives up after too many that do not pass.
        if found.len() == count {
            return Ok(found);
        }
    }
    let mut statement = joined("SELECT q.passage", model);
    selection.among(&mut statement, STORED);
    statement
        .push(" ORDER BY v.embedding <#> ")
        .bind(unit, Type::FLOAT4_ARRAY)
        .push("::vector, q.passage")
        .limit(count);
    let found: Vec<PassageId> = statement.query(transaction).await?.iter().map(|row| passage_id(row.get(0))).collect();
    of_passages(transaction, model, &selection.scope.namespaces, &found).await
}

fn joined<'m>(select: &'static str, model: &'m Model) -> Statement<'m> {
    let mut statement = Statement::new(select);
    statement.push(
        " FROM vectors v JOIN passages q ON q.namespace = v.namespace AND q.text_hash = v.text_hash WHERE v.model = ",
    );
    statement.bind(&model.number, Type::INT4).push(" AND ");
    statement
}

/// Returns `true` if the model has an index that finds a selection's best passages soon.
async fn is_worth_it(
    transaction: &Transaction<'_>,
    model: &Model,
    selection: &Selection,
    count: usize,
) -> Result<bool, Failure> {
    let name = name(model.number);
    let valid = transaction.query_typed_opt(VALIDITY, &[(&name, Type::TEXT)]).await?;
    if count > MOST_IN_VIEW || !valid.is_some_and(|row| row.get(0)) {
        return Ok(false);
    }
    let all = transaction.query_one("SELECT passages_of_all()", &[]).await?;
    Ok(selection.count.saturating_mul(LEAST_SHARE) >= all.get::<_, i64>(0) as u64)
}

async fn by_index(
    transaction: &Transaction<'_>,
    model: &Model,
    unit: &Vec<f32>,
    selection: &Selection,
    count: usize,
) -> Result<Exact, Failure> {
    let view = (4 * count).clamp(400, MOST_IN_VIEW).to_string();
    // In strict order, whatever is found late is left out. The hits are sorted later anyway. The server takes a filter for more selective
    // than it is and would rather sort all that pass it. The first two settings hold until the transaction ends.
    let set = "SELECT set_config('hnsw.ef_search', $1, true), set_config('hnsw.iterative_scan', 'relaxed_order', true), \
         set_config('enable_sort', 'off', true)";
    transaction.query_typed(set, &[(&view, Type::TEXT)]).await?;
    let mut statement = joined(EXACT, model);
    selection.among(&mut statement, STORED);
    let dimension = model.dimension as u32;
    statement.push(" AND v.namespace = ANY(").texts(&selection.scope.namespaces);
    statement.push(") ORDER BY v.embedding::halfvec(").push_number(dimension).push(") <=> ");
    statement.bind(unit, Type::FLOAT4_ARRAY).push("::vector::halfvec(").push_number(dimension).push(")").limit(count);
    let found = exact(&statement.query(transaction).await?, model)?;
    transaction.batch_execute("SET LOCAL enable_sort TO DEFAULT").await?;
    Ok(found)
}
