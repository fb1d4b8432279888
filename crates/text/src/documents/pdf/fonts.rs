//! Fonts: the characters and widths of codes.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::ptr;
use std::rc::Rc;

use lopdf::{Dictionary, Object};
use unicode_normalization::UnicodeNormalization;

use super::cmap::Map;
use super::encodings::{self, Glyphs, Predefined, Table};
use super::load::File;
use crate::lines::contains;

/// Most fonts of a file.
const MAX_FONTS: usize = 4_000;

/// Most bytes that a map to Unicode may unpack to, and all maps and programs of a file together.
const MAX_MAP: usize = 4 << 20;
const MAX_MAPS: usize = 32 << 20;

/// Most differences of a font from its encoding.
const MAX_DIFFERENCES: usize = 2_000;

/// Most bytes of the name of a glyph.
const MAX_GLYPH_NAME: usize = 1_000;

/// Most widths of all fonts that are kept.
const MAX_WIDTHS: usize = 1 << 20;

/// The width of a character that a font does not tell, as a part of its size.
const WIDTH: f64 = 0.5;

/// The fonts of a file, read when they are first used.
pub struct Fonts<'a> {
    file: File<'a>,
    read: RefCell<HashMap<*const Dictionary, Rc<Font>>>,
    /// Maps that are known by name, and those of collections by their orderings.
    predefined: RefCell<HashMap<Vec<u8>, Option<Rc<Predefined>>>>,
    ordered: OnceCell<Rc<Glyphs>>,
    /// Bytes of maps that may still be unpacked, and widths that may still be kept.
    maps: Cell<usize>,
    widths: Cell<usize>,
}

impl<'a> Fonts<'a> {
    pub fn new(file: File<'a>) -> Self {
        let (read, predefined, ordered) = Default::default();
        Self { file, read, predefined, ordered, maps: Cell::new(MAX_MAPS), widths: Cell::new(MAX_WIDTHS) }
    }

    /// A font of this description, which may stand anywhere in the file.
    pub fn get(&self, font: &'a Object) -> Option<Rc<Font>> {
        let font = self.file.dictionary(font)?;
        let key = ptr::from_ref(font);
        if let Some(known) = self.read.borrow().get(&key) {
            return Some(known.clone());
        }
        if self.read.borrow().len() >= MAX_FONTS {
            return None;
        }
        let made = Rc::new(self.font(font));
        self.read.borrow_mut().insert(key, made.clone());
        Some(made)
    }

    fn font(&self, font: &'a Dictionary) -> Font {
        let unicode = self.to_unicode(font);
        let wide = self.file.get_name(font, b"Subtype") == Some(b"Type0") || font.has(b"DescendantFonts");
        if wide {
            return self.wide(font, unicode);
        }
        let mut made = Font::new(unicode, Codes::Bytes(self.table(font)), WIDTH);
        self.read_widths(&mut made, font);
        made
    }

    /// The unpacked content of a stream, as far as there is room.
    fn unpacked(&self, stream: &'a lopdf::Stream) -> Vec<u8> {
        let content = self.file.content(stream, MAX_MAP.min(self.maps.get())).unwrap_or_default();
        self.maps.set(self.maps.get().saturating_sub(content.len()));
        content
    }

    fn to_unicode(&self, font: &'a Dictionary) -> ToUnicode {
        match self.file.get(font, b"ToUnicode") {
            Some(Object::Stream(stream)) => {
                let map = Map::read(&self.unpacked(stream), encodings::glyph);
                let base = map.based_on().and_then(|name| self.predefined(name));
                if map.is_empty() && base.is_none() { ToUnicode::None } else { ToUnicode::Map(map, base) }
            }
            Some(Object::Name(name)) if name.starts_with(b"Identity") => ToUnicode::Identity,
            Some(Object::Name(name)) => {
                self.predefined(name).map_or(ToUnicode::None, |map| ToUnicode::Map(Map::default(), Some(map)))
            }
            _ => ToUnicode::None,
        }
    }

