//! The store in a directory: SQLite for the truth, Tantivy and vector files for the search.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::calibration::Calibration;
use crate::check;
use crate::error::{Result, StoreError};
use crate::evidence::{Edge, EvidenceKey, EvidenceRecord, Fragment, NodeType};
use crate::filter::{Filter, Selection};
use crate::hits::{Background, LexicalHits, LexicalQuery, LexicalScore, Nearest, SemanticHit};
use crate::lexical::{Lexical, Reader, State, guarded};
use crate::lock::{Hold, WriteLock};
use crate::namespace::{Namespace, NewNamespace};
use crate::record::{
    Applied, Attribute, Change, DocumentId, DocumentState, ModelKey, PassageId, PassageRef, StoredPassage, TextHash,
    TextToEmbed,
};
use crate::report::{Coverage, EvidenceSummary, Findings, Origin, Progress, Pruned, Summary};
use crate::semantic::Semantic;
use crate::sql::{SqlQuery, SqlRows};
use crate::sqlite::{ContentState, Database, ModelRow, has_log, lock};
use crate::store::{Store, Writing};
use crate::vectors::cosine;

const DATABASE: &str = "tamis.db";
const LOCK: &str = "write.lock";
const LEXICAL: &str = "lexical";
const VECTORS: &str = "vectors";

/// Filters whose passages are remembered until the database changes.
const REMEMBERED_FILTERS: usize = 16;
/// How long the first process on a directory is waited for while it makes the database.
const MAKING: Duration = Duration::from_secs(10);
/// The similarity by codes is that close to the true one: what could be among the best is scored in full precision.
const CODE_ERROR: f32 = 0.01;

/// What a store is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Searching only. The index must exist; its directory need not be writable, and nothing is made in it.
    ReadOnly,
    /// Searching and writing. The index is made where there is none.
    ReadWrite,
}

/// The [`Store`] in a directory of its own.
///
/// It holds `tamis.db`, the truth, and what is made from it and may be deleted: `lexical/` and `vectors/`. Several stores
/// in several processes may be open on one directory; one of them writes at a time, under `write.lock`.
#[derive(Debug)]
pub struct EmbeddedStore {
    directory: PathBuf,
    access: Access,
    database: Database,
    lock: WriteLock,
    lexical: Lexical,
    semantic: Semantic,
    /// One publication at a time within the process.
    publishing: Mutex<()>,
    selections: Mutex<VecDeque<Remembered>>,
    coverages: Mutex<VecDeque<RememberedCoverage>>,
    /// The namespaces at a change number: every search asks for them.
    namespaces: Mutex<Option<(u64, Vec<Namespace>)>>,
}

/// A filter and what it selects in a state of the database.
#[derive(Debug)]
struct Remembered {
    state: ContentState,
    filter: Filter,
    selection: Arc<Selection>,
}

/// How far a model went in a state of the database.
#[derive(Debug)]
struct RememberedCoverage {
    state: ContentState,
    model: String,
    filter: Filter,
    coverage: Coverage,
}

impl EmbeddedStore {
    /// Opens the store in a directory.
    ///
    /// # Errors
    ///
    /// [`Missing`](StoreError::Missing) when it is opened to read and is not there, [`ReadOnly`](StoreError::ReadOnly) when
    /// it is opened to write and can not be written, [`Newer`](StoreError::Newer) when a newer version of the program
    /// wrote it, [`Corrupt`](StoreError::Corrupt) when the database is none, or is empty where an index was.
    pub fn open(directory: impl AsRef<Path>, access: Access) -> Result<EmbeddedStore> {
        let directory = directory.as_ref();
        let path = directory.join(DATABASE);
        let lock = WriteLock::new(directory.join(LOCK));
        let database = match access {
            Access::ReadWrite => {
                std::fs::create_dir_all(directory)
                    .map_err(|error| StoreError::io(directory, "making the directory", error))?;
                if !stands(&path)? {
                    // Of several processes that come at once, one makes it, and may write on at once.
                    let hold = lock.wait(MAKING, &mut |_| !stands(&path).unwrap_or(true));
                    if !stands(&path)? {
                        let _hold = hold?;
                        Database::make(&path)?;
                    }
                }
                Database::open_writable(&path)?
            }
            Access::ReadOnly => {
                if !stands(&path)? {
                    return Err(StoreError::Missing { path: directory.to_owned() });
                }
                Database::open_read_only(&path)?
            }
        };
        let instance = database.instance();
        Ok(EmbeddedStore {
            directory: directory.to_owned(),
            access,
            lock,
            lexical: Lexical::new(directory.join(LEXICAL), instance),
            semantic: Semantic::new(directory.join(VECTORS), instance),
            publishing: Mutex::default(),
            selections: Mutex::default(),
            coverages: Mutex::default(),
            namespaces: Mutex::default(),
            database,
        })
    }

