//! Text from right to left. Pages show it from left to right, so each line is turned around, but for the parts in other scripts.

use unicode_normalization::UnicodeNormalization;

/// Returns `true` for a letter or a mark of Hebrew, Arabic and other scripts written from right to left.
pub(super) fn is_rightward(character: char) -> bool {
    matches!(u32::from(character), 0x590..=0x8ff | 0xfb1d..=0xfdff | 0xfe70..=0xfefc | 0x1_0800..=0x1_0fff | 0x1_e800..=0x1_efff)
}

/// A line as people write it, from one as it is shown.
pub(super) fn logical(shown: &str) -> String {
    let characters: Vec<char> = shown.chars().collect();
    let rightward = characters.iter().filter(|one| is_rightward(**one)).count();
    let leftward = characters.iter().filter(|one| is_leftward(**one)).count();
    let turned = if rightward >= leftward {
        turn(&characters)
    } else {
        let mut turned = Vec::with_capacity(characters.len());
        let mut rest = &characters[..];
        while let Some(start) = rest.iter().position(|one| is_rightward(*one)) {
            let stop = rest[start..].iter().position(|one| is_leftward(*one)).map_or(rest.len(), |stop| start + stop);
            let end = rest[..stop].iter().rposition(|one| is_rightward(*one)).map_or(stop, |last| last + 1);
            turned.extend_from_slice(&rest[..start]);
            turned.extend(turn(&rest[start..end]));
            rest = &rest[end..];
        }
        turned.extend_from_slice(rest);
        turned
    };
    // The forms that letters take in a word are letters, in this order.
    turned
        .into_iter()
        .map(String::from)
        .map(|one| if one.contains(is_form) { one.nfkc().collect() } else { one })
        .collect()
}

/// Turns a part around, but not the words and numbers in it that run from left to right.
fn turn(shown: &[char]) -> Vec<char> {
    let mut turned = Vec::with_capacity(shown.len());
    let mut end = shown.len();
    while end > 0 {
        let last = shown[end - 1];
        if is_leftward(last) || last.is_ascii_digit() {
            let within = |one: &char| !is_rightward(*one);
            let start = end - shown[..end].iter().rev().take_while(|one| within(one)).count();
            let part = &shown[start..end];
            // Numbers are turned one by one, and words together.
            let part = if part.iter().any(|one| is_leftward(*one)) {
                part
            } else {
                &part[part.iter().rposition(|one| one.is_whitespace()).map_or(0, |space| space + 1)..]
            };
            let first = part.iter().position(|one| is_leftward(*one) || one.is_ascii_digit()).unwrap_or(0);
            turned.extend_from_slice(&part[first..]);
            end -= part.len() - first;
            continue;
        }
        // Marks stay behind their letter.
        let marks = shown[..end].iter().rev().take_while(|one| is_mark(**one)).count();
        let start = end.saturating_sub(marks + 1);
        turned.push(mirrored(shown[start]));
        turned.extend_from_slice(&shown[start + 1..end]);
        end = start;
    }
    turned
}

fn is_leftward(character: char) -> bool {
    character.is_alphabetic() && !is_rightward(character)
}

/// Vowels and other points of Hebrew and Arabic.
fn is_mark(character: char) -> bool {
    matches!(u32::from(character), 0x591..=0x5bd | 0x5bf..=0x5c7 | 0x610..=0x61a | 0x64b..=0x65f | 0x670 | 0x6d6..=0x6ed)
}

fn is_form(character: char) -> bool {
    matches!(u32::from(character), 0xfb1d..=0xfdff | 0xfe70..=0xfefc)
}

fn mirrored(character: char) -> char {
    match character {
        '(' => ')',
        ')' => '(',
        '[' => ']',
        ']' => '[',
        '{' => '}',
        '}' => '{',
        '<' => '>',
        '>' => '<',
        '«' => '»',
        '»' => '«',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_from_right_to_left_are_read_as_written() {
        for (shown, written) in [
            ("םלוע םולש", "שלום עולם"),
            (".1948 תנש", "שנת 1948."),
            ("(ב) ףיעס", "סעיף (ב)"),
            ("Tamis 2.0 השדח הסרג", "גרסה חדשה Tamis 2.0"),
            ("see םולש and more", "see שלום and more"),
            ("12 34 םולש", "שלום 34 12"),
            ("ﻢﻠﺴﻟا", "السلم"),
            ("ﻡﻼﺳ", "سلام"),
            ("", ""),
        ] {
            assert_eq!(logical(shown), written, "{shown}");
        }
    }
}
