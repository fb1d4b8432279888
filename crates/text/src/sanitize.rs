//! Makes the text of strangers safe to show.
//!
//! A file name, an issue title or an error that quotes them can carry characters that do something other than show: an
//! escape sequence moves a terminal's cursor, a bidirectional override reverses what a reader sees, and tag characters
//! or variation selectors spell out a message that people cannot see and models can read. [`for_terminal`] and
//! [`for_model`] put something visible in their place. Characters that languages and emoji need stay: a joiner inside a
//! Persian word, the selector that makes a heart red, the joiners of a family.
//!
//! ```
//! use tamis_text::sanitize::{for_model, for_terminal};
//!
//! assert_eq!(for_terminal("\u{1b}[2Jgone"), "␛[2Jgone");
//! assert_eq!(for_model("pay \u{202e}lla"), "pay [U+202E]lla");
//! assert_eq!(for_model("❤️ for 👩‍🔬"), "❤️ for 👩‍🔬");
//! ```

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::str::Chars;

use serde_json::ser::Formatter;

use crate::lines::one_line;

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
    one_line(&for_model(text))
}

/// The text with every run of hidden characters written by `write`.
fn replaced(text: &str, write: impl Fn(&mut String, &[char])) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut run: Vec<char> = Vec::new();
    for (character, shown) in Shown::new(text) {
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

// Characters that do not show as themselves, and the exceptions that belong to the text beside them.
//
// The exceptions are narrow on purpose: each lets at most one hidden character through beside a visible one that it
// changes (or, in a flag, one of three fixed sequences), so that no message of any length can hide there.

/// Returns `true` if a character may do something other than show: control characters except tab and newline, and all
/// that Unicode says may be ignored when shown, such as bidirectional overrides, joiners, selectors and tags.
pub fn is_hidden(character: char) -> bool {
    match character {
        '\t' | '\n' | ' '..='~' => false,
        // Separators of lines that are not newlines, and marks of annotations.
        '\u{2028}' | '\u{2029}' | '\u{fff9}'..='\u{fffb}' => true,
        _ => character.is_control() || is_ignorable(character),
    }
}

/// Unicode's property `Default_Ignorable_Code_Point`, which is small and does not grow: new such characters come from the
/// ranges that are set aside for them.
fn is_ignorable(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// The characters of a text, each with `true` if it may be shown there.
pub(crate) struct Shown<'a> {
    rest: Chars<'a>,
    /// The last two characters before, if they were shown.
    before: [Option<char>; 2],
    /// Characters of a flag that come next.
    flag: usize,
}

/// The tags after a black flag that make the flags of England, Scotland and Wales. No others are in use.
const FLAGS: [&str; 3] = [
    "\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
    "\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}",
    "\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}",
];

impl<'a> Shown<'a> {
    pub fn new(text: &'a str) -> Self {
        Shown { rest: text.chars(), before: [None; 2], flag: 0 }
    }
}

impl Iterator for Shown<'_> {
    type Item = (char, bool);

    fn next(&mut self) -> Option<(char, bool)> {
        let character = self.rest.next()?;
        let shown = if self.flag > 0 {
            self.flag -= 1;
            true
        } else {
            !is_hidden(character) || belongs(character, self.before, self.rest.clone().next())
        };
        if character == '🏴' && FLAGS.iter().any(|tags| self.rest.as_str().starts_with(tags)) {
            self.flag = FLAGS[0].chars().count();
        }
        self.before = if shown { [self.before[1], Some(character)] } else { [None; 2] };
        Some((character, shown))
    }
}

