//! The content of a store in the tables of either database: documents, their passages, settings and evidence.
//!
//! The traits of a store on any [`Content`] are here once, with their statements and what reads the rows: reading documents in `documents`,
//! all others in this file, with what a store needs for other traits. What a database does in its own way is with that database: writing
//! documents, filters, and the two retrievers.

mod documents;

use std::cell::Cell;
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use zerocopy::IntoBytes;

use crate::error::{Result, StoreError};
use crate::evidence::{Edge, EvidenceKey, EvidenceRecord, Fragment, NodeType};
use crate::filter::Filter;
use crate::graph;
use crate::graph::TaskUpdates;
use crate::record::{Applied, Calibration, Change, ModelKey, Namespace, NewNamespace, PassageRef, TextHash, Tree};
use crate::report::{Count, Counts, Coverage, EvidenceSummary, ModelSummary, Part, Problem, Summary};
use crate::session::{Row, Session, Value, all, bind, first, read, values};
use crate::sql_guard::{Filling, Guard};
use crate::store::{EvidenceGraph, Maintenance, Properties};
use crate::untrusted_sql::{SqlQuery, SqlRows};
use crate::vectors::MAX_MODEL_BYTES;

pub(crate) use documents::found as found_passages;
#[cfg(feature = "postgres")]
pub(crate) use documents::read_whole as whole_documents;
pub(crate) use documents::{settle, with_spare};

/// The namespaces at a change number. Every search reads them.
pub(crate) type KnownNamespaces = Mutex<Option<(u64, Vec<Namespace>)>>;

/// A store whose content is in the tables of a database.
pub(crate) trait Content: Maintenance {
    /// What a session fails with.
    type Error: From<StoreError>;

    /// Reads by single statements.
    fn ask<T>(&self, work: impl AsyncFn(&dyn Session<Self::Error>) -> Result<T, Self::Error>) -> Result<T> {
        self.read(&[], work)
    }

    /// Reads by several statements that see the same: these namespaces alone, or all if none is named.
    fn read<T>(
        &self,
        namespaces: &[&str],
        work: impl AsyncFn(&dyn Session<Self::Error>) -> Result<T, Self::Error>,
    ) -> Result<T>;

    /// Reads evidence of these namespaces alone, or of all if none is named.
    fn read_evidence<T>(
        &self,
        namespaces: &[&str],
        work: impl AsyncFn(&dyn Session<Self::Error>) -> Result<T, Self::Error>,
    ) -> Result<T> {
        self.read(namespaces, work)
    }

    /// Writes all or nothing. `work` may run several times.
    fn write<T>(&self, work: impl AsyncFn(&dyn Session<Self::Error>) -> Result<T, Self::Error>) -> Result<T>;

    /// The namespace that the settings of this store are kept under.
    fn settings(&self) -> &str {
        ""
    }

    /// The namespaces as they were last read.
    fn known_namespaces(&self) -> &KnownNamespaces;

    fn list_namespaces(&self) -> String;

    /// The namespaces that cannot be read now.
    fn without_node(&self) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    /// The passages that pass a filter, ascending.
    fn passing(&self, filter: &Filter) -> Result<Vec<PassageRef>>;

    /// Writes the rows of namespaces, which are registered first, and counts the change.
    fn write_namespaces(
        &self,
        names: &[&str],
        work: impl AsyncFn(&dyn Session<Self::Error>) -> Result<(), Self::Error>,
    ) -> Result<()>;

    /// Changes documents, and then their evidence: all or nothing. `evidence` returns the number of rows that it wrote, and may run
    /// several times.
    fn change(
        &self,
        changing: &Changing<'_>,
        evidence: impl AsyncFn(&dyn Session<Self::Error>, &mut TaskUpdates) -> Result<u64, Self::Error>,
    ) -> Result<Applied>;

    /// Runs untrusted statements on evidence.
    fn guard(&self) -> &Arc<Guard>;
}

