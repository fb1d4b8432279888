//! Figures and times of the statistics as text.

use crate::page;
use crate::print::text::{count, visible};
use jiff::Timestamp;
use jiff::tz::TimeZone;
pub use tamis::search::percent;
use tamis::telemetry::{Bucket, Day};

/// The most columns of a sparkline.
pub const MOST_GROUPS: usize = 42;

/// A number of candidates, with one decimal if it has any.
pub fn plain(value: f64) -> String {
    if (value - value.round()).abs() < 0.05 { count(value.round() as u64) } else { format!("{value:.1}") }
}

/// A range of whole numbers: `0`, `3–4`, `65+`.
pub fn whole_range(bucket: &Bucket) -> String {
    match bucket.below {
        None => format!("{}+", bucket.from),
        Some(below) if below - bucket.from <= 1.0 => bucket.from.to_string(),
        Some(below) => format!("{}–{}", bucket.from, below - 1.0),
    }
}

/// A range of numbers: `0.02–0.05`.
pub fn range(bucket: &Bucket) -> String {
    match bucket.below {
        None => format!("{:.2}+", bucket.from),
        Some(below) => format!("{:.2}–{below:.2}", bucket.from),
    }
}

/// The days in at most so many groups of equal length, in whole weeks if a group has several days. The last group ends
/// with the last day.
pub fn groups(days: &[Day], most: usize) -> Vec<&[Day]> {
    let per = match days.len().div_ceil(most.min(MOST_GROUPS)) {
        few @ 0..=1 => few.max(1),
        few => few.next_multiple_of(7),
    };
    days.rchunks(per).rev().collect()
}

/// A time of RFC 3339 as people in this zone read it.
pub fn moment(text: &str, zone: &TimeZone) -> String {
    let read = text.parse::<Timestamp>().map(|moment| moment.to_zoned(zone.clone()));
    read.map_or_else(|_| text.to_owned(), |moment| moment.strftime("%Y-%m-%d %H:%M").to_string())
}

/// Other people's text on one line, in at most so many columns.
pub fn shortened(text: &str, columns: usize) -> String {
    page::shortened(&visible(text).replace(['\n', '\t'], " "), columns).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_read_well() {
        assert_eq!((plain(3.0), plain(3.26), plain(2000.01)), ("3".into(), "3.3".into(), "2,000".into()));
        assert_eq!(shortened("a\nb c", 9), "a b c");
        assert_eq!(shortened("where are retries handled", 10), "where are…");
        assert_eq!(moment("2026-11-22T10:00:00.5Z", &TimeZone::UTC), "2026-11-22 10:00");
        assert_eq!(moment("soon", &TimeZone::UTC), "soon");
    }

    #[test]
    fn ranges_read_well() {
        let bucket = |from, below| Bucket { from, below, count: 0 };
        assert_eq!(whole_range(&bucket(0.0, Some(1.0))), "0");
        assert_eq!(whole_range(&bucket(3.0, Some(5.0))), "3–4");
        assert_eq!(whole_range(&bucket(65.0, None)), "65+");
        assert_eq!(range(&bucket(0.02, Some(0.05))), "0.02–0.05");
        assert_eq!(range(&bucket(0.4, None)), "0.40+");
    }

    #[test]
    fn many_days_are_grouped_in_whole_weeks_that_end_with_the_last() {
        let day = Day { date: String::new(), queries: 1, empty: 0, kept_p50: None, p95_ms: None };
        let lengths = |days: usize| -> Vec<usize> {
            groups(&vec![day.clone(); days], 80).into_iter().map(<[Day]>::len).collect()
        };
        assert_eq!(lengths(42), [1; 42]);
        assert_eq!(lengths(44), [2, 7, 7, 7, 7, 7, 7]);
        assert!(lengths(3000).len() <= MOST_GROUPS);
        assert_eq!(lengths(0), [0; 0]);
    }
}
