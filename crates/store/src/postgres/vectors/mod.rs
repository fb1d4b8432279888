//! Searching by similarity.
//!
//! The vectors of small namespaces are all kept `in_memory`, with the codes that the embedded store has; those of large ones are sought
//! `in_database`, where the server's index helps.

pub(crate) mod in_database;
pub(crate) mod in_memory;

use std::collections::{HashMap, HashSet};

use deadpool_postgres::Transaction;
use tokio_postgres::types::Type;

use super::failure::Failure;
use super::select::{STORED, Scope, Selection, Statement};
use super::servers::are_distributed;
use super::session::{execute, query, text_hash};
use super::{PostgresStore, Retrievers};
use crate::cache::lock;
use crate::content::{Content, Model, check_query, check_vectors, model, model_keys, register, settle, with_spare};
use crate::error::Result;
use crate::filter::Filter;
use crate::record::{ModelKey, PassageId, TextHash, TextToEmbed};
use crate::report::Coverage;
use crate::retrieval::{Background, Nearest};
use crate::store::VectorRetriever;
use in_database::VectorsInDatabase;
use in_memory::{BATCH, Vector, key, of_passages, put};

/// A number that no model has.
const NO_MODEL: i32 = -1;

impl VectorRetriever for PostgresStore {
    fn unembedded(&self, name: &str, filter: &Filter, limit: usize) -> Result<Vec<TextToEmbed>> {
        self.connections.read_of(&filter.namespaces, async |transaction| {
            let number = self.model(transaction, name).await?.map_or(NO_MODEL, |model| model.number);
            let selection = self.retrievers.selection(transaction, filter).await?;
            self.retrievers.unembedded(transaction, number, &selection, limit).await
        })
    }

    fn put_vectors(&self, model: &ModelKey, vectors: &[(TextHash, Vec<f32>)]) -> Result<u64> {
        check_vectors(model, vectors)?;
        self.connections.write(async |transaction| {
            let model = register(&self.connections.content(transaction), model).await?;
            let (stored, changed) = put(transaction, &model, vectors).await?;
            let changed: Vec<&str> = changed.iter().map(String::as_str).collect();
            self.lock_namespaces(transaction, changed.iter().copied()).await?;
            self.count_change(transaction, &changed).await?;
            Ok(stored)
        })
    }

