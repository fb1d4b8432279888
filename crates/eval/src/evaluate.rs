//! The evaluation: from collections and decisions to a report.

use std::collections::{BTreeMap, BTreeSet};

use crate::data::{Collection, unique};
use crate::error::EvalError;
use crate::mean::mean;
use crate::metric::Metric;
use crate::options::Options;
use crate::overall::overall;
use crate::prefix;
use crate::random::Random;
use crate::ranking::Ranking;
use crate::references::{is_reserved, references};
use crate::report::{BudgetPoint, CollectionReport, FORMAT, MethodReport, QueryReport, Report, Sample};
use crate::resample::{Difference, Paired, Resampled, resample};
use crate::summary::summary;
use crate::view::QueryView;

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
            precision: mean(&|view, keep| prefix::precision(view.found[keep], keep, view.relevant)),
            recall: mean(&|view, keep| prefix::recall(view.found[keep], view.relevant)),
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
