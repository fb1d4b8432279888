//! Finds exact text in the files of the tree, with the libraries that ripgrep is made of.
//!
//! The totals are exact even where the listing is cut. Files are read a batch at a time, in the order of their paths; once the
//! listing is full, the rest is only counted.

use super::Tree;
use super::listing::{Listed, Roots, TreeScope};
use super::matcher::Pattern;
use crate::Error;
use crate::lookup::whole_text;
use crate::progress::Observer;
use grep_matcher::{LineTerminator, Matcher};
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, SearcherBuilder, Sink, SinkContext, SinkContextKind, SinkMatch};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;
use std::io;
use std::time::{Duration, Instant};
use tamis_store::DocumentState;

/// Most matching lines that are listed.
pub const MOST_LISTED: usize = 100_000;

/// Most lines of context before or after a match.
const MOST_CONTEXT: usize = 100;

/// Files read at once.
const BATCH: usize = 256;

/// A search for exact text. [`GrepRequest::new`] looks for a regular expression in all files.
#[derive(Clone, Debug)]
pub struct GrepRequest {
    /// The text or regular expression.
    pub pattern: Pattern,
    /// The files to look at.
    pub scope: TreeScope,
    /// Lines shown before each match, up to 100.
    pub before: usize,
    /// Lines shown after each match, up to 100.
    pub after: usize,
    /// Most matching lines that are listed, up to [`MOST_LISTED`]. All are counted.
    pub limit: usize,
    /// Most characters shown of a line; the part around the first match is shown of a longer one.
    pub line_chars: usize,
    /// The time after which the rest is left out; `None`: unlimited.
    pub time_limit: Option<Duration>,
}

impl GrepRequest {
    /// Creates a request for a regular expression.
    pub fn new(pattern: impl Into<String>) -> Self {
        GrepRequest {
            pattern: Pattern { text: pattern.into(), ..Pattern::default() },
            scope: TreeScope::default(),
            before: 0,
            after: 0,
            limit: MOST_LISTED,
            line_chars: 400,
            time_limit: None,
        }
    }
}

/// The places of a text, and their exact number.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct GrepAnswer {
    /// Number of matches; a line can have several.
    pub matches: u64,
    /// Number of lines with a match.
    pub lines: u64,
    /// Number of files with a match.
    pub files: u64,
    /// Number of files that were looked at.
    pub searched: u64,
    /// False if the search ended before all files were looked at; the totals are those of the others.
    pub complete: bool,
    /// The files with a match, by namespace and path.
    pub results: Vec<GrepFile>,
    /// Number of matching lines that are not listed.
    pub unlisted: u64,
    /// Remarks on files that were not looked at, and on an early end.
    pub notes: Vec<String>,
}

/// A file with a match.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct GrepFile {
    /// The repository or project it belongs to.
    pub namespace: String,
    /// Path under the root, with forward slashes.
    pub path: String,
    /// Canonical name of the language.
    pub language: Option<String>,
    /// Number of matches.
    pub matches: u64,
    /// Number of lines with a match.
    pub lines: u64,
    /// The matching lines and those around them, in order.
    pub hits: Vec<GrepLine>,
}

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GrepLine {
    /// Its number, from 1.
    pub line: u32,
    /// The byte of the first match in it, from 1; null for a line of context.
    pub column: Option<u32>,
    /// The line, or a part of it.
    pub text: String,
    /// True if `text` is only a part.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub shortened: bool,
    /// Byte ranges of the matches in `text`. For printers; not in the JSON form.
    #[serde(skip)]
    pub spans: Vec<std::ops::Range<usize>>,
}

