//! Joins pieces of text by their places into words, lines and paragraphs.

use unicode_normalization::UnicodeNormalization;

/// A change of coordinates: `x' = a·x + c·y + e`, `y' = b·x + d·y + f`.
#[derive(Clone, Copy, PartialEq)]
pub struct Matrix {
    a: f64,
    b: f64,
    c: f64,
    d: f64,
    e: f64,
    f: f64,
}

impl Matrix {
    pub const IDENTITY: Self = Self { a: 1.0, b: 0.0, c: 0.0, d: 1.0, e: 0.0, f: 0.0 };

    /// A matrix of six numbers; the identity for another count.
    pub fn new(numbers: &[f64]) -> Self {
        match *numbers {
            [a, b, c, d, e, f] => Self { a, b, c, d, e, f },
            _ => Self::IDENTITY,
        }
    }

    pub fn translation(x: f64, y: f64) -> Self {
        Self { e: x, f: y, ..Self::IDENTITY }
    }

    /// First `self`, then `next`.
    pub fn times(self, next: Self) -> Self {
        Self {
            a: self.a * next.a + self.b * next.c,
            b: self.a * next.b + self.b * next.d,
            c: self.c * next.a + self.d * next.c,
            d: self.c * next.b + self.d * next.d,
            e: self.e * next.a + self.f * next.c + next.e,
            f: self.e * next.b + self.f * next.d + next.f,
        }
    }

    /// Returns `true` if text at both places stands on one line.
    pub fn is_level_with(self, other: Self) -> bool {
        let (x, y) = self.direction();
        let height = |at: Self| at.f * x - at.e * y;
        self.direction() == other.direction() && (height(self) - height(other)).abs() < 1e-3
    }

    /// The length of a unit upwards.
    fn height(self) -> f64 {
        self.c.hypot(self.d)
    }

    /// The direction in which text runs, of length one.
    fn direction(self) -> (f64, f64) {
        let length = self.a.hypot(self.b);
        if length > 1e-9 { (self.a / length, self.b / length) } else { (1.0, 0.0) }
    }
}

/// Parts of the size of a font: the distance between two words, in Chinese and Japanese between two parts of a line, between two lines,
/// and between two paragraphs.
const WORD: f64 = 0.1;
const DENSE: f64 = 0.5;
const LINE: f64 = 0.45;
const PARAGRAPH: f64 = 1.75;

/// Most bytes of text of a page, and as how many each piece counts at least.
pub const MAX_TEXT: usize = 4 << 20;
const LEAST_PIECE: usize = 4;

/// A step back that begins another word. Accents and kerning step back less.
const BACK: f64 = 1.0;

/// Most pieces of a line that a piece is compared with.
const COMPARED: usize = 200;

/// Pieces that lie over each other as far as this are one piece that is shown in bold.
const BOLD: f64 = 0.1;

/// The text of a page as it is shown.
#[derive(Default)]
pub struct Layout {
    text: String,
    /// The pieces of the line at hand.
    line: Vec<Piece>,
    /// Bytes of text that were added, as far as they count.
    pub length: usize,
    last: Option<Last>,
}

/// A piece of a line: where it begins and ends on the line, and its text.
struct Piece {
    start: f64,
    end: f64,
    size: f64,
    text: String,
}

/// The place of the piece before.
#[derive(Clone, Copy)]
struct Last {
    direction: (f64, f64),
    /// How far above the first line it stands.
    height: f64,
    start: f64,
    end: f64,
    size: f64,
}

impl Layout {
    /// Adds a piece of text that reaches from one place to another.
    pub fn add(&mut self, text: &str, start: Matrix, end: Matrix, size: f64) {
        let size = (size * start.height()).abs();
        // A piece of one letter takes as much memory as one of several words.
        self.length += if text.is_empty() { 0 } else { text.len().max(LEAST_PIECE) };
        if text.is_empty() || self.length > MAX_TEXT {
            return;
        }
        let (x, y) = start.direction();
        let along = |at: Matrix| at.e * x + at.f * y;
        let place =
            Last { direction: (x, y), height: start.f * x - start.e * y, start: along(start), end: along(end), size };
        // Programs leave spaces of no width.
        if place.end == place.start && text.trim().is_empty() {
            return;
        }
        if let Some(last) = self.last {
            // A larger letter at the start of a paragraph counts as much as the small ones after it.
            let unit = size.min(last.size).max(1e-3);
            let down = last.height - place.height;
            // Raised and lowered letters are smaller, but not by half.
            let (small, large) = (size.min(last.size), size.max(last.size));
            let line = if 2.0 * small > large { large } else { unit };
            let turned = x * last.direction.0 + y * last.direction.1 < 0.99;
            let again = |piece: &Piece| {
                let shift = (place.start - piece.start).abs();
                shift < BOLD * unit && 2.0 * shift < piece.end - piece.start && piece.text == text
            };
            if !turned && down.abs() < BOLD * unit && self.line.iter().rev().take(COMPARED).any(again) {
                return;
            }
            if turned || down.abs() > LINE * line || place.start - last.end < -20.0 * unit {
                self.end_line();
                if turned || down > PARAGRAPH * unit.max(last.size) || down < -PARAGRAPH * unit {
                    self.gap();
                }
            }
        }
        self.line.push(Piece { start: place.start, end: place.end, size, text: text.to_owned() });
        self.last = Some(place);
    }

