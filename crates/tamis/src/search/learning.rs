//! What a search learns from judgements of others: the shift of the odds of an answer, and the guarantee.
//!
//! Judgements speak for searches of the same namespaces, mode and model. The record of a search has the probabilities by its evidence
//! alone, so that judgements keep their meaning when the shift changes.
//!
//! The threshold of a guarantee applies to the normalized score, 0 at the background and 1 at the best. Probabilities would not work:
//! judgements move those. The judged queries and the next one would then not be exchangeable, which is the only assumption of the
//! guarantee.

use std::collections::{HashMap, HashSet};
use std::sync::PoisonError;

use tamis_cut::{CalibrationQuery, Guarantee};
use tamis_rank::{JudgedEntry, Shift, probability};
use tamis_store::{JudgedSearch, RecordedCandidate, RecordedSearch, ScoringKind};

use super::answer::CutReport;
use super::candidate::Retrieved;
use super::context::Context;
use super::judgements::{
    IMPORTED_JUDGEMENTS, JUDGEMENTS, JudgedQuery, RERANKER, judged_queries, normalized_scores, recorded_pool,
};
use super::ranking::Ranking;
use crate::Error;
use crate::handle::{ShiftKey, Shifts};

/// The number of latest judged queries to learn from.
const JUDGED_QUERIES: usize = 200;

/// Adds what judgements of other questions say: they move the odds that the list holds an answer, which count `answer_weight` times for
/// each entry. They never lift an entry over the `level` that the evidence alone leaves below it, since people judged what was shown.
pub(crate) fn shift_all(ranking: &mut Ranking, shift: &Shift, answer_weight: f64, level: f64) {
    if shift.labels() == 0 {
        return;
    }
    ranking.diagnostics.insert(JUDGEMENTS.to_owned(), shift.labels().into());
    let added = answer_weight * shift.log_odds();
    for entry in ranking.entries.iter_mut().filter(|entry| added < 0.0 || probability(entry.log_odds()) >= level) {
        entry.add_evidence(JUDGEMENTS, shift.labels() as f64, added);
    }
}

/// Returns the shift for a search. There is none if it does not learn or the log cannot be read.
pub(crate) fn fitted_shift(context: &Context<'_>, retrieved: &Retrieved) -> Shift {
    if !retrieved.query.learns {
        return Shift::NONE;
    }
    let Ok(log) = context.index.usage.log() else { return Shift::NONE };
    let judgements = log.judgement_version().unwrap_or_default();
    if judgements.0 == 0 {
        return Shift::NONE;
    }
    let key = ShiftKey {
        namespace: retrieved.query.scope.label(&context.index.namespace),
        model: retrieved.plan.model.as_ref().map(|model| model.id.clone()),
        mode: retrieved.plan.mode.to_string(),
        reranker: context
            .index
            .reranker
            .as_deref()
            .filter(|_| !retrieved.query.fast)
            .map(|reranker| reranker.name().to_owned()),
    };
    let mut fitted = context.index.kept.shifts.0.lock().unwrap_or_else(PoisonError::into_inner);
    if fitted.as_ref().is_none_or(|shifts| shifts.judgements != judgements) {
        let Ok(judged) = log.judged() else { return Shift::NONE };
        *fitted = Some(Shifts { judgements, by_key: shifts(&judged, context.index.config.search.top_k) });
    }
    fitted.as_ref().and_then(|shifts| shifts.by_key.get(&key)).copied().unwrap_or_default()
}

/// Fits the shifts to judged searches, of which an answer shows at most `shown` results.
fn shifts(judged: &[JudgedSearch], shown: usize) -> HashMap<ShiftKey, Shift> {
    let keys: HashSet<ShiftKey> = judged.iter().filter_map(|judged| key(&judged.search)).collect();
    let fitted = keys.into_iter().map(|of| {
        let (queries, _) = judged_queries(judged, |search| key(search).as_ref() == Some(&of));
        let latest = &queries[queries.len().saturating_sub(JUDGED_QUERIES)..];
        let lists: Vec<Vec<JudgedEntry>> = latest.iter().filter_map(|query| above_the_line(query, shown)).collect();
        (of, Shift::fit(&lists))
    });
    fitted.collect()
}

/// Returns what the judgements of a search speak for; `None` for searches of memories and reports.
fn key(search: &RecordedSearch) -> Option<ShiftKey> {
    let RecordedSearch { namespace, model, mode, scoring, .. } = search;
    (scoring.kind == ScoringKind::Search).then(|| ShiftKey {
        namespace: namespace.clone(),
        model: model.clone(),
        mode: mode.clone(),
        reranker: scoring.settings.get(RERANKER).cloned(),
    })
}

