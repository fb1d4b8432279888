//! Copies the parts of an index: trees, documents, settings, evidence, and the log of searches.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use tamis_store::{
    Calibration, Change, DocumentId, EVIDENCE_COLLECTION, EvidenceKey, EvidenceRecord, Judgement, LoggedOpening,
    LoggedSearch, Namespace, NewNamespace, QueryQuality, Store, StoreError, TextHash, Tree, UsageLog,
};

use super::compare::{Pair, Pairs};
use super::{Compared, CopyReport, NamespaceComparison, Written};
use crate::Error;
use crate::handle::{SOURCES_PROPERTY, plain, stored_roots};
use crate::index_location::machine_name;
use crate::progress::{Observer, Stage};

/// Most documents that are deleted in one transaction.
const DELETED: usize = 256;

/// Copies the documents of a namespace with their vectors. Returns `false` if the observer stopped it.
pub(crate) fn copy_documents(
    from: &dyn Store,
    to: &dyn Store,
    namespace: &str,
    delete: bool,
    observer: &dyn Observer,
    written: &mut Written,
) -> Result<bool, Error> {
    let mut pairs = Pairs::new(from, to, namespace)?;
    observer.stage(Stage::Copy(namespace.to_owned()), pairs.len());
    if delete {
        written.deleted += remove(to, &pairs.kept)?;
    }
    let models = from.models()?;
    loop {
        if observer.cancelled() {
            return Ok(false);
        }
        let batch = pairs.next()?;
        if batch.is_empty() {
            return Ok(true);
        }
        write(from, to, namespace, &batch, written)?;
        for model in &models {
            let texts: HashMap<TextHash, TextHash> = batch.iter().flat_map(texts).collect();
            let (sources, targets): (Vec<TextHash>, Vec<TextHash>) = texts.into_iter().unzip();
            let vectors = from.text_vectors(namespace, &model.id, &sources)?;
            let known = to.text_vectors(namespace, &model.id, &targets)?;
            let missing: Vec<(TextHash, Vec<f32>)> = targets
                .into_iter()
                .zip(vectors)
                .zip(known)
                .filter_map(|((text, vector), known)| if known.is_none() { Some((text, vector?)) } else { None })
                .collect();
            if !missing.is_empty() {
                written.vectors += to.put_vectors(model, &missing)?;
            }
        }
        observer.advance(batch.len() as u64);
    }
}

fn remove(to: &dyn Store, documents: &[DocumentId]) -> Result<u64, Error> {
    for batch in documents.chunks(DELETED) {
        to.apply(&batch.iter().map(|&document| Change::Delete { document }).collect::<Vec<_>>())?;
    }
    Ok(documents.len() as u64)
}

/// Writes the documents of a batch that differ.
fn write(
    from: &dyn Store,
    to: &dyn Store,
    namespace: &str,
    batch: &[Pair],
    written: &mut Written,
) -> Result<(), Error> {
    let (of_evidence, others): (Vec<&Pair>, Vec<&Pair>) = batch.iter().partition(|pair| pair.is_evidence());
    let changes: Vec<Change> =
        others.iter().filter(|pair| pair.is_to_write()).map(|pair| Change::Put(pair.from.content.clone())).collect();
    if !changes.is_empty() {
        to.apply(&changes)?;
        written.documents += changes.len() as u64;
    }
    copy_each(from, to, namespace, &of_evidence, written)
}

/// The keys of the vectors of each passage: at the source, and at the destination. They differ where a text came from a store
/// that holds no NUL.
fn texts(pair: &Pair) -> impl Iterator<Item = (TextHash, TextHash)> {
    let stored = pair.to.as_ref().filter(|_| !pair.is_to_write());
    pair.from.keys.iter().zip(&pair.from.content.passages).enumerate().map(move |(place, (key, passage))| {
        let there = stored.and_then(|to| to.keys.get(place)).map(|key| key.text_hash);
        (key.text_hash, there.unwrap_or_else(|| TextHash::from_text(&passage.embedded_text)))
    })
}

