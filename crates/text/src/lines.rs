//! A text as lines: the start, indentation and token count of each.

use crate::estimate_tokens;

/// The lines of a text, measured once.
pub struct Lines<'text> {
    pub text: &'text str,
    /// Byte offset of each line, and one more for the end of the text.
    starts: Vec<u32>,
    /// Columns of white space before the first character; `BLANK` for a blank line.
    indents: Vec<u16>,
    /// Estimated tokens of all lines before each line, and one more for the total.
    tokens: Vec<u32>,
}

const BLANK: u16 = u16::MAX;
const TAB_WIDTH: u16 = 4;

impl<'text> Lines<'text> {
    pub fn new(text: &'text str) -> Self {
        let guess = text.len() / 32 + 2;
        let mut lines = Self {
            text,
            starts: Vec::with_capacity(guess),
            indents: Vec::with_capacity(guess),
            tokens: Vec::with_capacity(guess),
        };
        let (mut start, mut total) = (0, 0_u32);
        lines.tokens.push(0);
        for line in text.split_inclusive('\n') {
            lines.starts.push(start);
            lines.indents.push(indent(line));
            total = total.saturating_add(clamp(estimate_tokens(line)));
            lines.tokens.push(total);
            start += clamp(line.len());
        }
        lines.starts.push(start);
        lines
    }

    pub fn count(&self) -> usize {
        self.indents.len()
    }

    /// The line without its line end.
    pub fn line(&self, row: usize) -> &'text str {
        let line = &self.text[self.start(row)..self.start(row + 1)];
        line.strip_suffix('\n').unwrap_or(line)
    }

    /// Byte offset of the first character of a line; of the end of the text for the line after the last.
    pub fn start(&self, row: usize) -> usize {
        self.starts[row] as usize
    }

    /// The text of the lines from `first` to `last` inclusive, without the last line end.
    pub fn slice(&self, first: usize, last: usize) -> &'text str {
        let text = &self.text[self.start(first)..self.start(last + 1)];
        text.strip_suffix('\n').unwrap_or(text)
    }

    pub fn is_blank(&self, row: usize) -> bool {
        self.indents[row] == BLANK
    }

    /// Columns before the first character; none for a blank line.
    pub fn indent(&self, row: usize) -> Option<usize> {
        Some(self.indents[row]).filter(|indent| *indent != BLANK).map(usize::from)
    }

    /// Estimated tokens of the lines from `first` to `last` inclusive.
    pub fn tokens(&self, first: usize, last: usize) -> usize {
        (self.tokens[last + 1] - self.tokens[first]) as usize
    }

    /// Tokens before each line and in all, for [`crate::divide`].
    pub fn token_sums(&self) -> &[u32] {
        &self.tokens
    }

    /// The line that a byte offset is in.
    pub fn row_at(&self, offset: usize) -> usize {
        let after = self.starts.partition_point(|start| *start as usize <= offset);
        after.saturating_sub(1).min(self.count().saturating_sub(1))
    }

    /// `first..=last` without blank lines at its ends; `None` if all are blank.
    pub fn trim(&self, mut first: usize, mut last: usize) -> Option<(usize, usize)> {
        while first <= last && self.is_blank(first) {
            first += 1;
        }
        if first > last {
            return None;
        }
        while self.is_blank(last) {
            last -= 1;
        }
        Some((first, last))
    }
}

/// A row counted from 1.
pub fn number(row: usize) -> u32 {
    clamp(row + 1)
}

/// The words of a text on one line.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns `true` if a list of words with spaces between them has this one.
pub fn has_word(list: &str, word: &str) -> bool {
    list.split(' ').any(|one| one == word)
}

/// Returns `true` if a text begins with one of the words of a list.
pub fn has_start(text: &str, starts: &str) -> bool {
    starts.split(' ').any(|start| text.starts_with(start))
}

/// Returns `true` if a text ends with one of the words of a list.
pub fn has_end(text: &str, ends: &str) -> bool {
    ends.split(' ').any(|end| text.ends_with(end))
}

/// A text that is not empty.
pub fn non_empty(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}

/// Returns `true` if a text begins with these ASCII letters in any case.
pub fn begins_with(text: &str, word: &str) -> bool {
    text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
}

/// Returns `true` if some bytes contain these.
pub fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

/// At most so many characters of a text, with a mark where more follow.
pub fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Replaces every byte by a space, except line ends.
pub fn blank(bytes: &mut [u8]) {
    bytes.iter_mut().filter(|byte| !matches!(byte, b'\r' | b'\n')).for_each(|byte| *byte = b' ');
}

/// The byte that two hexadecimal digits at the beginning of a text stand for.
pub fn hexadecimal(text: &[u8]) -> Option<u8> {
    let digit = |at: usize| char::from(*text.get(at)?).to_digit(16);
    u8::try_from(digit(0)? * 16 + digit(1)?).ok()
}

/// A text with the bytes that stand in it as a mark and two hexadecimal digits, such as `%20`.
pub fn unescaped(text: &[u8], mark: u8) -> Vec<u8> {
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((byte, after)) = rest.split_first() {
        let code = hexadecimal(after).filter(|_| *byte == mark);
        plain.push(code.unwrap_or(*byte));
        rest = if code.is_some() { &after[2..] } else { after };
    }
    plain
}

/// The last part of a path.
pub fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// What follows the last dot of a path, in lower case.
pub fn extension(path: &str) -> String {
    path.rsplit_once('.').map_or("", |(_, extension)| extension).to_ascii_lowercase()
}

/// Saturates: no text longer than 4 GiB is read.
pub fn clamp(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

fn indent(line: &str) -> u16 {
    let mut columns = 0_u16;
    for byte in line.bytes() {
        match byte {
            b' ' => columns = columns.saturating_add(1),
            b'\t' => columns = columns.saturating_add(TAB_WIDTH),
            b'\n' | b'\r' | 0x0b | 0x0c => {}
            0x80.. if line.trim().is_empty() => return BLANK,
            _ => return columns.min(BLANK - 1),
        }
    }
    BLANK
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_lines_of_which_an_empty_text_has_none() {
        let lines = Lines::new("a\n\n\tb c\n  \nlast");
        assert_eq!(lines.count(), 5);
        assert_eq!((0..5).map(|row| lines.indent(row)).collect::<Vec<_>>(), [Some(0), None, Some(4), None, Some(0)]);
        assert_eq!(lines.slice(0, 2), "a\n\n\tb c");
        assert_eq!(lines.line(4), "last");
        assert_eq!(lines.tokens(0, 4), 4);
        assert_eq!([lines.trim(1, 3), lines.trim(3, 3)], [Some((2, 2)), None]);
        assert_eq!([0, 1, 2, 3, 99].map(|offset| lines.row_at(offset)), [0, 0, 1, 2, 4]);
        assert_eq!([Lines::new("").count(), Lines::new("\n").count()], [0, 1]);
        assert!(Lines::new("\u{a0}\n").is_blank(0));
    }
}