    fn nearest(&self, model: &str, vector: &[f32], filter: &Filter, k: usize) -> Result<Nearest> {
        let mut found = self.connections.read_of(&filter.namespaces, async |transaction| {
            let Some(model) = self.model_of(transaction, model, vector).await? else {
                return Ok(Nearest::default());
            };
            let selection = self.retrievers.selection(transaction, filter).await?;
            let k = with_spare(k);
            let count = k.saturating_add(k / 2).saturating_add(32);
            let (mut hits, background) = if self.is_small(&selection.scope) {
                let vectors = self.retrievers.vectors(transaction, &selection.scope, &model).await?;
                vectors.nearest(&model, vector, &selection, count)?
            } else {
                let vectors = VectorsInDatabase { retrievers: &self.retrievers, transaction, model: &model };
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
            if self.is_small(&scope) && self.retrievers.vectors.has(&key(&scope, &model)) {
                return Ok(self.retrievers.vectors(transaction, &scope, &model).await?.similarities(vector, ids));
            }
            let vectors = VectorsInDatabase { retrievers: &self.retrievers, transaction, model: &model };
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
            let mut found: HashMap<TextHash, Vec<f32>> = HashMap::with_capacity(texts.len());
            for batch in texts.chunks(BATCH) {
                let hashes: Vec<&[u8]> = batch.iter().map(|text| text.0.as_slice()).collect();
                for row in query(transaction, select, &[&namespace, &model.number, &hashes]).await? {
                    let Vector(vector) = row.get(1);
                    found.insert(text_hash(row.get(0)), vector);
                }
            }
            Ok(texts.iter().map(|text| found.get(text).cloned()).collect())
        })
    }

    fn coverage(&self, name: &str, filter: &Filter) -> Result<Coverage> {
        self.connections.read_of(&filter.namespaces, async |transaction| {
            let selection = self.retrievers.selection(transaction, filter).await?;
            match self.model(transaction, name).await? {
                Some(model) => self.retrievers.coverage(transaction, &model, filter, &selection).await,
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
        scope.total.passages as usize <= self.retrievers.sizes.few
    }
}

/// Keeps the counts of the namespaces `$1` for the state in which they are.
///
/// Counting a large namespace takes seconds, so publishing keeps the counts of each state of a namespace for all servers.
pub(crate) const KEEP: &str = "INSERT INTO coverages(namespace, model, number, change_number, embedded) \
     SELECT n.namespace, m.model, n.number, n.change_number, (SELECT count(*) FROM passages p JOIN vectors v \
       ON v.namespace = p.namespace AND v.text_hash = p.text_hash \
       WHERE p.namespace = n.namespace AND v.namespace = n.namespace AND v.model = m.model) \
     FROM namespaces n CROSS JOIN models m WHERE n.namespace = ANY($1) \
     ON CONFLICT (namespace, model) DO UPDATE SET number = excluded.number, change_number = excluded.change_number, \
       embedded = excluded.embedded";

impl Retrievers {
    /// Counts the selected passages that have a vector of a model.
    pub(crate) async fn coverage(
        &self,
        transaction: &Transaction<'_>,
        model: &Model,
        filter: &Filter,
        selection: &Selection,
    ) -> Result<Coverage, Failure> {
        let passages = selection.count;
        let whole = Filter { namespaces: filter.namespaces.clone(), ..Filter::default() };
        let all = self.coverage_of_all(transaction, model, whole, selection).await?;
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
    async fn coverage_of_all(
        &self,
        transaction: &Transaction<'_>,
        model: &Model,
        filter: Filter,
        selection: &Selection,
    ) -> Result<Coverage, Failure> {
        let scope = &selection.scope;
        let known =
            |(state, name, of): &(_, String, Filter)| *state == scope.state && *name == model.name && *of == filter;
        if let Some(coverage) = self.coverages.get(known) {
            return Ok(coverage);
        }
        let mut statement = Statement::new(
            "SELECT c.namespace, c.embedded FROM coverages c JOIN namespaces n ON n.namespace = c.namespace \
             AND n.number = c.number AND n.change_number = c.change_number WHERE c.model = ",
        );
        statement.bind(&model.number, Type::INT4).push(" AND c.namespace = ANY(").texts(&scope.namespaces);
        statement.push(") AND n.namespace = ANY(").texts(&scope.namespaces).push(")");
        let kept = statement.query(transaction).await?;
        let mut count: u64 = kept.iter().map(|row| row.get::<_, i64>(1) as u64).sum();
        if kept.len() < scope.namespaces.len() {
            let kept: Vec<&str> = kept.iter().map(|row| row.get(0)).collect();
            let others = scope.namespaces.iter().filter(|name| !kept.contains(&name.as_str())).cloned();
            let others: Vec<String> = others.collect();
            count += embedded(transaction, model, |statement| {
                statement.push("q.namespace = ANY(").texts(&others).push(")");
            })
            .await?;
        }
        let coverage = Coverage { passages: scope.total.passages, embedded: count };
        self.coverages.retain(|(state, name, of)| *name != model.name || *of != filter || *state == scope.state);
        self.coverages.push((scope.state.clone(), model.name.clone(), filter), coverage);
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
    statement.count(transaction).await
}

/// Passages looked at in one step.
const STEP: usize = 4_096;

impl Retrievers {
    /// Texts of selected passages without a vector, each once.
    ///
    /// Whoever embeds a namespace asks again and again, and all but the last few passages looked at have a vector by then. So each
    /// question goes on where the last one found its first text. Only when nothing is left from there on, all passages are asked
    /// for at once: vectors may have been removed behind it.
    pub(crate) async fn unembedded(
        &self,
        transaction: &Transaction<'_>,
        model: i32,
        selection: &Selection,
        limit: usize,
    ) -> Result<Vec<TextToEmbed>, Failure> {
        if !selection.is_by_namespace() {
            return from_start(transaction, model, selection, limit).await;
        }
        let mut found: Vec<(i64, Vec<u8>)> = Vec::new();
        let mut seen: HashSet<Vec<u8>> = HashSet::new();
        for (namespace, (number, _)) in selection.scope.namespaces.iter().zip(&selection.scope.state) {
            if found.len() >= limit {
                break;
            }
            let mut after = lock(&self.embedded).get(&(*number, model)).copied().unwrap_or(0);
            let mut first = None;
            loop {
                let step = step(transaction, model, namespace, after).await?;
                for (passage, hash) in step.missing {
                    first.get_or_insert(passage);
                    if found.len() < limit && seen.insert(hash.clone()) {
                        found.push((passage, hash));
                    }
                }
                let Some(last) = step.last else { break };
                after = last;
                if found.len() >= limit {
                    break;
                }
            }
            lock(&self.embedded).insert((*number, model), first.map_or(after, |first| first - 1));
        }
        if found.is_empty() {
            return from_start(transaction, model, selection, limit).await;
        }
        texts(transaction, &selection.scope.namespaces, &found).await
    }
}

/// Some passages of a namespace, in the order of their numbers.
struct Step {
    /// The number of the last one, if there is one.
    last: Option<i64>,
    /// Those without a vector, with the hash of their text.
    missing: Vec<(i64, Vec<u8>)>,
}

async fn step(transaction: &Transaction<'_>, model: i32, namespace: &str, after: i64) -> Result<Step, Failure> {
    let mut statement = Statement::new("SELECT passage, text_hash FROM passages WHERE namespace = ");
    statement.bind(&namespace, Type::TEXT).push(" AND passage > ").bind(&after, Type::INT8);
    statement.push(" ORDER BY passage").limit(STEP);
    let passages: Vec<(i64, Vec<u8>)> =
        statement.query(transaction).await?.iter().map(|row| (row.get(0), row.get(1))).collect();
    let hashes: Vec<&[u8]> = passages.iter().map(|(_, hash)| hash.as_slice()).collect();
    let mut statement = Statement::new("SELECT text_hash FROM vectors WHERE namespace = ");
    statement.bind(&namespace, Type::TEXT).push(" AND model = ").bind(&model, Type::INT4);
    statement.push(" AND text_hash = ANY(").bind(&hashes, Type::BYTEA_ARRAY).push(")");
    let embedded: HashSet<Vec<u8>> = statement.query(transaction).await?.iter().map(|row| row.get(0)).collect();
    let last = passages.last().map(|(passage, _)| *passage);
    Ok(Step { last, missing: passages.into_iter().filter(|(_, hash)| !embedded.contains(hash)).collect() })
}

/// The texts of passages, in their order.
async fn texts(
    transaction: &Transaction<'_>,
    namespaces: &Vec<String>,
    found: &[(i64, Vec<u8>)],
) -> Result<Vec<TextToEmbed>, Failure> {
    let numbers: Vec<i64> = found.iter().map(|(passage, _)| *passage).collect();
    let mut statement = Statement::new(
        "SELECT t.text_hash, coalesce(t.embedded_text, t.before_text || t.text), d.path FROM passages t \
         JOIN documents d ON d.namespace = t.namespace AND d.document = t.document WHERE t.namespace = ANY(",
    );
    statement.texts(namespaces).push(") AND t.passage = ANY(").numbers(&numbers).push(") ORDER BY t.passage");
    Ok(statement.query(transaction).await?.iter().map(text).collect())
}

/// The same of all selected passages, however many have a vector.
async fn from_start(
    transaction: &Transaction<'_>,
    model: i32,
    selection: &Selection,
    limit: usize,
) -> Result<Vec<TextToEmbed>, Failure> {
    let mut statement = Statement::new(
        "SELECT f.text_hash, coalesce(t.embedded_text, t.before_text || t.text), d.path FROM (\
         SELECT q.text_hash, min(q.passage) AS passage FROM passages q WHERE NOT EXISTS (\
         SELECT 1 FROM vectors v WHERE v.namespace = q.namespace AND v.text_hash = q.text_hash AND v.model = ",
    );
    statement.bind(&model, Type::INT4).push(") AND ");
    selection.among(&mut statement, STORED);
    statement.push(" GROUP BY q.text_hash ORDER BY passage").limit(limit);
    statement.push(
        ") AS f JOIN passages t ON t.passage = f.passage \
         JOIN documents d ON d.namespace = t.namespace AND d.document = t.document WHERE t.namespace = ANY(",
    );
    statement.texts(&selection.scope.namespaces).push(") ORDER BY f.passage");
    Ok(statement.query(transaction).await?.iter().map(text).collect())
}

fn text(row: &tokio_postgres::Row) -> TextToEmbed {
    TextToEmbed { hash: text_hash(row.get(0)), text: row.get(1), path: row.get(2) }
}

/// Gives the texts of documents the vectors that they have in other namespaces, so that no text is embedded twice. Not where namespaces
/// lie on nodes: one that is away would stop changes on all others.
pub(crate) async fn adopt(transaction: &Transaction<'_>, namespace: &str, documents: &[i32]) -> Result<(), Failure> {
    if are_distributed(transaction).await? {
        return Ok(());
    }
    let select = "SELECT DISTINCT text_hash FROM passages WHERE namespace = $1 AND document = ANY($2)";
    let rows = query(transaction, select, &[&namespace, &documents]).await?;
    let texts: Vec<&[u8]> = rows.iter().map(|row| row.get(0)).collect();
    if texts.is_empty() {
        return Ok(());
    }
    // A text is the same wherever it is, so this asks for it without naming namespaces.
    let insert = "INSERT INTO vectors(namespace, model, text_hash, embedding) \
         SELECT DISTINCT ON (v.model, v.text_hash) $1, v.model, v.text_hash, v.embedding FROM vectors v \
         WHERE v.text_hash = ANY($2) AND v.namespace <> $1 ON CONFLICT DO NOTHING";
    execute(transaction, insert, &[&namespace, &texts]).await?;
    Ok(())
}
