//! Texts of callers and models in columns, which hold every character but U+0000.
//!
//! A query may have that character, and a search that was asked must be recorded as it was asked. It is written as U+10FFFF, which stands
//! for no character, followed by `0`; U+10FFFF itself as U+10FFFF followed by `1`.

use std::borrow::Cow;

const ESCAPE: char = '\u{10ffff}';

/// A text as its column has it.
pub(super) fn stored(text: &str) -> Cow<'_, str> {
    if !text.contains(['\0', ESCAPE]) {
        return Cow::Borrowed(text);
    }
    let mut stored = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match character {
            '\0' => stored.extend([ESCAPE, '0']),
            ESCAPE => stored.extend([ESCAPE, '1']),
            other => stored.push(other),
        }
    }
    Cow::Owned(stored)
}

/// The text of a column.
pub(super) fn original(stored: String) -> String {
    if !stored.contains(ESCAPE) {
        return stored;
    }
    let mut text = String::with_capacity(stored.len());
    let mut characters = stored.chars();
    while let Some(character) = characters.next() {
        text.push(match character {
            ESCAPE if characters.next() == Some('0') => '\0',
            other => other,
        });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_text_comes_back(parts in prop::collection::vec(prop_oneof!["[ab01é]{0,3}", Just("\0".into()), Just("\u{10ffff}".into())], 0..9)) {
            let text: String = parts.concat();
            prop_assert!(!stored(&text).contains('\0'));
            prop_assert_eq!(original(stored(&text).into_owned()), text);
        }
    }
}
