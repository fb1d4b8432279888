//! Splitting text into words, for code and prose, indexing and querying.
//!
//! A word is a run of letters, digits and underscores. An identifier of several parts (`parse_config`, `parseConfig`,
//! `HTTPServer`, `utf8`) gives its parts and, to distinguish it from a sentence with the same words, the parts joined:
//! `parseconfig` for every spelling. Words joined by hyphens (`parse-config`, `Get-ChildItem`) are one identifier of several
//! words, each of which can be an identifier itself. Scripts without spaces give pairs of characters. Accents are folded,
//! compatibility forms become plain ones, and everything is lower case. An emoji, an arrow or a sign of mathematics or currency is
//! a word.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{canonical_combining_class, is_combining_mark};

/// Longest term, in characters. Of longer words, which nobody types, only the start counts.
const MAX_CHARACTERS: usize = 64;
/// Most parts of one run that are read. A run with more is data, not an identifier.
const MAX_PARTS: usize = 64;

/// The form of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Piece {
    /// A word by itself, or a part of an identifier.
    Simple,
    /// An identifier as a whole; its parts come as well.
    Compound,
}

/// Splits text into words, and keeps its buffers between texts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Splitter {
    characters: Vec<char>,
    parts: Vec<(usize, usize)>,
    term: String,
}

impl Splitter {
    /// Passes the words of a text on in order, an identifier before its parts.
    pub(crate) fn split(&mut self, text: &str, mut each: impl FnMut(&str, Piece)) {
        let bytes = text.as_bytes();
        let mut position = 0;
        // Words before this one are of a hyphenated name that was passed on.
        let mut hyphenated = 0;
        while position < bytes.len() {
            if bytes[position].is_ascii() && !is_word_byte(bytes[position]) {
                position += 1;
                continue;
            }
            let start = position;
            let mut ascii = true;
            while position < bytes.len() {
                if bytes[position].is_ascii() {
                    if !is_word_byte(bytes[position]) {
                        break;
                    }
                    position += 1;
                } else {
                    // Every position reached is the start of a character.
                    let Some(character) = text[position..].chars().next() else { break };
                    if !is_word(character) {
                        break;
                    }
                    ascii = false;
                    position += character.len_utf8();
                }
            }
            if start == position {
                let character = text[position..].chars().next();
                if let Some(sign) = character.filter(|&character| is_sign(character)) {
                    each(sign.encode_utf8(&mut [0; 4]), Piece::Simple);
                }
                position += character.map_or(1, char::len_utf8);
                continue;
            }
            if start >= hyphenated && follows_hyphen(&text[position..]).is_some() {
                hyphenated = end_of_hyphenated(text, position);
                self.hyphenated_run(&text[start..hyphenated], &mut each);
            }
            if ascii {
                self.ascii_run(&text[start..position], &mut each);
            } else {
                self.folded_run(&text[start..position], &mut each);
            }
        }
    }

    /// Passes a hyphenated name on as a whole. Dates and sums of single letters are none.
    fn hyphenated_run(&mut self, run: &str, each: &mut impl FnMut(&str, Piece)) {
        let letters = |pair: &[char]| pair.iter().all(|character| character.is_alphabetic());
        self.fold(run);
        let is_name = self.characters.windows(2).any(letters)
            && !self.characters.iter().any(|&character| is_unspaced(character))
            && self.characters.len() <= 2 * MAX_CHARACTERS;
        if !is_name {
            return;
        }
        self.characters.retain(|&character| is_word(character) && character != '_');
        if self.characters.len() <= MAX_CHARACTERS {
            self.term.clear();
            push_lower(&mut self.term, &self.characters);
            each(&self.term, Piece::Compound);
        }
    }

    /// Most runs are plain lower-case words: those cost one pass and no copy.
    fn ascii_run(&mut self, run: &str, each: &mut impl FnMut(&str, Piece)) {
        if run.len() <= MAX_CHARACTERS && run.bytes().all(|byte| byte.is_ascii_lowercase()) {
            return each(run, Piece::Simple);
        }
        self.characters.clear();
        self.characters.extend(run.bytes().map(char::from));
        let end = self.characters.len();
        self.identifier(0, end, each);
    }

