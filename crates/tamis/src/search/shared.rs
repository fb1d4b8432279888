//! Gathers from the own namespace first, then from those that the same owner shares.

use super::depth::Depth;
use super::gather::{Found, Gathered, LegError, LegQueries, Statistics, complete, gather};
use super::scope::Scope;
use tamis_store::{Background, Filter, Store, StoreError};

/// Gathers within a scope. Shared namespaces only add: if they fail, the own results stand, and the reason is returned.
pub(super) fn gather_within(
    store: &dyn Store,
    asked: &LegQueries<'_>,
    scope: &Scope,
    filter: &Filter,
    depth: Depth,
) -> Result<(Gathered, Option<String>), LegError> {
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
    asked: &LegQueries<'_>,
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

/// Returns the mean and deviation over two sets of passages. Quantiles do not add up and are left out.
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
        quantiles: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tamis_store::{Access, EmbeddedStore, LexicalQuery};

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
        let asked = LegQueries { lexical: Some(LexicalQuery::new("x")), semantic: None };
        let own = || gather(&store, &asked, &scope.of_own(&Filter::default()), Depth::exactly(9));
        let failed = || Err(StoreError::Missing { path: "shared".into() });
        let (gathered, reason) = beside(own().expect("gathered"), &scope, failed, |_, shared| Ok(shared));
        assert_eq!(gathered.statistics.found.lexical, Some(0));
        assert!(reason.expect("a reason").starts_with("shared namespaces (shared) were left out: "));
        assert!(
            gather_within(&store, &asked, &scope, &Filter::default(), Depth::exactly(9)).expect("gathered").1.is_none()
        );
    }
}
