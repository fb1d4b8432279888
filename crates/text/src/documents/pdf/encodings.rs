//! Encodings: the characters that codes stand for where a font has no map to Unicode.

use std::collections::HashMap;

use hayro_cmap::{BfString, CMap, CMapName, CidFamily};
use lopdf::{Dictionary, Document, Object};
use ttf_parser::{Face, PlatformId};

use crate::lines::contains;

/// The characters of the 256 codes of a font with codes of one byte.
pub type Table = Vec<Option<String>>;

/// The table of a standard encoding, by its name in files.
pub fn standard_table(name: &[u8]) -> Option<Table> {
    if name == b"SymbolEncoding" {
        return Some(symbols());
    }
    if !matches!(name, b"WinAnsiEncoding" | b"MacRomanEncoding" | b"MacExpertEncoding" | b"StandardEncoding") {
        return None;
    }
    let mut table: Table = as_font(Object::Name(name.to_vec()), |encoding| match encoding {
        lopdf::Encoding::OneByteEncoding(glyphs) => {
            let characters = |unit: u16| char::from_u32(u32::from(unit)).map(String::from);
            glyphs.iter().map(|glyph| glyph.and_then(|glyph| characters(glyph.utf16_code_unit()))).collect()
        }
        _ => Vec::new(),
    });
    table.resize(256, None);
    Some(table)
}

/// The Greek letters and signs of the font Symbol.
fn symbols() -> Table {
    const FIRST: usize = 0x20;
    const SYMBOLS: &str =
        " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_ αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼";
    let mut table = vec![None; 256];
    for (code, character) in SYMBOLS.chars().enumerate() {
        table[FIRST + code] = Some(character.into());
    }
    for (code, character) in
        [(0xa2, "′"), (0xa3, "≤"), (0xa5, "∞"), (0xb1, "±"), (0xb3, "≥"), (0xb4, "×"), (0xb7, "•"), (0xb9, "≠")]
    {
        table[code] = Some(character.into());
    }
    table
}

/// The characters of glyphs by their numbers.
pub type Glyphs = HashMap<u32, char>;

/// The characters of the first glyphs of most TrueType fonts, whose order is that of the Macintosh.
pub fn ordered() -> Glyphs {
    const FIRST: u32 = 3;
    let table = standard_table(b"MacRomanEncoding").unwrap_or_default();
    let characters = table[0x20..0x7f].iter().chain(&table[0x80..]);
    let first = |characters: &Option<String>| characters.as_ref()?.chars().next();
    (FIRST..).zip(characters).filter_map(|(glyph, characters)| Some((glyph, first(characters)?))).collect()
}

/// Characters that are looked up in a TrueType font.
const LAST_CHARACTER: u16 = 0xffff;

/// The characters of the glyphs of a TrueType font, by its own table; empty if it has none.
pub fn of_truetype(program: &[u8]) -> Glyphs {
    let Ok(face) = Face::parse(program, 0) else { return Glyphs::new() };
    let mut glyphs = Glyphs::new();
    for character in (0..=LAST_CHARACTER).filter_map(|code| char::from_u32(code.into())) {
        if let Some(glyph) = face.glyph_index(character) {
            glyphs.entry(glyph.0.into()).or_insert(character);
        }
    }
    glyphs
}

/// The encoding in a TrueType font for codes of one byte, whose glyphs have names.
pub fn built_into_truetype(program: &[u8]) -> Option<Table> {
    let face = Face::parse(program, 0).ok()?;
    let tables = face.tables().cmap?.subtables;
    let own = |platform: PlatformId, code: u16| {
        let mut tables = tables.into_iter().filter(|table| table.platform_id == platform && table.encoding_id == 0);
        tables.find_map(|table| table.glyph_index(code.into()))
    };
    let characters = |code: u16| {
        let number = own(PlatformId::Windows, 0xf000 + code).or_else(|| own(PlatformId::Macintosh, code))?;
        glyph(face.glyph_name(number)?.as_bytes())
    };
    some((0..256).map(characters).collect())
}

