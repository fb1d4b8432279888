//! Text for people: Markdown, reStructuredText and their like by headings, the rest by paragraphs.

mod front_matter;
mod headings;
mod markdown;
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
    match name {
        "markdown" => markdown::outline(lines),
        "restructuredtext" => underlined::outline(lines),
        "asciidoc" => headings::outline(lines, headings::asciidoc),
        "org" => headings::outline(lines, headings::org),
        "latex" => headings::outline(lines, headings::latex),
        "typst" => headings::outline(lines, headings::typst),
        "textile" => headings::outline(lines, headings::textile),
        "wikitext" => headings::outline(lines, headings::wikitext),
        _ => Outline::default(),
    }
}

/// A Markdown text in pieces as large as `max_tokens` allows, cut at headings where possible. With each piece come
/// the headings above it, outermost first, except one at its own beginning.
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
