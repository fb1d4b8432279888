//! Jupyter notebooks: cells instead of JSON. Outputs are left out.

use std::fmt;

use serde::de::{Error, IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::MAX_TEXT;
use super::extracted::Extracted;
use crate::decode::decode;
use crate::document::{Document, HEADING_SEPARATOR, Options, Passage};
use crate::languages::{Category, Language};
use crate::lines::Lines;
use crate::mended_json::mended;
use crate::pictures::without_data;
use crate::prose::{self, Heading, Outline};
use crate::read::passages_of;
use crate::{Role, Skip};

/// The level of a cell: below all headings of Markdown.
const CELL_LEVEL: usize = 7;

/// Most cells of a notebook, and what the error for more of them says.
const MAX_CELLS: usize = 50_000;
const TOO_MANY: &str = "too many cells";

/// The cells of a notebook, as many as it may have.
#[derive(Default)]
struct Cells(Vec<Lenient<Cell>>);

impl<'de> Deserialize<'de> for Cells {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Within;
        impl<'de> Visitor<'de> for Within {
            type Value = Cells;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a list of cells")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Cells, A::Error> {
                let mut cells = Vec::new();
                while let Some(cell) = sequence.next_element()? {
                    if cells.len() == MAX_CELLS {
                        return Err(Error::custom(TOO_MANY));
                    }
                    cells.push(cell);
                }
                Ok(Cells(cells))
            }
        }
        deserializer.deserialize_seq(Within)
    }
}

/// What is read of a value; one of another form is passed over.
#[derive(Deserialize)]
#[serde(untagged)]
enum Lenient<T> {
    Read(T),
    Other(IgnoredAny),
}

impl<T> Default for Lenient<T> {
    fn default() -> Self {
        Self::Other(IgnoredAny)
    }
}

impl<T> Lenient<T> {
    fn read(&self) -> Option<&T> {
        match self {
            Self::Read(value) => Some(value),
            Self::Other(_) => None,
        }
    }
}

#[derive(Deserialize)]
struct Notebook {
    #[serde(default)]
    cells: Cells,
    /// Where version 3 has its cells.
    #[serde(default)]
    worksheets: Vec<Lenient<Worksheet>>,
    #[serde(default)]
    metadata: Lenient<Metadata>,
}

#[derive(Deserialize)]
struct Worksheet {
    #[serde(default)]
    cells: Cells,
}