// The trees of the copied namespaces. A copy writes files as an indexing run does, under the same rule: a namespace keeps its
// tree, and the files of another one are refused before anything is written.

/// A store, and where it lies.
pub(crate) struct Side<'a> {
    /// The store.
    pub store: &'a dyn Store,
    /// The directory that an index moves with, from which it names its trees. `None`: the store names them from the root.
    pub base: Option<PathBuf>,
}

impl<'a> Side<'a> {
    /// A store that names its trees from the root, as a database does.
    pub fn new(store: &'a dyn Store) -> Side<'a> {
        Side { store, base: None }
    }

    /// Where a tree is, from the root. `None` for a place that only the index itself can name.
    fn whole(&self, root: &Path) -> Option<PathBuf> {
        let whole = self.base.as_deref().map_or_else(|| root.to_owned(), |base| plain(&base.join(root)));
        whole.is_absolute().then_some(whole)
    }

    /// The name by which the store knows a place.
    fn own(&self, whole: &Path) -> String {
        let inside = self.base.as_deref().and_then(|base| whole.strip_prefix(base).ok());
        let root: PathBuf = match inside {
            Some(inside) => Path::new(".").join(inside).components().collect(),
            None => whole.to_owned(),
        };
        root.to_string_lossy().into_owned()
    }
}

/// Both sides of a copy.
pub(crate) struct Copied<'a> {
    pub from: &'a Side<'a>,
    pub to: &'a Side<'a>,
    /// True if the user names the tree, which then lies at its path on every machine.
    pub is_named: bool,
}

impl Copied<'_> {
    /// Makes the trees of the source those of the namespaces at the destination. Returns how many namespaces had no tree.
    ///
    /// # Errors
    /// A namespace of the destination holds the files of another tree.
    pub fn claim(&self, namespaces: &[Namespace]) -> Result<u64, Error> {
        let (from, to) = (self.from, self.to);
        let known = to.store.namespaces()?;
        let owned: HashSet<&str> =
            known.iter().filter(|known| known.root.is_some()).map(|known| known.name.as_str()).collect();
        let named: HashMap<String, PathBuf> = match &from.base {
            Some(base) => stored_roots(from.store.property(SOURCES_PROPERTY)?.as_deref(), base).collect(),
            None => HashMap::new(),
        };
        let here = (from.base.is_some() && !self.is_named).then(machine_name);
        let tree = |namespace: &Namespace| {
            let name = namespace.name.as_str();
            let recorded = namespace.root.as_deref().and_then(|root| from.whole(Path::new(root)));
            // A namespace that was only imported into belongs to the directory of its index.
            let imported = || from.base.clone().filter(|_| owned.contains(name));
            let root = recorded.or_else(|| named.get(name).cloned()).or_else(imported)?;
            let machine = namespace.machine.clone().or_else(|| here.clone());
            Some(Tree { namespace: name.to_owned(), root: to.own(&root), machine })
        };
        let trees: Vec<Tree> = namespaces.iter().filter_map(tree).collect();
        match to.store.claim_trees(&trees, false) {
            Err(StoreError::OtherTree { path, mut tree, mut known }) => {
                for tree in [&mut tree, &mut known] {
                    if let Some(whole) = to.whole(Path::new(&tree.root)) {
                        tree.root = whole.to_string_lossy().into_owned();
                    }
                }
                Err(self.refused(&path, &tree, &known))
            }
            claimed => {
                claimed?;
                Ok(trees.iter().filter(|tree| !owned.contains(tree.namespace.as_str())).count() as u64)
            }
        }
    }

    fn refused(&self, path: &Path, tree: &Tree, known: &Tree) -> Error {
        let name = &tree.namespace;
        let way_out = match &self.to.base {
            Some(_) => {
                "copy it to another directory, or run `tamis --index DIR index --moved` in its tree if that moved"
            }
            None => {
                "index this tree there under another name (`TAMIS_STORE_NAMESPACE=NAME tamis --store URL index`), or run \
                 `tamis --store URL index --moved` in it if it moved"
            }
        };
        Error::path(path, format!("{name} holds the files of {known}, not of {tree}; nothing was copied; {way_out}"))
    }
}

