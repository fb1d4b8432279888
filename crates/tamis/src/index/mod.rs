//! Brings an index up to date with its sources.
//!
//! Each file goes through [`walk`](walk::walk) → read → split → commit → date → publish → embed → publish. The database is the
//! source of truth. It is committed in batches, each document whole. A stopped or killed run leaves its commits, and the next run
//! continues.

mod document;
mod embed;
mod embedding_cache;
mod ignore;
mod read;
mod refresh;
mod report;
mod sources;
mod walk;
mod wildmatch;

use std::cell::Cell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tamis_embed::Provider;
use tamis_store::{
    Applied, Change, DocumentId, DocumentState, EVIDENCE_COLLECTION, Filter, Store, StoreError, Writing,
};

use crate::Error;
use crate::collections::{FILE_COLLECTIONS, SKIPPED};
use crate::config::StoreConfig;
use crate::handle::{Index, RUN_WAIT, Source, SourceSettings};
use crate::progress::{Observer, Stage};
use walk::{Found, FoundFile};

pub use document::TextDocument;
pub(crate) use document::{Collections, model_input, path_line};
pub use embed::EmbeddingProgress;
pub use embedding_cache::{EmbeddingCacheCheck, EmbeddingCacheStatus, check_embedding_cache};
pub use read::try_file;
pub(crate) use read::{DEADLY, attributes, is_file, passages};
pub(crate) use refresh::{SPLITTER, SourceComparison, comparisons, list_file};
pub use report::{EmbeddingReport, FileCounts, Preview, RunReport, SourceReport, UnreadDocument};
pub use sources::watch;
pub(crate) use sources::{claim, import_state_property};
pub(crate) use walk::limits;

/// The freshness of an index, as [`Index::refresh_for_search`] found it.
#[derive(Clone, Debug, Default)]
pub struct Freshness {
    /// The run that brought it up to date.
    pub report: Option<RunReport>,
    /// Files known to differ from the index.
    pub stale: Option<u64>,
    /// The reason why the index was not brought up to date.
    pub reason: Option<String>,
    /// True if somebody has to fix the reason. Another process at work or a read-only directory does not count.
    pub failed: bool,
}

/// Pause between two looks for the first content of an index.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Longest wait for a process that embeds in the background, which writes for a moment only.
const COMMIT_WAIT: Duration = Duration::from_secs(1);

/// Longest wait for the vectors of a quick model that another process is making.
const VECTORS_WAIT: Duration = Duration::from_secs(30);

/// How often a run is begun at most.
const BEGINNINGS: usize = 3;

/// Runs work that holds the right to write. It is begun again if it lost that right with a connection to the database: files that it
/// had read may have been indexed by others since.
fn repeated<'i, T>(
    hold: impl Fn() -> Result<Writing<'i>, Error>,
    work: impl Fn() -> Result<T, Error>,
) -> Result<T, Error> {
    let mut beginnings = 0;
    loop {
        let _writing = hold()?;
        beginnings += 1;
        match work() {
            Err(Error::Store(StoreError::WriterLost { .. })) if beginnings < BEGINNINGS => {}
            result => return result,
        }
    }
}

impl Index {
    /// Brings the index up to date with its sources and embeds new passages with every model. Waits for other writing processes in
    /// turn, up to ten minutes.
    ///
    /// # Errors
    /// Another process is still writing, the directory is not writable, or a model fails. Everything committed before the
    /// error stays.
    pub fn refresh(&self) -> Result<RunReport, Error> {
        self.refresh_with(RunOptions::WHOLE, &())
    }

    /// [`Index::refresh`] within `options`. `observer` follows the run and can stop it.
    ///
    /// # Errors
    /// As [`Index::refresh`].
    pub fn refresh_with(&self, options: RunOptions, observer: &dyn Observer) -> Result<RunReport, Error> {
        repeated(|| self.wait_for_run(observer), || refresh::run(self, options, observer))
    }

