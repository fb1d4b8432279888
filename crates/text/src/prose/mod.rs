//! Text for people: Markdown, reStructuredText and their like by headings, the rest by paragraphs.

mod front_matter;
mod headings;
mod markdown;
mod properties;
mod sections;
mod underlined;

pub(crate) use sections::{Heading, Outline, Region, divide, regions};

use jiff::tz::TimeZone;

use crate::document::{Note, Passage};
use crate::lines::Lines;
use crate::pack::{Piece, pack};
use crate::{Kind, Role, by_lines, dates};

/// A text, read.
#[derive(Default)]
pub(crate) struct Prose {
    pub(crate) title: Option<String>,
    /// The severity in its metadata, in lower case.
    pub(crate) severity: Option<String>,
    /// The latest date in its metadata, in nanoseconds since 1970.
    pub(crate) dated_ns: Option<i64>,
    /// Notes on unreadable metadata.
    pub(crate) notes: Vec<Note>,
    pub(crate) passages: Vec<Passage>,
}

/// Reads a document in the prose language `name`.
pub(crate) fn read(name: &str, lines: &Lines<'_>, max_tokens: usize, role: Role) -> Prose {
    divided(lines, &outline(name, lines), max_tokens, role)
}

/// A document with this outline.
pub(crate) fn divided(lines: &Lines<'_>, outline: &Outline, max_tokens: usize, role: Role) -> Prose {
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
pub(crate) fn outline(name: &str, lines: &Lines<'_>) -> Outline {
    let outline = match name {
        "markdown" => return properties::of_markdown(lines, markdown::outline(lines)),
        "restructuredtext" => underlined::outline(lines),
        "asciidoc" => headings::outline(lines, headings::asciidoc),
        "org" => headings::outline(lines, headings::org),
        "latex" => headings::outline(lines, headings::latex),
        "typst" => headings::outline(lines, headings::typst),
        "textile" => headings::outline(lines, headings::textile),
        "wikitext" => headings::outline(lines, headings::wikitext),
        _ => Outline::default(),
    };
    properties::given(name, lines, Outline { tables: barred(lines), ..outline })
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
pub(crate) fn markdown_pieces(lines: &Lines<'_>, max_tokens: usize) -> Vec<(Piece, Option<String>)> {
    let Some(last) = lines.count().checked_sub(1) else {
        return Vec::new();
    };
    if lines.tokens(0, last) <= max_tokens {
        let piece = lines.trim(0, last).map(|(first, last)| Piece { first, last, part: None });
        return piece.into_iter().map(|piece| (piece, None)).collect();
    }
    let outline = markdown::outline(lines);
    let begins = |row: usize| match outline.headings.binary_search_by_key(&row, |heading| heading.first) {
        Ok(_) => 0,
        Err(_) => outline.badness.get(row).map_or(1, |bad| u32::from(*bad) + 1),
    };
    let pieces = pack(lines, (0, last), lines.token_sums(), max_tokens, begins);
    let above = outline.above(pieces.iter().map(|piece| piece.first));
    let above = pieces.iter().zip(above).map(|(piece, headings)| {
        let parts: Vec<String> = headings.into_iter().chain(outline.header(lines, piece.first)).collect();
        Some(parts.join("\n")).filter(|parts| !parts.is_empty())
    });
    let above: Vec<Option<String>> = above.collect();
    pieces.into_iter().zip(above).collect()
}

/// The badness of a line as the beginning of a piece, by the lines alone: best after a blank line.
fn badness(lines: &Lines<'_>, row: usize) -> u32 {
    by_lines::badness(lines, row)
}

/// The kind of passages with or without a heading.
fn kind(heading: bool) -> Kind {
    if heading { Kind::Section } else { Kind::Paragraph }
}
