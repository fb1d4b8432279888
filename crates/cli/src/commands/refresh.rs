//! Brings an index up to date before a query, and reports what it could not use.

use crate::output::Output;
use crate::print::report;
use crate::print::text::counted;
use crate::progress::Progress;
use crate::session::Session;
use crate::{background_embedding, interrupt};
use anyhow::Result;
use std::io::{self, BufRead, IsTerminal, Write};
use tamis::config::Config;
use tamis::{Freshness, Index, RunOptions, RunReport};

/// Opens the index, and with `wants_refresh` makes a missing one and brings it up to date for a search of some namespaces (empty: of
/// any). `None`: the user stopped it.
///
/// # Errors
/// There is no index to search, or it cannot be read.
pub fn open(
    session: Session,
    config: Config,
    wants_refresh: bool,
    namespaces: &[String],
    output: &Output,
) -> Result<Option<(Index, Freshness)>> {
    let index = if wants_refresh { session.open(config)? } else { session.open_existing(config)? };
    Ok(refreshed(&index, wants_refresh, namespaces, output)?.map(|freshness| (index, freshness)))
}

/// Opens the index for a question about its files, as a search does: a missing one is made unless the user does not want to wait.
/// `None`: the user stopped it.
///
/// # Errors
/// There is no index to ask, or it cannot be read.
pub fn open_or_make(
    session: Session,
    no_refresh: bool,
    namespaces: &[String],
    output: &Output,
) -> Result<Option<Index>> {
    let config = session.config()?;
    let wants_refresh = config.search.refresh && !no_refresh;
    let Some((index, freshness)) = open(session, config, wants_refresh, namespaces, output)? else {
        return Ok(None);
    };
    warn(&freshness, output);
    background_embedding::start(&index, freshness.report.as_ref(), output);
    Ok(Some(index))
}

/// Opens an existing index and brings it up to date, unless the user does not want that. `None`: the user stopped it.
///
/// # Errors
/// There is no index, or it cannot be read.
pub fn open_existing(session: Session, no_refresh: bool, output: &Output) -> Result<Option<Index>> {
    let config = session.config()?;
    let wants_refresh = config.search.refresh && !no_refresh;
    let index = session.open_existing(config)?;
    let freshness = refreshed(&index, wants_refresh, &[], output)?;
    if let Some(freshness) = &freshness {
        warn(freshness, output);
        background_embedding::start(&index, freshness.report.as_ref(), output);
    }
    Ok(freshness.map(|_| index))
}

fn refreshed(index: &Index, wants_refresh: bool, namespaces: &[String], output: &Output) -> Result<Option<Freshness>> {
    if !wants_refresh {
        return Ok(Some(Freshness::default()));
    }
    interrupt::install()?;
    let progress = Progress::when_slow(output);
    let freshness = match index.refresh_for_search(namespaces, &progress) {
        Err(error @ tamis::Error::LargeTree { .. }) => {
            progress.clear();
            confirm(error)?;
            index.refresh_with(RunOptions { any_size: true, ..RunOptions::FIRST_MODEL }, &progress)?;
            index.refresh_for_search(namespaces, &progress)?
        }
        freshness => freshness?,
    };
    // The bar goes before anything is printed.
    drop(progress);
    if freshness.report.as_ref().is_some_and(|report| report.interrupted) {
        output.note("stopped; the finished part of the index is kept, and the next run continues there");
        return Ok(None);
    }
    if let Some(report) =
        freshness.report.as_ref().filter(|report| report.counts.added > 0 && report.counts.unchanged == 0)
    {
        if report.counts.passages > 0 {
            output.note(&format!("indexed {}", report::line(report)));
        }
        if !report.unread.is_empty() {
            let documents = counted(report.unread.len() as u64, "document");
            output.note(&format!("{documents} without readable text; `tamis status` says why"));
        }
        if let Some(&large) = report.skipped.get("too_large") {
            output.note(&format!("{} too large to read; `tamis index -v` names them", counted(large, "file")));
        }
        if output.draws_progress() {
            output.note(
                "later searches read only what has changed; `tamis status` says what the index holds, and where it is",
            );
            output.note("results that look relevant are above the line; `--want all` keeps more, `--explain` says why");
        }
    }
    Ok(Some(freshness))
}

/// Runs within the usual size of a tree, and again without that limit if the user confirms it.
///
/// # Errors
/// The run fails, or the user does not confirm.
pub fn of_any_size(
    options: RunOptions,
    run: impl Fn(RunOptions) -> Result<RunReport, tamis::Error>,
) -> Result<RunReport> {
    match run(options) {
        Err(error @ tamis::Error::LargeTree { .. }) => {
            confirm(error)?;
            Ok(run(RunOptions { any_size: true, ..options })?)
        }
        report => Ok(report?),
    }
}

/// Asks if a large tree is meant. Where there is nobody to ask, it is not.
fn confirm(error: tamis::Error) -> Result<()> {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Err(error.into());
    }
    let mut terminal = io::stderr().lock();
    write!(terminal, "{error}\nIndex all of it? [y/N] ")?;
    terminal.flush()?;
    drop(terminal);
    let mut said = String::new();
    io::stdin().lock().read_line(&mut said)?;
    match said.trim().to_lowercase().as_str() {
        "y" | "yes" => Ok(()),
        _ => Err(error.into()),
    }
}

/// Warns of files and models that the index could not use.
fn warn(freshness: &Freshness, output: &Output) {
    warn_of_use(freshness, output);
    outdated(freshness).iter().for_each(|warning| output.warn(warning));
}

/// The warning that the index is not up to date, and why.
pub fn outdated(freshness: &Freshness) -> Option<String> {
    let stale = freshness.stale.unwrap_or_default();
    let reason = freshness.reason.as_ref().filter(|_| stale > 0 || freshness.failed)?;
    let since = if stale > 0 { format!(", {} since", counted(stale, "changed file")) } else { String::new() };
    Some(format!("searched the index as it is{since}: {reason}"))
}

/// Warns of files and models that a run could not use.
pub fn warn_of_use(freshness: &Freshness, output: &Output) {
    freshness.report.iter().for_each(|report| warn_of_models(report, output));
    let unreadable = freshness.report.as_ref().map_or(0, |report| report.unreadable.len() as u64);
    if unreadable > 0 {
        output.warn(&format!("{} could not be read: `tamis index -v` lists them", counted(unreadable, "file")));
    }
}

/// Warns of models that could not be used.
pub fn warn_of_models(report: &RunReport, output: &Output) {
    let warning = |(model, reason): (&String, &String)| match report.embedding.pending.get(model) {
        Some(&passages) => format!("{} not embedded with {model}: {reason}", counted(passages, "passage")),
        None => format!("model {model} cannot be used: {reason}"),
    };
    report.embedding.unusable.iter().map(warning).for_each(|warning| output.warn(&warning));
}
