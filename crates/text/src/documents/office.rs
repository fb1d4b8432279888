//! Word (`.docx`), PowerPoint (`.pptx`) and OpenDocument (`.odt`, `.ods`, `.odp`).

use std::collections::HashMap;

use super::body::{Body, Styles};
use super::package::{Archive, Attributes, Node, entitle};
use super::{Extracted, package};
use crate::Skip;
use crate::lines::has_word;

pub fn read_word(bytes: &[u8]) -> Result<Extracted, Skip> {
    let mut archive = Archive::open_office(bytes)?;
    let main = archive.main("word/document.xml");
    let body = archive.require(&main)?;
    let styles = archive.each(&main, "styles").next().map(|styles| read_styles(&styles)).unwrap_or_default();
    let mut extracted = Extracted::with_headings();
    entitle(&mut archive, "docProps/core.xml", &mut extracted);
    let mut notes = HashMap::new();
    for kind in ["footnotes", "endnotes"] {
        for part in archive.each(&main, kind) {
            word_notes(&part, &styles, &mut notes)?;
        }
    }
    word_paragraphs(&body, &styles, &mut notes, &mut extracted)?;
    package::add_drawings(&mut archive, &main, &mut extracted);
    extracted.complete()
}

/// Reads footnotes or endnotes, each by its kind and number.
fn word_notes(xml: &[u8], styles: &Styles, notes: &mut HashMap<String, String>) -> Result<(), Skip> {
    let mut extracted = Extracted::default();
    word_paragraphs(xml, styles, &mut HashMap::new(), &mut extracted)?;
    let Extracted { headings, text, .. } = extracted.complete()?;
    let lines: Vec<&str> = text.lines().collect();
    let ends = headings.iter().skip(1).map(|next| next.first).chain([lines.len()]);
    notes
        .extend(headings.iter().zip(ends).map(|(note, end)| (note.text.clone(), lines[note.last + 1..end].join("\n"))));
    Ok(())
}

fn read_styles(xml: &[u8]) -> Styles {
    let mut styles = Styles::default();
    let mut style = String::new();
    // Without its styles a text still has its words.
    let _ = package::walk(xml, |node| {
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
            "outlineLvl" => styles.set_level(&style, outline_level(attributes)),
            _ => {}
        }
    });
    styles
}

/// The level of a heading by its number in files; none for ordinary text, which has the number 9.
fn outline_level(attributes: &Attributes<'_>) -> Option<usize> {
    attributes.parsed("val").filter(|level| *level < 9).map(|level: usize| level + 1)
}

/// The level of a style that the file does not describe, by the name that programs give it: `Heading2`.
fn usual_level(style: &str) -> Option<usize> {
    style.strip_prefix("Heading")?.parse().ok().filter(|level| (1..=9).contains(level))
}

/// Reads paragraphs. A note stands in the paragraph that refers to it first.
fn word_paragraphs(
    xml: &[u8],
    styles: &Styles,
    notes: &mut HashMap<String, String>,
    extracted: &mut Extracted,
) -> Result<(), Skip> {
    let mut body = Body::new(extracted);
    let (mut text, mut formulas) = (false, 0_usize);
    // Drawings once more for programs that do not know their format, text that was deleted or moved away, and readings of signs.
    let mut left_out = 0_usize;
    package::walk(xml, |node| match node {
        Node::Start("Fallback" | "del" | "moveFrom" | "rt", _) => left_out += 1,
        Node::End("Fallback" | "del" | "moveFrom" | "rt") => left_out = left_out.saturating_sub(1),
        _ if left_out > 0 => {}
        Node::Start("p", _) => body.begin(None, false),
        Node::Start("pStyle", attributes) => {
            body.level(attributes.get("val").and_then(|style| styles.level(&style).or_else(|| usual_level(&style))));
        }
        Node::Start("numPr", _) => body.listed(),
        Node::Start("outlineLvl", attributes) => body.level(outline_level(attributes)),
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
        Node::Start(name @ ("footnote" | "endnote"), attributes) => body.part(&note_name(name, attributes)),
        Node::Start(name @ ("footnoteReference" | "endnoteReference"), attributes) => {
            if let Some(note) = notes.remove(&note_name(name.trim_end_matches("Reference"), attributes)) {
                body.begin(None, false);
                body.text(&note);
                body.end();
            }
        }
        Node::Start("tr", _) => body.begin_row(),
        Node::Start("tc", _) => body.begin_cell(),
        Node::End("p") => body.end(),
        Node::End("tr") => body.end_row(),
        Node::End("tbl") => body.gap(),
        _ => {}
    })
}

