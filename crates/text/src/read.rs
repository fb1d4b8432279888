//! Reads a file into a document.

use crate::decode::decode_words;
use crate::document::{Document, Note, Options, ParseFailure, Passage};
use crate::languages::{Category, Language, Parsing};
use crate::license_header::is_license_header;
use crate::lines::Lines;
use crate::pack::Piece;
use crate::parts::parts;
use crate::role_by_content::role_of_text;
use crate::{Kind, Role, by_lines, code, dates, prose, skip};
use jiff::tz::TimeZone;
use std::ops::Range;

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
        let offset = u32::try_from(range.start).unwrap_or(u32::MAX);
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
            let mut passages = passages(&lines, &by_lines::record_windows(&lines, max_tokens), role);
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
    notes.extend(prose.notes);
    Document {
        language: name,
        category,
        role,
        title: prose.title,
        severity: prose.severity,
        dated_ns: prose.dated_ns.or_else(|| {
            let day = dates::day_of_name(path).filter(|_| category == Category::Prose)?;
            dates::nanoseconds(dates::midnight(day, &TimeZone::UTC)?)
        }),
        attributes: Vec::new(),
        notes,
        passages: prose.passages,
    }
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
pub(crate) fn passages_of(
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
    passages(lines, &by_lines::windows(lines, max_tokens), role)
}

fn passages(lines: &Lines<'_>, pieces: &[Piece], role: Role) -> Vec<Passage> {
    pieces.iter().map(|piece| piece.passage(lines, Kind::Lines, role)).collect()
}

#[cfg(test)]
mod tests {
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

    use super::*;

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
    fn a_language_whose_grammar_was_left_out_is_divided_by_lines_with_a_note() {
        let document = read("src/door.rs", b"fn open() {}\n", &Options::default());
        assert_eq!((document.language, document.passages[0].kind), (Some("rust"), Kind::Lines));
        assert_eq!(
            document.notes.iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["this build leaves out the grammar of rust, divided by lines"]
        );
    }

    #[test]
    fn a_file_of_an_unknown_language_is_read_by_lines() {
        let document = read("data.xyzzy", b"one\ntwo\n", &Options::default());
        assert_eq!((document.language, document.category, document.collection()), (None, Category::Data, "code"));
        assert_eq!(document.passages[0].kind, Kind::Lines);
    }
}
