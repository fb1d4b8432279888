//! Divides files of unknown structure into windows of lines, cut at blank lines and at the margin.

use crate::lines::Lines;
use crate::pack::{INSIDE, Piece, pack};

/// Most lines of a window, not counting blank ones.
const WINDOW_LINES: usize = 40;

/// Windows of at most `max_tokens` and 40 lines over the whole text.
pub(crate) fn windows(lines: &Lines<'_>, max_tokens: usize) -> Vec<Piece> {
    divided(lines, max_tokens, |row| badness(lines, row))
}

/// Such windows over a table of comma-separated values or its like, without a cut inside of a quoted record.
pub(crate) fn record_windows(lines: &Lines<'_>, max_tokens: usize) -> Vec<Piece> {
    let mut quoted = false;
    let mut begins = Vec::with_capacity(lines.count());
    for row in 0..lines.count() {
        begins.push(if quoted { INSIDE } else { 0 });
        let mut before = ',';
        for character in lines.line(row).chars() {
            // A quote inside of a field without quotes is text. Within quotes, two stand for one: the second opens again.
            if character == '"' && (quoted || matches!(before, ',' | ';' | '\t' | '|' | '"')) {
                quoted = !quoted;
            }
            before = character;
        }
    }
    divided(lines, max_tokens, |row| begins[row])
}

fn divided(lines: &Lines<'_>, max_tokens: usize, badness: impl Fn(usize) -> u32) -> Vec<Piece> {
    let Some(last) = lines.count().checked_sub(1) else {
        return Vec::new();
    };
    let least = max_tokens.div_ceil(WINDOW_LINES);
    let mut sum = 0_u32;
    let mut sums = Vec::with_capacity(lines.count() + 1);
    sums.push(0);
    for row in 0..=last {
        let cost = if lines.is_blank(row) { 0 } else { lines.tokens(row, row).max(least) };
        sum = sum.saturating_add(u32::try_from(cost).unwrap_or(u32::MAX));
        sums.push(sum);
    }
    pack(lines, (0, last), &sums, max_tokens, badness)
}

/// The badness of a line as the beginning of a window: least after a blank line at the margin, most at a closing bracket.
pub(crate) fn badness(lines: &Lines<'_>, row: usize) -> u32 {
    let Some(indent) = lines.indent(row) else {
        return 30;
    };
    let line = lines.line(row).trim_start();
    let closing = line.starts_with(['}', ')', ']']) || line.starts_with("end") || line.starts_with("</");
    let depth = u32::try_from(indent.min(16) / 2).unwrap_or(8);
    let after_blank = row > 0 && lines.is_blank(row - 1);
    depth + if after_blank { 0 } else { 6 } + if closing { 10 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_end_at_blank_lines() {
        let block = |name: &str| format!("def {name}\n{}end\n\n", "  work\n".repeat(17));
        let text = ["a", "b", "c"].map(block).concat();
        let lines = Lines::new(&text);
        let rows: Vec<_> = windows(&lines, 400).iter().map(|piece| (piece.first + 1, piece.last + 1)).collect();
        assert_eq!(rows, [(1, 19), (21, 59)]);
    }

    #[test]
    fn a_quoted_record_stays_whole() {
        let record = |name: &str| format!("{name},\"{}\",3\" pipe\n", "one \"\"two\"\"\n".repeat(6));
        let text = ["a", "b", "c", "d", "e", "f"].map(record).concat();
        for max_tokens in 60..120 {
            let lines = Lines::new(&text);
            let pieces = record_windows(&lines, max_tokens);
            assert!(pieces.len() > 1);
            assert!(pieces.iter().all(|piece| piece.first % 7 == 0 && piece.last % 7 == 6), "{max_tokens}: {pieces:?}");
        }
        let lines = Lines::new(&text);
        assert!(record_windows(&lines, 10).len() > 6, "a record that is too large is divided");
    }

    #[test]
    fn windows_are_at_most_forty_lines() {
        let text = "x\n".repeat(1_000);
        let lines = Lines::new(&text);
        let windows = windows(&lines, 400);
        assert_eq!(windows.len(), 25);
        assert!(windows.iter().all(|piece| piece.last - piece.first == 39));
    }
}
