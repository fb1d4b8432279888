//! Queries by day.

use super::distribution::{ascending, percentile};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use serde::Serialize;
use std::collections::BTreeMap;
use tamis_store::QueryQuality;

/// The most empty days listed in a row, so that a clock once decades off does not fill the list.
const LONGEST_PAUSE: usize = 3660;

/// The queries of one day.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Day {
    /// The day in the time zone of the request, `2026-11-22`.
    pub date: String,
    /// The number of queries.
    pub queries: u64,
    /// The number of queries that found nothing.
    pub empty: u64,
    /// Median number of candidates that the cut kept; `None` on a day without queries.
    pub kept_p50: Option<f64>,
    /// 95th percentile of the duration, in milliseconds; `None` on a day without queries.
    pub p95_ms: Option<f64>,
}

/// The timestamp of `at_ms`, milliseconds since 1970, clamped to the calendar's range.
pub(super) fn moment(at_ms: i64) -> Timestamp {
    let end = if at_ms < 0 { Timestamp::MIN } else { Timestamp::MAX };
    Timestamp::from_millisecond(at_ms).unwrap_or(end)
}

/// Every day from the first with a query to the last, including days without any.
pub(super) fn by_day(rows: &[QueryQuality], zone: &TimeZone) -> Vec<Day> {
    let mut days: BTreeMap<Date, Vec<&QueryQuality>> = BTreeMap::new();
    for row in rows {
        days.entry(zone.to_datetime(moment(row.at_ms)).date()).or_default().push(row);
    }
    let mut listed = Vec::new();
    let mut previous: Option<Date> = None;
    for (date, rows) in days {
        let pause = previous.and_then(|previous| previous.tomorrow().ok()).into_iter();
        let pause = pause.flat_map(|next| next.series(1.day())).take_while(|between| *between < date);
        listed.extend(pause.take(LONGEST_PAUSE).map(|date| day(date, &[])));
        listed.push(day(date, &rows));
        previous = Some(date);
    }
    listed
}

fn day(date: Date, rows: &[&QueryQuality]) -> Day {
    let kept = ascending(rows.iter().map(|row| f64::from(row.kept)));
    let total = ascending(rows.iter().map(|row| row.total_ms));
    Day {
        date: date.to_string(),
        queries: rows.len() as u64,
        empty: rows.iter().filter(|row| row.kept == 0).count() as u64,
        kept_p50: percentile(&kept, 0.5),
        p95_ms: percentile(&total, 0.95),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(at: &str, kept: u32, total_ms: f64) -> QueryQuality {
        let at_ms = at.parse::<Timestamp>().expect("a time").as_millisecond();
        QueryQuality { at_ms, kept, total_ms, ..QueryQuality::default() }
    }

    #[test]
    fn days_of_the_zone_by_hand_with_those_between() {
        let rows = [
            row("2026-02-27T00:00:00Z", 3, 10.0),
            row("2026-02-27T23:59:59.999Z", 0, 30.0),
            row("2026-02-27T12:00:00Z", 5, 20.0),
            row("2026-03-02T08:00:00Z", 1, 5.0),
        ];
        let days = by_day(&rows, &TimeZone::UTC);
        let dates: Vec<&str> = days.iter().map(|day| day.date.as_str()).collect();
        assert_eq!(dates, ["2026-02-27", "2026-02-28", "2026-03-01", "2026-03-02"]);
        let first = Day { date: "2026-02-27".into(), queries: 3, empty: 1, kept_p50: Some(3.0), p95_ms: Some(30.0) };
        assert_eq!(days[0], first);
        assert_eq!((days[1].queries, days[1].kept_p50, days[1].p95_ms), (0, None, None));

        let rows = [row("2026-11-21T23:30:00Z", 1, 1.0), row("2026-11-22T00:30:00Z", 1, 1.0)];
        let east = TimeZone::fixed(jiff::tz::offset(1));
        assert_eq!(by_day(&rows, &TimeZone::UTC).len(), 2);
        let days = by_day(&rows, &east);
        assert_eq!((days.len(), days[0].date.as_str(), days[0].queries), (1, "2026-11-22", 2));

        let far = |at_ms| QueryQuality { at_ms, ..QueryQuality::default() };
        let days = by_day(&[far(i64::MIN), far(0), far(i64::MAX)], &TimeZone::UTC);
        assert!(days.len() <= 3 + 2 * LONGEST_PAUSE);
        assert_eq!(days.iter().map(|day| day.queries).sum::<u64>(), 3);
        assert_eq!(by_day(&[], &TimeZone::UTC), []);
    }
}
