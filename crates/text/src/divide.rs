//! Divides long texts into pieces of about equal size, at the best places for a cut, and files of unknown structure at blank lines
//! and at the margin.

use std::ops::Range;

use crate::document::{OwnProperties, Passage};
use crate::lines::{Lines, clamp, number};
use crate::tokens::Meter;
use crate::{Kind, Role};

/// Whole lines, or a part of one line that is too long for a piece.
#[derive(Debug, Clone, PartialEq)]
pub struct Piece {
    pub first: usize,
    pub last: usize,
    /// The part of the line `first` (which is also `last`), in bytes of the whole text.
    pub part: Option<Range<usize>>,
}

impl Piece {
    pub fn text<'text>(&self, lines: &Lines<'text>) -> &'text str {
        match &self.part {
            Some(range) => &lines.text[range.clone()],
            None => lines.slice(self.first, self.last),
        }
    }

    /// A passage of these lines alone, without a symbol, heading or date.
    pub fn passage(&self, lines: &Lines<'_>, kind: Kind, role: Role) -> Passage {
        Passage {
            start_line: number(self.first),
            end_line: number(self.last),
            kind,
            symbol: None,
            heading: None,
            context: None,
            signature: None,
            text: self.text(lines).to_owned(),
            role,
            own: OwnProperties::default(),
        }
    }
}

/// The badness of a line inside of a record: a piece begins there only if the record is too large for one.
pub const INSIDE: u32 = u32::MAX;

/// Divides the lines `first..=last` into pieces that cost at most `max`.
///
/// `sums` holds the cost of all lines before each line. `badness` rates a line as the beginning of a piece. Among the
/// lines at which the piece would have at least half the target size, the one with the least badness is chosen, and of
/// equals the one closest to the target, so that pieces come out about equal. Takes time linear in the number of lines.
/// Drops blank lines at the ends of pieces.
pub fn pack(
    lines: &Lines<'_>,
    (first, last): (usize, usize),
    sums: &[u32],
    max: usize,
    badness: impl Fn(usize) -> u32,
) -> Vec<Piece> {
    let cost = |from: usize, before: usize| (sums[before] - sums[from]) as usize;
    let mut pieces = Vec::new();
    let mut push = |from: usize, before: usize| {
        if let Some((first, last)) = lines.trim(from, before - 1) {
            pieces.push(Piece { first, last, part: None });
        }
    };
    let mut start = first;
    let mut long_lines = Vec::new();
    while start <= last {
        let rest = cost(start, last + 1);
        if rest <= max {
            push(start, last + 1);
            break;
        }
        let target = rest / rest.div_ceil(max);
        let mut best: Option<(u32, usize, usize)> = None;
        let mut before_record = None;
        let mut row = start + 1;
        while row <= last && cost(start, row) <= max {
            let size = cost(start, row);
            if size * 2 >= target {
                let candidate = (badness(row), size.abs_diff(target), row);
                best = Some(best.map_or(candidate, |best| best.min(candidate)));
            } else if badness(row) != INSIDE {
                before_record = Some(row);
            }
            row += 1;
        }
        let cut = match best {
            Some((INSIDE, _, cut)) => before_record.unwrap_or(cut),
            Some((_, _, cut)) => cut,
            // A long line comes next, so the lines before it form a piece.
            None if row - start > 1 && cost(start, row) > max => row - 1,
            None if cost(start, start + 1) > max => {
                long_lines.push(start);
                start += 1;
                continue;
            }
            None => row,
        };
        push(start, cut);
        start = cut;
    }
    for row in long_lines {
        pieces.extend(line_pieces(lines, row, max));
    }
    // Long lines were set aside; pieces of one line stay in their order since the sort is stable.
    pieces.sort_by_key(|piece| piece.first);
    pieces
}

/// The pieces of a line that costs more than `max` tokens by itself.
pub fn line_pieces(lines: &Lines<'_>, row: usize, max: usize) -> impl Iterator<Item = Piece> {
    let offset = lines.start(row);
    split_line(lines.line(row), max).into_iter().map(move |part| Piece {
        first: row,
        last: row,
        part: Some(offset + part.start..offset + part.end),
    })
}

