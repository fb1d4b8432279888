//! Excel files (`.xlsx`): the rows of each sheet as lines with bars.

use std::borrow::Cow;
use std::collections::HashMap;

use super::MAX_TEXT;
use super::body::Body;
use super::drawing;
use super::extracted::Extracted;
use super::number_format::NumberFormat;
use super::package::Package;
use super::word::entitle;
use super::xml::{self, Node};
use crate::Skip;

/// Most bytes of text of a file that people read; more is data.
const MAX_TABLE: usize = 256 << 10;

/// Most cells of a row that are counted, and of a sheet.
const MAX_CELLS: usize = 256;
const MAX_ALL_CELLS: usize = 1 << 20;

pub(super) fn read(bytes: &[u8]) -> Result<Extracted, Skip> {
    let mut package = Package::open(bytes)?;
    let main = package.main("xl/workbook.xml");
    let workbook = package.archive.require(&main)?;
    let sheets = package.listed(&main, &workbook, "sheet")?;
    let shared = package.related(&main, "sharedStrings").first().and_then(|name| package.archive.optional(name));
    let shared = shared.map(|shared| strings(&shared)).transpose()?.unwrap_or_default();
    let styles = package.related(&main, "styles").first().and_then(|name| package.archive.optional(name));
    let formats = styles.map(|styles| formats(&styles)).unwrap_or_default();
    let since_1904 = counts_from_1904(&workbook);
    let mut extracted = Extracted::default();
    entitle(&mut package.archive, &mut extracted);
    for (name, sheet) in sheets {
        let Some(content) = package.archive.read(&sheet)? else { continue };
        let mut body = Body::new(&mut extracted);
        body.part(&format!("sheet {name}"));
        let values = Values { shared: &shared, formats: &formats, since_1904 };
        rows(&content, &values, &mut body)?;
        for part in package.related(&sheet, "drawing") {
            if let Some(content) = package.archive.optional(&part) {
                extracted.gap();
                drawing::text(&content, &mut extracted);
                drawing::add(&mut package, &part, &mut extracted);
            }
        }
        if extracted.text().len() > MAX_TABLE || !extracted.has_room(0) {
            return Err(Skip::Data);
        }
    }
    extracted.complete()
}

/// The texts that cells share. People read no file with more of them than text is taken from a document.
fn strings(xml: &[u8]) -> Result<Vec<String>, Skip> {
    let (mut strings, mut length) = (Vec::new(), 0);
    let (mut current, mut text, mut reading) = (String::new(), false, false);
    xml::walk(xml, |node| match node {
        _ if length > MAX_TEXT || strings.len() > MAX_ALL_CELLS => {}
        Node::Start("rPh", _) => reading = true,
        Node::End("rPh") => reading = false,
        Node::Start("t", _) => text = !reading,
        Node::End("t") => text = false,
        Node::Text(part) if text => {
            length += part.len();
            current.push_str(part);
        }
        Node::End("si") => strings.push(unescaped(&std::mem::take(&mut current))),
        _ => {}
    })?;
    if length > MAX_TEXT || strings.len() > MAX_ALL_CELLS { Err(Skip::Data) } else { Ok(strings) }
}

/// Control characters in a text, such as `_x000D_`, in their own form.
fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("_x") {
        let code = rest.get(start + 2..start + 7).and_then(|code| code.strip_suffix('_'));
        match code.and_then(|digits| u32::from_str_radix(digits, 16).ok()).and_then(char::from_u32) {
            Some(character) => {
                plain.push_str(&rest[..start]);
                plain.push(character);
                rest = &rest[start + 7..];
            }
            None => {
                plain.push_str(&rest[..start + 2]);
                rest = &rest[start + 2..];
            }
        }
    }
    plain.push_str(rest);
    plain.replace("\r\n", "\n").replace('\r', "\n")
}