    /// The characters of codes of one byte: those of the base encoding, and those that differ from it.
    fn table(&self, font: &'a Dictionary) -> Table {
        let described = self.file.get(font, b"Encoding");
        let dictionary = described.and_then(|encoding| encoding.as_dict().ok());
        let base = match described {
            Some(Object::Name(name)) => encodings::standard_table(name),
            _ => dictionary
                .and_then(|encoding| self.file.get_name(encoding, b"BaseEncoding"))
                .and_then(encodings::standard_table),
        };
        let mut table = base.or_else(|| self.built_in(font)).unwrap_or_else(|| {
            let name = self.file.get_name(font, b"BaseFont").unwrap_or_default();
            let name: &[u8] = match self.file.get_name(font, b"Subtype") {
                _ if name.ends_with(b"Symbol") => b"SymbolEncoding",
                Some(b"TrueType") => b"WinAnsiEncoding",
                _ => b"StandardEncoding",
            };
            encodings::standard_table(name).unwrap_or_default()
        });
        table.resize(256, None);
        let differences = dictionary.and_then(|encoding| self.file.get(encoding, b"Differences"));
        let mut code = 0_usize;
        for difference in differences.and_then(|all| all.as_array().ok()).into_iter().flatten().take(MAX_DIFFERENCES) {
            match self.file.resolved(difference) {
                Some(Object::Name(name)) => {
                    // The name of a glyph that says nothing leaves the character that others have at this place.
                    if let Some(place) = table.get_mut(code)
                        && let Some(characters) = glyph_at(name, code)
                    {
                        *place = Some(characters);
                    }
                    code += 1;
                }
                Some(number) => code = number.as_float().map_or(code, |number| number.max(0.0) as usize),
                None => {}
            }
        }
        table
    }

    /// The encoding in the program of a font.
    fn built_in(&self, font: &'a Dictionary) -> Option<Table> {
        let (kind, program) = self.program(font)?;
        match kind {
            b"FontFile" => encodings::built_into_type1(&program),
            b"FontFile2" => encodings::built_into_truetype(&program),
            _ => encodings::built_into_compact(&program),
        }
    }

