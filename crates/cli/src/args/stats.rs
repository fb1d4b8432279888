//! Flags of `tamis stats`.

use super::values::{at_least_one, moment};
use clap::Args;
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Flags of `tamis stats`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis stats                                   all queries that are recorded
  tamis stats --since 7d                        those of the last seven days
  tamis stats --since 2026-11-01 --json         for programs: days and times in UTC
  tamis stats --replay max_gap,auto             what two cuts would have kept of the recorded searches
  tamis stats --replay background:lambda=0.7,otsu --since 30d
  tamis stats --purge                           delete what is recorded, but for what people judged

Nothing is sent anywhere. `telemetry = \"off\"` in the configuration records nothing.
Exit status: 0 something is recorded, 1 nothing is, 2 an error.")]
pub struct StatsArguments {
    /// Only queries since then: how long ago (7d, 12h, 2 weeks), a date, a date and time, or words (yesterday, monday)
    #[arg(long, value_name = "TIME", value_parser = moment, allow_hyphen_values = true)]
    pub since: Option<Timestamp>,
    /// Only queries before then
    #[arg(long, value_name = "TIME", value_parser = moment, allow_hyphen_values = true)]
    pub until: Option<Timestamp>,
    /// Only queries of this namespace
    #[arg(long, value_name = "NAME")]
    pub namespace: Option<String>,
    /// Decide the recorded searches again with these cuts and compare, each METHOD[:PARAM=VALUE,…]
    #[arg(long, value_name = "CUT,CUT…", conflicts_with = "purge")]
    pub replay: Vec<String>,
    /// With --replay, the last N searches
    #[arg(short = 'n', long, value_name = "N", default_value = "2000", value_parser = at_least_one, requires = "replay", allow_negative_numbers = true)]
    pub limit: usize,
    /// Delete what is recorded of queries, but for searches that people judged
    #[arg(long, conflicts_with_all = ["since", "until", "namespace"])]
    pub purge: bool,
    /// With --purge, delete the judged searches with their judgements too
    #[arg(long, requires = "purge")]
    pub judged: bool,
    /// Print the figures as JSON
    #[arg(long)]
    pub json: bool,
}

impl StatsArguments {
    /// The cuts of `--replay`. A comma stands between cuts and also between the parameters of one: what has an equals sign
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

/// The zone of the user's clock.
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