/// What changes besides evidence.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Changing<'c> {
    pub(crate) changes: &'c [Change],
    /// Also delete the documents of this origin in the namespaces.
    pub(crate) origin: Option<&'c str>,
    /// The namespaces whose evidence changes.
    pub(crate) namespaces: &'c [String],
    /// True if these are registered.
    pub(crate) registers: bool,
}

/// Applies changes in order.
pub(crate) fn apply(store: &impl Content, changes: &[Change]) -> Result<Applied> {
    store.change(&Changing { changes, ..Changing::default() }, async |_, _| Ok(0))
}

/// Removes everything that was imported from an origin into namespaces.
pub(crate) fn remove_origin(store: &impl Content, origin: &str, namespaces: &[String]) -> Result<Applied> {
    let changing = Changing { origin: Some(origin), namespaces, ..Changing::default() };
    store.change(&changing, async |session, tasks| {
        for namespace in namespaces {
            graph::remove_origin(session, namespace, origin, tasks).await?;
        }
        Ok(0)
    })
}

/// Registers a namespace, or replaces its registration.
pub(crate) fn put_namespace(store: &impl Content, namespace: &NewNamespace) -> Result<()> {
    let NewNamespace { name, owner, shared } = namespace;
    if name.is_empty() {
        return Err(StoreError::Invalid {
            what: "a namespace without a name".to_owned(),
            reason: "a namespace is found by its name: give it one".to_owned(),
        });
    }
    let update = "UPDATE namespaces SET owner = $2, shared = $3 WHERE namespace = $1";
    store.write_namespaces(&[name], async |session| {
        session.execute(update, values![name, owner, *shared]).await.map(drop)
    })
}

/// Makes trees those of their namespaces. `path` is where the store is.
pub(crate) fn claim_trees(store: &impl Content, trees: &[Tree], moved: bool, path: &Path) -> Result<()> {
    // Every search comes through here, and nearly none has anything to write.
    if store.ask(async |session| new_trees(session, trees, true, path).await)?.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = trees.iter().map(|tree| tree.namespace.as_str()).collect();
    let update = "UPDATE namespaces SET root = $2, machine = $3 WHERE namespace = $1";
    store.write_namespaces(&names, async |session| {
        for Tree { namespace, root, machine } in new_trees(session, trees, moved, path).await? {
            session.execute(update, values![namespace, root, machine]).await?;
        }
        Ok(())
    })
}

impl<C: Content> Properties for C {
    fn property(&self, name: &str) -> Result<Option<String>> {
        let select = "SELECT value FROM properties WHERE namespace = $1 AND name = $2";
        self.ask(async |session| first(session, select, values![self.settings(), name], Row::next).await)
    }

    fn properties(&self) -> Result<Vec<(String, String)>> {
        let select = "SELECT name, value FROM properties WHERE namespace = $1 ORDER BY name";
        let pair = |row: &mut Row| Ok((row.next()?, row.next()?));
        self.ask(async |session| all(session, select, values![self.settings()], pair).await)
    }

    fn set_property(&self, name: &str, value: &str) -> Result<()> {
        let put = "INSERT INTO properties(namespace, name, value) VALUES ($1, $2, $3) \
             ON CONFLICT (namespace, name) DO UPDATE SET value = excluded.value";
        self.write(async |session| session.execute(put, values![self.settings(), name, value]).await.map(drop))
    }

    fn calibrations(&self) -> Result<Vec<Calibration>> {
        let select = "SELECT language, threshold, sample_size, provider, model, calibrated_at FROM threshold_calibration \
             ORDER BY language, provider, model";
        let calibration = |row: &mut Row| {
            Ok(read!(row => Calibration { language, threshold, sample_size, provider, model, calibrated_at_ms }))
        };
        self.ask(async |session| all(session, select, &[], calibration).await)
    }