    /// The directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// What it was opened for.
    pub fn access(&self) -> Access {
        self.access
    }

    /// Fails where the directory holds another index by now, or none.
    ///
    /// # Errors
    /// [`Replaced`](StoreError::Replaced).
    pub fn check_place(&self) -> Result<()> {
        self.database.check_place()
    }

    fn hold(&self) -> Result<Hold<'_>> {
        self.may_write()?;
        let hold = self.lock.hold()?;
        // The lock is that of whatever index is there.
        self.database.check_place()?;
        Ok(hold)
    }

    fn may_write(&self) -> Result<()> {
        match self.access {
            // Without its directory the lock could not even be named.
            Access::ReadWrite => self.database.check_place(),
            Access::ReadOnly => {
                Err(StoreError::ReadOnly { path: self.directory.clone(), reason: "opened for reading only".to_owned() })
            }
        }
    }

    fn resolve(&self, filter: &Filter) -> Result<Arc<Selection>> {
        let state = self.database.content_state(filter.is_by_properties())?;
        {
            let mut remembered = lock(&self.selections);
            remembered.retain(|entry| entry.state.seq == state.seq);
            if let Some(entry) = remembered.iter().find(|entry| entry.state == state && entry.filter == *filter) {
                return Ok(entry.selection.clone());
            }
        }
        // A change in between makes the selection newer than its state: it is then resolved again.
        let selection = Arc::new(self.database.resolve(filter)?);
        let mut remembered = lock(&self.selections);
        if remembered.len() == REMEMBERED_FILTERS {
            remembered.pop_front();
        }
        remembered.push_back(Remembered { state, filter: filter.clone(), selection: selection.clone() });
        Ok(selection)
    }

    /// The lexical index as it stands, rebuilt first where it can not be used. `None` when there is nothing to search.
    fn reader(&self) -> Result<Option<Arc<Reader>>> {
        let reason = match self.lexical.state() {
            State::Ready(reader) => return Ok(Some(reader)),
            State::Missing => "there is none yet".to_owned(),
            State::Unusable(reason) => reason,
        };
        if self.database.resolve(&Filter::default())?.count == 0 {
            return Ok(None);
        }
        let unpublished = || StoreError::Unpublished { path: self.lexical.path().to_owned(), reason: reason.clone() };
        if self.access == Access::ReadOnly {
            return Err(unpublished());
        }
        let _hold = self.hold()?;
        let _publishing = lock(&self.publishing);
        let seq = self.lexical.catch_up(&self.database, false, &mut |_| {})?;
        self.database.published(seq, 0)?;
        match self.lexical.state() {
            State::Ready(reader) => Ok(Some(reader)),
            _ => Err(unpublished()),
        }
    }

    fn publish_all(&self, rebuild: bool, progress: &mut dyn FnMut(Progress)) -> Result<()> {
        let _hold = self.hold()?;
        let _publishing = lock(&self.publishing);
        let lexical = self.lexical.catch_up(&self.database, rebuild, progress)?;
        let vectors = match self.semantic.publish(&self.database, rebuild, progress) {
            Ok(vectors) => vectors,
            Err(error) => {
                // Of the lexical index it is known at least that it can be trusted.
                self.database.published(lexical, 0)?;
                return Err(error);
            }
        };
        self.database.published(lexical.max(vectors.highest), lexical.min(vectors.lowest))?;
        // What is not tidied up now is by another publication.
        let _ = self.database.tidy();
        Ok(())
    }

    fn tantivy<T>(&self, result: tantivy::Result<T>) -> Result<T> {
        result.map_err(|error| StoreError::tantivy(self.lexical.path(), error))
    }

    /// A model that the store knows, when the query's vector is one of it.
    fn model_of(&self, model: &str, vector: &[f32]) -> Result<Option<ModelRow>> {
        let Some(model) = self.database.model(model)? else {
            return Ok(None);
        };
        if vector.len() != model.dimension {
            return Err(StoreError::Dimension { model: model.name, expected: model.dimension, received: vector.len() });
        }
        if vector.iter().any(|value| !value.is_finite()) {
            return Err(StoreError::NotFinite { model: model.name, what: "the query".to_owned() });
        }
        Ok(Some(model))
    }

    fn similarities_under(&self, model: &ModelRow, vector: &[f32], ids: &[PassageId]) -> Result<Vec<Option<f32>>> {
        let mut similarities = Vec::with_capacity(ids.len());
        self.database.each_vector(model, ids, |stored| {
            similarities.push(stored.map(|stored| cosine(vector, stored)));
            Ok(())
        })?;
        Ok(similarities)
    }
}

