//! EPUB books: the chapters in the order of the spine.

use std::collections::HashMap;

use super::archive::Archive;
use super::extracted::Extracted;
use super::html;
use super::xml::{self, Node};
use crate::Skip;
use crate::decode::decode;

/// Most chapters of a book.
const MAX_CHAPTERS: usize = 5_000;

pub(super) fn read(bytes: &[u8]) -> Result<Extracted, Skip> {
    let mut archive = Archive::open(bytes)?;
    let container = archive.require("META-INF/container.xml")?;
    let mut package = None;
    xml::walk(&container, |node| {
        if let Node::Start("rootfile", attributes) = node {
            package = package.take().or_else(|| attributes.get("full-path"));
        }
    })?;
    let package = package.ok_or(Skip::Damaged)?;
    let opf = archive.require(&package)?;
    let (title, chapters) = spine(&opf)?;
    if let Some(encryption) = archive.read("META-INF/encryption.xml")? {
        let mut encrypted = false;
        xml::walk(&encryption, |node| {
            if let Node::Start("CipherReference", attributes) = node {
                // Fonts are often obfuscated in books that anybody can read.
                let file = attributes.get("URI").unwrap_or_default().to_lowercase();
                encrypted |= [".xhtml", ".html", ".htm", ".xml"].iter().any(|end| file.ends_with(end));
            }
        })?;
        if encrypted {
            return Err(Skip::Encrypted);
        }
    }
    let directory = package.rsplit_once('/').map_or("", |(directory, _)| directory);
    let mut book = Extracted::with_headings();
    book.entitle(&title);
    let mut number = 0;
    for chapter in chapters.iter().take(MAX_CHAPTERS) {
        let Some(bytes) = archive.read(&resolved(directory, chapter))? else { continue };
        let (text, _) = decode(&bytes);
        let read = html::extract(&text);
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
    let first = book.rows();
    for (row, line) in chapter.text().lines().enumerate() {
        match chapter.headings.iter().find(|heading| heading.first == row) {
            Some(heading) => book.heading(heading.level, &heading.text),
            None if line.is_empty() => {
                if book.rows() > first {
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
    let mut order = Vec::new();
    let (mut title, mut in_title) = (String::new(), false);
    xml::walk(opf, |node| match node {
        Node::Start("item", attributes) => {
            let media = attributes.get("media-type").unwrap_or_default();
            // The list of chapters is not one.
            let navigation = attributes.get("properties").is_some_and(|all| all.split(' ').any(|one| one == "nav"));
            if let (Some(id), Some(file)) = (attributes.get("id"), attributes.get("href"))
                && media.contains("html")
                && !navigation
            {
                files.insert(id, file);
            }
        }
        Node::Start("itemref", attributes) => order.extend(attributes.get("idref")),
        Node::Start("title", _) => in_title = title.is_empty(),
        Node::End("title") => in_title = false,
        Node::Text(text) if in_title => title.push_str(text),
        _ => {}
    })?;
    Ok((title, order.iter().filter_map(|id| files.get(id).cloned()).collect()))
}

/// The name in the archive of a file that the package names: relative to its directory, with `%20` for a space.
fn resolved(directory: &str, file: &str) -> String {
    let file = file.split('#').next().unwrap_or_default();
    let mut parts: Vec<&str> = directory.split('/').filter(|part| !part.is_empty()).collect();
    for part in file.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let bytes = parts.join("/").into_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let digits = bytes.get(at + 1..at + 3).and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.filter(|_| bytes[at] == b'%').and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                decoded.push(byte);
                at += 3;
            }
            None => {
                decoded.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

#[cfg(test)]
mod tests {
    use super::resolved;

    #[test]
    fn names_are_relative_to_the_package() {
        assert_eq!(resolved("OEBPS", "text/one.xhtml#a"), "OEBPS/text/one.xhtml");
        assert_eq!(resolved("OEBPS/x", "../a%20b.xhtml"), "OEBPS/a b.xhtml");
        assert_eq!(resolved("", "../../a%"), "a%");
    }
}