    fn put_calibrations(&self, calibrations: &[Calibration]) -> Result<()> {
        if let Some(bad) = calibrations.iter().find(|calibration| !(-1.0..=1.0).contains(&calibration.threshold)) {
            return Err(StoreError::Invalid {
                what: format!("threshold {} of {}", bad.threshold, bad.language),
                reason: "a threshold is a cosine similarity, -1 to 1".to_owned(),
            });
        }
        let put = "INSERT INTO threshold_calibration(language, threshold, sample_size, provider, model, calibrated_at) \
             VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (language, provider, model) DO UPDATE SET \
             threshold = excluded.threshold, sample_size = excluded.sample_size, calibrated_at = excluded.calibrated_at";
        self.write(async |session| {
            for one in calibrations {
                let values = bind!(one => language, threshold, sample_size, provider, model, calibrated_at_ms);
                session.execute(put, &values).await?;
            }
            Ok(())
        })
    }

    fn clear_calibrations(&self) -> Result<u64> {
        self.write(async |session| session.execute("DELETE FROM threshold_calibration", &[]).await)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Model {
    pub(crate) number: i32,
    pub(crate) name: String,
    pub(crate) dimension: usize,
}

pub(crate) async fn models<E>(session: &dyn Session<E>) -> Result<Vec<Model>, E> {
    all(session, "SELECT model, name, dimension FROM models ORDER BY model", &[], read_model).await
}

/// Returns the keys of all models, by name.
pub(crate) async fn model_keys<E>(session: &dyn Session<E>) -> Result<Vec<ModelKey>, E> {
    let key = |row: &mut Row| Ok(ModelKey { id: row.next()?, dimension: row.next::<u32>()? as usize });
    all(session, "SELECT name, dimension FROM models ORDER BY name", &[], key).await
}

pub(crate) async fn model<E>(session: &dyn Session<E>, name: &str) -> Result<Option<Model>, E> {
    // A server refuses what no model can have.
    if name.contains('\0') {
        return Ok(None);
    }
    first(session, "SELECT model, name, dimension FROM models WHERE name = $1", values![name], read_model).await
}

/// Returns a model, and adds a new one. Its dimension never changes.
pub(crate) async fn register<E: From<StoreError>>(session: &dyn Session<E>, key: &ModelKey) -> Result<Model, E> {
    let ModelKey { id, dimension } = key;
    let registered = match model(session, id).await? {
        Some(known) => Some(known),
        None => {
            let (most, here) = session.dialect().most_dimensions;
            let named = (1..=MAX_MODEL_BYTES).contains(&id.len()) && !id.contains('\0');
            if !(1..=most).contains(dimension) || !named {
                let what = format!("model {id:?} of {dimension} dimensions");
                let reason =
                    format!("a model has a name of 1 to {MAX_MODEL_BYTES} bytes and 1 to {most} dimensions{here}");
                return Err(StoreError::Invalid { what, reason }.into());
            }
            // Another process may add it at the same time; this waits for it.
            let insert = "INSERT INTO models(name, dimension) VALUES ($1, $2) \
                 ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING model, name, dimension";
            first(session, insert, values![id, *dimension as i64], read_model).await?
        }
    };
    match registered {
        Some(model) if model.dimension == *dimension => Ok(model),
        Some(Model { name, dimension: expected, .. }) => {
            Err(StoreError::Dimension { model: name, expected, received: *dimension }.into())
        }
        None => Err(session.damaged(format!("model {id} was added and is not there"))),
    }
}

fn read_model(row: &mut Row) -> Result<Model, String> {
    Ok(Model { number: row.next()?, name: row.next()?, dimension: row.next::<u32>()? as usize })
}

/// Checks that a query's vector fits a model.
pub(crate) fn check_query(model: &Model, vector: &[f32]) -> Result<(), StoreError> {
    check(&model.name, model.dimension, vector, || "the query".to_owned())
}

/// Checks that the vectors of texts fit a model.
pub(crate) fn check_vectors(model: &ModelKey, vectors: &[(TextHash, Vec<f32>)]) -> Result<(), StoreError> {
    let fits =
        |(hash, vector): &(TextHash, Vec<f32>)| check(&model.id, model.dimension, vector, || format!("text {hash}"));
    vectors.iter().try_for_each(fits)
}

fn check(model: &str, expected: usize, vector: &[f32], what: impl FnOnce() -> String) -> Result<(), StoreError> {
    let (model, received) = (model.to_owned(), vector.len());
    if received != expected {
        return Err(StoreError::Dimension { model, expected, received });
    }
    match vector.iter().all(|value| value.is_finite()) {
        true => Ok(()),
        false => Err(StoreError::NotFinite { model, what: what() }),
    }
}

/// Returns those trees that are not the ones of their namespaces yet. Another one in the place of a tree is an error, unless it has
/// `moved`. `store` is where the namespaces are.
pub(crate) async fn new_trees<'t, E: From<StoreError>>(
    session: &dyn Session<E>,
    trees: &'t [Tree],
    moved: bool,
    store: &Path,
) -> Result<Vec<&'t Tree>, E> {
    let names: Vec<String> = trees.iter().map(|tree| tree.namespace.clone()).collect();
    let select = format!(
        "SELECT namespace, root, machine FROM namespaces WHERE namespace {} AND root IS NOT NULL",
        session.one_of(1)
    );
    let tree = |row: &mut Row| Ok(read!(row => Tree { namespace, root, machine }));
    let known = all(session, &select, values![names], tree).await?;
    let mut new: Vec<&Tree> = Vec::new();
    for tree in trees {
        match known.iter().chain(new.iter().copied()).find(|known| known.namespace == tree.namespace) {
            Some(known) if known.is(tree) => {}
            Some(known) if !moved => return Err(StoreError::other_tree(store, tree, known).into()),
            _ => new.push(tree),
        }
    }
    Ok(new)
}

