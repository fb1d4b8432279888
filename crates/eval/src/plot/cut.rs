//! One list of scores by rank, with its cut.

use super::canvas::{Anchor, Axis, Canvas, Ink, Panel, themed};
use super::clipped;

const WIDTH: f64 = 480.0;
const HEIGHT: f64 = 170.0;
const LEFT: f64 = 46.0;
const TOP: f64 = 22.0;

/// The values of a list by rank, best first, with a line after the first `keep` of them: a complete SVG element. The page sets its
/// colours as the variables `--text`, `--muted`, `--grid`, `--given`, `--reference` and `--relevant`. `description` is for screen
/// readers.
///
/// ```
/// let svg = tamis_eval::cut_plot(&[0.9, 0.8, 0.2], 2, "Kept 2 of 3");
/// assert!(svg.starts_with("<svg role=\"img\" aria-label=\"Kept 2 of 3\""));
/// ```
pub fn cut_plot(values: &[f64], keep: usize, description: &str) -> String {
    let finite: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    let keep = keep.min(finite.len());
    // Up to the cut, and half as far again.
    let shown = (keep * 3 / 2 + 10).min(finite.len());
    let values = &finite[..shown];
    let (lowest, highest) =
        values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &value| (low.min(value), high.max(value)));
    let (lowest, highest) = if shown == 0 { (0.0, 1.0) } else { (lowest, highest) };
    let margin = (highest - lowest) * 0.06;

    let mut buffer = String::new();
    let canvas = Canvas::new(&mut buffer, WIDTH, HEIGHT);
    let panel = Panel {
        canvas: &canvas,
        left: LEFT,
        top: TOP,
        width: WIDTH - LEFT - 14.0,
        height: HEIGHT - TOP - 34.0,
        x: Axis { from: 0.0, ..Axis::linear(0.0, shown.max(1) as f64 + 0.5) },
        y: Axis::linear(lowest - margin, highest + margin),
    };
    panel.frame("rank", "score");
    let point = |at: usize| panel.at(at as f64 + 1.0, values[at]);
    canvas.line((0..shown).map(point), Ink::Muted, 1.25, 1.0);
    for at in 0..shown {
        let ink = if at < keep { Ink::Given } else { Ink::Muted };
        canvas.dot(point(at), if at < keep { 3.2 } else { 2.0 }, ink, 1.0);
    }
    let (across, _) = panel.at(keep as f64 + 0.5, lowest);
    canvas.line([(across, TOP), (across, TOP + panel.height)], Ink::Relevant, 1.5, 1.0);
    let label = if keep == 0 { "nothing kept".to_owned() } else { format!("kept {keep}") };
    let (anchor, place) =
        if across > WIDTH / 2.0 { (Anchor::Right, across - 4.0) } else { (Anchor::Left, across + 4.0) };
    canvas.text((place, TOP + 7.0), &label, Ink::Relevant, 9.5, anchor);
    canvas.finish();
    themed(&buffer, &clipped(description, 300))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cut_stands_after_the_kept_and_every_list_can_be_drawn() {
        let circles = |svg: &str| svg.matches("<circle").count();
        let svg = cut_plot(&[0.9, 0.8, f64::NAN, 0.2], 2, "two <of> three");
        assert_eq!(circles(&svg), 3);
        assert!(svg.contains("kept 2") && svg.contains("two &lt;of&gt; three") && svg.ends_with("</svg>\n"), "{svg}");
        assert_eq!(svg.matches("var(--given)").count(), 2, "{svg}");
        let long = cut_plot(&(0..500).map(|at| -f64::from(at)).collect::<Vec<_>>(), 40, "");
        assert_eq!(circles(&long), 70, "up to the cut and half as far again");
        for list in [&[][..], &[1.0], &[2.0, 2.0]] {
            assert!(cut_plot(list, 0, "").contains("nothing kept"));
        }
    }
}
