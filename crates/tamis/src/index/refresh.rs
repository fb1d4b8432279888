//! One run, which brings an index up to date with its sources: walk → plan → read and split → commit → date → publish → embed →
//! publish.

use std::collections::{BTreeMap, HashMap};
use std::sync::mpsc::sync_channel;
use std::time::{Duration, Instant};

use rayon::prelude::*;
use tamis_store::{Applied, Change, Description, DocumentId, DocumentState, NewDocument};
use tamis_text::{NoteOptions, Options};

use super::embed::{embed, embed_with};
use super::read::{Reader, ReadingRecord, bytes, content_hash, is_file};
use super::report::{MOST_BYTES, MOST_FILES, RunReport, SourceReport, UnreadDocument};
use super::sources::{claim, register};
use super::walk::{Found, FoundFile, is_by_size, skip_by_path, walk, walk_file};
use super::{Plan, RunOptions, document, is_left_out, movable, plan, publish, remaining};
use crate::Error;
use crate::config::{FileCollection, IndexConfig};
use crate::handle::{Index, Source, SourceState};
use crate::progress::{Observer, Stage};

/// The number of files committed together.
const FILES_A_BATCH: usize = 128;

/// The time until searches during a run find new content. Publishing takes longer in a larger index, and at most a tenth of a run.
const PUBLISH_EVERY: Duration = Duration::from_secs(2);
const PUBLISHING_SHARE: u32 = 10;

/// The version of the splitter. Files are read again when it or a setting that it depends on changes.
pub(crate) const SPLITTER: &str = "12";

/// A source beside its tree.
pub(crate) struct SourceComparison<'a> {
    pub source: &'a Source,
    pub state: SourceState,
    /// Number of files that differ from the index.
    pub stale: u64,
    /// Number of files that a walk leaves out unread, by the reason.
    pub skipped: BTreeMap<&'static str, u64>,
}

/// Compares each source with its tree, without changing anything.
pub(crate) fn comparisons(index: &Index) -> Result<Vec<SourceComparison<'_>>, Error> {
    let mut comparisons = Vec::new();
    for (source, state, found) in listed(index) {
        let found = found?;
        let stale = match &found {
            Some(found) => plan(&source.root, found, files(index, source)?, false).stale(),
            None => 0,
        };
        let skipped = found.map(|found| found.skipped).unwrap_or_default();
        comparisons.push(SourceComparison { source, state, stale, skipped });
    }
    Ok(comparisons)
}

/// Publishes and embeds the committed documents, without reading the tree. The caller holds the right to write.
pub(crate) fn complete(index: &Index, options: RunOptions, observer: &dyn Observer) -> Result<RunReport, Error> {
    let mut report = RunReport::default();
    publish(index, observer, &mut report)?;
    embed(index, options, observer, &mut report)?;
    Ok(report)
}

/// Brings one file of a source up to date, without reading any other. The caller holds the right to write.
pub(crate) fn run_file(
    index: &Index,
    source: &Source,
    path: &str,
    options: RunOptions,
    observer: &dyn Observer,
) -> Result<RunReport, Error> {
    let mut report = RunReport::default();
    claim(index, &index.registry, false)?;
    register(index, &index.registry)?;
    let found = list_file(index, source, path)?;
    let known = index.store.document(&source.namespace, path)?.filter(is_file);
    let plan = plan(&source.root, &found, known.into_iter().collect(), options.reread);
    let settings = splitter_settings(index, source);
    let reader = Reader::new(source, &index.config)?;
    let limits = &index.config.index;
    let work = Work { source, plan, reader, limits, resplit: false, settings, remark: None };
    if work.plan.stale() > 0 {
        let mut published = Published { at: Instant::now(), next: PUBLISH_EVERY };
        let record = ReadingRecord::open(&index.location.directory);
        commit(index, &work, record.as_ref(), &mut published, observer, &mut report)?;
        end(record, &report);
    }
    publish(index, observer, &mut report)?;
    embed(index, options, observer, &mut report)?;
    Ok(report)
}

/// Lists one file as the walk would; empty if the rules leave it out.
pub(crate) fn list_file(index: &Index, source: &Source, path: &str) -> Result<Found, Error> {
    let Index { location, config, .. } = index;
    walk_file(source, &location.directory, &config.index, path).map_err(|error| wrong_globs(index, source, error))
}

