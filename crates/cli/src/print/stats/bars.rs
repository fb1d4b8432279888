//! Sparklines and bars.

use super::figures::percent;
use crate::page::Page;
use crate::print::text::count;
use owo_colors::OwoColorize;
use std::io;
use tamis::telemetry::{Bucket, Distribution};

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
pub(super) fn sparkline(values: &[Option<f64>]) -> String {
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
    fn sparklines_by_hand() {
        let values = [Some(0.0), Some(0.1), Some(4.0), Some(7.0), None];
        assert_eq!(sparkline(&values), "▁▂▅█ ");
        assert_eq!(sparkline(&[Some(0.0), Some(0.0)]), "▁▁");
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
