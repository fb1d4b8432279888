//! The tables of the statistics.

use super::figures::{moment, percent, shortened};
use super::{heading, spare_columns};
use crate::page::Page;
use crate::print::table::Columns;
use crate::print::text::{count, maybe, milliseconds};
use jiff::tz::TimeZone;
use std::io;
use tamis::telemetry::{Share, Similarities, Stats};

/// Columns of a slow query's text and of a reason.
const TEXT: usize = 24;
const REASON: usize = 64;

/// Most rows of a table of reasons.
const ROWS: usize = 8;

/// Writes which method decided.
pub(super) fn methods(out: &mut dyn Page, stats: &Stats) -> io::Result<()> {
    heading(out, "Decided by", "")?;
    shares(out, &[" method", ">queries", ">share", ">found nothing", ">kept on average"], &stats.methods, stats.queries)
}

/// Writes the entry points of the queries and what they searched, each if it has several values.
pub(super) fn sources(out: &mut dyn Page, stats: &Stats) -> io::Result<()> {
    let groups = [("Asked from", &stats.entry_points), ("Legs", &stats.modes), ("Searched", &stats.corpora)];
    for (title, shares) in groups {
        if shares.len() > 1 {
            heading(out, title, "")?;
            let headings = [" ", ">queries", ">share", ">found nothing", ">kept on average"];
            self::shares(out, &headings, shares, stats.queries)?;
        }
    }
    Ok(())
}

fn shares(out: &mut dyn Page, headings: &[&str], shares: &[Share], of: u64) -> io::Result<()> {
    let mut table = Columns::new(headings);
    for share in shares {
        table.row([
            format!(" {}", shortened(&share.name, 30)),
            count(share.queries),
            percent(share.queries as f64 / of.max(1) as f64),
            count(share.empty),
            format!("{:.1}", share.mean_kept),
        ]);
    }
    table.write(out)
}

/// Writes the time that each stage took.
pub(super) fn latency(out: &mut dyn Page, stats: &Stats) -> io::Result<()> {
    heading(out, "Time", "")?;
    let mut table = Columns::new(&[" stage", ">half within", ">95% within", ">99% within", ">longest"]);
    for latency in &stats.latency {
        let times = [latency.p50_ms, latency.p95_ms, latency.p99_ms, latency.max_ms].map(milliseconds);
        table.row(std::iter::once(format!(" {}", latency.stage)).chain(times));
    }
    table.write(out)
}

/// Writes the queries that took longest.
pub(super) fn slowest(out: &mut dyn Page, stats: &Stats, zone: &TimeZone) -> io::Result<()> {
    heading(out, "Slowest", "")?;
    let mut table = Columns::new(&[" when", ">took", "mostly", "query", "text"]);
    for slow in &stats.slowest {
        let mostly = slow.stage.as_ref();
        table.row([
            format!(" {}", moment(&slow.at, zone)),
            milliseconds(slow.total_ms),
            mostly.map(|(stage, took)| format!("{stage} {}", milliseconds(*took))).unwrap_or_default(),
            slow.search_id.clone().unwrap_or_default(),
            slow.text.as_deref().map(|text| shortened(text, TEXT + spare_columns(out))).unwrap_or_default(),
        ]);
    }
    table.write(out)
}

/// Writes the reasons for using another model or mode than the user chose.
pub(super) fn fallbacks(out: &mut dyn Page, stats: &Stats) -> io::Result<()> {
    if stats.fallbacks.is_empty() {
        return Ok(());
    }
    heading(out, "Answered with another model or mode", "")?;
    let mut table = Columns::new(&["> queries", "why"]);
    for share in stats.fallbacks.iter().take(ROWS) {
        table.row([count(share.queries), shortened(&share.name, REASON + spare_columns(out))]);
    }
    table.write(out)?;
    match stats.fallbacks.len().saturating_sub(ROWS) {
        0 => Ok(()),
        more => writeln!(out, "  and {more} more reasons"),
    }
}

/// Writes the similarities before and after the calibration of each model.
pub(super) fn drift(out: &mut dyn Page, stats: &Stats, zone: &TimeZone) -> io::Result<()> {
    if stats.drift.is_empty() {
        return Ok(());
    }
    heading(out, "Similarity", "mean of the best candidate and of all passages")?;
    let mut table = Columns::new(&[" model", "since", ">queries", ">best", ">background"]);
    let mut row = |model: String, since: String, similarities: &Similarities| {
        let Similarities { queries, best, background } = similarities;
        table.row([format!(" {model}"), since, count(*queries), maybe(*best), maybe(*background)]);
    };
    let mut moved = Vec::new();
    for drift in &stats.drift {
        let calibrated = drift.calibrated_at.as_ref().map(|at| moment(at, zone));
        if let Some(before) = &drift.before {
            row(drift.model.clone(), "before its calibration".into(), before);
        }
        if let Some(after) = &drift.after {
            let since = calibrated.map_or_else(|| "never calibrated".into(), |at| format!("calibrated {at}"));
            row(drift.model.clone(), since, after);
        }
        let best = |similarities: &Option<Similarities>| similarities.as_ref().and_then(|known| known.best);
        if let Some((before, after)) = best(&drift.before).zip(best(&drift.after)) {
            moved.push(format!("{} moved by {:+.3} since its calibration", drift.model, after - before));
        }
    }
    table.write(out)?;
    moved.iter().try_for_each(|line| writeln!(out, "  {line}"))
}
