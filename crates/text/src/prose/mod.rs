//! Text for people: Markdown, reStructuredText and their like by headings, the rest by paragraphs.

mod headings;
mod metadata;

use jiff::tz::TimeZone;

use crate::divide::{Piece, pack};
use crate::document::{Document, HEADING_LENGTH, HEADING_SEPARATOR, Note, Passage};
use crate::languages::Category;
use crate::lines::{Lines, non_empty};
use crate::{Kind, Role, dates, divide};
use metadata::FrontMatter;

/// A text, read.
#[derive(Default)]
pub struct Prose {
    pub title: Option<String>,
    /// The severity in its metadata, in lower case.
    pub severity: Option<String>,
    /// The latest date in its metadata, in nanoseconds since 1970.
    pub dated_ns: Option<i64>,
    /// Notes on unreadable metadata.
    pub notes: Vec<Note>,
    pub passages: Vec<Passage>,
}

/// Reads a document in the prose language `name`.
impl Prose {
    /// The document of such a text. `notes` come before its own.
    pub fn document(
        self,
        language: Option<&'static str>,
        category: Category,
        role: Role,
        mut notes: Vec<Note>,
    ) -> Document {
        let Self { title, severity, dated_ns, passages, .. } = self;
        notes.extend(self.notes);
        Document { language, category, role, title, severity, dated_ns, attributes: Vec::new(), notes, passages }
    }
}

pub fn read(name: &str, lines: &Lines<'_>, max_tokens: usize, role: Role) -> Prose {
    divided(lines, &outline(name, lines), max_tokens, role)
}

/// A document with this outline.
pub fn divided(lines: &Lines<'_>, outline: &Outline, max_tokens: usize, role: Role) -> Prose {
    let mut notes = Vec::new();
    let date = outline.metadata.date(&TimeZone::UTC, &mut notes);
    Prose {
        title: outline.title(),
        severity: outline.severity(),
        dated_ns: date.and_then(dates::nanoseconds),
        notes,
        passages: divide(lines, outline, max_tokens, role),
    }
}

/// The headings and the metadata of a text in the prose language `name`.
pub fn outline(name: &str, lines: &Lines<'_>) -> Outline {
    let outline = match name {
        "markdown" => return metadata::of_markdown(lines, headings::markdown_outline(lines)),
        "restructuredtext" => headings::underlined_outline(lines),
        "asciidoc" | "typst" => headings::marked_outline(lines, |line| headings::repeated(line, '=')),
        "org" => headings::marked_outline(lines, |line| headings::repeated(line, '*')),
        "latex" => headings::marked_outline(lines, headings::latex),
        "textile" => headings::marked_outline(lines, headings::textile),
        "wikitext" => headings::marked_outline(lines, headings::wikitext),
        _ => Outline::default(),
    };
    metadata::given(name, lines, Outline { tables: barred(lines), ..outline })
}

/// Tables as most markups write them: lines that begin with a bar, and perhaps rules between them.
fn barred(lines: &Lines<'_>) -> Vec<(usize, usize)> {
    let mut tables: Vec<(usize, usize)> = Vec::new();
    let mut last = None;
    for row in 0..lines.count() {
        let line = lines.line(row).trim_start();
        let is_rule = line.starts_with(['+', '|']) && !line.contains(char::is_alphanumeric);
        let is_row = line.starts_with('|') && !is_rule;
        match tables.last_mut().filter(|_| last == row.checked_sub(1) && last.is_some()) {
            Some(table) if is_row || is_rule => table.1 = row,
            _ if is_row => tables.push((row, row)),
            _ => continue,
        }
        last = Some(row);
    }
    tables
}

