//! Character maps: which characters the codes of a font stand for, and how long its codes are.
//!
//! Maps are small programs in PostScript, and those in files are often not quite right. Only what stands between the operators
//! that fill a map is read here. A token that does not belong there costs its own entry, never the map.

use std::collections::{BTreeMap, HashMap};

use crate::lines::clamp;

/// Most entries of a map.
const MAX_ENTRIES: usize = 70_000;

/// Most units of UTF-16 that a code stands for. A page can show it a million times.
const MAX_UNITS: usize = 256;

/// A map of codes.
#[derive(Default)]
pub struct Map {
    /// The lengths of codes in bytes, each with its first and last code.
    spaces: Vec<(usize, u32, u32)>,
    characters: HashMap<u32, String>,
    /// Ranges by their first code: the last one, and the characters of the first.
    ranges: BTreeMap<u32, (u32, Vec<u16>)>,
    /// Ranges of numbers of glyphs by their first code.
    numbers: BTreeMap<u32, (u32, u32)>,
    /// The name of a map for the codes that this one lacks.
    based_on: Option<Vec<u8>>,
    entries: usize,
}

/// What the tokens at hand mean.
#[derive(Clone, Copy, PartialEq)]
enum Within {
    Nothing,
    Spaces,
    Characters,
    Ranges,
    Number,
    NumberRanges,
}