    /// Counts the place up to `end` as taken by the piece before, such as that of a sign that stands for nothing.
    pub fn reach(&mut self, end: Matrix) {
        if let (Some(last), Some(piece)) = (&mut self.last, self.line.last_mut()) {
            let (x, y) = last.direction;
            last.end = end.e * x + end.f * y;
            piece.end = last.end;
        }
    }

    fn push(&mut self, character: char) {
        match character {
            // Letters joined in print.
            'ﬀ'..='ﬆ' => self.text.extend(character.nfkc()),
            // A hyphen that only shows at the end of a line is handled there.
            '\u{ad}' => self.text.push('-'),
            '\u{a0}' => self.text.push(' '),
            '\u{fffd}' | '\u{feff}' => {}
            character if character.is_control() => {}
            character => self.text.push(character),
        }
    }

    pub fn end_line(&mut self) {
        let mut pieces = std::mem::take(&mut self.line);
        let turned = pieces.iter().any(|piece| piece.text.contains(is_rightward));
        if turned {
            pieces.sort_by(|one, other| one.start.total_cmp(&other.start));
        }
        let mut line = String::new();
        let mut last: Option<&Piece> = None;
        for piece in &pieces {
            let apart = last.is_some_and(|last| {
                let (distance, unit) = (piece.start - last.end, piece.size.min(last.size).max(1e-3));
                let dense = last.text.ends_with(is_dense) && piece.text.starts_with(is_dense);
                distance > if dense { DENSE } else { WORD } * unit || distance < -BACK * unit
            });
            if apart && !line.ends_with(' ') && !piece.text.starts_with(' ') {
                line.push(' ');
            }
            line.push_str(&piece.text);
            last = Some(piece);
        }
        let line = if turned { logical(&line) } else { line };
        for character in line.chars() {
            self.push(character);
        }
        let kept = self.text.trim_end_matches(' ').len();
        self.text.truncate(kept);
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
    }

