//! Finds exact text in the files of the tree, with the libraries that ripgrep is made of.
//!
//! The totals are exact even where the listing is cut. Files are read a batch at a time, in the order of their paths; once the
//! listing is full, the rest is only counted.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io;
use std::ops::Range;
use std::time::{Duration, Instant};

use grep_matcher::{LineTerminator, Matcher};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{Searcher, SearcherBuilder, Sink, SinkContext, SinkContextKind, SinkMatch};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tamis_store::DocumentState;
use tamis_text::Note;
use unicode_segmentation::UnicodeSegmentation;

use super::{Listed, Roots, Tree, TreeScope};
use crate::Error;
#[cfg(feature = "clap")]
use crate::flag_values::whole;
use crate::get::whole_text;
use crate::progress::Observer;

/// Most matching lines that are listed.
pub const MOST_LISTED: usize = 100_000;

/// Most lines of context before or after a match.
const MOST_CONTEXT: usize = 100;

/// Most characters shown of a line by default.
const LINE_CHARS: usize = 400;

/// Most bytes of a compiled pattern.
const MOST_COMPILED_BYTES: usize = 10 << 20;

/// Most bytes of a pattern.
const LONGEST_PATTERN: usize = 10_000;

/// Files read at once.
const BATCH: usize = 256;

/// A search for exact text. [`GrepRequest::new`] looks for a regular expression in all files.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct GrepRequest {
    /// Regular expression, within one line.
    #[schemars(length(min = 1, max = 10_000))]
    #[cfg_attr(feature = "clap", arg(value_name = "PATTERN"))]
    pub pattern: String,
    /// Take the pattern literally.
    #[serde(default)]
    #[cfg_attr(feature = "clap", arg(short = 'F', long))]
    pub fixed_strings: bool,
    /// Ignore case.
    #[serde(default)]
    #[cfg_attr(feature = "clap", arg(short = 'i', long, overrides_with = "smart_case"))]
    pub ignore_case: bool,
    /// Ignore case unless the pattern has an upper-case letter.
    #[serde(default)]
    #[cfg_attr(feature = "clap", arg(short = 'S', long, overrides_with = "ignore_case"))]
    pub smart_case: bool,
    /// Match whole words only.
    #[serde(default)]
    #[cfg_attr(feature = "clap", arg(short = 'w', long))]
    pub word_regexp: bool,
    /// Let a match span lines: \n and \s match their ends, and . does with (?s).
    #[serde(default)]
    #[cfg_attr(feature = "clap", arg(short = 'U', long))]
    pub multiline: bool,
    /// The files to look at.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub scope: TreeScope,
    /// The lines shown around each match.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub context: ContextLines,
    /// List at most this many matching lines; all are counted (default: 100000, over HTTP 1000).
    #[schemars(range(min = 0, max = 100_000))]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", value_parser = whole::<0, MOST_LISTED>))]
    pub limit: Option<usize>,
    /// Most characters shown of a line; the part around the first match is shown of a longer one. `None`: 400.
    #[serde(skip)]
    #[cfg_attr(feature = "clap", arg(skip))]
    pub line_chars: Option<usize>,
    /// The time after which the rest is left out; `None`: unlimited.
    #[serde(skip)]
    #[cfg_attr(feature = "clap", arg(skip))]
    pub time_limit: Option<Duration>,
}

/// How many lines are shown around a match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct ContextLines {
    /// Show this many lines after each match, 0 to 100 (default: context).
    #[schemars(range(min = 0, max = 100))]
    #[cfg_attr(feature = "clap", arg(short = 'A', long, value_name = "N", value_parser = whole::<0, MOST_CONTEXT>))]
    pub after_context: Option<usize>,
    /// Show this many lines before each match, 0 to 100 (default: context).
    #[schemars(range(min = 0, max = 100))]
    #[cfg_attr(feature = "clap", arg(short = 'B', long, value_name = "N", value_parser = whole::<0, MOST_CONTEXT>))]
    pub before_context: Option<usize>,
    /// Show this many lines around each match, 0 to 100 (default: 0).
    #[schemars(range(min = 0, max = 100))]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", value_parser = whole::<0, MOST_CONTEXT>))]
    pub context: Option<usize>,
}

