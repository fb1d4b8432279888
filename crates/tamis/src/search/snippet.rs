//! The lines of a passage that match a query best.

use std::ops::Range;

use tamis_rank::LiteralText;
use tamis_store::{Highlighter, Mark, StoredPassage, TextForm};

/// Some lines of a passage, with the terms of the query marked.
pub(crate) struct Snippet {
    /// The line of the document on which it starts, from 1.
    pub start_line: u32,
    pub text: String,
    /// Byte ranges in `text`, in order, without overlap.
    pub highlights: Vec<Range<usize>>,
}

/// Returns the line, from 0, on which the message begins that a query repeats.
pub(crate) fn line_of_message(literal: &LiteralText, text: &str) -> Option<usize> {
    let bounds = line_bounds(text);
    let share = |&first: &usize| {
        let range = span(&bounds, first, LINES_OF_MESSAGE)?;
        // Among the lines of one passage, a frequent word says as much as a rare one.
        Some((first, literal.runs(&text[range], |_| Some(SAME_WEIGHT)).first()?.share))
    };
    let shares = (0..bounds.len()).filter_map(|first| share(&first));
    // Of two windows with the whole message, it begins in the later one.
    shares.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(first, _)| first)
}

/// Lines that a message takes in the source, and the weight of each of its words.
const LINES_OF_MESSAGE: usize = 2;
const SAME_WEIGHT: f64 = 3.0;

/// Returns the window of at most `lines` lines with the greatest IDF mass of distinct terms: the beginning if it is such a window, else
/// the first one, moved so that its terms are in the middle. For a passage without any term it returns the beginning. A window around
/// the line `message` comes before all others.
pub(crate) fn best_lines(
    passage: &StoredPassage,
    highlighter: Option<&Highlighter>,
    lines: usize,
    asked: Option<usize>,
) -> Snippet {
    let (text, start_line) = (passage.text.as_str(), passage.start_line);
    let marks = highlighter.map(|highlighter| highlighter.find(text, passage.form)).unwrap_or_default();
    let bounds = line_bounds(text);
    let window = lines.clamp(1, bounds.len().max(1));
    let mut first = densest(&bounds, &marks, window);
    if window == 1
        && passage.form == TextForm::Prose
        && is_markup(&text[bounds.get(first).cloned().unwrap_or_default()])
    {
        // The heading stands beside the line already.
        let says = |at: &usize| !is_markup(&text[bounds[*at].clone()]);
        first = (first + 1..bounds.len()).find(says).unwrap_or(first);
    } else if first > 0 {
        // The last line has a term. As many lines follow the terms as precede them.
        let top =
            span(&bounds, first, window).and_then(|range| marks.iter().find(|mark| mark.range.start >= range.start));
        let top = top.map_or(first, |mark| bounds.partition_point(|line| line.end < mark.range.start));
        first = (first + (top - first) / 2).min(bounds.len() - window);
    }
    if let Some(line) = asked {
        first = line.saturating_sub((window - 1) / 2).min(bounds.len().saturating_sub(window));
    } else {
        let ends = |at: usize| ends_something(&text[bounds[at].clone()]);
        while first + 1 < bounds.len() && ends(first) {
            first += 1;
        }
    }
    let range = span(&bounds, first, window).unwrap_or(0..0);
    let inside = marks.iter().filter(|mark| range.start <= mark.range.start && mark.range.end <= range.end);
    Snippet {
        start_line: start_line + first as u32,
        text: text[range.clone()].trim_end().to_owned(),
        highlights: inside.map(|mark| mark.range.start - range.start..mark.range.end - range.start).collect(),
    }
}

/// Returns the first line of the window with the greatest IDF mass of distinct terms. It is the first one of the text, or one with a term.
fn densest(bounds: &[Range<usize>], marks: &[Mark], window: usize) -> usize {
    let mut best = (0.0, 0);
    // Marks are in order, so each window reads only those inside it.
    let mut next = 0;
    for first in 0..=bounds.len().saturating_sub(window) {
        let Some(range) = span(bounds, first, window) else { break };
        while marks.get(next).is_some_and(|mark| mark.range.start < range.start) {
            next += 1;
        }
        let mut seen: Vec<usize> = Vec::new();
        let mut mass = 0.0;
        let inside = marks[next..].iter().take_while(|mark| mark.range.start < range.end);
        for mark in inside.filter(|mark| mark.range.end <= range.end) {
            if !seen.contains(&mark.term) {
                seen.push(mark.term);
                mass += mark.idf;
            }
        }
        if mass > best.0 * (1.0 + 1e-6) {
            best = (mass, first);
        }
    }
    best.1
}

/// Returns `true` for a line that says nothing at the top of a snippet: an empty one, or the end of what stands before.
fn ends_something(line: &str) -> bool {
    let line = line.trim();
    line == "end" || !line.contains(char::is_alphanumeric)
}

/// Returns `true` for a line of Markdown or of a document that says nothing by itself: a heading, the bounds of front matter or of a code
/// block, the beginning of a page.
pub(crate) fn is_markup(line: &str) -> bool {
    let line = line.trim();
    line.is_empty()
        || line.starts_with("# ")
        || line.starts_with("##")
        || ["---", "```", "[page "].iter().any(|mark| line.starts_with(mark))
}

/// Returns the byte range of each line, without its line end.
fn line_bounds(text: &str) -> Vec<Range<usize>> {
    let mut start = 0;
    let bounds = text.split_inclusive('\n').map(|line| {
        let range = start..start + line.trim_end_matches('\n').len();
        start += line.len();
        range
    });
    bounds.collect()
}

fn span(bounds: &[Range<usize>], first: usize, lines: usize) -> Option<Range<usize>> {
    let last = bounds.get((first + lines).min(bounds.len()).checked_sub(1)?)?;
    Some(bounds.get(first)?.start..last.end)
}
