//! Both legs propose candidates, and every candidate gets both raw scores: a passage that one leg found has its score
//! in the other computed, so that no score is missing because of where a passage was found.

use super::candidate::Candidate;
use super::variants::Phrased;
use std::collections::BTreeMap;
use tamis_rank::BackgroundEvidence;
use tamis_store::{Background, Filter, LexicalQuery, LexicalStatistics, PassageId, Store, StoreError};

/// Passages without any relation to the query that a corpus is imagined to hold besides its own.
const UNRELATED: f64 = 20.0;

/// What the semantic leg looks for.
pub(super) struct SemanticQuery<'a> {
    pub model: &'a str,
    pub vector: &'a [f32],
}

/// What each leg looks for; a leg without it takes no part.
pub(super) struct Asked<'a> {
    pub lexical: Option<LexicalQuery>,
    pub semantic: Option<SemanticQuery<'a>>,
}

/// The candidates of both legs, and what each leg knows of passages at large.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    pub candidates: Vec<Candidate>,
    pub lexical: Option<LexicalStatistics>,
    pub semantic: Option<Background>,
    /// How many candidates each leg found.
    pub found: Found,
    /// Each phrasing of the query with its own candidates, the query itself first; empty where there is but one.
    pub phrased: Vec<Phrased>,
}

/// How many candidates each leg found; `None` for one that took no part.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Found {
    pub lexical: Option<usize>,
    pub semantic: Option<usize>,
}

impl Gathered {
    /// The raw scores of a passage that has nothing to do with the query.
    ///
    /// In a corpus of a few passages the answer is itself a good part of the mean. So the means are those of the corpus
    /// and [`UNRELATED`] passages more that share no word with the query and have no similarity to it.
    pub fn background(&self) -> BackgroundEvidence {
        let diluted = |mean: f32, passages: u64| f64::from(mean) * passages as f64 / (passages as f64 + UNRELATED);
        BackgroundEvidence {
            similarity: self.semantic.as_ref().map(|background| diluted(background.mean, background.count)),
            bm25: self.lexical.as_ref().map(|statistics| diluted(statistics.expected_score, statistics.indexed)),
        }
    }
}

/// One of the two legs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leg {
    Lexical,
    Semantic,
}

/// A leg that could not be asked.
#[derive(Debug)]
pub(super) struct LegError {
    pub leg: Leg,
    pub error: StoreError,
}

impl LegError {
    fn of(leg: Leg) -> impl Fn(StoreError) -> LegError {
        move |error| LegError { leg, error }
    }

    /// Whether it is the leg alone that fails: what both stand on is sound, so that the other one can answer.
    pub fn is_of_leg_alone(&self) -> bool {
        matches!(
            self.error,
            // Only an index that has to be made first needs room, the right to write, or its turn.
            StoreError::Unpublished { .. }
                | StoreError::Lexical { .. }
                | StoreError::Vectors { .. }
                | StoreError::Busy { .. }
                | StoreError::Full { .. }
                | StoreError::ReadOnly { .. }
                | StoreError::Io { .. }
        )
    }
}

impl From<LegError> for StoreError {
    fn from(failed: LegError) -> StoreError {
        failed.error
    }
}

impl From<LegError> for crate::Error {
    fn from(failed: LegError) -> crate::Error {
        failed.error.into()
    }
}

/// Asks the legs for `depth` candidates each.
pub(super) fn gather(
    store: &dyn Store,
    asked: &Asked<'_>,
    filter: &Filter,
    depth: usize,
) -> Result<Gathered, LegError> {
    let Asked { lexical, semantic } = asked;
    let (words, vectors) = rayon::join(
        || lexical.as_ref().map(|query| store.lexical(query, filter, depth)).transpose(),
        || semantic.as_ref().map(|query| store.nearest(query.model, query.vector, filter, depth)).transpose(),
    );
    let words = words.map_err(LegError::of(Leg::Lexical))?;
    let vectors = vectors.map_err(LegError::of(Leg::Semantic))?;

    let mut pool: BTreeMap<PassageId, Candidate> = BTreeMap::new();
    for hit in words.iter().flat_map(|words| &words.hits) {
        let candidate = pool.entry(hit.passage).or_insert_with(|| Candidate::new(hit.passage));
        candidate.bm25 = Some(f64::from(hit.score.bm25));
        candidate.coverage = Some(f64::from(hit.score.coverage));
    }
    for hit in vectors.iter().flat_map(|vectors| &vectors.hits) {
        let candidate = pool.entry(hit.passage).or_insert_with(|| Candidate::new(hit.passage));
        candidate.similarity = Some(f64::from(hit.similarity));
    }

    let mut candidates: Vec<Candidate> = pool.into_values().collect();
    complete(store, asked, filter, &mut candidates)?;
    let found = Found {
        lexical: words.as_ref().map(|words| words.hits.len()),
        semantic: vectors.as_ref().map(|vectors| vectors.hits.len()),
    };
    Ok(Gathered {
        candidates,
        found,
        lexical: words.map(|words| words.statistics),
        semantic: vectors.map(|vectors| vectors.background),
        phrased: Vec::new(),
    })
}

/// Gives every candidate the raw scores that it lacks. `filter` names the namespaces whose statistics count.
pub(super) fn complete(
    store: &dyn Store,
    asked: &Asked<'_>,
    filter: &Filter,
    candidates: &mut [Candidate],
) -> Result<(), LegError> {
    if let Some(query) = &asked.lexical {
        let missing: Vec<PassageId> = candidates.iter().filter(|c| c.bm25.is_none()).map(|c| c.passage).collect();
        let scores = store.bm25(query, filter, &missing).map_err(LegError::of(Leg::Lexical))?;
        for (candidate, score) in candidates.iter_mut().filter(|c| c.bm25.is_none()).zip(scores) {
            candidate.bm25 = Some(f64::from(score.bm25));
            candidate.coverage = Some(f64::from(score.coverage));
        }
    }
    if let Some(query) = &asked.semantic {
        let missing: Vec<PassageId> = candidates.iter().filter(|c| c.similarity.is_none()).map(|c| c.passage).collect();
        let similarities = store.similarities(query.model, query.vector, &missing);
        let similarities = similarities.map_err(LegError::of(Leg::Semantic))?;
        for (candidate, similarity) in candidates.iter_mut().filter(|c| c.similarity.is_none()).zip(similarities) {
            candidate.similarity = similarity.map(f64::from);
        }
    }
    Ok(())
}