    /// Reads the characters of a run, without accents and in compatible forms.
    fn fold(&mut self, run: &str) {
        self.characters.clear();
        if run.is_ascii() {
            return self.characters.extend(run.bytes().map(char::from));
        }
        let unmarked = run.nfkd().filter(|character| !('\u{300}'..='\u{36f}').contains(character));
        let mut folded = unmarked.nfc().peekable();
        while let Some(character) = folded.next() {
            let letters = match folded.peek() {
                Some(next) if next.is_uppercase() => plain_in_capitals(character),
                _ => None,
            };
            match letters.or_else(|| plain(character)) {
                Some(letters) => self.characters.extend(letters.chars()),
                None => self.characters.push(character),
            }
        }
    }

    fn folded_run(&mut self, run: &str, each: &mut impl FnMut(&str, Piece)) {
        self.fold(run);
        let class = |character: char| match character {
            _ if is_unspaced(character) => 2,
            _ if is_word(character) => 1,
            _ => 0,
        };
        let mut start = 0;
        while start < self.characters.len() {
            let kind = class(self.characters[start]);
            let length = self.characters[start..].iter().take_while(|&&character| class(character) == kind).count();
            match kind {
                2 => self.pairs(start, start + length, each),
                1 => self.identifier(start, start + length, each),
                _ => {}
            }
            start += length;
        }
    }

    fn pairs(&mut self, start: usize, end: usize, each: &mut impl FnMut(&str, Piece)) {
        let run = &self.characters[start..end];
        for pair in run.windows(2.min(run.len())) {
            self.term.clear();
            self.term.extend(pair);
            each(&self.term, Piece::Simple);
        }
    }

    fn identifier(&mut self, start: usize, end: usize, each: &mut impl FnMut(&str, Piece)) {
        self.find_parts(start, end);
        if self.parts.len() > 1 {
            let length: usize = self.parts.iter().map(|(from, to)| to - from).sum();
            if length <= MAX_CHARACTERS {
                self.term.clear();
                for &(from, to) in &self.parts {
                    push_lower(&mut self.term, &self.characters[from..to]);
                }
                each(&self.term, Piece::Compound);
            }
        }
        for &(from, to) in &self.parts {
            self.term.clear();
            let to = to.min(from + MAX_CHARACTERS);
            push_lower(&mut self.term, &self.characters[from..to]);
            each(&self.term, Piece::Simple);
        }
    }

    /// Parts end at underscores, where lower case turns to upper case, before the last capital of several that a
    /// lower-case letter follows (`HTTP|Server`, but the plural `APIs` is one), and between letters and digits, unless a
    /// single letter comes before them (`utf|8`, but `p53` and `v2` are one).
    fn find_parts(&mut self, start: usize, end: usize) {
        let characters = &self.characters[..end];
        self.parts.clear();
        let mut from = start;
        for position in start..end {
            let current = Shape::from_char(characters[position]);
            if current == Shape::Underscore {
                push_part(&mut self.parts, from, position);
                from = position + 1;
                continue;
            }
            if position == from {
                continue;
            }
            let boundary = match (Shape::from_char(characters[position - 1]), current) {
                (Shape::Lower, Shape::Upper) => true,
                (Shape::Upper, Shape::Upper) => {
                    let follows = characters.get(position + 1).copied();
                    let after = characters.get(position + 2).copied();
                    let plural =
                        follows == Some('s') && after.is_none_or(|after| Shape::from_char(after) != Shape::Lower);
                    follows.is_some_and(|next| Shape::from_char(next) == Shape::Lower) && !plural
                }
                (Shape::Digit, Shape::Digit) => false,
                (Shape::Digit, _) => true,
                (_, Shape::Digit) => position - from > 1,
                _ => false,
            };
            if boundary {
                push_part(&mut self.parts, from, position);
                from = position;
            }
        }
        push_part(&mut self.parts, from, end);
    }
}

/// The length of a hyphen at the beginning of a text, if a letter or digit follows it.
fn follows_hyphen(text: &str) -> Option<usize> {
    let mut characters = text.chars();
    let hyphen = characters.next().filter(|character| matches!(character, '-' | '\u{2010}' | '\u{2011}'))?;
    characters.next().filter(|character| character.is_alphanumeric())?;
    Some(hyphen.len_utf8())
}