    /// Publishes and embeds the committed documents, without reading any source. Waits for other writing processes in turn, up to
    /// ten minutes.
    ///
    /// # Errors
    /// Another process is still writing, the directory is not writable, or a model fails.
    pub fn complete(&self, options: RunOptions, observer: &dyn Observer) -> Result<RunReport, Error> {
        repeated(|| self.wait_for_run(observer), || refresh::complete(self, options, observer))
    }

    /// Returns `true` if a search of these namespaces (empty: of any) brings the index up to date first. In a database, which a team
    /// shares, only reading a tree of this index updates it, and only a project is added without being named: `tamis index` adds any
    /// other directory.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn is_updated_by(&self, namespaces: &[String]) -> Result<bool, Error> {
        let StoreConfig { url, namespace } = &self.config.store;
        let is_own = |name: &String| self.registry.sources().any(|source| source.namespace == *name);
        if url.is_none() {
            return Ok(true);
        }
        if !namespaces.is_empty() && !namespaces.iter().any(is_own) {
            return Ok(false);
        }
        let is_named = namespace.is_some() || !self.registry.is_single() || self.location.is_project();
        let is_known = || Ok::<_, Error>(self.store.namespaces()?.iter().any(|known| known.name == self.namespace));
        Ok(is_named || self.own_namespace().is_some() && is_known()?)
    }

    /// Brings the index up to date as far as a search of these namespaces (empty: of any) should wait for it. If that is not possible,
    /// returns the reason and the number of stale files.
    ///
    /// # Errors
    /// The tree or a model cannot be read, or the index is damaged or gone. An index that cannot be written now is not an
    /// error: it is searched as it is.
    pub fn refresh_for_search(&self, namespaces: &[String], observer: &dyn Observer) -> Result<Freshness, Error> {
        if !self.is_updated_by(namespaces)? {
            return Ok(Freshness::default());
        }
        let options = RunOptions::BEFORE_SEARCH;
        let (reason, failed) = match &self.obstacle {
            None => match repeated(|| writer_for_search(self, observer), || refresh::run(self, options, observer)) {
                Ok(report) => {
                    let stale = Some(if report.interrupted { self.stale()? } else { 0 });
                    return Ok(Freshness { report: Some(report), stale, ..Freshness::default() });
                }
                Err(Error::Store(StoreError::Busy { .. })) if observer.cancelled() => {
                    let report = Some(RunReport { interrupted: true, ..RunReport::default() });
                    return Ok(Freshness { report, ..Freshness::default() });
                }
                Err(Error::Store(error @ (StoreError::Busy { .. } | StoreError::ReadOnly { .. }))) => {
                    (error.to_string(), false)
                }
                Err(Error::Store(error @ (StoreError::Corrupt { .. } | StoreError::Replaced { .. }))) => {
                    return Err(error.into());
                }
                Err(Error::Store(StoreError::OtherTree { known, tree, .. })) if Path::new(&known.root).is_dir() => {
                    (format!("{} holds the files of {known}, where `tamis index` updates it", tree.namespace), true)
                }
                Err(error @ (Error::Store(_) | Error::NotPublished { .. })) => (error.to_string(), true),
                Err(error) => return Err(error),
            },
            Some(StoreError::ReadOnly { .. }) => {
                (format!("{}: not writable", self.location.directory.display()), false)
            }
            Some(obstacle) => (obstacle.to_string(), true),
        };
        let stale = match self.stale() {
            // Other namespaces of the store may be there.
            Err(Error::Store(StoreError::Unavailable { .. })) => None,
            stale => Some(stale?),
        };
        Ok(Freshness { report: None, stale, reason: Some(reason), failed })
    }

    /// Returns the number of files that differ from the index.
    ///
    /// # Errors
    /// A source or the store cannot be read.
    pub fn stale(&self) -> Result<u64, Error> {
        Ok(comparisons(self)?.iter().map(|one| one.stale).sum())
    }

    /// Adds documents, or replaces those with the same identifiers. Searches find them after the next [`Index::complete`].
    ///
    /// # Errors
    /// The collection belongs to the files of the tree or to evidence, the index is not writable, or another process is writing.
    pub fn put_documents(&self, documents: &[TextDocument]) -> Result<Applied, Error> {
        let is_taken = |collection: &str| FILE_COLLECTIONS.contains(&collection) || collection == EVIDENCE_COLLECTION;
        if let Some(taken) = documents.iter().find(|document| is_taken(&document.collection)) {
            let files = FILE_COLLECTIONS.join(", ");
            let allowed = format!("another name than those of files, {files}, and than {EVIDENCE_COLLECTION}");
            return Err(Error::argument("collection", format!("{:?}", taken.collection), allowed));
        }
        if !documents.is_empty() {
            self.note_import(&self.namespace);
        }
        let put = |document| Change::Put(document::text_document(self, document));
        Ok(self.store.apply(&documents.iter().map(put).collect::<Vec<_>>())?)
    }

    /// Returns how far the process is that embeds in the background; `None` if none does.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn embedding_progress(&self) -> Result<Option<EmbeddingProgress>, Error> {
        embed::progress(self)
    }

    /// Embeds passages without a vector, for each model of the configuration, in small steps. The observer follows each step and
    /// can wait in it; others can write in between. While another process embeds in the background, this waits for it.
    ///
    /// # Errors
    /// Another process keeps writing, the directory is not writable, or a model fails. Everything committed before stays.
    pub fn embed_missing(&self, observer: &dyn Observer) -> Result<RunReport, Error> {
        embed::beside_calls(self, observer)
    }

    /// [`Index::embed_missing`] in a process of its own, without remote models. Returns `None` at once if another process embeds
    /// in the background.
    ///
    /// # Errors
    /// As [`Index::embed_missing`].
    pub fn embed_alone(&self, observer: &dyn Observer) -> Result<Option<RunReport>, Error> {
        embed::alone(self, observer)
    }

    /// Returns `true` if [`Index::embed_alone`] has something to do after a run: a model of this machine lacks vectors, nobody makes
    /// them, and the configuration allows it. Workers do it for a database.
    pub fn wants_background(&self, report: &RunReport) -> bool {
        let RunReport { embedding: EmbeddingReport { pending, unusable, .. }, .. } = report;
        let is_lacking = |name: &String| !self.models.is_remote(name) && !unusable.contains_key(name);
        self.config.index.background
            && self.config.store.url.is_none()
            && self.is_writable()
            && pending.keys().any(is_lacking)
            && !self.store.is_embedding()
    }

    /// Returns `true` if [`Index::embed_alone`] was ever called for this index.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn has_embedded_alone(&self) -> Result<bool, Error> {
        Ok(self.store.property(embed::BACKGROUND_PROPERTY)?.is_some())
    }

    /// Returns the state of the user's cache of vectors; `None` if it is turned off or does not exist yet.
    ///
    /// # Errors
    /// The cache or the store cannot be read.
    pub fn embedding_cache(&self) -> Result<Option<EmbeddingCacheStatus>, Error> {
        let config = &self.config.index.embedding_cache;
        // A look at the cache does not create one.
        if !config.directory.as_ref().is_some_and(|directory| directory.is_dir()) {
            return Ok(None);
        }
        let Some(cache) = embedding_cache::open(config)? else { return Ok(None) };
        let summary = cache.summary()?;
        let last_run =
            self.store.property(embedding_cache::PROPERTY)?.and_then(|text| serde_json::from_str(&text).ok());
        Ok(Some(EmbeddingCacheStatus {
            path: cache.path().to_owned(),
            vectors: summary.vectors,
            bytes: summary.bytes,
            most_bytes: config.most_bytes,
            last_run: last_run.unwrap_or_default(),
        }))
    }

    /// Returns the damage to the user's cache of vectors, as [`check_embedding_cache`] finds it.
    ///
    /// # Errors
    /// As [`check_embedding_cache`].
    pub fn check_embedding_cache(&self, mend: bool) -> Result<Option<String>, Error> {
        let checked = check_embedding_cache(&self.config().index.embedding_cache, mend)?;
        Ok(checked.and_then(|checked| checked.damage))
    }

    /// Adds directories as namespaces, or changes the settings of those already added, and returns their namespaces. A namespace
    /// is named after its directory, with a number after a taken name. A directory that has most files of a source whose own one is
    /// gone is that source, moved. The next [`Index::refresh`] reads the files. An empty index then no longer counts the tree around
    /// it as a source, unless that tree is named itself.
    ///
    /// # Errors
    /// A directory is missing, lies in another source or contains one; an owner's name is invalid; another process is
    /// writing.
    pub fn add_sources(&mut self, directories: &[PathBuf], settings: &SourceSettings) -> Result<Vec<String>, Error> {
        sources::add(self, directories, settings)
    }

    /// Removes a source with all its documents, or an imported namespace without a directory. Returns the number of removed
    /// documents.
    ///
    /// # Errors
    /// No source has that name, the configuration names it, or another process is writing.
    pub fn remove_source(&mut self, namespace: &str) -> Result<u64, Error> {
        sources::remove(self, namespace)
    }

    /// Makes the trees of this index those of their namespaces, also where these hold the files of other trees, which means that
    /// they have moved. The next run replaces the files.
    ///
    /// # Errors
    /// Another process keeps writing, or the store cannot be written.
    pub fn take_over_namespaces(&mut self) -> Result<(), Error> {
        let writing = self.wait_to_write(&())?;
        claim(self, &self.registry, true)?;
        drop(writing);
        sources::take_up_sources(self)
    }
}

