//! Characters that do not show as themselves, and the exceptions that belong to the text beside them.
//!
//! The exceptions are narrow on purpose: each lets at most one hidden character through beside a visible one that it
//! changes (or, in a flag, one of three fixed sequences), so that no message of any length can hide there.

use std::str::Chars;

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
pub(super) struct Shown<'a> {
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
    pub fn of(text: &'a str) -> Self {
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