/// The format of the numbers of each style.
fn formats(xml: &[u8]) -> Vec<NumberFormat> {
    let mut own: HashMap<u32, NumberFormat> = HashMap::new();
    let (mut formats, mut of_cells) = (Vec::new(), false);
    // Without its styles a sheet still has its numbers.
    let _ = xml::walk(xml, |node| match node {
        Node::Start("numFmt", attributes) => {
            let number = attributes.get("numFmtId").and_then(|number| number.parse().ok());
            let code = attributes.get("formatCode").unwrap_or_default();
            own.extend(number.map(|number| (number, NumberFormat::parse(&code))));
        }
        Node::Start("cellXfs", _) => of_cells = true,
        Node::End("cellXfs") => of_cells = false,
        Node::Start("xf", attributes) if of_cells => {
            let number = attributes.get("numFmtId").and_then(|number| number.parse().ok()).unwrap_or(0);
            formats.push(own.get(&number).copied().unwrap_or_else(|| NumberFormat::built_in(number)));
        }
        _ => {}
    });
    formats
}

fn counts_from_1904(workbook: &[u8]) -> bool {
    let mut since_1904 = false;
    let _ = xml::walk(workbook, |node| {
        if let Node::Start("workbookPr", attributes) = node {
            since_1904 = attributes.get("date1904").is_some_and(|value| matches!(value.as_str(), "1" | "true"));
        }
    });
    since_1904
}

/// What turns the content of cells into what they show.
struct Values<'a> {
    shared: &'a [String],
    formats: &'a [NumberFormat],
    since_1904: bool,
}

impl Values<'_> {
    /// What a cell of this type and style shows.
    fn shown(&self, stored: &str, kind: &str, style: usize) -> Cow<'_, str> {
        match kind {
            "s" => {
                let shared = stored.trim().parse().ok().and_then(|at: usize| self.shared.get(at));
                Cow::Borrowed(shared.map_or("", String::as_str))
            }
            "b" => Cow::Borrowed(if stored.trim() == "0" { "FALSE" } else { "TRUE" }),
            "" | "n" if !stored.is_empty() => {
                let format = self.formats.get(style).unwrap_or(&NumberFormat::General);
                Cow::Owned(format.shown(stored, self.since_1904))
            }
            _ => Cow::Owned(unescaped(stored)),
        }
    }
}

fn rows(xml: &[u8], values: &Values<'_>, body: &mut Body<'_>) -> Result<(), Skip> {
    let (mut value, mut text, mut kind, mut style) = (String::new(), false, String::new(), 0);
    let (mut cells, mut all) = (0, 0);
    xml::walk(xml, |node| match node {
        _ if all > MAX_ALL_CELLS => {}
        Node::Start("row", _) => {
            all += 1;
            cells = 0;
            body.begin_row();
        }
        Node::Start("c", attributes) => {
            let place = attributes.get("r").and_then(|place| column(&place)).unwrap_or(cells);
            // Empty cells are left out of the file.
            while cells <= place.min(MAX_CELLS) {
                body.begin_cell();
                cells += 1;
                all += 1;
            }
            kind = attributes.get("t").unwrap_or_default();
            style = attributes.get("s").and_then(|style| style.parse().ok()).unwrap_or(0);
        }
        Node::Start("v" | "t", _) => text = true,
        Node::End("v" | "t") => text = false,
        Node::Text(part) if text => value.push_str(part),
        Node::End("c") => {
            let own = std::mem::take(&mut value);
            body.begin(None, false);
            body.text(&values.shown(&own, &kind, style));
            body.end();
        }
        Node::End("row") => body.end_row(),
        _ => {}
    })?;
    if all > MAX_ALL_CELLS { Err(Skip::Data) } else { Ok(()) }
}

/// The column of a cell from 0 on: 27 of `AB12`.
fn column(place: &str) -> Option<usize> {
    let letters = place.bytes().take_while(u8::is_ascii_uppercase).take(3);
    letters.fold(0, |column, letter| column * 26 + usize::from(letter - b'A') + 1).checked_sub(1)
}
