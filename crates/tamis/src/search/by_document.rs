//! What searches for whole documents share, such as issues and records: they look ever deeper until they have enough of them.

use super::candidate::Candidate;
use super::depth::Depth;
use super::gather::Gathered;
use super::query::SearchRequest;
use super::retrieve::Retrieved;
use super::searcher::Searcher;
use super::stopwatch::Stopwatch;
use crate::Error;
use std::collections::HashSet;
use tamis_store::{Filter, StoredPassage};

/// The documents of one leg, each by the position of its best passage among the candidates, best first.
pub(super) struct DocumentLeg {
    pub best: Vec<usize>,
    /// The number of passages that the leg found; `None` if it took no part.
    pub found: Option<usize>,
}

impl DocumentLeg {
    /// Orders documents by the best score of their passages. Those without a finite score are left out.
    pub fn new(
        gathered: &Gathered,
        found: Option<usize>,
        score: impl Fn(&Candidate, &StoredPassage) -> Option<f64>,
    ) -> Self {
        let Gathered { candidates, passages, .. } = gathered;
        let scored = candidates.iter().zip(passages).enumerate();
        let scored = scored.filter_map(|(at, (candidate, passage))| Some((score(candidate, passage)?, at)));
        let mut scored: Vec<(f64, usize)> = scored.filter(|(score, _)| score.is_finite()).collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(candidates[a.1].passage.cmp(&candidates[b.1].passage)));
        let mut seen = HashSet::new();
        let best = scored.into_iter().map(|(_, at)| at).filter(|&at| seen.insert(passages[at].document)).collect();
        DocumentLeg { best, found }
    }
}

impl Searcher<'_> {
    /// Retrieves until each of the `legs` has `wanted` documents, or no more candidates: first `depth` passages of each, then four
    /// times as many.
    pub(super) fn retrieve_documents<const LEGS: usize>(
        &self,
        request: &SearchRequest,
        filter: &Filter,
        (wanted, mut depth): (usize, usize),
        clock: &mut Stopwatch,
        legs: impl Fn(&Retrieved) -> [DocumentLeg; LEGS],
    ) -> Result<(Retrieved, [Vec<usize>; LEGS]), Error> {
        loop {
            let retrieved = self.retrieve(request, filter, Depth::exactly(depth), clock)?;
            let legs = legs(&retrieved);
            let is_whole = |leg: &DocumentLeg| leg.best.len() >= wanted || leg.found.is_none_or(|found| found < depth);
            if depth as u64 >= retrieved.plan.coverage.passages || legs.iter().all(is_whole) {
                let first = |mut leg: DocumentLeg| {
                    leg.best.truncate(wanted);
                    leg.best
                };
                return Ok((retrieved, legs.map(first)));
            }
            depth *= 4;
        }
    }
}
