//! Flags of `tamis stats`.

use super::values::at_least_one;
use clap::Args;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, Zoned};

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
    /// Only queries since then: a duration (7d, 12h, 2 weeks), a date, or a date and time
    #[arg(long, value_name = "TIME", value_parser = When::parse, allow_hyphen_values = true)]
    pub since: Option<When>,
    /// Only queries before then
    #[arg(long, value_name = "TIME", value_parser = When::parse, allow_hyphen_values = true)]
    pub until: Option<When>,
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

/// A moment as people write it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum When {
    /// So long ago.
    Ago(Millis),
    /// A day or a time of day where the user is.
    Local(DateTime),
    /// A moment anywhere.
    At(Timestamp),
}

/// A duration: years and days have their length from the calendar when it is taken off a moment.
#[derive(Clone, Copy, Debug)]
pub struct Millis(Span);

impl PartialEq for Millis {
    fn eq(&self, other: &Self) -> bool {
        self.0.fieldwise() == other.0.fieldwise()
    }
}

impl When {
    /// Reads `7d`, `2026-11-01`, `2026-11-01T08:30` or `2026-11-01T08:30Z`.
    fn parse(text: &str) -> Result<Self, String> {
        let allowed = "a duration (7d, 12h, 2 weeks), a date (2026-11-01), or a date and time (2026-11-01T08:30)";
        if let Ok(span) = text.parse::<Span>() {
            return if span.is_negative() {
                Err(format!("must not be negative, and {allowed}"))
            } else {
                Ok(When::Ago(Millis(span)))
            };
        }
        if let Ok(moment) = text.parse::<Timestamp>() {
            return Ok(When::At(moment));
        }
        text.parse::<DateTime>().map(When::Local).map_err(|_| format!("must be {allowed}"))
    }

    /// The moment in milliseconds since 1970, seen from `now`, whose time zone is the user's.
    ///
    /// # Errors
    /// It lies beyond the calendar.
    pub fn milliseconds(&self, now: &Zoned) -> Result<i64, jiff::Error> {
        Ok(match self {
            When::Ago(Millis(span)) => now.checked_sub(*span)?.timestamp().as_millisecond(),
            When::Local(time) => time.to_zoned(now.time_zone().clone())?.timestamp().as_millisecond(),
            When::At(moment) => moment.as_millisecond(),
        })
    }
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

    #[test]
    fn moments_as_people_write_them() {
        let now: Zoned = "2026-11-22T12:00:00+01:00[Europe/Berlin]".parse().expect("a time");
        let at = |text: &str| {
            let milliseconds = When::parse(text).expect("read").milliseconds(&now).expect("in the calendar");
            Timestamp::from_millisecond(milliseconds).expect("in the calendar").to_string()
        };
        assert_eq!(at("7d"), "2026-11-15T11:00:00Z");
        assert_eq!(at("90m"), "2026-11-22T09:30:00Z");
        assert_eq!(at("2 weeks"), "2026-11-08T11:00:00Z");
        // A month and a day are those of the calendar: the clocks were put back in between.
        assert_eq!(at("1mo"), "2026-10-22T10:00:00Z");
        assert_eq!(at("2026-11-01"), "2026-10-31T23:00:00Z");
        assert_eq!(at("2026-11-01T08:30"), "2026-11-01T07:30:00Z");
        assert_eq!(at("2026-11-01T08:30Z"), "2026-11-01T08:30:00Z");
    }

    #[test]
    fn what_is_no_moment_is_told_what_is() {
        for wrong in ["", "soon", "-7d", "2026-13-01", "7"] {
            let error = When::parse(wrong).expect_err("no moment");
            assert!(error.contains("a duration (7d"), "{wrong}: {error}");
        }
        assert!(When::parse("19998 years").expect("a duration").milliseconds(&Zoned::now()).is_err());
    }
}
