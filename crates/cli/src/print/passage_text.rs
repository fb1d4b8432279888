//! A passage's text and origin in a listing.

use super::text::{label, visible};
use owo_colors::OwoColorize;
use std::fmt::Write as _;
use std::ops::Range;

/// A kind in words, followed by an author and a day.
pub(super) fn origin_of(kind: String, author: Option<&str>, dated_at: Option<&str>) -> String {
    let mut words = kind;
    if let Some(author) = author {
        let _ = write!(words, " by {}", label(author));
    }
    if let Some(day) = dated_at.and_then(|date| date.get(..10)) {
        let _ = write!(words, ", {day}");
    }
    words
}

/// One line of a snippet with the query's terms highlighted.
pub(super) fn highlighted(snippet: &str, line: Range<usize>, highlights: &[Range<usize>]) -> String {
    let mut text = String::new();
    let mut at = line.start;
    for highlight in highlights {
        let (from, to) = (highlight.start.max(at), highlight.end.min(line.end));
        // A range that does not lie between characters is left plain.
        let (Some(before), Some(term)) = (snippet.get(at..from), snippet.get(from..to)) else { continue };
        if term.is_empty() {
            continue;
        }
        let _ = write!(text, "{}{}", visible(before), visible(term).red().bold());
        at = to;
    }
    text.push_str(&visible(&snippet[at..line.end]));
    text
}
