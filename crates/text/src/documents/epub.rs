//! EPUB books: the chapters in the order of the spine.

use std::collections::{HashMap, HashSet};

use super::package::{Archive, Node};
use super::{Extracted, html, package};
use crate::Skip;
use crate::decode::decode;
use crate::lines::has_end;

/// Most chapters of a book, most files that it lists as such, and the longest name of one, in bytes.
const MAX_CHAPTERS: usize = 5_000;
const MAX_FILES: usize = 20_000;
const MAX_NAME: usize = 1_000;

pub fn read(bytes: &[u8]) -> Result<Extracted, Skip> {
    let mut archive = Archive::open(bytes)?;
    let container = archive.optional("META-INF/container.xml").unwrap_or_default();
    let mut package = None;
    let _ = package::walk(&container, |node| {
        if let Node::Start("rootfile", attributes) = node {
            package = package.take().or_else(|| attributes.get("full-path"));
        }
    });
    let names = archive.names();
    let package = package.map(|package| package::resolved("", &package)).filter(|package| archive.has(package));
    let package = package.or_else(|| names.iter().find(|name| name.to_lowercase().ends_with(".opf")).cloned());
    let (title, chapters) = match &package {
        Some(package) => spine(&archive.require(package)?)?,
        None => (String::new(), names.into_iter().filter(|name| is_chapter(name, "")).collect()),
    };
    if chapters.is_empty() {
        return Err(Skip::Damaged);
    }
    let package = package.unwrap_or_default();
    if let Some(encryption) = archive.optional("META-INF/encryption.xml") {
        let mut encrypted = false;
        package::walk(&encryption, |node| {
            if let Node::Start("CipherReference", attributes) = node {
                // Fonts are often obfuscated in books that anybody can read.
                let file = attributes.get("URI").unwrap_or_default().to_lowercase();
                encrypted |= has_end(&file, ".xhtml .html .htm .xml");
            }
        })?;
        if encrypted {
            return Err(Skip::Encrypted);
        }
    }
    let directory = package::directory(&package);
    let mut book = Extracted::with_headings();
    book.entitle(&title);
    let mut number = 0;
    for chapter in chapters.iter().take(MAX_CHAPTERS) {
        let Some(bytes) = archive.read(&package::resolved(directory, chapter))? else { continue };
        let (text, _) = decode(&bytes);
        let read = html::extract(&text)?;
        if !read.has_text() {
            continue;
        }
        number += 1;
        add(&mut book, &read, number);
    }
    book.complete()
}

/// Adds a chapter. One without a heading of its own gets one.
fn add(book: &mut Extracted, chapter: &Extracted, number: usize) {
    book.gap();
    let top = chapter.headings.iter().map(|heading| heading.level).min();
    if top.is_none() {
        let title = chapter.title.as_ref().filter(|title| Some(*title) != book.title.as_ref());
        let name = title.cloned().unwrap_or_else(|| format!("part {number}"));
        book.part(1, &name);
    }
    let first = book.rows;
    let mut headings = chapter.headings.iter().peekable();
    for (row, line) in chapter.text.lines().enumerate() {
        match headings.next_if(|heading| heading.first == row) {
            Some(heading) => book.heading(heading.level, &heading.text),
            None if line.is_empty() => {
                if book.rows > first {
                    book.gap();
                }
            }
            None => book.line(line),
        }
    }
}

/// The title of the book, and the files of its chapters in order.
fn spine(opf: &[u8]) -> Result<(String, Vec<String>), Skip> {
    let mut files: HashMap<String, String> = HashMap::new();
    let (mut listed, mut order) = (Vec::new(), Vec::new());
    let (mut title, mut in_title) = (String::new(), false);
    package::walk(opf, |node| match node {
        Node::Start("item", attributes) => {
            let media = attributes.get("media-type").unwrap_or_default();
            // The list of chapters is not one.
            let navigation = attributes.get("properties").is_some_and(|all| all.split(' ').any(|one| one == "nav"));
            let file = attributes.get("href").filter(|file| file.len() <= MAX_NAME && listed.len() < MAX_FILES);
            if let Some(file) = file.filter(|file| is_chapter(file, &media) && !navigation) {
                listed.push(file.clone());
                files.extend(attributes.get("id").map(|id| (id, file)));
            }
        }
        Node::Start("itemref", attributes) if order.len() < MAX_CHAPTERS => order.extend(attributes.get("idref")),
        Node::Start("title", _) => in_title = title.is_empty(),
        Node::End("title") => in_title = false,
        Node::Text(text) if in_title => title.push_str(text),
        _ => {}
    })?;
    let ordered: Vec<String> = order.iter().filter_map(|id| files.get(id).cloned()).collect();
    // A book that gives no order has that of its list. No chapter is read twice.
    let mut chapters = if ordered.is_empty() { listed } else { ordered };
    let mut seen = HashSet::new();
    chapters.retain(|file| seen.insert(file.clone()));
    Ok((title, chapters))
}

fn is_chapter(file: &str, media: &str) -> bool {
    let name = file.to_ascii_lowercase();
    media.contains("html") || media.contains("oeb1-document") || has_end(&name, ".xhtml .html .htm")
}