// Copying registrations of namespaces, settings of a tree, and calibrated thresholds.

/// The setting that holds the name of an index' own tree. A directory keeps its own.
const NAME: &str = "namespace";

/// Registers a namespace as the source has it. Returns `true` if that changed it.
pub(crate) fn register(to: &dyn Store, namespace: &Namespace, known: Option<&Namespace>) -> Result<bool, Error> {
    if known.is_some_and(|known| is_same_registration(namespace, known)) {
        return Ok(false);
    }
    let Namespace { name, owner, shared, .. } = namespace.clone();
    to.put_namespace(&NewNamespace { name, owner, shared })?;
    Ok(true)
}

/// True if both are registered in the same way. They have the same tree, or no document would have been copied.
pub(crate) fn is_same_registration(from: &Namespace, to: &Namespace) -> bool {
    (&from.owner, from.shared) == (&to.owner, to.shared)
}

/// Copies the settings of a tree, and compares them.
pub(crate) fn copy_settings(from: &dyn Store, to: &dyn Store, written: &mut Written) -> Result<Compared, Error> {
    let settings: Vec<(String, String)> = from.properties()?.into_iter().filter(|(name, _)| name != NAME).collect();
    let there: HashMap<String, String> = to.properties()?.into_iter().collect();
    for (name, value) in settings.iter().filter(|(name, value)| there.get(name) != Some(value)) {
        to.set_property(name, value)?;
        written.settings += 1;
    }
    let there: HashMap<String, String> = to.properties()?.into_iter().filter(|(name, _)| name != NAME).collect();
    let different = settings.iter().filter(|(name, value)| there.get(name) != Some(value)).count() as u64;
    Ok(Compared { from: settings.len() as u64, to: there.len() as u64, different })
}

/// Gives an index in a directory the name of its tree, if it has none.
pub(crate) fn name_tree(to: &dyn Store, tree: &str) -> Result<(), Error> {
    if to.property(NAME)?.is_none() {
        to.set_property(NAME, tree)?;
    }
    Ok(())
}

/// The name of the tree of an index in a directory.
pub(crate) fn tree(store: &dyn Store) -> Result<Option<String>, Error> {
    Ok(store.property(NAME)?)
}

/// Copies thresholds, of two for one language and model the later one, and compares them.
pub(crate) fn copy_thresholds(from: &dyn Store, to: &dyn Store, written: &mut Written) -> Result<Compared, Error> {
    let key = |one: &Calibration| (one.language.clone(), one.provider.clone(), one.model.clone());
    let thresholds = from.calibrations()?;
    let known = |there: Vec<Calibration>| -> HashMap<_, Calibration> {
        there.into_iter().map(|one| (key(&one), one)).collect()
    };
    let is_there = |there: &HashMap<_, Calibration>, one: &Calibration| {
        there.get(&key(one)).is_some_and(|known| known == one || known.calibrated_at_ms > one.calibrated_at_ms)
    };
    let there = known(to.calibrations()?);
    let missing: Vec<Calibration> = thresholds.iter().filter(|one| !is_there(&there, one)).cloned().collect();
    if !missing.is_empty() {
        to.put_calibrations(&missing)?;
        written.thresholds += missing.len() as u64;
    }
    let there = known(to.calibrations()?);
    let different = thresholds.iter().filter(|one| !is_there(&there, one)).count() as u64;
    Ok(Compared { from: thresholds.len() as u64, to: there.len() as u64, different })
}

