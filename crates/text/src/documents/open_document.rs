//! OpenDocument texts (`.odt`): the paragraphs of `content.xml`.

use super::archive::Archive;
use super::extracted::Extracted;
use super::xml::{self, Node};
use crate::Skip;

pub(super) fn read(bytes: &[u8]) -> Result<Extracted, Skip> {
    let mut archive = Archive::open(bytes)?;
    if let Some(manifest) = archive.read("META-INF/manifest.xml")? {
        let mut encrypted = false;
        xml::walk(&manifest, |node| encrypted |= matches!(node, Node::Start("encryption-data", _)))?;
        if encrypted {
            return Err(Skip::Encrypted);
        }
    }
    let body = archive.require("content.xml")?;
    let mut extracted = Extracted::with_headings();
    if let Some(title) = archive.read("meta.xml")?.and_then(|meta| xml::text_of(&meta, "title")) {
        extracted.entitle(&title);
    }
    paragraphs(&body, &mut extracted)?;
    extracted.complete()
}

/// Most spaces that one element stands for.
const MAX_SPACES: usize = 100;

fn paragraphs(body: &[u8], extracted: &mut Extracted) -> Result<(), Skip> {
    // Paragraphs can hold frames with paragraphs in them.
    let mut open: Vec<(String, Option<usize>)> = Vec::new();
    let mut rows: Vec<Vec<String>> = Vec::new();
    let (mut lists, mut left_out) = (0_usize, 0_usize);
    xml::walk(body, |node| match node {
        // Deleted text, stand-ins for objects, and remarks.
        Node::Start("tracked-changes" | "annotation" | "object-ole", _) => left_out += 1,
        Node::End("tracked-changes" | "annotation" | "object-ole") => left_out = left_out.saturating_sub(1),
        _ if left_out > 0 => {}
        Node::Start("p", _) => open.push((String::new(), None)),
        Node::Start("h", attributes) => {
            let level = attributes.get("outline-level").and_then(|level| level.parse().ok()).unwrap_or(1);
            open.push((String::new(), Some(level)));
        }
        Node::Start("list", _) => lists += 1,
        Node::End("list") => {
            lists = lists.saturating_sub(1);
            if lists == 0 {
                extracted.gap();
            }
        }
        Node::Start("table-row", _) => rows.push(Vec::new()),
        Node::Start("table-cell", _) => {
            if let Some(row) = rows.last_mut() {
                row.push(String::new());
            }
        }
        Node::Text(text) => {
            if let Some((paragraph, _)) = open.last_mut() {
                paragraph.push_str(&text.replace('\n', " "));
            }
        }
        Node::Start(name @ ("tab" | "line-break" | "s"), attributes) => {
            if let Some((paragraph, _)) = open.last_mut() {
                match name {
                    "tab" => paragraph.push('\t'),
                    "line-break" => paragraph.push('\n'),
                    _ => {
                        let count = attributes.get("c").and_then(|count| count.parse().ok()).unwrap_or(1_usize);
                        paragraph.push_str(&" ".repeat(count.min(MAX_SPACES)));
                    }
                }
            }
        }
        Node::End("p" | "h") => {
            let (content, level) = open.pop().unwrap_or_default();
            let content = content.trim();
            if content.is_empty() {
                return;
            }
            if let Some(cell) = rows.last_mut().and_then(|row| row.last_mut()) {
                if !cell.is_empty() {
                    cell.push(' ');
                }
                cell.push_str(&content.replace('\n', " "));
                return;
            }
            match level {
                Some(level) => {
                    extracted.gap();
                    extracted.heading(level, content);
                    extracted.gap();
                }
                None if lists > 0 => extracted.line(&format!("- {content}")),
                None => {
                    extracted.line(content);
                    extracted.gap();
                }
            }
        }
        Node::End("table-row") => {
            let row = rows.pop().unwrap_or_default().join(" | ");
            if !row.trim_matches([' ', '|']).is_empty() {
                extracted.line(&row);
            }
        }
        Node::End("table") => extracted.gap(),
        _ => {}
    })
}