/// Returns `true` if a hidden character belongs to the characters before and after it.
fn belongs(character: char, [earlier, before]: [Option<char>; 2], after: Option<char>) -> bool {
    let beside = |is: fn(char) -> bool| before.is_some_and(is) || after.is_some_and(is);
    match character {
        '\r' => after == Some('\n'),
        // Text or picture. On a digit it only makes a key cap.
        '\u{fe0e}' | '\u{fe0f}' => {
            before.is_some_and(|before| is_emoji(before) && (!before.is_ascii() || after == Some('\u{20e3}')))
        }
        '\u{200d}' => {
            let base = if before == Some('\u{fe0f}') { earlier } else { before };
            let joins_pictures = base.is_some_and(is_emoji) && after.is_some_and(is_picture);
            joins_pictures || before.is_some_and(joins_letters)
        }
        '\u{200c}' => before.is_some_and(joins_letters) && after.is_some_and(joins_letters),
        // Marks of direction, among letters that have one.
        '\u{200e}' | '\u{200f}' | '\u{61c}' => beside(runs_to_the_left),
        // A place at which a word may be divided.
        '\u{ad}' => before.is_some_and(is_letter) && after.is_some_and(is_letter),
        '\u{200b}' => before.is_some_and(has_no_spaces) && after.is_some_and(has_no_spaces),
        '\u{180b}'..='\u{180f}' => before.is_some_and(|before| matches!(before, '\u{1820}'..='\u{18aa}')),
        _ => false,
    }
}

fn is_letter(character: char) -> bool {
    !is_hidden(character) && character.is_alphabetic()
}

/// Characters that have a form as text and one as a picture, and those of key caps.
fn is_emoji(character: char) -> bool {
    matches!(character, '#' | '*' | '0'..='9') || is_picture(character)
}

/// The blocks of pictures, and the signs elsewhere that are shown as one.
fn is_picture(character: char) -> bool {
    matches!(character,
        '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{2194}'..='\u{21aa}'
        | '\u{231a}'..='\u{23ff}' | '\u{24c2}' | '\u{25aa}'..='\u{25fe}' | '\u{2600}'..='\u{27bf}'
        | '\u{2934}'..='\u{2935}' | '\u{2b05}'..='\u{2b55}' | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}'
        | '\u{1f000}'..='\u{1faff}')
}

/// Letters whose form depends on their neighbours: Arabic and Syriac, the scripts of India, Burmese, Khmer, Mongolian.
fn joins_letters(character: char) -> bool {
    !is_hidden(character)
        && matches!(character,
            '\u{600}'..='\u{8ff}' | '\u{900}'..='\u{dff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{18af}'
            | '\u{fb50}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}')
}

/// Letters of Hebrew, Arabic and others that are written from right to left.
fn runs_to_the_left(character: char) -> bool {
    !is_hidden(character)
        && matches!(character,
            '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}' | '\u{10800}'..='\u{10fff}'
            | '\u{1e800}'..='\u{1efff}')
}

/// Letters of Thai, Lao, Burmese and Khmer, which are written without spaces between words.
fn has_no_spaces(character: char) -> bool {
    !is_hidden(character)
        && matches!(character, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}')
}

// JSON whose strings hold hidden characters as escapes: the same data, without anything that steers a reader.

/// Writes as another formatter does, with hidden characters as escapes of four hexadecimal digits each.
///
/// ```
/// use serde::Serialize;
/// use serde_json::ser::{CompactFormatter, Serializer};
/// use tamis_text::sanitize::SafeJson;
///
/// let mut json = Vec::new();
/// "a\u{202e}b".serialize(&mut Serializer::with_formatter(&mut json, SafeJson(CompactFormatter)))?;
/// assert_eq!(json, br#""a\u202eb""#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct SafeJson<F>(pub F);

/// What the other formatter does as well.
macro_rules! forwarded {
    ($($name:ident($($first:ident)?)),*) => {$(
        fn $name<W: ?Sized + Write>(&mut self, writer: &mut W, $($first: bool)?) -> io::Result<()> {
            self.0.$name(writer, $($first)?)
        }
    )*};
}