/// Brings one file of a source up to date by the rules of all files, without reading any other. Waits for other writing
/// processes up to ten seconds.
pub(crate) fn refresh_file(
    index: &Index,
    source: &Source,
    path: &str,
    options: RunOptions,
    observer: &dyn Observer,
) -> Result<RunReport, Error> {
    repeated(|| index.wait_to_write(observer), || refresh::run_file(index, source, path, options, observer))
}

/// Takes the right to write without waiting, unless another process is writing the first content: an index without any could
/// only answer that there is nothing, and one that the quick model has read in part might.
fn writer_for_search<'i>(index: &'i Index, observer: &dyn Observer) -> Result<Writing<'i>, Error> {
    let started = Instant::now();
    let is_unready = || -> Result<bool, Error> {
        let is_empty = index.store.summary()?.last_publish_ms.is_none();
        Ok(is_empty || started.elapsed() < VECTORS_WAIT && awaits_quick_vectors(index)?)
    };
    match index.store.writer() {
        Err(StoreError::Busy { .. }) if is_unready()? => {
            let looked = Cell::new(Instant::now());
            index.queue_to_write(RUN_WAIT, observer, &|| {
                looked.get().elapsed() < LOOK_EVERY || {
                    looked.set(Instant::now());
                    is_unready().unwrap_or(false)
                }
            })
        }
        Err(StoreError::Busy { .. }) if index.store.is_embedding() => {
            index.queue_to_write(COMMIT_WAIT, observer, &|| true)
        }
        taken => Ok(taken?),
    }
}

