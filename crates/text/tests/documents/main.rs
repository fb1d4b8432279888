//! Text of documents: small files of every format, and what cannot be read.

#![cfg(feature = "documents")]

mod files;
mod hostile;
mod office;
mod pdf;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use tamis_text::{Document, Options, Skip, read_document};

/// A file of `fixtures/`.
fn fixture(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/documents/fixtures").join(name);
    fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn read(name: &str) -> Result<Option<Document>, Skip> {
    read_document(name, &fixture(name), &Options::default())
}

/// The passages with their places and texts.
fn told(document: &Document) -> String {
    let title = document.title.as_deref().unwrap_or_default();
    let mut text = format!("{} {} title={title:?}\n", document.language.unwrap_or("unknown"), document.collection());
    for passage in &document.passages {
        let heading = passage.heading.as_deref().unwrap_or("-");
        let _ = write!(text, "\n{}-{} {} {heading}", passage.start_line, passage.end_line, passage.kind);
        for part in passage.symbol.iter().chain(&passage.own.language) {
            let _ = write!(text, " ({part})");
        }
        for line in passage.text.lines() {
            let _ = write!(text, "\n    {line}");
        }
        text.push('\n');
    }
    text
}

const FILES: &[(&str, &str)] = &[
    ("pdf", "heating.pdf"),
    ("word", "minutes.docx"),
    ("open_document", "letter.odt"),
    ("epub", "lighthouse.epub"),
    ("notebook", "bees.ipynb"),
    ("html", "roof.html"),
];

#[test]
fn every_format_is_read_and_every_line_is_in_one_passage() {
    for &(format, name) in FILES {
        let document = read(name).expect("text").expect("a document");
        insta::assert_snapshot!(format, told(&document));
        let mut last = 0;
        for passage in &document.passages {
            assert!(passage.start_line > last, "{name}: {passage:?}");
            assert_eq!(passage.text.lines().count() as u32, passage.end_line - passage.start_line + 1, "{name}");
            last = passage.end_line;
        }
    }
}

#[test]
fn what_has_no_text_says_why_and_a_template_stays_code() {
    assert_eq!([read("locked.pdf").err(), read("scan.pdf").err()], [Some(Skip::Encrypted), Some(Skip::NoText)]);
    assert_eq!(read("damaged.pdf").err(), Some(Skip::Damaged));
    // The whole objects of a file cut short may hold no text, and yet it is no scan.
    let scan = fixture("scan.pdf");
    let short = &scan[..scan.len() - b"%%EOF".len()];
    assert_eq!(read_document("a.pdf", short, &Options::default()).err(), Some(Skip::Damaged));
    for (path, bytes) in [("a.pdf", &b"%PDF-1.7"[..]), ("a.docx", b"PK\x03\x04"), ("a.epub", b""), ("a.ipynb", b"{")] {
        assert_eq!(read_document(path, bytes, &Options::default()).err(), Some(Skip::Damaged), "{path}");
    }
    assert_eq!(read_document("a.ipynb", b"{}", &Options::default()).err(), Some(Skip::NoText));
    let template = "<!DOCTYPE html><html><body>{% block main %}<p>{{ it }}</p>{% endblock %}</body></html>\n".repeat(9);
    assert!(read_document("a.html", template.as_bytes(), &Options::default()).is_ok_and(|read| read.is_none()));
    assert!(read_document("a.md", b"# a", &Options::default()).is_ok_and(|read| read.is_none()));
}
