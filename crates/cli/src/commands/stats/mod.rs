//! `tamis stats`: shows how past queries were answered, and what another cut would have kept.

mod figures;
mod html;

use crate::command_line::{Global, at_least_one};
use crate::exit::Exit;
use crate::output::Output;
use crate::print::text::counted;
use crate::session::Session;
use anyhow::Result;
use clap::Args;
use jiff::tz::TimeZone;
use std::io::Write;
use tamis::Index;
use tamis::telemetry::{ReplayRequest, StatsRequest};

/// Flags of `tamis stats`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis stats                                   show all recorded queries
  tamis stats --since 7d                        show those of the last seven days
  tamis stats --since 2026-11-01 --json         print figures for programs, times in UTC
  tamis stats --replay max_gap,auto             compare what two cuts would have kept
  tamis stats --replay background:lambda=0.7,otsu --since 30d
  tamis stats --purge                           delete the record, except judged searches

The record never leaves this machine. `telemetry.record = false` in the configuration turns it off.
Exit status: 0 there is a record, 1 there is none, 2 an error.")]
pub struct StatsArguments {
    #[command(flatten)]
    pub queries: StatsRequest,
    /// Decide the recorded searches again with these cuts, each METHOD[:PARAM=VALUE,…], and compare
    #[arg(long, value_name = "CUT,CUT…", conflicts_with = "purge")]
    pub replay: Vec<String>,
    /// With --replay, decide the last N searches
    #[arg(short = 'n', long, value_name = "N", default_value = "2000", value_parser = at_least_one, requires = "replay", allow_negative_numbers = true)]
    pub limit: usize,
    /// Delete the record of queries, except judged searches
    #[arg(long, conflicts_with_all = ["since", "until", "namespace"])]
    pub purge: bool,
    /// With --purge, delete judged searches and their judgements too
    #[arg(long, requires = "purge")]
    pub judged: bool,
    /// Print the figures as JSON
    #[arg(long)]
    pub json: bool,
}

impl StatsArguments {
    /// The cuts of `--replay`. A comma separates cuts, and the parameters of one cut as well: a part with an equals sign
    /// before any colon is a parameter of the cut before it.
    pub fn cuts(&self) -> Vec<String> {
        let mut cuts: Vec<String> = Vec::new();
        for part in self.replay.iter().flat_map(|given| given.split(',')).map(str::trim).filter(|part| !part.is_empty())
        {
            let parameter = part.split(':').next().is_some_and(|name| name.contains('='));
            match cuts.last_mut() {
                Some(cut) if parameter => {
                    cut.push(if cut.contains(':') { ',' } else { ':' });
                    cut.push_str(part);
                }
                _ => cuts.push(part.to_owned()),
            }
        }
        cuts
    }
}

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
    let zone = if arguments.json { TimeZone::UTC } else { TimeZone::system() };
    let request = StatsRequest { time_zone: Some(zone.clone()), ..arguments.queries.clone() };
    let stats = index.statistics().summarize(&request)?;
    if arguments.json {
        output.json(&stats)?;
    } else if stats.queries == 0 {
        output.note(nothing(index, arguments, "query"));
    } else {
        let mut out = output.paged();
        html::print(&mut out, &stats, &zone)?;
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
        html::print_replay(&mut out, &replay, &TimeZone::system())?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        stats: StatsArguments,
    }

    fn cuts(given: &[&str]) -> Vec<String> {
        let flags = given.iter().flat_map(|cuts| ["--replay", cuts]);
        Line::parse_from(std::iter::once("stats").chain(flags)).stats.cuts()
    }

    #[test]
    fn commas_part_cuts_and_parameters() {
        assert_eq!(cuts(&["max_gap,auto"]), ["max_gap", "auto"]);
        let given = "max_gap:min_gap=0.1,floor=0.2,auto,background:lambda=0.7";
        assert_eq!(cuts(&[given]), ["max_gap:min_gap=0.1,floor=0.2", "auto", "background:lambda=0.7"]);
        assert_eq!(cuts(&["otsu", "fixed:k=3, auto"]), ["otsu", "fixed:k=3", "auto"]);
        assert_eq!(cuts(&[",,"]), [""; 0]);
    }
}
