//! How well past queries were served, for people: one page that fits 80 columns.

mod bars;
mod replay;
mod tables;
mod words;

pub use replay::print_replay;

use bars::{Line, histogram};
use jiff::tz::TimeZone;
use owo_colors::OwoColorize;
use std::io::{self, Write};
use tamis::telemetry::Stats;
use words::{percent, plain};
pub use words::{queries, searches};

/// Columns that a page has at least, and that its lines take at most.
const COLUMNS: std::ops::RangeInclusive<usize> = 80..=160;

/// Where a page is read.
#[derive(Clone, Debug)]
pub struct View {
    /// Times are those of this zone.
    pub zone: TimeZone,
    /// Columns of the terminal.
    columns: usize,
}

impl View {
    /// In a terminal of so many columns; `None`: not in a terminal.
    pub fn new(zone: TimeZone, columns: Option<u16>) -> Self {
        let (least, most) = (*COLUMNS.start(), *COLUMNS.end());
        View { zone, columns: columns.map_or(least, |columns| usize::from(columns).clamp(least, most)) }
    }

    /// Columns beyond the least, for text.
    fn more(&self) -> usize {
        self.columns - COLUMNS.start()
    }
}

/// Writes the statistics.
///
/// # Errors
/// `out` cannot be written.
pub fn print(out: &mut dyn Write, stats: &Stats, view: &View) -> io::Result<()> {
    summary(out, stats)?;
    days(out, stats)?;
    if let Some(kept) = &stats.kept {
        let figures = format!("mean {}, median {}, at most {}", plain(kept.mean), plain(kept.p50), plain(kept.max));
        heading(out, "Kept by the cut", &figures)?;
        histogram(out, kept, words::whole_range)?;
    }
    tables::methods(out, stats)?;
    if let Some(gaps) = &stats.gaps {
        let figures = format!("median {:.3}, at most {:.3}", gaps.p50, gaps.max);
        heading(out, "Largest gap between neighbours", &figures)?;
        histogram(out, gaps, words::range)?;
    }
    tables::latency(out, stats)?;
    tables::sources(out, stats)?;
    tables::slowest(out, stats, view)?;
    tables::fallbacks(out, stats, view)?;
    tables::drift(out, stats, &view.zone)
}

/// An empty line and a heading, with what is said beside it.
fn heading(out: &mut dyn Write, title: &str, beside: &str) -> io::Result<()> {
    let beside = if beside.is_empty() { String::new() } else { format!("  {beside}") };
    writeln!(out, "\n{}{}", title.bold(), beside.dimmed())
}

fn summary(out: &mut dyn Write, stats: &Stats) -> io::Result<()> {
    let days = match (stats.days.first(), stats.days.last()) {
        (Some(first), Some(last)) if first.date != last.date => format!(" from {} to {}", first.date, last.date),
        (Some(day), _) => format!(" on {}", day.date),
        _ => String::new(),
    };
    let different = if stats.distinct_queries < stats.queries {
        format!(", {} of them different", crate::print::text::count(stats.distinct_queries))
    } else {
        String::new()
    };
    writeln!(out, "{}{days}{different}", queries(stats.queries).bold())?;
    let nothing = format!("{} found nothing ({})", queries(stats.empty), percent(stats.empty_rate));
    if stats.empty > 0 {
        write!(out, "{}", nothing.yellow())?
    } else {
        write!(out, "every query found something")?
    }
    if stats.shortened > 0 {
        write!(out, "; the limit cut {} short", queries(stats.shortened))?;
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
    Ok(())
}

/// A sparkline for each figure that has one by day.
fn days(out: &mut dyn Write, stats: &Stats) -> io::Result<()> {
    if stats.days.len() < 2 {
        return Ok(());
    }
    let groups = words::groups(&stats.days);
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
            note: format!("up to {} {per}", crate::print::text::count(most)),
            values: counts.iter().map(|&count| Some(count as f64)).collect(),
        },
        Line { label: "found nothing", note: format!("up to {}", percent(largest(&empty))), values: empty },
        Line {
            label: "95% within",
            note: format!("up to {}", crate::print::text::milliseconds(largest(&slow))),
            values: slow,
        },
    ];
    lines.iter().try_for_each(|line| line.write(out))
}

#[cfg(test)]
mod tests;
