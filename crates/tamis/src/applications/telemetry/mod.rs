//! Quality of past queries: recorded for every query, summarized for people, and replayed with other cuts. Nothing
//! leaves the machine.
//!
//! The search writes one row per query (`search::record`). [`Statistics::summarize`] combines the rows of a period
//! (`stats`, with `days`, `distribution`, `drift` and `judged`). [`Statistics::replay`] decides the recorded searches again with
//! other cuts, using the gate and rules of a search (`search::record`), and compares them (`comparison`). Everything
//! except reading is pure.

mod comparison;
mod days;
mod distribution;
mod drift;
mod judged;
mod replay;
mod stats;
mod verdicts;

pub use comparison::{Comparison, CutSummary, Example, Replay};
pub use days::Day;
pub use distribution::{Bucket, Distribution, Latency};
pub use drift::{Drift, Similarities};
pub use judged::{JudgedDay, Judgements, Reliability, ReliabilityBin};
pub use replay::{REPLAYED, ReplayRequest};
pub use stats::{Share, SlowQuery, Stats, StatsRequest};

use crate::Error;
use crate::handle::Index;
use std::collections::BTreeMap;
pub use tamis_store::{OpenedCount, Purged};

/// The quality of past queries. From [`Index::statistics`].
#[derive(Clone, Copy)]
pub struct Statistics<'a> {
    index: &'a Index,
}

impl Index {
    /// Summarizes past queries, and replays them with other cuts.
    pub fn statistics(&self) -> Statistics<'_> {
        Statistics { index: self }
    }
}

impl Statistics<'_> {
    /// Summarizes the queries of a period and their results. [`Stats::queries`] is 0 if none was recorded.
    ///
    /// ```
    /// use tamis::Index;
    /// use tamis::telemetry::{ReplayRequest, StatsRequest};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let directory = tempfile::tempdir()?;
    /// # std::fs::write(directory.path().join("oven.md"), "# Oven\n\nHeat the oven to 220 degrees before baking.\n")?;
    /// let index = Index::builder(directory.path()).set("index.models", "static").open()?;
    /// index.refresh()?;
    /// index.search("how hot should the oven be")?;
    ///
    /// let stats = index.statistics().summarize(&StatsRequest::default())?;
    /// assert_eq!((stats.queries, stats.empty), (1, 0));
    ///
    /// // What another cut would have kept of the same search.
    /// let replay = index.statistics().replay(&ReplayRequest::new(vec!["fixed:k=1".into()]))?;
    /// assert_eq!(replay.cuts[1].kept_mean, 1.0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The log cannot be read.
    pub fn summarize(&self, request: &StatsRequest) -> Result<Stats, Error> {
        let log = self.index.usage.log()?;
        let (since, until) = request.period_ms();
        let mut rows = log.quality(since, until, usize::MAX)?;
        if let Some(namespace) = &request.namespace {
            rows.retain(|row| row.namespace == *namespace);
        }
        let known = match &request.calibrated_at_ms {
            Some(given) => given.clone(),
            None => self.calibrated_at_ms(),
        };
        let opened = log.opened_count(since, until, request.namespace.as_deref())?;
        let mut judged = log.judged()?;
        judged.retain(|judged| request.covers(judged.search.at_ms, &judged.search.namespace));
        let judgements = Judgements::of(&judged, &request.zone());
        Ok(Stats { opened, judgements, ..Stats::of(&rows, request, &known) })
    }

    /// The time of each model's last calibration. An unreadable calibration does not prevent a summary.
    fn calibrated_at_ms(&self) -> BTreeMap<String, i64> {
        let mut latest: BTreeMap<String, i64> = BTreeMap::new();
        for calibration in self.index.store.calibrations().unwrap_or_default() {
            let at_ms = latest.entry(calibration.model).or_insert(calibration.calibrated_at_ms);
            *at_ms = calibration.calibrated_at_ms.max(*at_ms);
        }
        latest
    }

    /// Deletes the record of queries: their quality rows, and the searches with their candidates. Judged searches stay
    /// unless `judged` is set, since guarantees are calibrated on them.
    ///
    /// # Errors
    /// The log cannot be written, or another process locks it for seconds.
    pub fn purge(&self, judged: bool) -> Result<Purged, Error> {
        Ok(self.index.usage.log()?.purge_telemetry(judged)?)
    }
}