/// The encoding in a font in the compact format.
pub fn built_into_compact(program: &[u8]) -> Option<Table> {
    let font = ttf_parser::cff::Table::parse(program)?;
    let characters = |code| glyph(font.glyph_name(font.glyph_index(code)?)?.as_bytes());
    some((0..=255).map(characters).collect())
}

/// The encoding in the program of a Type 1 font: `dup 65 /A put`.
pub fn built_into_type1(program: &[u8]) -> Option<Table> {
    let start = program.windows(9).position(|window| window == b"/Encoding")?;
    let head = &program[start + 9..];
    let end = head.windows(5).position(|window| window == b"eexec").unwrap_or(head.len());
    let text = String::from_utf8_lossy(&head[..end]);
    let mut words = text.split_ascii_whitespace().peekable();
    if words.peek() == Some(&"StandardEncoding") {
        return None;
    }
    let mut table = vec![None; 256];
    while let Some(word) = words.next() {
        if word != "dup" {
            continue;
        }
        let Some(code) = words.next().and_then(|code| code.parse::<usize>().ok()) else { continue };
        if let Some(name) = words.next().and_then(|name| name.strip_prefix('/'))
            && let Some(place) = table.get_mut(code)
        {
            *place = glyph(name.as_bytes());
        }
    }
    some(table)
}

/// A table that says anything.
fn some(table: Table) -> Option<Table> {
    Some(table).filter(|table| table.iter().any(Option::is_some))
}

/// The characters of a glyph by its name: those of the list that everybody uses, `uni0041`, `u1F600`, several joined by `_`, and
/// any of them with a suffix: `a.sc`.
pub fn glyph(name: &[u8]) -> Option<String> {
    let name = std::str::from_utf8(name).ok()?;
    let base = name.split('.').next().filter(|base| !base.is_empty())?;
    base.split('_').map(one_glyph).collect()
}

fn one_glyph(name: &str) -> Option<String> {
    if let Some(digits) = name.strip_prefix("uni").filter(|digits| !digits.is_empty() && digits.len() % 4 == 0) {
        let units: Option<Vec<u16>> = digits
            .as_bytes()
            .chunks(4)
            .map(|unit| u16::from_str_radix(std::str::from_utf8(unit).ok()?, 16).ok())
            .collect();
        if let Some(text) = units.and_then(|units| String::from_utf16(&units).ok()) {
            return Some(text);
        }
    }
    if let Some(digits) = name.strip_prefix('u').filter(|digits| (4..=6).contains(&digits.len()))
        && let Some(character) = u32::from_str_radix(digits, 16).ok().and_then(char::from_u32)
    {
        return Some(character.into());
    }
    // The library has the list, and gives it out by the encoding of a font.
    let mut differences = Dictionary::new();
    differences.set("Differences", vec![Object::Integer(0), Object::Name(name.as_bytes().to_vec())]);
    as_font(Object::Dictionary(differences), |encoding| match encoding {
        lopdf::Encoding::Differences(found) => {
            let unit = found.map.get(&0)?.utf16_code_unit();
            char::from_u32(u32::from(unit)).map(String::from)
        }
        _ => None,
    })
}

/// Passes to `with` what the library makes of an encoding.
fn as_font<T>(encoding: Object, with: impl FnOnce(&lopdf::Encoding) -> T) -> T {
    let document = Document::new();
    let mut font = Dictionary::new();
    font.set("Type", Object::Name(b"Font".to_vec()));
    font.set("Encoding", encoding);
    let found = font.get_font_encoding(&document);
    with(found.as_ref().unwrap_or(&lopdf::Encoding::SimpleEncoding(b"")))
}

/// A map that readers know by name: from the codes of Chinese, Japanese and Korean encodings to numbers of glyphs
/// (`90ms-RKSJ-H`), or from those to characters (`Adobe-Japan1-UCS2`).
pub struct Predefined {
    /// `None` for a map of UTF-16 that is not among those known.
    map: Option<CMap>,
    /// Codes are UTF-16.
    unicode: bool,
}