/// Parts of one line that are at most `max` tokens each, cut after a sentence, or else at white space, or else anywhere
/// between two characters. White space at the ends of parts is dropped.
fn split_line(line: &str, max: usize) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut start = 0;
    while start < line.len() {
        let mut meter = Meter::default();
        let (mut sentence, mut space) = (None, None);
        let mut end = line.len();
        let mut previous = ' ';
        for (offset, character) in line[start..].char_indices() {
            let here = start + offset;
            if meter.tokens() * 2 >= max {
                if ends_sentence(previous, character) {
                    sentence = Some(here);
                }
                if character.is_whitespace() {
                    space = Some(here);
                }
            }
            meter.push(character);
            if meter.tokens() > max && here > start {
                end = sentence.or(space).unwrap_or(here);
                break;
            }
            previous = character;
        }
        let part = &line[start..end];
        let lead = part.len() - part.trim_start().len();
        let kept = part.trim().len();
        if kept > 0 {
            parts.push(start + lead..start + lead + kept);
        }
        start = end;
    }
    parts
}

fn ends_sentence(previous: char, character: char) -> bool {
    matches!(previous, '。' | '！' | '？' | '．' | '；')
        || (character.is_whitespace() && matches!(previous, '.' | '!' | '?' | ';' | '…'))
}

// Divides files of unknown structure into windows of lines, cut at blank lines and at the margin.

/// Most lines of a window, not counting blank ones.
const WINDOW_LINES: usize = 40;

/// Windows of at most `max_tokens` and 40 lines over the whole text.
pub fn windows(lines: &Lines<'_>, max_tokens: usize) -> Vec<Piece> {
    divided(lines, max_tokens, |row| badness(lines, row))
}

/// Such windows over a table of comma-separated values or its like, without a cut inside of a quoted record.
pub fn record_windows(lines: &Lines<'_>, max_tokens: usize) -> Vec<Piece> {
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
        sum = sum.saturating_add(clamp(cost));
        sums.push(sum);
    }
    pack(lines, (0, last), &sums, max_tokens, badness)
}

/// The badness of a line as the beginning of a window: least after a blank line at the margin, most at a closing bracket.
pub fn badness(lines: &Lines<'_>, row: usize) -> u32 {
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

    fn texts(text: &str, max: usize, badness: impl Fn(usize) -> u32) -> Vec<String> {
        let lines = Lines::new(text);
        let Some(last) = lines.count().checked_sub(1) else {
            return Vec::new();
        };
        let pieces = pack(&lines, (0, last), lines.token_sums(), max, badness);
        pieces.iter().map(|piece| piece.text(&lines).to_owned()).collect()
    }

    #[test]
    fn pieces_are_about_equal() {
        assert_eq!(texts("a\nb\nc\nd\ne\nf\n", 5, |_| 0), ["a\nb\nc", "d\ne\nf"]);
    }

    #[test]
    fn the_least_bad_line_is_cut() {
        assert_eq!(texts("a\nb\nc\nd\ne\nf\n", 5, |row| u32::from(row != 4)), ["a\nb\nc\nd", "e\nf"]);
    }

    #[test]
    fn a_long_line_is_cut_after_a_sentence() {
        let parts = texts("short\none two three. four five six seven eight\nend", 5, |_| 0);
        assert_eq!(parts, ["short", "one two three.", "four five six seven eight", "end"]);
        assert_eq!(texts("検索は速い。結果は正しい。", 7, |_| 0), ["検索は速い。", "結果は正しい。"]);
    }

    #[test]
    fn windows_end_at_blank_lines_after_forty_lines_at_most_and_a_quoted_record_stays_whole() {
        let block = |name: &str| format!("def {name}\n{}end\n\n", "  work\n".repeat(17));
        let text = ["a", "b", "c"].map(block).concat();
        let lines = Lines::new(&text);
        let rows: Vec<_> = windows(&lines, 400).iter().map(|piece| (piece.first + 1, piece.last + 1)).collect();
        assert_eq!(rows, [(1, 19), (21, 59)]);
        let record = |name: &str| format!("{name},\"{}\",3\" pipe\n", "one \"\"two\"\"\n".repeat(6));
        let text = ["a", "b", "c", "d", "e", "f"].map(record).concat();
        for max_tokens in 60..120 {
            let lines = Lines::new(&text);
            let pieces = record_windows(&lines, max_tokens);
            assert!(pieces.len() > 1);
            assert!(pieces.iter().all(|piece| piece.first % 7 == 0 && piece.last % 7 == 6), "{max_tokens}: {pieces:?}");
        }
        assert!(record_windows(&Lines::new(&text), 10).len() > 6, "a record that is too large is divided");
        let text = "x\n".repeat(1_000);
        let lines = Lines::new(&text);
        let windows = windows(&lines, 400);
        assert_eq!(windows.len(), 25);
        assert!(windows.iter().all(|piece| piece.last - piece.first == 39));
    }
}
