//! Flags of `tamis stats`.

use super::values::at_least_one;
use clap::Args;
use jiff::tz::TimeZone;
use tamis::telemetry::StatsRequest;

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

/// The time zone of the user's clock.
pub fn local_zone() -> TimeZone {
    TimeZone::system()
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