/// A Markdown text in pieces as large as `max_tokens` allows, cut at headings where possible. With each piece come
/// the headings above it, outermost first, except one at its own beginning, and the header of a table that it continues.
pub fn markdown_pieces(lines: &Lines<'_>, max_tokens: usize) -> Vec<(Piece, Option<String>)> {
    let Some(last) = lines.count().checked_sub(1) else {
        return Vec::new();
    };
    if lines.tokens(0, last) <= max_tokens {
        let piece = lines.trim(0, last).map(|(first, last)| Piece { first, last, part: None });
        return piece.into_iter().map(|piece| (piece, None)).collect();
    }
    let outline = headings::markdown_outline(lines);
    let begins = |row: usize| match outline.headings.binary_search_by_key(&row, |heading| heading.first) {
        Ok(_) => 0,
        Err(_) => outline.badness.get(row).map_or(1, |bad| u32::from(*bad) + 1),
    };
    let pieces = pack(lines, (0, last), lines.token_sums(), max_tokens, begins);
    let above = outline.above(pieces.iter().map(|piece| piece.first));
    let above = pieces.iter().zip(above).map(|(piece, headings)| {
        let parts: Vec<String> = headings.into_iter().chain(outline.header(lines, piece.first)).collect();
        non_empty(parts.join("\n"))
    });
    let above: Vec<Option<String>> = above.collect();
    pieces.into_iter().zip(above).collect()
}

/// The kind of passages with or without a heading.
fn kind(heading: bool) -> Kind {
    if heading { Kind::Section } else { Kind::Paragraph }
}

// From headings to passages, for every format alike.

/// A heading: its lines, its level (1 is outermost) and its text.
#[derive(Debug, Clone, PartialEq)]
pub struct Heading {
    pub first: usize,
    pub last: usize,
    pub level: usize,
    pub text: String,
}

/// The structure that a format's reader found.
#[derive(Default)]
pub struct Outline {
    pub headings: Vec<Heading>,
    /// The title that the metadata gives.
    pub title: Option<String>,
    /// The metadata in front, if there is any.
    pub metadata: FrontMatter,
    /// The last line of a metadata block that begins on the first line.
    pub front_matter: Option<usize>,
    /// The first and the last line of each table, whose first line is its header. In order.
    pub tables: Vec<(usize, usize)>,
    /// The badness of each line as the beginning of a piece; empty to judge by the lines alone.
    pub badness: Vec<u8>,
}

impl Outline {
    /// The title of the metadata, or else the first of the outermost headings, if only metadata and lower headings come
    /// before it.
    pub fn title(&self) -> Option<String> {
        self.title.clone().or_else(|| {
            let top = self.headings.iter().map(|heading| heading.level).min()?;
            self.headings.iter().find(|heading| heading.level == top && top <= 2).map(|heading| heading.text.clone())
        })
    }

    /// The severity that the metadata gives, in lower case.
    pub fn severity(&self) -> Option<String> {
        self.metadata.value("severity").map(str::to_lowercase)
    }

    /// The badness of a line as the beginning of a piece.
    pub fn badness(&self, lines: &Lines<'_>, row: usize) -> u32 {
        match self.badness.get(row) {
            Some(bad) => u32::from(*bad),
            None => divide::badness(lines, row),
        }
    }

    /// The header of the table that a line stands in, below the header.
    pub fn header(&self, lines: &Lines<'_>, row: usize) -> Option<String> {
        let before = self.tables.partition_point(|(first, _)| *first < row).checked_sub(1)?;
        let (first, last) = self.tables[before];
        let header = lines.line(first).trim();
        (row <= last && !header.is_empty()).then(|| header.chars().take(HEADING_LENGTH).collect())
    }

    /// The path of the open headings at each of `rows`, without a heading on the row itself. The rows
    /// are in order.
    pub fn above(&self, rows: impl Iterator<Item = usize>) -> Vec<Option<String>> {
        let mut path = Path { above: None, headings: &self.headings, open: Vec::new() };
        let mut next = 0;
        let open = |row: usize| {
            while self.headings.get(next).is_some_and(|heading| heading.first < row) {
                path.enter(next);
                next += 1;
            }
            match self.headings.get(next).filter(|heading| heading.first == row) {
                Some(here) => path.outside(here.level).joined(),
                None => path.joined(),
            }
        };
        rows.map(open).collect()
    }
}