/// The end of a hyphenated name whose first hyphen stands at `position`.
pub(crate) fn end_of_hyphenated(text: &str, mut position: usize) -> usize {
    while let Some(hyphen) = follows_hyphen(&text[position..]) {
        let word = &text[position + hyphen..];
        position += hyphen + word.find(|character| !is_word(character)).unwrap_or(word.len());
    }
    position
}

fn push_lower(term: &mut String, characters: &[char]) {
    for character in characters {
        if character.is_ascii() {
            term.push(character.to_ascii_lowercase());
        } else {
            term.extend(character.to_lowercase());
        }
    }
}

fn push_part(parts: &mut Vec<(usize, usize)>, from: usize, to: usize) {
    if from < to && parts.len() < MAX_PARTS {
        parts.push((from, to));
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Lower,
    Upper,
    Digit,
    Underscore,
    /// Letters of scripts without case, and marks. They join their neighbours.
    Other,
}

impl Shape {
    fn from_char(character: char) -> Shape {
        match character {
            '_' => Shape::Underscore,
            'a'..='z' => Shape::Lower,
            'A'..='Z' => Shape::Upper,
            '0'..='9' => Shape::Digit,
            _ if character.is_ascii() => Shape::Other,
            _ if character.is_uppercase() => Shape::Upper,
            _ if character.is_lowercase() => Shape::Lower,
            _ if character.is_numeric() => Shape::Digit,
            _ => Shape::Other,
        }
    }
}

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

pub(crate) fn is_word(character: char) -> bool {
    character.is_alphanumeric()
        || character == '_'
        || canonical_combining_class(character) != 0
        || is_combining_mark(character)
}

/// Signs that people search for, one by one: emoji, arrows, currencies and mathematics. Lines and blocks are drawings.
fn is_sign(character: char) -> bool {
    matches!(u32::from(character),
        0xa2..=0xa9 | 0xac | 0xae | 0xb0 | 0xb1 | 0xb6 | 0xd7 | 0xf7 | 0x20a0..=0x20cf | 0x2190..=0x23ff | 0x2600..=0x27bf
        | 0x2900..=0x2bff | 0x1f000..=0x1f3fa | 0x1f400..=0x1faff)
}

/// Letters that do not decompose although readers equate them with others.
fn plain(character: char) -> Option<&'static str> {
    Some(match character {
        'ß' => "ss",
        'ẞ' => "SS",
        'æ' => "ae",
        'Æ' => "Ae",
        'œ' => "oe",
        'Œ' => "Oe",
        'ø' => "o",
        'Ø' => "O",
        'đ' | 'ð' => "d",
        'Đ' | 'Ð' => "D",
        'ł' => "l",
        'Ł' => "L",
        'ı' => "i",
        _ => return None,
    })
}

/// The same before a capital, where a lower-case replacement would end a part.
fn plain_in_capitals(character: char) -> Option<&'static str> {
    match character {
        'Æ' => Some("AE"),
        'Œ' => Some("OE"),
        _ => None,
    }
}