/// A source with its plan.
struct Work<'a> {
    source: &'a Source,
    plan: Plan,
    reader: Reader<'a>,
    /// The limits on the files read.
    limits: &'a IndexConfig,
    /// True if its files were split in another way before.
    resplit: bool,
    /// The present settings of the splitter.
    settings: String,
    remark: Option<String>,
}

/// Runs all stages for all sources. The caller holds the right to write.
pub(crate) fn run(index: &Index, options: RunOptions, observer: &dyn Observer) -> Result<RunReport, Error> {
    let mut report = RunReport::default();
    let started = Instant::now();
    claim(index, &index.registry, false)?;
    register(index, &index.registry)?;
    observer.stage(Stage::Walk, 0);
    let mut works = Vec::new();
    for (source, state, found) in listed(index) {
        works.push(look(index, source, state, found?, options, &mut report)?);
    }
    report.time("walk", started);
    if !options.any_size {
        for work in &works {
            check_size(work)?;
        }
    }

    let files: usize = works.iter().map(|work| work.plan.read.len()).sum();
    let is_stale = works.iter().any(|work| work.plan.stale() > 0);
    if is_stale {
        observer.stage(Stage::Read, files as u64);
    }
    let record = if is_stale { ReadingRecord::open(&index.location.directory) } else { None };
    let mut published = Published { at: Instant::now(), next: PUBLISH_EVERY };
    for work in works {
        let before = report.counts;
        report.counts.unchanged += work.plan.unchanged - work.plan.left_out.len() as u64;
        if work.plan.stale() > 0 && !report.interrupted {
            commit(index, &work, record.as_ref(), &mut published, observer, &mut report)?;
        }
        let mut done = report.since(before, work.source);
        done.remark = work.remark.clone();
        if !report.interrupted && done.remark.is_none() {
            let property = splitter_property_of(index, work.source);
            if index.store.property(&property)?.as_ref() != Some(&work.settings) {
                index.store.set_property(&property, &work.settings)?;
            }
            date(index, &work, &done, options, observer, &mut report)?;
        }
        if !index.registry.is_single() {
            report.sources.push(done);
        }
    }
    end(record, &report);
    publish(index, observer, &mut report)?;
    embed(index, options, observer, &mut report)?;
    Ok(report)
}

/// Ends the record of the files that are being read, unless some were not reached.
fn end(record: Option<ReadingRecord>, report: &RunReport) {
    if let Some(record) = record.filter(|_| !report.interrupted) {
        record.end();
    }
}

/// Refuses the first run of a tree that is larger than anybody means.
fn check_size(work: &Work<'_>) -> Result<(), Error> {
    let Plan { read, unchanged, .. } = &work.plan;
    if *unchanged > 0 || read.iter().any(|(_, known)| known.is_some()) {
        return Ok(());
    }
    let is_read = |file: &FoundFile| !skip_by_path(&file.path, file.state.size, work.limits).is_some_and(is_by_size);
    let sizes = read.iter().filter(|(file, _)| is_read(file)).map(|(file, _)| file.state.size);
    let (files, bytes) = sizes.fold((0, 0), |(files, bytes): (u64, u64), size| (files + 1, bytes.saturating_add(size)));
    match files > MOST_FILES || bytes > MOST_BYTES {
        true => Err(Error::LargeTree { root: work.source.root.clone(), files, bytes }),
        false => Ok(()),
    }
}

/// A source with its state and its files; `None` where its directory is gone or no longer named.
type Listed<'a> = (&'a Source, SourceState, Result<Option<Found>, Error>);

/// Lists all sources.
fn listed(index: &Index) -> Vec<Listed<'_>> {
    let states: Vec<_> = index.registry.states().collect();
    let listed = |(source, state)| {
        let found =
            looked_at(index, source, state).and_then(|looked| looked.then(|| list_files(index, source)).transpose());
        (source, state, found)
    };
    // Among many, each is listed by one thread: the threads of one walk sleep until another one finds something to share.
    match states.len() < rayon::current_num_threads() {
        true => states.into_iter().map(listed).collect(),
        false => states.into_par_iter().map(listed).collect(),
    }
}

