//! The evaluation: from collections and decisions to a report.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::baselines::{is_reserved, references};
use crate::bootstrap::{Difference, Paired, Random, Resampled, resample};
use crate::data::{Collection, EvalError, unique};
use crate::metrics::{self, Metric};
use crate::ranking_metrics::Ranking;
use crate::report::{BudgetPoint, CollectionReport, FORMAT, MethodReport, Overall, QueryReport, Report, Sample};
use crate::summary::{QueryView, summary};

/// Measures every method on every collection, together with the reference methods.
///
/// The reference methods are `fixed-k` for each k of the options, `fixed-fitted` (the best fixed number, fitted on other
/// queries of the collection by cross-validation), `fixed-known` (the best fixed number with the answers known) and
/// `oracle` (each query's best prefix). All random draws depend on the seed and the collection's name alone, so equal input
/// gives an equal report. O(resamples · queries · methods).
///
/// # Errors
/// Data that does not fit together ([`Collection::check`]), a name that occurs twice or belongs to a reference method, a
/// baseline that a collection lacks, an option out of range.
///
/// ```
/// use std::collections::BTreeMap;
/// use tamis_eval::{Collection, Decision, Method, Metric, Options, PooledDocument, QueryKind, QueryPool, evaluate};
///
/// let document = |id: &str, score| PooledDocument { id: id.into(), score, characters: 100 };
/// let query = QueryPool {
///     id: "q1".into(),
///     kind: QueryKind::Judged,
///     documents: vec![document("a", 0.9), document("b", 0.8), document("c", 0.1)],
///     judged: BTreeMap::from([("a".into(), 1), ("b".into(), 1)]),
///     beyond: Vec::new(),
/// };
/// let method = Method { name: "two".into(), decisions: vec![Decision::keep(2)] };
/// let collection = Collection { name: "small".into(), model: None, queries: vec![query], methods: vec![method] };
///
/// let report = evaluate(&[collection], &Options::default())?;
/// let two = report.method("two").expect("every method is in the report");
/// assert_eq!(two.figures[&Metric::F1], 1.0);
/// assert!(report.method("fixed-1").is_some() && report.method("oracle").is_some());
/// # Ok::<(), tamis_eval::EvalError>(())
/// ```
pub fn evaluate(collections: &[Collection], options: &Options) -> Result<Report, EvalError> {
    options.check()?;
    if collections.is_empty() {
        return Err(EvalError::NoCollections);
    }
    unique("collection", collections.iter().map(|collection| collection.name.as_str()), || "the evaluation".into())?;
    let mut reports = Vec::with_capacity(collections.len());
    let mut resamples = Vec::with_capacity(collections.len());
    for collection in collections {
        collection.check()?;
        if let Some(method) = collection.methods.iter().find(|method| is_reserved(&method.name)) {
            return Err(EvalError::ReservedName { method: method.name.clone(), collection: collection.name.clone() });
        }
        let (report, resampled) = one(collection, options)?;
        reports.push(report);
        resamples.push(resampled);
    }
    let overall = overall(&reports, &resamples);
    Ok(Report { format: FORMAT, options: options.clone(), collections: reports, overall })
}

fn one(collection: &Collection, options: &Options) -> Result<(CollectionReport, Resampled), EvalError> {
    let views: Vec<QueryView> = collection.queries.iter().map(QueryView::new).collect();
    let queries: Vec<QueryReport> = views.iter().map(QueryView::report).collect();
    let given = collection.methods.iter().map(|method| summary(method, &views, &queries, options, false));
    let references = references(&collection.name, &views, options);
    let references = references.iter().map(|method| summary(method, &views, &queries, options, true));
    let mut methods: Vec<MethodReport> = given.chain(references).collect();

    let resampled = compare_with_baseline(&collection.name, &queries, &mut methods, options)?;
    let count = |kind| queries.iter().filter(|query| query.kind == kind).count();
    let report = CollectionReport {
        name: collection.name.clone(),
        model: collection.model.clone(),
        answerable: count(crate::QueryKind::Judged),
        unanswerable: count(crate::QueryKind::Unanswerable),
        foreign: count(crate::QueryKind::Foreign),
        ranking: ranking(&views, options),
        budget: budget(&views),
        samples: samples(&collection.name, &views, options),
        queries,
        methods,
    };
    Ok((report, resampled))
}

