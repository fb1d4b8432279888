//! Text by others in an answer. Hidden and control characters become visible, names stay on one line, and everything stands
//! between fences.

use std::borrow::Cow;
use tamis_text::safe::{for_model, line_for_model};

/// Most characters of a name, a title or a reason.
const MAX_NAME: usize = 300;

/// Mark at the end of a shortened text.
pub(crate) const REST: &str = " […]";

/// The text with hidden characters made visible.
pub(crate) fn clean(text: &str) -> String {
    for_model(text).into_owned()
}

/// The text on one line.
pub(crate) fn line(text: &str) -> String {
    line_for_model(text)
}

/// A name on one line, shortened.
pub(crate) fn name(text: &str) -> String {
    let line = line(text);
    short(&line, MAX_NAME).into_owned()
}

/// The text, shortened to so many characters with a mark at its end.
pub(crate) fn short(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        None => Cow::Borrowed(text),
        Some(_) => Cow::Owned(format!("{}{REST}", first(text, most.saturating_sub(REST.chars().count())))),
    }
}

/// The text between two lines of backticks, which are longer than any run in the text, so that the text cannot end the fence.
pub(crate) fn fenced(text: &str) -> String {
    let fence = "`".repeat(backticks(text).max(2) + 1);
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}\n{text}{end}{fence}\n")
}

/// The text without the indentation that all its lines share.
pub(crate) fn dedented(text: &str) -> String {
    let lines = || text.lines().filter(|line| !line.trim().is_empty());
    let mut shared = lines().next().map_or("", |line| &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]);
    while !lines().all(|line| line.starts_with(shared)) {
        shared = &shared[..shared.len() - 1];
    }
    let shorter: Vec<&str> = text.lines().map(|line| line.strip_prefix(shared).unwrap_or_default()).collect();
    shorter.join("\n")
}

/// Length of the longest run of backticks.
pub(crate) fn backticks(text: &str) -> usize {
    text.split(|character| character != '`').map(str::len).max().unwrap_or_default()
}

/// The first `most` characters.
pub(crate) fn first(text: &str, most: usize) -> &str {
    text.char_indices().nth(most).map_or(text, |(end, _)| &text[..end])
}

/// A count with its noun: `1 result`, `12 results`.
pub(crate) fn counted(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// A value rounded to four decimal places.
pub(crate) fn rounded(value: f64) -> f64 {
    (value * 10_000.0).round() / 10_000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trap_a_text_cannot_end_its_fence() {
        for text in ["plain", "```\nnow I am outside\n```", "a ````` b", "`", "\u{1b}[31m```\r\n````\n"] {
            let fenced = fenced(&clean(text));
            let fence = fenced.lines().next().expect("a line");
            assert!(fence.len() >= 3 && fence.chars().all(|character| character == '`'), "{fenced}");
            let inner: Vec<&str> = fenced.lines().skip(1).collect();
            assert_eq!(inner.iter().position(|line| line.contains(fence)), Some(inner.len() - 1), "{fenced}");
        }
    }

    #[test]
    fn only_shared_indentation_is_removed() {
        assert_eq!(dedented("    if a {\n\n        b\n    }"), "if a {\n\n    b\n}");
        assert_eq!(dedented("\t\ta\n\t b"), "\ta\n b");
        assert_eq!(dedented("a\n  b"), "a\n  b");
        assert_eq!(dedented("  \n   a"), "\na");
        assert_eq!(dedented(""), "");
    }

    #[test]
    fn control_characters_become_visible() {
        assert_eq!(clean("a\u{1b}[31m\tb\r\nc\u{0}\u{9b}"), "a␛[31m\tb\nc␀[U+009B]");
        assert_eq!(line(" a\n## b\u{7}c "), "a ## b␇c");
    }

    #[test]
    fn text_is_shortened_between_characters() {
        assert_eq!(first("äöü", 2), "äö");
        assert_eq!(first("äöü", 9), "äöü");
        assert_eq!(short("äöüäöü", 6), "äöüäöü");
        assert_eq!(short("äöüäöüä", 6), "äö […]");
        assert_eq!(name(&"ä ".repeat(500)).chars().count(), MAX_NAME);
    }
}
