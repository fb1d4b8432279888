//! From judged searches to a guarantee for the present one.
//!
//! The threshold is put on each candidate's probability where the cut gave probabilities, else on how far its score is on
//! the way from the background to the best. Only searches whose values are the same thing count: of the same model, mode and
//! scale of scores. Judgements of the same query given at several searches count as one query.

use crate::Error;
use crate::index::Index;
use crate::search::CutReport;
use std::collections::{BTreeMap, HashMap};
use tamis_cut::{CalibrationQuery, Guarantee, Pool};
use tamis_store::{JudgedSearch, RecordedSearch};

/// What the threshold is put on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Values {
    /// Probabilities of relevance.
    Probability,
    /// Shares of the way from the background to the best.
    Share,
}

impl Values {
    /// What a search has to offer.
    fn of(search: &RecordedSearch) -> Self {
        let mut candidates = search.candidates.iter();
        match search.candidates.is_empty() {
            false if candidates.all(|candidate| candidate.probability.is_some()) => Values::Probability,
            _ => Values::Share,
        }
    }

    /// As people read it.
    fn name(self) -> &'static str {
        match self {
            Values::Probability => "probability",
            Values::Share => "share of the way from the background to the best",
        }
    }

    /// One value per candidate, not increasing, ending before the first that has none.
    fn read(self, search: &RecordedSearch) -> Vec<f64> {
        let mut lowest = f64::INFINITY;
        let mut non_increasing = |value: f64| {
            lowest = lowest.min(value);
            lowest
        };
        match self {
            Values::Probability => {
                let probabilities = search.candidates.iter().map_while(|candidate| candidate.probability);
                probabilities.map(|probability| non_increasing(f64::from(probability))).collect()
            }
            Values::Share => {
                let scores: Vec<f64> =
                    search.candidates.iter().map_while(|candidate| candidate.score).map(f64::from).collect();
                let best = scores.first().copied().unwrap_or_default();
                let background = search.score_background.unwrap_or_default();
                let way = best - background;
                // Where the best does not stand out, no candidate is any way from the background.
                let share = |score: f64| if way > 0.0 { ((score - background) / way).max(0.0) } else { 0.0 };
                scores.into_iter().map(|score| non_increasing(share(score))).collect()
            }
        }
    }

    /// Whether the values of two searches are the same thing.
    fn comparable(self, one: &RecordedSearch, other: &RecordedSearch) -> bool {
        one.mode == other.mode
            && one.model == other.model
            && one.scale == other.scale
            && one.namespace == other.namespace
            && (self == Values::Share || Values::of(other) == Values::Probability)
    }
}

impl Index {
    /// The cut that keeps the promise, in place of `decided`, for a search that found what `search` says.
    pub(crate) fn guaranteed(
        &self,
        guarantee: Guarantee,
        search: &RecordedSearch,
        decided: &CutReport,
    ) -> Result<CutReport, Error> {
        let judged = self.usage.log()?.judged()?;
        let values = Values::of(search);
        let (queries, others) = calibration_queries(&judged, search, values);
        let calibrated = guarantee.calibrate(&queries).map_err(|reason| {
            let others = match others {
                0 => String::new(),
                _ => format!("; {others} more were judged with another model or other settings and do not count"),
            };
            Error::Guarantee { reason, others }
        })?;
        let scores = search.candidates.iter().map_while(|candidate| candidate.score).map(f64::from);
        let pool = Pool::scores(scores).map_err(|error| Error::argument("pool", error.to_string(), "sorted"))?;
        let cut = calibrated.cut(&pool, &values.read(search), values.name());
        let mut report = CutReport::from(cut);
        report.dropped_non_finite = decided.dropped_non_finite;
        // What the rule would have done on its own.
        report.diagnostics.insert("rule_method".into(), decided.method.clone().into());
        report.diagnostics.insert("rule_keep".into(), decided.keep.into());
        Ok(report)
    }
}

/// The judged queries that can be compared with `search`, and how many cannot.
fn calibration_queries(
    judged: &[JudgedSearch],
    search: &RecordedSearch,
    values: Values,
) -> (Vec<CalibrationQuery>, usize) {
    let mut by_query: BTreeMap<[u8; 32], Vec<&JudgedSearch>> = BTreeMap::new();
    let mut others = 0;
    for judged in judged {
        if values.comparable(search, &judged.search) {
            by_query.entry(judged.search.query_hash).or_default().push(judged);
        } else {
            others += 1;
        }
    }
    (by_query.into_values().filter_map(|searches| calibration_query(&searches, values)).collect(), others)
}

