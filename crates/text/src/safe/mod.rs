//! Makes the text of strangers safe to show.
//!
//! A file name, an issue title or an error that quotes them can carry characters that do something other than show: an
//! escape sequence moves a terminal's cursor, a bidirectional override reverses what a reader sees, and tag characters
//! or variation selectors spell out a message that people cannot see and models can read. [`for_terminal`] and
//! [`for_model`] put something visible in their place. Characters that languages and emoji need stay: a joiner inside a
//! Persian word, the selector that makes a heart red, the joiners of a family.
//!
//! ```
//! use tamis_text::safe::{for_model, for_terminal};
//!
//! assert_eq!(for_terminal("\u{1b}[2Jgone"), "␛[2Jgone");
//! assert_eq!(for_model("pay \u{202e}lla"), "pay [U+202E]lla");
//! assert_eq!(for_model("❤️ for 👩‍🔬"), "❤️ for 👩‍🔬");
//! ```

mod hidden;
mod json;
mod stream;

pub use hidden::is_hidden;
pub use json::SafeJson;
pub use stream::SafeWriter;

use hidden::Shown;
use std::borrow::Cow;
use std::fmt::Write;

/// Replaces a hidden character without a symbol of its own.
const REPLACEMENT: char = '\u{fffd}';

/// The text as a terminal may show it: a picture (`␛`) or `�` in place of each character that would not show as itself.
/// Tabs and newlines stay.
pub fn for_terminal(text: &str) -> Cow<'_, str> {
    replaced(text, |out, hidden| out.extend(hidden.iter().map(|&character| picture(character).unwrap_or(REPLACEMENT))))
}

/// The text as a model may read it: a picture (`␛`), the name (`[U+202E]`) or the number (`[37 hidden characters]`) in
/// place of characters that would not show as themselves. Tabs and newlines stay.
pub fn for_model(text: &str) -> Cow<'_, str> {
    replaced(text, |out, hidden| {
        for run in hidden.chunk_by(|a, b| picture(*a).is_none() && picture(*b).is_none()) {
            // A string takes everything.
            let _ = match run {
                [one] => match picture(*one) {
                    Some(picture) => write!(out, "{picture}"),
                    None => write!(out, "[U+{:04X}]", u32::from(*one)),
                },
                several => write!(out, "[{} hidden characters]", several.len()),
            };
        }
    })
}