// Copying the evidence graph. Its fragments and claims are documents too, and are written with them.

/// Most records that are written in one transaction.
const RECORDS: usize = 1_000;

/// The record of a document at the source and at the destination.
type OnBothSides = (Option<EvidenceRecord>, Option<EvidenceRecord>);

/// The records of a namespace that are no documents, each with its origin.
struct Graph(BTreeMap<EvidenceKey, (String, EvidenceRecord)>);

impl Graph {
    fn from_store(store: &dyn Store, namespace: &str) -> Result<Graph, Error> {
        let mut records = BTreeMap::new();
        for origin in store.origins()? {
            if origin.namespace == namespace && origin.collection == EVIDENCE_COLLECTION {
                for record in store.evidence_of_origin(namespace, &origin.name)? {
                    records.insert(record.key(), (origin.name.clone(), record));
                }
            }
        }
        Ok(Graph(records))
    }

    /// The records that the other one lacks or has differently, by origin.
    fn missing_in(&self, other: &Graph, wanted: impl Fn(&EvidenceRecord) -> bool) -> Vec<(&str, Vec<EvidenceRecord>)> {
        let mut missing: HashMap<&str, Vec<EvidenceRecord>> = HashMap::new();
        for (key, (origin, record)) in &self.0 {
            if wanted(record) && other.0.get(key) != Some(&(origin.clone(), record.clone())) {
                missing.entry(origin).or_default().push(record.clone());
            }
        }
        missing.into_iter().collect()
    }
}

/// Copies what documents of the evidence refer to: tasks, works and pages. With `delete`, every import at the destination with a
/// record that the source does not have is removed first, and is copied again.
pub(crate) fn copy_nodes(
    from: &dyn Store,
    to: &dyn Store,
    namespace: &str,
    delete: bool,
    written: &mut Written,
) -> Result<(), Error> {
    let graph = Graph::from_store(from, namespace)?;
    let mut there = Graph::from_store(to, namespace)?;
    if delete {
        let mut surplus: Vec<&String> =
            there.0.iter().filter(|(key, _)| !graph.0.contains_key(key)).map(|(_, (origin, _))| origin).collect();
        surplus.dedup();
        for origin in surplus.iter().collect::<std::collections::BTreeSet<_>>() {
            written.deleted += to.remove_origin(origin, &[namespace.to_owned()])?.deleted;
        }
        if !surplus.is_empty() {
            there = Graph::from_store(to, namespace)?;
        }
    }
    // A page refers to its work.
    let is_page = |record: &EvidenceRecord| matches!(record, EvidenceRecord::Page(_));
    let is_edge = |record: &EvidenceRecord| matches!(record, EvidenceRecord::Edge(_));
    put(to, namespace, graph.missing_in(&there, |record| !is_page(record) && !is_edge(record)), written)?;
    put(to, namespace, graph.missing_in(&there, is_page), written)
}

/// Copies the edges, whose ends are there now.
pub(crate) fn copy_edges(
    from: &dyn Store,
    to: &dyn Store,
    namespace: &str,
    written: &mut Written,
) -> Result<(), Error> {
    let is_edge = |record: &EvidenceRecord| matches!(record, EvidenceRecord::Edge(_));
    let missing = Graph::from_store(from, namespace)?;
    let there = Graph::from_store(to, namespace)?;
    put(to, namespace, missing.missing_in(&there, is_edge), written)
}

fn put(
    to: &dyn Store,
    namespace: &str,
    records: Vec<(&str, Vec<EvidenceRecord>)>,
    written: &mut Written,
) -> Result<(), Error> {
    for (origin, records) in records {
        for batch in records.chunks(RECORDS) {
            to.apply_evidence(namespace, origin, batch, &[])?;
            written.evidence += batch.len() as u64;
        }
    }
    Ok(())
}

