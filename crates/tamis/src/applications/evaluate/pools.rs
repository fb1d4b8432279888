//! The candidates of judged queries with all their scores, for fitting a cut elsewhere.

use super::cache;
use super::{EvaluationError, OwnId, TestCollection, TestQuery};
use crate::config::Config;
use crate::handle::Index;
use crate::progress::{Observer, Stage};
use crate::search::{Candidates, Context, candidates};
use rayon::prelude::*;
use serde::Serialize;
use std::path::Path;
use tamis_cut::{Auto, Fixed, Rule};
use tamis_eval::QueryKind;

/// The candidates of one query, best first, as a search ranks them.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct PoolRecord {
    /// Name of the collection.
    pub collection: String,
    /// Identifier of the query.
    pub query: String,
    /// Text of the query.
    pub text: String,
    /// True if the collection answers the query.
    pub answerable: bool,
    /// Number of documents judged relevant, in the pool or not.
    pub relevant: usize,
    /// The fused score of a passage that has nothing to do with the query.
    pub background: Option<f64>,
    /// The gate's evidence.
    pub evidence: tamis_cut::Evidence,
    /// The candidates.
    pub candidates: Vec<PooledCandidate>,
}

/// A candidate with its scores.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct PooledCandidate {
    /// Its document.
    pub document: String,
    /// The fused score that a cut reads.
    pub score: f64,
    /// Cosine similarity to the query.
    pub similarity: Option<f64>,
    /// BM25 score.
    pub bm25: Option<f64>,
    /// Share of the query's IDF mass that it matches, 0 to 1.
    pub coverage: Option<f64>,
    /// The probability that a reranker gave it, if one read it.
    pub judged: Option<f64>,
    /// Number of its entry, what the cut counts: 0 for the best. Equal for passages that are one result.
    pub entry: usize,
    /// Length of its text.
    pub characters: usize,
    /// The judgement of its document; 0 if nobody judged it.
    pub grade: i32,
}

/// Indexes the collection into `cache` unless it is there, and returns the candidates of every query.
///
/// # Errors
/// An index or model that fails, or an observer that stops it.
pub fn pools(
    test: &TestCollection,
    config: &Config,
    cache: &Path,
    own_id: Option<&OwnId>,
    limit: Option<usize>,
    observer: &dyn Observer,
) -> Result<Vec<PoolRecord>, EvaluationError> {
    let own = own_id.map(|own| test.own_documents(own)).transpose()?.unwrap_or_default();
    let index = cache::index(test, config, cache, observer)?;
    let queries: Vec<&TestQuery> = test.queries.iter().take(limit.unwrap_or(usize::MAX)).collect();
    observer.stage(Stage::Answer, queries.len() as u64);
    let record = |query: &&TestQuery| {
        if observer.cancelled() {
            return Err(EvaluationError::Interrupted);
        }
        let record = record(&index, &test.name, query, own.of(query));
        observer.advance(1);
        record
    };
    queries.par_iter().map(record).collect()
}

fn record(
    index: &Index,
    collection: &str,
    query: &TestQuery,
    without: Option<&str>,
) -> Result<PoolRecord, EvaluationError> {
    let candidates: Candidates<'_> = candidates(&Context::of(index), &query.text, index.config().search.pool, without)?;
    // Only rules that read relevance ask a reranker.
    let rule: &dyn Rule = if index.reranker.is_some() { &Auto::default() } else { &Fixed::default() };
    let ordered = candidates.decide(rule)?;
    let grade = |document: &str| query.judged.get(document).copied().unwrap_or_default();
    let mut passages = ordered.passages;
    passages.extend(ordered.others);
    passages.sort_by(|a, b| b.score.total_cmp(&a.score));
    let pooled = passages.into_iter().map(|passage| PooledCandidate {
        grade: grade(&passage.document),
        document: passage.document,
        entry: passage.entry,
        score: passage.score,
        similarity: passage.similarity,
        bm25: passage.bm25,
        coverage: passage.coverage,
        judged: passage.judged,
        characters: passage.characters,
    });
    Ok(PoolRecord {
        collection: collection.to_owned(),
        query: query.id.clone(),
        text: query.text.clone(),
        answerable: query.kind == QueryKind::Judged,
        relevant: query.judged.values().filter(|&&grade| grade > 0).count(),
        background: ordered.background,
        evidence: candidates.evidence(),
        candidates: pooled.collect(),
    })
}
