//! The reference methods that every evaluation has for comparison: fixed numbers, and the best possible cut.

use crate::bootstrap::Random;
use crate::data::{Decision, Method};
use crate::evaluate::Options;
use crate::metrics;
use crate::summary::QueryView;

/// Name of the reference method that keeps the best fixed number, fitted on other queries of the collection.
pub const FIXED_FITTED: &str = "fixed-fitted";
/// Name of the reference method that keeps the best fixed number of the collection, chosen with the answers known.
pub const FIXED_KNOWN: &str = "fixed-known";
/// Name of the reference method that keeps each query's best prefix.
pub const ORACLE: &str = "oracle";

/// Largest fixed number to try.
const LARGEST: usize = 100;
/// Number kept without another query to fit on: the customary length of a page of results.
const WITHOUT_TRAINING: usize = 10;

/// Name of the reference method that keeps `k`.
pub fn fixed_name(k: usize) -> String {
    format!("fixed-{k}")
}

/// Returns true if a reference method has a name of this form.
pub fn is_reserved(name: &str) -> bool {
    let number =
        name.strip_prefix("fixed-").is_some_and(|k| !k.is_empty() && k.bytes().all(|byte| byte.is_ascii_digit()));
    number || [FIXED_FITTED, FIXED_KNOWN, ORACLE].contains(&name)
}

/// The reference methods' decisions on a collection.
///
/// - `fixed-k`, for each k of the options;
/// - `fixed-fitted`: the queries are dealt at random into folds, and each fold keeps the k that is best on all others;
/// - `fixed-known`: the k that is best on the queries it is measured on, an upper bound for any fixed number;
/// - `oracle`: each query's shortest best prefix, which is empty where nothing relevant was found.
///
/// *Best* is the highest mean F1 over answerable queries, the smallest k among equals.
pub fn references(name: &str, queries: &[QueryView], options: &Options) -> Vec<Method> {
    let mut numbers = options.fixed.clone();
    numbers.sort_unstable();
    numbers.dedup();
    let keep_all = |k: usize| queries.iter().map(|query| keep(query, k)).collect();
    let mut methods: Vec<Method> =
        numbers.into_iter().map(|k| Method { name: fixed_name(k), decisions: keep_all(k) }).collect();

    let figures: Vec<Vec<f64>> = queries.iter().map(f1).collect();
    let folds = folds(name, queries, options);
    let best: Vec<usize> =
        (0..options.folds).map(|fold| best_k(figures.iter().zip(&folds).filter(|(_, of)| **of != fold))).collect();
    let fitted = queries.iter().zip(&folds).map(|(query, &fold)| keep(query, best[fold])).collect();
    methods.push(Method { name: FIXED_FITTED.into(), decisions: fitted });

    let known = best_k(figures.iter().zip(&folds));
    methods.push(Method { name: FIXED_KNOWN.into(), decisions: keep_all(known) });
    let oracle = queries.iter().map(|query| Decision::keep(query.best.0)).collect();
    methods.push(Method { name: ORACLE.into(), decisions: oracle });
    methods
}

fn keep(query: &QueryView, k: usize) -> Decision {
    Decision::keep(k.min(query.relevance.len()))
}

/// F1 for k from 1 to the largest; empty for a query that has no answer.
fn f1(query: &QueryView) -> Vec<f64> {
    let at = |k: usize| {
        let k = k.min(query.relevance.len());
        metrics::f_beta(query.found[k], k, query.relevant, 1.0)
    };
    if query.is_answerable() { (1..=LARGEST).map(at).collect() } else { Vec::new() }
}

/// The fold of each query, independent of their order. Answerable ones are dealt first, so that they spread evenly.
fn folds(name: &str, queries: &[QueryView], options: &Options) -> Vec<usize> {
    let mut order: Vec<usize> = (0..queries.len()).collect();
    order.sort_by_key(|&query| &queries[query].pool.id);
    Random::new(options.seed, "folds", name).shuffle(&mut order);
    order.sort_by_key(|&query| !queries[query].is_answerable());
    let mut folds = vec![0; queries.len()];
    for (at, query) in order.into_iter().enumerate() {
        folds[query] = at % options.folds;
    }
    folds
}

