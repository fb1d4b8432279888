//! An index brought up to date before it is asked.

use crate::interrupt;
use crate::output::Output;
use crate::print::report;
use crate::print::text::counted;
use crate::progress::Progress;
use crate::session::Session;
use anyhow::Result;
use tamis::config::Config;
use tamis::{Freshness, Index, RunReport};

/// The index, made where there is none and brought up to date where that is wanted; `None` where somebody stopped it.
///
/// # Errors
/// There is no index to search, or it cannot be read.
pub fn opened(session: Session, config: Config, refresh: bool, output: &Output) -> Result<Option<(Index, Freshness)>> {
    let index = if refresh { session.open(config)? } else { session.open_existing(config)? };
    Ok(refreshed(&index, refresh, output)?.map(|freshness| (index, freshness)))
}

/// The index that is there, brought up to date unless that is not wanted; `None` where somebody stopped it.
///
/// # Errors
/// There is no index, or it cannot be read.
pub fn existing(session: Session, no_refresh: bool, output: &Output) -> Result<Option<Index>> {
    let config = session.config()?;
    let refresh = config.search.refresh && !no_refresh;
    let index = session.open_existing(config)?;
    let freshness = refreshed(&index, refresh, output)?;
    if let Some(freshness) = &freshness {
        warn(freshness, output);
    }
    Ok(freshness.map(|_| index))
}

fn refreshed(index: &Index, wanted: bool, output: &Output) -> Result<Option<Freshness>> {
    if !wanted {
        return Ok(Some(Freshness::default()));
    }
    interrupt::install()?;
    let progress = Progress::when_slow(output);
    let freshness = index.refresh_for_search(&progress)?;
    if freshness.report.as_ref().is_some_and(|report| report.interrupted) {
        output.note("stopped; what is indexed so far is kept, and the next run goes on from there");
        return Ok(None);
    }
    if let Some(report) = freshness.report.as_ref().filter(|report| report.added > 0 && report.unchanged == 0) {
        output.note(&format!("indexed {}", report::line(report)));
    }
    Ok(Some(freshness))
}

/// Says what the index does not know, and why.
pub fn warn(freshness: &Freshness, output: &Output) {
    freshness.report.iter().for_each(|report| unusable(report, output));
    let stale = freshness.stale.unwrap_or_default();
    match &freshness.reason {
        Some(reason) if stale > 0 => {
            output.warn(&format!("searched the index as it is, {} since: {reason}", counted(stale, "changed file")));
        }
        Some(reason) if freshness.failed => output.warn(&format!("searched the index as it is: {reason}")),
        _ => {}
    }
    let unreadable = freshness.report.as_ref().map_or(0, |report| report.unreadable.len() as u64);
    if unreadable > 0 {
        output.warn(&format!("{} could not be read: `tamis index -v` lists them", counted(unreadable, "file")));
    }
}

/// Says which models could not be used.
pub fn unusable(report: &RunReport, output: &Output) {
    let told = |(model, reason): (&String, &String)| match report.pending.get(model) {
        Some(&passages) => format!("{} not embedded with {model}: {reason}", counted(passages, "passage")),
        None => format!("model {model} cannot be used: {reason}"),
    };
    report.unusable.iter().map(told).for_each(|warning| output.warn(&warning));
}
