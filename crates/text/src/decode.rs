//! Bytes to text, and text to one spelling: byte order marks, UTF-16, UTF-32, the encodings of the years before UTF-8, invisible
//! characters, and JSON that strict parsers refuse.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use crate::document::Note;
use crate::embedded_data::without_data;

/// Bytes of a file that decide its encoding.
const DETECTION_BYTES: usize = 64 << 10;

pub fn has_byte_order_mark(bytes: &[u8]) -> bool {
    Encoding::for_bom(bytes).is_some() || utf_32(bytes).is_some()
}

/// The form of UTF-32 whose mark a file begins with. No browser reads it.
fn utf_32(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0xff, 0xfe, 0, 0, ..] => Some("UTF-32LE"),
        [0, 0, 0xfe, 0xff, ..] => Some("UTF-32BE"),
        _ => None,
    }
}

/// The text of a file with `\n` line ends, as it is indexed, and notes about the conversion.
#[must_use]
pub fn decode(bytes: &[u8]) -> (Cow<'_, str>, Vec<Note>) {
    let mut notes = Vec::new();
    if let Some(encoding) = utf_32(bytes) {
        notes.push(Note::Decoded { encoding });
        let value = if encoding == "UTF-32LE" { u32::from_le_bytes } else { u32::from_be_bytes };
        let (units, _) = bytes[4..].as_chunks::<4>();
        let characters = units.iter().map(|unit| value(*unit));
        let text: String = characters.map(|one| char::from_u32(one).unwrap_or('\u{fffd}')).collect();
        return (normalise_line_ends(Cow::Owned(text)), notes);
    }
    let (encoding, body) = match Encoding::for_bom(bytes) {
        Some((encoding, length)) => (encoding, &bytes[length..]),
        None => (guess(bytes), bytes),
    };
    let (text, malformed) = encoding.decode_without_bom_handling(body);
    if encoding != UTF_8 {
        notes.push(Note::Decoded { encoding: encoding.name() });
    }
    if malformed {
        notes.push(Note::LossyDecoding { replaced: text.matches('\u{fffd}').count() });
    }
    (normalise_line_ends(text), notes)
}

/// The text of a file without data written into it, such as pictures. Lines stay the same.
pub fn decode_words(bytes: &[u8]) -> (Cow<'_, str>, Vec<Note>) {
    let (text, notes) = decode(bytes);
    (without_data(text), notes)
}

/// The text of a file in this encoding, such as `UTF-16LE` or `ISO-8859-1`, as UTF-8; `None` for an unknown encoding, and for
/// bytes that are no text in it.
///
/// ```
/// assert_eq!(tamis_text::transcoded(b"caf\xe9", "ISO-8859-1").as_deref(), Some("café".as_bytes()));
/// assert_eq!(tamis_text::transcoded(b"a\0b\0", "UTF-16LE-BOM").as_deref(), Some(&b"ab"[..]));
/// assert_eq!(tamis_text::transcoded(b"a", "nothing"), None);
/// ```
#[must_use]
pub fn transcoded(bytes: &[u8], encoding: &str) -> Option<Vec<u8>> {
    let encoding = Encoding::for_label(encoding.trim_end_matches("-BOM").as_bytes())?;
    let (text, _, malformed) = encoding.decode(bytes);
    (!malformed).then(|| text.into_owned().into_bytes())
}

/// UTF-8 if the bytes are, or were meant to be; otherwise the encoding that a browser would choose.
fn guess(bytes: &[u8]) -> &'static Encoding {
    let Err(error) = std::str::from_utf8(bytes) else {
        return UTF_8;
    };
    if error.error_len().is_none() || mostly_utf8(bytes) {
        return UTF_8;
    }
    let head = &bytes[..bytes.len().min(DETECTION_BYTES)];
    // Detection reads high bytes in their surroundings: start near the first one.
    let start = error.valid_up_to().saturating_sub(DETECTION_BYTES / 2);
    let sample =
        if error.valid_up_to() < head.len() { head } else { &bytes[start..bytes.len().min(start + DETECTION_BYTES)] };
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(sample, true);
    let encoding = detector.guess(None, Utf8Detection::Allow);
    if encoding == UTF_16LE || encoding == UTF_16BE { UTF_8 } else { encoding }
}

