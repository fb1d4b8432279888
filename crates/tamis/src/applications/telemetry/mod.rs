//! Quality of past queries: recorded for every query, summarized for people, and replayed with other cuts. Nothing
//! leaves the machine.
//!
//! The search writes one row per query (`search::recording`). [`Statistics::summarize`] combines the rows of a period
//! (`stats`). [`Statistics::replay`] decides the recorded searches again with other cuts, using the gate and rules of a search
//! (`search::recording`), and compares them (`replay`). Everything except reading is pure.

mod replay;
mod stats;

use std::collections::{BTreeMap, HashMap};

use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::Serialize;
use tamis_eval::{Forecast, brier, calibration_error, equal_mass, equal_width};
use tamis_store::{JudgedSearch, Judgement, QueryQuality, RecordedSearch};

use crate::Error;
use crate::handle::Index;
use crate::search::entry_labels;
use stats::{mean, moment};

pub use replay::{Comparison, CutSummary, Example, REPLAYED, Replay, ReplayRequest};
pub use stats::{Bucket, Day, Distribution, Latency, Share, SlowQuery, Stats, StatsRequest};
pub use tamis_store::{OpenedCount, Purged};

/// The quality of past queries. From [`Index::statistics`].
#[derive(Clone, Copy)]
pub struct Statistics<'a> {
    pub(super) index: &'a Index,
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
        let judgements = Judgements::new(&judged, &request.zone());
        Ok(Stats { opened, judgements, ..Stats::new(&rows, request, &known) })
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

// What judgements say of the searches of a period: how good the kept lists were, day by day, and whether the probabilities of their
// candidates came true.

/// Bins of the reliability diagram, and of its error.
const BINS: usize = 10;

/// The judgements of a period's searches.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Judgements {
    /// The number of searches with a judgement.
    pub searches: u64,
    /// The number of passages judged relevant.
    pub relevant: u64,
    /// The number of passages judged not relevant.
    pub not_relevant: u64,
    /// The days on which something was judged, or a search was asked that somebody judged.
    pub days: Vec<JudgedDay>,
    /// The probabilities of judged candidates by the evidence alone, before judgements moved them; `None` if there are none.
    pub reliability: Option<Reliability>,
}

/// The judgements of one day.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct JudgedDay {
    /// The day in the time zone of the request, `2026-11-22`.
    pub date: String,
    /// The number of judgements given on this day.
    pub judgements: u64,
    /// The number of searches asked on this day that have a judgement.
    pub searches: u64,
    /// The mean share of relevant passages among the judged ones that a search kept, over searches that kept a judged passage.
    pub precision: Option<f64>,
    /// The mean share of relevant passages that a search kept, over searches with a relevant passage.
    pub recall: Option<f64>,
    /// The mean F1 of what a search kept, over the searches of either.
    pub f1: Option<f64>,
}

/// Probabilities of relevance against what was judged relevant.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Reliability {
    /// The probabilities in ten bins of equal width, lowest first, without empty bins.
    pub bins: Vec<ReliabilityBin>,
    /// The expected calibration error, over ten bins of equal mass, in [0, 1].
    pub calibration_error: f64,
    /// The mean squared error of the probabilities, in [0, 1].
    pub brier: f64,
}

/// One bin of probabilities.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct ReliabilityBin {
    /// The number of judged candidates in it.
    pub count: u64,
    /// The lowest of their probabilities.
    pub low: f64,
    /// The highest of their probabilities.
    pub high: f64,
    /// The mean of their probabilities.
    pub mean: f64,
    /// The share of them that was judged relevant.
    pub relevant: f64,
}

