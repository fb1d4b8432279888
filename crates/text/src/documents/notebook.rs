//! Jupyter notebooks: cells instead of JSON. Outputs are left out.

use std::cell::Cell;
use std::fmt;

use serde::Deserializer;
use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::{Extracted, MAX_TEXT};
use crate::decode::{decode, mended};
use crate::document::{Document, HEADING_SEPARATOR, Note, Options, ParseFailure, Passage};
use crate::embedded_data::without_data;
use crate::languages::{Category, Language};
use crate::lines::{Lines, clamp, has_word, number};
use crate::prose::{Heading, Outline, Prose};
use crate::read::passages_of;
use crate::{Role, Skip, prose};

/// The level of a cell: below all headings of Markdown.
const CELL_LEVEL: usize = 7;

/// Most cells and worksheets of a notebook, and what the error for more of them says.
const MAX_CELLS: usize = 50_000;
const TOO_MANY: &str = "too many cells";

/// Lists and objects around a line of a cell: the notebook, its worksheets, one of them, its cells, one of them, its lines.
const DEPTH: usize = 6;

/// The fields that are kept, and those whose lists are the lines of one text.
const FIELDS: &str = "cells worksheets metadata kernelspec language_info name language cell_type source input";
const TEXTS: &str = "source input";

/// What is kept of a value. The rest of it is passed over as it is read: a list takes ten times its text in memory.
#[derive(Default)]
struct Kept {
    text: String,
    items: Vec<Kept>,
    fields: Vec<(String, Kept)>,
}

impl Kept {
    fn get(&self, name: &str) -> Option<&Kept> {
        self.fields.iter().find(|(field, _)| field == name).map(|(_, value)| value)
    }

    fn text(&self, name: &str) -> &str {
        self.get(name).map_or("", |value| &value.text)
    }

    /// The cells of a notebook, or of a worksheet, where version 3 has them.
    fn cells(&self) -> &[Kept] {
        self.get("cells").map_or(&[], |value| &value.items)
    }
}

/// Reads a value.
#[derive(Clone, Copy)]
struct Keep<'a> {
    /// Items of lists that may still be kept.
    left: &'a Cell<usize>,
    /// True for the lines of one text.
    joined: bool,
    /// Lists and objects in one another that are still kept.
    depth: usize,
}

impl<'de> DeserializeSeed<'de> for Keep<'_> {
    type Value = Kept;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Kept, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Keep<'_> {
    type Value = Kept;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Kept, E> {
        Ok(Kept::default())
    }

    fn visit_i64<E>(self, _: i64) -> Result<Kept, E> {
        Ok(Kept::default())
    }

    fn visit_u64<E>(self, _: u64) -> Result<Kept, E> {
        Ok(Kept::default())
    }

    fn visit_f64<E>(self, _: f64) -> Result<Kept, E> {
        Ok(Kept::default())
    }

    fn visit_unit<E>(self) -> Result<Kept, E> {
        Ok(Kept::default())
    }

    fn visit_str<E>(self, text: &str) -> Result<Kept, E> {
        Ok(Kept { text: text.to_owned(), ..Kept::default() })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Kept, A::Error> {
        let mut kept = Kept::default();
        let Some(depth) = self.depth.checked_sub(1) else {
            while list.next_element::<IgnoredAny>()?.is_some() {}
            return Ok(kept);
        };
        while let Some(item) = list.next_element_seed(Keep { depth, ..self })? {
            if self.joined {
                kept.text.push_str(&item.text);
                continue;
            }
            self.left.set(self.left.get().checked_sub(1).ok_or_else(|| Error::custom(TOO_MANY))?);
            kept.items.push(item);
        }
        Ok(kept)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Kept, A::Error> {
        let mut kept = Kept::default();
        while let Some(name) = fields.next_key::<String>()? {
            let Some(depth) = self.depth.checked_sub(1).filter(|_| has_word(FIELDS, &name)) else {
                fields.next_value::<IgnoredAny>()?;
                continue;
            };
            let value = fields.next_value_seed(Keep { joined: has_word(TEXTS, &name), depth, ..self })?;
            kept.fields.retain(|(known, _)| *known != name);
            kept.fields.push((name, value));
        }
        Ok(kept)
    }
}

fn parsed(json: &str) -> Result<Kept, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_str(json);
    let keep = Keep { left: &Cell::new(MAX_CELLS), joined: false, depth: DEPTH };
    let kept = keep.deserialize(&mut deserializer)?;
    deserializer.end().map(|()| kept)
}

