//! How judgements of other questions move the odds of a search: by the shift of the probability of an answer that they justify ([`Shift`]).
//!
//! Judgements speak for searches of the same namespaces, mode and model. The record of a search has the probabilities by its evidence
//! alone, so that the labels keep their meaning when the shift changes.

use super::judged_passages::JUDGED;
use super::judged_queries::{IMPORTED_JUDGEMENTS, JudgedQuery, LABELLED_QUERIES, judged_queries};
use super::ranking::Entry;
use super::retrieve::Retrieved;
use super::searcher::Searcher;
use crate::handle::{ShiftKey, Shifts};
use std::collections::{HashMap, HashSet};
use std::sync::PoisonError;
use tamis_rank::{JudgedEntry, Shift, WeighedEvidence, probability};
use tamis_store::{JudgedSearch, RecordedCandidate, RecordedSearch, ScoringKind};

/// The name of this evidence.
pub(super) const JUDGEMENTS: &str = "judgements";

/// The setting that names the reranker in the key of a search's scores.
pub(super) const RERANKER: &str = "judge";

/// Adds what judgements of other questions say: they move the odds that the list holds an answer, which count `answer_weight` times for
/// each entry. They never lift an entry over the `level` that the evidence alone leaves below it, since people judged what was shown.
pub(super) fn shift_all(entries: &mut [Entry], shift: &Shift, answer_weight: f64, level: f64) {
    if shift.labels() == 0 {
        return;
    }
    let added = answer_weight * shift.log_odds();
    for entry in entries.iter_mut().filter(|entry| added < 0.0 || probability(entry.log_odds()) >= level) {
        entry.add_evidence(JUDGEMENTS, shift.labels() as f64, added);
    }
}

/// Returns the probability of an entry without what people judged.
pub(super) fn probability_by_evidence(evidence: &WeighedEvidence) -> f64 {
    let judged = evidence.parts.iter().filter(|part| [JUDGED, JUDGEMENTS].contains(&part.name));
    probability(evidence.log_odds - judged.map(|part| part.log_odds).sum::<f64>())
}

impl Searcher<'_> {
    /// Returns the shift for a search. There is none if it does not learn or the log cannot be read.
    pub(super) fn shift(&self, retrieved: &Retrieved) -> Shift {
        if !retrieved.question.learns {
            return Shift::NONE;
        }
        let Ok(log) = self.index.usage.log() else { return Shift::NONE };
        let judgements = log.label_version().unwrap_or_default().judgements;
        if judgements.0 == 0 {
            return Shift::NONE;
        }
        let key = ShiftKey {
            namespace: retrieved.question.scope.label(&self.index.namespace),
            model: retrieved.plan.model.as_ref().map(|model| model.id.clone()),
            mode: retrieved.plan.mode.to_string(),
            reranker: retrieved.question.reranker.as_deref().map(|reranker| reranker.name().to_owned()),
        };
        let mut fitted = self.index.shifts.0.lock().unwrap_or_else(PoisonError::into_inner);
        if fitted.as_ref().is_none_or(|shifts| shifts.judgements != judgements) {
            let Ok(judged) = log.judged() else { return Shift::NONE };
            *fitted = Some(Shifts { judgements, by_key: shifts(&judged, self.index.config.search.top_k) });
        }
        fitted.as_ref().and_then(|shifts| shifts.by_key.get(&key)).copied().unwrap_or_default()
    }
}

/// Fits the shifts to judged searches, of which an answer shows at most `shown` results.
fn shifts(judged: &[JudgedSearch], shown: usize) -> HashMap<ShiftKey, Shift> {
    let keys: HashSet<ShiftKey> = judged.iter().filter_map(|judged| key(&judged.search)).collect();
    let fitted = keys.into_iter().map(|of| {
        let (queries, _) = judged_queries(judged, |search| key(search).as_ref() == Some(&of));
        let latest = &queries[queries.len().saturating_sub(LABELLED_QUERIES)..];
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

#[cfg(test)]
mod tests {
    use super::super::candidate::test_support::passage;
    use super::super::candidate::{Candidate, Scores};
    use super::*;
    use tamis_store::{Judgement, ScoringKey};

    /// A search of four candidates with these probabilities, of which the first three are kept, and its judgements.
    fn judged(query: u8, at_ms: i64, labels: &[(&str, bool)]) -> JudgedSearch {
        let candidate = |(at, probability): (usize, f32)| RecordedCandidate {
            passage: format!("p{at}"),
            probability: Some(probability),
            ..RecordedCandidate::default()
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
        let judgement = |&(passage, relevant): &(&str, bool)| Judgement {
            passage: passage.into(),
            relevant,
            in_pool: true,
            at_ms: at_ms + 1,
        };
        JudgedSearch { judgements: labels.iter().map(judgement).collect(), search }
    }

    fn labels(searches: &[JudgedSearch], shown: usize) -> Option<Vec<Option<bool>>> {
        let (queries, _) = judged_queries(searches, |search| search.mode == "hybrid");
        Some(above_the_line(&queries[0], shown)?.into_iter().map(|(_, label)| label).collect())
    }

    const ALL: [(&str, bool); 3] = [("p0", true), ("p1", false), ("p2", false)];

    #[test]
    fn the_entries_above_the_line_count_as_far_as_they_were_shown() {
        let one = [judged(1, 10, &[("p0", true), ("p2", false), ("p3", true)])];
        assert_eq!(labels(&one, 10), Some(vec![Some(true), None, Some(false)]));
        assert_eq!(labels(&one, 1), Some(vec![Some(true)]));
        let (queries, _) = judged_queries(&one, |_| true);
        let odds: Vec<f64> =
            above_the_line(&queries[0], 10).expect("weighed").into_iter().map(|(odds, _)| odds).collect();
        assert!(odds[0].abs() < 1e-6 && (odds[2] - (3.0_f64 / 7.0).ln()).abs() < 1e-6, "{odds:?}");
    }

    #[test]
    fn what_an_imported_collection_does_not_list_is_not_relevant() {
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
        assert_eq!(fitted.len(), 1);
        assert_eq!(fitted[&key(|_| {}).expect("a search")].labels(), 60);
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
        let mut moved = [Entry { evidence, ..Entry::new(candidate) }];
        let shift = Shift::fit(&vec![vec![(0.0, Some(true)), (0.0, Some(true)), (0.0, Some(false))]; 20]);
        shift_all(&mut moved, &shift, 1.0, 0.1);
        assert!(moved[0].log_odds() > 0.6);
        moved[0].add_evidence(JUDGED, 1.0, 25.0);
        let by_evidence = moved[0].evidence.as_ref().map(probability_by_evidence).expect("weighed");
        assert!((by_evidence - probability(0.5)).abs() < 1e-12);
    }
}
