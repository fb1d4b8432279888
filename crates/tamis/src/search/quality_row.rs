//! The telemetry row of one query.

use super::answer::CutReport;
use super::retrieve::Retrieved;
use super::stopwatch::Stopwatch;
use std::collections::BTreeMap;
use tamis_store::{QueryQuality, RecordedSearch};
use tamis_text::{Language, Relation};

/// The recorded collection of a query that names none.
const EVERYTHING: &str = "all";

/// The facts about an answered query besides its recorded search.
pub(crate) struct Served<'a> {
    /// The cut that decided.
    pub cut: &'a CutReport,
    /// The collections of the request; empty: all.
    pub collections: &'a [String],
    /// The number of candidates from the lexical leg; `None` if it took no part.
    pub lexical_found: Option<usize>,
    /// The number of candidates from the semantic leg; `None` if it took no part.
    pub semantic_found: Option<usize>,
    /// The language hint, by canonical name.
    pub hint: Option<&'a str>,
    /// The language of each candidate that the cut kept.
    pub kept_languages: Vec<Option<&'a str>>,
    /// The number of returned results.
    pub returned: usize,
    /// The limit on them.
    pub top_k: usize,
    /// Milliseconds by stage, until now.
    pub milliseconds: BTreeMap<String, f64>,
    /// Milliseconds in total, until now.
    pub total_ms: f64,
    /// The reason why a different model, or fewer legs, answered.
    pub fallback_reason: Option<String>,
}

impl<'a> Served<'a> {
    /// Creates the facts about a search whose results are not passages, and which prefers no language.
    pub fn without_passages(retrieved: &Retrieved, cut: &'a CutReport, clock: &Stopwatch) -> Self {
        let found = retrieved.gathered.found;
        Served {
            cut,
            collections: &[],
            lexical_found: found.lexical,
            semantic_found: found.semantic,
            hint: None,
            kept_languages: Vec::new(),
            returned: 0,
            top_k: 0,
            milliseconds: clock.laps.clone(),
            total_ms: clock.elapsed_ms(),
            fallback_reason: retrieved.fallback_reason.clone(),
        }
    }
}

/// Returns the row of a query. Its time and the search's identifier are added when it is written.
pub(crate) fn quality(search: &RecordedSearch, served: Served<'_>) -> QueryQuality {
    let cut = served.cut;
    let number = |name: &str| cut.diagnostics.get(name).and_then(serde_json::Value::as_f64);
    let method = cut.diagnostics.get("threshold_method").and_then(serde_json::Value::as_str);
    let similarities = |candidates: usize| {
        let similarities = search.candidates.iter().take(candidates).filter_map(|candidate| candidate.similarity);
        similarities.map(f64::from).filter(|similarity| similarity.is_finite())
    };
    let same = |hint: &str, language: &str| Language::relation(hint, language) == Relation::Same;
    let matching =
        |language: &&Option<&str>| served.hint.zip(**language).is_some_and(|(hint, found)| same(hint, found));
    let matches = served.kept_languages.iter().filter(matching).count();
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
        lexical_candidates: served.lexical_found.map(|found| found as u32),
        semantic_candidates: served.semantic_found.map(|found| found as u32),
        candidates: cut.candidates as u32,
        kept: cut.keep as u32,
        dropped: cut.dropped as u32,
        returned: served.returned as u32,
        top_k: served.top_k as u32,
        threshold: cut.threshold,
        threshold_method: method.unwrap_or(&cut.method).to_owned(),
        gap_size: number("gap_size"),
        mean_kept_distance: mean(similarities(cut.keep).map(|similarity| 1.0 - similarity)),
        language_match_ratio: (served.hint.is_some() && !served.kept_languages.is_empty())
            .then(|| matches as f64 / served.kept_languages.len() as f64),
        best_similarity: similarities(usize::MAX).reduce(f64::max),
        similarity_mean: search.similarity_mean,
        milliseconds: served.milliseconds,
        total_ms: served.total_ms,
        fallback_reason: served.fallback_reason,
    }
}

/// Returns the mean; `None` for an empty iterator.
fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum) = values.fold((0usize, 0.0), |(count, sum), value| (count + 1, sum + value));
    (count > 0).then(|| sum / count as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tamis_store::RecordedCandidate;

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

    fn cut(method: &str, keep: usize, candidates: usize) -> CutReport {
        CutReport {
            method: method.into(),
            keep,
            threshold: Some(0.5),
            reason: String::new(),
            candidates,
            dropped: candidates - keep,
            dropped_non_finite: 0,
            diagnostics: BTreeMap::new(),
            probabilities: Vec::new(),
        }
    }

    fn served<'a>(cut: &'a CutReport, hint: Option<&'a str>, kept_languages: Vec<Option<&'a str>>) -> Served<'a> {
        Served {
            cut,
            collections: &[],
            lexical_found: Some(2),
            semantic_found: None,
            hint,
            kept_languages,
            returned: 1,
            top_k: 1,
            milliseconds: BTreeMap::new(),
            total_ms: 1.5,
            fallback_reason: None,
        }
    }

    #[test]
    fn a_row_by_hand() {
        let mut report = cut("max_gap", 3, 4);
        report.diagnostics.insert("threshold_method".into(), "adaptive".into());
        report.diagnostics.insert("gap_size".into(), 0.25.into());
        let (hint, languages) = (Some("rust"), vec![Some("rust"), Some("python"), None]);
        let row = quality(&search(&[Some(0.5), None, Some(0.75), Some(0.875)]), served(&report, hint, languages));
        assert_eq!((row.candidates, row.kept, row.dropped, row.returned, row.top_k), (4, 3, 1, 1, 1));
        assert_eq!((row.lexical_candidates, row.semantic_candidates), (Some(2), None));
        assert_eq!((row.threshold_method.as_str(), row.gap_size), ("adaptive", Some(0.25)));
        assert_eq!(row.mean_kept_distance, Some(0.375), "of the two kept ones whose similarity is known");
        assert_eq!((row.best_similarity, row.similarity_mean), (Some(0.875), Some(0.125)));
        assert_eq!(row.language_match_ratio, Some(1.0 / 3.0));
        assert_eq!(row.corpus, "all");
    }

    #[test]
    fn what_is_not_known_is_not_zero() {
        let report = cut("gate", 0, 2);
        let row = quality(&search(&[None, None]), served(&report, Some("rust"), vec![]));
        assert_eq!((row.threshold_method.as_str(), row.kept), ("gate", 0));
        assert_eq!((row.mean_kept_distance, row.language_match_ratio, row.best_similarity), (None, None, None));
        let row = quality(&search(&[Some(0.5)]), served(&cut("fixed", 1, 1), None, vec![Some("rust")]));
        assert_eq!(row.language_match_ratio, None, "nothing was hinted at");
    }
}
