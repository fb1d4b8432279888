//! Gathers passages from both retrievers, from the own namespace first and then from those that the same owner shares. A passage that one
//! retriever found gets its score in the other one too, so every one has both raw scores.

use std::collections::{BTreeMap, HashSet};

use tamis_cut::Rule;
use tamis_store::{
    Background, DocumentId, Filter, LexicalHit, PassageId, SemanticHit, Store, StoreError, StoredPassage, TextHash,
};

use super::answer::joined;
use super::candidate::{Candidate, Found, Phrased, Scores, Statistics};
use super::context::{Context, Scope};
use super::plan::{Plan, Retriever, RetrieverError, RetrieverQueries, knows_a_word};
use super::query::Query;
use crate::Error;

/// The passages that both retrievers propose with their raw scores.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gathered {
    pub scores: BTreeMap<PassageId, Scores>,
    pub statistics: Statistics,
}

/// Queries both retrievers for the candidates of a depth.
pub(crate) fn gather(
    store: &dyn Store,
    asked: &RetrieverQueries<'_>,
    filter: &Filter,
    depth: Depth,
) -> Result<Gathered, RetrieverError> {
    let RetrieverQueries { lexical, semantic } = asked;
    let retrievers = |count: usize| {
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
        let words = words.map_err(RetrieverError::from_retriever(Retriever::Lexical))?;
        Ok((words, vectors.map_err(RetrieverError::from_retriever(Retriever::Semantic))?))
    };
    let mut count = depth.first();
    let (words, vectors, reached, kept) = loop {
        let (words, vectors) = retrievers(count)?;
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

    // A deeper hit is no candidate, but its score is known if the other retriever has found it too.
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
pub(crate) fn complete(
    store: &dyn Store,
    asked: &RetrieverQueries<'_>,
    filter: &Filter,
    scores: &mut BTreeMap<PassageId, Scores>,
) -> Result<(), RetrieverError> {
    let lacking = |scores: &BTreeMap<PassageId, Scores>, score: fn(&Scores) -> Option<f64>| -> Vec<PassageId> {
        scores.iter().filter(|(_, scores)| score(scores).is_none()).map(|(passage, _)| *passage).collect()
    };
    if let Some(query) = &asked.lexical {
        let missing = lacking(scores, |scores| scores.bm25);
        let found = store.bm25(query, filter, &missing).map_err(RetrieverError::from_retriever(Retriever::Lexical))?;
        for (passage, score) in missing.iter().zip(found) {
            let scores = scores.entry(*passage).or_default();
            scores.bm25 = Some(f64::from(score.bm25));
            scores.coverage = Some(f64::from(score.coverage));
        }
    }
    if let Some(query) = &asked.semantic {
        let missing = lacking(scores, |scores| scores.similarity);
        let found = store.similarities(query.model, query.vector, filter, &missing);
        for (passage, similarity) in
            missing.iter().zip(found.map_err(RetrieverError::from_retriever(Retriever::Semantic))?)
        {
            scores.entry(*passage).or_default().similarity = similarity.map(f64::from);
        }
    }
    Ok(())
}

impl Phrased {
    pub fn new(weight: f64, gathered: &Gathered) -> Self {
        let found = gathered.scores.iter().map(|(passage, scores)| (*passage, *scores)).collect();
        Phrased { weight, found, background: gathered.statistics.background() }
    }
}

impl Gathered {
    /// Adds passages that no retriever found under these queries, with their raw scores.
    pub fn add(
        &mut self,
        store: &dyn Store,
        asked: &RetrieverQueries<'_>,
        filter: &Filter,
        passages: impl Iterator<Item = PassageId>,
    ) -> Result<(), RetrieverError> {
        let known = self.scores.len();
        passages.for_each(|passage| _ = self.scores.entry(passage).or_default());
        if self.scores.len() > known { complete(store, asked, filter, &mut self.scores) } else { Ok(()) }
    }
}

/// Entries that a pool holds if the index has them.
const ENTRIES: usize = 100;

/// Most passages of each retriever, in relation to the configured number, that are looked at for more entries.
const DEEPEST: usize = 8;

/// The number of passages of each retriever that a search for entries begins with, in relation to the configured number. Most pools of a
/// large tree need about so many, and asking twice takes longer.
const FIRST: usize = 3;

/// The factor by which a search looks deeper than the entries so far suggest, since deeper passages repeat entries more often.
const SPARE: f64 = 1.5;

/// The depth of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Depth {
    /// Passages of each retriever.
    pub passages: usize,
    /// Documents that the pool holds if deeper passages of the retrievers have them; 0 looks no deeper.
    entries: usize,
    /// True if exact finds join the pool, wherever the retrievers rank them.
    pub finds: bool,
}

impl Depth {
    /// Exactly so many passages of each retriever.
    pub fn exactly(passages: usize) -> Self {
        Depth { passages, entries: 0, finds: false }
    }

    /// So many passages of each retriever, and the exact finds.
    pub fn with_finds(passages: usize) -> Self {
        Depth { finds: true, ..Depth::exactly(passages) }
    }

    /// This depth, or so many passages of each retriever if it has fewer.
    pub fn at_least(self, passages: usize) -> Self {
        Depth { passages: self.passages.max(passages), ..self }
    }

    /// The number of passages to ask each retriever for at first.
    pub fn first(&self) -> usize {
        if self.entries == 0 { self.passages } else { FIRST * self.passages }
    }

    /// The number of passages to ask each retriever for after `asked` were not enough; `None` if that was the last step.
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

    /// The least depth at which the hits of both retrievers are of enough documents, or of all that they have. `None` if there are not
    /// enough, and a retriever has more than `asked` passages.
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

/// The depth of a search under a rule. A rule that counts passages is defined on so many of them.
pub(crate) fn depth_under(context: &Context<'_>, rule: &dyn Rule) -> Depth {
    let passages = context.index.config.search.pool;
    let entries = if rule.counts_passages() { 0 } else { ENTRIES };
    Depth { passages, entries, finds: !rule.counts_passages() }
}

/// Returns the hits of both retrievers that are among the first so many of one.
pub(crate) fn within(depth: usize, words: &[LexicalHit], vectors: &[SemanticHit]) -> HashSet<PassageId> {
    let words = words.iter().take(depth).map(|hit| hit.passage);
    words.chain(vectors.iter().take(depth).map(|hit| hit.passage)).collect()
}

/// Gathers within a scope. Shared namespaces only add: if they fail, the own results stand, and the reason is returned.
pub(crate) fn gather_within(
    store: &dyn Store,
    asked: &RetrieverQueries<'_>,
    scope: &Scope,
    filter: &Filter,
    depth: Depth,
) -> Result<(Gathered, Option<String>), RetrieverError> {
    let own = gather(store, asked, &scope.of_own(filter), depth)?;
    let shared = || Ok(gather(store, asked, &scope.of_shared(filter), depth)?);
    Ok(beside(own, scope, shared, |own, shared| join(store, asked, &scope.of_all(filter), own, shared)))
}

/// Returns the own candidates, joined by the shared ones unless those fail.
fn beside(
    own: Gathered,
    scope: &Scope,
    shared: impl FnOnce() -> Result<Gathered, StoreError>,
    join: impl FnOnce(&Gathered, Gathered) -> Result<Gathered, StoreError>,
) -> (Gathered, Option<String>) {
    if scope.shared.is_empty() {
        return (own, None);
    }
    match shared().and_then(|shared| join(&own, shared)) {
        Ok(joined) => (joined, None),
        Err(error) => (own, Some(format!("shared namespaces ({}) were left out: {error}", scope.shared.join(", ")))),
    }
}

/// Joins both pools, the own candidates first. Scores and backgrounds are those of both sets of namespaces together, since the
/// weight of a word in one says nothing about its weight in the other.
fn join(
    store: &dyn Store,
    asked: &RetrieverQueries<'_>,
    all: &Filter,
    own: &Gathered,
    shared: Gathered,
) -> Result<Gathered, StoreError> {
    // The two filters leave no passage in common. Should that ever change, the own one counts.
    let mut scores = shared.scores;
    scores.extend(&own.scores);
    scores.values_mut().for_each(|scores| (scores.bm25, scores.coverage) = (None, None));
    complete(store, asked, all, &mut scores)?;
    let (own, shared) = (&own.statistics, &shared.statistics);
    let lexical = asked.lexical.as_ref().map(|query| store.lexical(query, all, 0)).transpose()?;
    let sum = |a: Option<usize>, b: Option<usize>| a.map(|a| a + b.unwrap_or_default());
    let statistics = Statistics {
        lexical: lexical.map(|words| words.statistics),
        semantic: own.semantic.as_ref().zip(shared.semantic.as_ref()).map(|(own, shared)| together(own, shared)),
        found: Found {
            lexical: sum(own.found.lexical, shared.found.lexical),
            semantic: sum(own.found.semantic, shared.found.semantic),
        },
    };
    Ok(Gathered { scores, statistics })
}

/// Returns the mean and deviation over two sets of passages.
fn together(a: &Background, b: &Background) -> Background {
    let count = a.count + b.count;
    if count == 0 {
        return a.clone();
    }
    let share = |of: &Background| of.count as f64 / count as f64;
    let mean = share(a) * f64::from(a.mean) + share(b) * f64::from(b.mean);
    let spread = |of: &Background| share(of) * (f64::from(of.deviation).powi(2) + (f64::from(of.mean) - mean).powi(2));
    Background {
        count,
        sampled: a.sampled || b.sampled,
        mean: mean as f32,
        deviation: (spread(a) + spread(b)).sqrt() as f32,
    }
}

/// Gathers the other phrasings in parallel. One that fails is left out, and the reason is added to `warnings`.
pub(crate) fn gather_variants(
    context: &Context<'_>,
    plan: &Plan,
    query: &Query,
    filter: &Filter,
    depth: Depth,
    warnings: &mut Vec<String>,
) -> Vec<Phrased> {
    let gather = |text: &str, weight: f64| -> Result<(Phrased, Option<String>), Error> {
        // A phrasing whose words the model does not know, or which it cannot embed, is searched by words alone.
        let embedded = plan.model.as_ref().map(|_| context.index.embed_query(&plan.model_name, text)).transpose();
        let (vector, unusable) = match embedded {
            Err(error @ Error::Model { .. }) if plan.mode.lexical() => (None, Some(error.to_string())),
            embedded => (embedded?.map(|(_, vector)| vector).filter(|vector| knows_a_word(vector)), None),
        };
        let asked = plan.queries(text, vector.as_deref());
        let (gathered, left_out) = gather_within(&*context.index.store, &asked, &query.scope, filter, depth)?;
        Ok((Phrased::new(weight, &gathered), joined(left_out, unusable)))
    };
    let gather = &gather;
    let gathered: Vec<Result<_, Error>> = std::thread::scope(|scope| {
        let variants = query.variants.iter();
        let asked: Vec<_> = variants.map(|(text, weight)| scope.spawn(move || gather(text, *weight))).collect();
        let joined = asked.into_iter().map(|thread| thread.join());
        joined.map(|joined| joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    });
    let mut phrased = Vec::new();
    for (result, (text, _)) in gathered.into_iter().zip(&query.variants) {
        match result {
            Ok((found, left_out)) => {
                phrased.push(found);
                // A failure of one phrasing mostly hits all of them, so it is reported once.
                warnings.extend(left_out.filter(|reason| !warnings.contains(reason)));
            }
            Err(error) => warnings.push(format!("variant {text:?} was left out: {error}")),
        }
    }
    phrased
}

/// Reads the passages with these scores, which are of some namespaces, or of any if none is named. Those that are gone are left out,
/// and so are shared ones with the same text as one in `own`. Returns `true` if some were gone.
pub(crate) fn fetch(
    store: &dyn Store,
    scores: &BTreeMap<PassageId, Scores>,
    namespaces: &[String],
    own: &[String],
) -> Result<(Vec<Candidate>, bool), Error> {
    let ids: Vec<PassageId> = scores.keys().copied().collect();
    let mut passages = store.passages(namespaces, &ids)?;
    let gone = passages.len() < ids.len();
    let is_own = |passage: &StoredPassage| own.contains(&passage.namespace);
    if !own.is_empty() {
        let texts: HashSet<TextHash> = passages.iter().filter(|one| is_own(one)).map(|one| one.text_hash).collect();
        passages.retain(|passage| is_own(passage) || !texts.contains(&passage.text_hash));
    }
    // Equal values keep this order to the end, so that it does not depend on the age of passages.
    passages.sort_by_cached_key(|one| (!is_own(one), one.namespace.clone(), one.path.clone(), one.ordinal));
    let candidate = |passage: StoredPassage| {
        let scores = scores.get(&passage.passage).copied().unwrap_or_default();
        Candidate::new(passage, scores)
    };
    Ok((passages.into_iter().map(candidate).collect(), gone))
}

/// Gathers the query itself. A retriever that fails is dropped from the plan where the other one can answer.
pub(crate) fn gather_query(
    context: &Context<'_>,
    plan: &mut Plan,
    query: &Query,
    filter: &Filter,
    depth: Depth,
    warnings: &mut Vec<String>,
) -> Result<Gathered, Error> {
    let gather = |plan: &Plan| {
        let queries = plan.queries(&query.text, plan.vector.as_deref());
        gather_within(&*context.index.store, &queries, &query.scope, filter, depth)
    };
    let (gathered, left_out) = match gather(plan) {
        Err(failed) => {
            warnings.push(plan.do_without(failed)?);
            gather(plan)?
        }
        gathered => gathered?,
    };
    warnings.extend(left_out);
    Ok(gathered)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tamis_store::{Access, EmbeddedStore, LexicalQuery, LexicalScore};

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

    #[test]
    fn two_backgrounds_make_the_one_of_all_their_passages() {
        let background = |values: &[f32]| {
            let mean = values.iter().sum::<f32>() / values.len() as f32;
            let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f32>() / values.len() as f32;
            Background { count: values.len() as u64, mean, deviation: variance.sqrt(), ..Background::default() }
        };
        let whole = background(&[0.1, 0.2, 0.3, 0.8, 0.7]);
        let joined = together(&background(&[0.1, 0.2, 0.3]), &background(&[0.8, 0.7]));
        assert_eq!(joined.count, 5);
        assert!((joined.mean - whole.mean).abs() < 1e-6 && (joined.deviation - whole.deviation).abs() < 1e-6);
        let empty = Background::default();
        assert_eq!(together(&empty, &empty).count, 0);
        assert!((together(&empty, &whole).mean - whole.mean).abs() < 1e-6);
    }

    #[test]
    fn when_what_is_shared_fails_ones_own_stands_and_the_reason_is_given() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let store = EmbeddedStore::open(directory.path(), Access::ReadWrite).expect("opened");
        let scope = Scope { own: vec!["own".into()], shared: vec!["shared".into()], names: Vec::new() };
        let asked = RetrieverQueries { lexical: Some(LexicalQuery::new("x")), semantic: None };
        let own = || gather(&store, &asked, &scope.of_own(&Filter::default()), Depth::exactly(9));
        let failed = || Err(StoreError::Missing { path: "shared".into() });
        let (gathered, reason) = beside(own().expect("gathered"), &scope, failed, |_, shared| Ok(shared));
        assert_eq!(gathered.statistics.found.lexical, Some(0));
        assert!(reason.expect("a reason").starts_with("shared namespaces (shared) were left out: "));
        let gathered = gather_within(&store, &asked, &scope, &Filter::default(), Depth::exactly(9)).expect("gathered");
        assert!(gathered.1.is_none());
    }
}
