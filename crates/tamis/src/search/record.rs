//! The record of a search, for feedback, guarantees and replays.

use super::answer::CutReport;
use super::candidate::Ranked;
use super::decay::SearchDecay;
use super::quality_row::{Served, quality};
use super::rerank::Rerank;
use super::retrieve::{Decided, Retrieved};
use super::searcher::Searcher;
use tamis_rank::Fusion;
use tamis_store::{RecordedCandidate, RecordedSearch, ScoringKey, ScoringKind};

/// The entry point of a search that does not name one.
const ENTRY_POINT: &str = "library";

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
            // A value that is not finite was not read.
            score: single(match at < counted {
                true => pool.values().get(decided.order.as_ref().map_or(at, |order| order[at])).copied(),
                false => Some(ranked.value).filter(|value| value.is_finite()),
            }),
            probability: single(decided.probabilities.as_ref().and_then(|values| values.get(at).copied())),
            entry: Some(entries[at]),
        };
        let semantic = retrieved.gathered.semantic.as_ref();
        RecordedSearch {
            id: String::new(),
            at_ms: 0,
            entry_point: ENTRY_POINT.to_owned(),
            namespace: retrieved.question.scope.label(&self.index.namespace),
            query_hash: *blake3::hash(query.as_bytes()).as_bytes(),
            query_text: self.index.config.telemetry.text.then(|| query.to_owned()),
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
            coverage_drop: None,
            evidence: decided.evidence,
            candidates: ranked.iter().enumerate().map(candidate).collect(),
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
    pub(super) fn scoring(
        &self,
        fusion: Fusion,
        rerank: &Rerank,
        memory: bool,
        decay: &SearchDecay<'_>,
        phrasings: usize,
    ) -> ScoringKey {
        let kind = if memory { ScoringKind::Memories } else { ScoringKind::Search };
        let mut key = ScoringKey::new(kind, fusion);
        let factors = self.index.config.rank_factors.scoring();
        let moved = factors.into_iter().chain(rerank.scoring()).chain(decay.scoring());
        key.settings.extend(moved.map(|(name, value)| (name.to_owned(), value)));
        if phrasings > 0 {
            key = key.with("phrasings", phrasings);
        }
        key.with("pool", self.index.config.search.pool)
    }
}
