//! The order of passages with equal scores: by namespace, path and position. Their numbers tell when they were stored, which has nothing
//! to do with a query, and differs between two indexes of one tree.

use std::collections::HashMap;

use crate::error::Result;
use crate::hits::{LexicalHit, SemanticHit};
use crate::record::{PassageId, Place};
use crate::store::Documents;

/// Hits to find beyond those asked for, so that a place in the list does not depend on age where several hits share the last score.
const SPARE: usize = 32;

/// The number of hits to find for the first `k`.
pub(crate) fn with_spare(k: usize) -> usize {
    if k == 0 { 0 } else { k.saturating_add(SPARE) }
}

/// A passage that a leg found.
pub(crate) trait Hit {
    fn passage(&self) -> PassageId;
    /// The score.
    fn score(&self) -> f32;
}

impl Hit for LexicalHit {
    fn passage(&self) -> PassageId {
        self.passage
    }

    fn score(&self) -> f32 {
        self.score.bm25
    }
}

impl Hit for SemanticHit {
    fn passage(&self) -> PassageId {
        self.passage
    }

    fn score(&self) -> f32 {
        self.similarity
    }
}

/// Orders hits of some namespaces with equal scores by their places, and keeps the first `k`. The hits are ordered by their scores.
pub(crate) fn settle<H: Hit>(store: &impl Documents, namespaces: &[String], hits: &mut Vec<H>, k: usize) -> Result<()> {
    let is_tied = |a: &H, b: &H| a.score().to_bits() == b.score().to_bits();
    // Those beyond the last score are left out in any case.
    let last = hits.get(k.wrapping_sub(1)).map(H::score);
    hits.retain(|hit| last.is_none_or(|last| hit.score() >= last));
    let tied = hits.chunk_by(is_tied).filter(|run| run.len() > 1).flatten().map(H::passage);
    let tied: Vec<PassageId> = tied.collect();
    if !tied.is_empty() {
        let places: HashMap<PassageId, Place> = store.places(namespaces, &tied)?.into_iter().collect();
        for run in hits.chunk_by_mut(is_tied) {
            run.sort_by(|a, b| places.get(&a.passage()).cmp(&places.get(&b.passage())));
        }
    }
    hits.truncate(k);
    Ok(())
}