/// Counts documents, passages and vectors. What the tables do not say stays empty.
pub(crate) async fn summary<E>(session: &dyn Session<E>) -> Result<Summary, E> {
    let dialect = session.dialect();
    let totals = "SELECT count(*), CAST(coalesce(sum(passages), 0) AS bigint) FROM documents";
    let totals = first(session, totals, &[], |row| Ok((row.next()?, row.next()?))).await?;
    let (documents, passages) = totals.unwrap_or_default();
    let by_document = async |column: &str| {
        let select = format!(
            "SELECT {column}, count(*), CAST(sum(passages) AS bigint) FROM documents GROUP BY {column} ORDER BY {column}"
        );
        counts(session, &select).await
    };
    let by_language = format!(
        "SELECT coalesce(p.language, d.language, ''), count(DISTINCT p.document), count(*) FROM {} GROUP BY 1 ORDER BY 1",
        dialect.passages.from
    );
    let by_role = "SELECT role, count(DISTINCT document), count(*) FROM passages GROUP BY role ORDER BY role";
    let by_model = async |select: &str| -> Result<HashMap<i32, u64>, E> {
        Ok(all(session, select, &[], |row| Ok((row.next()?, row.next()?))).await?.into_iter().collect())
    };
    let vectors = by_model("SELECT model, count(*) FROM vectors GROUP BY model").await?;
    let embedded = format!(
        "SELECT v.model, count(*) FROM passages p JOIN vectors v ON {} GROUP BY v.model",
        dialect.vector_of_passage
    );
    let embedded = by_model(&embedded).await?;
    let of_model = |model: Model| {
        let of = |counts: &HashMap<i32, u64>| counts.get(&model.number).copied().unwrap_or(0);
        ModelSummary {
            vectors: of(&vectors),
            coverage: Coverage { passages, embedded: of(&embedded) },
            model: ModelKey { id: model.name, dimension: model.dimension },
            file_seq: None,
        }
    };
    Ok(Summary {
        documents,
        passages,
        counts: Counts {
            namespaces: by_document("namespace").await?,
            collections: by_document("collection").await?,
            languages: counts(session, &by_language).await?,
            roles: counts(session, by_role).await?,
        },
        models: models(session).await?.into_iter().map(of_model).collect(),
        ..Summary::default()
    })
}

async fn counts<E>(session: &dyn Session<E>, select: &str) -> Result<Vec<Count>, E> {
    let count = |row: &mut Row| Ok(read!(row => Count { name, documents, passages }));
    all(session, select, &[], count).await
}