impl GrepRequest {
    /// Creates a request for a regular expression.
    pub fn new(pattern: impl Into<String>) -> Self {
        GrepRequest { pattern: pattern.into(), ..GrepRequest::default() }
    }

    /// Lines shown before and after each match.
    fn around(&self) -> (usize, usize) {
        let usual = self.context.context.unwrap_or_default();
        (self.context.before_context.unwrap_or(usual), self.context.after_context.unwrap_or(usual))
    }
}

/// The places of a text, and their exact number.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
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
    pub spans: Vec<Range<usize>>,
}

impl Tree<'_> {
    /// Finds a text or regular expression in the files of the tree as they are on the disk. The index only says which files there
    /// are, so a file that changed since it was indexed is found by its new text. Of a document such as a PDF, which is no text
    /// file, the indexed text is searched, and of every file of a namespace whose directory is not here: another machine or another
    /// index keeps it, or it is gone.
    ///
    /// # Errors
    /// The pattern, a number or a glob is not allowed, a named file is missing, the namespace does not exist, or the observer
    /// stops the search.
    pub fn grep(&self, request: &GrepRequest, observer: &dyn Observer) -> Result<GrepAnswer, Error> {
        let within = |name, value: usize, most: usize| match value <= most {
            true => Ok(()),
            false => Err(Error::argument(name, value.to_string(), format!("0 to {most}"))),
        };
        let (before, after) = request.around();
        within("before_context", before, MOST_CONTEXT)?;
        within("after_context", after, MOST_CONTEXT)?;
        let limit = request.limit.unwrap_or(MOST_LISTED);
        within("limit", limit, MOST_LISTED)?;
        let matcher = compiled(request)?;
        let listed = self.listed(&request.scope)?;
        let roots = Roots::new(self);
        let until = request.time_limit.map(|limit| Instant::now() + limit);
        let mut answer = GrepAnswer { complete: true, ..GrepAnswer::default() };
        let (mut room, mut gone) = (limit, Vec::new());
        let is_late = || until.is_some_and(|until| Instant::now() >= until);
        for batch in listed.files.chunks(BATCH) {
            // A file can be long and a pattern slow, so each is a step of its own.
            let step = |searcher: &mut Searcher, file: &DocumentState| match observer.cancelled() || is_late() {
                true => None,
                false => {
                    let bytes = self.bytes(file, &roots);
                    Some(bytes.and_then(|bytes| {
                        let bytes = decoded(&bytes);
                        let mut found = search(&compared(&bytes, request), searcher, &matcher, request, room)?;
                        spell_as_written(&mut found, &bytes);
                        Ok(found)
                    }))
                }
            };
            let found: Vec<_> = batch.par_iter().map_init(|| searcher(request), step).collect();
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
        let elsewhere: BTreeSet<&str> =
            listed.files.iter().map(|file| &*file.namespace).filter(|namespace| !roots.has(namespace)).collect();
        if !elsewhere.is_empty() {
            let names = elsewhere.into_iter().collect::<Vec<_>>().join(", ");
            answer.notes.push(format!("searched the indexed text, not the files: {names}"));
        }
        Ok(answer)
    }

    /// The text of a file: of a document, and of what is not here, as the index has it, of any other as it is on the disk.
    fn bytes(&self, file: &DocumentState, roots: &Roots) -> io::Result<Vec<u8>> {
        if !tamis_text::is_document(&file.path) && roots.has(&file.namespace) {
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
            language: file.description.language.clone(),
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

/// The bytes of a file as UTF-8 without a byte order mark, if they are in another encoding, which is the one in which it was indexed.
fn decoded(bytes: &[u8]) -> Cow<'_, [u8]> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let decoded = std::str::from_utf8(bytes).is_err().then(|| tamis_text::decode(bytes));
    match decoded {
        Some((text, notes)) if notes.iter().any(|note| matches!(note, Note::Decoded { .. })) => {
            Cow::Owned(text.into_owned().into_bytes())
        }
        _ => Cow::Borrowed(bytes),
    }
}

/// Shows the lines as the file has them, where they were searched in another spelling.
fn spell_as_written(found: &mut Found, bytes: &[u8]) {
    let Some(text) = std::str::from_utf8(bytes).ok().filter(|text| !text.is_ascii()) else { return };
    let mut lines = (1_u32..).zip(text.split('\n'));
    for hit in found.hits.iter_mut().filter(|hit| !hit.shortened) {
        let Some((_, line)) = lines.find(|(number, _)| *number == hit.line) else { return };
        let line = line.trim_end_matches('\r');
        if line == hit.text {
            continue;
        }
        // The end of each grapheme, in the text that was searched and in the file.
        let mut ends = vec![(0, 0)];
        for (at, grapheme) in line.grapheme_indices(true) {
            ends.push((ends[ends.len() - 1].0 + tamis_text::plain(grapheme).len(), at + grapheme.len()));
        }
        let written = |searched: usize| ends[ends.partition_point(|(end, _)| *end <= searched) - 1].1;
        hit.spans.iter_mut().for_each(|span| *span = written(span.start)..written(span.end));
        hit.column = hit.column.map(|column| u32::try_from(written(column as usize - 1) + 1).unwrap_or(u32::MAX));
        line.clone_into(&mut hit.text);
    }
}

/// A file in the form in which it is searched. In text, neither invisible characters nor the two spellings of a letter make a
/// difference, unless the pattern asks for them.
fn compared<'b>(bytes: &'b [u8], request: &GrepRequest) -> Cow<'b, [u8]> {
    let may_differ = !bytes.is_ascii() && !asks_for_characters(&request.pattern);
    match std::str::from_utf8(bytes).ok().filter(|_| may_differ).map(tamis_text::plain) {
        Some(Cow::Owned(plain)) => Cow::Owned(plain.into_bytes()),
        _ => Cow::Borrowed(bytes),
    }
}

