//! Brings the search indexes up to date with the committed documents.

use super::report::RunReport;
use crate::Error;
use crate::handle::Index;
use crate::progress::{Observer, Stage};
use std::time::{Duration, Instant};
use tamis_store::{Store, StoreError};

/// Time of a publication that is not stopped, so that a search finds what a stopped run has done wherever that costs no wait.
const UNSTOPPED: Duration = Duration::from_secs(1);

/// Publishes, and adds the time to the report. A publication that the observer stops interrupts the run.
pub(super) fn publish(index: &Index, observer: &dyn Observer, report: &mut RunReport) -> Result<(), Error> {
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
