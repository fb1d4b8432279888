//! Tables for people.

use crate::figures::{Drift, Figures, Misses};
use crate::list::Topic;
use crate::measure::Measured;
use std::fmt::Write;

/// Returns a table with a row for each list and one for all, after the number of other questions at place `past`.
#[must_use]
pub fn overview(lists: &[&Measured], past: usize) -> String {
    let mut table = String::new();
    let heads = [
        [
            "tree", "passages", "first", "top 10", "above", "visible", "wrongly", "near", "far", "kept", "kept",
            "kept", "error", "ms",
        ],
        ["", "", "", "", "line", "", "empty", "answ.", "answ.", "mean", "median", "90%", "", ""],
    ];
    for head in heads {
        line(&mut table, &head.map(str::to_owned));
    }
    for list in lists {
        row(&mut table, &list.tree, list.passages, &Figures::of(&[list], past));
    }
    let all = Figures::of(lists, past);
    row(&mut table, "all", lists.iter().map(|list| list.passages).sum(), &all);
    let [low, middle, high] = all.best.map(percent);
    let _ =
        writeln!(table, "the best entry's probability: {low}, {middle} and {high} at a tenth, a half and nine tenths");
    table
}

fn row(table: &mut String, name: &str, passages: u64, figures: &Figures) {
    let Figures { first, first_ten, expected_kept, visible, wrongly_empty, near_answered, far_answered, .. } = *figures;
    let shares = [first, first_ten, expected_kept, visible, wrongly_empty, near_answered, far_answered].map(percent);
    let kept = [format!("{:.1}", figures.kept_mean), figures.kept_median.to_string(), figures.kept_90.to_string()];
    let rest = [format!("{:.3}", figures.calibration_error), format!("{:.0}", figures.milliseconds)];
    let cells: Vec<String> =
        [name.to_owned(), passages.to_string()].into_iter().chain(shares).chain(kept).chain(rest).collect();
    line(table, &cells);
}

fn line(table: &mut String, cells: &[String]) {
    let width = |at: usize| if at == 0 { 9 } else { 8 };
    let (name, rest) = cells.split_first().expect("a name");
    let cell = |(at, cell): (usize, &String)| format!("{cell:>width$}", width = width(at));
    let rest: String = rest.iter().enumerate().map(cell).collect();
    let _ = writeln!(table, "{name:<16}{rest}");
}

/// Returns a table of how far the answers moved, with a row for each number of other questions.
#[must_use]
pub fn drifts(lists: &[&Measured]) -> String {
    let mut table = format!("{:<24}{:>10}{:>10}\n", "other questions before", "drifted", "emptied");
    for Drift { past, drifted, emptied, .. } in Drift::of(lists) {
        let _ = writeln!(table, "{past:<24}{:>10}{:>10}", percent(drifted), percent(emptied));
    }
    table
}

/// Returns a paragraph for each question that was not served.
#[must_use]
pub fn misses(misses: &Misses<'_>) -> String {
    let mut text = String::new();
    for (list, series, answer) in misses {
        let question = &series.question;
        let (kept, first) = (answer.kept.len(), answer.first.as_deref().unwrap_or("nothing"));
        let _ = writeln!(text, "{} {}: {}", list.tree, list.model, question.ask);
        let _ = match question.topic {
            Topic::Answerable => {
                let rank = answer.rank.map_or("not in the pool".to_owned(), |rank| format!("at place {rank}"));
                writeln!(text, "  expected {}, {rank}; kept {kept}, first {first}", question.expect.join(" or "))
            }
            Topic::Near | Topic::Far => writeln!(text, "  has no answer; kept {kept}, first {first}"),
        };
        let _ = writeln!(text, "  {}: {}", answer.method, answer.reason);
    }
    text
}

fn percent(share: f64) -> String {
    format!("{:.0}%", 100.0 * share)
}
