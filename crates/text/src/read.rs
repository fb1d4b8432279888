//! Reads a file into a document, and a separate text into passages.

use std::ops::Range;

use jiff::tz::TimeZone;

use crate::decode::decode_words;
use crate::divide::{Piece, pack};
use crate::document::{Document, HEADING_LENGTH, Note, Options, OwnProperties, ParseFailure, Passage};
#[cfg(feature = "documents")]
use crate::documents;
use crate::languages::{Category, Language, Parsing};
use crate::large_text::parts;
use crate::lines::{Lines, clamp, has_word};
use crate::role_by_content::{is_license_header, role_of_text};
use crate::{Kind, Role, Skip, code, dates, divide, prose, skip};

/// Reads the file at `path` (relative, with forward slashes), whose content is `bytes`.
///
/// Always succeeds: a file that does not parse is divided by lines, bytes that do not decode are replaced, and
/// [`Document::notes`] says so. [`crate::skip_by_path`] and [`crate::skip_by_content`] decide which files to read at
/// all. Takes time linear in the size of the file.
///
/// ```
/// use tamis_text::{Kind, Options, read};
///
/// let source = b"/// Opens it.\nfn open() {}\n\nfn close() {}\n";
/// let document = read("src/door.rs", source, &Options::default());
/// assert_eq!(document.language, Some("rust"));
/// let passage = &document.passages[0];
/// assert_eq!((passage.kind, passage.symbol.as_deref()), (Kind::Function, Some("open")));
/// assert_eq!((passage.start_line, passage.end_line), (1, 2));
/// ```
#[must_use]
pub fn read(path: &str, bytes: &[u8], options: &Options) -> Document {
    let (text, notes) = decode_words(bytes);
    let language = Language::of_text(path, &text);
    match parts(language, &text) {
        None => read_text(path, &text, language, notes, options),
        Some(ranges) => read_parts(path, &text, language, notes, options, &ranges),
    }
}

/// Reads some rows of a text as if each range of them were a text of its own, with the lines of the whole.
fn read_parts(
    path: &str,
    text: &str,
    language: Option<&'static Language>,
    notes: Vec<Note>,
    options: &Options,
    ranges: &[Range<usize>],
) -> Document {
    let rows: Vec<&str> = text.split_inclusive('\n').collect();
    let of = |range: &Range<usize>| read_text(path, &rows[range.clone()].concat(), language, Vec::new(), options);
    let (first, others) = ranges.split_first().map_or((0..0, ranges), |(first, others)| (first.clone(), others));
    let mut document = of(&first);
    for range in others {
        let offset = clamp(range.start);
        document.passages.extend(of(range).passages.into_iter().map(|passage| Passage {
            start_line: passage.start_line.saturating_add(offset),
            end_line: passage.end_line.saturating_add(offset),
            ..passage
        }));
    }
    document.notes = notes;
    document.notes.push(Note::Part { read: ranges.iter().map(Range::len).sum(), lines: rows.len() });
    document
}

fn read_text(
    path: &str,
    text: &str,
    language: Option<&'static Language>,
    mut notes: Vec<Note>,
    options: &Options,
) -> Document {
    let lines = Lines::new(text);
    let category = language.map_or(Category::Data, |language| language.category);
    let name = language.map(|language| language.name);
    let role = match role_of_text(path, name, text) {
        Role::Main if category != Category::Prose && skip::is_generated(text.as_bytes()) => Role::Generated,
        Role::Main if category == Category::Code && skip::is_minified(text.as_bytes()) => Role::Generated,
        role => role,
    };
    let max_tokens = options.limit();
    let plain = |(title, passages)| prose::Prose { title, passages, ..prose::Prose::default() };
    let mut prose = match language {
        Some(language) if !matches!(language.parsing, Parsing::Lines) => {
            plain(read_code(language, &lines, max_tokens, role, &mut notes))
        }
        Some(language) if category == Category::Prose => prose::read(language.name, &lines, max_tokens, role),
        Some(language) if language.name == "csv" => {
            let mut passages = passages(&lines, &divide::record_windows(&lines, max_tokens), role);
            let table = prose::Outline { tables: vec![(0, lines.count())], ..prose::Outline::default() };
            for passage in &mut passages {
                passage.context = table.header(&lines, passage.start_line.saturating_sub(1) as usize);
            }
            plain((None, passages))
        }
        _ => plain((None, line_passages(&lines, max_tokens, role))),
    };
    if category == Category::Code {
        let nameless = prose.passages.iter_mut().filter(|passage| passage.symbol.is_none());
        for header in nameless.filter(|passage| passage.role == Role::Main && is_license_header(&passage.text)) {
            header.role = Role::License;
        }
    }
    prose.dated_ns = prose.dated_ns.or_else(|| {
        let day = dates::day_of_name(path).filter(|_| category == Category::Prose)?;
        dates::nanoseconds(dates::midnight(day, &TimeZone::UTC)?)
    });
    prose.document(name, category, role, notes)
}