impl Tree<'_> {
    /// Finds a text or regular expression in the files of the tree as they are on the disk. The index only says which files there
    /// are, so a file that changed since it was indexed is found by its new text. Of a document such as a PDF, which is no text
    /// file, the indexed text is searched.
    ///
    /// # Errors
    /// The pattern, a number or a glob is not allowed, a named file is missing, the namespace does not exist, or the observer
    /// stops the search.
    pub fn grep(&self, request: &GrepRequest, observer: &dyn Observer) -> Result<GrepAnswer, Error> {
        let within = |name, value: usize, most: usize| match value <= most {
            true => Ok(()),
            false => Err(Error::argument(name, value.to_string(), format!("0 to {most}"))),
        };
        within("before", request.before, MOST_CONTEXT)?;
        within("after", request.after, MOST_CONTEXT)?;
        within("limit", request.limit, MOST_LISTED)?;
        let matcher = request.pattern.compiled()?;
        let listed = self.listed(&request.scope)?;
        let roots = Roots::of(self);
        let until = request.time_limit.map(|limit| Instant::now() + limit);
        let mut answer = GrepAnswer {
            matches: 0,
            lines: 0,
            files: 0,
            searched: 0,
            complete: true,
            results: Vec::new(),
            unlisted: 0,
            notes: Vec::new(),
        };
        let (mut room, mut gone) = (request.limit, Vec::new());
        let is_late = || until.is_some_and(|until| Instant::now() >= until);
        for batch in listed.files.chunks(BATCH) {
            // A file can be long and a pattern slow, so each is a step of its own.
            let step = |file: &DocumentState| match observer.cancelled() || is_late() {
                true => None,
                false => Some(self.bytes(file, &roots).and_then(|bytes| search(&bytes, &matcher, request, room))),
            };
            let found: Vec<_> = batch.par_iter().map(step).collect();
            for (file, found) in batch.iter().zip(found) {
                match found {
                    None => answer.complete = false,
                    Some(Err(error)) => gone.push(format!("{} ({error})", file.path)),
                    Some(Ok(found)) => {
                        answer.searched += 1;
                        room = answer.take(file, found, room);
                    }
                }
            }
            observer.check_cancelled()?;
            if !answer.complete {
                break;
            }
        }
        answer.notes = notes(&listed, &answer, &gone);
        Ok(answer)
    }

    /// The text of a file: of a document as the index has it, of any other as it is on the disk.
    fn bytes(&self, file: &DocumentState, roots: &Roots) -> io::Result<Vec<u8>> {
        if !tamis_text::is_document(&file.path) {
            return roots.read(file);
        }
        let passages = self.index.store.document_passages(&file.namespace, &file.path).map_err(io::Error::other)?;
        Ok(whole_text(&passages).into_bytes())
    }
}

impl GrepAnswer {
    /// Adds the matches of a file, and returns the number of lines that can still be listed.
    fn take(&mut self, file: &DocumentState, found: Found, room: usize) -> usize {
        let Found { matches, lines, mut hits, .. } = found;
        if lines == 0 {
            return room;
        }
        self.matches += matches;
        self.lines += lines;
        self.files += 1;
        let mut matching = hits.iter().enumerate().filter(|(_, hit)| hit.column.is_some());
        let end = matching.nth(room).map(|(at, _)| at);
        hits.truncate(end.unwrap_or(hits.len()));
        let kept = hits.iter().filter(|hit| hit.column.is_some()).count();
        self.unlisted += lines - kept as u64;
        self.results.push(GrepFile {
            namespace: file.namespace.clone(),
            path: file.path.clone(),
            language: file.language.clone(),
            matches,
            lines,
            hits,
        });
        room - kept
    }
}

fn notes(listed: &Listed, answer: &GrepAnswer, gone: &[String]) -> Vec<String> {
    const SHOWN: usize = 3;
    let mut notes = Vec::new();
    if !answer.complete {
        let left = listed.files.len() as u64 - answer.searched - gone.len() as u64;
        notes.push(format!("the time was up with {left} files to go; name paths or languages to look at fewer"));
    }
    if !gone.is_empty() {
        let more = gone.len().saturating_sub(SHOWN);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        notes.push(format!("not read: {}{more}", gone[..gone.len().min(SHOWN)].join(", ")));
    }
    notes.extend(listed.remark());
    notes
}

/// The matches of one file.
struct Found {
    matches: u64,
    lines: u64,
    hits: Vec<GrepLine>,
}

fn search(bytes: &[u8], matcher: &RegexMatcher, request: &GrepRequest, room: usize) -> io::Result<Found> {
    let mut lines = Lines {
        matcher,
        room,
        line_chars: request.line_chars,
        found: Found { matches: 0, lines: 0, hits: Vec::new() },
    };
    let mut searcher = SearcherBuilder::new()
        .line_terminator(LineTerminator::crlf())
        .before_context(request.before)
        .after_context(request.after)
        .build();
    searcher.search_slice(matcher, bytes, &mut lines)?;
    let Lines { mut found, .. } = lines;
    // Context before a match that was not listed.
    let last = found.hits.iter().rposition(|hit| hit.column.is_some());
    if found.hits.iter().filter(|hit| hit.column.is_some()).count() as u64 != found.lines {
        found.hits.truncate(last.map_or(0, |last| last + 1));
    }
    Ok(found)
}