fn note_name(kind: &str, attributes: &Attributes<'_>) -> String {
    format!("{kind} {}", attributes.get("id").unwrap_or_default())
}

// PowerPoint files (`.pptx`): the text of each slide and its notes.

/// Most slides that are read.
const MAX_SLIDES: usize = 5_000;

/// The level of the title of a slide, below that of the slide itself.
const TITLE_LEVEL: usize = 2;

pub fn read_powerpoint(bytes: &[u8]) -> Result<Extracted, Skip> {
    let mut archive = Archive::open_office(bytes)?;
    let main = archive.main("ppt/presentation.xml");
    let presentation = archive.require(&main)?;
    let slides = archive.listed(&main, &presentation, "sldId")?;
    let mut extracted = Extracted::default();
    entitle(&mut archive, "docProps/core.xml", &mut extracted);
    for (index, (_, slide)) in slides.iter().take(MAX_SLIDES).enumerate() {
        let Some(content) = archive.read(slide)? else { continue };
        Body::new(&mut extracted).part(&format!("slide {}", index + 1));
        powerpoint_paragraphs(&content, &mut extracted)?;
        package::add_drawings(&mut archive, slide, &mut extracted);
        for notes in archive.each(slide, "notesSlide") {
            powerpoint_paragraphs(&notes, &mut extracted)?;
        }
    }
    extracted.complete()
}

fn powerpoint_paragraphs(xml: &[u8], extracted: &mut Extracted) -> Result<(), Skip> {
    let mut body = Body::new(extracted);
    let (mut text, mut title) = (false, false);
    // Drawings once more for programs that do not know their format, and numbers of slides.
    let mut left_out = 0_usize;
    package::walk(xml, |node| match node {
        Node::Start("Fallback" | "fld", _) => left_out += 1,
        Node::End("Fallback" | "fld") => left_out = left_out.saturating_sub(1),
        _ if left_out > 0 => {}
        Node::Start("sp", _) => title = false,
        Node::Start("ph", attributes) => {
            title = attributes.get("type").is_some_and(|kind| kind == "title" || kind == "ctrTitle");
        }
        Node::Start("p", _) => body.begin(title.then_some(TITLE_LEVEL), false),
        Node::End("p") => body.end(),
        Node::Start("t", _) => text = true,
        Node::End("t") => text = false,
        Node::Text(part) if text => body.text(part),
        Node::Start("br", _) => body.text("\n"),
        Node::Start("oMath", _) | Node::End("oMath") => body.divide(),
        Node::Start("tr", _) => body.begin_row(),
        Node::Start("tc", _) => body.begin_cell(),
        Node::End("tr") => body.end_row(),
        Node::End("tbl") => body.gap(),
        _ => {}
    })
}

// OpenDocument texts, sheets and presentations (`.odt`, `.ods`, `.odp`): the paragraphs and tables of `content.xml`.