fn read_code(
    language: &'static Language,
    lines: &Lines<'_>,
    max_tokens: usize,
    role: Role,
    notes: &mut Vec<Note>,
) -> (Option<String>, Vec<Passage>) {
    let grammar = language.grammar().ok_or(ParseFailure::NotBuilt);
    match grammar.and_then(|grammar| code::read(grammar, lines, max_tokens, role)) {
        Ok(code) => {
            if code.error_lines > 0 {
                notes.push(Note::PartlyParsed { language: language.name, lines: code.error_lines });
            }
            (code.title, code.passages)
        }
        Err(reason) => {
            notes.push(Note::NotParsed { language: language.name, reason });
            (None, line_passages(lines, max_tokens, role))
        }
    }
}

/// The passages of a piece of code in this language.
#[cfg(feature = "documents")]
pub fn passages_of(
    language: &'static Language,
    lines: &Lines<'_>,
    max_tokens: usize,
    role: Role,
    notes: &mut Vec<Note>,
) -> Vec<Passage> {
    match language.parsing {
        Parsing::Lines => line_passages(lines, max_tokens, role),
        _ => read_code(language, lines, max_tokens, role, notes).1,
    }
}

fn line_passages(lines: &Lines<'_>, max_tokens: usize, role: Role) -> Vec<Passage> {
    passages(lines, &divide::windows(lines, max_tokens), role)
}

fn passages(lines: &Lines<'_>, pieces: &[Piece], role: Role) -> Vec<Passage> {
    pieces.iter().map(|piece| piece.passage(lines, Kind::Lines, role)).collect()
}

/// The language of a file that holds text but is none, by its name.
pub fn named_format(path: &str) -> Option<&'static str> {
    const FORMATS: &str = "epub excel html jupyter mail opendocument pdf powerpoint rtf word";
    Language::detect(path, "").map(|language| language.name).filter(|name| has_word(FORMATS, name))
}

/// Returns `true` for what Git keeps in place of a large file that has not been fetched.
pub fn is_lfs_pointer(bytes: &[u8]) -> bool {
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
    cfg!(feature = "documents") && named_format(path).is_some_and(|format| format != "html")
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
        false => crate::limits::bounded_document(bytes.len(), || documents::read(path, bytes, options)),
        #[cfg(not(feature = "documents"))]
        false => {
            let _ = (path, options);
            Ok(None)
        }
    }
}

// A separate text: a fragment of a page, or a claim.

