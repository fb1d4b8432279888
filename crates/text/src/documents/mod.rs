//! Text of files that are not text: notebooks, web pages, mail, PDF, RTF, Word, PowerPoint, Excel, OpenDocument and EPUB.
//!
//! Each format has a reader that writes the text of a file into an [`Extracted`], line by line, with its headings. Pages of a
//! PDF and cells of a notebook are headings too, so that results name them. The lines of a document are those of the extracted
//! text; for a web page they are the lines of the file as far as possible.
//!
//! Files come from strangers. Every reader bounds what it unpacks and what it keeps, expands no entities of a document's own,
//! and loads nothing from elsewhere.

#[cfg(feature = "documents")]
mod archive;
#[cfg(feature = "documents")]
mod body;
#[cfg(feature = "documents")]
mod drawing;
#[cfg(feature = "documents")]
mod epub;
#[cfg(feature = "documents")]
mod excel;
#[cfg(feature = "documents")]
mod extracted;
#[cfg(feature = "documents")]
mod html;
#[cfg(feature = "documents")]
mod mail;
#[cfg(feature = "documents")]
mod notebook;
#[cfg(feature = "documents")]
mod number_format;
#[cfg(feature = "documents")]
mod open_document;
#[cfg(feature = "documents")]
mod package;
#[cfg(feature = "documents")]
mod pdf;
#[cfg(feature = "documents")]
mod powerpoint;
#[cfg(feature = "documents")]
mod rtf;
#[cfg(feature = "documents")]
mod word;
#[cfg(feature = "documents")]
mod xml;

use crate::Skip;
use crate::document::{Document, Options};
use crate::languages::Language;

/// Most bytes of text that are taken from a document.
#[cfg(feature = "documents")]
const MAX_TEXT: usize = 16 << 20;

/// A format whose files hold text but are none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Epub,
    Excel,
    Html,
    Mail,
    Notebook,
    OpenDocument,
    Pdf,
    PowerPoint,
    Rtf,
    Word,
}

impl Format {
    fn of(path: &str) -> Option<Self> {
        Some(match Language::of(path, "")?.name {
            "epub" => Self::Epub,
            "excel" => Self::Excel,
            "html" => Self::Html,
            "jupyter" => Self::Notebook,
            "mail" => Self::Mail,
            "opendocument" => Self::OpenDocument,
            "pdf" => Self::Pdf,
            "powerpoint" => Self::PowerPoint,
            "rtf" => Self::Rtf,
            "word" => Self::Word,
            _ => return None,
        })
    }
}

/// Returns `true` for what Git keeps in place of a large file that has not been fetched.
pub(crate) fn is_lfs_pointer(bytes: &[u8]) -> bool {
    const LONGEST: usize = 1_024;
    bytes.len() < LONGEST
        && bytes.starts_with(b"version https://git-lfs.github.com/spec/")
        && bytes.split(|byte| *byte == b'\n').any(|line| line.starts_with(b"oid "))
}

/// Returns `true` if the file at `path` is not a text file, but one that [`read_document`] takes the text from: PDF, RTF, Word,
/// PowerPoint, Excel, OpenDocument, EPUB, mail or a notebook. A web page is a text file.
///
/// ```
/// assert!(tamis_text::is_document("paper.pdf"));
/// assert!(!tamis_text::is_document("page.html"));
/// ```
#[must_use]
pub fn is_document(path: &str) -> bool {
    cfg!(feature = "documents") && Format::of(path).is_some_and(|format| format != Format::Html)
}

/// Reads the text of a document: a PDF, RTF, Word, PowerPoint, Excel, OpenDocument or EPUB file, mail, a notebook or a web page.
/// Where the first bytes of a file show another of these formats than its name, they count. Returns `None` for another file, and
/// for a template or fragment of HTML, which [`crate::read`] reads as code.
///
/// Memory is bounded, and so is time, by the size of the file. Within a library nothing looks at the clock, so a caller that reads
/// files of strangers runs this on a thread of its own with a time limit.
///
/// # Errors
/// The reason why the file has no text to read: [`Skip::Damaged`], [`Skip::Encrypted`], [`Skip::NoText`],
/// [`Skip::TooLarge`], [`Skip::TooMuchWork`], [`Skip::LfsPointer`], [`Skip::Binary`] for the formats of old office programs, or
/// [`Skip::Data`] for long tables.
///
/// ```
/// use tamis_text::{Options, read_document};
///
/// let page = "<!DOCTYPE html><title>Boiler</title><nav>Home</nav>\n<h1>Boiler</h1>\n<p>".to_owned()
///     + &"Bleed it in autumn. ".repeat(20);
/// let document = read_document("boiler.html", page.as_bytes(), &Options::default()).unwrap().unwrap();
/// assert_eq!(document.title.as_deref(), Some("Boiler"));
/// assert_eq!((document.passages[0].start_line, document.passages[0].heading.as_deref()), (2, Some("Boiler")));
/// assert!(read_document("a.rs", b"fn a() {}", &Options::default()).unwrap().is_none());
/// ```
pub fn read_document(path: &str, bytes: &[u8], options: &Options) -> Result<Option<Document>, Skip> {
    match is_lfs_pointer(bytes) {
        true => Err(Skip::LfsPointer),
        #[cfg(feature = "documents")]
        false => crate::bound::bounded_document(bytes.len(), || reading::read(path, bytes, options)),
        #[cfg(not(feature = "documents"))]
        false => {
            let _ = (path, options);
            Ok(None)
        }
    }
}

