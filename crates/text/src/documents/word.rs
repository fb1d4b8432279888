//! Word files (`.docx`): the paragraphs of `word/document.xml`, with the levels of their styles.

use std::collections::HashMap;

use super::archive::Archive;
use super::extracted::Extracted;
use super::xml::{self, Node};
use crate::Skip;

/// The first bytes of the format of old Word files and of encrypted new ones.
const COMPOUND_FILE: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";

pub(super) fn read(bytes: &[u8]) -> Result<Extracted, Skip> {
    if bytes.starts_with(COMPOUND_FILE) {
        return Err(Skip::Encrypted);
    }
    let mut archive = Archive::open(bytes)?;
    let body = archive.require("word/document.xml")?;
    let levels = archive.read("word/styles.xml")?.map(|styles| levels(&styles)).unwrap_or_default();
    let mut extracted = Extracted::with_headings();
    if let Some(title) = archive.read("docProps/core.xml")?.and_then(|core| xml::text_of(&core, "title")) {
        extracted.entitle(&title);
    }
    paragraphs(&body, &levels, &mut extracted)?;
    for name in ["word/footnotes.xml", "word/endnotes.xml"] {
        if let Some(notes) = archive.read(name)? {
            paragraphs(&notes, &levels, &mut extracted)?;
        }
    }
    extracted.complete()
}

/// The level of each heading style by its identifier; 0 for the title.
fn levels(styles: &[u8]) -> HashMap<String, usize> {
    let mut levels = HashMap::new();
    let mut style = String::new();
    let read = xml::walk(styles, |node| {
        let Node::Start(name, attributes) = node else { return };
        match name {
            "style" => style = attributes.get("styleId").unwrap_or_default(),
            "name" => {
                let name = attributes.get("val").unwrap_or_default().to_lowercase();
                if name == "title" {
                    levels.insert(style.clone(), 0);
                } else if let Some(level) = name.strip_prefix("heading ").and_then(|level| level.parse().ok()) {
                    levels.insert(style.clone(), level);
                }
            }
            "outlineLvl" => {
                let level = attributes.get("val").and_then(|level| level.parse::<usize>().ok());
                if let Some(level) = level.filter(|level| *level < 9) {
                    levels.entry(style.clone()).or_insert(level + 1);
                }
            }
            _ => {}
        }
    });
    // Without its styles a text still has its words.
    if read.is_err() { HashMap::new() } else { levels }
}

/// Adds the paragraphs, and the rows of tables as lines with bars.
fn paragraphs(body: &[u8], levels: &HashMap<String, usize>, extracted: &mut Extracted) -> Result<(), Skip> {
    let mut paragraph = String::new();
    let mut level = None;
    let mut listed = false;
    // Cells of the rows that are open, the innermost last.
    let mut rows: Vec<Vec<String>> = Vec::new();
    let (mut text, mut fallback) = (false, 0_usize);
    xml::walk(body, |node| match node {
        Node::Start("Fallback", _) => fallback += 1,
        Node::End("Fallback") => fallback = fallback.saturating_sub(1),
        // The same drawing again for programs that do not know its format.
        _ if fallback > 0 => {}
        Node::Start("p", _) => (level, listed) = (None, false),
        Node::Start("pStyle", attributes) => {
            level = attributes.get("val").and_then(|style| levels.get(&style).copied());
        }
        Node::Start("numPr", _) => listed = true,
        Node::Start("outlineLvl", attributes) => {
            let own = attributes.get("val").and_then(|level| level.parse::<usize>().ok());
            level = own.filter(|own| *own < 9).map(|own| own + 1).or(level);
        }
        Node::Start("t", _) => text = true,
        Node::End("t") => text = false,
        Node::Text(part) if text => paragraph.push_str(part),
        Node::Start("tab", _) if !paragraph.is_empty() => paragraph.push('\t'),
        Node::Start("br" | "cr", _) => paragraph.push('\n'),
        Node::Start("noBreakHyphen", _) => paragraph.push('-'),
        Node::Start("tr", _) => rows.push(Vec::new()),
        Node::Start("tc", _) => {
            if let Some(row) = rows.last_mut() {
                row.push(String::new());
            }
        }
        Node::End("p") => {
            let content = std::mem::take(&mut paragraph);
            let content = content.trim();
            match rows.last_mut().and_then(|row| row.last_mut()) {
                Some(cell) => append(cell, content),
                None => add(extracted, content, level, listed),
            }
        }
        Node::End("tr") => {
            let row = rows.pop().unwrap_or_default().join(" | ");
            match rows.last_mut().and_then(|row| row.last_mut()) {
                Some(cell) => append(cell, &row),
                None if row.trim_matches([' ', '|']).is_empty() => {}
                None => extracted.line(&row),
            }
        }
        Node::End("tbl") if rows.is_empty() => extracted.gap(),
        _ => {}
    })
}

fn append(cell: &mut String, text: &str) {
    if !cell.is_empty() && !text.is_empty() {
        cell.push(' ');
    }
    cell.push_str(&text.replace('\n', " "));
}

fn add(extracted: &mut Extracted, content: &str, level: Option<usize>, listed: bool) {
    if content.is_empty() {
        return;
    }
    match level {
        Some(0) => {
            extracted.entitle(content);
            extracted.heading(1, content);
            extracted.gap();
        }
        Some(level) => {
            extracted.gap();
            extracted.heading(level, content);
            extracted.gap();
        }
        None if listed => extracted.line(&format!("- {content}")),
        None => {
            extracted.line(content);
            extracted.gap();
        }
    }
}
