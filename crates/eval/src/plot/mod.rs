//! The plots of a report, each a complete SVG element for a page.

mod canvas;

use std::collections::BTreeMap;

use crate::bootstrap::Difference;
use crate::data::QueryKind;
use crate::metrics::Metric;
use crate::report::{BudgetPoint, CollectionReport, MethodReport, Overall, Report, Sample};
use canvas::{Anchor, Axis, Canvas, Ink, Panel, themed};

/// Text escaped for an element or an attribute in double quotes.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            // Characters that XML forbids.
            '\u{0}'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{7f}' => escaped.push('\u{fffd}'),
            other => escaped.push(other),
        }
    }
    escaped
}

/// Text of at most `length` characters.
pub fn clipped(text: &str, length: usize) -> String {
    let text: String =
        text.chars().map(|character| if character.is_control() { '\u{fffd}' } else { character }).collect();
    match text.char_indices().nth(length) {
        Some(_) => text.chars().take(length.saturating_sub(1)).chain(['…']).collect(),
        None => text,
    }
}

/// Places labels of `height` along a line without overlap, each as near to its wanted place as the others allow, all within
/// `from..=to` if they fit. Returns the places in the order given.
pub fn spread(wanted: &[f64], height: f64, from: f64, to: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|&a, &b| wanted[a].total_cmp(&wanted[b]));
    // Runs of touching labels, each with its first place and its members. A run lies at the mean of the wanted places.
    let mut runs: Vec<(f64, Vec<usize>)> = Vec::new();
    let place = |members: &[usize]| {
        let wish = |(at, &label): (usize, &usize)| wanted[label] - at as f64 * height;
        let start = members.iter().enumerate().map(wish).sum::<f64>() / members.len() as f64;
        start.min(to - (members.len() - 1) as f64 * height).max(from)
    };
    for label in order {
        let mut run = (place(&[label]), vec![label]);
        while let Some((_, mut joined)) = runs.pop_if(|(start, members)| run.0 < *start + members.len() as f64 * height)
        {
            joined.append(&mut run.1);
            run = (place(&joined), joined);
        }
        runs.push(run);
    }
    let mut places = vec![0.0; wanted.len()];
    for (start, members) in runs {
        for (at, label) in members.into_iter().enumerate() {
            places[label] = start + at as f64 * height;
        }
    }
    places
}

// Precision and recall by budget: the curve of fixed numbers, with the methods as points.

const BUDGET_WIDTH: f64 = 330.0;
const BUDGET_HEIGHT: f64 = 230.0;
const BUDGET_LABELS: f64 = 140.0;

