//! Gathers candidates from both legs. A passage that one leg found gets its score in the other one too, so every candidate has
//! both raw scores.

use super::candidate::Scores;
use super::depth::{Depth, within};
use std::collections::BTreeMap;
use tamis_rank::BackgroundEvidence;
use tamis_store::{Background, Filter, LexicalQuery, LexicalStatistics, PassageId, Store, StoreError};

/// The number of unrelated passages assumed in addition to those of the corpus.
const UNRELATED: f64 = 20.0;

/// The query of the semantic leg.
pub(super) struct SemanticQuery<'a> {
    pub model: &'a str,
    pub vector: &'a [f32],
}

/// The query of each leg. A leg without one takes no part.
pub(super) struct LegQueries<'a> {
    pub lexical: Option<LexicalQuery>,
    pub semantic: Option<SemanticQuery<'a>>,
}

/// The passages that both legs propose with their raw scores.
#[derive(Clone, Debug, Default)]
pub(super) struct Gathered {
    pub scores: BTreeMap<PassageId, Scores>,
    pub statistics: Statistics,
}

/// What each leg knows of all passages.
#[derive(Clone, Debug, Default)]
pub(super) struct Statistics {
    pub lexical: Option<LexicalStatistics>,
    pub semantic: Option<Background>,
    /// The number of candidates that each leg found.
    pub found: Found,
}

/// The number of candidates that each leg found; `None` if it took no part.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Found {
    pub lexical: Option<usize>,
    pub semantic: Option<usize>,
}

impl Statistics {
    /// Returns the raw scores of a passage that has nothing to do with the query.
    ///
    /// In a corpus of a few passages the answer itself makes up much of the mean. So we take the means over the corpus and
    /// [`UNRELATED`] further passages, which share no word with the query and have no similarity to it.
    pub fn background(&self) -> BackgroundEvidence {
        let diluted = |mean: f32, passages: u64| f64::from(mean) * passages as f64 / (passages as f64 + UNRELATED);
        BackgroundEvidence {
            similarity: self.semantic.as_ref().map(|background| diluted(background.mean, background.count)),
            bm25: self.lexical.as_ref().map(|statistics| diluted(statistics.expected_score, statistics.indexed)),
        }
    }
}

/// The results of one phrasing.
#[derive(Clone, Debug)]
pub(super) struct Phrased {
    pub weight: f64,
    /// The passages that it found, with their raw scores under it.
    pub found: Vec<(PassageId, Scores)>,
    /// The raw scores of a passage that has nothing to do with it.
    pub background: BackgroundEvidence,
}

impl Phrased {
    pub fn new(weight: f64, gathered: &Gathered) -> Self {
        let found = gathered.scores.iter().map(|(passage, scores)| (*passage, *scores)).collect();
        Phrased { weight, found, background: gathered.statistics.background() }
    }
}

/// One of the two legs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leg {
    Lexical,
    Semantic,
}

/// A leg that failed.
#[derive(Debug)]
pub(super) struct LegError {
    pub leg: Leg,
    pub error: StoreError,
}

impl LegError {
    fn from_leg(leg: Leg) -> impl Fn(StoreError) -> LegError {
        move |error| LegError { leg, error }
    }

    /// Returns `true` if only this leg fails. The common store is sound, so the other leg can answer.
    pub fn is_of_leg_alone(&self) -> bool {
        matches!(
            self.error,
            // Only an index that still has to be built needs space, the right to write, or its turn.
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

/// Queries both legs for the candidates of a depth.
pub(super) fn gather(
    store: &dyn Store,
    asked: &LegQueries<'_>,
    filter: &Filter,
    depth: Depth,
) -> Result<Gathered, LegError> {
    let LegQueries { lexical, semantic } = asked;
    let legs = |count: usize| {
        let words = || lexical.as_ref().map(|query| store.lexical(query, filter, count)).transpose();
        let vectors =
            || semantic.as_ref().map(|query| store.nearest(query.model, query.vector, filter, count)).transpose();
        // The shared threads are for work, and would all be waiting soon.
        let (words, vectors) = match store.waits_for_server() {
            false => rayon::join(words, vectors),
            true => std::thread::scope(|scope| {
                let vectors = scope.spawn(vectors);
                let words = words();
                (words, vectors.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            }),
        };
        let words = words.map_err(LegError::from_leg(Leg::Lexical))?;
        Ok((words, vectors.map_err(LegError::from_leg(Leg::Semantic))?))
    };
    let mut count = depth.first();
    let (words, vectors, reached, kept) = loop {
        let (words, vectors) = legs(count)?;
        let hits = words.as_ref().map_or(&[][..], |words| &words.hits);
        let nearest = vectors.as_ref().map_or(&[][..], |vectors| &vectors.hits);
        let enough = depth.reached(hits, nearest, count);
        match depth.next(hits, nearest, count).filter(|_| enough.is_none()) {
            Some(deeper) => count = deeper,
            None => {
                let reached = enough.unwrap_or(count);
                let kept = within(reached, hits, nearest);
                break (words, vectors, reached, kept);
            }
        }
    };

    let mut scores: BTreeMap<PassageId, Scores> = BTreeMap::new();
    for hit in words.iter().flat_map(|words| &words.hits) {
        let scores = scores.entry(hit.passage).or_default();
        scores.bm25 = Some(f64::from(hit.score.bm25));
        scores.coverage = Some(f64::from(hit.score.coverage));
    }
    for hit in vectors.iter().flat_map(|vectors| &vectors.hits) {
        scores.entry(hit.passage).or_default().similarity = Some(f64::from(hit.similarity));
    }

    // A deeper hit is no candidate, but its score is known if the other leg has found it too.
    scores.retain(|passage, _| kept.contains(passage));
    complete(store, asked, filter, &mut scores)?;
    let found = Found {
        lexical: words.as_ref().map(|words| words.hits.len().min(reached)),
        semantic: vectors.as_ref().map(|vectors| vectors.hits.len().min(reached)),
    };
    let (lexical, semantic) = (words.map(|words| words.statistics), vectors.map(|vectors| vectors.background));
    Ok(Gathered { scores, statistics: Statistics { lexical, semantic, found } })
}

/// Fills in the raw scores that passages lack. `filter` names the namespaces whose statistics count.
pub(super) fn complete(
    store: &dyn Store,
    asked: &LegQueries<'_>,
    filter: &Filter,
    scores: &mut BTreeMap<PassageId, Scores>,
) -> Result<(), LegError> {
    let lacking = |scores: &BTreeMap<PassageId, Scores>, score: fn(&Scores) -> Option<f64>| -> Vec<PassageId> {
        scores.iter().filter(|(_, scores)| score(scores).is_none()).map(|(passage, _)| *passage).collect()
    };
    if let Some(query) = &asked.lexical {
        let missing = lacking(scores, |scores| scores.bm25);
        let found = store.bm25(query, filter, &missing).map_err(LegError::from_leg(Leg::Lexical))?;
        for (passage, score) in missing.iter().zip(found) {
            let scores = scores.entry(*passage).or_default();
            scores.bm25 = Some(f64::from(score.bm25));
            scores.coverage = Some(f64::from(score.coverage));
        }
    }
    if let Some(query) = &asked.semantic {
        let missing = lacking(scores, |scores| scores.similarity);
        let found = store.similarities(query.model, query.vector, filter, &missing);
        for (passage, similarity) in missing.iter().zip(found.map_err(LegError::from_leg(Leg::Semantic))?) {
            scores.entry(*passage).or_default().similarity = similarity.map(f64::from);
        }
    }
    Ok(())
}
