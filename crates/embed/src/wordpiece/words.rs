//! From raw text to the words that are looked up: clean, split off CJK, decompose, strip accents, lower, split at
//! whitespace and punctuation; and where a name divides into words. Text in ASCII, which is most of code and English, takes a path
//! without Unicode tables.

use unicode_categories::UnicodeCategories;
use unicode_normalization::UnicodeNormalization;

/// Calls `visit` with every word of a text, in order, until it returns false. Words are lower case and without accents;
/// each punctuation character and each CJK ideograph is a word of its own. The shape tells which bytes were in upper case.
pub fn for_each_word(text: &str, mut visit: impl FnMut(&str, Shape) -> bool) {
    let mut scratch = String::new();
    let mut cleaned = String::new();
    // Canonical decomposition and reordering of marks never cross a space, so that stretches can be treated one by one.
    for stretch in text.split([' ', '\t', '\n', '\r']).filter(|stretch| !stretch.is_empty()) {
        let go_on = if stretch.is_ascii() {
            ascii(stretch, &mut scratch, &mut visit)
        } else {
            unicode(stretch, &mut cleaned, &mut scratch, &mut visit)
        };
        if !go_on {
            return;
        }
    }
}

fn ascii(stretch: &str, word: &mut String, visit: &mut impl FnMut(&str, Shape) -> bool) -> bool {
    word.clear();
    let mut shape = Shape::default();
    for &byte in stretch.as_bytes() {
        if byte.is_ascii_alphanumeric() {
            shape.push(word.len(), byte.is_ascii_uppercase(), byte.is_ascii_digit());
            word.push(byte.to_ascii_lowercase() as char);
        } else if byte.is_ascii_punctuation() {
            if !word.is_empty() && !visit(word, shape) {
                return false;
            }
            word.clear();
            word.push(byte as char);
            if !visit(word, Shape::default()) {
                return false;
            }
            word.clear();
            shape = Shape::default();
        }
        // Control characters remain. They are dropped without separating the characters around them.
    }
    word.is_empty() || visit(word, shape)
}

fn unicode(
    stretch: &str,
    cleaned: &mut String,
    word: &mut String,
    visit: &mut impl FnMut(&str, Shape) -> bool,
) -> bool {
    cleaned.clear();
    for c in stretch.chars().filter(|&c| c != '\u{fffd}' && !is_control(c)) {
        if is_ideograph(c) {
            cleaned.extend([' ', c, ' ']);
        } else if c.is_whitespace() {
            cleaned.push(' ');
        } else {
            cleaned.push(c);
        }
    }
    word.clear();
    let mut shape = Shape::default();
    for original in cleaned.nfd().filter(|&c| !is_accent(c)) {
        for c in original.to_lowercase() {
            let separates = c.is_whitespace();
            let stands_alone = !separates && is_punctuation(c);
            if (separates || stands_alone) && !word.is_empty() {
                if !visit(word, shape) {
                    return false;
                }
                word.clear();
                shape = Shape::default();
            }
            if !separates {
                shape.push(word.len(), c != original, c.is_ascii_digit());
                word.push(c);
            }
            if stands_alone {
                if !visit(word, Shape::default()) {
                    return false;
                }
                word.clear();
                shape = Shape::default();
            }
        }
    }
    word.is_empty() || visit(word, shape)
}

/// Returns true for a control character. Tab, line feed and carriage return never get here: the text was split at them.
fn is_control(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_control() } else { !is_common_letter(c) && c.is_other() }
}

fn is_accent(c: char) -> bool {
    !c.is_ascii() && !is_common_letter(c) && c.is_mark_nonspacing()
}

fn is_punctuation(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_punctuation() } else { !is_common_letter(c) && c.is_punctuation() }
}

/// Returns true for large blocks of letters alone, since a look-up in the category tables for each character is slow.
fn is_common_letter(c: char) -> bool {
    matches!(c, '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}' | '\u{f8}'..='\u{24f}'
        | '\u{388}'..='\u{3ff}' | '\u{400}'..='\u{481}' | '\u{48a}'..='\u{52f}'
        | '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fa}' | '\u{3400}'..='\u{4db5}' | '\u{4e00}'..='\u{9fcc}' | '\u{ac00}'..='\u{d7a3}')
}

/// Returns true in the blocks that BERT counts as CJK ideographs. Kana and Hangul are outside them.
fn is_ideograph(c: char) -> bool {
    matches!(u32::from(c),
        0x4E00..=0x9FFF | 0x3400..=0x4DBF | 0x20000..=0x2A6DF | 0x2A700..=0x2B73F
        | 0x2B740..=0x2B81F | 0x2B920..=0x2CEAF | 0xF900..=0xFAFF | 0x2F800..=0x2FA1F)
}

// Where a written name divides into words: `getHttpResponse`, `HTTPServer`, `sha256`.
//
// The vocabulary is in lower case and knows few names of code, so that without this a name falls into pieces that mean
// nothing (`get`, `##ht`, `##t`, `##pres`, …).

/// The case of the bytes of a word of at most 128, before it was lowered: a bit for each upper-case letter and each digit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Shape {
    pub upper: u128,
    pub digits: u128,
}

impl Shape {
    /// Records a byte, or the first byte of a character.
    pub fn push(&mut self, at: usize, upper: bool, digit: bool) {
        if at < 128 {
            self.upper |= u128::from(upper) << at;
            self.digits |= u128::from(digit) << at;
        }
    }

