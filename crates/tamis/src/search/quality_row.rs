//! The telemetry row of one query.

use super::decide::Decided;
use super::retrieve::Retrieved;
use super::stopwatch::Stopwatch;
use tamis_store::{QueryQuality, RecordedSearch, ScoringKind};
use tamis_text::{Language, Relation};

/// The recorded collection of a query that names none.
const EVERYTHING: &str = "all";

/// The way a search was answered, besides its candidates and its cut.
#[derive(Default)]
pub(crate) struct Served<'a> {
    /// The part of the program that asked; `None`: the library.
    pub entry_point: Option<&'a str>,
    /// The collections of the request; empty: all.
    pub collections: &'a [String],
    /// The number of relevant candidates; without a cut, of those that the answer shows.
    pub kept: usize,
    /// The number of returned results.
    pub returned: usize,
    /// The limit on them.
    pub top_k: usize,
    /// The reason why a different model, or fewer legs, answered.
    pub fallback_reason: Option<String>,
}

/// Returns the row of a query. Its time and the search's identifier are added when it is written.
pub(super) fn quality(
    search: &RecordedSearch,
    retrieved: &Retrieved,
    decided: &Decided,
    served: Served<'_>,
    clock: &Stopwatch,
) -> QueryQuality {
    let Decided { cut, ranking, .. } = decided;
    let number = |name: &str| cut.diagnostics.get(name).and_then(serde_json::Value::as_f64);
    let method = cut.diagnostics.get("threshold_method").and_then(serde_json::Value::as_str);
    let similarities = |candidates: usize| {
        let similarities = search.candidates.iter().take(candidates).filter_map(|candidate| candidate.similarity);
        similarities.map(f64::from).filter(|similarity| similarity.is_finite())
    };
    // Reports and searches of evidence prefer no language.
    let is_search = matches!(decided.scoring.kind, ScoringKind::Search | ScoringKind::Memories);
    let hint = retrieved.question.hint.filter(|_| is_search);
    let kept = ranking.entries.iter().take(served.kept).map(|entry| entry.best.passage.language.as_deref());
    QueryQuality {
        at_ms: 0,
        entry_point: search.entry_point.clone(),
        namespace: search.namespace.clone(),
        corpus: if served.collections.is_empty() { EVERYTHING.to_owned() } else { served.collections.join(",") },
        query_hash: search.query_hash,
        query_text: search.query_text.clone(),
        search_id: None,
        model: search.model.clone(),
        mode: search.mode.clone(),
        lexical_candidates: retrieved.statistics.found.lexical.map(|found| found as u32),
        semantic_candidates: retrieved.statistics.found.semantic.map(|found| found as u32),
        candidates: cut.candidates as u32,
        kept: served.kept as u32,
        dropped: cut.candidates.saturating_sub(served.kept) as u32,
        returned: served.returned as u32,
        top_k: served.top_k as u32,
        threshold: cut.threshold,
        threshold_method: method.unwrap_or(&cut.method).to_owned(),
        gap_size: number("gap_size"),
        mean_kept_distance: mean(similarities(served.kept).map(|similarity| 1.0 - similarity)),
        language_match_ratio: hint.and_then(|hint| language_match_ratio(hint, kept)),
        best_similarity: similarities(usize::MAX).reduce(f64::max),
        similarity_mean: search.similarity_mean,
        milliseconds: clock.laps.clone(),
        total_ms: clock.elapsed_ms(),
        fallback_reason: served.fallback_reason,
    }
}

/// Returns the share of languages that are the hinted one; `None` if there are none.
fn language_match_ratio<'l>(hint: &str, languages: impl Iterator<Item = Option<&'l str>>) -> Option<f64> {
    let is_same = |language: &str| Language::relation(hint, language) == Relation::Same;
    mean(languages.map(|language| f64::from(u8::from(language.is_some_and(is_same)))))
}

