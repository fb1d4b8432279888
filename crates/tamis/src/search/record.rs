//! The record of a search, for feedback, guarantees and replays.

use super::adjustments::Adjustments;
use super::answer::{CutReport, Hit};
use super::caller::SearchCaller;
use super::candidate::Candidate;
use super::decide::Decided;
use super::quality_row::{Served, quality};
use super::rank_factors;
use super::ranking::Ranking;
use super::reranker::Reranker;
use super::retrieve::Retrieved;
use super::searcher::Searcher;
use super::shift::{RERANKER, probability_by_evidence};
use super::stopwatch::Stopwatch;
use super::text_kind::scoring_of;
use crate::Error;
use std::collections::HashMap;
use tamis_cut::Rule;
use tamis_store::{RecordedCandidate, RecordedSearch, ScoringKey, ScoringKind};

/// The entry point of a search that does not name one.
const ENTRY_POINT: &str = "library";

/// The number of further passages of a result that every printer shows.
const FURTHER_SHOWN: usize = 2;

impl Searcher<'_> {
    /// Returns the record of a search, without its identifier and time.
    pub(super) fn recorded(&self, query: &str, retrieved: &Retrieved, decided: &Decided) -> RecordedSearch {
        let Decided { ranking, cut, mode, scoring, .. } = decided;
        let background = retrieved.statistics.background();
        let single = |value: Option<f64>| value.map(|value| value as f32);
        let candidate = |(at, (place, candidate)): (usize, (usize, &Candidate))| {
            let entry = ranking.entries.get(at);
            RecordedCandidate {
                passage: candidate.passage.id.clone(),
                similarity: single(candidate.scores.similarity),
                bm25: single(candidate.scores.bm25),
                coverage: single(candidate.scores.coverage),
                required: single(candidate.required),
                exact: candidate.exact.map(|_| true),
                // A value that is not finite was not read.
                score: single(match entry {
                    Some(entry) => entry.value,
                    None => Some(candidate.value).filter(|value| value.is_finite()),
                }),
                probability: single(entry.and_then(|entry| match &entry.evidence {
                    Some(evidence) => Some(probability_by_evidence(evidence)),
                    None => entry.probability,
                })),
                entry: Some(place as u32),
            }
        };
        let semantic = retrieved.statistics.semantic.as_ref();
        RecordedSearch {
            id: String::new(),
            at_ms: 0,
            entry_point: ENTRY_POINT.to_owned(),
            namespace: retrieved.question.scope.label(&self.index.namespace),
            query_hash: *blake3::hash(query.as_bytes()).as_bytes(),
            query_text: self.index.config.telemetry.queries.then(|| query.to_owned()),
            mode: mode.to_string(),
            model: retrieved.plan.model.as_ref().map(|model| model.id.clone()),
            method: cut.method.clone(),
            scoring: scoring.clone(),
            kept: cut.keep as u32,
            passages: retrieved.plan.coverage.passages,
            score_background: ranking.background(),
            similarity_mean: background.similarity,
            similarity_deviation: semantic.map(|semantic| f64::from(semantic.deviation)),
            bm25_mean: background.bm25,
            candidates: ranking.numbered().into_iter().enumerate().map(candidate).collect(),
            caller: None,
            shown: None,
        }
    }

    /// The search with what its answer showed to a caller: candidates by their position in the pool, in the order shown.
    pub(super) fn shown_to(
        &self,
        caller: Option<SearchCaller>,
        results: &[Hit],
        search: RecordedSearch,
    ) -> RecordedSearch {
        let Some(caller) = caller.filter(|_| self.index.config.telemetry.opened()) else { return search };
        let places: HashMap<&str, u32> =
            search.candidates.iter().zip(0..).map(|(candidate, place)| (candidate.passage.as_str(), place)).collect();
        let ids = results.iter().flat_map(|hit| {
            let further = hit.passages.iter().take(FURTHER_SHOWN).map(|further| further.id.as_str());
            std::iter::once(hit.id.as_str()).chain(further)
        });
        let shown = ids.filter_map(|id| places.get(id).copied()).collect();
        RecordedSearch { caller: Some(caller.key), shown: Some(shown), ..search }
    }

    /// Says so where a rule that learns decided without.
    pub(super) fn explain_learning(&self, rule: &dyn Rule, cut: &mut CutReport) {
        let config = &self.index.config;
        let off = match (config.search.learn, config.telemetry.record) {
            (true, true) => return,
            (false, _) => "off (search.learn)",
            (true, false) => "off, since searches are not recorded (telemetry.record)",
        };
        if rule.reads_relevance() {
            cut.diagnostics.insert("learning".into(), off.into());
        }
    }

    /// Records a search with its quality figures, and returns its identifier; `None` if recording is off or fails.
    pub(super) fn record(
        &self,
        search: RecordedSearch,
        retrieved: &Retrieved,
        decided: &Decided,
        served: Served<'_>,
        clock: &Stopwatch,
    ) -> Option<String> {
        if !self.index.config.telemetry.record {
            return None;
        }
        let CutReport { method, .. } = &decided.cut;
        let search = RecordedSearch {
            entry_point: served.entry_point.unwrap_or(ENTRY_POINT).to_owned(),
            method: method.clone(),
            kept: served.kept as u32,
            ..search
        };
        let quality = quality(&search, retrieved, decided, served, clock);
        self.index.usage.record(search, quality)
    }

    /// Returns the key of the scores: every setting that changes them or the depth of the pool.
    pub(super) fn scoring(
        &self,
        retrieved: &Retrieved,
        rule: &dyn Rule,
        ranking: &Ranking,
        reranker: Option<&dyn Reranker>,
    ) -> Result<ScoringKey, Error> {
        let Retrieved { question, plan, phrased, text_kind, .. } = retrieved;
        let kind = if question.memory { ScoringKind::Memories } else { ScoringKind::Search };
        let mut key = ScoringKey::new(kind, self.fusions(rule, plan.model.as_ref())?.cut);
        let adjusted = ranking.adjustments.iter().flat_map(Adjustments::scoring);
        let moved = rank_factors::scoring().into_iter().chain(adjusted);
        key.settings.extend(moved.map(|(name, value)| (name.to_owned(), value)));
        if !phrased.is_empty() {
            key = key.with("phrasings", phrased.len());
        }
        key = scoring_of(key.with("pool", self.index.config.search.pool), *text_kind);
        if let Some(reranker) = reranker {
            key = key.with(RERANKER, reranker.name());
        }
        Ok(if ranking.grouped { key.counting_entries() } else { key })
    }
}
