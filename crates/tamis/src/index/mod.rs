//! Brings an index up to date with its sources.
//!
//! Each file goes through [`walk`](walk::walk) → read → split → commit → date → publish → embed → publish. The database is the
//! source of truth. It is committed in batches, each document whole. A stopped or killed run leaves its commits, and the next run
//! continues.

mod attributes;
mod background;
mod collection;
mod dates;
mod document;
mod embed;
mod embedding_cache;
mod embedding_progress;
mod ignore_file;
mod ignore_rules;
mod model_input;
mod plan;
mod preview;
mod publish;
mod read;
mod reading_record;
mod refresh;
mod report;
mod run_options;
mod sources;
mod text_document;
mod walk;
mod watch;
mod wildmatch;

pub(crate) use collection::Collections;
pub use embedding_cache::{EmbeddingCacheCheck, EmbeddingCacheStatus, check_embedding_cache};
pub use embedding_progress::EmbeddingProgress;
pub(crate) use model_input::{model_input, path_line};
pub use preview::Preview;
pub(crate) use publish::publish_store;
pub(crate) use read::{DEADLY, attributes, is_file, passages};
pub use reading_record::try_file;
pub(crate) use refresh::{SPLITTER, SourceComparison};
pub use report::{RunReport, SourceReport, UnreadDocument};
pub use run_options::RunOptions;
pub(crate) use sources::import_state_property;
pub use text_document::TextDocument;
pub(crate) use walk::limits;
pub use watch::watch;

use crate::Error;
use crate::handle::{Index, RUN_WAIT, Source};
use crate::progress::Observer;
use std::cell::Cell;
use std::path::Path;
use std::time::{Duration, Instant};
use tamis_embed::Provider;
use tamis_store::{Filter, StoreError, Writing};

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
    /// Brings the index up to date with its sources and embeds new passages with every model. Waits for other writing processes in turn, up to ten
    /// minutes.
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

    /// Brings one file of a source up to date by the rules of all files, without reading any other. Waits for other writing
    /// processes up to ten seconds.
    pub(crate) fn refresh_file(
        &self,
        source: &Source,
        path: &str,
        options: RunOptions,
        observer: &dyn Observer,
    ) -> Result<RunReport, Error> {
        repeated(|| self.wait_to_write(observer), || refresh::run_file(self, source, path, options, observer))
    }

    /// Returns `true` if a run would index this file of a source.
    pub(crate) fn would_index(&self, source: &Source, path: &str) -> Result<bool, Error> {
        Ok(!refresh::list_file(self, source, path)?.files.is_empty())
    }

    /// Returns the walk's result for one file of a source.
    pub(crate) fn listed(&self, source: &Source, path: &str) -> Result<walk::Found, Error> {
        refresh::list_file(self, source, path)
    }

    /// Publishes and embeds the committed documents, without reading any source. Waits for other writing processes in turn, up to
    /// ten minutes.
    ///
    /// # Errors
    /// Another process is still writing, the directory is not writable, or a model fails.
    pub fn complete(&self, options: RunOptions, observer: &dyn Observer) -> Result<RunReport, Error> {
        repeated(|| self.wait_for_run(observer), || refresh::complete(self, options, observer))
    }

    /// Brings the index up to date as far as a search should wait for it. If that is not possible, returns the reason and the
    /// number of stale files.
    ///
    /// # Errors
    /// The tree or a model cannot be read, or the index is damaged or gone. An index that cannot be written now is not an
    /// error: it is searched as it is.
    pub fn refresh_for_search(&self, observer: &dyn Observer) -> Result<Freshness, Error> {
        let options = RunOptions::BEFORE_SEARCH;
        let (reason, failed) = match &self.obstacle {
            None => match self.refresh_now(options, observer) {
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
                Err(Error::Store(StoreError::OtherTree { known, .. })) if Path::new(&known.root).is_dir() => {
                    (format!("`tamis index` in {known} updates it"), true)
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

    fn refresh_now(&self, options: RunOptions, observer: &dyn Observer) -> Result<RunReport, Error> {
        repeated(|| self.writer_for_search(observer), || refresh::run(self, options, observer))
    }

    /// Takes the right to write without waiting, unless another process is writing the first content: an index without any could
    /// only answer that there is nothing, and one that the quick model has read in part might.
    fn writer_for_search(&self, observer: &dyn Observer) -> Result<Writing<'_>, Error> {
        let started = Instant::now();
        let is_unready = || -> Result<bool, Error> {
            let is_empty = self.store.summary()?.last_publish_ms.is_none();
            Ok(is_empty || started.elapsed() < VECTORS_WAIT && self.awaits_quick_vectors()?)
        };
        match self.store.writer() {
            Err(StoreError::Busy { .. }) if is_unready()? => {
                let looked = Cell::new(Instant::now());
                self.queue_to_write(RUN_WAIT, observer, &|| {
                    looked.get().elapsed() < LOOK_EVERY || {
                        looked.set(Instant::now());
                        is_unready().unwrap_or(false)
                    }
                })
            }
            Err(StoreError::Busy { .. }) if self.store.is_embedding() => {
                self.queue_to_write(COMMIT_WAIT, observer, &|| true)
            }
            taken => Ok(taken?),
        }
    }

    /// Returns `true` if the first model is one that reads a tree in seconds, and has not read all of it.
    fn awaits_quick_vectors(&self) -> Result<bool, Error> {
        let Some(name) = self.config.index.models.first() else { return Ok(false) };
        let model = self.models.described(name)?;
        if model.provider != Provider::Static {
            return Ok(false);
        }
        let coverage = self.store.coverage(&model.id, &Filter::default())?;
        Ok(coverage.embedded < coverage.passages)
    }

    /// Returns the number of files that differ from the index.
    ///
    /// # Errors
    /// A source or the store cannot be read.
    pub fn stale(&self) -> Result<u64, Error> {
        Ok(self.comparisons()?.iter().map(|one| one.stale).sum())
    }

    /// Compares each source with its tree.
    pub(crate) fn comparisons(&self) -> Result<Vec<SourceComparison<'_>>, Error> {
        refresh::comparisons(self)
    }
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
