//! Brings the search indexes up to date with the committed documents.

use super::report::RunReport;
use crate::Error;
use crate::handle::Index;
use crate::progress::{Observer, Stage};
use std::time::Instant;

/// Publishes, and adds the time to the report.
pub(super) fn publish(index: &Index, observer: &dyn Observer, report: &mut RunReport) -> Result<(), Error> {
    let started = Instant::now();
    let mut done = 0;
    let mut part = None;
    let published = index.store.publish(&mut |progress| {
        if part.replace(progress.part) != Some(progress.part) {
            observer.stage(Stage::Publish, progress.total);
            done = 0;
        }
        observer.advance(progress.done.saturating_sub(done));
        done = progress.done;
    });
    report.time("publish", started);
    published.map_err(Error::not_published)
}
