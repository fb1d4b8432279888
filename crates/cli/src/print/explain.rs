//! The explanation of a cut: the candidates around it, the curve, the method's figures and the timings.

use super::plot::{Curve, plot};
use super::table::Columns;
use super::text::{count, label, maybe, milliseconds, number, visible};
use crate::layout::{Page, shortened_start};
use owo_colors::OwoColorize;
use std::io;
use tamis::Answer;
use tamis::search::PoolEntry;

/// Candidates on each side of the cut.
const AROUND: usize = 8;

/// Candidates from the top.
const BEST: usize = 3;

/// Columns of a terminal from which every figure of a candidate stands in its line.
const WIDE: usize = 160;

/// Longer cells are shortened.
const LONGEST_CELL: usize = 48;

/// The evidence on an entry in a few columns: the head of each, and the beginnings of the names that it sums, in log odds.
const EVIDENCE: [(&str, &[&str]); 4] = [
    (">words", &["coverage", "required", "exact", "held_names"]),
    (">meaning", &["similarity", "on_demand"]),
    (">place", &["rank", "score"]),
    (">other", &["other_role", "no_program", "passages", "length", "title", "name"]),
];

/// What people judged, of the entry or of the answers to other questions.
const JUDGEMENTS: &[&str] = &["judge"];

/// What the evidence of these names adds to the log odds that an entry answers the query.
fn log_odds(entry: &PoolEntry, names: &[&str]) -> f64 {
    let is_meant = |name: &str| names.iter().any(|start| name.starts_with(start));
    entry.evidence.iter().filter(|part| is_meant(&part.name)).map(|part| part.log_odds).sum()
}

/// Writes the whole explanation; only figures if the answer has no pool.
///
/// # Errors
/// `out` cannot be written.
pub fn explanation(out: &mut dyn Page, answer: &Answer) -> io::Result<()> {
    let pool = answer.pool.as_deref().unwrap_or_default();
    if !pool.is_empty() {
        writeln!(out, "\n{}", "Candidates around the cut".bold())?;
        around(out, pool, answer.cut.keep)?;
        // The probabilities order the list where there are some.
        let probabilities: Option<Vec<f64>> = pool.iter().map(|entry| entry.probability).collect();
        let head = if probabilities.is_some() { "Probabilities, best first" } else { "Scores, best first" };
        writeln!(out, "\n{}", head.bold())?;
        let threshold = threshold(answer).filter(|_| probabilities.is_none());
        let scores = probabilities.unwrap_or_else(|| pool.iter().map(|entry| entry.score).collect());
        plot(out, &Curve { scores: &scores, keep: answer.cut.keep, threshold })?;
    }
    writeln!(out, "\n{}", "Figures".bold())?;
    figures(out, answer)
}

/// The threshold on the scale of the scores.
fn threshold(answer: &Answer) -> Option<f64> {
    let scale = answer.cut.diagnostics.get("threshold_on").and_then(|scale| scale.as_str());
    let on_distance = scale.is_some_and(|scale| scale.ends_with("distance"));
    answer.cut.threshold.map(|threshold| if on_distance { 1.0 - threshold } else { threshold })
}

