//! The depth of a search: so many passages of each leg, and more where these are of few documents.

use super::searcher::Searcher;
use std::collections::HashSet;
use tamis_cut::Rule;
use tamis_store::{DocumentId, LexicalHit, PassageId, SemanticHit};

/// Entries that a pool holds if the index has them.
const ENTRIES: usize = 100;

/// Most passages of each leg, in relation to the configured number, that are looked at for more entries.
const DEEPEST: usize = 8;

/// The number of passages of each leg that a search for entries begins with, in relation to the configured number. Most pools of a
/// large tree need about so many, and asking twice takes longer.
const FIRST: usize = 3;

/// The factor by which a search looks deeper than the entries so far suggest, since deeper passages repeat entries more often.
const SPARE: f64 = 1.5;

/// The depth of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Depth {
    /// Passages of each leg.
    pub passages: usize,
    /// Documents that the pool holds if deeper passages of the legs have them; 0 looks no deeper.
    entries: usize,
    /// True if exact finds join the pool, wherever the legs rank them.
    pub finds: bool,
}

impl Depth {
    /// Exactly so many passages of each leg.
    pub fn exactly(passages: usize) -> Self {
        Depth { passages, entries: 0, finds: false }
    }

    /// So many passages of each leg, and the exact finds.
    pub fn with_finds(passages: usize) -> Self {
        Depth { finds: true, ..Depth::exactly(passages) }
    }

    /// This depth, or so many passages of each leg if it has fewer.
    pub fn at_least(self, passages: usize) -> Self {
        Depth { passages: self.passages.max(passages), ..self }
    }

    /// The number of passages to ask each leg for at first.
    pub fn first(&self) -> usize {
        if self.entries == 0 { self.passages } else { FIRST * self.passages }
    }

    /// The number of passages to ask each leg for after `asked` were not enough; `None` if that was the last step.
    pub fn next(&self, words: &[LexicalHit], vectors: &[SemanticHit], asked: usize) -> Option<usize> {
        let deepest = DEEPEST * self.passages;
        let documents = words.iter().map(|hit| hit.document).chain(vectors.iter().map(|hit| hit.document));
        let found = documents.collect::<HashSet<_>>().len().max(1);
        let needed = asked as f64 * SPARE * self.entries as f64 / found as f64;
        // The first step aims at what is needed, and the second takes all that may be looked at.
        let next =
            if asked > self.first() { deepest } else { (needed as usize).clamp(deepest.min(2 * asked), deepest) };
        (asked < deepest).then_some(next)
    }

    /// The least depth at which the hits of both legs are of enough documents, or of all that they have. `None` if there are not
    /// enough, and a leg has more than `asked` passages.
    pub fn reached(&self, words: &[LexicalHit], vectors: &[SemanticHit], asked: usize) -> Option<usize> {
        let mut seen: HashSet<DocumentId> = HashSet::new();
        let (mut least, longest) = (self.passages, words.len().max(vectors.len()));
        for at in 0..longest {
            let of_words = words.get(at).map(|hit| hit.document);
            let of_vectors = vectors.get(at).map(|hit| hit.document);
            let before = seen.len();
            seen.extend(of_words.into_iter().chain(of_vectors));
            if seen.len() > before {
                least = least.max(at + 1);
            }
            if seen.len() >= self.entries {
                return Some(least);
            }
        }
        (longest < asked).then_some(least)
    }
}

impl Searcher<'_> {
    /// The depth of a search under a rule. A rule that counts passages is defined on so many of them.
    pub(super) fn depth(&self, rule: &dyn Rule) -> Depth {
        let passages = self.index.config.search.pool;
        let entries = if rule.counts_passages() { 0 } else { ENTRIES };
        Depth { passages, entries, finds: !rule.counts_passages() }
    }
}

/// Returns the hits of both legs that are among the first so many of one.
pub(super) fn within(depth: usize, words: &[LexicalHit], vectors: &[SemanticHit]) -> HashSet<PassageId> {
    let words = words.iter().take(depth).map(|hit| hit.passage);
    words.chain(vectors.iter().take(depth).map(|hit| hit.passage)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tamis_store::LexicalScore;

    fn words(documents: &[u32]) -> Vec<LexicalHit> {
        let hit = |(at, &document): (usize, &u32)| LexicalHit {
            passage: PassageId(at as u64),
            document: DocumentId(document),
            score: LexicalScore::default(),
        };
        documents.iter().enumerate().map(hit).collect()
    }

    #[test]
    fn a_pool_is_as_deep_as_its_documents_need() {
        let depth = Depth { passages: 2, entries: 3, finds: true };
        assert_eq!(depth.reached(&words(&[1, 2, 3, 4]), &[], 4), Some(3));
        assert_eq!(depth.reached(&words(&[1, 1, 1, 2, 3, 4]), &[], 6), Some(5));
        assert_eq!(depth.reached(&words(&[1, 1, 1, 1]), &[], 4), None, "look deeper");
        assert_eq!(depth.reached(&words(&[1, 1, 1, 1]), &[], 8), Some(2), "deeper passages are of the same document");
        assert_eq!(depth.reached(&[], &[], 4), Some(2));
        assert_eq!((depth.first(), Depth::exactly(5).first()), (6, 5));
        assert_eq!(depth.next(&words(&[1, 1, 1, 1, 1, 2]), &[], 6), Some(13));
        assert_eq!(depth.next(&words(&[1; 13]), &[], 13), Some(16), "all that may be looked at");
        assert_eq!(depth.next(&words(&[1; 16]), &[], 16), None);
        assert_eq!(Depth::exactly(5).reached(&words(&[1; 5]), &[], 5), Some(5));
    }
}
