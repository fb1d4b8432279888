//! Tables for people.

use crate::figures::{Drift, Figures, Misses};
use crate::list::Topic;
use crate::measure::Measured;
use std::fmt::Write;

/// Returns a table with a row for each list and one for all, after the number of other questions at place `past`.
#[must_use]
pub fn overview(lists: &[&Measured], past: usize) -> String {
    let mut table = format!(
        "{:<16}{:>9}{:>8}{:>8}{:>10}{:>8}{:>6}{:>11}{:>8}{:>8}{:>7}\n",
        "tree", "passages", "first", "top 10", "expected", "kept", "90%", "documents", "wrongly", "near", "far"
    );
    let second = ["", "", "", "", "kept", "median", "", "median", "empty", "answered", "answ."];
    let [a, b, c, d, e, f, g, h, i, j, k] = second;
    let _ = writeln!(table, "{a:<16}{b:>9}{c:>8}{d:>8}{e:>10}{f:>8}{g:>6}{h:>11}{i:>8}{j:>9}{k:>6}");
    for list in lists {
        row(&mut table, &list.tree, list.passages, &Figures::of(&[list], past));
    }
    row(&mut table, "all", lists.iter().map(|list| list.passages).sum(), &Figures::of(lists, past));
    table
}

fn row(table: &mut String, name: &str, passages: u64, figures: &Figures) {
    let Figures { first, first_ten, expected_kept, wrongly_empty, near_answered, far_answered, .. } = figures;
    let Figures { kept_median, kept_90, documents_median, .. } = figures;
    let [first, ten, kept, empty, near, far] =
        [first, first_ten, expected_kept, wrongly_empty, near_answered, far_answered].map(|share| percent(*share));
    let _ = writeln!(
        table,
        "{name:<16}{passages:>9}{first:>8}{ten:>8}{kept:>10}{kept_median:>8}{kept_90:>6}{documents_median:>11}{empty:>8}{near:>9}{far:>6}",
    );
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
