//! Jupyter notebooks: cells instead of JSON. Outputs are left out.

use std::fmt;

use serde::de::{Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::{Extracted, MAX_TEXT};
use crate::decode::{decode, mended};
use crate::document::{Document, HEADING_SEPARATOR, Note, Options, ParseFailure, Passage};
use crate::languages::{Category, Language};
use crate::lines::{Lines, clamp, number};
use crate::pictures::without_data;
use crate::prose::{Heading, Outline, Prose};
use crate::read::passages_of;
use crate::{Role, Skip, prose};

/// The level of a cell: below all headings of Markdown.
const CELL_LEVEL: usize = 7;

/// Most cells of a notebook, and what the error for more of them says.
const MAX_CELLS: usize = 50_000;
const TOO_MANY: &str = "too many cells";

/// What is kept of a value. The rest of it, and values of another form, are passed over as they are read: a list takes ten times
/// its text in memory.
trait Kept: Default {
    fn string(&mut self, _text: &str) {}

    fn list<'de, A: SeqAccess<'de>>(&mut self, mut list: A) -> Result<(), A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }

    fn field<'de, A: MapAccess<'de>>(&mut self, _name: &str, fields: &mut A) -> Result<(), A::Error> {
        fields.next_value::<IgnoredAny>().map(drop)
    }
}

#[derive(Default)]
struct Value<T>(T);

impl<'de, T: Kept> Deserialize<'de> for Value<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self(T::default()))
    }
}

impl<'de, T: Kept> Visitor<'de> for Value<T> {
    type Value = Self;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(mut self, text: &str) -> Result<Self, E> {
        self.0.string(text);
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, list: A) -> Result<Self, A::Error> {
        self.0.list(list)?;
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut fields: A) -> Result<Self, A::Error> {
        while let Some(name) = fields.next_key::<String>()? {
            self.0.field(&name, &mut fields)?;
        }
        Ok(self)
    }
}

/// Keeps these fields of an object.
macro_rules! keep_fields {
    ($type:ident { $($($name:literal)|+ => $field:tt),+ }) => {
        impl Kept for $type {
            fn field<'de, A: MapAccess<'de>>(&mut self, name: &str, fields: &mut A) -> Result<(), A::Error> {
                match name {
                    $($($name)|+ => self.$field = value(fields)?,)+
                    _ => drop(fields.next_value::<IgnoredAny>()?),
                }
                Ok(())
            }
        }
    };
}

fn value<'de, T: Kept, A: MapAccess<'de>>(fields: &mut A) -> Result<T, A::Error> {
    fields.next_value::<Value<T>>().map(|value| value.0)
}

/// A string, or the strings of a list.
#[derive(Default)]
struct Text(String);

impl Kept for Text {
    fn string(&mut self, text: &str) {
        self.0.push_str(text);
    }

    fn list<'de, A: SeqAccess<'de>>(&mut self, mut list: A) -> Result<(), A::Error> {
        while let Some(Value(line)) = list.next_element::<Value<String>>()? {
            self.0.push_str(&line);
        }
        Ok(())
    }
}

impl Kept for String {
    fn string(&mut self, text: &str) {
        self.push_str(text);
    }
}

#[derive(Default)]
struct Cell {
    kind: String,
    source: Text,
}

keep_fields!(Cell { "cell_type" => kind, "source" | "input" => source });

/// The cells of a notebook, as many as it may have.
#[derive(Default)]
struct Cells(Vec<Cell>);

impl Kept for Cells {
    fn list<'de, A: SeqAccess<'de>>(&mut self, mut list: A) -> Result<(), A::Error> {
        while let Some(Value(cell)) = list.next_element()? {
            if self.0.len() == MAX_CELLS {
                return Err(Error::custom(TOO_MANY));
            }
            self.0.push(cell);
        }
        Ok(())
    }
}

/// Where version 3 has its cells.
#[derive(Default)]
struct Worksheets(Cells);

impl Kept for Worksheets {
    fn list<'de, A: SeqAccess<'de>>(&mut self, mut list: A) -> Result<(), A::Error> {
        while let Some(Value(Worksheet(cells))) = list.next_element()? {
            if self.0.0.len() + cells.0.len() > MAX_CELLS {
                return Err(Error::custom(TOO_MANY));
            }
            self.0.0.extend(cells.0);
        }
        Ok(())
    }
}

#[derive(Default)]
struct Worksheet(Cells);

keep_fields!(Worksheet { "cells" => 0 });

#[derive(Default)]
struct Notebook {
    cells: Cells,
    worksheets: Worksheets,
    metadata: Metadata,
}

keep_fields!(Notebook { "cells" => cells, "worksheets" => worksheets, "metadata" => metadata });

#[derive(Default)]
struct Metadata {
    kernel: Kernel,
    language: Kernel,
}

keep_fields!(Metadata { "kernelspec" => kernel, "language_info" => language });

#[derive(Default)]
struct Kernel {
    /// Of the language information, the name of the language; of the kernel, its own.
    name: String,
    language: String,
}

keep_fields!(Kernel { "name" => name, "language" => language });

impl Metadata {
    /// The language of the cells with code.
    fn language(&self) -> &'static Language {
        let names = [&self.language.name, &self.kernel.language, &self.kernel.name];
        let known = names.into_iter().filter(|name| !name.is_empty()).find_map(|name| Language::resolve(name));
        known.or_else(|| Language::named("python")).expect("Python is in the table")
    }
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
    let notebook: Value<Notebook> = match serde_json::from_str(&json).map_err(refused) {
        Err(Skip::Damaged) => serde_json::from_str(&mended(&json)).map_err(refused)?,
        read => read?,
    };
    let notebook = notebook.0;
    let language = notebook.metadata.language();
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
fn written(notebook: &Notebook) -> Result<(Extracted, Vec<Place>), Skip> {
    let cells = notebook.cells.0.iter().chain(&notebook.worksheets.0.0);
    let (mut text, mut places) = (Extracted::default(), Vec::new());
    for (index, cell) in cells.enumerate() {
        let source = without_data(cell.source.0.replace("\r\n", "\n").into());
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
        places.push(Place { number, first, content, code: cell.kind == "code" });
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
        "writefile" | "file" => Language::of(words.last()?, ""),
        "script" => Language::resolve(words.next()?),
        "js" => Language::named("javascript"),
        "bigquery" => Language::named("sql"),
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
        passage.language = Some(language.name.to_owned());
        if index == 0 {
            let before = (passage.start_line as usize).saturating_sub(2).max(place.first);
            passage.text = format!("{}\n{}", lines.slice(place.first, before), passage.text);
            passage.start_line = number(place.first);
        }
    }
    (passages, notes)
}