/// The language of the cells with code.
fn language(notebook: &Kept) -> &'static Language {
    let metadata = notebook.get("metadata");
    let named = |part: &str, field: &str| Language::resolve(metadata?.get(part)?.text(field));
    named("language_info", "name")
        .or_else(|| named("kernelspec", "language"))
        .or_else(|| named("kernelspec", "name"))
        .or_else(|| Language::from_name("python"))
        .expect("Python is in the table")
}

/// A cell in the text: its first line, which names it, and those of its content.
struct Place {
    number: usize,
    first: usize,
    content: usize,
    code: bool,
}

pub fn read(bytes: &[u8], options: &Options, role: Role) -> Result<Document, Skip> {
    let (json, mut notes) = decode(bytes);
    let refused = |error: serde_json::Error| {
        if error.to_string().contains(TOO_MANY) { Skip::TooLarge } else { Skip::Damaged }
    };
    let notebook = match parsed(&json).map_err(refused) {
        Err(Skip::Damaged) => parsed(&mended(&json)).map_err(refused)?,
        read => read?,
    };
    let language = language(&notebook);
    let (text, places) = written(&notebook)?;
    if places.is_empty() {
        return Err(Skip::NoText);
    }
    let lines = Lines::new(&text.text);
    let outline = outline(&lines, &places);
    let mut passages = prose::divide(&lines, &outline, options.limit(), role);
    let cell_of = |line: u32| {
        let row = line.saturating_sub(1) as usize;
        let after = places.partition_point(|place| place.first <= row);
        &places[after.saturating_sub(1)]
    };
    // Code is divided by its symbols, cell by cell, under the headings that it stands below.
    let mut divided: Vec<Passage> = Vec::with_capacity(passages.len());
    let (mut last, mut of_code) = (None, Vec::new());
    for mut passage in passages.drain(..) {
        let place = cell_of(passage.start_line);
        passage.heading = Some(located(passage.heading.as_deref(), place.number));
        if !place.code {
            divided.push(passage);
        } else if last.replace(place.number) != Some(place.number) {
            let (passages, remarks) = code(&lines, &places, place, language, options, role, passage.heading);
            divided.extend(passages);
            of_code.extend(remarks);
        }
    }
    // Cells are often not whole programs; only what no parser could read within its bound is worth a note.
    notes.extend(
        of_code.into_iter().find(|note| matches!(note, Note::NotParsed { reason: ParseFailure::TooMuchWork, .. })),
    );
    let top = outline.headings.iter().find(|heading| heading.level <= 2);
    let title = top.map(|heading| heading.text.clone());
    let prose = Prose { title, passages: divided, ..Prose::default() };
    Ok(prose.document(Some("jupyter"), Category::Code, role, notes))
}

/// The text of the cells, each below a line with its number.
fn written(notebook: &Kept) -> Result<(Extracted, Vec<Place>), Skip> {
    let worksheets = notebook.get("worksheets").map_or(&[][..], |value| &value.items);
    let cells = notebook.cells().iter().chain(worksheets.iter().flat_map(Kept::cells));
    let (mut text, mut places) = (Extracted::default(), Vec::new());
    for (index, cell) in cells.enumerate() {
        let source = cell.get("source").or_else(|| cell.get("input")).map_or("", |source| &source.text);
        let source = without_data(source.replace("\r\n", "\n").into());
        let source = source.trim_matches('\n');
        if source.trim().is_empty() {
            continue;
        }
        if text.text.len() + source.len() > MAX_TEXT {
            return Err(Skip::TooLarge);
        }
        text.gap();
        let number = index + 1;
        let first = text.rows;
        text.part(CELL_LEVEL, &format!("cell {number}"));
        let content = text.rows;
        text.line(source);
        places.push(Place { number, first, content, code: cell.text("cell_type") == "code" });
    }
    Ok((text.complete()?, places))
}

