//! Shortens long bodies; lengths are in characters.

use unicode_segmentation::UnicodeSegmentation;

/// The mark between the first and the last paragraph of a shortened body.
const LEFT_OUT: &str = "[...]";

/// The end of a truncated text.
const CUT: &str = "...";

/// The length limits of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BodyLengths {
    /// The most characters of an unshortened body, and the length at which a longer one is truncated if its paragraphs
    /// do not fit.
    pub whole: usize,
    /// The most characters of the first and the last paragraph, with the mark between them.
    pub paragraphs: usize,
}

impl Default for BodyLengths {
    fn default() -> Self {
        BodyLengths { whole: 500, paragraphs: 750 }
    }
}

/// Shortens a body. Up to [`BodyLengths::whole`] characters it stays as it is. A longer one becomes its first and last
/// paragraph with `[...]` between them. If it has two paragraphs or fewer, or those two are longer than
/// [`BodyLengths::paragraphs`], it is truncated at [`BodyLengths::whole`] characters and ends in `...`.
///
/// Lengths are in characters (Unicode scalar values). Truncation does not split what people see as one character (a
/// grapheme), unless that alone is longer than the limit.
///
/// ```
/// use tamis::troubleshoot::{BodyLengths, shorten};
///
/// let long = format!("It fails.\n\n{}\n\nWhat can I do?", "More of the log. ".repeat(50));
/// assert_eq!(shorten(&long, BodyLengths::default()), "It fails.\n\n[...]\n\nWhat can I do?");
/// ```
#[must_use]
pub fn shorten(body: &str, lengths: BodyLengths) -> String {
    let body = with_line_feeds(body);
    if characters(&body) <= lengths.whole {
        return body;
    }
    let paragraphs = paragraphs(&body);
    if let [first, .., last] = paragraphs.as_slice()
        && paragraphs.len() > 2
    {
        let both = format!("{first}\n\n{LEFT_OUT}\n\n{last}");
        if characters(&both) <= lengths.paragraphs {
            return both;
        }
    }
    let mut cut = beginning(&body, lengths.whole).to_owned();
    cut.push_str(CUT);
    cut
}

/// A text in at most `room` characters: whole, or else its beginning, followed by `...` if that fits.
pub(super) fn fitted(text: &str, room: usize) -> String {
    if characters(text) <= room {
        return text.to_owned();
    }
    let mark = characters(CUT);
    if room <= mark {
        return beginning(text, room).to_owned();
    }
    let mut cut = beginning(text, room - mark).to_owned();
    cut.push_str(CUT);
    cut
}

/// The number of characters in a text.
pub(super) fn characters(text: &str) -> usize {
    text.chars().count()
}

/// A text without surrounding blank lines, its lines ended by line feeds alone.
pub(super) fn with_line_feeds(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let lines = |text: &str| text.trim_end().len();
    let end = lines(&text);
    // Blank lines before the first line go. Its indentation stays, since it can be code.
    let start =
        text.find(|c: char| !c.is_whitespace()).map_or(end, |at| text[..at].rfind('\n').map_or(0, |line| line + 1));
    text[start.min(end)..end].to_owned()
}

/// Runs of lines without a blank line between them.
fn paragraphs(text: &str) -> Vec<String> {
    let mut paragraphs: Vec<Vec<&str>> = vec![Vec::new()];
    for line in text.lines() {
        match paragraphs.last_mut() {
            Some(last) if !line.trim().is_empty() => last.push(line),
            Some(last) if !last.is_empty() => paragraphs.push(Vec::new()),
            _ => {}
        }
    }
    paragraphs.into_iter().filter(|lines| !lines.is_empty()).map(|lines| lines.join("\n")).collect()
}

/// The first `length` characters, or fewer to avoid splitting a grapheme.
fn beginning(text: &str, length: usize) -> &str {
    let mut seen = 0;
    let mut end = 0;
    for grapheme in text.graphemes(true) {
        seen += characters(grapheme);
        if seen > length {
            break;
        }
        end += grapheme.len();
    }
    if end == 0 {
        end = text.char_indices().nth(length).map_or(text.len(), |(at, _)| at);
    }
    text[..end].trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LENGTHS: BodyLengths = BodyLengths { whole: 500, paragraphs: 750 };

    #[test]
    fn long_texts_lose_their_middle_and_no_character_is_split() {
        let exact = "ä".repeat(500);
        assert_eq!(shorten(&exact, LENGTHS), exact, "characters count, not bytes");
        let longer = "ä".repeat(501);
        assert_eq!(shorten(&longer, LENGTHS), format!("{exact}..."));

        let middle = "m".repeat(600);
        assert_eq!(shorten(&format!("first\n\n{middle}\n \nlast\nline"), LENGTHS), "first\n\n[...]\n\nlast\nline");
        let two = format!("first\n\n{middle}");
        assert_eq!(shorten(&two, LENGTHS), format!("first\n\n{}...", "m".repeat(493)));

        let of = |first: usize, last: usize| format!("{}\n\nmiddle\n\n{}", "f".repeat(first), "l".repeat(last));
        // Two blank lines and the mark are nine characters.
        assert_eq!(characters(&shorten(&of(400, 341), LENGTHS)), 750);
        assert_eq!(characters(&shorten(&of(400, 342), LENGTHS)), 503, "cut at 500 with the mark after it");

        let family = "👨‍👩‍👧";
        assert_eq!(beginning(&format!("ab{family}"), 4), "ab");
        assert_eq!(characters(beginning(&format!("e{}", "\u{301}".repeat(50)), 10)), 10, "but something stays");
        assert_eq!(fitted("abcdef", 5), "ab...");
        assert_eq!(fitted("abcdef", 2), "ab");
        assert_eq!(fitted("abc", 3), "abc");

        assert_eq!(with_line_feeds("\r\n \r\n  code\r\nmore\r\rend\r\n\r\n"), "  code\nmore\n\nend");
        assert_eq!(with_line_feeds(" \n\t"), "");
    }

    proptest! {
        #[test]
        fn a_body_never_grows_over_its_lengths(body in "[\\PC\n\r]{0,400}", whole in 0usize..120, more in 0usize..120) {
            let lengths = BodyLengths { whole, paragraphs: whole + more };
            let short = shorten(&body, lengths);
            prop_assert!(characters(&short) <= (whole + 3).max(whole + more));
            if characters(&with_line_feeds(&body)) <= whole {
                prop_assert_eq!(short, with_line_feeds(&body));
            }
        }

        #[test]
        fn what_is_fitted_fits_and_is_a_beginning(text in "\\PC{0,80}", room in 0usize..100) {
            let short = fitted(&text, room);
            prop_assert!(characters(&short) <= room);
            prop_assert!(short == text || text.starts_with(short.strip_suffix("...").unwrap_or(&short)));
        }
    }
}