/// One metric against the mean number of documents kept, or of characters: the curve of fixed numbers, and a labelled
/// point for each method. A method above the curve spends its budget better than any fixed number.
pub fn budget(collection: &CollectionReport, metric: Metric, characters: bool) -> String {
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
    let canvas = Canvas::new(&mut buffer, left + BUDGET_WIDTH + BUDGET_LABELS, top + BUDGET_HEIGHT + 34.0);
    let x = if characters { Axis::linear(0.0, farthest) } else { Axis::log(farthest) };
    let panel =
        Panel { canvas: &canvas, left, top, width: BUDGET_WIDTH, height: BUDGET_HEIGHT, x, y: Axis::linear(0.0, 1.0) };
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
    let height = 11.5_f64.min((BUDGET_HEIGHT + 20.0) / methods.len().max(1) as f64);
    let places = spread(&wanted, height, top - 14.0, top + BUDGET_HEIGHT + 14.0);
    let edge = left + BUDGET_WIDTH;
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

// A query's scores by rank, with its relevant documents and the cut of each method.

const CURVES_WIDTH: f64 = 480.0;
const CURVES_ROW: f64 = 13.0;
const CURVES_LABELS: f64 = 124.0;
const CURVES_CURVE: f64 = 120.0;

/// The curve, and below it a row for each method: a bar over the ranks it keeps.
///
/// The bar of a method with an order of its own has the length of its kept set, whose documents may have other ranks here.
pub fn curves(collection: &CollectionReport, sample: &Sample) -> String {
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
    let height = top + CURVES_CURVE + 12.0 + methods.len() as f64 * CURVES_ROW + 34.0;
    let mut buffer = String::new();
    let canvas = Canvas::new(&mut buffer, CURVES_WIDTH, height);
    let (lowest, highest) = (scores[shown - 1], scores[0]);
    let margin = (highest - lowest) * 0.06;
    let x = Axis { from: 0.0, ..Axis::log(shown as f64) };
    let (left, width) = (CURVES_LABELS, CURVES_WIDTH - CURVES_LABELS - 14.0);
    let panel = Panel {
        canvas: &canvas,
        left,
        top,
        width,
        height: CURVES_CURVE,
        x,
        y: Axis::linear(lowest - margin, highest + margin),
    };
    let bottom = top + CURVES_CURVE + 12.0 + methods.len() as f64 * CURVES_ROW;
    panel.columns(9, bottom);
    panel.rows(4, 6.0);
    canvas.text((left - 6.0, top - 12.0), "score", Ink::Muted, 9.5, Anchor::Right);
    canvas.text((left + width / 2.0, bottom + 22.0), "rank", Ink::Muted, 9.5, Anchor::Middle);

    canvas.line((0..shown).map(|at| panel.at(at as f64 + 1.0, scores[at])), Ink::Muted, 1.25, 1.0);
    for &at in sample.relevant.iter().filter(|at| **at < shown) {
        canvas.dot(panel.at(at as f64 + 1.0, scores[at]), 3.2, Ink::Relevant, 1.0);
    }

    for (row, (name, reference, keep)) in methods.into_iter().enumerate() {
        let down = top + CURVES_CURVE + 12.0 + (row as f64 + 0.5) * CURVES_ROW;
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

// One list of scores by rank, with its cut.

const CUT_WIDTH: f64 = 480.0;
const CUT_HEIGHT: f64 = 170.0;
const CUT_LEFT: f64 = 46.0;
const CUT_TOP: f64 = 22.0;

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
    let canvas = Canvas::new(&mut buffer, CUT_WIDTH, CUT_HEIGHT);
    let panel = Panel {
        canvas: &canvas,
        left: CUT_LEFT,
        top: CUT_TOP,
        width: CUT_WIDTH - CUT_LEFT - 14.0,
        height: CUT_HEIGHT - CUT_TOP - 34.0,
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
    canvas.line([(across, CUT_TOP), (across, CUT_TOP + panel.height)], Ink::Relevant, 1.5, 1.0);
    let label = if keep == 0 { "nothing kept".to_owned() } else { format!("kept {keep}") };
    let (anchor, place) =
        if across > CUT_WIDTH / 2.0 { (Anchor::Right, across - 4.0) } else { (Anchor::Left, across + 4.0) };
    canvas.text((place, CUT_TOP + 7.0), &label, Ink::Relevant, 9.5, anchor);
    canvas.finish();
    themed(&buffer, &clipped(description, 300))
}

// Every method's difference from the baseline, with its interval.

const DIFFERENCES_WIDTH: f64 = 470.0;
const DIFFERENCES_ROW: f64 = 17.0;
const DIFFERENCES_LABELS: f64 = 160.0;

/// A row for each method over all collections, best first; `None` where no method differs from the baseline.
pub fn differences(report: &Report, metric: Metric) -> Option<String> {
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
    let height = rows.len() as f64 * DIFFERENCES_ROW;
    let canvas = Canvas::new(&mut buffer, DIFFERENCES_LABELS + DIFFERENCES_WIDTH + 14.0, height + 40.0);
    let x = Axis::linear(low - margin, high + margin);
    let panel = Panel {
        canvas: &canvas,
        left: DIFFERENCES_LABELS,
        top: 6.0,
        width: DIFFERENCES_WIDTH,
        height,
        x,
        y: Axis::linear(0.0, 1.0),
    };
    let bottom = panel.top + panel.height;
    panel.columns(8, bottom);
    let (zero, _) = panel.at(0.0, 0.0);
    canvas.line([(zero, panel.top), (zero, bottom)], Ink::Muted, 1.25, 1.0);
    let label = format!("{} less that of {}", metric.label(), clipped(&report.options.baseline, 40));
    canvas.text((DIFFERENCES_LABELS + DIFFERENCES_WIDTH / 2.0, bottom + 24.0), &label, Ink::Muted, 9.5, Anchor::Middle);
    for (row, (method, difference)) in rows.into_iter().enumerate() {
        let down = panel.top + (row as f64 + 0.5) * DIFFERENCES_ROW;
        let ink = if method.reference { Ink::Reference } else { Ink::Given };
        canvas.text((DIFFERENCES_LABELS - 8.0, down), &clipped(&method.name, 25), Ink::Text, 10.0, Anchor::Right);
        let across = |value: f64| panel.at(value, 0.0).0;
        let [low, high] = ends(&difference).map(across);
        canvas.line([(low, down), (high, down)], ink, 2.0, 0.6);
        canvas.dot((across(difference.estimate), down), 3.6, ink, 1.0);
    }
    canvas.finish();
    Some(themed(&buffer, &label))
}

// The number of documents a method keeps against the number that are relevant.

const KEPT_SIDE: f64 = 150.0;

/// One dot for each pair of numbers, larger where it is more frequent. On the diagonal, as many are kept as are relevant.
/// Queries without a relevant document are at 0.
pub fn kept_share(collection: &CollectionReport, method: &MethodReport) -> String {
    let mut counts: BTreeMap<(usize, usize, bool), usize> = BTreeMap::new();
    for (query, &keep) in collection.queries.iter().zip(&method.kept.documents) {
        *counts.entry((query.relevant, keep, query.kind == QueryKind::Judged)).or_default() += 1;
    }
    // All methods of a collection share their axes.
    let kept = collection.methods.iter().filter(|method| !method.reference);
    let kept = kept.flat_map(|method| &method.kept.documents).chain(&method.kept.documents);
    let most = kept.copied().chain(collection.queries.iter().map(|query| query.relevant)).max().unwrap_or(1);

    let mut buffer = String::new();
    let canvas = Canvas::new(&mut buffer, KEPT_SIDE + 48.0, KEPT_SIDE + 64.0);
    let axis = Axis::log(most as f64);
    let panel = Panel { canvas: &canvas, left: 34.0, top: 32.0, width: KEPT_SIDE, height: KEPT_SIDE, x: axis, y: axis };
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

// Reliability diagrams of probabilities, and ROC curves of evidence.

const RELIABILITY_SIDE: f64 = 190.0;

/// Share relevant against mean probability, a dot for each bin, larger where it has more members. On the diagonal, the
/// probabilities are right.
pub fn reliability(method: &MethodReport) -> String {
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
pub fn roc(method: &MethodReport) -> String {
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
    let canvas = Canvas::new(&mut buffer, RELIABILITY_SIDE + 50.0, RELIABILITY_SIDE + 64.0);
    let axis = Axis::linear(0.0, 1.0);
    let panel = Panel {
        canvas: &canvas,
        left: 36.0,
        top: 32.0,
        width: RELIABILITY_SIDE,
        height: RELIABILITY_SIDE,
        x: axis,
        y: axis,
    };
    canvas.text((36.0, 9.0), &clipped(&method.name, 30), Ink::Text, 11.0, Anchor::Left);
    panel.frame(labels[0], labels[1]);
    canvas.line([panel.at(0.0, 0.0), panel.at(1.0, 1.0)], Ink::Muted, 1.0, 0.8);
    draw(&panel);
    canvas.finish();
    themed(&buffer, &format!("{about} of {}", clipped(&method.name, 60)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn text_is_safe_and_short() {
        assert_eq!(escape("<a href='x'>\"&\u{1}"), "&lt;a href=&#39;x&#39;&gt;&quot;&amp;\u{fffd}");
        assert_eq!([clipped("abcdef", 4), clipped("ab\u{7}", 4)], ["abc…", "ab\u{fffd}"]);
    }

    #[test]
    fn labels_that_fit_stay_where_they_are() {
        assert_eq!(spread(&[50.0, 10.0, 90.0], 10.0, 0.0, 100.0), [50.0, 10.0, 90.0]);
        assert_eq!(spread(&[50.0, 50.0], 10.0, 0.0, 100.0), [45.0, 55.0]);
        assert_eq!(spread(&[0.0, 0.0], 10.0, 0.0, 100.0), [0.0, 10.0]);
        assert_eq!(spread(&[], 10.0, 0.0, 100.0), Vec::<f64>::new());
    }

    proptest! {
        #[test]
        fn labels_never_cover_each_other(wanted in prop::collection::vec(0.0f64..100.0, 1..12)) {
            let mut places = spread(&wanted, 8.0, 0.0, 100.0);
            places.sort_by(f64::total_cmp);
            prop_assert!(places.windows(2).all(|pair| pair[1] - pair[0] > 7.999), "{places:?}");
            prop_assert!(places.iter().all(|place| (-1e-9..=100.0 + 1e-9).contains(place)), "{places:?}");
        }
    }

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