/// Fills in each method's differences from the baseline, and returns them by resample.
fn compare_with_baseline(
    name: &str,
    queries: &[QueryReport],
    methods: &mut [MethodReport],
    options: &Options,
) -> Result<Resampled, EvalError> {
    let Some(baseline) = methods.iter().position(|method| method.name == options.baseline) else {
        return Err(EvalError::UnknownBaseline {
            baseline: options.baseline.clone(),
            collection: name.to_owned(),
            known: methods.iter().map(|method| method.name.clone()).collect(),
        });
    };
    let mut keys = Vec::new();
    let mut paired = Vec::new();
    for (at, method) in methods.iter().enumerate().filter(|(at, _)| *at != baseline) {
        for &metric in Metric::PAIRED {
            let differences: Vec<(usize, f64)> = queries
                .iter()
                .enumerate()
                .filter_map(|(position, query)| {
                    let value = method.kept.value(metric, position, query, options.beta)?;
                    let base = methods[baseline].kept.value(metric, position, query, options.beta)?;
                    Some((position, value - base))
                })
                .collect();
            if !differences.is_empty() {
                keys.push((at, metric));
                paired.push(Paired { differences });
            }
        }
    }
    let strata: Vec<usize> = queries.iter().map(|query| query.kind as usize).collect();
    let mut random = Random::new(options.seed, "resamples", name);
    let means = resample(&mut random, &strata, options.resamples, &paired);
    let mut resampled = Resampled::new();
    for (((at, metric), paired), means) in keys.into_iter().zip(paired).zip(means) {
        methods[at].differences.insert(metric, Difference::new(paired.mean(), means.clone()));
        resampled.insert((methods[at].name.clone(), metric), means);
    }
    Ok(resampled)
}

/// Ranking metrics of the pool's order and the documents beyond it, averaged over the answerable queries.
fn ranking(views: &[QueryView], options: &Options) -> BTreeMap<String, f64> {
    let mut sums: BTreeMap<String, f64> = BTreeMap::new();
    let answerable: Vec<&QueryView> = views.iter().filter(|view| view.is_answerable()).collect();
    let depths: BTreeSet<usize> = options.ranking_depths.iter().copied().collect();
    let depths: Vec<usize> = depths.into_iter().collect();
    for view in &answerable {
        let pool = view.pool.documents.iter().map(|document| document.id.as_str());
        let documents = pool.chain(view.pool.beyond.iter().map(String::as_str));
        for (name, value) in Ranking::new(documents, &view.pool.judged).figures(&depths) {
            *sums.entry(name).or_default() += value;
        }
    }
    sums.into_iter().map(|(name, sum)| (name, sum / answerable.len() as f64)).collect()
}

/// The figures of keeping the first k of every query, for k from 1 to the deepest pool: every k at first, then ever fewer.
fn budget(views: &[QueryView]) -> Vec<BudgetPoint> {
    let answerable: Vec<&QueryView> = views.iter().filter(|view| view.is_answerable()).collect();
    let deepest = answerable.iter().map(|view| view.relevance.len()).max().unwrap_or(0);
    let steps = std::iter::successors(Some(1), |&k| Some(k + 1 + k / 20)).take_while(|&k| k < deepest);
    let point = |k: usize| {
        let mean = |of: &dyn Fn(&QueryView, usize) -> f64| {
            mean(answerable.iter().map(|view| of(view, k.min(view.relevance.len())))).unwrap_or(0.0)
        };
        let characters = |view: &QueryView, keep: usize| {
            view.pool.documents[..keep].iter().map(|document| document.characters as f64).sum()
        };
        BudgetPoint {
            documents: k,
            characters: mean(&characters),
            precision: mean(&|view, keep| metrics::precision(view.found[keep], keep, view.relevant)),
            recall: mean(&|view, keep| metrics::recall(view.found[keep], view.relevant)),
            share_of_best_f1: mean(&|view, keep| view.share(keep)),
        }
    };
    steps.chain((deepest > 0).then_some(deepest)).map(point).collect()
}

/// Score curves of a few queries whose pool has a relevant document, drawn at random, in their own order.
fn samples(name: &str, views: &[QueryView], options: &Options) -> Vec<Sample> {
    let mut candidates: Vec<usize> = (0..views.len()).filter(|&at| views[at].relevant_in_pool() > 0).collect();
    Random::new(options.seed, "samples", name).shuffle(&mut candidates);
    candidates.truncate(options.sampled_queries);
    candidates.sort_unstable();
    let sample = |query: usize| {
        let view = &views[query];
        Sample {
            query,
            scores: view.pool.documents.iter().map(|document| document.score).collect(),
            relevant: (0..view.relevance.len()).filter(|&position| view.relevance[position]).collect(),
        }
    };
    candidates.into_iter().map(sample).collect()
}

// The options of an evaluation.

