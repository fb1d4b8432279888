//! The figures of one method on one collection.

use std::collections::BTreeMap;

use crate::calibration::{Forecast, brier, calibration_error, equal_mass, equal_width, log_loss};
use crate::data::{Decision, Method, QueryKind, QueryPool};
use crate::evaluate::{Options, mean};
use crate::metrics::{self, Metric};
use crate::ranking_metrics::{Roc, roc};
use crate::report::{DepthReport, KeptColumns, MethodReport, QueryReport};

/// The report of a method, without its differences from others.
pub fn summary(
    method: &Method,
    views: &[QueryView],
    queries: &[QueryReport],
    options: &Options,
    reference: bool,
) -> MethodReport {
    let kept = columns(method, views);
    let mut figures = BTreeMap::new();
    for &metric in Metric::ALL {
        let value = |(position, query)| kept.value(metric, position, query, options.beta);
        figures.extend(mean(queries.iter().enumerate().filter_map(value)).map(|value| (metric, value)));
    }
    // Without lengths, the column would be all zeros.
    if views.iter().all(|view| view.pool.documents.iter().all(|document| document.characters == 0)) {
        figures.remove(&Metric::CharactersKept);
    }

    let forecasts = forecasts(method, views);
    let roc = roc_curves(method, views);
    let (depths, change, unchanged) = depths(&method.decisions);
    let auroc = |against| roc.iter().find(|roc| roc.against == against).map(|roc| roc.auroc);
    let more = [
        (Metric::CalibrationError, calibration_error(&equal_mass(&forecasts, options.bins))),
        (Metric::Brier, brier(&forecasts)),
        (Metric::LogLoss, log_loss(&forecasts)),
        (Metric::GateAurocUnanswerable, auroc(QueryKind::Unanswerable)),
        (Metric::GateAurocForeign, auroc(QueryKind::Foreign)),
        (Metric::DepthChange, change),
        (Metric::DepthUnchanged, unchanged),
        (Metric::Microseconds, mean(method.decisions.iter().filter_map(|decision| decision.microseconds))),
    ];
    figures.extend(more.into_iter().filter_map(|(metric, value)| Some((metric, value?))));
    MethodReport {
        name: method.name.clone(),
        reference,
        figures,
        differences: BTreeMap::new(),
        kept,
        reliability: equal_width(&forecasts, options.bins),
        roc,
        depths,
    }
}

fn columns(method: &Method, views: &[QueryView]) -> KeptColumns {
    let mut columns = KeptColumns::default();
    let best = mean(views.iter().filter(|view| view.is_answerable()).map(|view| view.best.1)).unwrap_or(0.0);
    for (view, decision) in views.iter().zip(&method.decisions) {
        let outcome = view.outcome(decision);
        columns.documents.push(outcome.documents);
        columns.relevant.push(outcome.relevant);
        columns.characters.push(outcome.characters);
        let f1 = metrics::f_beta(outcome.relevant, outcome.documents, view.relevant, 1.0);
        // Without anything relevant in any list, the best F1 is 0.
        columns.relative_f1.push(if best > 0.0 { f1 / best } else { 0.0 });
        columns.share_of_best_f1.push(outcome.share_of_best_f1);
        columns.penalised_dcg.push(outcome.penalised_dcg);
    }
    columns
}

/// Every probability of the collection's own queries. Foreign ones are left out, since the evaluator chooses their number,
/// which would set the error.
fn forecasts(method: &Method, views: &[QueryView]) -> Vec<Forecast> {
    let own = views.iter().zip(&method.decisions).filter(|(view, _)| view.kind != QueryKind::Foreign);
    let forecasts = own.flat_map(|(view, decision)| {
        let probabilities = decision.probabilities.iter().flatten().copied();
        probabilities.zip(view.relevance.iter().copied())
    });
    forecasts.collect()
}

fn roc_curves(method: &Method, views: &[QueryView]) -> Vec<Roc> {
    let evidence = |kind| -> Vec<f64> {
        let of_kind = views.iter().zip(&method.decisions).filter(|(view, _)| view.kind == kind);
        of_kind.filter_map(|(_, decision)| decision.evidence()).collect()
    };
    let answerable = evidence(QueryKind::Judged);
    [QueryKind::Unanswerable, QueryKind::Foreign]
        .into_iter()
        .filter_map(|kind| roc(&answerable, &evidence(kind), kind))
        .collect()
}