#[derive(Deserialize)]
struct Cell {
    #[serde(default)]
    cell_type: Lenient<String>,
    #[serde(default, alias = "input")]
    source: Lenient<Source>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Source {
    Whole(String),
    Lines(Vec<Lenient<String>>),
}

impl Cell {
    fn source(&self) -> String {
        match self.source.read() {
            Some(Source::Whole(source)) => source.clone(),
            Some(Source::Lines(lines)) => lines.iter().filter_map(Lenient::read).map(String::as_str).collect(),
            None => String::new(),
        }
    }
}

#[derive(Deserialize, Default)]
struct Metadata {
    kernelspec: Option<Kernel>,
    language_info: Option<Kernel>,
}

#[derive(Deserialize, Default)]
struct Kernel {
    /// Of the language information, the name of the language; of the kernel, its own.
    name: Option<String>,
    language: Option<String>,
}

impl Metadata {
    /// The language of the cells with code.
    fn language(&self) -> &'static Language {
        let (kernel, language) = (self.kernelspec.as_ref(), self.language_info.as_ref());
        let names = [
            language.and_then(|language| language.name.as_ref()),
            kernel.and_then(|kernel| kernel.language.as_ref()),
            kernel.and_then(|kernel| kernel.name.as_ref()),
        ];
        let known =
            names.into_iter().flatten().filter(|name| !name.is_empty()).find_map(|name| Language::resolve(name));
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

pub(super) fn read(bytes: &[u8], options: &Options, role: Role) -> Result<Document, Skip> {
    let (json, notes) = decode(bytes);
    let refused = |error: serde_json::Error| {
        if error.to_string().contains(TOO_MANY) { Skip::TooLarge } else { Skip::Damaged }
    };
    let notebook: Notebook = match serde_json::from_str(&json).map_err(refused) {
        Err(Skip::Damaged) => serde_json::from_str(&mended(&json)).map_err(refused)?,
        read => read?,
    };
    let language = notebook.metadata.read().unwrap_or(&Metadata::default()).language();
    let (text, places) = written(&notebook)?;
    if places.is_empty() {
        return Err(Skip::NoText);
    }
    let lines = Lines::new(text.text());
    let outline = outline(&lines, &places);
    let mut passages = prose::divide(&lines, &outline, options.limit(), role);
    let cell_of = |line: u32| {
        let row = line.saturating_sub(1) as usize;
        let after = places.partition_point(|place| place.first <= row);
        &places[after.saturating_sub(1)]
    };
    // Code is divided by its symbols, cell by cell, under the headings that it stands below.
    let mut divided: Vec<Passage> = Vec::with_capacity(passages.len());
    let mut last = None;
    for mut passage in passages.drain(..) {
        let place = cell_of(passage.start_line);
        passage.heading = Some(located(passage.heading.as_deref(), place.number));
        if !place.code {
            divided.push(passage);
        } else if last.replace(place.number) != Some(place.number) {
            divided.extend(code(&lines, &places, place, language, options, role, passage.heading));
        }
    }
    let top = outline.headings.iter().find(|heading| heading.level <= 2);
    let title = top.map(|heading| heading.text.clone());
    Ok(Document {
        language: Language::named("jupyter").map(|language| language.name),
        category: Category::Code,
        role,
        title,
        severity: None,
        dated_ns: None,
        attributes: Vec::new(),
        notes,
        passages: divided,
    })
}

/// The text of the cells, each below a line with its number.
fn written(notebook: &Notebook) -> Result<(Extracted, Vec<Place>), Skip> {
    let sheets = notebook.worksheets.iter().filter_map(Lenient::read);
    let cells = notebook.cells.0.iter().chain(sheets.flat_map(|sheet| &sheet.cells.0));
    let (mut text, mut places) = (Extracted::default(), Vec::new());
    for (index, cell) in cells.enumerate() {
        let Some(cell) = cell.read() else { continue };
        let source = without_data(cell.source().replace("\r\n", "\n").into());
        let source = source.trim_matches('\n');
        if source.trim().is_empty() {
            continue;
        }
        if text.text().len() + source.len() > MAX_TEXT {
            return Err(Skip::TooLarge);
        }
        text.gap();
        let number = index + 1;
        let first = text.rows();
        text.part(CELL_LEVEL, &format!("cell {number}"));
        let content = text.rows();
        text.line(source);
        places.push(Place { number, first, content, code: cell.cell_type.read().is_some_and(|kind| kind == "code") });
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
) -> Vec<Passage> {
    let index = places.partition_point(|other| other.first < place.first);
    let last = end(lines, places, index);
    // A magic on the first line gives the rest another language.
    let magic = of_magic(lines.line(place.content)).filter(|_| place.content < last && language.name == "python");
    let (language, content) = magic.map_or((language, place.content), |language| (language, place.content + 1));
    let mut passages = passages_of(language, &Lines::new(lines.slice(content, last)), options.limit(), role);
    let shift = u32::try_from(content).unwrap_or(u32::MAX);
    for (index, passage) in passages.iter_mut().enumerate() {
        passage.start_line = passage.start_line.saturating_add(shift);
        passage.end_line = passage.end_line.saturating_add(shift);
        passage.heading.clone_from(&heading);
        passage.language = Some(language.name.to_owned());
        if index == 0 {
            let before = (passage.start_line as usize).saturating_sub(2).max(place.first);
            passage.text = format!("{}\n{}", lines.slice(place.first, before), passage.text);
            passage.start_line = u32::try_from(place.first + 1).unwrap_or(u32::MAX);
        }
    }
    passages
}