impl Judgements {
    /// Summarizes these searches, with days of this time zone.
    pub(crate) fn new(judged: &[JudgedSearch], zone: &TimeZone) -> Judgements {
        let mut days: BTreeMap<Date, Tally> = BTreeMap::new();
        let mut forecasts: Vec<Forecast> = Vec::new();
        let mut given = Judgements { searches: judged.len() as u64, ..Judgements::default() };
        let date = |at_ms: i64| zone.to_datetime(moment(at_ms)).date();
        for JudgedSearch { search, judgements } in judged {
            for judgement in judgements {
                *if judgement.relevant { &mut given.relevant } else { &mut given.not_relevant } += 1;
                days.entry(date(judgement.at_ms)).or_default().judgements += 1;
            }
            let verdicts = Verdicts::new(search, judgements);
            days.entry(date(search.at_ms)).or_default().add(&verdicts, search.kept as usize);
            let candidates = search.counted().iter().zip(&verdicts.candidates);
            forecasts.extend(
                candidates.filter_map(|(candidate, relevant)| Some((candidate.probability?.into(), (*relevant)?))),
            );
        }
        Judgements {
            days: days.into_iter().map(|(date, tally)| tally.day(date)).collect(),
            reliability: Reliability::new(&forecasts),
            ..given
        }
    }
}

impl Reliability {
    /// `None` without a forecast.
    fn new(forecasts: &[Forecast]) -> Option<Reliability> {
        let bins = equal_width(forecasts, BINS).into_iter().map(|bin| ReliabilityBin {
            count: bin.count as u64,
            low: bin.low,
            high: bin.high,
            mean: bin.mean,
            relevant: bin.relevant,
        });
        Some(Reliability {
            bins: bins.collect(),
            calibration_error: calibration_error(&equal_mass(forecasts, BINS))?,
            brier: brier(forecasts)?,
        })
    }
}

/// What was judged on a day, and the quality of each judged search asked on it.
#[derive(Default)]
struct Tally {
    judgements: u64,
    searches: u64,
    precision: Vec<f64>,
    recall: Vec<f64>,
    f1: Vec<f64>,
}

impl Tally {
    fn add(&mut self, verdicts: &Verdicts, kept: usize) {
        let counts = verdicts.counts(0..kept);
        self.searches += 1;
        self.precision.extend(counts.precision());
        self.recall.extend(counts.recall());
        self.f1.extend(counts.f1());
    }

    fn day(self, date: Date) -> JudgedDay {
        JudgedDay {
            date: date.to_string(),
            judgements: self.judgements,
            searches: self.searches,
            precision: mean(self.precision),
            recall: mean(self.recall),
            f1: mean(self.f1),
        }
    }
}

// The judgements of one search, by candidate, and what they say of a kept list.

/// The judgements of one search.
pub(crate) struct Verdicts {
    /// The judgement of each counted candidate, by position.
    pub candidates: Vec<Option<bool>>,
    /// The number of relevant passages that were not candidates: no cut can keep them.
    pub outside: usize,
}

/// How many judged passages a kept list has and lacks.
pub(crate) struct Counts {
    /// Relevant ones that were kept.
    found: usize,
    /// Judged ones that were kept.
    judged: usize,
    /// Relevant ones, kept or not.
    relevant: usize,
}

impl Verdicts {
    /// Reads these judgements of a search.
    pub fn new(search: &RecordedSearch, judgements: &[Judgement]) -> Self {
        let by_passage: HashMap<&str, bool> =
            judgements.iter().map(|judgement| (judgement.passage.as_str(), judgement.relevant)).collect();
        Verdicts {
            candidates: entry_labels(search, &by_passage),
            outside: judgements.iter().filter(|judgement| judgement.relevant && !judgement.in_pool).count(),
        }
    }

    /// Returns `true` if any passage was judged.
    pub fn exist(&self) -> bool {
        self.outside > 0 || self.candidates.iter().any(Option::is_some)
    }

    /// Counts what a list keeps, by the positions of its candidates.
    pub fn counts(&self, kept: impl IntoIterator<Item = usize>) -> Counts {
        let kept: Vec<bool> =
            kept.into_iter().filter_map(|place| self.candidates.get(place).copied().flatten()).collect();
        let relevant = self.candidates.iter().filter(|verdict| **verdict == Some(true)).count();
        Counts {
            found: kept.iter().filter(|relevant| **relevant).count(),
            judged: kept.len(),
            relevant: relevant + self.outside,
        }
    }
}