    /// The program of a font, and the key that it has in the description.
    fn program(&self, font: &'a Dictionary) -> Option<(&'static [u8], Vec<u8>)> {
        let descriptor = self.file.get_dictionary(font, b"FontDescriptor")?;
        let kinds: [&'static [u8]; 3] = [b"FontFile", b"FontFile2", b"FontFile3"];
        kinds.into_iter().find_map(|kind| match self.file.get(descriptor, kind) {
            Some(Object::Stream(program)) => Some((kind, self.unpacked(program))),
            _ => None,
        })
    }

    fn read_widths(&self, made: &mut Font, font: &'a Dictionary) {
        let get = |dictionary, key: &[u8]| self.file.get(dictionary, key);
        let first = get(font, b"FirstChar").and_then(|first| first.as_float().ok()).unwrap_or(0.0).max(0.0) as u32;
        let descriptor = get(font, b"FontDescriptor").and_then(|descriptor| descriptor.as_dict().ok());
        let missing = descriptor.and_then(|descriptor| get(descriptor, b"MissingWidth"));
        if let Some(width) = missing.and_then(|width| self.file.number(width)).filter(|width| *width > 0.0) {
            made.other_width = width / 1_000.0;
        }
        let Some(Object::Array(widths)) = get(font, b"Widths") else {
            let name = self.file.get_name(font, b"BaseFont").unwrap_or_default();
            match &made.codes {
                _ if contains(name, b"Courier") => made.other_width = 0.6,
                Codes::Bytes(table) => {
                    let first = |characters: &Option<String>| characters.as_ref()?.chars().next();
                    let width = |(code, characters)| Some((code, standard_width(name, first(characters)?)?));
                    made.widths.extend((0..).zip(table).filter_map(width));
                }
                _ => {}
            }
            return;
        };
        // The widths of a font of type 3 are in a space of its own.
        let matrix = get(font, b"FontMatrix").and_then(|matrix| matrix.as_array().ok());
        let unit = matrix.and_then(|matrix| self.file.number(matrix.first()?)).unwrap_or(0.001);
        for (code, width) in (first..256).zip(widths) {
            if let Some(width) = self.file.number(width).filter(|width| *width > 0.0) {
                made.widths.insert(code, width * unit);
            }
        }
        if self.file.get_name(font, b"Subtype") == Some(b"Type3") && !made.widths.is_empty() {
            made.em = made.widths.values().sum::<f64>() / made.widths.len() as f64 / WIDTH;
        }
    }

    /// A font with codes of several bytes.
    fn wide(&self, font: &'a Dictionary, unicode: ToUnicode) -> Font {
        let codes = match self.file.get(font, b"Encoding") {
            Some(Object::Name(name)) => self.predefined(name).map_or(Codes::Numbers, Codes::Predefined),
            Some(Object::Stream(stream)) => {
                let map = Map::read(&self.unpacked(stream), encodings::glyph);
                let base = map.based_on().or_else(|| self.file.get_name(&stream.dict, b"UseCMap"));
                match base.and_then(|name| self.predefined(name)) {
                    _ if map.has_spaces() => Codes::Mapped(map),
                    Some(based) => Codes::Predefined(based),
                    None => Codes::Numbers,
                }
            }
            _ => Codes::Numbers,
        };
        let mut made = Font::new(unicode, codes, 1.0);
        let descendant = match self.file.get(font, b"DescendantFonts") {
            Some(Object::Array(all)) => all.first().and_then(|first| self.file.dictionary(first)),
            Some(other) => other.as_dict().ok(),
            None => None,
        };
        if let Some(descendant) = descendant {
            self.read_wide_widths(&mut made, descendant);
            made.collection = self.collection(descendant).or_else(|| match &made.codes {
                Codes::Predefined(map) => map.of_glyphs().map(Rc::new),
                _ => None,
            });
            if made.collection.is_none() && matches!(made.unicode, ToUnicode::None) {
                made.glyphs = self.glyphs(descendant);
            }
        }
        made
    }

    /// The characters of a font's glyphs: by the table of its program, or in the usual order if it is not in the file.
    fn glyphs(&self, descendant: &'a Dictionary) -> Option<Rc<Glyphs>> {
        const COST: usize = 0x1_0000;
        match self.program(descendant) {
            None => Some(self.ordered.get_or_init(|| Rc::new(encodings::ordered())).clone()),
            Some((b"FontFile2", program)) if self.widths.get() >= COST => {
                self.widths.set(self.widths.get() - COST);
                let renumbered = matches!(self.file.get(descendant, b"CIDToGIDMap"), Some(Object::Stream(_)));
                (!renumbered).then(|| Rc::new(encodings::of_truetype(&program)))
            }
            Some(_) => None,
        }
    }

    fn predefined(&self, name: &[u8]) -> Option<Rc<Predefined>> {
        self.known(name, || Predefined::from_name(name))
    }

    fn known(&self, name: &[u8], make: impl FnOnce() -> Option<Predefined>) -> Option<Rc<Predefined>> {
        let mut known = self.predefined.borrow_mut();
        known.entry(name.to_vec()).or_insert_with(|| make().map(Rc::new)).clone()
    }

    /// The characters of glyphs whose numbers are those of a collection that everybody has.
    fn collection(&self, descendant: &'a Dictionary) -> Option<Rc<Predefined>> {
        let system = self.file.get_dictionary(descendant, b"CIDSystemInfo")?;
        let part = |key| self.file.get(system, key).and_then(|part| part.as_str().ok());
        let (registry, ordering) = (part(b"Registry")?, part(b"Ordering")?);
        self.known(ordering, || Predefined::collection(registry, ordering))
    }

    /// `[ 1 [ 500 600 ] 10 20 700 ]`: the widths from 1 on, and the width of 10 to 20.
    fn read_wide_widths(&self, made: &mut Font, descendant: &'a Dictionary) {
        let get = |key: &[u8]| self.file.get(descendant, key);
        if let Some(width) = get(b"DW").and_then(|width| self.file.number(width)) {
            made.other_width = width / 1_000.0;
        }
        let Some(Object::Array(widths)) = get(b"W") else { return };
        let mut left = self.widths.get();
        let mut insert = |code: u32, width: Option<f64>| {
            left = left.saturating_sub(1);
            if left > 0 {
                made.widths.extend(width.map(|width| (code, width / 1_000.0)));
            }
            left > 0
        };
        let mut rest = widths.iter();
        while let Some(first) = rest.next().and_then(|first| self.file.number(first)) {
            let first = first.max(0.0) as u32;
            match rest.next().and_then(|next| self.file.resolved(next)) {
                Some(Object::Array(each)) => {
                    if !(first..).zip(each).all(|(code, width)| insert(code, self.file.number(width))) {
                        break;
                    }
                }
                Some(last) => {
                    let last = self.file.number(last).unwrap_or(0.0).max(0.0) as u32;
                    let Some(width) = rest.next().and_then(|width| self.file.number(width)) else { break };
                    if !(first..=last.min(0xffff)).all(|code| insert(code, Some(width))) {
                        break;
                    }
                }
                None => break,
            }
        }
        self.widths.set(left);
    }
}

/// The characters of a glyph by its name, or else by its code, where a program named it `a65` or `g65`.
fn glyph_at(name: &[u8], code: usize) -> Option<String> {
    // A page can show it a million times.
    let name = &name[..name.len().min(MAX_GLYPH_NAME)];
    encodings::glyph(name).or_else(|| {
        let is_hidden = name.first().is_none_or(|first| *first == b'.');
        (is_hidden || code < 32).then(String::new)
    })
}

enum ToUnicode {
    /// A map in the file, and one for codes that it lacks.
    Map(Map, Option<Rc<Predefined>>),
    /// Codes are characters.
    Identity,
    None,
}

impl ToUnicode {
    fn get(&self, code: u32) -> Option<String> {
        match self {
            Self::Map(map, base) => map.get(code).or_else(|| base.as_ref()?.characters(code)),
            Self::Identity => char::from_u32(code).filter(|character| !character.is_control()).map(String::from),
            Self::None => None,
        }
    }
}

/// How long codes are, and their characters without a map to Unicode.
enum Codes {
    /// One byte each.
    Bytes(Table),
    /// Two bytes each, which are the numbers of glyphs.
    Numbers,
    /// Lengths and numbers of glyphs by a map in the file.
    Mapped(Map),
    /// The same by a map that is known by its name.
    Predefined(Rc<Predefined>),
}

pub struct Font {
    unicode: ToUnicode,
    codes: Codes,
    /// The characters of glyphs by their numbers.
    collection: Option<Rc<Predefined>>,
    /// The characters of glyphs by their numbers, for a font without a map.
    glyphs: Option<Rc<Glyphs>>,
    /// The widths of codes, or of glyphs by their numbers.
    widths: HashMap<u32, f64>,
    other_width: f64,
    /// The height of a line as a part of the size. A font of type 3 has a space of its own, and we guess it from the widths.
    pub em: f64,
}

impl Font {
    fn new(unicode: ToUnicode, codes: Codes, other_width: f64) -> Self {
        Self { unicode, codes, collection: None, glyphs: None, widths: HashMap::new(), other_width, em: 1.0 }
    }

