//! Figures and times of the statistics as text, sparklines and bars.

use crate::layout::{self, Page};
use crate::print::text::{count, visible};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use owo_colors::OwoColorize;
use std::io;
use tamis::search::percent;
use tamis::telemetry::{Bucket, Day, Distribution};

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
    layout::shortened(&visible(text).replace(['\n', '\t'], " "), columns).into_owned()
}

/// The heights of a sparkline.
const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The parts of a bar's last column.
const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/// Columns of the longest bar.
const BAR: usize = 40;

/// Columns beside a bar: indentation, share and gaps.
const BESIDE: usize = 10;

/// Columns of a line's label.
pub(super) const LABEL: usize = 15;

/// A sparkline with its name and a remark.
pub(super) struct Line {
    pub label: &'static str,
    pub note: String,
    /// One value for each column; `None` where there was no query.
    pub values: Vec<Option<f64>>,
}

impl Line {
    pub fn write(&self, out: &mut dyn Page) -> io::Result<()> {
        let label = format!("{:<LABEL$}", self.label);
        writeln!(out, "{}{}  {}", label.dimmed(), sparkline(&self.values).green(), self.note.dimmed())
    }
}

/// One sign for each value: the lowest for zero, higher ones by the share of the largest, a blank for none.
fn sparkline(values: &[Option<f64>]) -> String {
    let largest = values.iter().flatten().copied().filter(|value| value.is_finite()).fold(0.0, f64::max);
    let steps = (HEIGHTS.len() - 1) as f64;
    let sign = |value: &Option<f64>| match value {
        None => ' ',
        Some(value) if *value > 0.0 && largest > 0.0 => {
            HEIGHTS[((value / largest * steps).ceil() as usize).clamp(1, HEIGHTS.len() - 1)]
        }
        Some(_) => HEIGHTS[0],
    };
    values.iter().map(sign).collect()
}

/// A bar for a share of so many columns, precise to an eighth of a column.
fn bar(share: f64, columns: usize) -> String {
    let eighths = (share.clamp(0.0, 1.0) * columns as f64 * 8.0).round() as usize;
    // The smallest share still shows.
    let eighths = if share > 0.0 { eighths.max(1) } else { 0 };
    format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8])
}

/// Writes a row for each range, with the name that `name` gives it. A first range of zero alone has its own colour.
pub(super) fn histogram(
    out: &mut dyn Page,
    distribution: &Distribution,
    name: impl Fn(&Bucket) -> String,
) -> io::Result<()> {
    let most = distribution.histogram.iter().map(|bucket| bucket.count).max().unwrap_or_default().max(1);
    let counts: Vec<String> = distribution.histogram.iter().map(|bucket| count(bucket.count)).collect();
    let names: Vec<String> = distribution.histogram.iter().map(name).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or_default();
    let digits = counts.iter().map(String::len).max().unwrap_or_default();
    let columns = out.columns_after(BESIDE + width + digits, BAR).min(BAR);
    for ((bucket, number), name) in distribution.histogram.iter().zip(counts).zip(names) {
        let bar = format!("{:<columns$}", bar(bucket.count as f64 / most as f64, columns));
        let share = percent(bucket.count as f64 / distribution.count.max(1) as f64);
        let zero = bucket.from == 0.0 && bucket.below == Some(1.0);
        let bar = if zero { bar.yellow().to_string() } else { bar.green().to_string() };
        writeln!(out, "  {name:>width$} {bar} {number:>digits$} {}", format!("{share:>5}").dimmed())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn figures_read_well() {
        assert_eq!((plain(3.0), plain(3.26), plain(2000.01)), ("3".into(), "3.3".into(), "2,000".into()));
        assert_eq!([shortened("a\nb c", 9), shortened("where are retries handled", 10)], ["a b c", "where are…"]);
        assert_eq!(moment("2026-11-22T10:00:00.5Z", &TimeZone::UTC), "2026-11-22 10:00");
        assert_eq!(moment("soon", &TimeZone::UTC), "soon");
    }

    #[test]
    fn ranges_read_well() {
        let bucket = |from, below| Bucket { from, below, count: 0 };
        assert_eq!([whole_range(&bucket(0.0, Some(1.0))), whole_range(&bucket(3.0, Some(5.0)))], ["0", "3–4"]);
        assert_eq!(whole_range(&bucket(65.0, None)), "65+");
        assert_eq!([range(&bucket(0.02, Some(0.05))), range(&bucket(0.4, None))], ["0.02–0.05", "0.40+"]);
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

    #[test]
    fn sparklines_by_hand() {
        let values = [Some(0.0), Some(0.1), Some(4.0), Some(7.0), None];
        assert_eq!([sparkline(&values), sparkline(&[Some(0.0), Some(0.0)])], ["▁▂▅█ ", "▁▁"]);
        assert_eq!(sparkline(&[Some(f64::NAN), Some(1.0)]), "▁█");
    }

    #[test]
    fn bars_by_hand() {
        assert_eq!(bar(0.0, 40), "");
        assert_eq!(bar(1e-9, 40), "▏", "little is not nothing");
        assert_eq!(bar(0.5, 40), "█".repeat(20));
        assert_eq!(bar(1.0, 40).chars().count(), 40);
    }

    proptest! {
        #[test]
        fn a_sparkline_has_one_sign_a_value(values in proptest::collection::vec(proptest::option::of(any::<f64>()), 0..60)) {
            prop_assert_eq!(sparkline(&values).chars().count(), values.len());
        }
    }
}
