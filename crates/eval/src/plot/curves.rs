//! A query's scores by rank, with its relevant documents and the cut of each method.

use super::canvas::{Anchor, Axis, Canvas, Ink, Panel, themed};
use super::clipped;
use crate::report::{CollectionReport, Sample};

const WIDTH: f64 = 480.0;
const ROW: f64 = 13.0;
const LABELS: f64 = 124.0;
const CURVE: f64 = 120.0;

/// The curve, and below it a row for each method: a bar over the ranks it keeps.
///
/// The bar of a method with an order of its own has the length of its kept set, whose documents may have other ranks here.
pub(crate) fn curves(collection: &CollectionReport, sample: &Sample) -> String {
    let methods: Vec<(&str, bool, usize)> = collection
        .methods
        .iter()
        .filter(|method| !method.reference || [crate::FIXED_FITTED, crate::ORACLE].contains(&method.name.as_str()))
        .filter_map(|method| Some((method.name.as_str(), method.reference, *method.kept.documents.get(sample.query)?)))
        .collect();
    let kept = methods.iter().map(|method| method.2).max().unwrap_or(0);
    let relevant = sample.relevant.last().map_or(0, |last| last + 1);
    // Up to the last kept or relevant rank, and a little further.
    let shown = (kept.max(relevant) * 5 / 4 + 3).min(sample.scores.len()).max(1);
    let scores = &sample.scores[..shown];

    let top = 22.0;
    let height = top + CURVE + 12.0 + methods.len() as f64 * ROW + 34.0;
    let mut buffer = String::new();
    let canvas = Canvas::new(&mut buffer, WIDTH, height);
    let (lowest, highest) = (scores[shown - 1], scores[0]);
    let margin = (highest - lowest) * 0.06;
    let x = Axis { from: 0.0, ..Axis::log(shown as f64) };
    let (left, width) = (LABELS, WIDTH - LABELS - 14.0);
    let panel = Panel {
        canvas: &canvas,
        left,
        top,
        width,
        height: CURVE,
        x,
        y: Axis::linear(lowest - margin, highest + margin),
    };
    let bottom = top + CURVE + 12.0 + methods.len() as f64 * ROW;
    panel.columns(9, bottom);
    panel.rows(4, 6.0);
    canvas.text((left - 6.0, top - 12.0), "score", Ink::Muted, 9.5, Anchor::Right);
    canvas.text((left + width / 2.0, bottom + 22.0), "rank", Ink::Muted, 9.5, Anchor::Middle);

    canvas.line((0..shown).map(|at| panel.at(at as f64 + 1.0, scores[at])), Ink::Muted, 1.25, 1.0);
    for &at in sample.relevant.iter().filter(|at| **at < shown) {
        canvas.dot(panel.at(at as f64 + 1.0, scores[at]), 3.2, Ink::Relevant, 1.0);
    }

    for (row, (name, reference, keep)) in methods.into_iter().enumerate() {
        let down = top + CURVE + 12.0 + (row as f64 + 0.5) * ROW;
        let ink = if reference { Ink::Reference } else { Ink::Given };
        canvas.text((left - 6.0, down), &clipped(name, 21), Ink::Text, 9.0, Anchor::Right);
        let (start, end) = (panel.at(0.0, lowest).0, panel.at(keep.min(shown) as f64, lowest).0);
        if keep == 0 {
            canvas.ring((start, down), 2.6, ink);
        } else {
            canvas.bar((start, down - 2.5), (end, down + 2.5), ink, 0.45);
            canvas.bar((end - 1.0, down - 4.5), (end + 1.0, down + 4.5), ink, 1.0);
        }
    }
    canvas.finish();
    let query = &collection.queries[sample.query];
    let description = format!(
        "Scores by rank of query {} in {}, with the cut of each method",
        clipped(&query.id, 60),
        clipped(&collection.name, 60)
    );
    themed(&buffer, &description)
}