#[derive(Clone)]
enum Token<'a> {
    /// The value of a code, its length in bytes, and its UTF-16.
    Hex(u32, usize, Vec<u16>),
    Name(&'a [u8]),
    Number(u32),
    Open,
    Close,
    Word(&'a [u8]),
}

impl Map {
    /// Reads a map. `glyph` tells the characters of a glyph's name, which some maps use for them.
    pub fn read(bytes: &[u8], glyph: impl Fn(&[u8]) -> Option<String>) -> Self {
        let mut map = Self::default();
        let mut tokens = Tokens { bytes, at: 0 };
        let mut within = Within::Nothing;
        let mut pending: Vec<Token> = Vec::new();
        let mut list: Option<usize> = None;
        let mut name = None;
        while let Some(token) = tokens.next() {
            if map.entries >= MAX_ENTRIES {
                break;
            }
            if let Token::Name(last) = token {
                name = Some(last);
            }
            if let Token::Word(word) = token {
                if word == b"usecmap" {
                    map.based_on = name.map(<[u8]>::to_vec);
                }
                within = match word {
                    b"begincodespacerange" => Within::Spaces,
                    b"beginbfchar" => Within::Characters,
                    b"beginbfrange" => Within::Ranges,
                    b"begincidchar" => Within::Number,
                    b"begincidrange" => Within::NumberRanges,
                    word if word.starts_with(b"end") || word.starts_with(b"begin") => Within::Nothing,
                    _ => continue,
                };
                pending.clear();
                list = None;
                continue;
            }
            match (within, token) {
                (Within::Nothing, _) => {}
                (Within::Ranges, Token::Open) => list = Some(0),
                (_, Token::Close) => {
                    pending.clear();
                    list = None;
                }
                (_, Token::Open) => {}
                (_, token) => match (&mut list, &pending[..]) {
                    // The characters of one code after another.
                    (Some(place), [Token::Hex(first, ..), Token::Hex(last, ..)]) => {
                        let code = first.saturating_add(clamp(*place));
                        *place += 1;
                        if code <= *last {
                            map.character(code, &token, &glyph);
                        }
                    }
                    _ => {
                        pending.push(token);
                        let size = if matches!(within, Within::Ranges | Within::NumberRanges) { 3 } else { 2 };
                        if pending.len() == size {
                            map.entry(within, &pending, &glyph);
                            pending.clear();
                        }
                    }
                },
            }
        }
        map
    }

    fn entry(&mut self, within: Within, tokens: &[Token], glyph: &impl Fn(&[u8]) -> Option<String>) {
        self.entries += 1;
        match (within, tokens) {
            (Within::Spaces, [Token::Hex(first, length, _), Token::Hex(last, ..)]) if (1..=4).contains(length) => {
                self.spaces.push((*length, *first, *last));
            }
            (Within::Characters, [Token::Hex(code, ..), target]) => self.character(*code, target, glyph),
            (Within::Ranges, [Token::Hex(first, ..), Token::Hex(last, ..), Token::Hex(_, _, units)])
                if first <= last && units.len() <= MAX_UNITS =>
            {
                self.ranges.insert(*first, (*last, units.clone()));
            }
            (Within::Ranges, [Token::Hex(first, ..), Token::Hex(last, ..), Token::Name(name)]) if first == last => {
                self.character(*first, &Token::Name(name), glyph);
            }
            (Within::Number, [Token::Hex(code, ..), Token::Number(number)]) => {
                self.numbers.insert(*code, (*code, *number));
            }
            (Within::NumberRanges, [Token::Hex(first, ..), Token::Hex(last, ..), Token::Number(number)]) => {
                self.numbers.insert(*first, (*last, *number));
            }
            _ => {}
        }
    }

    fn character(&mut self, code: u32, target: &Token, glyph: &impl Fn(&[u8]) -> Option<String>) {
        self.entries += 1;
        let characters = match target {
            Token::Hex(_, _, units) if units.len() <= MAX_UNITS => Some(String::from_utf16_lossy(units)),
            Token::Name(name) if name.len() <= 4 * MAX_UNITS => glyph(name),
            _ => None,
        };
        self.characters.extend(characters.map(|characters| (code, characters)));
    }

    /// The characters of a code, unless they show nothing.
    pub fn get(&self, code: u32) -> Option<String> {
        let shown = |text: &String| text.chars().any(|character| !character.is_control() && character != '\u{fffd}');
        if let Some(characters) = self.characters.get(&code) {
            return Some(characters.clone()).filter(shown);
        }
        let (first, (_, units)) = self.ranges.range(..=code).rev().take(8).find(|(_, (last, _))| code <= *last)?;
        let mut units = units.clone();
        let by = code - first;
        // Only the last unit counts on; characters beyond 65,535 have two.
        match units[..] {
            [.., high @ 0xd800..=0xdbff, low @ 0xdc00..=0xdfff] => {
                let character = 0x1_0000 + ((u32::from(high) - 0xd800) << 10) + (u32::from(low) - 0xdc00) + by;
                units.truncate(units.len() - 2);
                units.extend_from_slice(char::from_u32(character)?.encode_utf16(&mut [0; 2]));
            }
            [.., ref mut last] => *last = u16::try_from(u32::from(*last) + by).ok()?,
            [] => return None,
        }
        Some(String::from_utf16_lossy(&units)).filter(shown)
    }

    /// The number of the glyph that a code shows.
    pub fn number(&self, code: u32) -> Option<u32> {
        let (first, (last, number)) = self.numbers.range(..=code).next_back()?;
        (code <= *last).then(|| number.saturating_add(code - first))
    }

    /// The length in bytes of the first code in a text.
    pub fn length(&self, bytes: &[u8]) -> usize {
        let mut code = 0;
        for (index, byte) in bytes.iter().take(4).enumerate() {
            code = code << 8 | u32::from(*byte);
            let is_code = |(length, first, last): &(usize, u32, u32)| {
                // Each byte has a range of its own.
                let part = |number: u32, place: usize| number >> (8 * place) & 0xff;
                *length == index + 1
                    && (0..*length).all(|place| (part(*first, place)..=part(*last, place)).contains(&part(code, place)))
            };
            if self.spaces.iter().any(is_code) {
                return index + 1;
            }
        }
        self.spaces.iter().map(|space| space.0).min().unwrap_or(2)
    }

    /// Returns `true` if the map gives no characters itself.
    pub fn is_empty(&self) -> bool {
        self.characters.is_empty() && self.ranges.is_empty()
    }

    pub fn based_on(&self) -> Option<&[u8]> {
        self.based_on.as_deref()
    }

    /// Returns `true` if the map says how long its codes are.
    pub fn has_spaces(&self) -> bool {
        !self.spaces.is_empty()
    }
}

struct Tokens<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Tokens<'a> {
    fn next(&mut self) -> Option<Token<'a>> {
        loop {
            let rest = &self.bytes[self.at..];
            let (token, length) = match *rest.first()? {
                b'%' => (None, until(rest, |byte| matches!(byte, b'\n' | b'\r'))),
                b'<' if rest.get(1) == Some(&b'<') => (None, 2),
                b'<' => {
                    let length = until(rest, |byte| byte == b'>');
                    (Some(hexadecimal(&rest[1..length])), (length + 1).min(rest.len()))
                }
                b'/' => {
                    let length = 1 + until(&rest[1..], is_delimiter);
                    (Some(Token::Name(&rest[1..length])), length)
                }
                b'[' => (Some(Token::Open), 1),
                b']' => (Some(Token::Close), 1),
                byte if is_delimiter(byte) => (None, 1),
                _ => {
                    let length = until(rest, is_delimiter);
                    let word = &rest[..length];
                    let number = std::str::from_utf8(word).ok().and_then(|word| word.parse().ok());
                    (Some(number.map_or(Token::Word(word), Token::Number)), length)
                }
            };
            self.at += length;
            if token.is_some() {
                return token;
            }
        }
    }
}