/// The number kept at each depth; the mean relative change from the deepest; the share of queries that never change.
fn depths(decisions: &[Decision]) -> (Vec<DepthReport>, Option<f64>, Option<f64>) {
    let mut by_depth: BTreeMap<usize, Vec<(usize, f64)>> = BTreeMap::new();
    let (mut changes, mut unchanged) = (Vec::new(), Vec::new());
    for decision in decisions {
        let Some(&(deepest, reference)) = decision.keep_at_depth.iter().max_by_key(|(depth, _)| *depth) else {
            continue;
        };
        let change = |keep: usize| keep.abs_diff(reference) as f64 / reference.max(1) as f64;
        for &(depth, keep) in &decision.keep_at_depth {
            by_depth.entry(depth).or_default().push((keep, change(keep)));
            if depth != deepest {
                changes.push(change(keep));
            }
        }
        if decision.keep_at_depth.len() > 1 {
            unchanged.push(f64::from(decision.keep_at_depth.iter().all(|&(_, keep)| keep == reference)));
        }
    }
    let report = |(depth, values): (usize, Vec<(usize, f64)>)| DepthReport {
        depth,
        queries: values.len(),
        kept: mean(values.iter().map(|&(keep, _)| keep as f64)).unwrap_or(0.0),
        change: mean(values.iter().map(|&(_, change)| change)).unwrap_or(0.0),
    };
    (by_depth.into_iter().map(report).collect(), mean(changes), mean(unchanged))
}

// One query and one decision, in the form that the metrics read.

/// One query in the pool's order, shared by all methods.
pub struct QueryView<'a> {
    pub pool: &'a QueryPool,
    /// The query's kind; a judged one without a relevant document is unanswerable.
    pub kind: QueryKind,
    /// Number of relevant documents by the judgements, found or not.
    pub relevant: usize,
    /// Relevance of each document of the pool.
    pub relevance: Vec<bool>,
    /// Number of relevant ones among the first k documents.
    pub found: Vec<usize>,
    /// The shortest best prefix, and its F1.
    pub best: (usize, f64),
}

/// The outcome of a decision.
pub struct Outcome {
    pub documents: usize,
    pub relevant: usize,
    pub characters: usize,
    pub share_of_best_f1: f64,
    pub penalised_dcg: f64,
}

impl<'a> QueryView<'a> {
    pub fn new(pool: &'a QueryPool) -> Self {
        let kind = pool.effective_kind();
        let relevant = pool.relevant();
        let relevance: Vec<bool> = (0..pool.documents.len()).map(|position| pool.is_relevant(position)).collect();
        let found = metrics::cumulative(relevance.iter().copied());
        let best = metrics::best_prefix(&found, relevant);
        QueryView { pool, kind, relevant, relevance, found, best }
    }

    pub fn is_answerable(&self) -> bool {
        self.kind == QueryKind::Judged
    }

    /// Relevant documents in the pool.
    pub fn relevant_in_pool(&self) -> usize {
        self.found.last().copied().unwrap_or(0)
    }

    /// Relevant documents and characters among the first `keep` of the pool, and their share of the best F1.
    pub fn outcome(&self, decision: &Decision) -> Outcome {
        let positions: Vec<usize> = match &decision.ranking {
            Some(ranking) => ranking.clone(),
            None => (0..self.relevance.len()).collect(),
        };
        let keep = decision.keep.min(positions.len());
        let kept = &positions[..keep];
        let share_of_best_f1 = match decision.ranking {
            Some(_) => {
                let found = metrics::cumulative(positions.iter().map(|&position| self.relevance[position]));
                metrics::share_of_best_f1(&found, keep, self.relevant)
            }
            None => self.share(keep),
        };
        Outcome {
            documents: keep,
            relevant: kept.iter().filter(|&&position| self.relevance[position]).count(),
            characters: kept.iter().map(|&position| self.pool.documents[position].characters).sum(),
            share_of_best_f1,
            penalised_dcg: metrics::penalised_dcg(kept.iter().map(|&position| self.relevance[position])),
        }
    }

    /// Share of the best F1 of the first `keep` documents of the pool's order, all of them where there are fewer.
    pub fn share(&self, keep: usize) -> f64 {
        let keep = keep.min(self.relevance.len());
        match self.best.1 {
            0.0 => f64::from(keep == 0),
            best => metrics::f_beta(self.found[keep], keep, self.relevant, 1.0) / best,
        }
    }