    /// Calls `each` with the characters and the width of each code in `bytes`, and whether it is a space of one byte.
    pub fn each(&self, bytes: &[u8], mut each: impl FnMut(&str, f64, bool)) {
        let mut rest = bytes;
        while !rest.is_empty() {
            let (length, mapped) = match &self.codes {
                Codes::Bytes(_) => (1, None),
                Codes::Numbers => (2, None),
                Codes::Mapped(map) => (map.length(rest), None),
                Codes::Predefined(map) => map.first(rest),
            };
            let (bytes, after) = rest.split_at(length.clamp(1, rest.len()));
            rest = after;
            let code = bytes.iter().fold(0, |code, byte| code << 8 | u32::from(*byte));
            let number = match &self.codes {
                Codes::Mapped(map) => map.number(code).unwrap_or(code),
                _ => mapped.unwrap_or(code),
            };
            let characters = self.unicode.get(code).or_else(|| match &self.codes {
                Codes::Bytes(table) => table.get(code as usize).cloned().flatten(),
                codes => {
                    self.collection.as_ref().and_then(|collection| collection.characters(number)).or_else(
                        || match codes {
                            Codes::Predefined(map) => map.own(bytes),
                            _ => self.glyphs.as_ref().and_then(|glyphs| glyphs.get(&number).map(char::to_string)),
                        },
                    )
                }
            });
            let width = self.widths.get(&number).copied().unwrap_or(self.other_width);
            each(characters.as_deref().unwrap_or_default(), width, bytes == b" ");
        }
    }
}

// Widths of the fonts that every reader has, by Adobe's font metrics: a file that uses them need not tell them.

// Widths of the characters from the space to the tilde, in thousandths of the size.
const HELVETICA: &str = "\
    278 278 355 556 556 889 667 191 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556 556 556 278 278 \
    584 584 584 556 1015 667 667 722 722 667 611 778 722 278 500 667 556 833 722 778 667 778 722 667 611 722 667 944 \
    667 667 611 278 278 278 469 556 333 556 556 500 556 556 278 556 556 222 222 500 222 833 556 556 556 556 333 500 \
    278 556 500 722 500 500 500 334 260 334 584";
const HELVETICA_BOLD: &str = "\
    278 333 474 556 556 889 722 238 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556 556 556 333 333 \
    584 584 584 611 975 722 722 722 722 667 611 778 722 278 556 722 611 833 722 778 667 778 722 667 611 722 667 944 \
    667 667 611 333 278 333 584 556 333 556 611 556 611 556 333 611 611 278 278 556 278 889 611 611 611 611 389 556 \
    333 611 556 778 556 556 500 389 280 389 584";
const TIMES: &str = "\
    250 333 408 500 500 833 778 180 333 333 500 564 250 333 250 278 500 500 500 500 500 500 500 500 500 500 278 278 \
    564 564 564 444 921 722 667 667 722 611 556 722 722 333 389 722 611 889 722 722 556 722 667 556 611 722 722 944 \
    722 722 611 333 278 333 469 500 333 444 500 444 500 444 333 500 500 278 278 500 278 778 500 500 500 500 333 389 \
    278 500 500 722 500 500 444 480 200 480 541";
const TIMES_BOLD: &str = "\
    250 333 555 500 500 1000 833 278 333 333 500 570 250 333 250 278 500 500 500 500 500 500 500 500 500 500 333 333 \
    570 570 570 500 930 722 667 722 722 667 611 778 778 389 500 778 667 944 722 778 611 778 722 556 667 722 722 1000 \
    722 722 667 333 278 333 581 500 333 500 556 444 556 444 333 500 556 278 333 556 278 833 556 500 556 556 444 389 \
    333 556 500 722 500 500 444 394 220 394 520";
const TIMES_ITALIC: &str = "\
    250 333 420 500 500 833 778 214 333 333 500 675 250 333 250 278 500 500 500 500 500 500 500 500 500 500 333 333 \
    675 675 675 500 920 611 611 667 722 611 611 722 722 333 444 667 556 833 667 722 611 722 611 500 556 722 611 833 \
    611 556 556 389 278 389 422 500 333 500 500 444 500 444 278 500 500 278 278 444 278 722 500 500 500 500 389 389 \
    278 500 444 667 444 444 389 400 275 400 541";

/// The width of a character in the font of this name, as a part of its size. A letter with an
/// accent counts as the letter, and other fonts as Helvetica.
fn standard_width(font: &[u8], character: char) -> Option<f64> {
    let widths = match (contains(font, b"Times"), contains(font, b"Bold"), contains(font, b"Italic")) {
        (true, true, _) => TIMES_BOLD,
        (true, false, true) => TIMES_ITALIC,
        (true, false, false) => TIMES,
        (false, true, _) => HELVETICA_BOLD,
        (false, false, _) => HELVETICA,
    };
    let place = u32::from(character.nfd().next()?).checked_sub(u32::from(' '))?;
    Some(widths.split(' ').nth(place as usize)?.parse::<f64>().ok()? / 1_000.0)
}
