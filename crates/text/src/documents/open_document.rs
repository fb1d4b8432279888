//! OpenDocument texts, sheets and presentations (`.odt`, `.ods`, `.odp`): the paragraphs and tables of `content.xml`.

use super::archive::Archive;
use super::body::{Body, Styles};
use super::extracted::Extracted;
use super::xml::{self, Node};
use crate::Skip;

pub(super) fn read(bytes: &[u8]) -> Result<Extracted, Skip> {
    let mut archive = Archive::open(bytes)?;
    if let Some(manifest) = archive.optional("META-INF/manifest.xml") {
        let mut encrypted = false;
        xml::walk(&manifest, |node| encrypted |= matches!(node, Node::Start("encryption-data", _)))?;
        if encrypted {
            return Err(Skip::Encrypted);
        }
    }
    let body = archive.require("content.xml")?;
    let mut styles = Styles::default();
    if let Some(xml) = archive.optional("styles.xml") {
        // Without its styles a text still has its words.
        let _ = xml::walk(&xml, |node| read_style(&node, &mut styles));
    }
    let mut extracted = Extracted::with_headings();
    if let Some(title) = archive.optional("meta.xml").and_then(|meta| xml::text_of(&meta, "title")) {
        extracted.entitle(&title);
    }
    paragraphs(&body, &mut styles, &mut extracted)?;
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
        None => attributes.get("default-outline-level").and_then(|level| level.parse().ok()),
    };
    if level.is_some() {
        styles.set_level(&name, level);
    }
    if let Some(base) = attributes.get("parent-style-name") {
        styles.set_base(&name, base);
    }
}

fn paragraphs(xml: &[u8], styles: &mut Styles, extracted: &mut Extracted) -> Result<(), Skip> {
    let mut body = Body::new(extracted);
    let mut lists = 0_usize;
    // Deleted text, stand-ins for objects, remarks, numbers of notes, and readings of signs.
    let mut left_out = 0_usize;
    const LEFT_OUT: &[&str] = &["tracked-changes", "annotation", "object-ole", "note-citation", "ruby-text"];
    xml::walk(xml, |node| match &node {
        Node::Start(name, _) if LEFT_OUT.contains(name) => left_out += 1,
        Node::End(name) if LEFT_OUT.contains(name) => left_out = left_out.saturating_sub(1),
        _ if left_out > 0 => {}
        Node::Start("style", _) => read_style(&node, styles),
        Node::Start("p", attributes) => {
            let level = attributes.get("style-name").and_then(|style| styles.level(&style));
            body.begin(level, lists > 0);
        }
        Node::Start("h", attributes) => {
            let level = attributes.get("outline-level").and_then(|level| level.parse().ok()).unwrap_or(1);
            body.begin(Some(level), false);
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
        Node::Start("page", attributes) => {
            if let Some(name) = attributes.get("name") {
                body.part(&name);
            }
        }
        Node::Start("table-row", _) => body.begin_row(),
        Node::Start("table-cell", _) => body.begin_cell(),
        Node::Text(text) => body.text(&text.replace('\n', " ")),
        Node::Start("frame", _) => body.divide(),
        Node::Start("tab", _) => body.text("\t"),
        Node::Start("line-break", _) => body.text("\n"),
        Node::Start("s", attributes) => {
            let count = attributes.get("c").and_then(|count| count.parse().ok()).unwrap_or(1_usize);
            body.text(&" ".repeat(count.min(MAX_SPACES)));
        }
        Node::End("table-row") => body.end_row(),
        Node::End("table") => body.gap(),
        _ => {}
    })
}