    pub fn report(&self) -> QueryReport {
        QueryReport {
            id: self.pool.id.clone(),
            kind: self.kind,
            pool: self.relevance.len(),
            relevant: self.relevant,
            relevant_in_pool: self.relevant_in_pool(),
            best_f1: self.best.1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::PooledDocument;
    use proptest::prelude::*;

    #[test]
    fn stability_by_hand() {
        let at = |keeps: &[(usize, usize)]| Decision { keep_at_depth: keeps.to_vec(), ..Decision::default() };
        let (reports, change, unchanged) =
            depths(&[at(&[(100, 4), (30, 3), (400, 4)]), at(&[(30, 0), (100, 0), (400, 0)]), at(&[])]);
        let shape: Vec<_> = reports.iter().map(|report| (report.depth, report.queries)).collect();
        assert_eq!(shape, [(30, 2), (100, 2), (400, 2)]);
        assert_eq!((reports[0].kept, reports[0].change, reports[2].change), (1.5, 0.125, 0.0));
        // One quarter at depth 30 of the first query, and nothing in the other three.
        assert_eq!((change, unchanged), (Some(0.0625), Some(0.5)));
        assert_eq!(depths(&[at(&[])]), (Vec::new(), None, None));
    }

    fn pool(relevance: &[bool], missing: usize) -> QueryPool {
        let document = |at: usize| PooledDocument { id: at.to_string(), score: -(at as f64), characters: 10 * at };
        let judged = relevance.iter().enumerate().map(|(at, &relevant)| (at.to_string(), i32::from(relevant)));
        let missing = (0..missing).map(|at| (format!("missing {at}"), 1));
        let documents = (0..relevance.len()).map(document).collect();
        let judged = judged.chain(missing).collect();
        QueryPool { id: "q".into(), kind: QueryKind::Judged, documents, judged, beyond: Vec::new() }
    }

    #[test]
    fn an_own_ranking_is_compared_with_its_own_best() {
        let pool = pool(&[false, false, true], 0);
        let view = QueryView::new(&pool);
        let own = view.outcome(&Decision { ranking: Some(vec![2, 0]), ..Decision::keep(1) });
        assert_eq!((own.relevant, own.characters, own.share_of_best_f1, own.penalised_dcg), (1, 20, 1.0, 1.0));
        let shared = view.outcome(&Decision::keep(1));
        assert_eq!((shared.relevant, shared.share_of_best_f1, shared.penalised_dcg), (0, 0.0, -1.0));
    }

    #[test]
    fn a_foreign_query_and_one_judged_without_a_relevant_document_have_none() {
        let foreign = QueryPool { kind: QueryKind::Foreign, ..pool(&[true, false], 0) };
        let view = QueryView::new(&foreign);
        assert_eq!((view.relevant, view.relevant_in_pool(), view.best), (0, 0, (0, 1.0)));
        assert_eq!(view.outcome(&Decision::keep(0)).share_of_best_f1, 1.0);
        assert_eq!(view.outcome(&Decision::keep(1)).share_of_best_f1, 0.0);
        let judged = QueryPool { judged: BTreeMap::from([("0".into(), 0), ("1".into(), -1)]), ..pool(&[true], 0) };
        assert_eq!(QueryView::new(&judged).kind, QueryKind::Unanswerable);
    }

    proptest! {
        #[test]
        fn the_pools_order_given_as_own_changes_nothing(
            relevance in prop::collection::vec(any::<bool>(), 0..20),
            missing in 0usize..3,
            keep in 0usize..20,
        ) {
            let pool = pool(&relevance, missing);
            let view = QueryView::new(&pool);
            let keep = keep.min(relevance.len());
            let shared = view.outcome(&Decision::keep(keep));
            let own = view.outcome(&Decision { ranking: Some((0..relevance.len()).collect()), ..Decision::keep(keep) });
            prop_assert_eq!(shared.relevant, own.relevant);
            prop_assert_eq!(shared.share_of_best_f1, own.share_of_best_f1);
            prop_assert_eq!(shared.share_of_best_f1, metrics::share_of_best_f1(&view.found, keep, view.relevant));
        }
    }
}