impl Counts {
    /// The share of relevant passages among the judged ones kept; `None` if none was kept.
    pub fn precision(&self) -> Option<f64> {
        (self.judged > 0).then(|| self.found as f64 / self.judged as f64)
    }

    /// The share of relevant passages that was kept; `None` without one.
    pub fn recall(&self) -> Option<f64> {
        (self.relevant > 0).then(|| self.found as f64 / self.relevant as f64)
    }

    /// F1 against the judged passages: 0 if only others were kept; `None` if neither a judged one was kept nor a relevant one exists.
    pub fn f1(&self) -> Option<f64> {
        let counted = self.judged + self.relevant;
        (counted > 0).then(|| 2.0 * self.found as f64 / counted as f64)
    }
}

// Detects drift: query similarities that have moved since thresholds were calibrated on them.

/// The similarities of a model's queries before and after its last calibration. If they moved, its calibrated
/// thresholds may have to move too.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Drift {
    /// The model's identifier.
    pub model: String,
    /// The time of its last calibration, UTC; `None`: never calibrated.
    pub calibrated_at: Option<String>,
    /// The queries before the calibration; `None` without any, or if the model was never calibrated.
    pub before: Option<Similarities>,
    /// The queries since the calibration; all of them if the model was never calibrated.
    pub after: Option<Similarities>,
}

/// The similarities of some queries.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Similarities {
    /// The number of queries.
    pub queries: u64,
    /// Mean of each query's best candidate similarity.
    pub best: Option<f64>,
    /// Mean similarity to all passages searched: the background.
    pub background: Option<f64>,
}

impl Similarities {
    fn new(rows: &[&QueryQuality]) -> Option<Self> {
        (!rows.is_empty()).then(|| Similarities {
            queries: rows.len() as u64,
            best: mean(rows.iter().filter_map(|row| row.best_similarity)),
            background: mean(rows.iter().filter_map(|row| row.similarity_mean)),
        })
    }
}