/// The options of an evaluation. The same options on the same data give the same bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Options {
    /// Seed of all random draws: folds, resamples, and the queries to plot.
    pub seed: u64,
    /// Resamples of the bootstrap, 0 to 100,000; 0 leaves the intervals out. 1,000 by default.
    pub resamples: usize,
    /// The k of the reference methods `fixed-k`, each 1 to 10,000; 1, 3, 5, 10 and 20 by default.
    pub fixed: Vec<usize>,
    /// Folds over which `fixed-fitted` is fitted, 2 to 100; 5 by default.
    pub folds: usize,
    /// Name of the method that every other is compared with; a reference method by default.
    pub baseline: String,
    /// β of F_β, above 0: the weight of recall relative to precision. 1 by default.
    pub beta: f64,
    /// Depths k of nDCG@k and recall@k, each at least 1; 10 and 100 by default.
    pub ranking_depths: Vec<usize>,
    /// Bins of the calibration error and of the reliability diagram, 1 to 100; 10 by default.
    pub bins: usize,
    /// Queries of each collection whose score curves are kept for the plots; 4 by default.
    pub sampled_queries: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            seed: 0,
            resamples: 1000,
            fixed: vec![1, 3, 5, 10, 20],
            folds: 5,
            baseline: "fixed-fitted".into(),
            beta: 1.0,
            ranking_depths: vec![10, 100],
            bins: 10,
            sampled_queries: 4,
        }
    }
}

impl Options {
    /// Checks every range.
    ///
    /// # Errors
    /// The first option that is out of its range, with what is allowed.
    pub fn check(&self) -> Result<(), EvalError> {
        let bad = |option, value: String, expected| Err(EvalError::Option { option, value, expected });
        if self.resamples > 100_000 {
            return bad("resamples", self.resamples.to_string(), "0 to 100000");
        }
        if let Some(k) = self.fixed.iter().find(|k| !(1..=10_000).contains(*k)) {
            return bad("fixed", k.to_string(), "each k is 1 to 10000");
        }
        if !(2..=100).contains(&self.folds) {
            return bad("folds", self.folds.to_string(), "2 to 100");
        }
        if !(self.beta > 0.0 && self.beta.is_finite()) {
            return bad("beta", self.beta.to_string(), "above 0");
        }
        if let Some(depth) = self.ranking_depths.iter().find(|depth| **depth == 0) {
            return bad("ranking_depths", depth.to_string(), "each depth is at least 1");
        }
        if !(1..=100).contains(&self.bins) {
            return bad("bins", self.bins.to_string(), "1 to 100");
        }
        Ok(())
    }
}

// Means over collections, each collection counting the same.

/// Each method over all collections that have it.
pub fn overall(collections: &[CollectionReport], resampled: &[Resampled]) -> Vec<Overall> {
    let methods = collections.iter().flat_map(|collection| &collection.methods);
    let names = method_names(methods.map(|method| (method.name.as_str(), method.reference)));
    names.into_iter().map(|(name, reference)| method(name, reference, collections, resampled)).collect()
}

/// The distinct methods in the order of their first occurrence, the reference methods last.
pub fn method_names<'a>(methods: impl Iterator<Item = (&'a str, bool)>) -> Vec<(&'a str, bool)> {
    let mut names = Vec::new();
    for name in methods {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.sort_by_key(|&(_, reference)| reference);
    names
}

fn method(name: &str, reference: bool, collections: &[CollectionReport], resampled: &[Resampled]) -> Overall {
    let mut figures: BTreeMap<_, Vec<f64>> = BTreeMap::new();
    let mut differences: BTreeMap<_, (Vec<f64>, Vec<&[f64]>)> = BTreeMap::new();
    for (collection, resampled) in collections.iter().zip(resampled) {
        let Some(method) = collection.method(name) else { continue };
        for (&metric, &value) in &method.figures {
            figures.entry(metric).or_default().push(value);
        }
        for (&metric, difference) in &method.differences {
            let (estimates, draws) = differences.entry(metric).or_default();
            estimates.push(difference.estimate);
            draws.extend(resampled.get(&(name.to_owned(), metric)).map(Vec::as_slice));
        }
    }
    let difference = |(estimates, draws): (Vec<f64>, Vec<&[f64]>)| mean_difference(estimates, &draws);
    Overall {
        name: name.to_owned(),
        reference,
        collections: figures.iter().map(|(&metric, values)| (metric, values.len())).collect(),
        figures: figures.into_iter().map(|(metric, values)| (metric, mean(values).unwrap_or(0.0))).collect(),
        differences: differences.into_iter().map(|(metric, values)| (metric, difference(values))).collect(),
    }
}

/// The mean difference over collections, with the interval of the means on each resample.
pub fn mean_difference(estimates: Vec<f64>, draws: &[&[f64]]) -> Difference {
    let count = draws.first().map_or(0, |first| first.len());
    let means = (0..count).filter_map(|draw| mean(draws.iter().map(|draws| draws[draw])));
    Difference::new(mean(estimates).unwrap_or(0.0), means.collect())
}

// The arithmetic mean.

/// The mean of the values; `None` without one.
pub fn mean(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let (count, sum) = values.into_iter().fold((0_usize, -0.0), |(count, sum), value| (count + 1, sum + value));
    (count > 0).then(|| sum / count as f64)
}