/// Compares a source with the index.
fn look<'a>(
    index: &'a Index,
    source: &'a Source,
    state: SourceState,
    found: Option<Found>,
    options: RunOptions,
    report: &mut RunReport,
) -> Result<Work<'a>, Error> {
    let settings = splitter_settings(index, source);
    let reader = Reader::new(source, &index.config)?;
    let limits = &index.config.index;
    let Some(found) = found else {
        let remark = state.remark(&source.namespace);
        return Ok(Work { source, plan: Plan::default(), reader, limits, resplit: false, settings, remark });
    };
    for (kind, count) in &found.skipped {
        *report.skipped.entry((*kind).to_owned()).or_default() += count;
    }
    for (path, kind) in &found.left_out {
        report.name_left_out(place(index, source, path), path, kind);
    }
    report.unreadable.extend(found.unreadable.iter().map(|(_, reason)| reason.clone()));
    report.remarks.extend(found.remarks.iter().cloned());
    let stored = match index.store.property(&splitter_property_of(index, source))? {
        None => index.store.property(SPLITTER_PROPERTY)?,
        stored => stored,
    };
    let resplit = stored.is_some_and(|stored| !stored.is_empty() && stored != settings);
    let plan = plan(&source.root, &found, files(index, source)?, options.reread || resplit);
    for (path, kind) in &plan.left_out {
        leave_out(index, source, path, kind, report);
    }
    for DocumentState { path, collection, description: Description { role, .. }, .. } in &plan.unread {
        report.unread.extend(UnreadDocument::new(&source.namespace, path, collection, role));
    }
    Ok(Work { source, plan, reader, limits, resplit, settings, remark: None })
}

/// Counts and names a file that is left out for its content.
fn leave_out(index: &Index, source: &Source, path: &str, kind: &str, report: &mut RunReport) {
    *report.skipped.entry(kind.to_owned()).or_default() += 1;
    report.name_left_out(place(index, source, path), path, kind);
}

/// Returns the place of a file as people write it: its path, after the namespace among several.
fn place(index: &Index, source: &Source, path: &str) -> String {
    if index.registry.is_single() { path.to_owned() } else { format!("{}:{path}", source.namespace) }
}

/// Returns `true` if a source can be listed. The only tree of an index must exist.
fn looked_at(index: &Index, source: &Source, state: SourceState) -> Result<bool, Error> {
    if index.registry.is_single() && state == SourceState::Gone {
        return Err(Error::path(&source.root, "the directory is gone; its index is kept as it is"));
    }
    Ok(state == SourceState::Here)
}

fn list_files(index: &Index, source: &Source) -> Result<Found, Error> {
    let Index { location, config, .. } = index;
    walk(source, &location.directory, &config.index).map_err(|error| wrong_globs(index, source, error))
}

fn wrong_globs(index: &Index, source: &Source, error: ignore::Error) -> Error {
    let globs: Vec<&String> = index.config.index.ignore.iter().chain(&source.ignore).chain(&source.include).collect();
    Error::argument("index.ignore", format!("{globs:?}"), format!("globs ({error})"))
}

/// Returns the documents that are files of a source. Others have an origin, or are in collections of their own.
fn files(index: &Index, source: &Source) -> Result<Vec<DocumentState>, Error> {
    let mut documents = index.store.documents(&source.namespace)?;
    documents.retain(is_file);
    Ok(documents)
}

/// The property that holds the splitter's settings of an index of one tree.
const SPLITTER_PROPERTY: &str = "splitter";

/// Returns the property that holds the splitter's settings of one source among several.
pub(crate) fn splitter_property(namespace: &str) -> String {
    format!("{SPLITTER_PROPERTY}:{namespace}")
}

fn splitter_property_of(index: &Index, source: &Source) -> String {
    if index.registry.is_single() { SPLITTER_PROPERTY.to_owned() } else { splitter_property(&source.namespace) }
}

/// Returns every setting that decides the passages and the collection of a source's files.
fn splitter_settings(index: &Index, source: &Source) -> String {
    let (config, directory) = (&index.config.index, &index.config.notes.directory);
    let mut skip = config.skip.clone();
    skip.sort();
    let collection = source.collection.map_or("", FileCollection::as_str);
    let IndexConfig { notes, wiki, max_file_bytes, max_document_bytes, .. } = config;
    let tokens = Options::default().max_tokens;
    let NoteOptions { max_tokens: note_tokens, overlap_tokens: note_overlap, .. } = NoteOptions::default();
    format!(
        "version={SPLITTER} tokens={tokens} skip={} collection={collection} notes={notes:?} directory={directory:?} \
         wiki={wiki:?} note_tokens={note_tokens} note_overlap={note_overlap} files={max_file_bytes} documents={max_document_bytes}",
        skip.join(",")
    )
}

