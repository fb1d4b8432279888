//! Joins pieces of text by their places into words, lines and paragraphs.

/// A change of coordinates: `x' = a·x + c·y + e`, `y' = b·x + d·y + f`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Matrix {
    a: f64,
    b: f64,
    c: f64,
    d: f64,
    e: f64,
    f: f64,
}

impl Matrix {
    pub(super) const IDENTITY: Self = Self { a: 1.0, b: 0.0, c: 0.0, d: 1.0, e: 0.0, f: 0.0 };

    /// A matrix of six numbers; the identity for another count.
    pub(super) fn of(numbers: &[f64]) -> Self {
        match *numbers {
            [a, b, c, d, e, f] => Self { a, b, c, d, e, f },
            _ => Self::IDENTITY,
        }
    }

    pub(super) fn translation(x: f64, y: f64) -> Self {
        Self { e: x, f: y, ..Self::IDENTITY }
    }

    /// First `self`, then `next`.
    pub(super) fn times(self, next: Self) -> Self {
        Self {
            a: self.a * next.a + self.b * next.c,
            b: self.a * next.b + self.b * next.d,
            c: self.c * next.a + self.d * next.c,
            d: self.c * next.b + self.d * next.d,
            e: self.e * next.a + self.f * next.c + next.e,
            f: self.e * next.b + self.f * next.d + next.f,
        }
    }

    /// The length of a unit upwards.
    fn height(self) -> f64 {
        self.c.hypot(self.d)
    }
}

/// Parts of the size of a font: the distance between two words, between two lines, and between two paragraphs.
const WORD: f64 = 0.15;
const LINE: f64 = 0.45;
const PARAGRAPH: f64 = 1.75;

/// Most bytes of text of a page.
const MAX_TEXT: usize = 4 << 20;

/// The text of a page as it is shown.
#[derive(Default)]
pub(super) struct Layout {
    text: String,
    last: Option<Last>,
}

/// The end of the piece before.
#[derive(Clone, Copy)]
struct Last {
    end: (f64, f64),
    start_x: f64,
    size: f64,
}

impl Layout {
    /// Adds a piece of text that reaches from one place to another.
    pub(super) fn add(&mut self, text: &str, start: Matrix, end: Matrix, size: f64) {
        let size = (size * start.height()).abs();
        if text.is_empty() || self.text.len() + text.len() > MAX_TEXT {
            return;
        }
        let (x, y) = (start.e, start.f);
        let mut line_x = x;
        if let Some(last) = self.last {
            // A larger letter at the start of a paragraph counts as much as the small ones after it.
            let unit = size.min(last.size).max(1e-3);
            let down = last.end.1 - y;
            let right = x - last.end.0;
            if down.abs() > LINE * unit || right < -20.0 * unit {
                self.end_line();
                if down > PARAGRAPH * unit.max(last.size) || down < -PARAGRAPH * unit {
                    self.gap();
                }
            } else {
                line_x = last.start_x;
                if right > WORD * unit && !self.text.ends_with([' ', '\n']) && !text.starts_with(' ') {
                    self.text.push(' ');
                }
            }
        }
        for character in text.chars() {
            self.push(character);
        }
        self.last = Some(Last { end: (end.e, end.f), start_x: line_x, size });
    }

    fn push(&mut self, character: char) {
        match character {
            'ﬀ' => self.text.push_str("ff"),
            'ﬁ' => self.text.push_str("fi"),
            'ﬂ' => self.text.push_str("fl"),
            'ﬃ' => self.text.push_str("ffi"),
            'ﬄ' => self.text.push_str("ffl"),
            // A hyphen that only shows at the end of a line is handled there.
            '\u{ad}' => self.text.push('-'),
            '\u{a0}' => self.text.push(' '),
            '\u{fffd}' | '\u{feff}' => {}
            character if character.is_control() => {}
            character => self.text.push(character),
        }
    }

    fn end_line(&mut self) {
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
    pub(super) fn finish(mut self) -> String {
        self.end_line();
        joined(self.text.trim_matches('\n'))
    }
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
    }

    #[test]
    fn divided_words_are_joined() {
        assert_eq!(joined("infor-\nmation here\nend"), "information\nhere\nend");
        assert_eq!(joined("Self-\nMade\n10-\n20"), "Self-\nMade\n10-\n20");
        assert_eq!(joined("a-\nb"), "ab\n");
    }
}
