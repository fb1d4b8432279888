//! Precision and recall by budget: the curve of fixed numbers, with the methods as points.

use super::canvas::{Anchor, Axis, Canvas, Ink, Panel, themed};
use super::{clipped, spread};
use crate::metric::Metric;
use crate::report::{BudgetPoint, CollectionReport};

const WIDTH: f64 = 330.0;
const HEIGHT: f64 = 230.0;
const LABELS: f64 = 140.0;

/// One metric against the mean number of documents kept, or of characters: the curve of fixed numbers, and a labelled
/// point for each method. A method above the curve spends its budget better than any fixed number.
pub(crate) fn budget(collection: &CollectionReport, metric: Metric, characters: bool) -> String {
    let spent = |point: &BudgetPoint| if characters { point.characters } else { point.documents as f64 };
    let gained = |point: &BudgetPoint| if metric == Metric::Recall { point.recall } else { point.precision };
    let cost = if characters { Metric::CharactersKept } else { Metric::Kept };
    let methods: Vec<(&str, bool, f64, f64)> = collection
        .methods
        .iter()
        .filter(|method| !method.reference || [crate::FIXED_FITTED, crate::ORACLE].contains(&method.name.as_str()))
        .filter_map(|method| {
            let (spent, gained) = (method.figures.get(&cost)?, method.figures.get(&metric)?);
            Some((method.name.as_str(), method.reference, *spent, *gained))
        })
        .collect();
    // Up to twice the most that any method keeps; nothing happens beyond.
    let farthest = methods.iter().map(|method| method.2).fold(1.0, f64::max) * 2.0;
    let points: Vec<&BudgetPoint> = collection.budget.iter().filter(|point| spent(point) <= farthest).collect();

    let (left, top) = (36.0, 26.0);
    let mut buffer = String::new();
    let canvas = Canvas::new(&mut buffer, left + WIDTH + LABELS, top + HEIGHT + 34.0);
    let x = if characters { Axis::linear(0.0, farthest) } else { Axis::log(farthest) };
    let panel = Panel { canvas: &canvas, left, top, width: WIDTH, height: HEIGHT, x, y: Axis::linear(0.0, 1.0) };
    let x_label = if characters { "mean characters kept" } else { "mean documents kept" };
    panel.frame(x_label, metric.label());
    canvas.line(points.iter().map(|point| panel.at(spent(point), gained(point))), Ink::Reference, 1.75, 1.0);
    // Precision falls from its start and recall rises to its end, so labels above these never cover the line.
    let labelled = match metric {
        Metric::Recall => points.last().map(|point| (point, -4.0, Anchor::Right)),
        _ => points.first().map(|point| (point, 4.0, Anchor::Left)),
    };
    if let Some((point, aside, anchor)) = labelled {
        let (x, y) = panel.at(spent(point), gained(point));
        canvas.text((x + aside, y - 9.0), "fixed k", Ink::Reference, 9.5, anchor);
    }

    let wanted: Vec<f64> = methods.iter().map(|method| panel.at(method.2, method.3).1).collect();
    let height = 11.5_f64.min((HEIGHT + 20.0) / methods.len().max(1) as f64);
    let places = spread(&wanted, height, top - 14.0, top + HEIGHT + 14.0);
    let edge = left + WIDTH;
    for ((name, reference, spent, gained), place) in methods.into_iter().zip(places) {
        let ink = if reference { Ink::Reference } else { Ink::Given };
        let at = panel.at(spent, gained);
        canvas.line([at, (edge, at.1), (edge + 12.0, place), (edge + 16.0, place)], ink, 0.6, 0.45);
        canvas.dot(at, 3.4, ink, 1.0);
        canvas.text((edge + 19.0, place), &clipped(name, 21), Ink::Text, 9.5, Anchor::Left);
    }
    canvas.finish();
    themed(&buffer, &format!("{} against {x_label} in {}", metric.label(), clipped(&collection.name, 60)))
}
