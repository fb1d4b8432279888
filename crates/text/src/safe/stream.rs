//! A writer to a terminal that passes only text and, if wanted, styles.
//!
//! Printers make the text of others safe themselves. This comes after all of them, so that a printer that forgets does
//! no harm.

use super::for_terminal;
use std::io::{self, Write};

/// The most bytes held back to see what follows.
const HELD: usize = 64 << 10;

/// Writes text as [`for_terminal`] shows it, a line at a time.
#[derive(Debug)]
pub struct SafeWriter<W: Write> {
    inner: W,
    styles: bool,
    held: Vec<u8>,
}

impl<W: Write> SafeWriter<W> {
    /// Passes only plain text.
    pub fn plain(inner: W) -> Self {
        SafeWriter { inner, styles: false, held: Vec::new() }
    }

    /// Also passes the styles of printers: bold, dimmed, underlined, and the plain colours of a text.
    pub fn styled(inner: W) -> Self {
        SafeWriter { inner, styles: true, held: Vec::new() }
    }

    /// Writes the buffer up to a position.
    fn pass(&mut self, end: usize) -> io::Result<()> {
        let held = std::mem::take(&mut self.held);
        let (text, rest) = held.split_at(end);
        self.held.extend_from_slice(rest);
        let text = String::from_utf8_lossy(text);
        if !self.styles {
            return self.inner.write_all(for_terminal(&text).as_bytes());
        }
        let mut rest = text.as_ref();
        while let Some((before, style, after)) = next_style(rest) {
            self.inner.write_all(for_terminal(before).as_bytes())?;
            self.inner.write_all(style.as_bytes())?;
            rest = after;
        }
        self.inner.write_all(for_terminal(rest).as_bytes())
    }

    /// The position at which held text can be divided: after the last newline or, without one for long, between two
    /// characters.
    fn end(&self) -> usize {
        match self.held.iter().rposition(|byte| *byte == b'\n') {
            Some(newline) => newline + 1,
            None if self.held.len() < HELD => 0,
            // A character begins with a byte that is not 10xxxxxx; a style is not divided either.
            None => {
                let tail = self.held.len() - 32;
                let style = self.held[tail..].iter().position(|byte| *byte == 0x1b).map(|at| tail + at);
                let start = (tail..self.held.len()).rev().find(|at| self.held[*at] & 0xc0 != 0x80);
                style.or(start).unwrap_or(self.held.len())
            }
        }
    }
}

/// The first style of a printer in a text, with the text before and after it.
fn next_style(text: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    while let Some(at) = text[from..].find("\u{1b}[").map(|at| from + at) {
        let codes = &text[at + 2..];
        let end = codes.find(|character: char| !character.is_ascii_digit() && character != ';').unwrap_or(codes.len());
        if codes[end..].starts_with('m') && codes[..end].split(';').all(is_style) {
            let (style, after) = text[at..].split_at(2 + end + 1);
            return Some((&text[..at], style, after));
        }
        from = at + 2;
    }
    None
}

/// Returns `true` for the styles that printers use, and their ends. None of them hides a text or its background.
fn is_style(code: &str) -> bool {
    matches!(code, "" | "0" | "1" | "2" | "4" | "22" | "24" | "39" | "31" | "32" | "33" | "34" | "35" | "36")
}

impl<W: Write> Write for SafeWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.held.extend_from_slice(bytes);
        let end = self.end();
        if end > 0 {
            self.pass(end)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pass(self.held.len())?;
        self.inner.flush()
    }
}

impl<W: Write> Drop for SafeWriter<W> {
    fn drop(&mut self) {
        // The failure cannot be reported here; a caller who wants to know flushes.
        let _ = self.flush();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::safe::is_hidden;
    use proptest::prelude::*;

    const ZERO_WIDTH_JOINER: char = '\u{200d}';

    fn written(pieces: &[&[u8]], styles: bool) -> String {
        let mut out = Vec::new();
        let mut writer = if styles { SafeWriter::styled(&mut out) } else { SafeWriter::plain(&mut out) };
        for piece in pieces {
            writer.write_all(piece).expect("a vector takes everything");
        }
        writer.flush().expect("a vector takes everything");
        drop(writer);
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn styles_of_printers_pass_and_nothing_else_does() {
        let text = "\u{1b}[1mbold\u{1b}[0m \u{1b}[31;1mred\u{1b}[39;22m \u{1b}[8mhidden \u{1b}[38;5;201m\u{1b}]0;t\u{7}\u{1b}[2J\n";
        let shown = "\u{1b}[1mbold\u{1b}[0m \u{1b}[31;1mred\u{1b}[39;22m ␛[8mhidden ␛[38;5;201m␛]0;t␇␛[2J\n";
        assert_eq!(written(&[text.as_bytes()], true), shown);
        assert!(!written(&[text.as_bytes()], false).contains('\u{1b}'));
    }

    #[test]
    fn a_line_of_any_length_comes_through() {
        let long = "ä".repeat(3 * HELD);
        assert_eq!(written(&[long.as_bytes()], true), long);
        let styled = "\u{1b}[1mx\u{1b}[0m".repeat(HELD);
        let pieces: Vec<&[u8]> = styled.as_bytes().chunks(1000).collect();
        assert_eq!(written(&pieces, true), styled);
    }

    proptest! {
        #[test]
        fn however_it_is_divided_it_comes_out_the_same(text in "(\u{1b}\\[[0-9;]{0,5}m|[ -~]|\u{200d}|👩|\n|\u{202e}|ä){0,60}", size in 1_usize..9) {
            let pieces: Vec<&[u8]> = text.as_bytes().chunks(size).collect();
            let whole = written(&[text.as_bytes()], true);
            prop_assert_eq!(&written(&pieces, true), &whole);
            let plain = written(&pieces, false);
            prop_assert_eq!(plain.as_str(), for_terminal(&text));
            let hidden = plain.chars().any(|c| is_hidden(c) && c != ZERO_WIDTH_JOINER);
            prop_assert!(!hidden);
        }
    }
}