/// Writes the documents of fragments and claims that differ, with their records.
pub(crate) fn copy_each(
    from: &dyn Store,
    to: &dyn Store,
    namespace: &str,
    pairs: &[&Pair],
    written: &mut Written,
) -> Result<(), Error> {
    let (mut records, mut changes) = (Vec::new(), Vec::new());
    for (pair, (here, there)) in pairs.iter().zip(records_of(from, to, namespace, pairs)?) {
        if here != there || pair.is_to_write() {
            changes.push(Change::Put(pair.from.content.clone()));
            records.extend(here);
        }
    }
    if changes.is_empty() {
        return Ok(());
    }
    to.apply_evidence(namespace, "", &records, &changes)?;
    written.evidence += records.len() as u64;
    written.documents += changes.len() as u64;
    Ok(())
}

/// The records of documents on both sides, in the order given.
fn records_of(from: &dyn Store, to: &dyn Store, namespace: &str, pairs: &[&Pair]) -> Result<Vec<OnBothSides>, Error> {
    let keyed: Vec<Option<EvidenceKey>> =
        pairs.iter().map(|pair| EvidenceKey::of_path(&pair.from.content.path)).collect();
    let keys: Vec<EvidenceKey> = keyed.iter().flatten().cloned().collect();
    let mut records = from.evidence_at(namespace, &keys)?.into_iter().zip(to.evidence_at(namespace, &keys)?);
    Ok(keyed.iter().map(|key| key.as_ref().and_then(|_| records.next()).unwrap_or_default()).collect())
}

/// Compares the records of both sides.
pub(crate) fn compare(
    from: &dyn Store,
    to: &dyn Store,
    namespace: &str,
    comparison: &mut NamespaceComparison,
) -> Result<(), Error> {
    let records = |store: &dyn Store| -> Result<BTreeMap<EvidenceKey, EvidenceRecord>, Error> {
        Ok(store.evidence(namespace)?.into_iter().map(|record| (record.key(), record)).collect())
    };
    let (here, there) = (records(from)?, records(to)?);
    // The origins of those without a document decide what removing an import removes.
    let (origins, origins_there) = (Graph::from_store(from, namespace)?, Graph::from_store(to, namespace)?);
    comparison.evidence.from = here.len() as u64;
    comparison.evidence.to = there.len() as u64;
    for (key, record) in &here {
        if there.get(key) != Some(record) || origins.0.get(key) != origins_there.0.get(key) {
            comparison.evidence.different += 1;
            comparison.name_difference(|| key.to_string());
        }
    }
    Ok(())
}

// Copying recorded searches, what people said of them, and the quality figures of queries.

/// Searches of one transaction.
const SEARCHES: usize = 100;
/// Quality figures of one transaction.
const ROWS: usize = 1_000;

/// Copies a log, or what concerns these namespaces alone, and compares both. Returns `false` if the observer stopped it.
pub(crate) fn copy_usage(
    from: &dyn UsageLog,
    to: &dyn UsageLog,
    namespaces: &[String],
    observer: &dyn Observer,
    report: &mut CopyReport,
) -> Result<bool, Error> {
    observer.stage(Stage::Copy("recorded searches".to_owned()), 0);
    let all = all_searches(from)?;
    let searches: Vec<&LoggedSearch> = all.iter().filter(|one| concerns(&one.search.namespace, namespaces)).collect();
    for batch in searches.chunks(SEARCHES) {
        if observer.cancelled() {
            return Ok(false);
        }
        let there = find_logged(to, batch)?;
        let missing: Vec<LoggedSearch> = batch
            .iter()
            .zip(there)
            .filter(|(search, there)| !there.as_ref().is_some_and(|there| holds_labels(there, search)))
            .map(|(search, _)| (*search).clone())
            .collect();
        if !missing.is_empty() {
            report.written.searches += to.add_searches(&missing)?;
        }
        observer.advance(batch.len() as u64);
    }
    report.searches = compare_searches(to, &searches)?;
    copy_quality(from, to, namespaces, observer, report)
}