/// Sets the dates of a source's documents to those of their commits.
fn date(
    index: &Index,
    work: &Work<'_>,
    done: &SourceReport,
    options: RunOptions,
    observer: &dyn Observer,
    report: &mut RunReport,
) -> Result<(), Error> {
    let started = Instant::now();
    // A search waits for dates only after a checkout of another commit, or if all dates are lost.
    let waits = !options.hurried;
    let again = work.resplit || (waits && (options.reread || done.counts.added + done.counts.changed > 0));
    let undated = document::date(index, work.source, again, &|| observer.cancelled())?;
    let single = index.registry.is_single();
    report.undated.extend(undated.map(|reason| match single {
        true => reason,
        false => format!("{}: {reason}", work.source.namespace),
    }));
    report.time("dates", started);
    Ok(())
}

/// The last publication of a run, and the time until the next one.
struct Published {
    at: Instant,
    next: Duration,
}

/// Stops as the observer of a run does, and leaves its stage alone.
struct Silent<'a>(&'a dyn Observer);

impl Observer for Silent<'_> {
    fn cancelled(&self) -> bool {
        self.0.cancelled()
    }
}

/// Publishes the commits so far for searches during the run, by words and by the first model. Returns the time that publishing took.
fn complete_quickly(index: &Index, observer: &dyn Observer, report: &mut RunReport) -> Result<Duration, Error> {
    let observer = &Silent(observer);
    if let Some(name) = index.config.index.models.first()
        && !index.models.is_remote(name)
    {
        embed_with(index, name, observer, report)?;
    }
    // A failure here is tried again at the end of the run.
    let started = Instant::now();
    match publish(index, observer, report) {
        Err(Error::NotPublished { .. }) | Ok(()) => Ok(started.elapsed()),
        Err(error) => Err(error),
    }
}

/// A document without readable text, with the reason.
fn unread(work: &Work<'_>, change: &Change) -> Option<UnreadDocument> {
    let Change::Put(document) = change else { return None };
    UnreadDocument::new(&work.source.namespace, &document.path, &document.collection, &document.role)
}

/// The result of reading a file of the plan.
enum Outcome {
    Change(Box<Change>),
    /// A file left out for its content, of this kind. True if the index had its text before.
    LeftOut {
        change: Box<Change>,
        path: String,
        kind: String,
        had_text: bool,
    },
    Moved(DocumentId, Box<Change>),
    Unreadable(String),
}

/// Reads and splits on all cores, and commits in batches, each document whole.
fn commit(
    index: &Index,
    work: &Work<'_>,
    record: Option<&ReadingRecord>,
    published: &mut Published,
    observer: &dyn Observer,
    report: &mut RunReport,
) -> Result<(), Error> {
    let mut started = Instant::now();
    let plan = &work.plan;
    let by_hash = movable(&plan.delete);
    let (sender, receiver) = sync_channel::<Vec<Outcome>>(2);
    let mut moved: Vec<DocumentId> = Vec::new();
    // A caller in a pool of one thread does not want other threads to work.
    let alone = rayon::current_num_threads() == 1;
    std::thread::scope(|scope| {
        let read_all = || {
            // Dropping the sender ends the loop below.
            let sender = sender;
            for files in plan.read.chunks(FILES_A_BATCH) {
                let read = |(file, known): &(FoundFile, Option<DocumentState>)| {
                    (!observer.cancelled()).then(|| outcome(work, record, file, known.as_ref(), &by_hash))
                };
                let outcomes: Vec<Option<Outcome>> =
                    if alone { files.iter().map(read).collect() } else { files.par_iter().map(read).collect() };
                let outcomes = outcomes.into_iter().flatten().collect();
                if sender.send(outcomes).is_err() || observer.cancelled() {
                    break;
                }
            }
        };
        // The channel has room for one batch. Among thousands of small sources, a thread for each takes longer than reading.
        if plan.read.len() <= FILES_A_BATCH {
            read_all();
        } else {
            scope.spawn(read_all);
        }
        for outcomes in receiver {
            let read = outcomes.len() as u64;
            let mut changes = Vec::with_capacity(outcomes.len());
            let mut left_out = Vec::new();
            for outcome in outcomes {
                match outcome {
                    Outcome::Change(change) => {
                        report.unread.extend(unread(work, &change));
                        changes.push(*change);
                    }
                    Outcome::LeftOut { change, path, kind, had_text } => {
                        leave_out(index, work.source, &path, &kind, report);
                        report.counts.removed += u64::from(had_text);
                        left_out.push(*change);
                    }
                    // Two new files can be copies of one that is gone. The first counts as the move, the other as new.
                    Outcome::Moved(document, change) if !moved.contains(&document) => {
                        moved.push(document);
                        changes.push(*change);
                    }
                    Outcome::Moved(_, change) => changes.extend(copied(work, *change)),
                    Outcome::Unreadable(reason) => report.unreadable.push(reason),
                }
            }
            count(report, index.store.apply(&changes)?);
            // The index remembers them without a text, so they are none of its files.
            if !left_out.is_empty() {
                index.store.apply(&left_out)?;
            }
            observer.advance(read);
            if published.at.elapsed() > published.next {
                let paused = Instant::now();
                let took = complete_quickly(index, observer, report)?;
                *published = Published { at: Instant::now(), next: PUBLISH_EVERY.max(took * PUBLISHING_SHARE) };
                // Embedding and publishing have times of their own.
                started += paused.elapsed();
            }
        }
        Ok::<(), Error>(())
    })?;
    report.interrupted = observer.cancelled();
    if !report.interrupted {
        let gone: Vec<Change> =
            remaining(&plan.delete, &moved).into_iter().map(|document| Change::Delete { document }).collect();
        if !gone.is_empty() {
            count(report, index.store.apply(&gone)?);
        }
    }
    report.time("read", started);
    Ok(())
}

