//! The figures of one method on one collection.

use std::collections::BTreeMap;

use crate::calibration::{Forecast, brier, calibration_error, equal_mass, equal_width, log_loss};
use crate::data::{Decision, Method, QueryKind};
use crate::gate::{Roc, roc};
use crate::mean::mean;
use crate::metric::Metric;
use crate::options::Options;
use crate::prefix;
use crate::report::{DepthReport, KeptColumns, MethodReport, QueryReport};
use crate::view::QueryView;

/// The report of a method, without its differences from others.
pub(crate) fn summary(
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
        let f1 = prefix::f_beta(outcome.relevant, outcome.documents, view.relevant, 1.0);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stability_by_hand() {
        let at = |keeps: &[(usize, usize)]| Decision { keep_at_depth: keeps.to_vec(), ..Decision::default() };
        let (reports, change, unchanged) =
            depths(&[at(&[(100, 4), (30, 3), (400, 4)]), at(&[(30, 0), (100, 0), (400, 0)]), at(&[])]);
        assert_eq!(
            reports.iter().map(|report| (report.depth, report.queries)).collect::<Vec<_>>(),
            [(30, 2), (100, 2), (400, 2)]
        );
        assert_eq!((reports[0].kept, reports[0].change, reports[2].change), (1.5, 0.125, 0.0));
        // One quarter at depth 30 of the first query, and nothing in the other three.
        assert_eq!((change, unchanged), (Some(0.0625), Some(0.5)));
        assert_eq!(depths(&[at(&[])]), (Vec::new(), None, None));
    }
}