/// Returns `true` if the first model is one that reads a tree in seconds, and has not read all of it.
fn awaits_quick_vectors(index: &Index) -> Result<bool, Error> {
    let Some(name) = index.config.index.models.first() else { return Ok(false) };
    let model = index.models.described(name)?;
    if model.provider != Provider::Static {
        return Ok(false);
    }
    let coverage = index.store.coverage(&model.id, &Filter::default())?;
    Ok(coverage.embedded < coverage.passages)
}

// Limits of a run.

/// Most passages that a better model of this machine embeds before somebody gets an answer, and the longest time for it.
const FEW: u64 = 500;
const SHORT: Duration = Duration::from_secs(4);

/// The same for a remote model, which may cost money.
const FEW_TO_SEND: u64 = 64;

/// The limits of a run.
#[derive(Clone, Copy, Debug)]
pub struct RunOptions {
    /// Most passages to embed with each model after the first one. A model that lacks more waits for another run.
    pub embed_at_most: u64,
    /// The same for a remote model, if that is less.
    pub send_at_most: u64,
    /// The longest time for embedding with each of these models. The rest waits for another run.
    pub embed_for: Duration,
    /// True to read every file, whatever its size and time.
    pub reread: bool,
    /// True if a question waits for the run. A remote model gets less time then, and the dates of commits are read only if all
    /// are unknown.
    pub hurried: bool,
    /// True to read a tree of any size. Otherwise a first run refuses more than 200,000 files or 5 GB.
    pub any_size: bool,
}