/// Returns one entry for each model that answered.
pub(crate) fn drifts(rows: &[QueryQuality], calibrated_at_ms: &BTreeMap<String, i64>) -> Vec<Drift> {
    let mut models: BTreeMap<&str, Vec<&QueryQuality>> = BTreeMap::new();
    for row in rows {
        if let Some(model) = &row.model {
            models.entry(model).or_default().push(row);
        }
    }
    let drift = |(model, rows): (&str, Vec<&QueryQuality>)| {
        let calibrated = calibrated_at_ms.get(model).copied();
        let since = |row: &&QueryQuality| calibrated.is_none_or(|calibrated| row.at_ms >= calibrated);
        let (after, before): (Vec<&QueryQuality>, Vec<&QueryQuality>) = rows.into_iter().partition(since);
        Drift {
            model: model.to_owned(),
            calibrated_at: calibrated.map(|at_ms| moment(at_ms).to_string()),
            before: Similarities::new(&before),
            after: Similarities::new(&after),
        }
    };
    models.into_iter().map(drift).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tamis_store::{Judgement, RecordedCandidate, RecordedSearch};

    const DAY: i64 = 24 * 60 * 60 * 1000;

    fn judged(at_ms: i64, kept: u32, said: &[(&str, bool, i64)]) -> JudgedSearch {
        let candidate = |(passage, probability): (&str, f32)| {
            let (passage, probability) = (passage.into(), Some(probability));
            RecordedCandidate { passage, probability, ..RecordedCandidate::default() }
        };
        let candidates = [("a", 0.95), ("b", 0.85), ("c", 0.15)].map(candidate).into();
        let judgement = |&(id, relevant, at_ms): &(&str, bool, i64)| {
            let (passage, in_pool) = (id.into(), id != "elsewhere");
            Judgement { passage, relevant, in_pool, at_ms }
        };
        let search = RecordedSearch { at_ms, kept, candidates, ..RecordedSearch::default() };
        JudgedSearch { search, judgements: said.iter().map(judgement).collect() }
    }

    #[test]
    fn figures_by_hand() {
        let searches = [
            judged(0, 2, &[("a", true, 5), ("b", false, 6), ("elsewhere", true, DAY)]),
            judged(2 * DAY, 0, &[("c", true, 2 * DAY)]),
            judged(3 * DAY, 1, &[("a", false, 3 * DAY)]),
        ];
        let judgements = Judgements::new(&searches, &TimeZone::UTC);
        assert_eq!((judgements.searches, judgements.relevant, judgements.not_relevant), (3, 3, 2));
        let day = |date: &str, judgements, searches, [precision, recall, f1]: [Option<f64>; 3]| {
            let date = date.into();
            JudgedDay { date, judgements, searches, precision, recall, f1 }
        };
        let expected = [
            day("1970-01-01", 2, 1, [Some(0.5); 3]),
            day("1970-01-02", 1, 0, [None; 3]),
            // It kept nothing, so there is no precision, and missed the one relevant passage.
            day("1970-01-03", 1, 1, [None, Some(0.0), Some(0.0)]),
            // Nothing is relevant, and it kept something.
            day("1970-01-04", 1, 1, [Some(0.0), None, Some(0.0)]),
        ];
        assert_eq!(judgements.days, expected);
        let reliability = judgements.reliability.expect("four forecasts");
        let bins: Vec<(u64, f64)> = reliability.bins.iter().map(|bin| (bin.count, bin.relevant)).collect();
        assert_eq!(bins, [(1, 1.0), (1, 0.0), (2, 0.5)]);
        let squares = 0.85_f64.powi(2) + 0.85_f64.powi(2) + 0.05_f64.powi(2) + 0.95_f64.powi(2);
        assert!((reliability.brier - squares / 4.0).abs() < 1e-6);
        assert!((reliability.calibration_error - (0.85 + 0.85 + 2.0 * 0.45) / 4.0).abs() < 1e-6);

        assert_eq!(Judgements::new(&[], &TimeZone::UTC), Judgements::default());
        let mut search = judged(0, 1, &[("a", true, 0)]);
        search.search.candidates.iter_mut().for_each(|candidate| candidate.probability = None);
        assert_eq!(Judgements::new(&[search], &TimeZone::UTC).reliability, None);
    }

    fn row(at_ms: i64, model: Option<&str>, best: Option<f64>, mean: f64) -> QueryQuality {
        let (model, similarity_mean) = (model.map(str::to_owned), Some(mean));
        QueryQuality { at_ms, model, best_similarity: best, similarity_mean, ..QueryQuality::default() }
    }

    #[test]
    fn before_and_after_the_calibration_by_hand() {
        let rows = [
            row(1, Some("m"), Some(0.5), 0.125),
            row(2, Some("m"), Some(0.25), 0.375),
            row(5, Some("m"), Some(0.75), 0.5),
            row(6, Some("m"), None, 0.25),
            row(6, None, Some(0.9), 0.9),
            row(7, Some("other"), Some(0.25), 0.25),
        ];
        let drifts = drifts(&rows, &[("m".to_owned(), 5)].into());
        let similarities = |queries, best, background| Some(Similarities { queries, best, background });
        assert_eq!(drifts.len(), 2, "words alone have no similarity");
        assert_eq!(drifts[0].before, similarities(2, Some(0.375), Some(0.25)));
        assert_eq!(drifts[0].after, similarities(2, Some(0.75), Some(0.375)), "a query at that moment comes after it");
        assert_eq!(drifts[0].calibrated_at.as_deref(), Some("1970-01-01T00:00:00.005Z"));
        assert_eq!((&drifts[1].calibrated_at, &drifts[1].before), (&None, &None));
        assert_eq!(drifts[1].after, similarities(1, Some(0.25), Some(0.25)));
    }
}