impl Predefined {
    /// The map of this name; `None` for the identity, which needs none.
    pub fn from_name(name: &[u8]) -> Option<Self> {
        if name.starts_with(b"Identity") {
            return None;
        }
        let unicode = name.starts_with(b"Uni") && (contains(name, b"UCS2") || contains(name, b"UTF16"));
        let map = hayro_cmap::load_embedded(CMapName::from_bytes(name))
            .and_then(|map| CMap::parse(map, hayro_cmap::load_embedded));
        (map.is_some() || unicode).then_some(Self { map, unicode })
    }

    /// The map to characters for the glyphs that this map leads to.
    pub fn of_glyphs(&self) -> Option<Self> {
        let collection = self.map.as_ref()?.metadata().character_collection.as_ref()?;
        Self::from_name(collection.family.ucs2_cmap()?.to_bytes())
    }

    /// The map to characters for the glyphs of a collection, such as Adobe's `Japan1`.
    pub fn collection(registry: &[u8], ordering: &[u8]) -> Option<Self> {
        let name = CidFamily::from_registry_ordering(registry, ordering).ucs2_cmap()?;
        Self::from_name(name.to_bytes())
    }

    /// The length in bytes of the first code of a text, and the number of its glyph.
    pub fn first(&self, bytes: &[u8]) -> (usize, Option<u32>) {
        let mut code = 0;
        for (byte, length) in bytes.iter().zip(1_u8..=4) {
            code = code << 8 | u32::from(*byte);
            if let Some(number) = self.map.as_ref().and_then(|map| map.lookup_cid_code(code, length)) {
                return (length.into(), Some(number));
            }
        }
        let length = match bytes[0] {
            0xd8..=0xdb if self.unicode => 4,
            0..=0x7f if !self.unicode => 1,
            _ => 2,
        };
        (length, None)
    }

    /// The characters of a code that is a character itself.
    pub fn own(&self, code: &[u8]) -> Option<String> {
        let units: Vec<u16> = code.chunks_exact(2).map(|unit| u16::from_be_bytes([unit[0], unit[1]])).collect();
        String::from_utf16(&units).ok().filter(|_| self.unicode)
    }

    /// The characters of a glyph, for a map of a collection.
    pub fn characters(&self, number: u32) -> Option<String> {
        Some(match self.map.as_ref()?.lookup_bf_string(number)? {
            BfString::Char(character) => character.into(),
            BfString::String(characters) => characters,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn glyphs_have_characters_by_name_number_part_and_suffix() {
        for line in [
            "a a", "Adieresis Ä", "a.sc a", "uni041F П", "uni00660069 fi", "u1F600 😀", "u1F600.alt 😀", "T_h Th",
            "f_f_i.liga ffi",
        ] {
            let (name, expected) = line.split_once(' ').expect("a glyph");
            assert_eq!(glyph(name.as_bytes()).as_deref(), Some(expected), "{name}");
        }
        for name in [".notdef", "", "g23", "unique", "a_"] {
            assert_eq!(glyph(name.as_bytes()), None, "{name}");
        }
    }

    #[test]
    fn standard_encodings_are_known_by_name() {
        let at = |name: &str, code: usize| standard_table(name.as_bytes()).expect("known")[code].clone();
        assert_eq!(at("WinAnsiEncoding", 0x80).as_deref(), Some("€"));
        assert_eq!(at("MacRomanEncoding", 0x8a).as_deref(), Some("ä"));
        assert_eq!(at("StandardEncoding", 0xae).as_deref(), Some("ﬁ"));
        assert_eq!(at("SymbolEncoding", 0x61).as_deref(), Some("α"));
        assert!(standard_table(b"Other").is_none());
        let ordered = ordered();
        assert_eq!([3, 36, 97, 98].map(|glyph| ordered.get(&glyph)), [Some(&' '), Some(&'A'), Some(&'~'), Some(&'Ä')]);
        for read in [built_into_truetype, built_into_compact, built_into_type1] {
            assert!(read(b"").is_none() && read(&[1; 999]).is_none());
        }
    }
}
