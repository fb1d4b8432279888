//! Learning curve of `auto`: its figures after a number of judged queries, on the other queries.

use super::cache;
use super::{EvaluationError, OwnId, TestCollection, TestQuery};
use crate::config::Config;
use crate::handle::Index;
use crate::progress::{Observer, Stage};
use crate::search::{Context, candidates};
use rayon::prelude::*;
use serde::Serialize;
use std::collections::HashSet;
use std::path::Path;
use tamis_cut::{Auto, Background, Fixed, JudgedPool, Pool, Relevance, Rule};
use tamis_eval::{QueryKind, Table, prefix};

/// The settings of a learning curve.
#[derive(Clone, Debug)]
pub struct Learning {
    /// Numbers of judged queries. Draws are nested: a draw of ten is the first ten of the draw of twenty.
    pub judged: Vec<usize>,
    /// The number of draws, 1 or more.
    pub draws: usize,
    /// Seed of the draws.
    pub seed: u64,
    /// As [`Measurement::own_id`](super::Measurement::own_id).
    pub own_id: Option<OwnId>,
    /// Restricts the measurement to the first so many answerable queries. `None`: all.
    pub limit: Option<usize>,
}

/// The curve of a collection.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct LearningCurve {
    /// Name of the collection.
    pub collection: String,
    /// The number of its answerable queries.
    pub queries: usize,
    /// One point for each number of judged queries that leaves others to test on.
    pub points: Vec<LearningPoint>,
}

/// The figures after a number of judged queries, on the queries that were not judged, averaged over the draws.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct LearningPoint {
    /// The number of queries that were judged.
    pub judged: usize,
    /// Mean F1 as a share of the mean best F1.
    pub relative_f1: f64,
    /// The same figure for the same queries, without any judgement.
    pub without: f64,
    /// Standard error of the difference over the draws. It is slightly too small, since draws share queries.
    pub error: f64,
    /// Mean level of the fitted relevance.
    pub level: f64,
}

/// The candidates and judgements of one answerable query.
struct Known {
    normalized_scores: Vec<f64>,
    /// The document of each candidate, as a number within the query.
    documents: Vec<usize>,
    relevant: Vec<bool>,
    judged_relevant: usize,
    best_f1: f64,
    relevance: Relevance,
}

/// Measures the learning of the cut `auto` on a collection. Judged queries are drawn at random, and `auto` decides on
/// all others, with and without the judgements. In both cases the collection's profile comes from its other queries.
/// The gate is not involved.
///
/// # Errors
/// An index or model that fails, or an observer that stops it.
pub fn learning_curve(
    test: &TestCollection,
    config: &Config,
    cache: &Path,
    learning: &Learning,
    observer: &dyn Observer,
) -> Result<LearningCurve, EvaluationError> {
    let own = learning.own_id.as_ref().map(|own| test.own_documents(own)).transpose()?.unwrap_or_default();
    let index = cache::index(test, config, cache, observer)?;
    let answerable = test.queries.iter().filter(|query| query.kind == QueryKind::Judged);
    let queries: Vec<&TestQuery> = answerable.take(learning.limit.unwrap_or(usize::MAX)).collect();
    observer.stage(Stage::Answer, queries.len() as u64);
    let known = queries.par_iter().map(|query| {
        if observer.cancelled() {
            return Err(EvaluationError::Interrupted);
        }
        let known = Known::of(&index, query, own.of(query));
        observer.advance(1);
        known
    });
    let known: Vec<Known> = known.collect::<Result<_, _>>()?;

    // Searches learn from those of the same kind of text; a test collection is of one.
    let prior = known.first().map(|known| known.relevance).unwrap_or_default();
    let draws: Vec<Vec<usize>> = (0..learning.draws.max(1)).map(|draw| drawn(&queries, learning.seed, draw)).collect();
    let sizes: Vec<usize> = learning.judged.iter().copied().filter(|&size| size < known.len()).collect();
    let points = sizes.par_iter().map(|&size| point(&known, &draws, size, prior)).collect();
    Ok(LearningCurve { collection: test.name.clone(), queries: known.len(), points })
}