    /// Returns a bit for each byte of a word of this length at which another word begins.
    ///
    /// - before a capital after a small letter: `get|Http`,
    /// - before the last of several capitals, if two small letters follow it: `HTTP|Server`, but `URLs`, `IPv4`,
    /// - between a letter and a digit: `sha|256`.
    pub fn starts(self, length: usize) -> u128 {
        // Most words of prose are in small letters, or have a capital at most at the start.
        if self.upper <= 1 && self.digits == 0 || length > 128 {
            return 0;
        }
        let within = u128::MAX >> (128 - length);
        let (upper, digits) = (self.upper, self.digits);
        let lower = !(upper | digits) & within;
        let capital = upper & (lower << 1);
        let acronym = upper & (upper << 1) & (lower >> 1) & (lower >> 2);
        let digit = digits ^ (digits << 1);
        (capital | acronym | digit) & within & !1
    }
}

/// Calls `part` with each part of a word that begins at one of the bits, in order.
pub fn for_each_part(word: &str, mut starts: u128, mut part: impl FnMut(&str)) {
    let mut from = 0;
    while starts != 0 {
        let to = starts.trailing_zeros() as usize;
        starts &= starts - 1;
        if word.is_char_boundary(to) {
            part(&word[from..to]);
            from = to;
        }
    }
    part(&word[from..]);
}

// Chinese, Japanese and Korean for a model of tokens without order.
//
// The vocabulary of uncased BERT has few ideographs, spells kana by single characters and takes Hangul syllables apart. A bag
// of those says little. Characters that it lacks, Hangul syllables, and all pairs of neighbours are therefore hashed onto the rows
// of the tokens that BERT left unused.

/// The number of unused tokens, `[unused0]` to `[unused993]`.
const UNUSED: u32 = 994;

/// Returns true for ideographs, kana, and Hangul syllables.
pub fn is_cjk(c: char) -> bool {
    matches!(c,
        '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{323af}'
        | '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fa}' | '\u{30fc}' | '\u{3005}' | '\u{ac00}'..='\u{d7a3}')
}

fn is_hangul(c: char) -> bool {
    matches!(c, '\u{ac00}'..='\u{d7a3}')
}

/// Appends the tokens of a run of such characters: one a character and one a pair of neighbours. `known` finds a character
/// in the vocabulary.
pub fn tokens(run: &str, known: impl Fn(char) -> Option<u32>, ids: &mut Vec<u32>) {
    let mut before = None;
    for c in run.chars() {
        ids.push(match known(c) {
            Some(id) if !is_hangul(c) => id,
            _ => unused(0, u32::from(c)),
        });
        if let Some(before) = before {
            ids.push(unused(u32::from(before), u32::from(c)));
        }
        before = Some(c);
    }
}

/// Returns the unused token that stands for a pair of characters, or for the second if the first is 0.
fn unused(first: u32, second: u32) -> u32 {
    // The finaliser of SplitMix64 (Steele, Lea and Flood, 2014).
    let mut x = (u64::from(first) << 32 | u64::from(second)).wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    let bucket = ((x ^ (x >> 31)) % u64::from(UNUSED)) as u32;
    // `[unused0]` to `[unused98]` have the identifiers 1 to 99; then come four tokens with names.
    if bucket < 99 { bucket + 1 } else { bucket + 5 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WordPiece;
    use proptest::prelude::*;

    #[test]
    fn the_visitor_can_stop_anywhere() {
        for (text, total) in [("a b, c", 4), ("é ü, 你c", 5)] {
            for stop in 1..=total {
                let mut seen = 0;
                for_each_word(text, |_, _| {
                    seen += 1;
                    seen < stop
                });
                assert_eq!(seen, stop);
            }
        }
    }

    #[test]
    fn buckets_are_the_unused_tokens() {
        let mut seen = std::collections::BTreeSet::new();
        for c in 0..100_000 {
            let id = unused(0, c);
            assert!(WordPiece::uncased_bert().token(id).unwrap().starts_with("[unused"), "{id}");
            seen.insert(id);
        }
        assert_eq!(seen.len(), UNUSED as usize);
    }

    #[test]
    fn order_counts_within_a_run() {
        let of = |run: &str| {
            let mut ids = Vec::new();
            tokens(run, |_| None, &mut ids);
            ids
        };
        assert_eq!(of("数据").len(), 3);
        assert_ne!(of("数据")[1], of("据数")[1]);
        assert!(of("").is_empty());
    }

    fn parts(word: &str) -> Vec<String> {
        let mut shape = Shape::default();
        for (at, c) in word.char_indices() {
            shape.push(at, c.is_uppercase(), c.is_numeric());
        }
        let mut parts = Vec::new();
        for_each_part(word, shape.starts(word.len()), |part| parts.push(part.to_owned()));
        parts
    }

    #[test]
    fn names_divide_at_capitals_and_digits() {
        for divided in [
            "get Http Response", "HTTP Server", "parse JSON", "XML Http Request", "sha 256 sum", "Vec 3 D", "URLs",
            "IPv 4", "README", "Plain", "plain", "x", "1980", "naïve Über",
        ] {
            assert_eq!(parts(&divided.replace(' ', "")).join(" "), divided);
        }
        assert_eq!(parts(&"aB".repeat(100)).len(), 1);
    }

    proptest! {
        #[test]
        fn parts_make_up_the_word(word in "[a-zA-Z0-9ÄäДдß中]{0,140}") {
            prop_assert_eq!(parts(&word).concat(), word);
        }
    }
}