fn around(out: &mut dyn Page, pool: &[PoolEntry], keep: usize) -> io::Result<()> {
    let first = keep.saturating_sub(AROUND);
    let last = (keep + AROUND).min(pool.len());
    // Language, age, diversity and entries get columns only if they changed something.
    let moved = pool.iter().any(|entry| entry.distance_factor != 1.0);
    let aged = pool.iter().any(|entry| entry.age_days.is_some());
    let decays = pool.iter().any(|entry| entry.decay != 1.0);
    let placed = pool.iter().zip(1..).any(|(entry, rank)| entry.rank.is_some_and(|placed| placed != rank));
    let several = pool.iter().any(|entry| entry.passages > 1);
    let exact = pool.iter().any(|entry| entry.exact.is_some());
    let added = pool.iter().any(|entry| entry.added != 0.0);
    let copied = pool.iter().any(|entry| entry.copies > 0);
    let weighed = pool.iter().any(|entry| !entry.evidence.is_empty());
    let read = pool.iter().any(|entry| entry.judged.is_some());
    let judged = pool.iter().any(|entry| log_odds(entry, JUDGEMENTS) != 0.0);
    let mut heads = vec![">", "", ">score", ">bm25", ">similarity", ">coverage"];
    if weighed {
        heads.extend(EVIDENCE.map(|(head, _)| head));
        heads.extend(read.then_some(">reranker"));
        heads.extend(judged.then_some(">judgements"));
        heads.push(">probability");
    }
    heads.extend(moved.then_some(">distance ×"));
    heads.extend(aged.then_some(">days old"));
    heads.extend(decays.then_some(">decay"));
    heads.extend(placed.then_some(">rank"));
    heads.extend(several.then_some(">passages"));
    heads.extend(exact.then_some("exact"));
    heads.extend(added.then_some(">added"));
    heads.extend(copied.then_some(">copies"));
    heads.extend(["role", "/where", "/symbol"]);
    // On a narrow terminal, what decides, one line for each candidate; `--json` has everything.
    let is_narrow = out.columns().is_some_and(|columns| columns < WIDE);
    let is_shown = |head: &str| match head {
        _ if !is_narrow => true,
        ">score" | ">bm25" | ">similarity" => !weighed,
        ">coverage" | ">distance ×" | ">rank" | ">passages" | ">added" | ">copies" | "role" | "/symbol" => false,
        _ => true,
    };
    let mut table = Columns::new(&heads.iter().copied().filter(|head| is_shown(head)).collect::<Vec<_>>());
    // The answer begins with the best, so they are always shown.
    let best = first.min(BEST);
    let shown = pool.iter().enumerate().filter(|(index, _)| *index < best || (first..last).contains(index));
    for (index, entry) in shown {
        if index == first && first > best {
            let dots = (0..heads.len()).map(|column| if column == 1 { "…".into() } else { String::new() });
            table.row(dots.zip(&heads).filter(|(_, head)| is_shown(head)).map(|(cell, _)| cell));
        }
        let mut row = vec![
            (index + 1).to_string(),
            if entry.kept { "kept".into() } else { "·".into() },
            number(entry.score),
            maybe(entry.bm25),
            maybe(entry.similarity),
            maybe(entry.coverage),
        ];
        if weighed {
            row.extend(EVIDENCE.map(|(_, names)| number(log_odds(entry, names))));
            row.extend(read.then(|| number(log_odds(entry, &["reranker"]))));
            row.extend(judged.then(|| number(log_odds(entry, JUDGEMENTS))));
            row.push(maybe(entry.probability));
        }
        row.extend(moved.then(|| number(entry.distance_factor)));
        row.extend(aged.then(|| entry.age_days.map_or_else(|| "?".into(), |days| format!("{days:.0}"))));
        row.extend(decays.then(|| number(entry.decay)));
        row.extend(placed.then(|| entry.rank.map_or_else(String::new, |rank| rank.to_string())));
        row.extend(several.then(|| entry.passages.to_string()));
        row.extend(exact.then(|| entry.exact.clone().unwrap_or_default()));
        row.extend(added.then(|| number(entry.added)));
        row.extend(copied.then(|| entry.copies.to_string()));
        row.extend([
            entry.role.clone(),
            shortened_start(&format!("{}:{}", label(&entry.path), entry.start_line), LONGEST_CELL).into_owned(),
            shortened_start(&label(entry.symbol.as_deref().unwrap_or_default()), LONGEST_CELL).into_owned(),
        ]);
        table.row(row.into_iter().zip(&heads).filter(|(_, head)| is_shown(head)).map(|(cell, _)| cell));
    }
    table.write(out)?;
    let hidden = pool.len() - (last - first) - best;
    if hidden > 0 {
        writeln!(out, "{}", format_args!(" … {} more, {} above", count(hidden as u64), first - best).dimmed())?;
    }
    let left_out = heads.iter().filter(|head| !is_shown(head)).map(|head| head.trim_start_matches(['>', '/']));
    let left_out: Vec<&str> = left_out.collect();
    if !left_out.is_empty() {
        out.line(&format!(" Hidden at this width (--json has them): {}", left_out.join(", ")), 1)?;
    }
    Ok(())
}