/// Returns the entries that an answer showed above its line, with their labels; `None` if the search was not weighed, or if earlier
/// judgements had moved entries over the line.
fn above_the_line(query: &JudgedQuery<'_>, shown: usize) -> Option<Vec<JudgedEntry>> {
    let search = query.search;
    // A test collection lists its relevant documents, so all others are not relevant.
    let unsaid = (search.entry_point == IMPORTED_JUDGEMENTS).then_some(false);
    let count = shown.min(search.kept as usize);
    let entry = |(candidate, label): (&RecordedCandidate, Option<bool>)| {
        let probability = f64::from(candidate.probability?);
        Some(((probability / (1.0 - probability)).ln(), label.or(unsaid)))
    };
    search.counted().iter().zip(query.relevant(count)).map(entry).collect::<Option<_>>().filter(|_| !query.is_moved)
}

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

/// Returns the cut that keeps the promise, in place of `decided`, for the recorded `search`.
pub(crate) fn guaranteed(
    context: &Context<'_>,
    guarantee: Guarantee,
    search: &RecordedSearch,
    decided: &CutReport,
) -> Result<CutReport, Error> {
    let judged = context.index.usage.log()?.judged()?;
    let (queries, others) = calibration_queries(&judged, search);
    let calibrated = guarantee.calibrate(&queries).map_err(|reason| {
        let others = match others {
            0 => String::new(),
            _ => format!("; {others} more were judged with another model or other settings and do not count"),
        };
        Error::Guarantee { reason, others }
    })?;
    let pool = recorded_pool(search).map_err(|error| Error::argument("pool", error.to_string(), "sorted"))?;
    let cut = calibrated.cut(&pool, &values(search), VALUE);
    let mut report = CutReport::from(cut);
    report.dropped_non_finite = decided.dropped_non_finite;
    // The rule's own decision.
    report.diagnostics.insert("rule_method".into(), decided.method.clone().into());
    report.diagnostics.insert("rule_keep".into(), decided.keep.into());
    Ok(report)
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
    use crate::search::candidate::test_support::passage;
    use crate::search::candidate::{Candidate, Scores};
    use crate::search::judgements::{JUDGED, RERANKER};
    use tamis_cut::Pool;
    use tamis_rank::WeighedEvidence;
    use tamis_store::{Judgement, RecordedCandidate, ScoringKey, ScoringKind};

    /// A search of four candidates with these probabilities, of which the first three are kept, and its judgements.
    fn judged(query: u8, at_ms: i64, labels: &[(&str, bool)]) -> JudgedSearch {
        let candidate = |(at, probability): (usize, f32)| {
            let (passage, probability) = (format!("p{at}"), Some(probability));
            RecordedCandidate { passage, probability, ..RecordedCandidate::default() }
        };
        let search = RecordedSearch {
            query_hash: [query; 32],
            at_ms,
            mode: "hybrid".into(),
            scoring: ScoringKey::new(ScoringKind::Search, "convex 0.5"),
            kept: 3,
            candidates: [0.5, 0.4, 0.3, 0.1].into_iter().enumerate().map(candidate).collect(),
            ..RecordedSearch::default()
        };
        let said: Vec<_> = labels.iter().map(|&(passage, relevant)| (passage, relevant, at_ms + 1)).collect();
        judged_search(search, &said)
    }

    fn labels(searches: &[JudgedSearch], shown: usize) -> Option<Vec<Option<bool>>> {
        let (queries, _) = judged_queries(searches, |search| search.mode == "hybrid");
        Some(above_the_line(&queries[0], shown)?.into_iter().map(|(_, label)| label).collect())
    }

    const ALL: [(&str, bool); 3] = [("p0", true), ("p1", false), ("p2", false)];

    #[test]
    fn the_entries_above_the_line_count_as_far_as_they_were_shown_or_imported() {
        let one = [judged(1, 10, &[("p0", true), ("p2", false), ("p3", true)])];
        assert_eq!(labels(&one, 10), Some(vec![Some(true), None, Some(false)]));
        assert_eq!(labels(&one, 1), Some(vec![Some(true)]));
        let (queries, _) = judged_queries(&one, |_| true);
        let odds: Vec<f64> = above_the_line(&queries[0], 10).expect("weighed").into_iter().map(|of| of.0).collect();
        assert!(odds[0].abs() < 1e-6 && (odds[2] - (3.0_f64 / 7.0).ln()).abs() < 1e-6, "{odds:?}");
        let mut import = judged(1, 10, &[("p1", true)]);
        import.search.entry_point = IMPORTED_JUDGEMENTS.into();
        assert_eq!(labels(&[import], 10), Some(vec![Some(false), Some(true), Some(false)]));
    }

    #[test]
    fn searches_that_judgements_moved_or_that_were_not_weighed_do_not_count() {
        // The first search was judged under words alone. The second obeys that.
        let mut first = judged(1, 10, &ALL);
        first.search.mode = "lexical".into();
        assert_eq!(labels(&[first.clone(), judged(1, 20, &ALL)], 10), None);
        first.search.mode = "hybrid".into();
        assert!(labels(&[first, judged(1, 20, &ALL)], 10).is_some());
        let mut unweighed = judged(1, 10, &ALL);
        unweighed.search.candidates[1].probability = None;
        assert_eq!(labels(&[unweighed], 10), None);
    }

    #[test]
    fn labels_speak_for_searches_of_their_kind_only() {
        let searches: Vec<JudgedSearch> = (0..20).map(|query| judged(query, 10, &ALL)).collect();
        let key = |change: fn(&mut RecordedSearch)| {
            let mut judged = judged(99, 10, &[]);
            change(&mut judged.search);
            super::key(&judged.search)
        };
        let fitted = shifts(&searches, 10);
        assert_eq!((fitted.len(), fitted[&key(|_| {}).expect("a search")].labels()), (1, 60));
        for other in [
            key(|search| search.mode = "lexical".into()),
            key(|search| search.namespace = "there".into()),
            key(|search| search.model = Some("other".into())),
            key(|search| search.scoring = search.scoring.clone().with(RERANKER, "a reranker")),
        ] {
            assert!(!fitted.contains_key(&other.expect("a search")));
        }
        assert_eq!(key(|search| search.scoring.kind = ScoringKind::Memories), None);
    }

    #[test]
    fn the_probability_by_evidence_leaves_out_what_people_judged() {
        let own = WeighedEvidence { log_odds: 0.4, parts: Vec::new() };
        let candidate = Candidate::new(passage(1, "a.md", "text"), Scores::default());
        let evidence = Some(own.with("reranker", 0.5, 0.1));
        let mut moved = Ranking::new(vec![candidate], Pool::scores([0.5]).expect("sorted"));
        moved.entries[0].evidence = evidence;
        let shift = Shift::fit(&vec![vec![(0.0, Some(true)), (0.0, Some(true)), (0.0, Some(false))]; 20]);
        shift_all(&mut moved, &shift, 1.0, 0.1);
        assert!(moved.entries[0].log_odds() > 0.6);
        moved.entries[0].add_evidence(JUDGED, 1.0, 25.0);
        let by_evidence = moved.entries[0].probability_by_evidence().expect("weighed");
        assert!((by_evidence - probability(0.5)).abs() < 1e-12);
    }

    fn search(query: u8, scores: &[f32]) -> RecordedSearch {
        let candidate = |(at, &score): (usize, &f32)| {
            let (passage, score) = (format!("p{at}"), Some(score));
            RecordedCandidate { passage, score, ..RecordedCandidate::default() }
        };
        RecordedSearch {
            namespace: "here".into(),
            query_hash: [query; 32],
            mode: "hybrid".into(),
            model: Some("m".into()),
            scoring: ScoringKey::new(ScoringKind::Search, "convex 0.5"),
            passages: 9,
            score_background: Some(0.25),
            candidates: scores.iter().enumerate().map(candidate).collect(),
            ..RecordedSearch::default()
        }
    }

    fn judged_search(search: RecordedSearch, judgements: &[(&str, bool, i64)]) -> JudgedSearch {
        let judgement = |&(passage, relevant, at_ms): &(&str, bool, i64)| {
            let passage = passage.into();
            Judgement { passage, relevant, in_pool: true, at_ms }
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
    fn only_searches_of_the_same_values_count_and_those_of_one_query_once() {
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
        let first = judged_search(search(1, &[0.75, 0.5]), &[("p0", true, 1), ("p9", true, 1), ("p1", true, 1)]);
        let again = judged_search(search(1, &[0.75, 0.25]), &[("p1", false, 2), ("p8", true, 3)]);
        let (queries, _) = calibration_queries(&[first, again], &search(7, &[0.5]));
        let expected = CalibrationQuery { values: vec![1.0, 0.0], relevant: vec![true, false], missed: 2 };
        assert_eq!(queries, [expected]);
    }
}