/// Returns `true` if valid multi-byte sequences outnumber the broken ones: UTF-8 with damage, not another encoding.
fn mostly_utf8(bytes: &[u8]) -> bool {
    let (mut valid, mut broken) = (0_usize, 0_usize);
    for chunk in bytes.utf8_chunks() {
        valid += chunk.valid().chars().filter(|character| !character.is_ascii()).count();
        broken += usize::from(!chunk.invalid().is_empty());
    }
    valid > 2 * broken
}

/// `\r\n` becomes `\n`; so does a lone `\r` if the text has no `\n` at all.
fn normalise_line_ends(text: Cow<'_, str>) -> Cow<'_, str> {
    if !text.contains('\r') {
        return text;
    }
    if !text.contains('\n') {
        return Cow::Owned(text.replace('\r', "\n"));
    }
    if text.contains("\r\n") { Cow::Owned(text.replace("\r\n", "\n")) } else { text }
}

// One spelling for each text: without invisible characters inside words, and with composed letters.
//
// A soft hyphen or a word joiner is no part of a word, and `ü` can be one character or two. People see no difference, so texts,
// queries and names are compared in this form.

/// Returns `true` for a character that only says where a line may break: a soft hyphen, a zero width space, a word joiner, or a byte
/// order mark inside a text. Joiners of emoji and of scripts change what is seen, and stay.
pub fn is_invisible(character: char) -> bool {
    matches!(character, '\u{ad}' | '\u{200b}' | '\u{2060}' | '\u{feff}')
}

/// The text without invisible characters, and with composed letters (NFC). O(its length).
///
/// ```
/// use tamis_text::plain;
///
/// assert_eq!(plain("re\u{ad}ser\u{ad}voir, U\u{308}bersicht"), "reservoir, Übersicht");
/// ```
#[must_use]
pub fn plain(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    match text.contains(is_invisible) {
        true => Cow::Owned(text.chars().filter(|&character| !is_invisible(character)).nfc().collect()),
        false => composed(text),
    }
}

/// The text with composed letters (NFC), as in most names of files. Those from a Mac are often decomposed. O(its length).
#[must_use]
pub fn composed(text: &str) -> Cow<'_, str> {
    match text.is_ascii() || is_nfc_quick(text.chars()) == IsNormalized::Yes {
        true => Cow::Borrowed(text),
        false => Cow::Owned(text.nfc().collect()),
    }
}

// Mends JSON that strict parsers refuse although its records are whole.

/// JSON of what programs write in its place: `NaN` and `Infinity`, halves of characters, and controls inside of strings.
pub fn mended(json: &str) -> String {
    let mut mended = String::with_capacity(json.len());
    let mut rest = json;
    let mut in_string = false;
    while let Some(first) = rest.chars().next() {
        let (length, text) = match first {
            '"' => {
                in_string = !in_string;
                (1, "\"")
            }
            '\\' if in_string => escaped(rest),
            other if in_string && other.is_control() => (other.len_utf8(), " "),
            '-' if !in_string && rest.starts_with("-Infinity") => (9, "null"),
            _ if !in_string && rest.starts_with("Infinity") => (8, "null"),
            _ if !in_string && rest.starts_with("NaN") => (3, "null"),
            other => (other.len_utf8(), &rest[..other.len_utf8()]),
        };
        mended.push_str(text);
        rest = &rest[length..];
    }
    mended
}

/// The length of the escape that a text begins with, and what it should be.
fn escaped(text: &str) -> (usize, &str) {
    let unit =
        |at: usize| text.get(at..at + 6)?.strip_prefix("\\u").and_then(|digits| u32::from_str_radix(digits, 16).ok());
    match (text.as_bytes().get(1), unit(0), unit(6)) {
        (Some(b'u'), Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => (12, &text[..12]),
        (Some(b'u'), Some(0xd800..=0xdfff), _) => (6, "\\ufffd"),
        (Some(b'u'), Some(_), _) => (6, &text[..6]),
        (Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't'), ..) => (2, &text[..2]),
        // A backslash that escapes nothing.
        _ => (1, "\\\\"),
    }
}