/// Returns the mean; `None` for an empty iterator.
fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum) = values.fold((0usize, 0.0), |(count, sum), value| (count + 1, sum + value));
    (count > 0).then(|| sum / count as f64)
}

#[cfg(test)]
mod tests {
    use super::super::answer::CutReport;
    use super::super::gather::{Found, Statistics};
    use super::super::ranking::Ranking;
    use super::*;
    use crate::config::Mode;
    use std::collections::BTreeMap;
    use tamis_cut::Pool;
    use tamis_store::{RecordedCandidate, ScoringKey};

    fn search(similarities: &[Option<f32>]) -> RecordedSearch {
        let candidate = |&similarity: &Option<f32>| RecordedCandidate { similarity, ..RecordedCandidate::default() };
        RecordedSearch {
            entry_point: "cli".into(),
            namespace: "here".into(),
            mode: "hybrid".into(),
            model: Some("m".into()),
            method: "max_gap".into(),
            passages: 9,
            similarity_mean: Some(0.125),
            candidates: similarities.iter().map(candidate).collect(),
            ..RecordedSearch::default()
        }
    }

    fn decided(method: &str, keep: usize, candidates: usize) -> Decided {
        Decided {
            ranking: Ranking::new(Vec::new(), Pool::scores(vec![0.5; candidates]).expect("sorted")),
            cut: CutReport {
                method: method.into(),
                keep,
                threshold: Some(0.5),
                reason: String::new(),
                candidates,
                dropped: candidates - keep,
                dropped_non_finite: 0,
                diagnostics: BTreeMap::new(),
                probabilities: Vec::new(),
            },
            token_budget: None,
            mode: Mode::Hybrid,
            scoring: ScoringKey::new(ScoringKind::Search, "convex 0.5"),
            replaced: None,
        }
    }

    fn row(similarities: &[Option<f32>], decided: &Decided) -> QueryQuality {
        let statistics = Statistics { found: Found { lexical: Some(2), semantic: None }, ..Statistics::default() };
        let retrieved = Retrieved { statistics, ..Retrieved::default() };
        let served = Served { kept: decided.cut.keep, returned: 1, top_k: 1, ..Served::default() };
        quality(&search(similarities), &retrieved, decided, served, &Stopwatch::start())
    }

    #[test]
    fn a_row_by_hand() {
        let mut decided = decided("max_gap", 3, 4);
        decided.cut.diagnostics.insert("threshold_method".into(), "adaptive".into());
        decided.cut.diagnostics.insert("gap_size".into(), 0.25.into());
        let row = row(&[Some(0.5), None, Some(0.75), Some(0.875)], &decided);
        assert_eq!((row.candidates, row.kept, row.dropped, row.returned, row.top_k), (4, 3, 1, 1, 1));
        assert_eq!((row.lexical_candidates, row.semantic_candidates), (Some(2), None));
        assert_eq!((row.threshold_method.as_str(), row.gap_size), ("adaptive", Some(0.25)));
        assert_eq!(row.mean_kept_distance, Some(0.375), "of the two kept ones whose similarity is known");
        assert_eq!((row.best_similarity, row.similarity_mean), (Some(0.875), Some(0.125)));
        assert_eq!(row.corpus, "all");
    }

    #[test]
    fn what_is_not_known_is_not_zero() {
        let gated = row(&[None, None], &decided("gate", 0, 2));
        assert_eq!((gated.threshold_method.as_str(), gated.kept), ("gate", 0));
        assert_eq!((gated.mean_kept_distance, gated.best_similarity), (None, None));
        assert_eq!(gated.language_match_ratio, None, "nothing was hinted at");
        let ratio = |languages: &[Option<&str>]| language_match_ratio("rust", languages.iter().copied());
        assert_eq!(ratio(&[Some("rust"), Some("python"), None]), Some(1.0 / 3.0));
        assert_eq!(ratio(&[]), None);
    }
}