/// True if a search named nothing but these namespaces; none stands for all.
fn concerns(named: &str, namespaces: &[String]) -> bool {
    namespaces.is_empty() || named.split(',').all(|name| namespaces.iter().any(|wanted| wanted == name))
}

fn all_searches(log: &dyn UsageLog) -> Result<Vec<LoggedSearch>, Error> {
    let mut all: Vec<LoggedSearch> = Vec::new();
    loop {
        let after = all.last().map_or(0, |last| last.number);
        let batch = log.logged_searches(after, SEARCHES)?;
        if batch.is_empty() {
            return Ok(all);
        }
        all.extend(batch);
    }
}

fn find_logged(log: &dyn UsageLog, searches: &[&LoggedSearch]) -> Result<Vec<Option<LoggedSearch>>, Error> {
    Ok(log.logged(&searches.iter().map(|one| one.search.id.as_str()).collect::<Vec<_>>())?)
}

/// True if a search has all judgements and openings of another one.
fn holds_labels(there: &LoggedSearch, search: &LoggedSearch) -> bool {
    let judgements: HashSet<&Judgement> = there.judgements.iter().collect();
    let openings: HashSet<&str> = there.openings.iter().map(|opening| opening.passage.as_str()).collect();
    let is_opened = |opening: &LoggedOpening| openings.contains(opening.passage.as_str());
    search.judgements.iter().all(|one| judgements.contains(one)) && search.openings.iter().all(is_opened)
}

fn compare_searches(to: &dyn UsageLog, searches: &[&LoggedSearch]) -> Result<Compared, Error> {
    let mut compared = Compared { from: searches.len() as u64, ..Compared::default() };
    for batch in searches.chunks(SEARCHES) {
        for (search, there) in batch.iter().zip(find_logged(to, batch)?) {
            let Some(there) = there else {
                compared.different += 1;
                continue;
            };
            compared.to += 1;
            compared.different += u64::from(there.search != search.search || !holds_labels(&there, search));
        }
    }
    Ok(compared)
}

/// What tells the figures of two queries apart.
type QueryKey = (i64, [u8; 32], String, String, Option<String>);

fn query_key(row: &QueryQuality) -> QueryKey {
    (row.at_ms, row.query_hash, row.entry_point.clone(), row.namespace.clone(), row.search_id.clone())
}

fn all_quality(log: &dyn UsageLog, namespaces: &[String]) -> Result<Vec<QueryQuality>, Error> {
    let (mut all, mut after) = (Vec::new(), 0);
    loop {
        let batch = log.logged_quality(after, ROWS)?;
        let Some((last, _)) = batch.last() else { return Ok(all) };
        after = *last;
        all.extend(batch.into_iter().map(|(_, row)| row).filter(|row| concerns(&row.namespace, namespaces)));
    }
}

fn copy_quality(
    from: &dyn UsageLog,
    to: &dyn UsageLog,
    namespaces: &[String],
    observer: &dyn Observer,
    report: &mut CopyReport,
) -> Result<bool, Error> {
    let rows = all_quality(from, namespaces)?;
    let keys = |rows: &[QueryQuality]| -> HashSet<QueryKey> { rows.iter().map(query_key).collect() };
    let there = keys(&all_quality(to, namespaces)?);
    let missing: Vec<QueryQuality> = rows.iter().filter(|row| !there.contains(&query_key(row))).cloned().collect();
    for batch in missing.chunks(ROWS) {
        if observer.cancelled() {
            return Ok(false);
        }
        to.add_quality(batch)?;
        report.written.queries += batch.len() as u64;
    }
    let found = all_quality(to, namespaces)?;
    let there = keys(&found);
    let different = rows.iter().filter(|row| !there.contains(&query_key(row))).count() as u64;
    report.queries = Compared { from: rows.len() as u64, to: found.len() as u64, different };
    Ok(true)
}
