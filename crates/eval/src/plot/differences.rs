//! Every method's difference from the baseline, with its interval.

use super::canvas::{Anchor, Axis, Canvas, Ink, Panel, themed};
use super::clipped;
use crate::metric::Metric;
use crate::report::{Overall, Report};
use crate::resample::Difference;

const WIDTH: f64 = 470.0;
const ROW: f64 = 17.0;
const LABELS: f64 = 160.0;

/// A row for each method over all collections, best first; `None` where no method differs from the baseline.
pub(crate) fn differences(report: &Report, metric: Metric) -> Option<String> {
    let mut rows: Vec<(&Overall, Difference)> =
        report.overall.iter().filter_map(|method| Some((method, *method.differences.get(&metric)?))).collect();
    if rows.is_empty() {
        return None;
    }
    rows.sort_by(|a, b| b.1.estimate.total_cmp(&a.1.estimate));
    let ends = |difference: &Difference| {
        [difference.low.unwrap_or(difference.estimate), difference.high.unwrap_or(difference.estimate)]
    };
    let low = rows.iter().map(|row| ends(&row.1)[0]).fold(0.0, f64::min);
    let high = rows.iter().map(|row| ends(&row.1)[1]).fold(0.0, f64::max);
    let margin = (high - low) * 0.04;

    let mut buffer = String::new();
    let height = rows.len() as f64 * ROW;
    let canvas = Canvas::new(&mut buffer, LABELS + WIDTH + 14.0, height + 40.0);
    let x = Axis::linear(low - margin, high + margin);
    let panel = Panel { canvas: &canvas, left: LABELS, top: 6.0, width: WIDTH, height, x, y: Axis::linear(0.0, 1.0) };
    let bottom = panel.top + panel.height;
    panel.columns(8, bottom);
    let (zero, _) = panel.at(0.0, 0.0);
    canvas.line([(zero, panel.top), (zero, bottom)], Ink::Muted, 1.25, 1.0);
    let label = format!("{} less that of {}", metric.label(), clipped(&report.options.baseline, 40));
    canvas.text((LABELS + WIDTH / 2.0, bottom + 24.0), &label, Ink::Muted, 9.5, Anchor::Middle);
    for (row, (method, difference)) in rows.into_iter().enumerate() {
        let down = panel.top + (row as f64 + 0.5) * ROW;
        let ink = if method.reference { Ink::Reference } else { Ink::Given };
        canvas.text((LABELS - 8.0, down), &clipped(&method.name, 25), Ink::Text, 10.0, Anchor::Right);
        let across = |value: f64| panel.at(value, 0.0).0;
        let [low, high] = ends(&difference).map(across);
        canvas.line([(low, down), (high, down)], ink, 2.0, 0.6);
        canvas.dot((across(difference.estimate), down), 3.6, ink, 1.0);
    }
    canvas.finish();
    Some(themed(&buffer, &label))
}