/// The lines of one section and its heading path.
pub struct Region {
    pub first: usize,
    pub last: usize,
    pub path: Option<String>,
    pub kind: Kind,
    /// The headings open in it, outermost first, as positions in [`Outline::headings`].
    pub open: Vec<usize>,
}

/// The passages of a text with this outline.
pub fn divide(lines: &Lines<'_>, outline: &Outline, max_tokens: usize, role: Role) -> Vec<Passage> {
    let mut passages = Vec::new();
    for region in regions(lines, outline) {
        let begin = |row: usize| outline.badness(lines, row);
        for piece in pack(lines, (region.first, region.last), lines.token_sums(), max_tokens, begin) {
            let mut passage = piece.passage(lines, region.kind, role);
            passage.heading.clone_from(&region.path);
            passage.context = outline.header(lines, piece.first);
            passages.push(passage);
        }
    }
    passages
}

/// The sections in order. A heading without a body joins the section after it, or the one before at the end.
pub fn regions(lines: &Lines<'_>, outline: &Outline) -> Vec<Region> {
    let Some(end) = lines.count().checked_sub(1) else {
        return Vec::new();
    };
    let mut regions: Vec<Region> = Vec::new();
    let mut first = 0;
    if let Some(last) = outline.front_matter {
        regions.push(Region { first, last, path: None, kind: Kind::FrontMatter, open: Vec::new() });
        first = last + 1;
    }
    // The title of the metadata is above all headings, unless a heading repeats it.
    let repeats = |title: &str| outline.headings.iter().any(|heading| heading.level == 1 && heading.text == title);
    let title = outline.title.as_deref().filter(|title| !repeats(title));
    let mut path = Path { above: title, headings: &outline.headings, open: Vec::new() };
    let first_heading = outline.headings.first().map_or(end + 1, |heading| heading.first);
    if first < first_heading && lines.trim(first, first_heading - 1).is_some() {
        regions.push(path.region(first, first_heading - 1, kind(false)));
        first = first_heading;
    }
    for (index, heading) in outline.headings.iter().enumerate() {
        path.enter(index);
        let last = outline.headings.get(index + 1).map_or(end, |next| next.first.saturating_sub(1));
        let has_body = heading.last < last && lines.trim(heading.last + 1, last).is_some();
        if has_body {
            regions.push(path.region(first, last, kind(true)));
            first = last + 1;
        }
    }
    if first <= end && lines.trim(first, end).is_some() {
        match regions.last_mut().filter(|region| region.kind != Kind::FrontMatter) {
            Some(region) => region.last = end,
            None => regions.push(path.region(first, end, kind(path.joined().is_some()))),
        }
    }
    regions
}

/// The headings that are open at a place.
struct Path<'outline> {
    above: Option<&'outline str>,
    headings: &'outline [Heading],
    open: Vec<usize>,
}

impl Path<'_> {
    fn enter(&mut self, index: usize) {
        let headings = self.headings;
        let level = headings[index].level;
        self.open.retain(|open| headings[*open].level < level);
        self.open.push(index);
    }

    fn region(&self, first: usize, last: usize, kind: Kind) -> Region {
        Region { first, last, path: self.joined(), kind, open: self.open.clone() }
    }

    /// Keeps the headings that stay open when one of this level begins.
    fn outside(&self, level: usize) -> Self {
        let open = self.open.iter().copied().filter(|open| self.headings[*open].level < level).collect();
        Self { above: self.above, headings: self.headings, open }
    }

    fn joined(&self) -> Option<String> {
        let open = self.open.iter().map(|index| self.headings[*index].text.as_str());
        let texts = self.above.into_iter().chain(open).filter(|text| !text.is_empty());
        let mut path = String::new();
        let mut left = HEADING_LENGTH;
        for text in texts {
            let separator = if path.is_empty() { "" } else { HEADING_SEPARATOR };
            // Only the part of a heading that is kept is read: every section below it does so.
            for character in separator.chars().chain(text.chars()).take(left) {
                path.push(character);
                left -= 1;
            }
            if left == 0 {
                break;
            }
        }
        non_empty(path)
    }
}
