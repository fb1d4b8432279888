//! How well queries are served: taken down for every one of them, put together for people, and decided again with other
//! cuts. Nothing leaves the machine.
//!
//! `quality` makes the row of a query, which `search::record` hands to the log with the search itself. [`Index::stats`]
//! puts the rows of a period together (`stats`, with `days`, `distribution` and `drift`). [`Index::replay`] decides the
//! recorded searches again with other cuts, by the gate and rules of a search (`search::replayed`), and compares them
//! (`comparison`). All but the reading is pure.

mod comparison;
mod days;
mod distribution;
mod drift;
mod quality;
mod replay;
mod stats;

pub use comparison::{Comparison, CutSummary, Example};
pub use days::Day;
pub use distribution::{Bucket, Distribution, Latency};
pub use drift::{Drift, Similarities};
pub(crate) use quality::{Served, quality};
pub use replay::{REPLAYED, Replay, ReplayRequest};
pub use stats::{Share, SlowQuery, Stats, StatsRequest};

use crate::Error;
use crate::index::Index;
use std::collections::BTreeMap;
use tamis_store::Purged;

impl Index {
    /// What was asked in a period and how it was served, from the rows that are taken down of every query. Without any
    /// [`Stats::queries`] is 0.
    ///
    /// ```
    /// use tamis::{Index, Location, ReplayRequest, RunOptions, SearchRequest, StatsRequest, config::Config};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let directory = tempfile::tempdir()?;
    /// # std::fs::write(directory.path().join("oven.md"), "# Oven\n\nHeat the oven to 220 degrees before baking.\n")?;
    /// let mut config = Config::built_in();
    /// config.index.models = vec!["static".into()];
    /// let index = Index::open(Location::at(directory.path(), None), config)?;
    /// index.refresh(RunOptions::WHOLE, &())?;
    /// index.search(&SearchRequest::new("how hot should the oven be"), &Default::default())?;
    ///
    /// let stats = index.stats(&StatsRequest::default())?;
    /// assert_eq!((stats.queries, stats.empty), (1, 0));
    ///
    /// // What another cut would have kept of the same search.
    /// let replay = index.replay(&ReplayRequest::new(vec!["fixed:k=1".into()]))?;
    /// assert_eq!(replay.cuts[1].kept_mean, 1.0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The log cannot be read.
    pub fn stats(&self, request: &StatsRequest) -> Result<Stats, Error> {
        let mut rows = self.usage.log()?.quality(request.since_ms, request.until_ms, usize::MAX)?;
        if let Some(namespace) = &request.namespace {
            rows.retain(|row| row.namespace == *namespace);
        }
        let known = match &request.calibrated_at_ms {
            Some(given) => given.clone(),
            None => self.calibrated_at_ms(),
        };
        Ok(Stats::of(&rows, request, &known))
    }

    /// When each model was last calibrated. What is not known is no reason to show nothing.
    fn calibrated_at_ms(&self) -> BTreeMap<String, i64> {
        let mut latest: BTreeMap<String, i64> = BTreeMap::new();
        for calibration in self.store.calibrations().unwrap_or_default() {
            let at_ms = latest.entry(calibration.model).or_insert(calibration.calibrated_at_ms);
            *at_ms = calibration.calibrated_at_ms.max(*at_ms);
        }
        latest
    }

    /// Deletes what was taken down of queries: how they were served, and the searches with their candidates. Searches that
    /// people judged stay unless `judged` is set, since guarantees are calibrated on them.
    ///
    /// # Errors
    /// The log cannot be written, or another process keeps it for seconds.
    pub fn purge_telemetry(&self, judged: bool) -> Result<Purged, Error> {
        Ok(self.usage.log()?.purge_telemetry(judged)?)
    }
}