    fn gap(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    /// The text, with words joined that a line end divides.
    pub fn finish(mut self) -> String {
        self.end_line();
        joined(self.text.trim_matches('\n'))
    }
}

/// Returns `true` for Chinese and Japanese characters, which no space divides into words.
fn is_dense(character: char) -> bool {
    matches!(u32::from(character), 0x2e80..=0x9fff | 0xf900..=0xfaff | 0xff00..=0xffef | 0x2_0000..=0x3_ffff)
}

/// `infor-` and `mation` on two lines become `information` on the first.
fn joined(text: &str) -> String {
    let mut joined = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("-\n") {
        let (before, after) = (&rest[..at], &rest[at + 2..]);
        let divided = before.ends_with(char::is_lowercase) && after.starts_with(char::is_lowercase);
        if !divided {
            joined.push_str(&rest[..at + 2]);
            rest = after;
            continue;
        }
        let end = after.find([' ', '\n']).unwrap_or(after.len());
        joined.push_str(before);
        joined.push_str(&after[..end]);
        joined.push('\n');
        rest = after[end..].trim_start_matches(' ');
        rest = rest.strip_prefix('\n').unwrap_or(rest);
    }
    joined.push_str(rest);
    joined
}

// Text from right to left. Pages show it from left to right, so each line is turned around, but for the parts in other scripts.

/// Returns `true` for a letter or a mark of Hebrew, Arabic and other scripts written from right to left.
pub fn is_rightward(character: char) -> bool {
    matches!(u32::from(character), 0x590..=0x8ff | 0xfb1d..=0xfdff | 0xfe70..=0xfefc | 0x1_0800..=0x1_0fff | 0x1_e800..=0x1_efff)
}

/// A line as people write it, from one as it is shown.
pub fn logical(shown: &str) -> String {
    let characters: Vec<char> = shown.chars().collect();
    let rightward = characters.iter().filter(|one| is_rightward(**one)).count();
    let leftward = characters.iter().filter(|one| is_leftward(**one)).count();
    let turned = if rightward >= leftward {
        turn(&characters)
    } else {
        let mut turned = Vec::with_capacity(characters.len());
        let mut rest = &characters[..];
        while let Some(start) = rest.iter().position(|one| is_rightward(*one)) {
            let stop = rest[start..].iter().position(|one| is_leftward(*one)).map_or(rest.len(), |stop| start + stop);
            let end = rest[..stop].iter().rposition(|one| is_rightward(*one)).map_or(stop, |last| last + 1);
            turned.extend_from_slice(&rest[..start]);
            turned.extend(turn(&rest[start..end]));
            rest = &rest[end..];
        }
        turned.extend_from_slice(rest);
        turned
    };
    // The forms that letters take in a word are letters, in this order.
    turned
        .into_iter()
        .map(String::from)
        .map(|one| if one.contains(is_form) { one.nfkc().collect() } else { one })
        .collect()
}

/// Turns a part around, but not the words and numbers in it that run from left to right.
fn turn(shown: &[char]) -> Vec<char> {
    let mut turned = Vec::with_capacity(shown.len());
    let mut end = shown.len();
    while end > 0 {
        let last = shown[end - 1];
        if is_leftward(last) || last.is_ascii_digit() {
            let within = |one: &char| !is_rightward(*one);
            let start = end - shown[..end].iter().rev().take_while(|one| within(one)).count();
            let part = &shown[start..end];
            // Numbers are turned one by one, and words together.
            let part = if part.iter().any(|one| is_leftward(*one)) {
                part
            } else {
                &part[part.iter().rposition(|one| one.is_whitespace()).map_or(0, |space| space + 1)..]
            };
            let first = part.iter().position(|one| is_leftward(*one) || one.is_ascii_digit()).unwrap_or(0);
            turned.extend_from_slice(&part[first..]);
            end -= part.len() - first;
            continue;
        }
        // Marks stay behind their letter.
        let marks = shown[..end].iter().rev().take_while(|one| is_mark(**one)).count();
        let start = end.saturating_sub(marks + 1);
        turned.push(mirrored(shown[start]));
        turned.extend_from_slice(&shown[start + 1..end]);
        end = start;
    }
    turned
}

fn is_leftward(character: char) -> bool {
    character.is_alphabetic() && !is_rightward(character)
}

/// Vowels and other points of Hebrew and Arabic.
fn is_mark(character: char) -> bool {
    matches!(u32::from(character), 0x591..=0x5bd | 0x5bf..=0x5c7 | 0x610..=0x61a | 0x64b..=0x65f | 0x670 | 0x6d6..=0x6ed)
}

fn is_form(character: char) -> bool {
    matches!(u32::from(character), 0xfb1d..=0xfdff | 0xfe70..=0xfefc)
}

fn mirrored(character: char) -> char {
    match character {
        '(' => ')',
        ')' => '(',
        '[' => ']',
        ']' => '[',
        '{' => '}',
        '}' => '{',
        '<' => '>',
        '>' => '<',
        '«' => '»',
        '»' => '«',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(pieces: &[(&str, f64, f64, f64)]) -> String {
        let mut layout = Layout::default();
        for (text, x, y, width) in pieces {
            layout.add(text, Matrix::translation(*x, *y), Matrix::translation(x + width, *y), 10.0);
        }
        layout.finish()
    }

    #[test]
    fn places_make_words_lines_and_paragraphs() {
        let pieces =
            [("Ope", 0.0, 100.0, 15.0), ("n", 15.2, 100.0, 5.0), ("it", 23.0, 100.0, 8.0), ("now", 0.0, 88.0, 15.0)];
        assert_eq!(layout(&pieces), "Open it\nnow");
        assert_eq!(layout(&[("A", 0.0, 100.0, 5.0), ("B", 0.0, 70.0, 5.0)]), "A\n\nB");
        assert_eq!(layout(&[("ﬁle", 0.0, 100.0, 15.0), ("2", 15.5, 102.0, 3.0)]), "file2", "a raised note");
        let kanji = [("日", 0.0, 100.0, 10.0), ("本", 12.0, 100.0, 10.0), ("語", 32.0, 100.0, 10.0)];
        assert_eq!(layout(&kanji), "日本 語");
    }

    #[test]
    fn small_letters_above_a_line_and_spaces_of_no_width_divide_nothing() {
        let mut layout = Layout::default();
        for (text, x, y, width, size) in [
            ("a", 0.0, 100.0, 5.0, 10.0),
            ("2", 5.0, 104.0, 3.5, 7.0),
            (" ", 8.5, 100.0, 0.0, 10.0),
            ("b", 8.5, 100.0, 5.0, 10.0),
        ] {
            layout.add(text, Matrix::translation(x, y), Matrix::translation(x + width, y), size);
        }
        assert_eq!(layout.finish(), "a2b");
        assert_eq!(joined("infor-\nmation here\nend"), "information\nhere\nend");
        assert_eq!(joined("Self-\nMade\n10-\n20"), "Self-\nMade\n10-\n20");
    }

    #[test]
    fn divided_words_are_joined() {
        assert_eq!(joined("a-\nb"), "ab\n");
    }
}
