//! Text of files that are not text: notebooks, web pages, mail, PDF, RTF, Word, PowerPoint, Excel, OpenDocument and EPUB.
//!
//! Each format has a reader that writes the text of a file into an [`Extracted`], line by line, with its headings. Pages of a
//! PDF and cells of a notebook are headings too, so that results name them. The lines of a document are those of the extracted
//! text; for a web page they are the lines of the file as far as possible.
//!
//! Files come from strangers. Every reader bounds what it unpacks and what it keeps, expands no entities of a document's own,
//! and loads nothing from elsewhere.

mod body;
mod epub;
mod excel;
mod html;
mod mail;
mod notebook;
mod office;
mod package;
mod pdf;
mod rtf;

use crate::decode::decode;
use crate::document::{Document, Note, Options};
use crate::languages::Category;
use crate::lines::{Lines, extension, has_word, one_line};
use crate::prose::{self, Heading, Outline};
use crate::read::named_format;
use crate::{Role, Skip, role};
use package::Archive;

/// Most bytes of text that are taken from a document.
const MAX_TEXT: usize = 16 << 20;

/// Endings of old office programs, whose files are as often what a program wrote that only meant to please them.
const OLD: &str = "doc ppt pps xls xlt";

/// The format of a file: what its first bytes show, or else what its name says.
fn format(path: &str, bytes: &[u8]) -> Result<Option<&'static str>, Skip> {
    let start = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    if start.starts_with(b"%PDF-") {
        return Ok(Some("pdf"));
    }
    if start.starts_with(rtf::MARK) {
        return Ok(Some("rtf"));
    }
    let Some(named) = named_format(path) else { return Ok(None) };
    match named {
        "html" | "mail" | "jupyter" => return Ok(Some(named)),
        _ if bytes.starts_with(b"PK\x03\x04") => return Ok(Some(packed(bytes)?.unwrap_or(named))),
        _ => {}
    }
    let is_old = has_word(OLD, &extension(path));
    if is_old && bytes.starts_with(package::COMPOUND_FILE) {
        return Err(Skip::Binary);
    }
    let beginning = start[..start.len().min(1_024)].to_ascii_lowercase();
    let begins = |mark: &[u8]| beginning.starts_with(mark);
    if begins(b"<!doctype html") || begins(b"<html") || begins(b"<table") || begins(b"<head") {
        return Ok(Some("html"));
    }
    if begins(b"mime-version:") {
        return Ok(Some("mail"));
    }
    Ok(if is_old { None } else { Some(named) })
}

/// The format of an archive by the names of its files.
fn packed(bytes: &[u8]) -> Result<Option<&'static str>, Skip> {
    let names = Archive::open(bytes)?.names();
    let has = |start: &str| names.iter().any(|name| name.to_lowercase().starts_with(start));
    let formats = [
        ("word/", "word"),
        ("xl/", "excel"),
        ("ppt/", "powerpoint"),
        ("meta-inf/container.xml", "epub"),
        ("content.xml", "opendocument"),
    ];
    Ok(formats.into_iter().find(|(start, _)| has(start)).map(|(_, format)| format))
}

pub fn read(path: &str, bytes: &[u8], options: &Options) -> Result<Option<Document>, Skip> {
    let Some(format) = format(path, bytes)? else { return Ok(None) };
    let role = role(path, Some(format));
    let extracted = match format {
        "jupyter" => return notebook::read(bytes, options, role).map(Some),
        "html" if named_format(path) == Some("html") => match html::page(bytes) {
            Some(page) => page,
            None => return Ok(None),
        },
        "html" => html::extract(&decode(bytes).0)?,
        "mail" => match mail::read(bytes)? {
            Some(mail) => mail,
            None => return Ok(None),
        },
        "rtf" => rtf::read(bytes)?,
        "epub" => epub::read(bytes)?,
        "excel" => excel::read(bytes)?,
        "opendocument" => office::read_open_document(bytes)?,
        "pdf" => pdf::read(bytes)?,
        "powerpoint" => office::read_powerpoint(bytes)?,
        _ => office::read_word(bytes)?,
    };
    if !extracted.has_text() {
        return Err(Skip::NoText);
    }
    Ok(Some(document(extracted, format, options, role)))
}

