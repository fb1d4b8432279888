//! What judgements say of the searches of a period: how good the kept lists were, day by day, and whether the probabilities of their
//! candidates came true.

use super::days::moment;
use super::distribution::mean;
use super::verdicts::Verdicts;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::Serialize;
use std::collections::BTreeMap;
use tamis_eval::{Forecast, brier, calibration_error, equal_mass, equal_width};
use tamis_store::JudgedSearch;

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
    pub(super) fn of(judged: &[JudgedSearch], zone: &TimeZone) -> Judgements {
        let mut days: BTreeMap<Date, Tally> = BTreeMap::new();
        let mut forecasts: Vec<Forecast> = Vec::new();
        let mut given = Judgements { searches: judged.len() as u64, ..Judgements::default() };
        let date = |at_ms: i64| zone.to_datetime(moment(at_ms)).date();
        for JudgedSearch { search, judgements } in judged {
            for judgement in judgements {
                *if judgement.relevant { &mut given.relevant } else { &mut given.not_relevant } += 1;
                days.entry(date(judgement.at_ms)).or_default().judgements += 1;
            }
            let verdicts = Verdicts::of(search, judgements);
            days.entry(date(search.at_ms)).or_default().add(&verdicts, search.kept as usize);
            let candidates = search.counted().iter().zip(&verdicts.candidates);
            forecasts.extend(
                candidates.filter_map(|(candidate, relevant)| Some((candidate.probability?.into(), (*relevant)?))),
            );
        }
        Judgements {
            days: days.into_iter().map(|(date, tally)| tally.day(date)).collect(),
            reliability: Reliability::of(&forecasts),
            ..given
        }
    }
}

impl Reliability {
    /// `None` without a forecast.
    fn of(forecasts: &[Forecast]) -> Option<Reliability> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use tamis_store::{Judgement, RecordedCandidate, RecordedSearch};

    const DAY: i64 = 24 * 60 * 60 * 1000;

    fn judged(at_ms: i64, kept: u32, said: &[(&str, bool, i64)]) -> JudgedSearch {
        let candidate = |(passage, probability): (&str, f32)| RecordedCandidate {
            passage: passage.into(),
            probability: Some(probability),
            ..RecordedCandidate::default()
        };
        let candidates = [("a", 0.95), ("b", 0.85), ("c", 0.15)].map(candidate).into();
        let judgement = |&(passage, relevant, at_ms): &(&str, bool, i64)| Judgement {
            passage: passage.into(),
            relevant,
            in_pool: passage != "elsewhere",
            at_ms,
        };
        JudgedSearch {
            search: RecordedSearch { at_ms, kept, candidates, ..RecordedSearch::default() },
            judgements: said.iter().map(judgement).collect(),
        }
    }

    #[test]
    fn figures_by_hand() {
        let searches = [
            judged(0, 2, &[("a", true, 5), ("b", false, 6), ("elsewhere", true, DAY)]),
            judged(2 * DAY, 0, &[("c", true, 2 * DAY)]),
            judged(3 * DAY, 1, &[("a", false, 3 * DAY)]),
        ];
        let judgements = Judgements::of(&searches, &TimeZone::UTC);
        assert_eq!((judgements.searches, judgements.relevant, judgements.not_relevant), (3, 3, 2));
        let day = |date: &str, judgements, searches, quality: [Option<f64>; 3]| JudgedDay {
            date: date.into(),
            judgements,
            searches,
            precision: quality[0],
            recall: quality[1],
            f1: quality[2],
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

        assert_eq!(Judgements::of(&[], &TimeZone::UTC), Judgements::default());
        let mut search = judged(0, 1, &[("a", true, 0)]);
        search.search.candidates.iter_mut().for_each(|candidate| candidate.probability = None);
        assert_eq!(Judgements::of(&[search], &TimeZone::UTC).reliability, None);
    }
}
