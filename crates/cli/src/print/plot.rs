//! The curve of a pool's scores with the cut, drawn as text.

use crate::layout::Page;
use owo_colors::OwoColorize;
use std::io;

/// The widest drawing, in columns.
const WIDTH: usize = 60;

/// Columns of the scale left of the drawing, and of the cut's line in it.
const SCALE: usize = 11;

/// Rows of the drawing.
const HEIGHT: usize = 12;

/// Parts of a column, in eighths of a row.
const EIGHTHS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The scores to draw, and where they are cut.
#[derive(Clone, Debug)]
pub struct Curve<'a> {
    /// Scores, best first.
    pub scores: &'a [f64],
    /// The number of scores kept.
    pub keep: usize,
    /// The score that the kept ones reach, if the method has one on this scale.
    pub threshold: Option<f64>,
}

/// A column of the drawing: one score or several neighbours, all on one side of the cut.
struct Column {
    score: f64,
    kept: bool,
}

/// Draws a column for each candidate or group of neighbours, the kept ones left of the cut. An empty pool draws nothing.
///
/// # Errors
/// `out` cannot be written.
pub fn plot(out: &mut dyn Page, curve: &Curve<'_>) -> io::Result<()> {
    let finite = || curve.scores.iter().copied().filter(|score| score.is_finite());
    let (Some(low), Some(high)) = (finite().reduce(f64::min), finite().reduce(f64::max)) else { return Ok(()) };
    let keep = curve.keep.min(curve.scores.len());
    let width = out.columns_after(SCALE, WIDTH).min(WIDTH);
    let columns = columns(curve.scores, keep, width);
    // A few candidates get wider columns.
    let wide = (width / columns.len()).clamp(1, 3);
    let height = |score: f64| {
        let share = if high > low { (score - low) / (high - low) } else { 1.0 };
        ((share * (HEIGHT * 8) as f64).round() as usize).clamp(1, HEIGHT * 8)
    };
    let level = curve.threshold.filter(|threshold| (low..=high).contains(threshold)).map(|t| (height(t) - 1) / 8);
    let cut_at = columns.iter().position(|column| !column.kept).unwrap_or(columns.len());
    for row in (0..HEIGHT).rev() {
        let label = match row {
            row if row == HEIGHT - 1 => format!("{high:.3}"),
            0 => format!("{low:.3}"),
            row if Some(row) == level => format!("{:.3}", curve.threshold.unwrap_or_default()),
            _ => String::new(),
        };
        write!(out, "{:>8} {}", label.dimmed(), "┤".dimmed())?;
        let empty = if level == Some(row) { '┄' } else { ' ' };
        let mark = |column: &Column| match height(column.score).saturating_sub(row * 8).min(8) {
            0 => empty,
            eighths => EIGHTHS[eighths],
        };
        // A row ends with its last mark, but not before the cut.
        let end = columns.iter().rposition(|column| mark(column) != ' ').map_or(0, |last| last + 1).max(cut_at);
        for (index, column) in columns[..end].iter().enumerate() {
            if index == cut_at {
                write!(out, "{}", "┃".yellow())?;
            }
            let mark = mark(column);
            let text = mark.to_string().repeat(wide);
            match mark {
                '┄' => write!(out, "{}", text.yellow().dimmed())?,
                _ if column.kept => write!(out, "{}", text.green())?,
                _ => write!(out, "{}", text.dimmed())?,
            }
        }
        if end == cut_at {
            write!(out, "{}", "┃".yellow())?;
        }
        writeln!(out)?;
    }
    let before = cut_at * wide;
    let words = format!("cut: {keep} kept, {} left out", curve.scores.len() - keep);
    // The words go to the right of the mark, or to the left if the right has no room.
    let under = match before.checked_sub(words.chars().count() + 1) {
        Some(room) if before > width / 2 => format!("{}{words} ┃", " ".repeat(room)),
        _ => format!("{}┃ {words}", " ".repeat(before)),
    };
    writeln!(out, "{:>8}  {}", "", under.yellow())
}

/// Groups neighbours so that the columns fit, never across the cut. Each side has at least one column.
fn columns(scores: &[f64], keep: usize, width: usize) -> Vec<Column> {
    let per_column = scores.len().div_ceil(width);
    let (kept, rest) = scores.split_at(keep);
    let side = |scores: &[f64], kept: bool| {
        let best = |group: &[f64]| group.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        scores.chunks(per_column.max(1)).map(|group| Column { score: best(group), kept }).collect::<Vec<_>>()
    };
    let mut columns = side(kept, true);
    columns.extend(side(rest, false));
    columns
}

#[cfg(test)]
mod tests {
    use super::super::{plain, plain_in};
    use super::*;
    use proptest::prelude::*;

    fn drawn(scores: &[f64], keep: usize, threshold: Option<f64>) -> String {
        plain(|out| plot(out, &Curve { scores, keep, threshold }))
    }

    #[test]
    fn the_cut_stands_between_what_is_kept_and_what_is_not() {
        insta::assert_snapshot!(drawn(&[1.0, 0.9, 0.85, 0.4, 0.3, 0.2, 0.0], 3, Some(0.6)), @r"
           1.000 ┤███      ┃
                 ┤███▆▆▆▂▂▂┃
                 ┤█████████┃
                 ┤█████████┃
           0.600 ┤█████████┃┄┄┄┄┄┄┄┄┄┄┄┄
                 ┤█████████┃
                 ┤█████████┃
                 ┤█████████┃▆▆▆
                 ┤█████████┃███▅▅▅
                 ┤█████████┃██████▃▃▃
                 ┤█████████┃█████████
           0.000 ┤█████████┃█████████▁▁▁
                           ┃ cut: 3 kept, 4 left out
        ");
    }

    #[test]
    fn many_candidates_share_columns_and_the_cut_stays_where_it_is() {
        let scores: Vec<f64> = (0..500).map(|rank| 1.0 / (1.0 + f64::from(rank))).collect();
        let text = drawn(&scores, 1, None);
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH + 14), "{text}");
        assert!(text.ends_with("┃ cut: 1 kept, 499 left out\n"), "{text}");
    }

    #[test]
    fn everything_nothing_and_equal_scores_are_drawn() {
        assert_eq!(drawn(&[], 0, None), "");
        assert!(drawn(&[0.5, 0.5], 2, Some(0.5)).contains("2 kept, 0 left out"));
        assert!(drawn(&[0.5, 0.4], 0, None).contains("0 kept, 2 left out"));
        assert_eq!(drawn(&[f64::NAN], 0, None), "");
    }

    #[test]
    fn a_narrow_terminal_gets_a_narrow_drawing() {
        let scores: Vec<f64> = (0..150).map(|rank| 1.0 / (1.0 + f64::from(rank))).collect();
        for keep in [0, 4, 75, 150] {
            let text = plain_in(40, |out| plot(out, &Curve { scores: &scores, keep, threshold: None }));
            assert!(text.lines().all(|line| line.chars().count() <= 40), "{text}");
            // The line about the cut may wrap.
            assert!((HEIGHT + 1..=HEIGHT + 2).contains(&text.lines().count()), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_pool_can_be_drawn(
            mut scores in proptest::collection::vec(-1e300f64..1e300, 0..300),
            keep in 0usize..400,
            threshold in proptest::option::of(any::<f64>()),
        ) {
            scores.sort_by(|a, b| b.total_cmp(a));
            let text = drawn(&scores, keep, threshold);
            prop_assert_eq!(text.lines().count(), if scores.is_empty() { 0 } else { HEIGHT + 1 });
        }
    }
}