/// The queries in random order: by a hash of the seed and the draw.
fn drawn(queries: &[&TestQuery], seed: u64, draw: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..queries.len()).collect();
    order.sort_by_cached_key(|&at| *blake3::hash(format!("{seed} {draw} {}", queries[at].id).as_bytes()).as_bytes());
    order
}

fn point(known: &[Known], draws: &[Vec<usize>], size: usize, prior: Relevance) -> LearningPoint {
    let without: Vec<f64> = known.par_iter().map(|known| known.f1(prior)).collect();
    let figures: Vec<(f64, f64, f64)> = draws
        .iter()
        .map(|order| {
            let (judged, tested) = order.split_at(size);
            let pools: Vec<JudgedPool> = judged.iter().map(|&at| known[at].judged()).collect();
            let relevance = prior.fit(&pools);
            let best: f64 = tested.iter().map(|&at| known[at].best_f1).sum();
            let with: f64 = tested.par_iter().map(|&at| known[at].f1(relevance)).sum();
            let without: f64 = tested.iter().map(|&at| without[at]).sum();
            let share = |sum: f64| if best > 0.0 { sum / best } else { 0.0 };
            (share(with), share(without), relevance.level)
        })
        .collect();
    let count = figures.len() as f64;
    let mean = |of: fn(&(f64, f64, f64)) -> f64| figures.iter().map(of).sum::<f64>() / count;
    let (with, without) = (mean(|figures| figures.0), mean(|figures| figures.1));
    let variance = figures.iter().map(|figures| (figures.0 - figures.1 - (with - without)).powi(2)).sum::<f64>();
    LearningPoint {
        judged: size,
        relative_f1: with,
        without,
        error: if count > 1.0 { (variance / (count - 1.0) / count).sqrt() } else { 0.0 },
        level: mean(|figures| figures.2),
    }
}

impl Known {
    fn of(index: &Index, query: &TestQuery, without: Option<&str>) -> Result<Self, EvaluationError> {
        let candidates = candidates(&Context::of(index), &query.text, index.config().search.pool, without)?;
        let ordered = candidates.decide(&Fixed::default())?;
        let mut names: Vec<&str> = Vec::new();
        let mut documents = Vec::with_capacity(ordered.passages.len());
        for passage in &ordered.passages {
            let known = names.iter().position(|name| *name == passage.document);
            documents.push(known.unwrap_or(names.len()));
            if known.is_none() {
                names.push(&passage.document);
            }
        }
        // Documents that only repeat what stands under others are no candidates of their own.
        let repeated = ordered.passages.iter().chain(&ordered.others).map(|passage| passage.document.as_str());
        for document in repeated {
            if !names.contains(&document) {
                names.push(document);
            }
        }
        let is_relevant = |name: &str| query.judged.get(name).is_some_and(|&grade| grade > 0);
        let judged_relevant = query.judged.values().filter(|&&grade| grade > 0).count();
        let found = prefix::cumulative(names.iter().map(|name| is_relevant(name)));
        let (_, best_f1) = prefix::best_prefix(&found, judged_relevant);
        let relevant = ordered.passages.iter().map(|passage| is_relevant(&passage.document)).collect();
        let normalized_scores = ordered.normalized_scores.unwrap_or_default();
        Ok(Known {
            normalized_scores,
            documents,
            relevant,
            judged_relevant,
            best_f1,
            relevance: candidates.relevance(),
        })
    }

    fn judged(&self) -> JudgedPool {
        JudgedPool {
            normalized_scores: self.normalized_scores.clone(),
            relevant: self.relevant.iter().map(|&relevant| Some(relevant)).collect(),
            ..JudgedPool::default()
        }
    }

    /// F1, in documents, of the cut by `auto`. A pool whose best does not stand out keeps nothing.
    fn f1(&self, relevance: Relevance) -> f64 {
        let scale = Background { mean: 0.0, deviation: 0.0, count: 0 };
        let pool = Pool::scores(self.normalized_scores.iter().copied()).and_then(|pool| pool.with_background(scale));
        let keep = pool.map_or(0, |pool| Auto::default().cut(&pool.with_relevance(relevance)).keep);
        let mut kept = HashSet::new();
        let mut found = 0;
        for (document, relevant) in self.documents.iter().zip(&self.relevant).take(keep) {
            if kept.insert(document) {
                found += usize::from(*relevant);
            }
        }
        prefix::f_beta(found, kept.len(), self.judged_relevant, 1.0)
    }
}

