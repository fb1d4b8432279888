//! The record of a search, which feedback, guarantees and replays read.

use super::answer::CutReport;
use super::candidate::Ranked;
use super::fading::Fading;
use super::quality_row::{Served, quality};
use super::replayed::MEMORIES;
use super::rerank::Rerank;
use super::retrieve::{Decided, Retrieved};
use super::searcher::Searcher;
use tamis_rank::Fusion;
use tamis_store::{RecordedCandidate, RecordedSearch};

/// Where a search came from that does not say it.
const ENTRY_POINT: &str = "library";

impl Searcher<'_> {
    /// The search as it is taken down, but for its identifier and time.
    pub(super) fn recorded(&self, query: &str, retrieved: &Retrieved, decided: &Decided) -> RecordedSearch {
        let Decided { ranked, cut, mode, scale, pool, .. } = decided;
        let background = retrieved.gathered.background();
        let single = |value: Option<f64>| value.map(|value| value as f32);
        let candidate = |(at, ranked): (usize, &Ranked)| RecordedCandidate {
            passage: ranked.passage.id.clone(),
            similarity: single(ranked.candidate.similarity),
            bm25: single(ranked.candidate.bm25),
            coverage: single(ranked.candidate.coverage),
            score: single(pool.values().get(at).copied()),
            probability: single(decided.probabilities.as_ref().and_then(|values| values.get(at).copied())),
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
            scale: scale.clone(),
            kept: cut.keep as u32,
            passages: retrieved.coverage.passages,
            score_background: pool.background().map(|background| background.mean),
            similarity_mean: background.similarity,
            similarity_deviation: semantic.map(|semantic| f64::from(semantic.deviation)),
            bm25_mean: background.bm25,
            focus: decided.focus,
            evidence: decided.evidence,
            candidates: ranked.iter().enumerate().map(candidate).collect(),
        }
    }

    /// Takes the search down under its cut, and how it was served, unless that fails, and returns its identifier.
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

    /// What the scores are, in words: everything that changes them or the depth of the pool, but not the query.
    pub(super) fn scale(
        &self,
        fusion: Fusion,
        rerank: &Rerank,
        memory: bool,
        fading: &Fading<'_>,
        phrasings: usize,
    ) -> String {
        let asked = if memory { MEMORIES } else { "" };
        let moved = format!("{asked}{}{}", rerank.scale(), fading.scale());
        let phrased = if phrasings > 0 { format!(", {phrasings} phrasings") } else { String::new() };
        format!(
            "{fusion}, {}{moved}{phrased}, pool {}",
            self.index.config.priors.describe(),
            self.index.config.search.pool
        )
    }
}
