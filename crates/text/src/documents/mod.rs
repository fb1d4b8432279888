//! Text of files that are not text: notebooks, web pages, PDF, Word, PowerPoint, Excel, OpenDocument and EPUB.
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
mod epub;
#[cfg(feature = "documents")]
mod excel;
#[cfg(feature = "documents")]
mod extracted;
#[cfg(feature = "documents")]
mod html;
#[cfg(feature = "documents")]
mod notebook;
#[cfg(feature = "documents")]
mod open_document;
#[cfg(feature = "documents")]
mod package;
#[cfg(feature = "documents")]
mod pdf;
#[cfg(feature = "documents")]
mod powerpoint;
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
    Notebook,
    OpenDocument,
    Pdf,
    PowerPoint,
    Word,
}

impl Format {
    fn of(path: &str) -> Option<Self> {
        Some(match Language::of(path, "")?.name {
            "epub" => Self::Epub,
            "excel" => Self::Excel,
            "html" => Self::Html,
            "jupyter" => Self::Notebook,
            "opendocument" => Self::OpenDocument,
            "pdf" => Self::Pdf,
            "powerpoint" => Self::PowerPoint,
            "word" => Self::Word,
            _ => return None,
        })
    }
}

/// Returns `true` if the file at `path` is not a text file, but one that [`read_document`] takes the text from: PDF, Word,
/// PowerPoint, Excel, OpenDocument, EPUB or a notebook. A web page is a text file.
///
/// ```
/// assert!(tamis_text::is_document("paper.pdf"));
/// assert!(!tamis_text::is_document("page.html"));
/// ```
#[must_use]
pub fn is_document(path: &str) -> bool {
    cfg!(feature = "documents") && Format::of(path).is_some_and(|format| format != Format::Html)
}

/// Reads the text of a document: a PDF, Word, PowerPoint, Excel, OpenDocument or EPUB file, a notebook or a web page. Returns `None` for another
/// file, and for a template or fragment of HTML, which [`crate::read`] reads as code.
///
/// Memory is bounded, time by the size of the file. The libraries below are tested with damaged files, but
/// a caller that reads files of strangers runs this on a thread of its own with a time limit.
///
/// # Errors
/// The reason why the file has no text to read: [`Skip::Damaged`], [`Skip::Encrypted`], [`Skip::NoText`],
/// [`Skip::TooLarge`], [`Skip::TooMuchWork`], or [`Skip::Data`] for long tables.
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
    match Format::of(path) {
        #[cfg(feature = "documents")]
        Some(format) => crate::bound::bounded(|| reading::read(format, path, bytes, options)),
        _ => {
            let _ = (bytes, options);
            Ok(None)
        }
    }
}

#[cfg(feature = "documents")]
mod reading {
    //! From a format to a document.

    use super::extracted::Extracted;
    use super::{Format, epub, excel, html, notebook, open_document, pdf, powerpoint, word};
    use crate::document::{Document, Options};
    use crate::languages::{Category, Language};
    use crate::lines::Lines;
    use crate::prose::{self, Outline};
    use crate::{Role, Skip, role};

    pub(super) fn read(format: Format, path: &str, bytes: &[u8], options: &Options) -> Result<Option<Document>, Skip> {
        let language = Language::of(path, "").map(|language| language.name);
        let role = role(path, language);
        let extracted = match format {
            Format::Notebook => return notebook::read(bytes, options, role).map(Some),
            Format::Html => match html::page(bytes) {
                Some(page) => page,
                None => return Ok(None),
            },
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
            dated_ns: None,
            attributes: Vec::new(),
            notes: extracted.notes.clone(),
            passages: prose.passages,
        }
    }
}
