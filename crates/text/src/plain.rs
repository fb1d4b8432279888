//! One spelling for each text: without invisible characters inside words, and with composed letters.
//!
//! A soft hyphen or a word joiner is no part of a word, and `ü` can be one character or two. People see no difference, so texts,
//! queries and names are compared in this form.

use std::borrow::Cow;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
}
