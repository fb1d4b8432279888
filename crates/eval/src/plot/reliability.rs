//! Reliability diagrams of probabilities, and ROC curves of evidence.

use super::canvas::{Anchor, Axis, Canvas, Ink, Panel, themed};
use super::clipped;
use crate::data::QueryKind;
use crate::report::MethodReport;

const SIDE: f64 = 190.0;

/// Share relevant against mean probability, a dot for each bin, larger where it has more members. On the diagonal, the
/// probabilities are right.
pub(crate) fn reliability(method: &MethodReport) -> String {
    square(method, "Reliability of the probabilities", ["mean probability", "share relevant"], |panel| {
        let points = method.reliability.iter().map(|bin| panel.at(bin.mean, bin.relevant));
        panel.canvas.line(points, Ink::Given, 1.5, 1.0);
        let most = method.reliability.iter().map(|bin| bin.count).max().unwrap_or(1) as f64;
        for bin in &method.reliability {
            // Logarithmic, since nearly all candidates of a pool are in the lowest bin.
            let radius = 1.5 + 4.5 * (bin.count as f64).ln_1p() / most.ln_1p();
            panel.canvas.dot(panel.at(bin.mean, bin.relevant), radius, Ink::Given, 0.8);
        }
    })
}

/// ROC curves of the evidence: against unanswerable queries, and against foreign ones.
pub(crate) fn roc(method: &MethodReport) -> String {
    square(method, "ROC of the evidence", ["others let through", "answerable let through"], |panel| {
        for (row, roc) in method.roc.iter().enumerate() {
            let (ink, name) = match roc.against {
                QueryKind::Foreign => (Ink::Reference, "foreign"),
                _ => (Ink::Given, "unanswerable"),
            };
            panel.canvas.line(roc.points.iter().map(|&(wrong, right)| panel.at(wrong, right)), ink, 1.75, 1.0);
            let down = panel.top + panel.height - 12.0 - row as f64 * 14.0;
            let label = format!("{name}: AUROC {:.3}", roc.auroc);
            panel.canvas.text((panel.left + panel.width - 6.0, down), &label, ink, 9.5, Anchor::Right);
        }
    })
}

/// What `draw` draws on a square of shares with its diagonal, under the name of the method.
fn square(method: &MethodReport, about: &str, labels: [&str; 2], draw: impl FnOnce(&Panel<'_, '_>)) -> String {
    let mut buffer = String::new();
    let canvas = Canvas::new(&mut buffer, SIDE + 50.0, SIDE + 64.0);
    let axis = Axis::linear(0.0, 1.0);
    let panel = Panel { canvas: &canvas, left: 36.0, top: 32.0, width: SIDE, height: SIDE, x: axis, y: axis };
    canvas.text((36.0, 9.0), &clipped(&method.name, 30), Ink::Text, 11.0, Anchor::Left);
    panel.frame(labels[0], labels[1]);
    canvas.line([panel.at(0.0, 0.0), panel.at(1.0, 1.0)], Ink::Muted, 1.0, 0.8);
    draw(&panel);
    canvas.finish();
    themed(&buffer, &format!("{about} of {}", clipped(&method.name, 60)))
}
