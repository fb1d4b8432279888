//! One run: bring an index up to date with its tree. walk → plan → read and split → commit → publish → embed → publish.

use super::plan::{Plan, movable, plan, remaining};
use super::read::{FILE_COLLECTIONS, bytes, content_hash, read};
use super::walk::{FoundFile, walk};
use super::{Index, Observer, Stage};
use crate::Error;
use rayon::prelude::*;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::sync::mpsc::sync_channel;
use std::time::{Duration, Instant};
use tamis_store::{Applied, Change, DocumentId, DocumentState, Filter, ModelKey, Store, TextHash};

/// Files that are read and split before their documents are committed together.
const FILES_A_BATCH: usize = 128;

/// Texts that are embedded before their vectors are committed together: a killed run loses at most this much work.
const TEXTS_A_BATCH: usize = 1024;

/// How long those who search during a run may miss what it has replaced.
const PUBLISH_EVERY: Duration = Duration::from_secs(2);

/// How the splitter divides files. Files are read again when this or a setting that it depends on changes.
pub(crate) const SPLITTER: &str = "2";

/// What a run may spend.
#[derive(Clone, Copy, Debug)]
pub struct RunOptions {
    /// Most passages to embed with each model after the first one; a model that lacks more is left for another run.
    pub embed_at_most: u64,
    /// Read every file, whatever its size and time say.
    pub reread: bool,
}

impl RunOptions {
    /// Everything, however long it takes.
    pub const WHOLE: RunOptions = RunOptions { embed_at_most: u64::MAX, reread: false };
}

/// What a run did.
#[derive(Clone, Debug, Default, Serialize)]
pub struct RunReport {
    /// Files that are new.
    pub added: u64,
    /// Files whose content changed.
    pub changed: u64,
    /// Files that moved.
    pub moved: u64,
    /// Files that are gone.
    pub removed: u64,
    /// Files that are as they were.
    pub unchanged: u64,
    /// Passages written.
    pub passages: u64,
    /// Passages embedded, by model.
    pub embedded: BTreeMap<String, u64>,
    /// Passages still without a vector, by model.
    pub pending: BTreeMap<String, u64>,
    /// Files left out, by kind.
    pub skipped: BTreeMap<String, u64>,
    /// Files and directories that could not be read, with the reason.
    pub unreadable: Vec<String>,
    /// Whether the run was stopped before its end; the next one goes on.
    pub interrupted: bool,
    /// Milliseconds by stage.
    pub timings_ms: BTreeMap<String, f64>,
}

impl RunReport {
    /// Whether the run changed anything in the index.
    pub fn changed_anything(&self) -> bool {
        self.added + self.changed + self.moved + self.removed > 0 || self.embedded.values().any(|&count| count > 0)
    }

    fn time(&mut self, stage: &str, since: Instant) {
        *self.timings_ms.entry(stage.to_owned()).or_default() += since.elapsed().as_secs_f64() * 1000.0;
    }
}

/// The difference between the tree and the index, without changing anything: how many files are stale.
pub(super) fn stale(index: &Index) -> Result<u64, Error> {
    let found = walk_tree(index)?;
    Ok(plan(&index.location.root, &found, files(index)?, false).stale())
}

/// Publishes and embeds what was committed, without looking at the tree. The caller holds the right to write.
pub(super) fn complete(index: &Index, options: RunOptions, observer: &dyn Observer) -> Result<RunReport, Error> {
    let mut report = RunReport::default();
    publish(index, observer, &mut report)?;
    embed(index, options, observer, &mut report)?;
    Ok(report)
}

/// Runs. The caller holds the right to write.
pub(super) fn run(index: &Index, options: RunOptions, observer: &dyn Observer) -> Result<RunReport, Error> {
    let mut report = RunReport::default();
    let started = Instant::now();
    observer.stage(Stage::Walk, 0);
    let found = walk_tree(index)?;
    report.skipped = found.skipped.iter().map(|(kind, count)| ((*kind).to_owned(), *count)).collect();
    report.unreadable = found.unreadable.iter().map(|(_, reason)| reason.clone()).collect();

    let settings = splitter_settings(index);
    let resplit = index.store.property("splitter")?.is_some_and(|stored| stored != settings);
    let plan = plan(&index.location.root, &found, files(index)?, options.reread || resplit);
    report.unchanged = plan.unchanged;
    report.time("walk", started);

    if plan.stale() > 0 {
        commit(index, &plan, resplit, observer, &mut report)?;
    }
    if !report.interrupted {
        index.store.set_property("splitter", &settings)?;
    }
    publish(index, observer, &mut report)?;
    embed(index, options, observer, &mut report)?;
    Ok(report)
}