/// Renders the curves as a table, with their mean over the collections that have all points.
pub fn learning_table(curves: &[LearningCurve], judged: &[usize]) -> Table {
    // The remaining queries differ from point to point, so each figure comes with the same queries' figure without
    // judgements.
    let cell = |value: Option<(f64, f64)>| match value {
        Some((with, without)) => format!("{with:.3} ({:+.3})", with - without).replace('-', "−"),
        None => "–".to_owned(),
    };
    let figure = |curve: &LearningCurve, size: usize| {
        let point = curve.points.iter().find(|point| point.judged == size)?;
        Some((point.relative_f1, point.without))
    };
    let row = |name: &str, figure: &dyn Fn(usize) -> Option<(f64, f64)>| {
        let figures = judged.iter().map(|&size| cell(figure(size)));
        std::iter::once(name.to_owned()).chain(figures).collect::<Vec<String>>()
    };
    let mut rows: Vec<Vec<String>> =
        curves.iter().map(|curve| row(&curve.collection, &|size| figure(curve, size))).collect();
    let mean = |size: usize| {
        let figures: Vec<(f64, f64)> = curves.iter().filter_map(|curve| figure(curve, size)).collect();
        let mean = |of: fn(&(f64, f64)) -> f64| figures.iter().map(of).sum::<f64>() / figures.len() as f64;
        (figures.len() == curves.len()).then(|| (mean(|figure| figure.0), mean(|figure| figure.1)))
    };
    if curves.len() > 1 {
        rows.push(row("mean", &mean));
    }
    let given = rows.len();
    Table {
        title: "Learning from judged queries".into(),
        note: "Mean F1 of `auto`, as a share of the mean best F1, on the queries that were not judged, by how many were, \
            and in brackets the difference to no judgements on the same queries. The gate plays no part. – where the collection has too few queries."
            .into(),
        header: std::iter::once("collection".to_owned()).chain(judged.iter().map(|size| size.to_string())).collect(),
        rows,
        given,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A query whose first `relevant` candidates are relevant, with falling scores.
    fn known(relevant: usize) -> Known {
        let normalized_scores: Vec<f64> = (0..20).map(|rank| 1.0 - 0.04 * f64::from(rank)).collect();
        Known {
            documents: (0..20).collect(),
            relevant: (0..20).map(|rank| rank < relevant).collect(),
            normalized_scores,
            judged_relevant: relevant,
            best_f1: 1.0,
            relevance: Relevance::default(),
        }
    }

    #[test]
    fn judged_queries_improve_others_and_documents_count_once() {
        let all: Vec<Known> = (0..30).map(|at| known(11 + at % 3)).collect();
        let order: Vec<usize> = (0..30).collect();
        let figure = |size| point(&all, std::slice::from_ref(&order), size, Relevance::default());
        let (none, ten) = (figure(0), figure(10));
        assert!((none.relative_f1 - none.without).abs() < 1e-12, "{none:?}");
        assert!(ten.relative_f1 > ten.without + 0.04, "{ten:?}");
        assert!(ten.level < none.level);

        let query = Known { documents: vec![0; 20], judged_relevant: 1, ..known(20) };
        assert_eq!(query.f1(Relevance { level: 0.5, ..Relevance::default() }), 1.0);
    }

    #[test]
    fn the_table_has_a_mean_where_every_collection_has_the_point() {
        let curve = |name: &str, judged: &[usize]| LearningCurve {
            collection: name.into(),
            queries: 20,
            points: judged
                .iter()
                .map(|&judged| LearningPoint { judged, relative_f1: 0.8, without: 0.75, error: 0.01, level: 0.7 })
                .collect(),
        };
        let table = learning_table(&[curve("a", &[0, 5]), curve("b", &[0])], &[0, 5]);
        assert_eq!(table.rows[0], ["a", "0.800 (+0.050)", "0.800 (+0.050)"]);
        assert_eq!(table.rows[1], ["b", "0.800 (+0.050)", "–"]);
        assert_eq!(table.rows[2], ["mean", "0.800 (+0.050)", "–"]);
    }
}