impl RunOptions {
    /// No limits: every model embeds every passage.
    pub const WHOLE: RunOptions = RunOptions {
        embed_at_most: u64::MAX,
        send_at_most: u64::MAX,
        embed_for: Duration::MAX,
        reread: false,
        hurried: false,
        any_size: false,
    };

    /// Ends when the first model has embedded everything, so that nobody waits for a slower one. A slower model that lacks only a
    /// few passages embeds them: 500 at most and for four seconds, and 64 at most if it is remote.
    pub const FIRST_MODEL: RunOptions =
        RunOptions { embed_at_most: FEW, send_at_most: FEW_TO_SEND, embed_for: SHORT, ..RunOptions::WHOLE };

    /// The run before a search.
    pub(crate) const BEFORE_SEARCH: RunOptions = RunOptions { hurried: true, ..RunOptions::FIRST_MODEL };

    /// Most passages to embed with a model after the first one.
    pub(crate) fn most(&self, is_remote: bool) -> u64 {
        if is_remote { self.embed_at_most.min(self.send_at_most) } else { self.embed_at_most }
    }
}

// Compares the tree with the index to find the files to read, move, touch or remove.

/// The difference between a tree and its index.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// Files that are new or whose size, time or stamp differ, with the document they replace.
    pub read: Vec<(FoundFile, Option<DocumentState>)>,
    /// Documents whose file is gone.
    pub delete: Vec<DocumentState>,
    /// The number of files that need nothing.
    pub unchanged: u64,
    /// Those of them that are left out for their content, with the kind.
    pub left_out: Vec<(String, String)>,
    /// Those of them whose text could not be read.
    pub unread: Vec<DocumentState>,
}

impl Plan {
    /// Returns the number of files that differ from the index.
    pub fn stale(&self) -> u64 {
        (self.read.len() + self.delete.len()) as u64
    }
}

/// Compares the files found with the stored documents. `reread` reads every file, whatever its size and time.
pub(crate) fn plan(root: &Path, found: &Found, mut documents: Vec<DocumentState>, reread: bool) -> Plan {
    // Both are in the order of their paths, so this takes one pass over each.
    documents.sort_by(|a, b| a.path.cmp(&b.path));
    let mut known = documents.into_iter().peekable();
    let mut gone = Vec::new();
    let mut plan = Plan::default();
    for file in &found.files {
        while let Some(document) = known.next_if(|document| document.path < file.path) {
            gone.push(document);
        }
        match known.next_if(|document| document.path == file.path) {
            Some(document) if !reread && is_same(&document, file) => {
                plan.unchanged += 1;
                if is_left_out(&document.path, &document.collection) {
                    plan.left_out.push((document.path, document.description.role));
                } else if document.collection == SKIPPED {
                    plan.unread.push(document);
                }
            }
            document => plan.read.push((file.clone(), document)),
        }
    }
    // Files in a directory that could not be listed are unknown, not gone.
    let unknown: Vec<String> = found
        .unreadable
        .iter()
        .map(|(path, _)| path.strip_prefix(root).unwrap_or(path).to_string_lossy().replace('\\', "/"))
        .collect();
    let is_unknown = |path: &str| {
        unknown.iter().any(|under| {
            under.is_empty()
                || path == under
                || path.strip_prefix(under.as_str()).is_some_and(|rest| rest.starts_with('/'))
        })
    };
    plan.delete = gone.into_iter().chain(known).filter(|document| !is_unknown(&document.path)).collect();
    plan.delete.sort_by_key(|document| document.document);
    plan
}