/// One query from all of its judged searches, the earliest first: the pool of the last one with what was said at any.
fn calibration_query(searches: &[&JudgedSearch], values: Values) -> Option<CalibrationQuery> {
    let last = &searches.last()?.search;
    let said = searches.iter().flat_map(|judged| &judged.judgements);
    let mut said: Vec<_> = said.collect();
    said.sort_by_key(|judgement| judgement.at_ms);
    let mut said: HashMap<&str, bool> =
        said.into_iter().map(|judgement| (judgement.passage.as_str(), judgement.relevant)).collect();
    let values = values.read(last);
    let relevant = last.candidates.iter().take(values.len());
    let relevant = relevant.map(|candidate| said.remove(candidate.passage.as_str()).unwrap_or(false)).collect();
    let missed = said.into_values().filter(|&relevant| relevant).count();
    Some(CalibrationQuery { values, relevant, missed })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tamis_store::{Judgement, RecordedCandidate};

    fn search(query: u8, scores: &[f32], probabilities: Option<&[f32]>) -> RecordedSearch {
        let candidate = |(at, &score): (usize, &f32)| RecordedCandidate {
            passage: format!("p{at}"),
            score: Some(score),
            probability: probabilities.map(|probabilities| probabilities[at]),
            ..RecordedCandidate::default()
        };
        RecordedSearch {
            id: String::new(),
            at_ms: 0,
            entry_point: "library".into(),
            namespace: "here".into(),
            query_hash: [query; 32],
            query_text: None,
            mode: "hybrid".into(),
            model: Some("m".into()),
            method: "background".into(),
            scale: "convex 0.5".into(),
            kept: 0,
            passages: 9,
            score_background: Some(0.25),
            similarity_mean: None,
            similarity_deviation: None,
            bm25_mean: None,
            focus: None,
            evidence: None,
            candidates: scores.iter().enumerate().map(candidate).collect(),
        }
    }

    fn said(search: RecordedSearch, judgements: &[(&str, bool, i64)]) -> JudgedSearch {
        let judgement = |&(passage, relevant, at_ms): &(&str, bool, i64)| Judgement {
            passage: passage.into(),
            relevant,
            in_pool: true,
            at_ms,
        };
        JudgedSearch { search, judgements: judgements.iter().map(judgement).collect() }
    }

    #[test]
    fn shares_are_of_the_way_from_the_background_to_the_best_and_never_increase() {
        let read = |search: &RecordedSearch| Values::of(search).read(search);
        assert_eq!(read(&search(1, &[0.75, 0.5, 0.25, 0.0], None)), [1.0, 0.5, 0.0, 0.0]);
        assert_eq!(read(&search(1, &[0.25, 0.125], None)), [0.0, 0.0], "nothing stands out");
        assert_eq!(read(&search(1, &[], None)), [0.0; 0]);
        let uneven = search(1, &[0.75, 0.5, 0.25], Some(&[0.5, 0.75, 0.25]));
        assert_eq!(read(&uneven), [0.5, 0.5, 0.25], "probabilities come before shares");
    }

    #[test]
    fn only_searches_whose_values_are_the_same_thing_count() {
        let now = search(1, &[0.75], None);
        let other = |change: fn(&mut RecordedSearch)| {
            let mut other = search(2, &[0.75], None);
            change(&mut other);
            said(other, &[("p0", true, 1)])
        };
        let judged = [
            other(|_| ()),
            other(|search| search.model = None),
            other(|search| search.mode = "lexical".into()),
            other(|search| search.scale = "weighted 0.7".into()),
            other(|search| search.namespace = "there".into()),
        ];
        let (queries, others) = calibration_queries(&judged, &now, Values::Share);
        assert_eq!((queries.len(), others), (1, 4));
        let probable = search(1, &[0.75], Some(&[0.5]));
        let (queries, others) = calibration_queries(&judged[..1], &probable, Values::of(&probable));
        assert_eq!((queries.len(), others), (0, 1), "a share is no probability");
        let judged = [said(probable, &[("p0", true, 1)])];
        assert_eq!(calibration_queries(&judged, &now, Values::of(&now)).0.len(), 1, "a probable one has shares too");
    }

    #[test]
    fn judgements_of_one_query_at_several_searches_are_one_query() {
        let first = said(search(1, &[0.75, 0.5], None), &[("p0", true, 1), ("p9", true, 1), ("p1", true, 1)]);
        let again = said(search(1, &[0.75, 0.25], None), &[("p1", false, 2), ("p8", true, 3)]);
        let (queries, _) = calibration_queries(&[first, again], &search(7, &[0.5], None), Values::Share);
        let expected = CalibrationQuery { values: vec![1.0, 0.0], relevant: vec![true, false], missed: 2 };
        assert_eq!(queries, [expected]);
    }
}
