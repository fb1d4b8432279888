//! Fonts: the characters and widths of codes.

use std::collections::HashMap;

use lopdf::{Dictionary, Document, Encoding, Object, ObjectId};

/// Most fonts of a file.
const MAX_FONTS: usize = 4_000;

/// Most bytes that a map to Unicode may unpack to.
const MAX_MAP: usize = 4 << 20;

/// Most widths of a font that are kept.
const MAX_WIDTHS: usize = 70_000;

/// The width of a character that a font does not tell, as a part of its size.
const WIDTH: f64 = 0.5;

/// The descriptions of a file's fonts. A font with a map to Unicode keeps no other encoding, since only that map tells its
/// characters for sure.
pub(super) fn descriptions(document: &Document) -> Vec<(ObjectId, Dictionary)> {
    let fonts = document.objects.iter().filter_map(|(id, object)| {
        let font = object.as_dict().ok()?;
        font.has_type(b"Font").then_some((*id, font))
    });
    let described = fonts.take(MAX_FONTS).map(|(id, font)| {
        let mut font = font.clone();
        if font.get_deref(b"ToUnicode", document).and_then(Object::as_stream).is_ok() {
            font.remove(b"Encoding");
        }
        (id, font)
    });
    described.collect()
}

/// The fonts of a file by their objects.
pub(super) struct Fonts<'a> {
    by_object: HashMap<ObjectId, Font<'a>>,
}

impl<'a> Fonts<'a> {
    pub(super) fn of(document: &'a Document, descriptions: &'a [(ObjectId, Dictionary)]) -> Self {
        Self { by_object: descriptions.iter().map(|(id, font)| (*id, Font::of(document, font))).collect() }
    }

    pub(super) fn get(&self, font: &Object) -> Option<&Font<'a>> {
        self.by_object.get(&font.as_reference().ok()?)
    }
}

pub(super) struct Font<'a> {
    /// The map to Unicode, if the font has one, or else its encoding.
    encoding: Option<Encoding<'a>>,
    /// Codes of two bytes, as in fonts with many characters.
    wide: bool,
    widths: HashMap<u32, f64>,
    other_width: f64,
}

impl<'a> Font<'a> {
    fn of(document: &'a Document, font: &'a Dictionary) -> Self {
        let wide = font.get(b"Subtype").and_then(Object::as_name).ok() == Some(b"Type0");
        let encoding = font.get_font_encoding_with_limit(document, MAX_MAP).ok();
        // Codes of two bytes without a map to Unicode are numbers of glyphs.
        let encoding = encoding.filter(|encoding| !wide || !matches!(encoding, Encoding::OneByteEncoding(_)));
        let mut made = Self { encoding, wide, widths: HashMap::new(), other_width: if wide { 1.0 } else { WIDTH } };
        if wide {
            made.read_wide_widths(document, font);
        } else {
            made.read_widths(document, font);
        }
        made
    }

    fn read_widths(&mut self, document: &Document, font: &Dictionary) {
        let first = font.get_deref(b"FirstChar", document).and_then(Object::as_i64).unwrap_or(0);
        let Ok(widths) = font.get_deref(b"Widths", document).and_then(Object::as_array) else { return };
        // The widths of a font of type 3 are in a space of its own.
        let unit = match font.get_deref(b"FontMatrix", document).and_then(Object::as_array) {
            Ok(matrix) => matrix.first().and_then(|one| one.as_float().ok()).map_or(0.001, f64::from),
            Err(_) => 0.001,
        };
        for (index, width) in widths.iter().enumerate().take(256) {
            let code = u32::try_from(first).unwrap_or(0).saturating_add(u32::try_from(index).unwrap_or(0));
            if let Some(width) = number(document, width).filter(|width| *width > 0.0) {
                self.widths.insert(code, width * unit);
            }
        }
    }

    /// `[ 1 [ 500 600 ] 10 20 700 ]`: the widths from 1 on, and the width of 10 to 20.
    fn read_wide_widths(&mut self, document: &Document, font: &Dictionary) {
        let descendants = font.get_deref(b"DescendantFonts", document).and_then(Object::as_array);
        let Some(descendant) = descendants.ok().and_then(|all| all.first()) else { return };
        let Ok((_, Object::Dictionary(descendant))) = document.dereference(descendant) else { return };
        if let Some(width) = descendant.get_deref(b"DW", document).ok().and_then(|width| number(document, width)) {
            self.other_width = width / 1_000.0;
        }
        let Ok(widths) = descendant.get_deref(b"W", document).and_then(Object::as_array) else { return };
        let mut rest = widths.iter();
        while let Some(first) = rest.next().and_then(|first| number(document, first)) {
            let first = first.max(0.0) as u32;
            match rest.next().and_then(|next| document.dereference(next).ok()) {
                Some((_, Object::Array(each))) => {
                    for (code, width) in (first..).zip(each) {
                        self.widths.extend(number(document, width).map(|width| (code, width / 1_000.0)));
                    }
                }
                Some((_, last)) => {
                    let last = number(document, last).unwrap_or(0.0).max(0.0) as u32;
                    let Some(width) = rest.next().and_then(|width| number(document, width)) else { return };
                    self.widths.extend((first..=last.min(0xffff)).map(|code| (code, width / 1_000.0)));
                }
                None => return,
            }
            if self.widths.len() > MAX_WIDTHS {
                return;
            }
        }
    }

    /// Calls `each` with the code, the characters and the width of each character that `bytes` show.
    pub(super) fn each(&self, bytes: &[u8], mut each: impl FnMut(u32, &str, f64)) {
        let Some(encoding) = &self.encoding else { return };
        for code in bytes.chunks(if self.wide { 2 } else { 1 }) {
            let number = code.iter().fold(0, |number, byte| number << 8 | u32::from(*byte));
            let characters = encoding.bytes_to_string(code).unwrap_or_default();
            let width = self.widths.get(&number).copied().unwrap_or(self.other_width);
            each(if self.wide { 0 } else { number }, &characters, width);
        }
    }
}

fn number(document: &Document, object: &Object) -> Option<f64> {
    let (_, object) = document.dereference(object).ok()?;
    object.as_float().ok().map(f64::from).filter(|number| number.is_finite())
}