/// A document of prose from its text.
fn document(extracted: Extracted, language: &'static str, options: &Options, role: Role) -> Document {
    let Extracted { title, headings, tables, notes, dated_ns, .. } = extracted;
    let outline = Outline { headings, tables, title: title.clone(), ..Outline::default() };
    let mut prose = prose::divided(&Lines::new(&extracted.text), &outline, options.limit(), role);
    prose.dated_ns = dated_ns;
    if !extracted.titled_by_headings {
        prose.title = title;
    }
    prose.document(Some(language), Category::Prose, role, notes)
}

// The text taken from a document, written line by line.

/// Longest title and heading, in characters.
const HEADING_LENGTH: usize = 200;

/// Most headings of a document; later ones are lines of text.
const MAX_HEADINGS: usize = 20_000;

/// Text with its headings.
#[derive(Default)]
pub struct Extracted {
    pub title: Option<String>,
    pub headings: Vec<Heading>,
    /// The first and the last line of each table.
    pub tables: Vec<(usize, usize)>,
    pub notes: Vec<Note>,
    /// The date that the document gives, in nanoseconds since 1970.
    pub dated_ns: Option<i64>,
    /// True if the first heading can stand for a missing title; pages and cells cannot.
    pub titled_by_headings: bool,
    /// True if a heading is the title of the whole document.
    pub has_title_line: bool,
    pub text: String,
    /// The number of lines so far.
    pub rows: usize,
    /// The letters and digits in the names of parts.
    of_parts: usize,
    full: bool,
}

impl Extracted {
    /// A text whose first heading can be its title.
    pub fn with_headings() -> Self {
        Self { titled_by_headings: true, ..Self::default() }
    }

    /// Returns `true` if so many bytes of text still fit; otherwise the text is not complete.
    pub fn has_room(&mut self, bytes: usize) -> bool {
        self.full |= self.text.len().saturating_add(bytes) >= MAX_TEXT;
        !self.full
    }

    /// Adds a line; one with line ends in it counts as several.
    pub fn line(&mut self, line: &str) {
        for line in line.split('\n') {
            if !self.has_room(line.len()) {
                return;
            }
            self.text.push_str(line.trim_end());
            self.text.push('\n');
            self.rows += 1;
        }
    }

    /// Adds a row of a table as a line; `first` begins another table.
    pub fn table_row(&mut self, row: &str, first: bool) {
        let start = self.rows;
        self.line(row);
        if let Some(last) = self.rows.checked_sub(1).filter(|last| *last >= start) {
            match self.tables.last_mut().filter(|_| !first) {
                Some(table) => table.1 = last,
                None => self.tables.push((start, last)),
            }
        }
    }

    /// Adds an empty line after one with text.
    pub fn gap(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.line("");
        }
    }

    /// Adds empty lines up to a line of this number, from 0, if there are fewer so far.
    pub fn reach(&mut self, row: usize) {
        while self.rows < row && !self.full {
            self.line("");
        }
    }

    /// Adds a heading as Markdown writes it. Levels count from 1.
    pub fn heading(&mut self, level: usize, text: &str) {
        let text = heading_line(text);
        if text.is_empty() {
            return;
        }
        let marks = "#".repeat(level.clamp(1, 6));
        self.mark(level, &text, &format!("{marks} {text}"));
    }

    /// Adds a line that begins a part of this name: `[page 12]`.
    pub fn part(&mut self, level: usize, name: &str) {
        self.of_parts += letters(name);
        self.mark(level, name, &format!("[{name}]"));
    }

    fn mark(&mut self, level: usize, text: &str, line: &str) {
        let row = self.rows;
        self.line(line);
        if self.rows > row && self.headings.len() < MAX_HEADINGS {
            self.headings.push(Heading { first: row, last: row, level, text: text.to_owned() });
        }
    }

    /// Sets the title, if it says anything.
    pub fn entitle(&mut self, title: &str) {
        let title = heading_line(title);
        if self.title.is_none() && !title.is_empty() {
            self.title = Some(title);
        }
    }

    /// Returns `true` if there is more than names of parts and white space.
    pub fn has_text(&self) -> bool {
        letters(&self.text) > self.of_parts
    }

    /// Fails if there was more text than fits.
    pub fn complete(self) -> Result<Self, Skip> {
        if self.full { Err(Skip::TooLarge) } else { Ok(self) }
    }
}

fn letters(text: &str) -> usize {
    text.chars().filter(|character| character.is_alphanumeric()).count()
}

/// A text on one line, with single spaces, cut to the length of a heading.
fn heading_line(text: &str) -> String {
    one_line(text).chars().filter(|character| !character.is_control()).take(HEADING_LENGTH).collect()
}
