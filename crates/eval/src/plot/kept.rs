//! The number of documents a method keeps against the number that are relevant.

use std::collections::BTreeMap;

use super::canvas::{Anchor, Axis, Canvas, Ink, Panel, themed};
use super::clipped;
use crate::data::QueryKind;
use crate::report::{CollectionReport, MethodReport};

const SIDE: f64 = 150.0;

/// One dot for each pair of numbers, larger where it is more frequent. On the diagonal, as many are kept as are relevant.
/// Queries without a relevant document are at 0.
pub(crate) fn kept(collection: &CollectionReport, method: &MethodReport) -> String {
    let mut counts: BTreeMap<(usize, usize, bool), usize> = BTreeMap::new();
    for (query, &keep) in collection.queries.iter().zip(&method.kept.documents) {
        *counts.entry((query.relevant, keep, query.kind == QueryKind::Judged)).or_default() += 1;
    }
    // All methods of a collection share their axes.
    let kept = collection.methods.iter().filter(|method| !method.reference);
    let kept = kept.flat_map(|method| &method.kept.documents).chain(&method.kept.documents);
    let most = kept.copied().chain(collection.queries.iter().map(|query| query.relevant)).max().unwrap_or(1);

    let mut buffer = String::new();
    let canvas = Canvas::new(&mut buffer, SIDE + 48.0, SIDE + 64.0);
    let axis = Axis::log(most as f64);
    let panel = Panel { canvas: &canvas, left: 34.0, top: 32.0, width: SIDE, height: SIDE, x: axis, y: axis };
    let ink = if method.reference { Ink::Reference } else { Ink::Given };
    canvas.text((34.0, 9.0), &clipped(&method.name, 26), Ink::Text, 11.0, Anchor::Left);
    panel.frame("relevant", "kept");
    canvas.line([panel.at(0.0, 0.0), panel.at(most as f64, most as f64)], Ink::Muted, 1.0, 0.8);
    // Frequencies count within each kind, since a collection can have ten times as many queries without an answer.
    let highest = |kind: bool| {
        let of_kind = counts.iter().filter(|((_, _, answerable), _)| *answerable == kind);
        of_kind.map(|(_, &count)| count).max().unwrap_or(1) as f64
    };
    let highest = [highest(false), highest(true)];
    for ((relevant, keep, answerable), count) in counts {
        let radius = 1.6 + 4.9 * (count as f64 / highest[usize::from(answerable)]).sqrt();
        let at = panel.at(relevant as f64, keep as f64);
        if answerable { canvas.dot(at, radius, ink, 0.55) } else { canvas.ring(at, radius, ink) }
    }
    canvas.finish();
    themed(&buffer, &format!("Documents kept against relevant ones: {}", clipped(&method.name, 60)))
}