fn until(bytes: &[u8], end: impl Fn(u8) -> bool) -> usize {
    bytes.iter().position(|byte| end(*byte)).unwrap_or(bytes.len())
}

fn is_delimiter(byte: u8) -> bool {
    matches!(
        byte,
        0 | b'\t' | b'\n' | 12 | b'\r' | b' ' | b'(' | b')' | b'<' | b'>' | b'[' | b']' | b'{' | b'}' | b'/' | b'%'
    )
}

/// A string of digits, with zeros in front of an odd number.
fn hexadecimal<'a>(digits: &[u8]) -> Token<'a> {
    let digits: Vec<u16> = digits
        .iter()
        .filter_map(|byte| char::from(*byte).to_digit(16))
        .filter_map(|digit| digit.try_into().ok())
        .collect();
    let value = digits.iter().fold(0_u32, |value, digit| value << 4 | u32::from(*digit));
    let units = digits.rchunks(4).rev().map(|unit| unit.iter().fold(0, |value, digit| value << 4 | digit)).collect();
    Token::Hex(value, digits.len().div_ceil(2), units)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(text: &str) -> Map {
        Map::read(text.as_bytes(), |name| (name == b"space").then(|| " ".to_owned()))
    }

    fn all(map: &Map, codes: std::ops::RangeInclusive<u32>) -> Vec<String> {
        codes.map(|code| map.get(code).unwrap_or_else(|| "-".to_owned())).collect()
    }

    #[test]
    fn a_map_gives_characters_ranges_and_lists_and_an_odd_token_costs_its_own_entry() {
        let map = map("2 beginbfchar <0001> <0041> <02> <d83dde00> endbfchar 3 beginbfrange <0003> <0005> <0061>
             <0006> <0008> [<0078> /space <00660069>] <0009> <000a> <d83dde00> endbfrange");
        assert_eq!(all(&map, 0..=11), ["-", "A", "😀", "a", "b", "c", "x", " ", "fi", "😀", "😁", "-"]);
        let good = "1 beginbfchar <0002> <0042> endbfchar";
        for odd in [
            "/CMapName\n /A-B\n def",
            "/CMapName /A-B /CMapType\n2\ndef",
            "CIDSystemInfo <</Registry (Adobe)/Ordering (UCS)>> def WMode 0 def",
            "1 beginnotdefrange <0000> <0010> 0 endnotdefrange",
            "1 begincidrange <0000> <0010> 0 endcidrange",
            "1 beginbfchar <0001> <> endbfchar",
            "1 beginbfchar <0001> /unknown endbfchar",
            "1 beginbfrange <0f05> <0f01> <0066> endbfrange",
            "1 beginbfrange <0f05> <0f06> [<0041>] endbfrange",
            "endcmap CMapName\ncurrentdict",
            "1 beginbfchar <0001> < 0041\n > endbfchar",
            "% <0002> <0043>\n",
            ">> ] ) } (",
        ] {
            assert_eq!(self::map(&format!("{odd} {good}")).get(2).as_deref(), Some("B"), "{odd}");
            assert_eq!(self::map(&format!("{good} {odd}")).get(2).as_deref(), Some("B"), "{odd}");
        }
        assert_eq!(self::map("beginbfchar <0002> <042>").get(2).as_deref(), Some("B"), "three digits, and no end");
        assert_eq!(self::map("beginbfchar <0002> < 0042 0043 >").get(2).as_deref(), Some("BC"));
        assert_eq!(self::map("beginbfchar <0002> <0000> endbfchar").get(2), None, "a control shows nothing");
        let map = self::map(
            "2 begincodespacerange <00> <80> <8140> <9ffc> endcodespacerange
            1 begincidrange <20> <7e> 231 endcidrange 1 begincidchar <8140> 633 endcidchar",
        );
        assert_eq!([map.length(b"a"), map.length(b"\x81\x40a"), map.length(b"\xff\xff")], [1, 2, 1]);
        assert_eq!([map.number(0x21), map.number(0x8140), map.number(0x7f)], [Some(232), Some(633), None]);
    }
}