fn walk_tree(index: &Index) -> Result<super::walk::Found, Error> {
    let Index { location, config, .. } = index;
    if !location.root.is_dir() {
        return Err(Error::path(&location.root, "the directory is gone; its index is kept as it is"));
    }
    walk(&location.root, &location.directory, &config.index).map_err(|error| {
        Error::argument("index.ignore", format!("{:?}", config.index.ignore), format!("globs ({error})"))
    })
}

/// The documents that are files of the tree. Others, given by a program, are in collections of their own.
fn files(index: &Index) -> Result<Vec<DocumentState>, Error> {
    let mut documents = index.store.documents(&index.namespace)?;
    documents.retain(|document| FILE_COLLECTIONS.contains(&document.collection.as_str()));
    Ok(documents)
}

fn splitter_settings(index: &Index) -> String {
    let config = &index.config.index;
    let mut skip = config.skip.clone();
    skip.sort();
    format!("version={SPLITTER} tokens={} skip={}", config.passage_tokens, skip.join(","))
}

/// Lets those who search meanwhile find what is committed so far, by words and by the first model.
fn complete_quickly(index: &Index, report: &mut RunReport) -> Result<(), Error> {
    if let Some(name) = index.config.index.models.first()
        && !index.models.is_remote(name)
    {
        let started = Instant::now();
        let embedded = embed_with(index, name, &Filter::namespace(&index.namespace), &())?;
        *report.embedded.entry(name.clone()).or_default() += embedded;
        report.time(&format!("embed_{name}"), started);
    }
    publish(index, &(), report)
}

/// A file of the plan after reading.
enum Outcome {
    Change(Box<Change>),
    Moved(DocumentId, Box<Change>),
    Unreadable(String),
}

/// Reads and splits on all cores, and commits batch after batch, each document whole.
fn commit(
    index: &Index,
    plan: &Plan,
    resplit: bool,
    observer: &dyn Observer,
    report: &mut RunReport,
) -> Result<(), Error> {
    let started = Instant::now();
    let by_hash = movable(&plan.delete);
    observer.stage(Stage::Read, plan.read.len() as u64);
    let (sender, receiver) = sync_channel::<Vec<Outcome>>(2);
    let mut moved: Vec<DocumentId> = Vec::new();
    let mut published = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // Dropping the sender at the end is what ends the loop below.
            let sender = sender;
            for files in plan.read.chunks(FILES_A_BATCH) {
                if observer.cancelled() {
                    break;
                }
                let outcomes = files
                    .par_iter()
                    .map(|(file, known)| outcome(index, file, known.as_ref(), resplit, &by_hash))
                    .collect();
                if sender.send(outcomes).is_err() {
                    break;
                }
            }
        });
        for outcomes in receiver {
            let read = outcomes.len() as u64;
            let mut changes = Vec::with_capacity(outcomes.len());
            for outcome in outcomes {
                match outcome {
                    Outcome::Change(change) => changes.push(*change),
                    // Two new files can be copies of one that is gone; the first one is the move, the other is new.
                    Outcome::Moved(document, change) if !moved.contains(&document) => {
                        moved.push(document);
                        changes.push(*change);
                    }
                    Outcome::Moved(_, change) => changes.extend(copied(index, *change)),
                    Outcome::Unreadable(reason) => report.unreadable.push(reason),
                }
            }
            count(report, index.store.apply(&changes)?);
            observer.advance(read);
            if published.elapsed() > PUBLISH_EVERY {
                complete_quickly(index, report)?;
                published = Instant::now();
            }
        }
        Ok::<(), Error>(())
    })?;
    report.interrupted = observer.cancelled();
    if !report.interrupted {
        let gone: Vec<Change> =
            remaining(&plan.delete, &moved).into_iter().map(|document| Change::Delete { document }).collect();
        count(report, index.store.apply(&gone)?);
    }
    report.time("read", started);
    Ok(())
}

