//! Text for people: Markdown, reStructuredText and their like by headings, the rest by paragraphs.

mod headings;
mod markdown;
mod sections;
mod underlined;

use crate::by_lines;
use crate::document::Passage;
use crate::lines::Lines;
use crate::{Kind, Role};
use sections::{Outline, divide};

/// A text, read.
#[derive(Default)]
pub(crate) struct Prose {
    pub(crate) title: Option<String>,
    /// What its metadata says, in lower case.
    pub(crate) severity: Option<String>,
    pub(crate) passages: Vec<Passage>,
}

/// Reads a document in the prose language `name`.
pub(crate) fn read(name: &str, lines: &Lines<'_>, max_tokens: usize, role: Role) -> Prose {
    let outline = match name {
        "markdown" => markdown::outline(lines),
        "restructuredtext" => underlined::outline(lines),
        "asciidoc" => headings::outline(lines, headings::asciidoc),
        "org" => headings::outline(lines, headings::org),
        "latex" => headings::outline(lines, headings::latex),
        "typst" => headings::outline(lines, headings::typst),
        "textile" => headings::outline(lines, headings::textile),
        "wikitext" => headings::outline(lines, headings::wikitext),
        _ => Outline::default(),
    };
    let passages = divide(lines, &outline, max_tokens, role);
    Prose { title: outline.title(), severity: outline.severity, passages }
}

/// How bad it is to begin a piece at a line, where nothing but the lines themselves tells: best after a blank line.
fn badness(lines: &Lines<'_>, row: usize) -> u32 {
    by_lines::badness(lines, row)
}

/// The kind of passages under a heading, or under none.
fn kind(heading: bool) -> Kind {
    if heading { Kind::Section } else { Kind::Paragraph }
}