pub fn read_open_document(bytes: &[u8]) -> Result<Extracted, Skip> {
    let mut archive = Archive::open(bytes)?;
    if let Some(manifest) = archive.optional("META-INF/manifest.xml") {
        let mut encrypted = false;
        package::walk(&manifest, |node| encrypted |= matches!(node, Node::Start("encryption-data", _)))?;
        if encrypted {
            return Err(Skip::Encrypted);
        }
    }
    let body = archive.require("content.xml")?;
    let mut styles = Styles::default();
    if let Some(xml) = archive.optional("styles.xml") {
        // Without its styles a text still has its words.
        let _ = package::walk(&xml, |node| read_style(&node, &mut styles));
    }
    let mut extracted = Extracted::with_headings();
    entitle(&mut archive, "meta.xml", &mut extracted);
    open_document_paragraphs(&body, &mut styles, &mut extracted)?;
    extracted.complete()
}

/// Most spaces that one element stands for.
const MAX_SPACES: usize = 100;

fn read_style(node: &Node<'_>, styles: &mut Styles) {
    let Node::Start("style", attributes) = node else { return };
    let Some(name) = attributes.get("name") else { return };
    let level = match name.strip_prefix("Heading_20_").and_then(|level| level.parse().ok()) {
        Some(level) => Some(level),
        None if name == "Title" => Some(0),
        None => attributes.parsed("default-outline-level"),
    };
    if level.is_some() {
        styles.set_level(&name, level);
    }
    if let Some(base) = attributes.get("parent-style-name") {
        styles.set_base(&name, base);
    }
}

fn open_document_paragraphs(xml: &[u8], styles: &mut Styles, extracted: &mut Extracted) -> Result<(), Skip> {
    let mut body = Body::new(extracted);
    let (mut lists, mut pages) = (0_usize, 0_usize);
    let (mut sheets, mut title) = (false, false);
    // Deleted text, stand-ins for objects, remarks, numbers of notes, and readings of signs.
    let mut left_out = 0_usize;
    const LEFT_OUT: &str = "tracked-changes annotation object-ole note-citation ruby-text";
    package::walk(xml, |node| match &node {
        Node::Start(name, _) if has_word(LEFT_OUT, name) => left_out += 1,
        Node::End(name) if has_word(LEFT_OUT, name) => left_out = left_out.saturating_sub(1),
        _ if left_out > 0 => {}
        Node::Start("style", _) => read_style(&node, styles),
        Node::Start("p", attributes) => {
            let level = attributes.get("style-name").and_then(|style| styles.level(&style));
            body.begin(title.then_some(TITLE_LEVEL).or(level), lists > 0);
        }
        Node::Start("h", attributes) => {
            body.begin(attributes.parsed("outline-level").or(Some(1)), false);
        }
        // What a picture shows, in words.
        Node::Start("title" | "desc", _) => body.begin(None, false),
        Node::End("p" | "h" | "title" | "desc") => body.end(),
        Node::Start("list", _) => lists += 1,
        Node::End("list") => {
            lists = lists.saturating_sub(1);
            if lists == 0 {
                body.gap();
            }
        }
        Node::Start("spreadsheet", _) => sheets = true,
        Node::Start("table", attributes) if sheets => {
            body.part(&format!("sheet {}", attributes.get("name").unwrap_or_default()));
        }
        Node::Start("page", _) => {
            pages += 1;
            body.part(&format!("slide {pages}"));
        }
        Node::Start("table-row", _) => body.begin_row(),
        Node::Start("table-cell", _) => body.begin_cell(),
        Node::Text(text) => body.text(&text.replace('\n', " ")),
        Node::Start("frame", attributes) => {
            title = attributes.get("class").is_some_and(|class| class == "title");
            body.divide();
        }
        Node::End("frame") => title = false,
        Node::Start("tab", _) => body.text("\t"),
        Node::Start("line-break", _) => body.text("\n"),
        Node::Start("s", attributes) => {
            body.text(&" ".repeat(attributes.parsed("c").unwrap_or(1).min(MAX_SPACES)));
        }
        Node::End("table-row") => body.end_row(),
        Node::End("table") => body.gap(),
        _ => {}
    })
}
