//! The page of statistics on past queries.

mod bars;
mod figures;
mod replay;
mod tables;

pub use replay::print_replay;

use crate::page::Page;
use crate::print::text::{count, counted, milliseconds};
use bars::{Line, histogram};
use figures::{percent, plain};
use jiff::tz::TimeZone;
use owo_colors::OwoColorize;
use std::io;
use tamis::telemetry::Stats;

/// A page is laid out for this many columns; a wider terminal shows more of long texts.
const COLUMNS: usize = 80;

/// Columns of a longer line are hard to read.
const MOST_COLUMNS: usize = 160;

/// Columns for text beyond those of a page.
fn spare_columns(out: &dyn Page) -> usize {
    out.columns().unwrap_or_default().clamp(COLUMNS, MOST_COLUMNS) - COLUMNS
}

/// Writes the statistics, with times in this zone.
///
/// # Errors
/// `out` cannot be written.
pub fn print(out: &mut dyn Page, stats: &Stats, zone: &TimeZone) -> io::Result<()> {
    summary(out, stats)?;
    days(out, stats)?;
    if let Some(kept) = &stats.kept {
        let figures = format!("mean {}, median {}, at most {}", plain(kept.mean), plain(kept.p50), plain(kept.max));
        heading(out, "Kept by the cut", &figures)?;
        histogram(out, kept, figures::whole_range)?;
    }
    tables::methods(out, stats)?;
    if let Some(gaps) = &stats.gaps {
        let figures = format!("median {:.3}, at most {:.3}", gaps.p50, gaps.max);
        heading(out, "Largest gap between neighbours", &figures)?;
        histogram(out, gaps, figures::range)?;
    }
    tables::latency(out, stats)?;
    tables::sources(out, stats)?;
    tables::slowest(out, stats, zone)?;
    tables::fallbacks(out, stats)?;
    tables::drift(out, stats, zone)
}

/// Writes an empty line and a heading with a remark beside it.
fn heading(out: &mut dyn Page, title: &str, beside: &str) -> io::Result<()> {
    let beside = if beside.is_empty() { String::new() } else { format!("  {beside}") };
    writeln!(out, "\n{}{}", title.bold(), beside.dimmed())
}

fn summary(out: &mut dyn Page, stats: &Stats) -> io::Result<()> {
    let days = match (stats.days.first(), stats.days.last()) {
        (Some(first), Some(last)) if first.date != last.date => format!(" from {} to {}", first.date, last.date),
        (Some(day), _) => format!(" on {}", day.date),
        _ => String::new(),
    };
    let different = if stats.distinct_queries < stats.queries {
        format!(", {} of them different", count(stats.distinct_queries))
    } else {
        String::new()
    };
    writeln!(out, "{}{days}{different}", counted(stats.queries, "query").bold())?;
    let nothing = format!("{} found nothing ({})", counted(stats.empty, "query"), percent(stats.empty_rate));
    if stats.empty > 0 {
        write!(out, "{}", nothing.yellow())?
    } else {
        write!(out, "every query found something")?
    }
    if stats.shortened > 0 {
        write!(out, "; the limit cut {} short", counted(stats.shortened, "query"))?;
    }
    writeln!(out)?;
    let found = [
        stats.lexical_candidates.map(|found| format!("{} by words", plain(found))),
        stats.semantic_candidates.map(|found| format!("{} by meaning", plain(found))),
        stats.candidates.map(|found| format!("{} together", plain(found))),
    ];
    let found: Vec<String> = found.into_iter().flatten().collect();
    writeln!(out, "{}", format!("candidates on average: {}", found.join(", ")).dimmed())?;
    if let Some(ratio) = stats.language_match_ratio {
        let ratio = format!("kept in the language hinted at: {}", percent(ratio));
        writeln!(out, "{}", ratio.dimmed())?;
    }
    if stats.opened.passages > 0 {
        let (results, searches) = (counted(stats.opened.passages, "result"), counted(stats.opened.searches, "search"));
        writeln!(out, "{}", format!("opened afterwards: {results} of {searches}").dimmed())?;
    }
    let judged = &stats.judgements;
    if judged.searches > 0 {
        let passages = counted(judged.relevant + judged.not_relevant, "passage");
        let (relevant, searches) = (count(judged.relevant), counted(judged.searches, "search"));
        let line = format!("judged: {passages} of {searches}, {relevant} of them relevant");
        let error = judged.reliability.as_ref().map(|reliability| reliability.calibration_error);
        let error = error.map_or_else(String::new, |error| format!("; calibration error {error:.2}"));
        writeln!(out, "{}", format!("{line}{error}").dimmed())?;
    }
    Ok(())
}

/// Writes a sparkline for each figure that is known by day.
fn days(out: &mut dyn Page, stats: &Stats) -> io::Result<()> {
    if stats.days.len() < 2 {
        return Ok(());
    }
    let groups = figures::groups(&stats.days, out.columns_after(bars::LABEL, figures::MOST_GROUPS));
    let per = match groups.first().map_or(1, |group| group.len()) {
        1 => "a day".to_owned(),
        7 => "a week".to_owned(),
        days => format!("in {days} days"),
    };
    let counts: Vec<u64> = groups.iter().map(|group| group.iter().map(|day| day.queries).sum()).collect();
    let empty = groups.iter().zip(&counts).map(|(group, &count)| {
        let empty: u64 = group.iter().map(|day| day.empty).sum();
        (count > 0).then(|| empty as f64 / count as f64)
    });
    let slow = groups.iter().map(|group| group.iter().filter_map(|day| day.p95_ms).reduce(f64::max));
    let most = counts.iter().max().copied().unwrap_or_default();
    let empty: Vec<Option<f64>> = empty.collect();
    let slow: Vec<Option<f64>> = slow.collect();
    let largest = |values: &[Option<f64>]| values.iter().flatten().copied().fold(0.0, f64::max);
    writeln!(out)?;
    let lines = [
        Line {
            label: "queries",
            note: format!("up to {} {per}", count(most)),
            values: counts.iter().map(|&count| Some(count as f64)).collect(),
        },
        Line { label: "found nothing", note: format!("up to {}", percent(largest(&empty))), values: empty },
        Line { label: "95% within", note: format!("up to {}", milliseconds(largest(&slow))), values: slow },
    ];
    lines.iter().try_for_each(|line| line.write(out))
}

#[cfg(test)]
mod tests;
