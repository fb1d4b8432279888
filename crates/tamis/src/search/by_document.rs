//! What searches for whole documents share, such as issues and records: they look ever deeper until they have enough of them.

use super::candidate::Candidate;
use super::depth::Depth;
use super::query::SearchRequest;
use super::retrieve::Retrieved;
use super::searcher::Searcher;
use super::stopwatch::Stopwatch;
use crate::Error;
use std::collections::HashSet;
use tamis_store::{DocumentId, Filter};

/// The best passage of each document that a leg found, best first.
pub(super) struct DocumentLeg {
    pub best: Vec<Candidate>,
    /// The number of passages that the leg found; `None` if it took no part.
    pub found: Option<usize>,
}

impl DocumentLeg {
    /// Orders documents by the best score of their passages. Those without a finite score are left out.
    pub fn new(candidates: &[Candidate], found: Option<usize>, score: impl Fn(&Candidate) -> Option<f64>) -> Self {
        let scored = candidates.iter().filter_map(|candidate| Some((score(candidate)?, candidate)));
        let mut scored: Vec<(f64, &Candidate)> = scored.filter(|(score, _)| score.is_finite()).collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.id().cmp(&b.1.id())));
        let mut seen: HashSet<DocumentId> = HashSet::new();
        let best = scored.into_iter().map(|(_, candidate)| candidate);
        let best = best.filter(|candidate| seen.insert(candidate.passage.document)).cloned().collect();
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
    ) -> Result<(Retrieved, [Vec<Candidate>; LEGS]), Error> {
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