/// Returns `true` if a pattern names characters that texts are searched without.
fn asks_for_characters(pattern: &str) -> bool {
    let is_mark = |character| matches!(character, '\u{300}'..='\u{36f}');
    let is_alone = pattern.chars().zip(pattern.chars().skip(1)).any(|(a, b)| !a.is_alphabetic() && is_mark(b));
    pattern.contains(tamis_text::is_invisible)
        || is_alone
        || ["\\x", "\\u", "\\p"].iter().any(|escape| pattern.contains(escape))
}

/// A searcher has buffers that take longer to make than most files to search.
fn searcher(request: &GrepRequest) -> Searcher {
    let (before, after) = request.around();
    SearcherBuilder::new()
        .line_terminator(LineTerminator::crlf())
        .multi_line(request.multiline)
        .before_context(before)
        .after_context(after)
        .build()
}

fn search(
    bytes: &[u8],
    searcher: &mut Searcher,
    matcher: &RegexMatcher,
    request: &GrepRequest,
    room: usize,
) -> io::Result<Found> {
    let mut lines = Lines {
        matcher,
        room,
        line_chars: request.line_chars.unwrap_or(LINE_CHARS),
        found: Found { matches: 0, lines: 0, hits: Vec::new() },
    };
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

    fn matched(&mut self, searcher: &Searcher, matched: &SinkMatch<'_>) -> Result<bool, io::Error> {
        let bytes = if searcher.multi_line() { matched.bytes() } else { without_end(matched.bytes()) };
        let mut spans = Vec::new();
        self.matcher.find_iter(bytes, |found| {
            spans.push(found.start()..found.end());
            true
        })?;
        self.found.matches += spans.len().max(1) as u64;
        let mut start = 0;
        for (number, whole) in (matched.line_number().unwrap_or_default()..).zip(matched.lines()) {
            let line = without_end(whole);
            self.found.lines += 1;
            if self.room > 0 {
                self.room -= 1;
                // Each line has its part of a match that spans several.
                let part = |span: &Range<usize>| {
                    let part = span.start.max(start) - start..span.end.min(start + line.len()).saturating_sub(start);
                    (part.start <= part.end && span.start < start + whole.len()).then_some(part)
                };
                let spans = spans.iter().filter_map(part).collect();
                self.found.hits.push(shown(line, Some(number), Some(spans), self.line_chars));
            }
            start += whole.len();
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
fn shown(bytes: &[u8], number: Option<u64>, spans: Option<Vec<Range<usize>>>, most: usize) -> GrepLine {
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
    let within = |span: &Range<usize>| {
        let at = |byte: usize| offsets.partition_point(|(place, _)| *place < byte);
        let offset = |index: usize| offsets.get(index).map_or(text.len(), |(_, offset)| *offset);
        let (start, end) = (offset(at(span.start)), offset(at(span.end)));
        (start < end).then_some(start..end)
    };
    let spans = spans.iter().flatten().filter_map(within).collect();
    GrepLine { line, column, text, shortened: is_part, spans }
}

/// Compiles the pattern of a request, in the syntax of the `regex` crate.
///
/// # Errors
/// The pattern is empty, too long or too large, or no regular expression.
fn compiled(request: &GrepRequest) -> Result<RegexMatcher, Error> {
    let text = &request.pattern;
    let shown = || format!("{:?}", request.pattern.chars().take(80).collect::<String>());
    if text.is_empty() {
        return Err(Error::argument("pattern", "\"\"", "a text or a regular expression; files lists all files"));
    }
    if text.len() > LONGEST_PATTERN {
        return Err(Error::argument("pattern", shown(), format!("at most {LONGEST_PATTERN} bytes long")));
    }
    let mut builder = RegexMatcherBuilder::new();
    builder
        // `^` and `$` stand for the ends of a line.
        .multi_line(true)
        .fixed_strings(request.fixed_strings)
        .case_insensitive(request.ignore_case)
        .case_smart(request.smart_case && !request.ignore_case)
        .word(request.word_regexp)
        .crlf(true)
        .size_limit(MOST_COMPILED_BYTES)
        .dfa_size_limit(MOST_COMPILED_BYTES);
    if request.multiline {
        builder.line_terminator(None);
    }
    let text = if asks_for_characters(text) { Cow::Borrowed(text.as_str()) } else { tamis_text::composed(text) };
    builder.build(&text).map_err(|error| {
        let error = error.to_string();
        let fault = error.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
        let escape = match request.fixed_strings {
            true => "",
            false if fault.contains("\\n") => "; multiline (-U) lets a match span lines",
            false => "; to find these characters themselves, make the pattern literal",
        };
        let extent = if request.multiline { "" } else { " within one line" };
        Error::argument("pattern", shown(), format!("a regular expression{extent}: {fault}{escape}"))
    })
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

    #[test]
    fn a_match_may_span_lines_where_the_request_says_so() {
        let request = GrepRequest { multiline: true, ..GrepRequest::new("b\\s+c|e$") };
        let found = |text: &[u8], request: &GrepRequest| {
            search(text, &mut searcher(request), &compiled(request).expect("a pattern"), request, 9).expect("searched")
        };
        let Found { matches, lines, hits } = found(b"a b\r\n\r\nc d\nx\ne\n", &request);
        let hits: Vec<_> = hits.into_iter().map(|hit| (hit.line, hit.column, hit.text, hit.spans)).collect();
        let hit = |line, column, text: &str, span: Option<Range<usize>>| {
            (line, Some(column), text.to_owned(), span.into_iter().collect::<Vec<_>>())
        };
        let (empty, last) = (hit(2, 1, "", None), hit(5, 1, "e", Some(0..1)));
        let expected = [hit(1, 3, "a b", Some(2..3)), empty, hit(3, 1, "c d", Some(0..1)), last];
        assert_eq!((matches, lines, hits), (2, 4, expected.to_vec()));
        assert_eq!(found(b"b\nc\ne", &GrepRequest { multiline: false, ..request }).lines, 1);
        let error = compiled(&GrepRequest::new("b\nc")).expect_err("two lines").to_string();
        assert!(error.contains("multiline (-U)"), "{error}");
    }

    fn matches(request: GrepRequest, line: &str) -> bool {
        compiled(&request).expect("a pattern").is_match(line.as_bytes()).expect("matched")
    }

    #[test]
    fn case_words_and_literal_text() {
        let of = |text: &str| GrepRequest::new(text);
        assert!(matches(of("a.c"), "abc") && !matches(GrepRequest { fixed_strings: true, ..of("a.c") }, "abc"));
        assert!(matches(GrepRequest { fixed_strings: true, ..of("a(") }, "a("));
        assert!(matches(GrepRequest { ignore_case: true, ..of("ABC") }, "abc"));
        let smart = |text: &str| GrepRequest { smart_case: true, ..of(text) };
        assert!(matches(smart("abc"), "ABC") && !matches(smart("Abc"), "ABC"));
        assert!(!matches(GrepRequest { word_regexp: true, ..of("open") }, "reopen") && matches(of("x$"), "x\r\n"));
    }

    #[test]
    fn invisible_characters_and_spellings_make_no_difference_unless_asked_for() {
        let found = |pattern: &str, text: &str| {
            let request = GrepRequest::new(pattern);
            let matcher = compiled(&request).expect("a pattern");
            matcher.is_match(&compared(text.as_bytes(), &request)).expect("matched")
        };
        assert!(found("reservoir", "the re\u{ad}ser\u{ad}voir") && found("U\u{308}ber", "Über"));
        assert!(found("Über", "U\u{308}bersicht") && found("a.c", "a\u{200b}bc"));
        assert!(found("\u{200b}", "a\u{200b}b") && found(r"\x{200b}", "a\u{200b}b") && !found("\u{ad}", "ab"));
    }

    #[test]
    fn lines_are_shown_as_the_file_has_them() {
        let shown = |pattern: &str, bytes: &[u8]| {
            let (bytes, request) = (decoded(bytes), GrepRequest::new(pattern));
            let matcher = compiled(&request).expect("a pattern");
            let found = search(&compared(&bytes, &request), &mut searcher(&request), &matcher, &request, 9);
            let mut found = found.expect("searched");
            spell_as_written(&mut found, &bytes);
            let matched = |hit: &GrepLine| hit.spans.iter().map(|span| &hit.text[span.clone()]).collect::<String>();
            let line = |hit: GrepLine| (hit.line, hit.column, matched(&hit), hit.text);
            found.hits.into_iter().map(line).collect::<Vec<_>>()
        };
        let hit = |line, column, matched: &str, text: &str| (line, Some(column), matched.to_owned(), text.to_owned());
        assert_eq!(shown("café", b"a caf\xe9\n"), [hit(1, 3, "café", "a café")], "windows-1252");
        assert_eq!(shown("^Ü", "\u{feff}Über".as_bytes()), [hit(1, 1, "Ü", "Über")], "a byte order mark");
        let kelvin = shown("KÜ", "K\r\na \u{212a}U\u{308}x\r\n".as_bytes());
        assert_eq!(kelvin, [hit(2, 3, "\u{212a}U\u{308}", "a \u{212a}U\u{308}x")]);
    }

    #[test]
    fn a_bad_pattern_names_the_fault_and_the_way_out() {
        let refused = |text: &str| compiled(&GrepRequest::new(text)).expect_err("refused").to_string();
        assert!(refused("a(").contains("unclosed group") && refused("a(").contains("literal"), "{}", refused("a("));
        assert!(refused("").contains("files lists"), "{}", refused(""));
        assert!(refused(&"x".repeat(20_000)).contains("at most"));
        assert!(refused("(a{1000}){1000}").len() < 400, "too large: {}", refused("(a{1000}){1000}"));
        assert!(refused("a\nb").contains("within one line"), "{}", refused("a\nb"));
    }
}