/// Collects the lines of one file.
struct Lines<'a> {
    matcher: &'a RegexMatcher,
    /// Matching lines that can still be listed.
    room: usize,
    line_chars: usize,
    found: Found,
}

impl Sink for Lines<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, matched: &SinkMatch<'_>) -> Result<bool, io::Error> {
        let bytes = without_end(matched.bytes());
        let mut spans = Vec::new();
        self.matcher.find_iter(bytes, |found| {
            spans.push(found.start()..found.end());
            true
        })?;
        self.found.matches += spans.len().max(1) as u64;
        self.found.lines += 1;
        if self.room > 0 {
            self.room -= 1;
            self.found.hits.push(shown(bytes, matched.line_number(), Some(spans), self.line_chars));
        }
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> Result<bool, io::Error> {
        if self.room > 0 || *context.kind() == SinkContextKind::After {
            self.found.hits.push(shown(without_end(context.bytes()), context.line_number(), None, self.line_chars));
        }
        Ok(true)
    }
}

fn without_end(bytes: &[u8]) -> &[u8] {
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    bytes.strip_suffix(b"\r").unwrap_or(bytes)
}

/// A line, with the part around the first match where it is too long.
fn shown(bytes: &[u8], number: Option<u64>, spans: Option<Vec<std::ops::Range<usize>>>, most: usize) -> GrepLine {
    let line = number.and_then(|number| u32::try_from(number).ok()).unwrap_or(u32::MAX);
    let first = spans.as_ref().map(|spans| spans.first().map_or(0, |span| span.start));
    let column = first.map(|first| u32::try_from(first + 1).unwrap_or(u32::MAX));
    // No character has more than four bytes, so this much is enough around the match.
    let from = match bytes.len() > most.saturating_mul(4) {
        true => first.unwrap_or_default().saturating_sub(most),
        false => 0,
    };
    let until = bytes.len().min(from.saturating_add(most.saturating_mul(8)).saturating_add(4));
    let mut text = String::new();
    let mut at = from;
    let mut places = Vec::new();
    for chunk in bytes[from..until].utf8_chunks() {
        for character in chunk.valid().chars() {
            places.push((at, character));
            at += character.len_utf8();
        }
        if !chunk.invalid().is_empty() {
            places.push((at, char::REPLACEMENT_CHARACTER));
            at += chunk.invalid().len();
        }
    }
    let is_part = from > 0 || until < bytes.len() || places.len() > most;
    if is_part {
        // A quarter of the part comes before the match.
        let found = places.partition_point(|(place, _)| *place < first.unwrap_or_default());
        let start = found.saturating_sub(most / 4).min(places.len().saturating_sub(most));
        places = places.into_iter().skip(start).take(most).collect();
    }
    let mut offsets = Vec::with_capacity(places.len() + 1);
    for (place, character) in &places {
        offsets.push((*place, text.len()));
        text.push(*character);
    }
    let within = |span: &std::ops::Range<usize>| {
        let at = |byte: usize| offsets.partition_point(|(place, _)| *place < byte);
        let offset = |index: usize| offsets.get(index).map_or(text.len(), |(_, offset)| *offset);
        let (start, end) = (offset(at(span.start)), offset(at(span.end)));
        (start < end).then_some(start..end)
    };
    let spans = spans.iter().flatten().filter_map(within).collect();
    GrepLine { line, column, text, shortened: is_part, spans }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_shows_the_part_around_its_match() {
        let text = format!("{}needle{}", "ä".repeat(5000), "ö".repeat(5000));
        let at = text.find("needle").expect("there");
        let line = shown(text.as_bytes(), Some(7), Some(std::iter::once(at..at + 6).collect()), 100);
        assert!(line.shortened && line.text.chars().count() == 100 && line.text.contains("needle"), "{line:?}");
        assert_eq!((line.line, line.column), (7, Some(at as u32 + 1)));
        assert_eq!(&line.text[line.spans[0].clone()], "needle");
        let short = shown(b"a\xffb needle", Some(1), Some(std::iter::once(4..10).collect()), 100);
        assert_eq!((short.text.as_str(), &short.text[short.spans[0].clone()]), ("a\u{fffd}b needle", "needle"));
    }
}
