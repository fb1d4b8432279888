//! Derives a guarantee for the present search from judged searches.
//!
//! The threshold applies to the normalized score, 0 at the background and 1 at the best. Probabilities would not work: those of
//! the cut `auto` move with every query and are fitted to the judged ones. The judged queries and the next one would then not be
//! exchangeable, which is the only assumption of the guarantee. Both have the same order anyway.
//!
//! Only searches with comparable scores count: the same model, mode and scoring. Judgements of one query from several searches
//! count as one query. Only people's judgements count: opened results are too weak for a promise.

use super::answer::CutReport;
use super::judged_queries::{JudgedQuery, judged_queries, normalized_scores, pool};
use super::searcher::Searcher;
use crate::Error;
use tamis_cut::{CalibrationQuery, Guarantee};
use tamis_store::{JudgedSearch, RecordedSearch};

/// Name of the values in the diagnostics.
const VALUE: &str = "normalized_score";

/// Returns the normalized score of each candidate, at least 0. All are 0 if the best does not stand out from the background.
fn values(search: &RecordedSearch) -> Vec<f64> {
    let above = |scores: Vec<f64>| scores.into_iter().map(|score| score.max(0.0)).collect();
    let none = || search.counted().iter().map_while(|candidate| candidate.score).map(|_| 0.0).collect();
    normalized_scores(search).map_or_else(none, above)
}

/// Returns `true` if the scores of two searches are comparable.
fn comparable(one: &RecordedSearch, other: &RecordedSearch) -> bool {
    one.mode == other.mode
        && one.model == other.model
        && one.scoring == other.scoring
        && one.namespace == other.namespace
}

impl Searcher<'_> {
    /// Returns the cut that keeps the promise, in place of `decided`, for the recorded `search`.
    pub(crate) fn guaranteed(
        &self,
        guarantee: Guarantee,
        search: &RecordedSearch,
        decided: &CutReport,
    ) -> Result<CutReport, Error> {
        let judged = self.index.usage.log()?.judged()?;
        let (queries, others) = calibration_queries(&judged, search);
        let calibrated = guarantee.calibrate(&queries).map_err(|reason| {
            let others = match others {
                0 => String::new(),
                _ => format!("; {others} more were judged with another model or other settings and do not count"),
            };
            Error::Guarantee { reason, others }
        })?;
        let pool = pool(search).map_err(|error| Error::argument("pool", error.to_string(), "sorted"))?;
        let cut = calibrated.cut(&pool, &values(search), VALUE);
        let mut report = CutReport::from(cut);
        report.dropped_non_finite = decided.dropped_non_finite;
        // The rule's own decision.
        report.diagnostics.insert("rule_method".into(), decided.method.clone().into());
        report.diagnostics.insert("rule_keep".into(), decided.keep.into());
        Ok(report)
    }
}

/// Returns the judged queries that are comparable with `search`, and the number of searches that are not.
fn calibration_queries(judged: &[JudgedSearch], search: &RecordedSearch) -> (Vec<CalibrationQuery>, usize) {
    let (queries, others) = judged_queries(judged, |other| comparable(search, other));
    (queries.iter().map(calibration_query).collect(), others)
}

/// Converts a judged query. An unjudged passage counts as not relevant, since the promise rests on judgements.
fn calibration_query(query: &JudgedQuery<'_>) -> CalibrationQuery {
    let values = values(query.search);
    let relevant = query.relevant(values.len()).map(|relevant| relevant.unwrap_or(false)).collect();
    CalibrationQuery { missed: query.missed(values.len()), values, relevant }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tamis_store::{Judgement, RecordedCandidate, ScoringKey, ScoringKind};

    fn search(query: u8, scores: &[f32]) -> RecordedSearch {
        let candidate = |(at, &score): (usize, &f32)| RecordedCandidate {
            passage: format!("p{at}"),
            score: Some(score),
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
            scoring: ScoringKey::new(ScoringKind::Search, "convex 0.5"),
            kept: 0,
            passages: 9,
            score_background: Some(0.25),
            similarity_mean: None,
            similarity_deviation: None,
            bm25_mean: None,
            candidates: scores.iter().enumerate().map(candidate).collect(),
            caller: None,
            shown: None,
        }
    }

    fn judged_search(search: RecordedSearch, judgements: &[(&str, bool, i64)]) -> JudgedSearch {
        let judgement = |&(passage, relevant, at_ms): &(&str, bool, i64)| Judgement {
            passage: passage.into(),
            relevant,
            in_pool: true,
            at_ms,
        };
        JudgedSearch { search, judgements: judgements.iter().map(judgement).collect() }
    }

    #[test]
    fn heights_are_shares_of_the_way_from_the_background_to_the_best() {
        assert_eq!(values(&search(1, &[0.75, 0.5, 0.25, 0.0])), [1.0, 0.5, 0.0, 0.0]);
        assert_eq!(values(&search(1, &[0.25, 0.125])), [0.0, 0.0], "nothing stands out");
        assert_eq!(values(&search(1, &[])), [0.0; 0]);
        let mut uneven = search(1, &[0.75, 0.5, 0.625, 0.25]);
        assert_eq!(values(&uneven), [1.0, 0.5, 0.5, 0.0], "never increasing");
        uneven.candidates[2].score = None;
        assert_eq!(values(&uneven), [1.0, 0.5], "a candidate without a score was not considered by the cut");
    }

    #[test]
    fn only_searches_whose_values_are_the_same_thing_count() {
        let now = search(1, &[0.75]);
        let other = |change: fn(&mut RecordedSearch)| {
            let mut other = search(2, &[0.75]);
            change(&mut other);
            judged_search(other, &[("p0", true, 1)])
        };
        let judged = [
            other(|_| ()),
            other(|search| search.model = None),
            other(|search| search.mode = "lexical".into()),
            other(|search| search.scoring.fusion = "weighted 0.7".into()),
            other(|search| search.namespace = "there".into()),
        ];
        let (queries, others) = calibration_queries(&judged, &now);
        assert_eq!((queries.len(), others), (1, 4));
    }

    #[test]
    fn judgements_of_one_query_at_several_searches_are_one_query() {
        let first = judged_search(search(1, &[0.75, 0.5]), &[("p0", true, 1), ("p9", true, 1), ("p1", true, 1)]);
        let again = judged_search(search(1, &[0.75, 0.25]), &[("p1", false, 2), ("p8", true, 3)]);
        let (queries, _) = calibration_queries(&[first, again], &search(7, &[0.5]));
        let expected = CalibrationQuery { values: vec![1.0, 0.0], relevant: vec![true, false], missed: 2 };
        assert_eq!(queries, [expected]);
    }
}