#[cfg(feature = "documents")]
mod reading {
    //! From a format to a document.

    use super::archive::Archive;
    use super::extracted::Extracted;
    use super::package::COMPOUND_FILE;
    use super::{Format, epub, excel, html, mail, notebook, open_document, pdf, powerpoint, rtf, word};
    use crate::decode::decode;
    use crate::document::{Document, Options};
    use crate::languages::Category;
    use crate::lines::Lines;
    use crate::prose::{self, Outline};
    use crate::{Role, Skip, role};

    /// Endings of old office programs, whose files are as often what a program wrote that only meant to please them.
    const OLD: &[&str] = &["doc", "ppt", "pps", "xls", "xlt"];

    /// The language of a format.
    fn name(format: Format) -> &'static str {
        match format {
            Format::Epub => "epub",
            Format::Excel => "excel",
            Format::Html => "html",
            Format::Mail => "mail",
            Format::Notebook => "jupyter",
            Format::OpenDocument => "opendocument",
            Format::Pdf => "pdf",
            Format::PowerPoint => "powerpoint",
            Format::Rtf => "rtf",
            Format::Word => "word",
        }
    }

    /// The format of a file: what its first bytes show, or else what its name says.
    fn format(path: &str, bytes: &[u8]) -> Result<Option<Format>, Skip> {
        let named = Format::of(path);
        let start = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
        if start.starts_with(b"%PDF-") {
            return Ok(Some(Format::Pdf));
        }
        if start.starts_with(rtf::MARK) {
            return Ok(Some(Format::Rtf));
        }
        let Some(named) = named else { return Ok(None) };
        match named {
            Format::Html | Format::Mail | Format::Notebook => return Ok(Some(named)),
            _ if bytes.starts_with(b"PK\x03\x04") => return Ok(Some(packed(bytes)?.unwrap_or(named))),
            _ => {}
        }
        let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension).to_ascii_lowercase();
        let is_old = OLD.contains(&extension.as_str());
        if is_old && bytes.starts_with(COMPOUND_FILE) {
            return Err(Skip::Binary);
        }
        let beginning = start[..start.len().min(1_024)].to_ascii_lowercase();
        let begins = |mark: &[u8]| beginning.starts_with(mark);
        if begins(b"<!doctype html") || begins(b"<html") || begins(b"<table") || begins(b"<head") {
            return Ok(Some(Format::Html));
        }
        if begins(b"mime-version:") {
            return Ok(Some(Format::Mail));
        }
        Ok(if is_old { None } else { Some(named) })
    }

    /// The format of an archive by the names of its files.
    fn packed(bytes: &[u8]) -> Result<Option<Format>, Skip> {
        let names = Archive::open(bytes)?.names();
        let has = |start: &str| names.iter().any(|name| name.to_lowercase().starts_with(start));
        let formats = [
            ("word/", Format::Word),
            ("xl/", Format::Excel),
            ("ppt/", Format::PowerPoint),
            ("meta-inf/container.xml", Format::Epub),
            ("content.xml", Format::OpenDocument),
        ];
        Ok(formats.into_iter().find(|(start, _)| has(start)).map(|(_, format)| format))
    }

    pub(super) fn read(path: &str, bytes: &[u8], options: &Options) -> Result<Option<Document>, Skip> {
        let Some(format) = format(path, bytes)? else { return Ok(None) };
        let language = Some(name(format));
        let role = role(path, language);
        let extracted = match format {
            Format::Notebook => return notebook::read(bytes, options, role).map(Some),
            Format::Html if Format::of(path) == Some(Format::Html) => match html::page(bytes) {
                Some(page) => page,
                None => return Ok(None),
            },
            Format::Html => html::extract(&decode(bytes).0)?,
            Format::Mail => match mail::read(bytes)? {
                Some(mail) => mail,
                None => return Ok(None),
            },
            Format::Rtf => rtf::read(bytes)?,
            Format::Epub => epub::read(bytes)?,
            Format::Excel => excel::read(bytes)?,
            Format::OpenDocument => open_document::read(bytes)?,
            Format::Pdf => pdf::read(bytes)?,
            Format::PowerPoint => powerpoint::read(bytes)?,
            Format::Word => word::read(bytes)?,
        };
        if !extracted.has_text() {
            return Err(Skip::NoText);
        }
        Ok(Some(document(&extracted, language, options, role)))
    }

    /// A document of prose from its text.
    fn document(extracted: &Extracted, language: Option<&'static str>, options: &Options, role: Role) -> Document {
        let lines = Lines::new(extracted.text());
        let title = extracted.title.clone();
        let (headings, tables) = (extracted.headings.clone(), extracted.tables.clone());
        let outline = Outline { headings, tables, title: title.clone(), ..Outline::default() };
        let prose = prose::divided(&lines, &outline, options.limit(), role);
        Document {
            language,
            category: Category::Prose,
            role,
            title: if extracted.titled_by_headings { prose.title } else { title },
            severity: None,
            dated_ns: extracted.dated_ns,
            attributes: Vec::new(),
            notes: extracted.notes.clone(),
            passages: prose.passages,
        }
    }
}
