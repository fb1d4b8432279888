//! Memories: divides Markdown notes into overlapping passages, dated by the notes' own dates.

mod entries;

use std::collections::HashMap;

use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;

use crate::decode::decode_words;
use crate::divide::{Piece, line_pieces};
use crate::document::{Document, MIN_TOKENS, Options, OwnProperties, Passage};
use crate::languages::Category;
use crate::lines::{Lines, file_name};
use crate::prose::{Outline, Prose};
use crate::{Kind, Language, dates, prose, read, role};
use entries::{Stamp, stamp};

pub use entries::{Entry, FORGOTTEN, entries, forgotten_mark};

/// Options for dividing and dating a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteOptions {
    /// The largest passage, in estimated tokens. Values under 32 count as 32.
    pub max_tokens: usize,
    /// Tokens that a passage of a divided section repeats of the one before, in whole lines: at most half more,
    /// and less where a single line is longer. The maximum is a quarter of `max_tokens`.
    pub overlap_tokens: usize,
    /// Time zone of the notes, for days and times without an offset.
    pub time_zone: TimeZone,
}

impl Default for NoteOptions {
    /// 400 tokens with 80 of overlap, dates in UTC.
    fn default() -> Self {
        Self { max_tokens: 400, overlap_tokens: 80, time_zone: TimeZone::UTC }
    }
}

/// The attribute for the subjects of a note.
const TOPIC: &str = "topic";

/// At most this many topics of one note, each of at most so many characters.
const MAX_TOPICS: usize = 100;
const TOPIC_LENGTH: usize = 100;

/// The level of topic headings.
const TOPIC_LEVEL: usize = 2;

/// The file of memories that never age, whatever dates are in it.
const UNDATED: &str = "memory.md";

/// Reads a note at `path` (relative, with forward slashes).
///
/// - **Passages.** Sections are never joined: text under a heading of its own has a subject of its own, and three lines
///   on one topic match a question about it better than in the middle of four other topics. Within a section, an item
///   or heading that begins with a time (`- 14:05 …`) begins a passage, since entries of a log are unrelated. Sections
///   longer than `max_tokens` are divided by lines, best before a block, with an overlap. Each passage has its heading
///   path.
/// - **Date.** The latest of the dates of its front matter (`date`, `created`, `updated`, …), or else the day that its
///   name begins with (`2026-11-22.md`, `2026-11-22-topic.md`). A passage under a time has that time of the day.
///   `MEMORY.md` and notes without a date have none.
/// - **Topics.** `topic`, `topics` and `tags` of the front matter and the headings of level 2 are its attributes
///   `topic`.
/// - **Forgotten entries** (see [`entries`]) are left out, with a heading that would be left empty.
///
/// Always succeeds, and reads files other than prose as [`read`] does. Takes time linear in the size.
///
/// ```
/// use tamis_text::{NoteOptions, read_note};
///
/// let note = b"# 2026-11-22\n\n## Backups\n\n- 14:05 run at night\n- 15:10 kept for a year\n";
/// let document = read_note("memory/2026-11-22.md", note, &NoteOptions::default());
/// assert_eq!(document.passages.len(), 2);
/// assert_eq!(document.passages[1].heading.as_deref(), Some("2026-11-22 > Backups"));
/// assert_eq!(document.passages[1].text, "- 15:10 kept for a year");
/// assert_eq!(document.attributes, [("topic".to_owned(), "Backups".to_owned())]);
/// ```
#[must_use]
pub fn read_note(path: &str, bytes: &[u8], options: &NoteOptions) -> Document {
    let max_tokens = options.max_tokens.max(MIN_TOKENS);
    let (text, mut notes) = decode_words(bytes);
    let language = Language::of_text(path, &text);
    let Some(language) = language.filter(|language| language.category == Category::Prose) else {
        return read(path, bytes, &Options { max_tokens });
    };
    let lines = Lines::new(&text);
    let outline = prose::outline(language.name, &lines);
    let day = day_of(path, &outline, options, &mut notes);
    let reader = Reader {
        lines: &lines,
        outline: &outline,
        // Formats other than Markdown have no entries.
        entries: &if matches!(language.name, "markdown" | "text") { entries(&text) } else { Vec::new() },
        day,
        max_tokens,
        overlap: options.overlap_tokens.min(max_tokens / 4),
        options,
    };
    let role = role(path, Some(language.name));
    let passages = reader.passages().into_iter().map(|passage| Passage { role, ..passage }).collect();
    let dated_ns = day.and_then(|day| day.moment_ns);
    let (title, severity) = (outline.title(), outline.severity());
    let prose = Prose { title, severity, dated_ns, passages, ..Prose::default() };
    Document { attributes: topics(&outline), ..prose.document(Some(language.name), Category::Prose, role, notes) }
}

