//! `tamis stats`: shows how past queries were answered, and what another cut would have kept.

use crate::args::{Global, StatsArguments, local_zone};
use crate::exit::Exit;
use crate::output::Output;
use crate::print::stats;
use crate::print::text::counted;
use crate::session::Session;
use anyhow::Result;
use jiff::tz::TimeZone;
use std::io::Write;
use tamis::Index;
use tamis::telemetry::{ReplayRequest, StatsRequest};

/// Prints statistics, replays searches or deletes the record.
///
/// # Errors
/// There is no index, a time or cut that cannot be read, or the log cannot be read or written.
pub fn run(arguments: &StatsArguments, global: &Global, output: &Output) -> Result<Exit> {
    let session = Session::start(global, Vec::new())?;
    let config = session.config()?;
    let index = session.open_existing(config)?;
    if arguments.purge {
        return purge(&index, arguments, output);
    }
    if arguments.replay.is_empty() { show(&index, arguments, output) } else { replay(&index, arguments, output) }
}

fn show(index: &Index, arguments: &StatsArguments, output: &Output) -> Result<Exit> {
    let zone = if arguments.json { TimeZone::UTC } else { local_zone() };
    let request = StatsRequest { time_zone: Some(zone.clone()), ..arguments.queries.clone() };
    let stats = index.statistics().summarize(&request)?;
    if arguments.json {
        output.json(&stats)?;
    } else if stats.queries == 0 {
        output.note(nothing(index, arguments, "query"));
    } else {
        let mut out = output.paged();
        stats::print(&mut out, &stats, &zone)?;
        out.flush()?;
    }
    Ok(Exit::found(stats.queries > 0))
}

fn replay(index: &Index, arguments: &StatsArguments, output: &Output) -> Result<Exit> {
    let request = ReplayRequest { cuts: arguments.cuts(), searches: arguments.queries.clone(), limit: arguments.limit };
    let replay = index.statistics().replay(&request)?;
    if arguments.json {
        output.json(&replay)?;
    } else if replay.searches == 0 {
        output.note(nothing(index, arguments, "search"));
    } else {
        let mut out = output.paged();
        stats::print_replay(&mut out, &replay, &local_zone())?;
        out.flush()?;
    }
    Ok(Exit::found(replay.searches > 0))
}

fn purge(index: &Index, arguments: &StatsArguments, output: &Output) -> Result<Exit> {
    let purged = index.statistics().purge(arguments.judged)?;
    if arguments.json {
        output.json(&purged)?;
        return Ok(Exit::Found);
    }
    let mut out = output.styled();
    let judgements = match purged.judgements {
        0 => String::new(),
        judgements => format!(" with {}", counted(judgements, "judgement")),
    };
    let (queries, searches) = (counted(purged.queries, "query"), counted(purged.searches, "search"));
    writeln!(out, "deleted the record of {queries} and {searches}{judgements}")?;
    if purged.judged_kept > 0 {
        writeln!(
            out,
            "kept {}, since guarantees are calibrated on judgements; --purge --judged deletes them too",
            counted(purged.judged_kept, "judged search")
        )?;
    }
    out.flush()?;
    Ok(Exit::Found)
}

/// The reason there is nothing to show.
fn nothing(index: &Index, arguments: &StatsArguments, what: &str) -> &'static str {
    let StatsRequest { since, until, namespace, .. } = &arguments.queries;
    let narrowed = since.is_some() || until.is_some() || namespace.is_some();
    match (index.config().telemetry.record, narrowed, what) {
        (false, ..) => "nothing is recorded: telemetry is off",
        (true, true, "query") => "no query of that period and namespace is recorded",
        (true, true, _) => "no search of that period and namespace is recorded",
        (true, false, "query") => "no query is recorded yet; `tamis search` records each",
        (true, false, _) => "no search is recorded yet; `tamis search` records each",
    }
}