/// The same on one line: each run of white space is one space.
pub fn line_for_model(text: &str) -> String {
    for_model(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The text with every run of hidden characters written by `write`.
fn replaced(text: &str, write: impl Fn(&mut String, &[char])) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut run: Vec<char> = Vec::new();
    for (character, shown) in Shown::of(text) {
        if !shown {
            run.push(character);
            continue;
        }
        if !run.is_empty() {
            write(&mut out, &run);
            run.clear();
        }
        // A line that ends as lines do elsewhere.
        if character != '\r' {
            out.push(character);
        }
    }
    write(&mut out, &run);
    Cow::Owned(out)
}

/// The picture of a control character that is known by it.
fn picture(character: char) -> Option<char> {
    match u32::from(character) {
        // The block of control pictures has the order of the control characters.
        code @ 0..0x20 => char::from_u32(0x2400 + code),
        0x7f => Some('␡'),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Characters that must never come through, whatever is beside them.
    const NEVER: [char; 16] = [
        '\u{0}', '\u{7}', '\u{8}', '\u{1b}', '\u{7f}', '\u{85}', '\u{9b}', '\u{202a}', '\u{202e}', '\u{2066}',
        '\u{2069}', '\u{2060}', '\u{2028}', '\u{fff9}', '\u{e0001}', '\u{e0100}',
    ];

    #[test]
    fn what_would_not_show_is_shown() {
        for (text, terminal, model) in [
            ("\u{1b}[31mred\u{7}\u{7f}", "␛[31mred␇␡", "␛[31mred␇␡"),
            ("a\u{202e}b\u{9b}", "a\u{fffd}b\u{fffd}", "a[U+202E]b[U+009B]"),
            ("a\u{200b}\u{200c}\u{200d}\u{2060}b", "a\u{fffd}\u{fffd}\u{fffd}\u{fffd}b", "a[4 hidden characters]b"),
            ("x\u{e0041}\u{e0042}", "x\u{fffd}\u{fffd}", "x[2 hidden characters]"),
            ("over\rwritten\r\nnext", "over␍written\nnext", "over␍written\nnext"),
            ("A\u{fe01}", "A\u{fffd}", "A[U+FE01]"),
            ("\u{1b}\u{200b}\u{0}", "␛\u{fffd}␀", "␛[U+200B]␀"),
        ] {
            assert_eq!(for_terminal(text), terminal, "{text:?}");
            assert_eq!(for_model(text), model, "{text:?}");
        }
        assert_eq!(line_for_model(" a\n## b\u{7}c\u{2028}d "), "a ## b␇c[U+2028]d");
    }

    #[test]
    fn what_languages_and_emoji_need_stays() {
        for text in [
            "plain\ttext ü 漢\n",
            "❤️ ☎︎ 1️⃣ 👍🏽",
            "👩‍🔬 👨‍👩‍👧‍👦 ❤️‍🔥 🏳️‍🌈",
            "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
            "می‌خواهم",
            "ക്‍",
            "שלום\u{200f}!",
            "Donau\u{ad}dampf\u{ad}schiff",
            "ภาษา\u{200b}ไทย",
            "e\u{301} n\u{303}",
        ] {
            assert_eq!(for_terminal(text), text);
            assert_eq!(for_model(text), text);
        }
    }

    #[test]
    fn a_selector_or_joiner_that_changes_nothing_visible_is_a_payload() {
        for text in [
            "a\u{fe0f}", "1\u{fe0f}2", "😀\u{fe0f}\u{fe0e}\u{fe0f}", "😀\u{e0100}\u{e0101}", "a\u{200d}b",
            "a\u{200b}b", "\u{ad}\u{ad}", "🏴\u{e0041}\u{e007f}", "葛\u{e0100}",
        ] {
            assert_ne!(for_model(text), text, "{text:?}");
            assert_ne!(for_terminal(text), text, "{text:?}");
        }
    }

    fn hostile() -> impl Strategy<Value = String> {
        let character = prop_oneof![
            3 => any::<char>(),
            3 => prop::sample::select(&NEVER[..]),
            1 => prop::sample::select(&['\u{200d}', '\u{fe0f}', '\u{200c}', '\u{200e}', '\u{ad}', '\u{200b}', '\r', '\n'][..]),
            2 => prop::sample::select(&['a', '😀', '👩', '❤', 'م', 'ש', 'ท', '1', '\u{20e3}', '🏴', '\u{e0067}'][..]),
        ];
        prop::collection::vec(character, 0..40).prop_map(|characters| characters.into_iter().collect())
    }

    proptest! {
        #[test]
        fn nothing_hidden_is_left_that_does_not_belong_to_what_is_beside_it(text in hostile()) {
            for safe in [for_terminal(&text), for_model(&text)] {
                prop_assert!(!safe.contains(NEVER), "{:?}", safe);
                // Repeating it changes nothing: what stayed may stay.
                prop_assert_eq!(for_terminal(&safe), safe.as_ref());
                prop_assert_eq!(for_model(&safe), safe.as_ref());
                // At most one hidden character comes with a visible one, besides a selector with its joiner and flags.
                let mut run = 0;
                for character in safe.chars() {
                    run = if is_hidden(character) { run + 1 } else { 0 };
                    prop_assert!(run <= 6, "{:?}", safe);
                }
            }
        }

        #[test]
        fn what_shows_as_itself_is_not_touched(text in any::<String>()) {
            let plain: String = text.chars().filter(|character| !is_hidden(*character)).collect();
            prop_assert!(matches!(for_terminal(&plain), Cow::Borrowed(_)));
            prop_assert!(matches!(for_model(&plain), Cow::Borrowed(_)));
        }

        #[test]
        fn a_line_has_no_end_in_it(text in hostile()) {
            prop_assert!(!line_for_model(&text).contains(['\n', '\t']));
        }
    }
}