/// The time at which a note was written.
#[derive(Clone, Copy)]
struct Day {
    date: Date,
    moment_ns: Option<i64>,
}

fn day_of(path: &str, outline: &Outline, options: &NoteOptions, notes: &mut Vec<crate::Note>) -> Option<Day> {
    let name = file_name(path);
    let zone = &options.time_zone;
    let said = outline.metadata.date(zone, notes);
    if name.eq_ignore_ascii_case(UNDATED) {
        return None;
    }
    let (date, moment) = match said {
        Some(moment) => (moment.to_zoned(zone.clone()).date(), moment),
        None => {
            let Some(date) = dates::day_of_name(name) else {
                let impossible = dates::in_name(name).map(str::to_owned);
                notes.extend(impossible.map(|value| crate::Note::UnreadableDate { key: None, value }));
                return None;
            };
            (date, dates::midnight(date, zone)?)
        }
    };
    Some(Day { date, moment_ns: dates::nanoseconds(moment) })
}

/// The subject of a note, from its front matter and its headings.
fn topics(outline: &Outline) -> Vec<(String, String)> {
    let said = ["topic", "topics", "tags"].into_iter().flat_map(|key| outline.metadata.values(key));
    let headings =
        outline.headings.iter().filter(|heading| heading.level == TOPIC_LEVEL && stamp(&heading.text).is_none());
    let mut topics: Vec<(String, String)> = Vec::new();
    for topic in said.chain(headings.map(|heading| heading.text.as_str())) {
        let topic = topic.trim().trim_start_matches('#');
        let known = |(_, known): &(String, String)| known.to_lowercase() == topic.to_lowercase();
        if !topic.is_empty() && topic.chars().count() <= TOPIC_LENGTH && !topics.iter().any(known) {
            topics.push((TOPIC.to_owned(), topic.to_owned()));
        }
        if topics.len() == MAX_TOPICS {
            break;
        }
    }
    topics
}

/// Everything needed to divide a note.
struct Reader<'note> {
    lines: &'note Lines<'note>,
    outline: &'note Outline,
    entries: &'note [Entry],
    day: Option<Day>,
    max_tokens: usize,
    overlap: usize,
    options: &'note NoteOptions,
}

const SECOND_NS: i64 = 1_000_000_000;

/// Consecutive lines that belong together, and their time.
struct Segment {
    first: usize,
    last: usize,
    stamp: Option<Stamp>,
}

impl Reader<'_> {
    fn passages(&self) -> Vec<Passage> {
        let mut passages = Vec::new();
        for region in prose::regions(self.lines, self.outline) {
            let kind = if region.kind == Kind::FrontMatter { Kind::FrontMatter } else { Kind::Note };
            let under = self.stamp_of_headings(&region.open);
            let mut same_time: HashMap<i64, i64> = HashMap::new();
            for segment in self.segments(&region) {
                let pieces = windows(self.lines, (segment.first, segment.last), self.max_tokens, self.overlap, |row| {
                    self.outline.badness(self.lines, row)
                });
                // Entries of one minute are as many entries. The later one is the newer one, so each is a second after the one before.
                let dated_ns = self.moment(under, segment.stamp).map(|moment| {
                    let before = same_time.entry(moment).or_default();
                    *before += SECOND_NS;
                    moment.saturating_add(*before - SECOND_NS)
                });
                passages.extend(pieces.iter().map(|piece| Passage {
                    heading: region.path.clone(),
                    own: OwnProperties { dated_ns, ..OwnProperties::default() },
                    ..piece.passage(self.lines, kind, crate::Role::Main)
                }));
            }
        }
        passages
    }

    /// Divides a section at entries that begin with a time, and around forgotten entries.
    fn segments(&self, region: &prose::Region) -> Vec<Segment> {
        let row = |line: u32| line as usize - 1;
        let inside = region.open.iter().map(|index| &self.outline.headings[*index]);
        let heading_end = inside.filter(|heading| heading.first >= region.first).map(|heading| heading.last).max();
        let begin = self.entries.partition_point(|entry| row(entry.start_line) < region.first);
        let entries = self.entries[begin..].iter().take_while(|entry| row(entry.end_line) <= region.last);
        let mut segments: Vec<Segment> = Vec::new();
        let mut open = Segment { first: region.first, last: region.last, stamp: None };
        let mut forgot = false;
        for entry in entries {
            let (first, last) = (row(entry.start_line), row(entry.end_line));
            let stamp = stamp(&entry.text).filter(|stamp| stamp.time.is_some());
            if !entry.forgotten && stamp.is_none() {
                continue;
            }
            let before = self.closed(&open, first);
            // Headings alone go with the text after them.
            let only_headings = before.as_ref().is_none_or(|before| heading_end.is_some_and(|end| before.last <= end));
            if !only_headings {
                segments.extend(before);
            }
            if entry.forgotten {
                forgot = true;
                open = Segment { first: last + 1, last: region.last, stamp: None };
            } else {
                open = Segment { first: if only_headings { open.first } else { first }, last: region.last, stamp };
            }
        }
        let rest = self.closed(&open, region.last + 1);
        let only_headings = |rest: &Segment| heading_end.is_some_and(|end| rest.last <= end);
        segments.extend(rest.filter(|rest| !(forgot && only_headings(rest))));
        segments
    }

    /// A segment that ends before the line `before`, unless it is empty.
    fn closed(&self, open: &Segment, before: usize) -> Option<Segment> {
        let last = before.checked_sub(1).filter(|last| open.first <= *last)?;
        let (first, last) = self.lines.trim(open.first, last)?;
        Some(Segment { first, last, stamp: open.stamp })
    }

    /// The time that the open headings give.
    fn stamp_of_headings(&self, open: &[usize]) -> Stamp {
        let headings = open.iter().map(|index| &self.outline.headings[*index]);
        let stamps = headings.filter_map(|heading| stamp(&heading.text));
        stamps.fold(Stamp { day: None, time: None }, |above, below| Stamp {
            day: below.day.or(above.day),
            time: below.time,
        })
    }

    /// The time of a passage, if it is more precise than the note's own date. A note without a date has none.
    fn moment(&self, under: Stamp, own: Option<Stamp>) -> Option<i64> {
        let day = self.day?;
        let own_day = own.and_then(|own| own.day).or(under.day);
        let time = own.and_then(|own| own.time).or(under.time);
        if own_day.is_none_or(|own| own == day.date) && time.is_none() {
            return None;
        }
        let civil = own_day.unwrap_or(day.date).to_datetime(time.unwrap_or(Time::midnight()));
        dates::nanoseconds(dates::at(civil, &self.options.time_zone)?)
    }
}