fn is_same(document: &DocumentState, file: &FoundFile) -> bool {
    document.file == file.state
}

/// Returns `true` for a document that stands for a file left out for its content; documents without readable text are named by
/// themselves.
pub(crate) fn is_left_out(path: &str, collection: &str) -> bool {
    collection == SKIPPED && !tamis_text::is_document(path)
}

/// Returns the documents to delete by the hash of their content. A new file with the same content is one of them, moved.
pub(crate) fn movable(delete: &[DocumentState]) -> HashMap<[u8; 32], Vec<&DocumentState>> {
    let mut by_hash: HashMap<[u8; 32], Vec<&DocumentState>> = HashMap::new();
    for document in delete {
        by_hash.entry(document.content_hash).or_default().push(document);
    }
    by_hash
}

/// Returns the documents left to delete after `moved` ones have found their new place.
pub(crate) fn remaining(delete: &[DocumentState], moved: &[DocumentId]) -> Vec<DocumentId> {
    delete.iter().map(|document| document.document).filter(|document| !moved.contains(document)).collect()
}

// Brings the search indexes up to date with the committed documents.

/// Time of a publication that is not stopped, so that a search finds what a stopped run has done wherever that costs no wait.
const UNSTOPPED: Duration = Duration::from_secs(1);

/// Publishes, and adds the time to the report. A publication that the observer stops interrupts the run.
pub(crate) fn publish(index: &Index, observer: &dyn Observer, report: &mut RunReport) -> Result<(), Error> {
    let started = Instant::now();
    let published = publish_store(&*index.store, observer);
    report.time("publish", started);
    match published {
        Err(Error::Cancelled) => report.interrupted = true,
        published => published?,
    }
    Ok(())
}

/// Publishes a store. The observer follows, and can stop it after a second with [`Error::Cancelled`]: the next publication does the
/// rest.
pub(crate) fn publish_store(store: &dyn Store, observer: &dyn Observer) -> Result<(), Error> {
    let started = Instant::now();
    let mut done = 0;
    let mut part = None;
    let published = store.publish(&mut |progress| {
        if part.replace(progress.part) != Some(progress.part) {
            observer.stage(Stage::Publish, progress.total);
            done = 0;
        }
        observer.advance(progress.done.saturating_sub(done));
        done = progress.done;
        if started.elapsed() > UNSTOPPED && observer.cancelled() { Err(StoreError::Cancelled) } else { Ok(()) }
    });
    published.map_err(Error::not_published)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lost() -> Error {
        Error::Store(StoreError::WriterLost { path: "postgres://here/team".into() })
    }

    /// The result of work that fails until it was begun `good` times, and how often it was begun and the right to write taken.
    fn run(good: usize, failure: fn() -> Error) -> (Result<(), Error>, usize, usize) {
        let (begun, taken) = (Cell::new(0), Cell::new(0));
        let hold = || {
            taken.set(taken.get() + 1);
            Ok(Writing::new(()))
        };
        let work = || {
            begun.set(begun.get() + 1);
            if begun.get() < good { Err(failure()) } else { Ok(()) }
        };
        let result = repeated(hold, work);
        (result, begun.get(), taken.get())
    }

    #[test]
    fn a_run_that_lost_the_right_to_write_takes_it_again_and_starts_over() {
        assert!(matches!(run(2, lost), (Ok(()), 2, 2)));
        assert!(matches!(run(9, lost), (Err(Error::Store(StoreError::WriterLost { .. })), 3, 3)));
        assert!(matches!(run(2, || Error::Cancelled), (Err(Error::Cancelled), 1, 1)));
    }
}
