//! Long bodies made short, in characters.

use unicode_segmentation::UnicodeSegmentation;

/// Between the first and the last paragraph of a body that was made short.
const LEFT_OUT: &str = "[...]";

/// What ends a text that was cut.
const CUT: &str = "...";

/// How long a body may be before it is made short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BodyLengths {
    /// Characters up to which a body stays as it is, and at which a longer one is cut where paragraphs do not help.
    pub whole: usize,
    /// Most characters of the first and the last paragraph with what stands between them.
    pub paragraphs: usize,
}

impl Default for BodyLengths {
    fn default() -> Self {
        BodyLengths { whole: 500, paragraphs: 750 }
    }
}

/// A body of up to [`BodyLengths::whole`] characters as it is; of a longer one the first and the last paragraph with `[...]`
/// between them. Where it has two paragraphs or fewer, or those two are longer than [`BodyLengths::paragraphs`], it is cut
/// at [`BodyLengths::whole`] characters and `...` says so.
///
/// Lengths are in characters (Unicode scalar values). None is split, and neither is what people see as one character,
/// unless that alone is longer than the whole.
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

/// A text in at most `room` characters: as it is, else its beginning with `...` after it where there is room for both.
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

/// How long a text is.
pub(super) fn characters(text: &str) -> usize {
    text.chars().count()
}

/// A text without blank lines around it, its lines ended by line feeds alone.
pub(super) fn with_line_feeds(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let lines = |text: &str| text.trim_end().len();
    let end = lines(&text);
    // Blank lines before the first line go; its indentation stays, since it can be code.
    let start =
        text.find(|c: char| !c.is_whitespace()).map_or(end, |at| text[..at].rfind('\n').map_or(0, |line| line + 1));
    text[start.min(end)..end].to_owned()
}

/// Runs of lines without a blank one between them.
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

/// The first `length` characters, fewer where the last of them would be a part of what people see as one.
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
    fn five_hundred_characters_stay_and_one_more_does_not() {
        let exact = "ä".repeat(500);
        assert_eq!(shorten(&exact, LENGTHS), exact, "characters count, not bytes");
        let longer = "ä".repeat(501);
        assert_eq!(shorten(&longer, LENGTHS), format!("{exact}..."));
    }

    #[test]
    fn three_paragraphs_leave_the_middle_out_and_two_are_cut() {
        let middle = "m".repeat(600);
        assert_eq!(shorten(&format!("first\n\n{middle}\n \nlast\nline"), LENGTHS), "first\n\n[...]\n\nlast\nline");
        let two = format!("first\n\n{middle}");
        assert_eq!(shorten(&two, LENGTHS), format!("first\n\n{}...", "m".repeat(493)));
    }

    #[test]
    fn two_long_paragraphs_are_not_kept_over_the_second_length() {
        let of = |first: usize, last: usize| format!("{}\n\nmiddle\n\n{}", "f".repeat(first), "l".repeat(last));
        // Two blank lines and the mark are nine characters.
        assert_eq!(characters(&shorten(&of(400, 341), LENGTHS)), 750);
        assert_eq!(characters(&shorten(&of(400, 342), LENGTHS)), 503, "cut at 500 with the mark after it");
    }

    #[test]
    fn what_people_see_as_one_character_is_not_split() {
        let family = "👨‍👩‍👧";
        assert_eq!(beginning(&format!("ab{family}"), 4), "ab");
        assert_eq!(characters(beginning(&format!("e{}", "\u{301}".repeat(50)), 10)), 10, "but something stays");
        assert_eq!(fitted("abcdef", 5), "ab...");
        assert_eq!(fitted("abcdef", 2), "ab");
        assert_eq!(fitted("abc", 3), "abc");
    }

    #[test]
    fn line_ends_are_line_feeds_and_blank_lines_around_go() {
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