fn best_k<'a>(training: impl Iterator<Item = (&'a Vec<f64>, &'a usize)>) -> usize {
    let mut sums = vec![0.0; LARGEST];
    let mut any = false;
    for (figures, _) in training.filter(|(figures, _)| !figures.is_empty()) {
        any = true;
        for (sum, figure) in sums.iter_mut().zip(figures) {
            *sum += figure;
        }
    }
    if !any {
        return WITHOUT_TRAINING;
    }
    let mut best = 0;
    for (at, sum) in sums.iter().enumerate() {
        // Sums in another order differ in their last bits, which must not choose a larger k.
        if *sum > sums[best] * (1.0 + 1e-12) {
            best = at;
        }
    }
    best + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{PooledDocument, QueryKind, QueryPool};

    /// A query whose first `relevant` documents of ten are relevant.
    fn query(id: usize, relevant: usize) -> QueryPool {
        let document = |at: usize| PooledDocument { id: at.to_string(), score: 1.0 - at as f64, characters: 1 };
        QueryPool {
            id: id.to_string(),
            kind: QueryKind::Judged,
            documents: (0..10).map(document).collect(),
            judged: (0..relevant).map(|at| (at.to_string(), 1)).collect(),
            beyond: Vec::new(),
        }
    }

    fn keeps(pools: &[QueryPool], options: &Options, name: &str) -> Vec<usize> {
        let views: Vec<QueryView> = pools.iter().map(QueryView::new).collect();
        let methods = references("test", &views, options);
        let method = methods.iter().find(|method| method.name == name).unwrap();
        method.decisions.iter().map(|decision| decision.keep).collect()
    }

    #[test]
    fn fixed_numbers_stop_at_the_end_of_the_pool() {
        let options = Options { fixed: vec![20, 3, 3], ..Options::default() };
        let pools = [query(0, 2)];
        assert_eq!([keeps(&pools, &options, "fixed-20"), keeps(&pools, &options, "fixed-3")], [[10], [3]]);
    }

    #[test]
    fn the_known_number_is_the_best_and_the_oracle_is_exact() {
        let pools: Vec<QueryPool> = [3, 3, 3, 7, 0].iter().enumerate().map(|(id, &count)| query(id, count)).collect();
        assert_eq!(keeps(&pools, &Options::default(), FIXED_KNOWN), [3; 5]);
        assert_eq!(keeps(&pools, &Options::default(), ORACLE), [3, 3, 3, 7, 0]);
    }

    #[test]
    fn the_fitted_number_never_sees_its_own_query() {
        // Leave one out: without the odd query everything says 2, and with it still so; the odd one is cut at 2 as well.
        let pools: Vec<QueryPool> = [2, 2, 2, 9].iter().enumerate().map(|(id, &count)| query(id, count)).collect();
        let options = Options { folds: 4, ..Options::default() };
        assert_eq!(keeps(&pools, &options, FIXED_FITTED), [2; 4]);
        // One query of each of two kinds: each gets what is best for the other.
        let options = Options { folds: 2, ..Options::default() };
        assert_eq!(keeps(&[query(0, 1), query(1, 8)], &options, FIXED_FITTED), [8, 1]);
    }

    #[test]
    fn without_training_a_page_is_kept() {
        assert_eq!(keeps(&[query(0, 1)], &Options::default(), FIXED_FITTED), [10]);
        assert_eq!(keeps(&[query(0, 0), query(1, 0)], &Options::default(), FIXED_KNOWN), [10, 10]);
    }

    #[test]
    fn reserved_names() {
        for name in ["fixed-3", "fixed-fitted", "fixed-known", "oracle"] {
            assert!(is_reserved(name), "{name}");
        }
        for name in ["fixed", "fixed-", "fixed-k=3", "fixed:k=3", "auto"] {
            assert!(!is_reserved(name), "{name}");
        }
    }
}
