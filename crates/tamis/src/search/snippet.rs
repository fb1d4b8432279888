//! Picks the lines of a passage that answer best.

use std::ops::Range;
use tamis_store::{Highlighter, TextForm};

/// Some lines of a passage, with the terms of the query marked.
pub(super) struct Snippet {
    /// The line of the document on which it starts, from 1.
    pub start_line: u32,
    pub text: String,
    /// Byte ranges in `text`, in order, without overlap.
    pub highlights: Vec<Range<usize>>,
}

/// Returns the window of at most `lines` lines with the greatest IDF mass of distinct terms: the beginning if it is such a window, else
/// the first one, moved so that its terms are in the middle. For a passage without any term it returns the beginning.
pub(super) fn best(
    text: &str,
    start_line: u32,
    form: TextForm,
    highlighter: Option<&Highlighter>,
    lines: usize,
) -> Snippet {
    let marks = highlighter.map(|highlighter| highlighter.find(text, form)).unwrap_or_default();
    let bounds = line_bounds(text);
    let window = lines.clamp(1, bounds.len().max(1));
    // A window starts on a line with text: at the top, or where a term is.
    let mut best = (0.0, 0);
    // Marks are in order, so each window reads only those inside it.
    let mut next = 0;
    for first in 0..=bounds.len().saturating_sub(window) {
        let Some(range) = span(&bounds, first, window) else { break };
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
    let mut first = best.1;
    if first > 0 {
        // The last line has a term. As many lines follow the terms as precede them.
        let top =
            span(&bounds, first, window).and_then(|range| marks.iter().find(|mark| mark.range.start >= range.start));
        let top = top.map_or(first, |mark| bounds.partition_point(|line| line.end < mark.range.start));
        first = (first + (top - first) / 2).min(bounds.len() - window);
    }
    let range = span(&bounds, first, window).unwrap_or(0..0);
    let inside = marks.iter().filter(|mark| range.start <= mark.range.start && mark.range.end <= range.end);
    Snippet {
        start_line: start_line + first as u32,
        text: text[range.clone()].trim_end().to_owned(),
        highlights: inside.map(|mark| mark.range.start - range.start..mark.range.end - range.start).collect(),
    }
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