// Windows of whole lines that overlap.

/// Divides the lines `first..=last` into pieces of at most `max` tokens, each of which begins with the last lines of the
/// one before: whole lines of about `overlap` tokens together, at most half more.
///
/// Pieces share nothing across a line that is too long for one piece (it is divided by itself), nor if the last line
/// alone is longer than the overlap. Among the lines at which a piece would have at least half the target size, it ends
/// before the one with the least badness. Every line that is not blank is in a piece. Takes time linear in the number
/// of lines.
fn windows(
    lines: &Lines<'_>,
    (first, last): (usize, usize),
    max: usize,
    overlap: usize,
    badness: impl Fn(usize) -> u32,
) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut start = first;
    while start <= last {
        let end = (start..=last).find(|row| lines.tokens(*row, *row) > max).unwrap_or(last + 1);
        if start < end {
            run(lines, (start, end - 1), max, overlap, &badness, &mut pieces);
        }
        if end <= last {
            pieces.extend(line_pieces(lines, end, max));
        }
        start = end + 1;
    }
    pieces
}

/// Divides lines that each fit into a window.
fn run(
    lines: &Lines<'_>,
    (first, last): (usize, usize),
    max: usize,
    overlap: usize,
    badness: &impl Fn(usize) -> u32,
    pieces: &mut Vec<Piece>,
) {
    let cost = |from: usize, before: usize| if from < before { lines.tokens(from, before - 1) } else { 0 };
    // The rows before `fresh` are in a piece already.
    let (mut start, mut fresh) = (first, first);
    while let Some((next, _)) = lines.trim(fresh, last) {
        fresh = next;
        let rest = cost(start, last + 1);
        let cut = if rest <= max {
            last + 1
        } else {
            let count = rest.saturating_sub(overlap).div_ceil(max.saturating_sub(overlap).max(1)).max(1);
            let target = (rest + overlap * (count - 1)) / count;
            let fits = (fresh + 1..=last).take_while(|row| cost(start, *row) <= max);
            let mut best: Option<(u32, usize, usize)> = None;
            let mut furthest = fresh + 1;
            for row in fits {
                furthest = row;
                let size = cost(start, row);
                if size * 2 >= target {
                    let candidate = (badness(row), size.abs_diff(target), row);
                    best = Some(best.map_or(candidate, |best| best.min(candidate)));
                }
            }
            best.map_or(furthest, |(_, _, row)| row)
        };
        if let Some((first, last)) = lines.trim(start, cut - 1) {
            pieces.push(Piece { first, last, part: None });
        }
        if cut > last {
            return;
        }
        let Some((next, _)) = lines.trim(cut, last) else {
            return;
        };
        fresh = next;
        let mut shared = 0;
        let mut from = cut;
        while from > start + 1 && shared < overlap {
            shared += lines.tokens(from - 1, from - 1);
            if shared * 2 > overlap * 3 {
                break;
            }
            from -= 1;
        }
        while cost(from, fresh + 1) > max {
            from += 1;
        }
        start = from;
    }
}