impl Store for EmbeddedStore {
    fn writer(&self) -> Result<Writing<'_>> {
        Ok(Writing::new(self.hold()?))
    }

    fn wait_to_write(&self, patience: Duration, waiting: &mut dyn FnMut(&str) -> bool) -> Result<Writing<'_>> {
        self.may_write()?;
        let hold = self.lock.wait(patience, waiting)?;
        self.database.check_place()?;
        Ok(Writing::new(hold))
    }

    fn namespaces(&self) -> Result<Vec<Namespace>> {
        let seq = self.database.seq()?;
        if let Some((_, known)) = lock(&self.namespaces).as_ref().filter(|(known_at, _)| *known_at == seq) {
            return Ok(known.clone());
        }
        let known = self.database.namespaces()?;
        *lock(&self.namespaces) = Some((seq, known.clone()));
        Ok(known)
    }

    fn put_namespace(&self, namespace: &NewNamespace) -> Result<()> {
        let _hold = self.hold()?;
        self.database.put_namespace(namespace)
    }

    fn remove_namespace(&self, name: &str) -> Result<Applied> {
        let _hold = self.hold()?;
        self.database.remove_namespace(name)
    }

    fn documents(&self, namespace: &str) -> Result<Vec<DocumentState>> {
        self.database.documents(namespace)
    }

    fn document(&self, namespace: &str, path: &str) -> Result<Option<DocumentState>> {
        self.database.document(namespace, path)
    }

    fn document_passages(&self, namespace: &str, path: &str) -> Result<Vec<StoredPassage>> {
        self.database.document_passages(namespace, path)
    }

    fn records(&self, documents: &[DocumentId]) -> Result<Vec<Option<String>>> {
        self.database.records(documents)
    }

    fn attributes(&self, documents: &[DocumentId]) -> Result<Vec<Vec<Attribute>>> {
        self.database.attributes(documents)
    }

    fn origins(&self) -> Result<Vec<Origin>> {
        self.database.origins()
    }

    fn apply(&self, changes: &[Change]) -> Result<Applied> {
        let _hold = self.hold()?;
        self.database.apply(changes)
    }

    fn apply_evidence(
        &self,
        namespace: &str,
        origin: &str,
        records: &[EvidenceRecord],
        changes: &[Change],
    ) -> Result<Applied> {
        let _hold = self.hold()?;
        self.database.apply_evidence(namespace, origin, records, changes)
    }

    fn evidence(&self, namespace: &str) -> Result<Vec<EvidenceRecord>> {
        self.database.evidence(namespace)
    }

    fn evidence_at(&self, namespace: &str, keys: &[EvidenceKey]) -> Result<Vec<Option<EvidenceRecord>>> {
        self.database.evidence_at(namespace, keys)
    }

    fn fragments_of(&self, namespace: &str, page: &str) -> Result<Vec<Fragment>> {
        self.database.fragments_of(namespace, page)
    }

    fn edges_to(&self, namespace: &str, target_type: NodeType, target_id: &str) -> Result<Vec<Edge>> {
        self.database.edges_to(namespace, target_type, target_id)
    }

    fn evidence_summary(&self, namespace: &str, task: Option<&str>) -> Result<EvidenceSummary> {
        self.database.evidence_summary(namespace, task)
    }

    fn remove_origin(&self, origin: &str, namespaces: &[String]) -> Result<Applied> {
        let _hold = self.hold()?;
        self.database.remove_origin(origin, namespaces)
    }

    fn set_dates(&self, namespace: &str, dates: &[(String, i64)]) -> Result<u64> {
        let _hold = self.hold()?;
        self.database.set_dates(namespace, dates)
    }

    fn publish(&self, progress: &mut dyn FnMut(Progress)) -> Result<()> {
        self.publish_all(false, progress)
    }

    fn unembedded(&self, model: &str, filter: &Filter, limit: usize) -> Result<Vec<TextToEmbed>> {
        self.database.unembedded(model, &*self.resolve(filter)?, limit)
    }

    fn put_vectors(&self, model: &ModelKey, vectors: &[(TextHash, Vec<f32>)]) -> Result<u64> {
        let _hold = self.hold()?;
        self.database.put_vectors(model, vectors)
    }

    fn lexical(&self, query: &LexicalQuery, filter: &Filter, k: usize) -> Result<LexicalHits> {
        let selection = self.resolve(filter)?;
        let Some(reader) = self.reader()? else {
            return Ok(LexicalHits::default());
        };
        let mut found = self.tantivy(guarded(|| reader.search(&query.text, &selection, k)))?;
        found.statistics.passages = selection.count;
        // The index may lag behind: what is gone from the database is gone.
        let mut ids: Vec<u64> = found.hits.iter().map(|hit| hit.passage.0).collect();
        ids.sort_unstable();
        let existing = self.database.existing(&ids)?;
        found.hits.retain(|hit| existing.binary_search(&hit.passage.0).is_ok());
        Ok(found)
    }

    fn bm25(&self, query: &LexicalQuery, filter: &Filter, ids: &[PassageId]) -> Result<Vec<LexicalScore>> {
        let selection = self.resolve(filter)?;
        match self.reader()? {
            Some(reader) => self.tantivy(guarded(|| reader.score(&query.text, &selection, ids))),
            None => Ok(vec![LexicalScore::default(); ids.len()]),
        }
    }

    fn nearest(&self, model: &str, vector: &[f32], filter: &Filter, k: usize) -> Result<Nearest> {
        let Some(model) = self.model_of(model, vector)? else {
            return Ok(Nearest::default());
        };
        let selection = self.resolve(filter)?;
        let count = k.saturating_add(k / 2).saturating_add(32);
        let coded = self.semantic.nearest(&self.database, &model, vector, &selection, count)?;
        let worst = match k.checked_sub(1) {
            None => f32::INFINITY,
            Some(last) => coded.hits.get(last).map_or(f32::NEG_INFINITY, |hit| hit.similarity - 2.0 * CODE_ERROR),
        };
        let ids: Vec<PassageId> =
            coded.hits.iter().take_while(|hit| hit.similarity >= worst).map(|hit| PassageId(hit.passage)).collect();
        let similarities = self.similarities_under(&model, vector, &ids)?;
        let mut hits: Vec<SemanticHit> = ids
            .into_iter()
            .zip(similarities)
            .filter_map(|(passage, similarity)| similarity.map(|similarity| SemanticHit { passage, similarity }))
            .collect();
        hits.sort_by(|a, b| b.similarity.total_cmp(&a.similarity).then(a.passage.cmp(&b.passage)));
        hits.truncate(k);
        Ok(Nearest { hits, background: Background::from(coded.background) })
    }

    fn similarities(&self, model: &str, vector: &[f32], ids: &[PassageId]) -> Result<Vec<Option<f32>>> {
        match self.model_of(model, vector)? {
            Some(model) => self.similarities_under(&model, vector, ids),
            None => Ok(vec![None; ids.len()]),
        }
    }

    fn vectors(&self, model: &str, ids: &[PassageId]) -> Result<Vec<Option<Vec<f32>>>> {
        let Some(model) = self.database.model(model)? else {
            return Ok(vec![None; ids.len()]);
        };
        let mut vectors = Vec::with_capacity(ids.len());
        self.database.each_vector(&model, ids, |stored| {
            vectors.push(stored.map(<[f32]>::to_vec));
            Ok(())
        })?;
        Ok(vectors)
    }

    fn passages(&self, ids: &[PassageId]) -> Result<Vec<StoredPassage>> {
        self.database.passages(ids)
    }

    fn find(&self, prefix: &str, limit: usize) -> Result<Vec<StoredPassage>> {
        self.database.find(prefix, limit)
    }

    fn select(&self, filter: &Filter) -> Result<Vec<PassageRef>> {
        self.database.select(&*self.resolve(filter)?)
    }

    fn query_sql(&self, namespace: &str, query: &SqlQuery, cancelled: &dyn Fn() -> bool) -> Result<SqlRows> {
        self.database.query_sql(namespace, query, cancelled)
    }

    fn coverage(&self, model: &str, filter: &Filter) -> Result<Coverage> {
        let state = self.database.content_state(filter.is_by_properties())?;
        {
            let mut remembered = lock(&self.coverages);
            remembered.retain(|entry| entry.state.seq == state.seq);
            let same =
                |entry: &&RememberedCoverage| entry.state == state && entry.model == model && entry.filter == *filter;
            if let Some(entry) = remembered.iter().find(same) {
                return Ok(entry.coverage);
            }
        }
        let selection = self.resolve(filter)?;
        // Where a model has seen all passages, or none, no one of a filter's has to be looked at: filters by date are
        // others at each search.
        let whole = if selection.is_everything() { None } else { Some(self.coverage(model, &Filter::default())?) };
        let coverage = match whole {
            Some(whole) if whole.embedded == whole.passages => {
                Coverage { passages: selection.count, embedded: selection.count }
            }
            Some(whole) if whole.embedded == 0 => Coverage { passages: selection.count, embedded: 0 },
            _ => self.database.coverage(model, &selection)?,
        };
        let mut remembered = lock(&self.coverages);
        if remembered.len() == REMEMBERED_FILTERS {
            remembered.pop_front();
        }
        remembered.push_back(RememberedCoverage { state, model: model.to_owned(), filter: filter.clone(), coverage });
        Ok(coverage)
    }

    fn summary(&self) -> Result<Summary> {
        check::summary(&self.database, &self.lexical, &self.semantic)
    }

    fn property(&self, name: &str) -> Result<Option<String>> {
        self.database.property(name)
    }

    fn set_property(&self, name: &str, value: &str) -> Result<()> {
        let _hold = self.hold()?;
        self.database.set_property(name, value)
    }

    fn calibrations(&self) -> Result<Vec<Calibration>> {
        self.database.calibrations()
    }

    fn put_calibrations(&self, calibrations: &[Calibration]) -> Result<()> {
        let _hold = self.hold()?;
        self.database.put_calibrations(calibrations)
    }

    fn clear_calibrations(&self) -> Result<u64> {
        let _hold = self.hold()?;
        self.database.clear_calibrations()
    }

    fn check(&self) -> Result<Findings> {
        check::check(&self.database, &self.lexical, &self.semantic)
    }

    fn mend(&self, progress: &mut dyn FnMut(Progress)) -> Result<Findings> {
        let _hold = self.hold()?;
        let found = self.check()?;
        let rebuild = found.problems.iter().any(|problem| problem.mendable);
        self.publish_all(rebuild, progress)?;
        self.check()
    }

    fn prune(&self) -> Result<Pruned> {
        let _hold = self.hold()?;
        self.database.prune()
    }
}

