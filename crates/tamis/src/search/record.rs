//! The record of a search, for feedback, guarantees and replays.

use super::answer::{CutReport, Hit};
use super::caller::SearchCaller;
use super::candidate::Ranked;
use super::quality_row::{Served, quality};
use super::rank_factors;
use super::rerank::Rerank;
use super::retrieve::{Decided, Retrieved};
use super::searcher::Searcher;
use std::collections::HashMap;
use tamis_cut::Rule;
use tamis_rank::Fusion;
use tamis_store::{RecordedCandidate, RecordedSearch, ScoringKey, ScoringKind};

/// The entry point of a search that does not name one.
const ENTRY_POINT: &str = "library";

/// The number of further passages of a result that every printer shows.
const FURTHER_SHOWN: usize = 2;

impl Searcher<'_> {
    /// Returns the record of a search, without its identifier and time.
    pub(super) fn recorded(&self, query: &str, retrieved: &Retrieved, decided: &Decided) -> RecordedSearch {
        let Decided { ranked, cut, mode, scoring, pool, .. } = decided;
        let background = retrieved.gathered.background();
        let single = |value: Option<f64>| value.map(|value| value as f32);
        let entries = decided.entry_places();
        let counted = decided.counted();
        let candidate = |(at, ranked): (usize, &Ranked)| RecordedCandidate {
            passage: ranked.passage.id.clone(),
            similarity: single(ranked.candidate.similarity),
            bm25: single(ranked.candidate.bm25),
            coverage: single(ranked.candidate.coverage),
            required: single(ranked.candidate.required),
            exact: ranked.candidate.exact.map(|_| true),
            // A value that is not finite was not read.
            score: single(match at < counted {
                true => pool.values().get(decided.place_in_pool(at)).copied(),
                false => Some(ranked.value).filter(|value| value.is_finite()),
            }),
            probability: single(decided.probability_by_evidence(at)),
            entry: Some(entries[at]),
        };
        let semantic = retrieved.gathered.semantic.as_ref();
        RecordedSearch {
            id: String::new(),
            at_ms: 0,
            entry_point: ENTRY_POINT.to_owned(),
            namespace: retrieved.question.scope.label(&self.index.namespace),
            query_hash: *blake3::hash(query.as_bytes()).as_bytes(),
            query_text: self.index.config.telemetry.queries.then(|| query.to_owned()),
            mode: mode.to_string(),
            model: retrieved.model.as_ref().map(|model| model.model().id.clone()),
            method: cut.method.clone(),
            scoring: scoring.clone(),
            kept: cut.keep as u32,
            passages: retrieved.coverage.passages,
            score_background: pool.background().map(|background| background.mean),
            similarity_mean: background.similarity,
            similarity_deviation: semantic.map(|semantic| f64::from(semantic.deviation)),
            bm25_mean: background.bm25,
            candidates: ranked.iter().enumerate().map(candidate).collect(),
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

    /// Records a search with its cut and its quality figures, and returns its identifier; `None` if recording fails.
    pub(super) fn record(
        &self,
        search: RecordedSearch,
        served: Served<'_>,
        entry_point: Option<&str>,
    ) -> Option<String> {
        let CutReport { method, keep, .. } = served.cut;
        let search = RecordedSearch {
            entry_point: entry_point.unwrap_or(ENTRY_POINT).to_owned(),
            method: method.clone(),
            kept: *keep as u32,
            ..search
        };
        let quality = quality(&search, served);
        self.index.usage.record(search, quality)
    }

    /// Returns the key of the scores: every setting that changes them or the depth of the pool.
    pub(super) fn scoring(&self, fusion: Fusion, rerank: &Rerank, memory: bool, phrasings: usize) -> ScoringKey {
        let kind = if memory { ScoringKind::Memories } else { ScoringKind::Search };
        let mut key = ScoringKey::new(kind, fusion);
        let moved = rank_factors::scoring().into_iter().chain(rerank.scoring());
        key.settings.extend(moved.map(|(name, value)| (name.to_owned(), value)));
        if phrasings > 0 {
            key = key.with("phrasings", phrasings);
        }
        key.with("pool", self.index.config.search.pool)
    }
}