/// Scripts without spaces between words: Han, Kana, Hangul, Thai, Lao, Khmer, Myanmar.
pub(crate) fn is_unspaced(character: char) -> bool {
    matches!(u32::from(character),
        0x0e00..=0x0eff | 0x1000..=0x109f | 0x1780..=0x17ff | 0x1100..=0x11ff
        | 0x3005..=0x3007 | 0x3040..=0x30ff | 0x3105..=0x312f | 0x3130..=0x318f | 0x31f0..=0x31ff
        | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xac00..=0xd7af | 0xf900..=0xfaff | 0x20000..=0x3ffff)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        Splitter::default().split(text, |word, piece| {
            words.push(match piece {
                Piece::Simple => word.to_owned(),
                Piece::Compound => format!("[{word}]"),
            });
        });
        words
    }

    /// Each text has the words that stand behind it.
    fn have(cases: &[&str]) {
        for case in cases {
            let (text, expected) = case.split_once(" = ").expect("words");
            assert_eq!(words(text).join(" "), expected, "{text}");
        }
    }

    #[test]
    fn words_are_lower_case_runs_of_letters_and_digits() {
        have(&[
            "The quick, brown fox! = the quick brown fox",
            "std::fs::read(path)? = std fs read path",
            "a-b/c.d = a b c d",
            " \t\n = ",
        ]);
    }

    #[test]
    fn identifiers_give_their_whole_and_their_parts() {
        for spelling in ["parse_config", "parseConfig", "ParseConfig", "PARSE_CONFIG", "__parse_config__"] {
            assert_eq!(words(spelling), ["[parseconfig]", "parse", "config"], "{spelling}");
        }
        have(&[
            "HTTPServer = [httpserver] http server", "getHTTP2 = [gethttp2] get http 2", "utf8 = [utf8] utf 8",
            "p53 = p53", "parse_v2 = [parsev2] parse v2", "sha256sum = [sha256sum] sha 256 sum", "APIs = apis",
            "userIDs = [userids] user ids", "HTTPState = [httpstate] http state", "___ = ", "_private = private",
            "I = i", "1234 = 1234",
        ]);
    }

    #[test]
    fn hyphenated_names_give_their_whole_and_signs_that_people_search_for_are_words() {
        have(&[
            "Close-InnerGate = [closeinnergate] close [innergate] inner gate",
            "--dry-run font-size: = [dryrun] dry run [fontsize] font size",
            "parse_config-based = [parseconfigbased] [parseconfig] parse config based",
            "Status 🚢 arrived → ok, 5 € = status 🚢 arrived → ok 5 €",
        ]);
        have(&[
            "utf-8 = [utf8] utf 8", "Größe\u{2011}n = [grossen] grosse n", "2024-05-01 = 2024 05 01",
            "n-1 a-b = n 1 a b", "a--b end- -start = a b end start", "東京-大阪 = 東京 大阪", "┌──┐ █ … = ",
            "„x“ 👍🏽 = x 👍",
        ]);
        let long = "part-".repeat(40);
        assert!(words(&long).iter().all(|word| word == "part"));
    }

    #[test]
    fn accents_and_compatibility_forms_fold_and_scripts_without_spaces_give_pairs() {
        have(&[
            "naïve Café = naive cafe", "Straße STRAẞE = strasse strasse", "Ærø ÆRØ = aero aero",
            "ﬁle ｆｕｌｌ = file full", "cafe\u{301} = cafe", "Ελλάδα = ελλαδα", "МОСКВА = москва",
            "großÄnd = [grossand] gross and", "全文検索 = 全文 文検 検索", "字 = 字", "データ = デー ータ",
            "ﾃﾞｰﾀ = デー ータ", "한국어 = 한국 국어", "用Rust写 = 用 rust 写", "東京2024年 = 東京 2024 年",
        ]);
    }

    #[test]
    fn data_gives_few_terms_and_short_ones() {
        let long = "x".repeat(10_000);
        assert_eq!(words(&long), ["x".repeat(64)]);
        assert!(words(&"aB".repeat(10_000)).len() <= MAX_PARTS);
        let test_name = "returns_an_error_when_the_configuration_file_has_an_unknown_key_in_a_nested_table";
        let parts = words(test_name);
        assert_eq!(parts.first().map(String::as_str), Some("returns"));
        assert_eq!(parts.last().map(String::as_str), Some("table"));
    }

    proptest! {
        #[test]
        fn any_text_gives_lower_case_words_of_bounded_length(text in "\\PC{0,80}") {
            for word in words(&text) {
                let word = word.trim_matches(['[', ']']);
                prop_assert!(!word.is_empty());
                // One character can be three in lower case.
                prop_assert!(word.chars().count() <= 3 * MAX_CHARACTERS);
                prop_assert!(!word.contains(['_', ' ']));
            }
        }

        #[test]
        fn splitting_a_word_again_gives_itself(text in "[a-zA-Z_0-9 ]{0,60}") {
            for word in words(&text).iter().filter(|word| !word.starts_with('[')) {
                prop_assert_eq!(words(word), std::slice::from_ref(word));
            }
        }
    }
}