fn outcome(
    work: &Work<'_>,
    record: Option<&ReadingRecord>,
    file: &FoundFile,
    known: Option<&DocumentState>,
    by_hash: &HashMap<[u8; 32], Vec<&DocumentState>>,
) -> Outcome {
    let &Work { source, resplit, limits, .. } = work;
    let change = |change: Change, collection: &str, kind: &str| match is_left_out(&file.path, collection) {
        true => Outcome::LeftOut {
            change: Box::new(change),
            path: file.path.clone(),
            kind: kind.to_owned(),
            had_text: known.is_some_and(|known| known.passages > 0),
        },
        false => Outcome::Change(Box::new(change)),
    };
    let put = |document: NewDocument| {
        let (collection, kind) = (document.collection.clone(), document.role.clone());
        change(Change::Put(document), &collection, &kind)
    };
    if let Some(large) = work.reader.too_large(file) {
        return put(large);
    }
    let bytes = match bytes(&source.root, file, limits) {
        Ok(bytes) => bytes,
        Err(error) => return Outcome::Unreadable(format!("{}: {error}", file.path)),
    };
    if let Some(known) = known
        && !resplit
        && known.content_hash == content_hash(file, &bytes)
    {
        let touch = Change::Touch { document: known.document, file: file.state };
        return change(touch, &known.collection, &known.description.role);
    }
    let document = match record {
        None => work.reader.read(file, &bytes),
        Some(record) => {
            let place = format!("{}\0{}", source.namespace, file.path);
            match record.is_deadly(&place, &source.root.join(&file.path)) {
                true => work.reader.deadly(file, &bytes),
                false => record.reading(&place, || work.reader.read(file, &bytes)),
            }
        }
    };
    let moved = by_hash.get(&document.content_hash).into_iter().flatten().find(|gone| {
        known.is_none()
            && !resplit
            && (&gone.collection, &gone.description.language, &gone.description.role)
                == (&document.collection, &document.language, &document.role)
    });
    match moved {
        Some(gone) => Outcome::Moved(
            gone.document,
            Box::new(Change::Move { document: gone.document, path: file.path.clone(), file: file.state }),
        ),
        None => put(document),
    }
}

/// Reads the second file with the content of a moved one again, as a document of its own.
fn copied(work: &Work<'_>, change: Change) -> Option<Change> {
    let Change::Move { path, .. } = change else { return None };
    let (file, _) = work.plan.read.iter().find(|(file, _)| file.path == path)?;
    let bytes = bytes(&work.source.root, file, work.limits).ok()?;
    Some(Change::Put(work.reader.read(file, &bytes)))
}

fn count(report: &mut RunReport, applied: Applied) {
    report.counts.added += applied.added;
    report.counts.changed += applied.replaced;
    report.counts.moved += applied.moved;
    report.counts.removed += applied.deleted;
    report.counts.unchanged += applied.touched;
    report.counts.passages += applied.passages_added;
}