fn figures(out: &mut dyn Page, answer: &Answer) -> io::Result<()> {
    let cut = &answer.cut;
    let mut rows = vec![
        ("method".to_owned(), cut.method.clone()),
        ("threshold".to_owned(), maybe(cut.threshold)),
        ("kept".to_owned(), format!("{} of {}", cut.keep, cut.candidates)),
        ("reason".to_owned(), cut.reason.clone()),
    ];
    if cut.dropped_non_finite > 0 {
        rows.push(("without a finite score".to_owned(), cut.dropped_non_finite.to_string()));
    }
    // The evidence on the whole list is for programs.
    for (name, value) in cut.diagnostics.iter().filter(|(_, value)| !value.is_object()) {
        rows.push((name.replace('_', " "), diagnostic(value)));
    }
    if let Some(language) = &answer.language_hint {
        rows.push(("language preferred".to_owned(), language.clone()));
    }
    rows.push(("mode".to_owned(), answer.mode_used.clone()));
    rows.push(("model".to_owned(), answer.model.clone().unwrap_or_else(|| "none".into())));
    rows.extend(answer.pending_model.iter().map(|pending| ("better model".to_owned(), pending.clone())));
    let index = &answer.index;
    rows.push((
        "searched".to_owned(),
        format!("{} passages, {} with a vector", count(index.passages), count(index.embedded)),
    ));
    rows.push(("time".to_owned(), timings(answer)));
    for (name, value) in rows {
        out.line(&format!("  {:<24} {}", label(&name), visible(&value)), 6)?;
    }
    Ok(())
}

fn diagnostic(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Number(figure) if figure.is_f64() => number(figure.as_f64().unwrap_or_default()),
        other => other.to_string(),
    }
}

fn timings(answer: &Answer) -> String {
    let total = answer.timings_ms.get("total").copied().unwrap_or_default();
    let mut stages: Vec<_> = answer.timings_ms.iter().filter(|(stage, _)| *stage != "total").collect();
    stages.sort_by(|a, b| b.1.total_cmp(a.1));
    let stages = stages.iter().map(|(stage, time)| format!("{stage} {}", milliseconds(**time)));
    format!("{} ({})", milliseconds(total), stages.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::super::samples::{answer, entry};
    use super::super::{plain, plain_in};
    use super::*;

    #[test]
    fn candidates_on_both_sides_are_shown_with_their_raw_scores() {
        let mut answer = answer();
        answer.pool = Some((0..30).map(|rank| entry("src/a.rs", 1.0 - f64::from(rank) / 30.0, rank < 10)).collect());
        (answer.cut.keep, answer.cut.candidates, answer.cut.threshold) = (10, 30, Some(0.7));
        answer.cut.diagnostics.insert("lambda".into(), 0.65.into());
        answer.timings_ms = [("total".into(), 4.2), ("gather".into(), 3.0), ("cut".into(), 0.1)].into();
        let text = plain(|out| explanation(out, &answer));
        let kept = text.lines().filter(|line| line.contains("  kept  ") && line.contains("src/a.rs")).count();
        assert_eq!(kept, AROUND + 2, "the two above the window too: {text}");
        assert_eq!(text.matches("  ·     0.").count(), AROUND, "{text}");
        assert!(text.contains("… 12 more, 0 above") && text.contains("10 kept, 20 left out"), "{text}");
        assert!(text.contains("lambda                   0.650"), "{text}");
        assert!(text.contains("4.2 ms (gather 3.0 ms, cut 0.1 ms)"), "{text}");
    }

    #[test]
    fn a_threshold_on_distances_is_drawn_among_similarities_and_no_candidates_still_have_figures() {
        let mut answer = answer();
        answer.cut.threshold = Some(0.25);
        assert_eq!(threshold(&answer), Some(0.25));
        answer.cut.diagnostics.insert("threshold_on".into(), "distance".into());
        assert_eq!(threshold(&answer), Some(0.75));
        let text = plain(|out| explanation(out, &self::answer()));
        assert!(text.contains("0 of 0") && !text.contains("Candidates around"), "{text}");
    }

    #[test]
    fn an_explanation_fits_a_narrow_terminal() {
        let mut answer = answer();
        let path = "crates/tamis/src/search/answer.rs";
        answer.pool = Some((0..30).map(|rank| entry(path, 1.0 - f64::from(rank) / 30.0, rank < 10)).collect());
        answer.cut.keep = 10;
        answer.cut.reason = "a sentence that is longer than a narrow terminal is wide, so that it has to wrap".into();
        for columns in [40, 80] {
            let text = plain_in(columns, |out| explanation(out, &answer));
            assert!(text.lines().all(|line| line.chars().count() <= columns), "{columns}: {text}");
            assert!(text.contains("answer.rs:7"), "{text}");
            assert!(text.contains("Hidden at this width (--json has them):"), "{text}");
        }
    }
}
