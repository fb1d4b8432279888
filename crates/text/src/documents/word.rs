//! Word files (`.docx`): the paragraphs of the main part, with the levels of their styles, and those of its notes.

use super::archive::Archive;
use super::body::{Body, Styles};
use super::drawing;
use super::extracted::Extracted;
use super::package::Package;
use super::xml::{self, Node};
use crate::Skip;

pub(super) fn read(bytes: &[u8]) -> Result<Extracted, Skip> {
    let mut package = Package::open(bytes)?;
    let main = package.main("word/document.xml");
    let body = package.archive.require(&main)?;
    let styles = package.related(&main, "styles").first().and_then(|name| package.archive.optional(name));
    let styles = styles.map(|styles| read_styles(&styles)).unwrap_or_default();
    let mut extracted = Extracted::with_headings();
    entitle(&mut package.archive, &mut extracted);
    paragraphs(&body, &styles, &mut extracted)?;
    drawing::add(&mut package, &main, &mut extracted);
    for kind in ["footnotes", "endnotes"] {
        for name in package.related(&main, kind) {
            if let Some(notes) = package.archive.optional(&name) {
                paragraphs(&notes, &styles, &mut extracted)?;
            }
        }
    }
    extracted.complete()
}

/// Takes the title from the description of an office document.
pub(super) fn entitle(archive: &mut Archive<'_>, extracted: &mut Extracted) {
    if let Some(title) = archive.optional("docProps/core.xml").and_then(|core| xml::text_of(&core, "title")) {
        extracted.entitle(&title);
    }
}

fn read_styles(xml: &[u8]) -> Styles {
    let mut styles = Styles::default();
    let mut style = String::new();
    // Without its styles a text still has its words.
    let _ = xml::walk(xml, |node| {
        let Node::Start(name, attributes) = node else { return };
        let value = || attributes.get("val").unwrap_or_default();
        match name {
            "style" => style = attributes.get("styleId").unwrap_or_default(),
            "name" => {
                let name = value().to_lowercase();
                if name == "title" {
                    styles.set_level(&style, Some(0));
                } else if let Some(level) = name.strip_prefix("heading ").and_then(|level| level.parse().ok()) {
                    styles.set_level(&style, Some(level));
                }
            }
            "basedOn" => styles.set_base(&style, value()),
            "outlineLvl" => styles.set_level(&style, outline_level(&value())),
            _ => {}
        }
    });
    styles
}

/// The level of a heading by its number in files; none for ordinary text, which has the number 9.
fn outline_level(number: &str) -> Option<usize> {
    number.parse().ok().filter(|level: &usize| *level < 9).map(|level| level + 1)
}

/// The level of a style that the file does not describe, by the name that programs give it: `Heading2`.
fn usual_level(style: &str) -> Option<usize> {
    style.strip_prefix("Heading")?.parse().ok().filter(|level| (1..=9).contains(level))
}

fn paragraphs(xml: &[u8], styles: &Styles, extracted: &mut Extracted) -> Result<(), Skip> {
    let mut body = Body::new(extracted);
    let (mut text, mut formulas) = (false, 0_usize);
    // Drawings once more for programs that do not know their format, text that was deleted or moved away, and readings of signs.
    let mut left_out = 0_usize;
    xml::walk(xml, |node| match node {
        Node::Start("Fallback" | "del" | "moveFrom" | "rt", _) => left_out += 1,
        Node::End("Fallback" | "del" | "moveFrom" | "rt") => left_out = left_out.saturating_sub(1),
        _ if left_out > 0 => {}
        Node::Start("p", _) => body.begin(None, false),
        Node::Start("pStyle", attributes) => {
            body.level(attributes.get("val").and_then(|style| styles.level(&style).or_else(|| usual_level(&style))));
        }
        Node::Start("numPr", _) => body.listed(),
        Node::Start("outlineLvl", attributes) => {
            body.level(attributes.get("val").and_then(|level| outline_level(&level)));
        }
        Node::Start("t", _) => text = true,
        Node::End("t") => text = false,
        Node::Text(part) if text => body.text(part),
        Node::Start("tab" | "ptab", _) => body.text("\t"),
        Node::Start("br" | "cr", _) => body.text("\n"),
        Node::Start("noBreakHyphen", _) => body.text("-"),
        Node::Start("oMath", _) => {
            formulas += 1;
            body.divide();
        }
        Node::End("oMath") => {
            formulas = formulas.saturating_sub(1);
            body.divide();
        }
        // The parts of a fraction, a power and so on.
        Node::Start("num" | "den" | "e" | "sub" | "sup" | "deg" | "lim", _) if formulas > 0 => body.divide(),
        Node::Start("sym" | "drawing" | "pict" | "object", _) => body.divide(),
        Node::Start("tr", _) => body.begin_row(),
        Node::Start("tc", _) => body.begin_cell(),
        Node::End("p") => body.end(),
        Node::End("tr") => body.end_row(),
        Node::End("tbl") => body.gap(),
        _ => {}
    })
}