fn outcome(
    index: &Index,
    file: &FoundFile,
    known: Option<&DocumentState>,
    resplit: bool,
    by_hash: &HashMap<[u8; 32], Vec<&DocumentState>>,
) -> Outcome {
    let bytes = match bytes(&index.location.root, file) {
        Ok(bytes) => bytes,
        Err(error) => return Outcome::Unreadable(format!("{}: {error}", file.path)),
    };
    if let Some(known) = known
        && !resplit
        && known.content_hash == content_hash(&bytes)
    {
        return Outcome::Change(Box::new(Change::Touch {
            document: known.document,
            size: file.size,
            modified_ns: file.modified_ns,
        }));
    }
    let document = read(&index.namespace, file, &bytes, &index.config.index);
    let moved = by_hash.get(&document.content_hash).into_iter().flatten().find(|gone| {
        known.is_none()
            && !resplit
            && (&gone.collection, &gone.language, &gone.role)
                == (&document.collection, &document.language, &document.role)
    });
    match moved {
        Some(gone) => Outcome::Moved(
            gone.document,
            Box::new(Change::Move {
                document: gone.document,
                path: file.path.clone(),
                size: file.size,
                modified_ns: file.modified_ns,
            }),
        ),
        None => Outcome::Change(Box::new(Change::Put(document))),
    }
}

/// The second file with the content of one that moved: read again, as a document of its own.
fn copied(index: &Index, change: Change) -> Option<Change> {
    let Change::Move { path, size, modified_ns, .. } = change else { return None };
    let file = FoundFile { path, size, modified_ns };
    let bytes = bytes(&index.location.root, &file).ok()?;
    Some(Change::Put(read(&index.namespace, &file, &bytes, &index.config.index)))
}

fn count(report: &mut RunReport, applied: Applied) {
    report.added += applied.added;
    report.changed += applied.replaced;
    report.moved += applied.moved;
    report.removed += applied.deleted;
    report.unchanged += applied.touched;
    report.passages += applied.passages_added;
}

fn publish(index: &Index, observer: &dyn Observer, report: &mut RunReport) -> Result<(), Error> {
    let started = Instant::now();
    let mut done = 0;
    let mut part = None;
    index.store.publish(&mut |progress| {
        if part.replace(progress.part) != Some(progress.part) {
            observer.stage(Stage::Publish, progress.total);
            done = 0;
        }
        observer.advance(progress.done.saturating_sub(done));
        done = progress.done;
    })?;
    report.time("publish", started);
    Ok(())
}

/// Embeds what has no vector yet: the first model always, each other one if it lacks no more than is allowed.
fn embed(index: &Index, options: RunOptions, observer: &dyn Observer, report: &mut RunReport) -> Result<(), Error> {
    let filter = Filter::namespace(&index.namespace);
    for (position, name) in index.config.index.models.iter().enumerate() {
        let id = index.models.id(name)?;
        let coverage = index.store.coverage(&id, &filter)?;
        let missing = coverage.passages.saturating_sub(coverage.embedded);
        let postponed = report.interrupted || (position > 0 && missing > options.embed_at_most);
        if missing == 0 || postponed {
            if missing > 0 {
                report.pending.insert(name.clone(), missing);
            }
            continue;
        }
        let started = Instant::now();
        observer.stage(Stage::Embed(name.clone()), missing);
        let done = embed_with(index, name, &filter, observer)?;
        *report.embedded.entry(name.clone()).or_default() += done;
        report.time(&format!("embed_{name}"), started);
        report.interrupted = observer.cancelled();
        if report.interrupted && done < missing {
            report.pending.insert(name.clone(), missing - done);
        }
        publish(index, observer, report)?;
    }
    Ok(())
}

fn embed_with(index: &Index, name: &str, filter: &Filter, observer: &dyn Observer) -> Result<u64, Error> {
    let embedder = index.models.get_for_passages(name)?;
    let mut embedded = 0;
    while !observer.cancelled() {
        let texts = index.store.unembedded(&embedder.model().id, filter, TEXTS_A_BATCH)?;
        if texts.is_empty() {
            break;
        }
        // A slow model shows progress and can be stopped within a batch; each part is committed at once.
        for part in texts.chunks(if embedder.model().max_tokens.is_some() { 64 } else { TEXTS_A_BATCH }) {
            if observer.cancelled() {
                break;
            }
            let inputs: Vec<&str> = part.iter().map(|text| text.text.as_str()).collect();
            let vectors = embedder.embed_passages(&inputs)?;
            let dimension = vectors.first().map_or(embedder.model().dimension, Vec::len);
            let model = ModelKey { id: embedder.model().id.clone(), dimension };
            let rows: Vec<(TextHash, Vec<f32>)> = part.iter().map(|text| text.hash).zip(vectors).collect();
            index.store.put_vectors(&model, &rows)?;
            embedded += part.len() as u64;
            observer.advance(part.len() as u64);
        }
    }
    Ok(embedded)
}