/// Problems with their numbers, each once.
#[derive(Debug, Default)]
pub(crate) struct Problems(Vec<(Part, &'static str, u64)>);

impl Problems {
    pub(crate) fn count(&mut self, part: Part, problem: &'static str, more: u64) {
        match self.0.iter_mut().find(|(_, known, _)| *known == problem) {
            Some((_, _, count)) => *count += more,
            None => self.0.push((part, problem, more)),
        }
    }

    /// Those that there are, for people. Words can be read again from their passages.
    pub(crate) fn found(self) -> impl Iterator<Item = Problem> {
        self.0.into_iter().filter(|(_, _, count)| *count > 0).map(|(part, problem, count)| Problem {
            part,
            message: format!("{count} {problem}"),
            mendable: part == Part::Lexical,
        })
    }
}

/// Problems of the namespace `$1` with the statements that count them.
const CHECKS: [(&str, &str); 5] = [
    (
        "fragments or claims have no document, so that no search finds them",
        "SELECT (SELECT count(*) FROM evidence_fragments r WHERE r.namespace = $1 AND NOT EXISTS (SELECT 1 FROM documents d \
           WHERE d.namespace = $1 AND d.path = ('fragment:' || r.id) AND d.collection = 'evidence')) \
         + (SELECT count(*) FROM evidence_claims r WHERE r.namespace = $1 AND NOT EXISTS (SELECT 1 FROM documents d \
           WHERE d.namespace = $1 AND d.path = ('claim:' || r.id) AND d.collection = 'evidence'))",
    ),
    (
        "documents of evidence are no fragment and no claim of the graph",
        "SELECT count(*) FROM documents d WHERE d.namespace = $1 AND d.collection = 'evidence' \
         AND NOT EXISTS (SELECT 1 FROM evidence_fragments r WHERE r.namespace = $1 AND d.path = 'fragment:' || r.id) \
         AND NOT EXISTS (SELECT 1 FROM evidence_claims r WHERE r.namespace = $1 AND d.path = 'claim:' || r.id)",
    ),
    (
        "edges start from what is not there",
        "SELECT count(*) FROM evidence_edges e WHERE e.namespace = $1 AND NOT EXISTS (SELECT 1 FROM (\
           SELECT 'fragment' AS type, id FROM evidence_fragments WHERE namespace = $1 UNION ALL \
           SELECT 'page', id FROM evidence_pages WHERE namespace = $1 UNION ALL \
           SELECT 'work', id FROM evidence_works WHERE namespace = $1) n \
         WHERE n.type = e.source_type AND n.id = e.source_id)",
    ),
    (
        "edges lead to what is not there",
        "SELECT count(*) FROM evidence_edges e WHERE e.namespace = $1 AND NOT EXISTS (SELECT 1 FROM (\
           SELECT 'claim' AS type, id FROM evidence_claims WHERE namespace = $1 UNION ALL \
           SELECT 'page', id FROM evidence_pages WHERE namespace = $1 UNION ALL \
           SELECT 'work', id FROM evidence_works WHERE namespace = $1) n \
         WHERE n.type = e.target_type AND n.id = e.target_id)",
    ),
    (
        "tasks of fragments are not those of their claims",
        "WITH said AS (SELECT d.path, a.value FROM documents d JOIN attributes a ON {attributes_of_document} \
           WHERE d.namespace = $1 AND d.collection = 'evidence' AND d.path LIKE 'fragment:%' AND a.name = 'task'), \
         meant AS (SELECT DISTINCT ('fragment:' || e.source_id), c.task_id \
           FROM evidence_edges e JOIN evidence_claims c ON c.namespace = e.namespace AND c.id = e.target_id \
           WHERE e.namespace = $1 AND e.source_type = 'fragment' AND e.target_type = 'claim') \
         SELECT (SELECT count(*) FROM (SELECT * FROM said EXCEPT SELECT * FROM meant) s) \
         + (SELECT count(*) FROM (SELECT * FROM meant EXCEPT SELECT * FROM said) m)",
    ),
];

/// Counts each problem of the evidence of a namespace.
pub(crate) async fn check_evidence<E>(
    session: &dyn Session<E>,
    namespace: &str,
    problems: &mut Problems,
) -> Result<(), E> {
    for (problem, count) in CHECKS {
        let count = count.replace("{attributes_of_document}", session.dialect().attributes_of_document);
        let count = first(session, &count, values![namespace], Row::next).await?.unwrap_or_default();
        problems.count(Part::Database, problem, count);
    }
    Ok(())
}

impl<C: Content> EvidenceGraph for C {
    fn apply_evidence(
        &self,
        namespace: &str,
        origin: &str,
        records: &[EvidenceRecord],
        changes: &[Change],
    ) -> Result<Applied> {
        let namespaces = &[namespace.to_owned()];
        self.change(&Changing { changes, namespaces, registers: true, origin: None }, async |session, tasks| {
            graph::write(session, namespace, origin, records, tasks).await?;
            Ok(records.len() as u64)
        })
    }

    fn evidence(&self, namespace: &str) -> Result<Vec<EvidenceRecord>> {
        self.read_evidence(&[namespace], async |session| graph::all_records(session, namespace).await)
    }

    fn evidence_of_origin(&self, namespace: &str, origin: &str) -> Result<Vec<EvidenceRecord>> {
        self.read_evidence(&[], async |session| graph::of_origin(session, namespace, origin).await)
    }

    fn evidence_at(&self, namespace: &str, keys: &[EvidenceKey]) -> Result<Vec<Option<EvidenceRecord>>> {
        self.read_evidence(&[namespace], async |session| graph::at(session, namespace, keys).await)
    }

    fn fragments_of(&self, namespace: &str, page: &str) -> Result<Vec<Fragment>> {
        self.read_evidence(&[namespace], async |session| graph::fragments_of(session, namespace, page).await)
    }

    fn edges_to(&self, namespace: &str, target_type: NodeType, target_id: &str) -> Result<Vec<Edge>> {
        self.read_evidence(&[namespace], async |session| {
            graph::edges_to(session, namespace, target_type, target_id).await
        })
    }

    fn evidence_summary(&self, namespace: &str, task: Option<&str>) -> Result<EvidenceSummary> {
        self.read_evidence(&[namespace], async |session| graph::summary(session, namespace, task).await)
    }

    fn query_sql(&self, namespace: &str, query: &SqlQuery, cancelled: &dyn Fn() -> bool) -> Result<SqlRows> {
        self.guard().query(namespace, query, cancelled, |filling| {
            let filling = Cell::new(Some(filling));
            self.read_evidence(&[namespace], async |session| {
                let taken = filling.take().expect("it was given back");
                let copied = copy_evidence(session, namespace, taken).await;
                filling.set(Some(taken));
                copied
            })
        })
    }
}

/// Copies the tables that an untrusted statement names, as far as their copy is not of the state that they have now.
async fn copy_evidence<E: From<StoreError>>(
    session: &dyn Session<E>,
    namespace: &str,
    filling: &mut Filling<'_>,
) -> Result<(), E> {
    let dialect = session.dialect();
    let state: Option<String> = first(session, dialect.evidence_state, values![namespace], Row::next).await?;
    for table in filling.begin(&state.unwrap_or_default())? {
        let mut rows = filling.rows(table)?;
        let mut failed = None;
        let mut add = |row: Row| {
            let values = table.columns.iter().zip(row).map(|(column, value)| match value {
                Value::Bytes(stored) if column.kind == "blob" => {
                    Ok(Value::from((dialect.vector.1)(&stored)?.as_bytes()))
                }
                value => Ok(value),
            });
            let values: Result<Vec<Value>, String> = values.collect();
            let added = values.map_err(|reason| session.damaged(reason)).and_then(|values| Ok(rows.add(&values)?));
            failed = added.err();
            failed.is_none()
        };
        session.each(&table.rows(dialect), values![namespace], &mut add).await?;
        if let Some(error) = failed {
            return Err(error);
        }
        rows.end()?;
        filling.end(table)?;
    }
    Ok(())
}
