//! Queries to the two legs, their answers, and the order of hits with equal scores.

use std::collections::HashMap;

use crate::error::Result;
use crate::record::{DocumentId, PassageId, Place};
use crate::store::Documents;

/// A query to the lexical leg.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LexicalQuery {
    /// Free text: words, identifiers, an error message. It has no operators; any term may match.
    pub text: String,
}

impl LexicalQuery {
    /// Makes a query from a text.
    pub fn new(text: impl Into<String>) -> LexicalQuery {
        LexicalQuery { text: text.into() }
    }
}

/// The answer of the lexical leg.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LexicalHits {
    /// The hits, best first; equal scores by namespace, path and position.
    pub hits: Vec<LexicalHit>,
    /// The query as the leg understood it, with the background of its scores.
    pub statistics: LexicalStatistics,
}

/// A passage that the lexical leg found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LexicalHit {
    /// The passage.
    pub passage: PassageId,
    /// Its document.
    pub document: DocumentId,
    /// Its score.
    pub score: LexicalScore,
}

/// The lexical score of a passage.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LexicalScore {
    /// Okapi BM25 with k1 = 1.2 and b = 0.75; 0 when no term matches.
    pub bm25: f32,
    /// The matching share of the query's IDF mass, 0 to 1. Terms in more than half of the passages do not count; a term that no
    /// passage has counts with the highest IDF.
    pub coverage: f32,
}

/// A query's terms and their frequencies.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LexicalStatistics {
    /// The terms, in query order.
    pub terms: Vec<TermStatistics>,
    /// Passages that pass the filter.
    pub passages: u64,
    /// Passages of the filter's namespaces in the lexical index, the basis of the document frequencies.
    pub indexed: u64,
    /// The expected score of a random passage: the sum of document frequency / passages · IDF over the terms. It is the mean of
    /// BM25 if each occurring term occurs once, in a passage of average length.
    pub expected_score: f32,
}

/// A term of a query.
#[derive(Debug, Clone, PartialEq)]
pub struct TermStatistics {
    /// The term, in lower case.
    pub term: String,
    /// Passages of the filter's namespaces with the term.
    pub document_frequency: u64,
    /// ln(1 + (N − n + 0.5) / (n + 0.5)) for N passages, n of them with the term.
    pub idf: f32,
    /// True for an identifier whose parts are terms too. It scores; its parts make the coverage.
    pub compound: bool,
}

/// The answer of the semantic leg.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Nearest {
    /// The hits, most similar first; equal ones by namespace, path and position.
    pub hits: Vec<SemanticHit>,
    /// The similarity of the query to everything that passes the filter.
    pub background: Background,
}

/// A passage that the semantic leg found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SemanticHit {
    /// The passage.
    pub passage: PassageId,
    /// Its document.
    pub document: DocumentId,
    /// The cosine similarity of the full-precision vectors, -1 to 1.
    pub similarity: f32,
}

/// The distribution of a query's similarity to all passages.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Background {
    /// Passages measured.
    pub count: u64,
    /// True if they are a sample of the passages that pass the filter.
    pub sampled: bool,
    /// The mean similarity.
    pub mean: f32,
    /// Their standard deviation.
    pub deviation: f32,
    /// Quantiles as (share of passages below, similarity), ascending.
    pub quantiles: Vec<(f32, f32)>,
}

/// Hits to find beyond those asked for, so that a place in the list does not depend on age where several hits share the last score.
const SPARE: usize = 32;

/// The number of hits to find for the first `k`.
pub(crate) fn with_spare(k: usize) -> usize {
    if k == 0 { 0 } else { k.saturating_add(SPARE) }
}

/// A passage that a leg found.
pub(crate) trait Hit {
    fn passage(&self) -> PassageId;
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
///
/// The order of passages with equal scores: by namespace, path and position. Their numbers tell when they were stored, which has nothing
/// to do with a query, and differs between two indexes of one tree.
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
