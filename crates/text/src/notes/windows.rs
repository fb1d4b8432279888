//! Windows of whole lines that overlap.

use crate::lines::Lines;
use crate::pack::{Piece, line_pieces};

/// Divides the lines `first..=last` into pieces of at most `max` tokens, each of which begins with the last lines of the
/// one before: whole lines of about `overlap` tokens together, at most half more.
///
/// Pieces share nothing across a line that is too long for one piece (it is divided by itself), nor if the last line
/// alone is longer than the overlap. Among the lines at which a piece would have at least half the target size, it ends
/// before the one with the least badness. Every line that is not blank is in a piece. Takes time linear in the number
/// of lines.
pub(super) fn windows(
    lines: &Lines<'_>,
    (first, last): (usize, usize),
    max: usize,
    overlap: usize,
    badness: impl Fn(usize) -> u32,
) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut start = first;
    while start <= last {
        let end = (start..=last).find(|row| lines.tokens(*row, *row) > max).unwrap_or(last + 1);
        if start < end {
            run(lines, (start, end - 1), max, overlap, &badness, &mut pieces);
        }
        if end <= last {
            pieces.extend(line_pieces(lines, end, max));
        }
        start = end + 1;
    }
    pieces
}

/// Divides lines that each fit into a window.
fn run(
    lines: &Lines<'_>,
    (first, last): (usize, usize),
    max: usize,
    overlap: usize,
    badness: &impl Fn(usize) -> u32,
    pieces: &mut Vec<Piece>,
) {
    let cost = |from: usize, before: usize| if from < before { lines.tokens(from, before - 1) } else { 0 };
    // The rows before `fresh` are in a piece already.
    let (mut start, mut fresh) = (first, first);
    while let Some((next, _)) = lines.trim(fresh, last) {
        fresh = next;
        let rest = cost(start, last + 1);
        let cut = if rest <= max {
            last + 1
        } else {
            let count = rest.saturating_sub(overlap).div_ceil(max.saturating_sub(overlap).max(1)).max(1);
            let target = (rest + overlap * (count - 1)) / count;
            let fits = (fresh + 1..=last).take_while(|row| cost(start, *row) <= max);
            let mut best: Option<(u32, usize, usize)> = None;
            let mut furthest = fresh + 1;
            for row in fits {
                furthest = row;
                let size = cost(start, row);
                if size * 2 >= target {
                    let candidate = (badness(row), size.abs_diff(target), row);
                    best = Some(best.map_or(candidate, |best| best.min(candidate)));
                }
            }
            best.map_or(furthest, |(_, _, row)| row)
        };
        if let Some((first, last)) = lines.trim(start, cut - 1) {
            pieces.push(Piece { first, last, part: None });
        }
        if cut > last {
            return;
        }
        let Some((next, _)) = lines.trim(cut, last) else {
            return;
        };
        fresh = next;
        let mut shared = 0;
        let mut from = cut;
        while from > start + 1 && shared < overlap {
            shared += lines.tokens(from - 1, from - 1);
            if shared * 2 > overlap * 3 {
                break;
            }
            from -= 1;
        }
        while cost(from, fresh + 1) > max {
            from += 1;
        }
        start = from;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str, max: usize, overlap: usize) -> Vec<(usize, usize)> {
        let lines = Lines::new(text);
        let last = lines.count().saturating_sub(1);
        windows(&lines, (0, last), max, overlap, |_| 0).iter().map(|piece| (piece.first, piece.last)).collect()
    }

    #[test]
    fn neighbours_share_whole_lines() {
        let text = "one two\n".repeat(10);
        assert_eq!(rows(&text, 8, 2), [(0, 3), (3, 6), (6, 9)]);
        assert_eq!(rows(&text, 20, 4), [(0, 9)]);
        assert_eq!(rows(&text, 8, 0), [(0, 2), (3, 5), (6, 9)]);
    }

    #[test]
    fn a_long_line_is_divided_by_itself() {
        let text = format!("a\nb\n{}\nc\n", "word ".repeat(20));
        let rows = rows(&text, 8, 2);
        assert_eq!((rows.first(), rows.last()), (Some(&(0, 1)), Some(&(3, 3))));
        assert_eq!(rows.iter().filter(|row| **row == (2, 2)).count(), 3);
    }

    #[test]
    fn nothing_is_shared_where_the_last_line_is_too_long_for_it() {
        let text = "one two three four five six\n".repeat(3);
        assert_eq!(rows(&text, 8, 2), [(0, 0), (1, 1), (2, 2)]);
    }
}