impl<F: Formatter> Formatter for SafeJson<F> {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        let mut start = 0;
        for (at, character) in fragment.char_indices().filter(|(_, character)| is_hidden(*character)) {
            self.0.write_string_fragment(writer, &fragment[start..at])?;
            for unit in character.encode_utf16(&mut [0; 2]) {
                write!(writer, "\\u{unit:04x}")?;
            }
            start = at + character.len_utf8();
        }
        self.0.write_string_fragment(writer, &fragment[start..])
    }

    forwarded! {
        begin_array(), end_array(), begin_array_value(first), end_array_value(),
        begin_object(), end_object(), begin_object_key(first), end_object_key(),
        begin_object_value(), end_object_value()
    }
}

// A writer to a terminal that passes only text and, if wanted, styles.
//
// Printers make the text of others safe themselves. This comes after all of them, so that a printer that forgets does
// no harm.

/// The most bytes held back to see what follows.
const HELD: usize = 64 << 10;

/// Writes text as [`for_terminal`] shows it, a line at a time.
#[derive(Debug)]
pub struct SafeWriter<W: Write> {
    inner: W,
    styles: bool,
    held: Vec<u8>,
}

impl<W: Write> SafeWriter<W> {
    /// Passes only plain text.
    pub fn plain(inner: W) -> Self {
        SafeWriter { inner, styles: false, held: Vec::new() }
    }

    /// Also passes the styles of printers: bold, dimmed, underlined, and the plain colours of a text.
    pub fn styled(inner: W) -> Self {
        SafeWriter { inner, styles: true, held: Vec::new() }
    }

    /// Writes the buffer up to a position.
    fn pass(&mut self, end: usize) -> io::Result<()> {
        let held = std::mem::take(&mut self.held);
        let (text, rest) = held.split_at(end);
        self.held.extend_from_slice(rest);
        let text = String::from_utf8_lossy(text);
        if !self.styles {
            return self.inner.write_all(for_terminal(&text).as_bytes());
        }
        let mut rest = text.as_ref();
        while let Some((before, style, after)) = next_style(rest) {
            self.inner.write_all(for_terminal(before).as_bytes())?;
            self.inner.write_all(style.as_bytes())?;
            rest = after;
        }
        self.inner.write_all(for_terminal(rest).as_bytes())
    }

    /// The position at which held text can be divided: after the last newline or, without one for long, between two
    /// characters.
    fn end(&self) -> usize {
        match self.held.iter().rposition(|byte| *byte == b'\n') {
            Some(newline) => newline + 1,
            None if self.held.len() < HELD => 0,
            // A character begins with a byte that is not 10xxxxxx; a style is not divided either.
            None => {
                let tail = self.held.len() - 32;
                let style = self.held[tail..].iter().position(|byte| *byte == 0x1b).map(|at| tail + at);
                let start = (tail..self.held.len()).rev().find(|at| self.held[*at] & 0xc0 != 0x80);
                style.or(start).unwrap_or(self.held.len())
            }
        }
    }
}

/// The first style of a printer in a text, with the text before and after it.
fn next_style(text: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    while let Some(at) = text[from..].find("\u{1b}[").map(|at| from + at) {
        let codes = &text[at + 2..];
        let end = codes.find(|character: char| !character.is_ascii_digit() && character != ';').unwrap_or(codes.len());
        if codes[end..].starts_with('m') && codes[..end].split(';').all(is_style) {
            let (style, after) = text[at..].split_at(2 + end + 1);
            return Some((&text[..at], style, after));
        }
        from = at + 2;
    }
    None
}

/// Returns `true` for the styles that printers use, and their ends. None of them hides a text or its background.
fn is_style(code: &str) -> bool {
    matches!(code, "" | "0" | "1" | "2" | "4" | "22" | "24" | "39" | "31" | "32" | "33" | "34" | "35" | "36")
}

impl<W: Write> Write for SafeWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.held.extend_from_slice(bytes);
        let end = self.end();
        if end > 0 {
            self.pass(end)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pass(self.held.len())?;
        self.inner.flush()
    }
}