/// The parser's message, without the place that it repeats.
pub fn what_is_wrong(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text.split(" at line ").next().unwrap_or(&text);
    match error.classify() {
        serde_json::error::Category::Eof => format!("the JSON breaks off here ({text})"),
        _ => format!("not valid JSON ({text})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(bytes: &[u8]) -> (String, Vec<String>) {
        let (text, notes) = decode(bytes);
        (text.into_owned(), notes.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn encodings_are_known_by_their_marks_and_line_ends_are_one_kind() {
        let wide = |unit: fn(char) -> [u8; 4]| "\u{feff}a😀\r\né".chars().flat_map(unit).collect::<Vec<u8>>();
        let (little, big) = (wide(|one| u32::from(one).to_le_bytes()), wide(|one| u32::from(one).to_be_bytes()));
        for (bytes, expected, encoding) in [
            ("é\n".as_bytes(), "é\n", ""),
            (b"\xef\xbb\xbfab", "ab", ""),
            (b"a\r\nb\r\n", "a\nb\n", ""),
            (b"a\rb", "a\nb", ""),
            (b"a\rb\n", "a\rb\n", ""),
            (b"\xff\xfea\0\r\0\n\0b\0", "a\nb", "UTF-16LE"),
            (b"\xfe\xff\0a", "a", "UTF-16BE"),
            (&little, "a😀\né", "UTF-32LE"),
            (&big, "a😀\né", "UTF-32BE"),
            (b"\xff\xfe\0\0", "", "UTF-32LE"),
        ] {
            let notes = (!encoding.is_empty()).then(|| format!("not UTF-8, read as {encoding}"));
            assert_eq!(text(bytes), (expected.to_owned(), Vec::from_iter(notes)));
        }
        assert!(matches!(decode(b"plain").0, Cow::Borrowed("plain")));
        assert!(has_byte_order_mark(&big) && crate::skip_by_content("a.txt", &big).is_none());
    }

    #[test]
    fn western_text_is_recognised() {
        let (read, notes) = text(b"// caf\xe9 d\xe9j\xe0 vu, na\xefve\nint main() { return 0; }\n");
        assert_eq!(read.lines().next(), Some("// café déjà vu, naïve"));
        assert_eq!(notes, ["not UTF-8, read as windows-1252"]);
    }

    #[test]
    fn japanese_text_is_recognised() {
        let (bytes, _, _) = encoding_rs::SHIFT_JIS
            .encode("これは設定ファイルを読み込むための関数です。エラーの場合は既定値を返します。");
        assert!(text(&bytes).0.starts_with("これは設定"));
    }

    #[test]
    fn damaged_utf8_stays_utf8() {
        let mut bytes = "größer als früher, später möglich ".repeat(3).into_bytes();
        bytes.push(0xff);
        let (read, notes) = text(&bytes);
        assert!(read.starts_with("größer") && read.ends_with('\u{fffd}'));
        assert_eq!(notes, ["1 unreadable byte sequences were replaced"]);
    }

    #[test]
    fn what_nobody_sees_is_left_out_and_what_joins_stays() {
        for (text, expected) in [
            ("gud\u{ad}geon\u{2060}pin\u{200b}s", "gudgeonpins"),
            ("\u{feff}a\u{feff}b", "ab"),
            ("e\u{301}\u{ad}a", "éa"),
            ("👩\u{200d}🚀", "👩\u{200d}🚀"),
            ("plain", "plain"),
        ] {
            assert_eq!(plain(text), expected);
        }
        assert!(matches!(plain("größe"), Cow::Borrowed(_)));
        assert_eq!(composed("a\u{ad}U\u{308}"), "a\u{ad}Ü");
    }

    proptest! {
        #[test]
        fn a_plain_text_is_plain(text in "[a-e\u{e4}\u{301}\u{308}\u{ad}\u{200b}\u{1100}\u{1161}]{0,30}") {
            let once = plain(&text).into_owned();
            prop_assert_eq!(plain(&once), once.as_str());
            prop_assert!(!once.contains(is_invisible));
        }
    }

    #[test]
    fn what_programs_write_in_place_of_json_is_mended() {
        for (json, expected) in [
            (r#"{"a": "\ud83d \ud83d\ude00"}"#, r#"{"a": "\ufffd \ud83d\ude00"}"#),
            (r#"{"a": NaN, "b": [-Infinity, Infinity]}"#, r#"{"a": null, "b": [null, null]}"#),
            (r#"{"a": "NaN \x"}"#, r#"{"a": "NaN \\x"}"#),
            ("{\"a\": \"b\u{1}c\"}", r#"{"a": "b c"}"#),
        ] {
            assert_eq!(mended(json), expected);
            assert!(serde_json::from_str::<serde_json::Value>(expected).is_ok(), "{expected}");
        }
    }
}