/// The passages of a separate text, under a heading that it need not contain. A text that fits is one passage, whatever
/// its form. The passages of a longer one are its parts, numbered from 0.
///
/// ```
/// use tamis_text::{Kind, Options, read_statement};
///
/// let passages = read_statement(Kind::Claim, "A sieve keeps what is coarse.", Some("Sieves"), &Options::default());
/// assert_eq!((passages.len(), passages[0].own.part), (1, None));
/// assert_eq!(passages[0].embedded_text(), "Sieves\nA sieve keeps what is coarse.");
/// ```
#[must_use]
pub fn read_statement(kind: Kind, text: &str, heading: Option<&str>, options: &Options) -> Vec<Passage> {
    let lines = Lines::new(text);
    let Some((first, last)) = lines.count().checked_sub(1).and_then(|last| lines.trim(0, last)) else {
        return Vec::new();
    };
    let max_tokens = options.limit();
    let pieces = pack(&lines, (first, last), lines.token_sums(), max_tokens, |row| divide::badness(&lines, row));
    let heading = heading.map(str::trim).filter(|heading| !heading.is_empty());
    let heading: Option<String> = heading.map(|heading| heading.chars().take(HEADING_LENGTH).collect());
    let several = pieces.len() > 1;
    let numbered = pieces.iter().zip(0_u32..);
    numbered
        .map(|(piece, number)| Passage {
            heading: heading.clone(),
            own: OwnProperties { part: several.then_some(number), ..OwnProperties::default() },
            ..piece.passage(&lines, kind, Role::Main)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_licence_header_is_no_main_text() {
        let source = "// Copyright 2020 The Authors.\n// Licensed under the Apache License.\n\nuse std::fs;\n\npub fn open() {}\n";
        let document = super::read("src/a.rs", source.as_bytes(), &crate::Options::default());
        let role_of = |text: &str| {
            document.passages.iter().find(|passage| passage.text.contains(text)).map(|passage| passage.role)
        };
        assert_eq!(document.role, crate::Role::Main);
        assert_eq!(role_of("fn open"), Some(crate::Role::Main));
        assert_eq!(role_of("Copyright"), Some(crate::Role::License), "{:?}", document.passages);
    }

    #[test]
    fn a_header_is_read_in_the_language_it_is_written_in() {
        let language = |text: &str| read("a.h", text.as_bytes(), &Options::default()).language;
        assert_eq!(language("int f(void);\n"), Some("c"));
        assert_eq!(language("/* One\n   class of things, and\n   using them */\nint f(void);\n"), Some("c"));
        assert_eq!(language("class A {\n};\n"), Some("cpp"));
        assert_eq!(language("#ifdef X\n  template <class T>\nT f();\n#endif\n"), Some("cpp"));
        assert_eq!(language("#import <A/A.h>\n\n@interface B : A\n@end\n"), Some("objectivec"));
        assert_eq!(language("/// @interface of the thing\nint f(void);\n"), Some("c"));
        assert_eq!(read("a.c", b"namespace = 1;\nclass A;\n", &Options::default()).language, Some("c"));
    }

    #[cfg(not(feature = "rust"))]
    #[test]
    fn a_language_that_is_unknown_or_whose_grammar_was_left_out_is_divided_by_lines() {
        let document = read("src/door.rs", b"fn open() {}\n", &Options::default());
        assert_eq!((document.language, document.passages[0].kind), (Some("rust"), Kind::Lines));
        let notes: Vec<String> = document.notes.iter().map(ToString::to_string).collect();
        assert_eq!(notes, ["this build leaves out the grammar of rust, divided by lines"]);
        let document = read("data.xyzzy", b"one\ntwo\n", &Options::default());
        assert_eq!((document.language, document.category, document.collection()), (None, Category::Data, "code"));
        assert_eq!(document.passages[0].kind, Kind::Lines);
    }

    #[test]
    fn a_long_text_is_divided_and_its_parts_are_numbered() {
        let options = Options { max_tokens: 40 };
        let line = "One sentence of some length that is followed by another one of the same length.\n";
        let passages = read_statement(Kind::Fragment, &line.repeat(12), None, &options);
        assert!(passages.len() > 3);
        let parts: Vec<_> = passages.iter().map(|passage| passage.own.part).collect();
        assert_eq!(parts, (0..).take(passages.len()).map(Some).collect::<Vec<_>>());
        assert_eq!(passages.iter().map(|passage| passage.text.lines().count()).sum::<usize>(), 12);
    }

    proptest! {
        #[test]
        fn nothing_but_blanks_is_left_out(text in "[a-z \n.]{0,400}", max_tokens in 0_usize..80) {
            let passages = read_statement(Kind::Claim, &text, Some("h"), &Options { max_tokens });
            let words = |text: &str| text.split_whitespace().collect::<String>();
            let all: String = passages.iter().map(|passage| words(&passage.text)).collect();
            prop_assert_eq!(all, words(&text));
        }
    }
}