/// Whether there is a database at the path. One of 0 bytes is none, and something is lost where an index has been.
fn stands(path: &Path) -> Result<bool> {
    match std::fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(StoreError::io(path, "looking for the database", error)),
        Ok(metadata) if metadata.len() > 0 || !metadata.is_file() => return Ok(true),
        Ok(_) => {}
    }
    let directory = path.parent().unwrap_or(Path::new("."));
    let traces = traces(directory);
    if traces.is_empty() {
        return Ok(false);
    }
    let reason = format!("it is empty, though {} of an index that was here", traces.join(" and "));
    Err(StoreError::Corrupt { path: path.to_owned(), reason })
}

/// What tells that a directory has held an index, besides its database.
fn traces(directory: &Path) -> Vec<String> {
    let holds = |name: &str| std::fs::metadata(directory.join(name)).is_ok_and(|metadata| metadata.len() > 0);
    let vectors = std::fs::read_dir(directory.join(VECTORS)).into_iter().flatten().flatten();
    let mut vectors = vectors.filter(|entry| entry.path().extension().is_some_and(|extension| extension == "tvec"));
    let mut traces = Vec::new();
    let mut trace = |found: bool, what: &str| {
        if found {
            traces.push(what.to_owned());
        }
    };
    trace(has_log(&directory.join(DATABASE)), "its log is left");
    trace(holds("lexical/meta.json"), "lexical/ is left");
    trace(vectors.next().is_some(), "vectors/ is left");
    trace(holds("usage.db"), "usage.db is left");
    traces
}

impl From<crate::vectors::Background> for Background {
    fn from(measured: crate::vectors::Background) -> Background {
        let quantiles = measured.quantiles;
        Background {
            count: measured.count as u64,
            sampled: measured.sampled < measured.count,
            mean: measured.mean,
            deviation: measured.deviation,
            quantiles: vec![
                (0.5, quantiles.p50),
                (0.75, quantiles.p75),
                (0.9, quantiles.p90),
                (0.95, quantiles.p95),
                (0.99, quantiles.p99),
                (0.999, quantiles.p999),
            ],
        }
    }
}