impl<W: Write> Drop for SafeWriter<W> {
    fn drop(&mut self) {
        // The failure cannot be reported here; a caller who wants to know flushes.
        let _ = self.flush();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde::Serialize;
    use serde_json::ser::{CompactFormatter, PrettyFormatter, Serializer};
    use serde_json::{Value, json};

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

    fn written(value: &Value, formatter: impl Formatter) -> String {
        let mut json = Vec::new();
        value
            .serialize(&mut Serializer::with_formatter(&mut json, SafeJson(formatter)))
            .expect("a vector takes everything");
        String::from_utf8(json).expect("text")
    }

    proptest! {
        #[test]
        fn data_comes_back_exactly_and_nothing_hidden_is_written(text in any::<String>(), tail in "[\u{0}-\u{a0}\u{e0000}-\u{e007f}\u{200b}-\u{202e}]{0,20}") {
            let value = json!({ format!("{text}{tail}"): [text, tail, 1, null, {}], "n": {} });
            for json in [written(&value, CompactFormatter), written(&value, PrettyFormatter::new())] {
                prop_assert!(!json.chars().any(is_hidden), "{json:?}");
                prop_assert_eq!(serde_json::from_str::<Value>(&json).expect("JSON"), value.clone());
            }
            let plain = json!({ "a": ["b", 1.5, true, { "c": null }], "d": [] });
            prop_assert_eq!(written(&plain, CompactFormatter), plain.to_string());
            prop_assert_eq!(written(&plain, PrettyFormatter::new()), serde_json::to_string_pretty(&plain).expect("JSON"));
        }
    }
}

#[cfg(test)]
mod stream_tests {
    use super::*;
    use proptest::prelude::*;

    const ZERO_WIDTH_JOINER: char = '\u{200d}';

    fn written(pieces: &[&[u8]], styles: bool) -> String {
        let mut out = Vec::new();
        let mut writer = if styles { SafeWriter::styled(&mut out) } else { SafeWriter::plain(&mut out) };
        for piece in pieces {
            writer.write_all(piece).expect("a vector takes everything");
        }
        writer.flush().expect("a vector takes everything");
        drop(writer);
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn styles_of_printers_pass_and_nothing_else_does() {
        let text = "\u{1b}[1mbold\u{1b}[0m \u{1b}[31;1mred\u{1b}[39;22m \u{1b}[8mhidden \u{1b}[38;5;201m\u{1b}]0;t\u{7}\u{1b}[2J\n";
        let shown = "\u{1b}[1mbold\u{1b}[0m \u{1b}[31;1mred\u{1b}[39;22m ␛[8mhidden ␛[38;5;201m␛]0;t␇␛[2J\n";
        assert_eq!(written(&[text.as_bytes()], true), shown);
        assert!(!written(&[text.as_bytes()], false).contains('\u{1b}'));
    }

    #[test]
    fn a_line_of_any_length_comes_through() {
        let long = "ä".repeat(3 * HELD);
        assert_eq!(written(&[long.as_bytes()], true), long);
        let styled = "\u{1b}[1mx\u{1b}[0m".repeat(HELD);
        let pieces: Vec<&[u8]> = styled.as_bytes().chunks(1000).collect();
        assert_eq!(written(&pieces, true), styled);
    }

    proptest! {
        #[test]
        fn however_it_is_divided_it_comes_out_the_same(text in "(\u{1b}\\[[0-9;]{0,5}m|[ -~]|\u{200d}|👩|\n|\u{202e}|ä){0,60}", size in 1_usize..9) {
            let pieces: Vec<&[u8]> = text.as_bytes().chunks(size).collect();
            let whole = written(&[text.as_bytes()], true);
            prop_assert_eq!(&written(&pieces, true), &whole);
            let plain = written(&pieces, false);
            prop_assert_eq!(plain.as_str(), for_terminal(&text));
            let hidden = plain.chars().any(|c| is_hidden(c) && c != ZERO_WIDTH_JOINER);
            prop_assert!(!hidden);
        }
    }
}
