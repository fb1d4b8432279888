//! Excel files (`.xlsx`): the rows of each sheet as lines with bars.

use super::MAX_TEXT;
use super::body::Body;
use super::extracted::Extracted;
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
    let mut extracted = Extracted::default();
    entitle(&mut package.archive, &mut extracted);
    for (name, sheet) in sheets {
        let Some(content) = package.archive.read(&sheet)? else { continue };
        let mut body = Body::new(&mut extracted);
        body.part(&format!("sheet {name}"));
        rows(&content, &shared, &mut body)?;
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
        Node::End("si") => strings.push(std::mem::take(&mut current)),
        _ => {}
    })?;
    if length > MAX_TEXT || strings.len() > MAX_ALL_CELLS { Err(Skip::Data) } else { Ok(strings) }
}

fn rows(xml: &[u8], shared: &[String], body: &mut Body<'_>) -> Result<(), Skip> {
    let (mut value, mut text, mut is_shared) = (String::new(), false, false);
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
            is_shared = attributes.get("t").is_some_and(|kind| kind == "s");
        }
        Node::Start("v" | "t", _) => text = true,
        Node::End("v" | "t") => text = false,
        Node::Text(part) if text => value.push_str(part),
        Node::End("c") => {
            let own = std::mem::take(&mut value);
            let content =
                if is_shared { own.trim().parse().ok().and_then(|at: usize| shared.get(at)) } else { Some(&own) };
            body.begin(None, false);
            body.text(content.map_or("", String::as_str));
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