/// The cells as the lowest headings, and the headings and tables of the cells with Markdown.
fn outline(lines: &Lines<'_>, places: &[Place]) -> Outline {
    let mut outline = Outline::default();
    for (index, place) in places.iter().enumerate() {
        let text = format!("cell {}", place.number);
        outline.headings.push(Heading { first: place.first, last: place.first, level: CELL_LEVEL, text });
        if !place.code {
            let content = lines.slice(place.content, end(lines, places, index));
            let found = prose::outline("markdown", &Lines::new(content));
            outline
                .tables
                .extend(found.tables.iter().map(|(first, last)| (first + place.content, last + place.content)));
            outline.headings.extend(found.headings.into_iter().map(|heading| Heading {
                first: heading.first + place.content,
                last: heading.last + place.content,
                ..heading
            }));
        }
    }
    outline
}

/// The last line of a cell.
fn end(lines: &Lines<'_>, places: &[Place], index: usize) -> usize {
    let last = lines.count().saturating_sub(1);
    places.get(index + 1).map_or(last, |next| next.first.saturating_sub(1).max(places[index].content))
}

/// The headings above a passage, with its cell last.
fn located(heading: Option<&str>, number: usize) -> String {
    let cell = format!("cell {number}");
    match heading {
        None => cell,
        Some(heading) if heading == cell || heading.ends_with(&format!("{HEADING_SEPARATOR}{cell}")) => {
            heading.to_owned()
        }
        Some(heading) => format!("{heading}{HEADING_SEPARATOR}{cell}"),
    }
}

/// The language that a magic gives the lines below it: `%%sql`, `%%writefile weir.sh`; `None` for one that runs them as they are.
fn of_magic(line: &str) -> Option<&'static Language> {
    let mut words = line.trim().strip_prefix("%%")?.split_whitespace();
    match words.next()? {
        "writefile" | "file" => Language::detect(words.last()?, ""),
        "script" => Language::resolve(words.next()?),
        "js" => Language::from_name("javascript"),
        "bigquery" => Language::from_name("sql"),
        name => Language::resolve(name),
    }
}

/// The passages of a cell with code. The first has the line with the number of the cell.
fn code(
    lines: &Lines<'_>,
    places: &[Place],
    place: &Place,
    language: &'static Language,
    options: &Options,
    role: Role,
    heading: Option<String>,
) -> (Vec<Passage>, Vec<Note>) {
    let mut notes = Vec::new();
    let index = places.partition_point(|other| other.first < place.first);
    let last = end(lines, places, index);
    // A magic on the first line gives the rest another language.
    let magic = of_magic(lines.line(place.content)).filter(|_| place.content < last && language.name == "python");
    let (language, content) = magic.map_or((language, place.content), |language| (language, place.content + 1));
    let mut passages =
        passages_of(language, &Lines::new(lines.slice(content, last)), options.limit(), role, &mut notes);
    let shift = clamp(content);
    for (index, passage) in passages.iter_mut().enumerate() {
        passage.start_line = passage.start_line.saturating_add(shift);
        passage.end_line = passage.end_line.saturating_add(shift);
        passage.heading.clone_from(&heading);
        passage.own.language = Some(language.name.to_owned());
        if index == 0 {
            let before = (passage.start_line as usize).saturating_sub(2).max(place.first);
            passage.text = format!("{}\n{}", lines.slice(place.first, before), passage.text);
            passage.start_line = number(place.first);
        }
    }
    (passages, notes)
}
