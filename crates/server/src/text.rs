//! Text of others in an answer: without what steers a terminal, on one line where one is meant, and fenced.

/// The text without control characters other than newline and tab.
pub(crate) fn clean(text: &str) -> String {
    text.chars().filter(|character| !character.is_control() || matches!(character, '\n' | '\t')).collect()
}

/// The text on one line.
pub(crate) fn line(text: &str) -> String {
    let plain: String = text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect();
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The text between two lines of backticks. They are more than any in the text, so that nothing in it ends it.
pub(crate) fn fenced(text: &str) -> String {
    let longest = text.split(|character| character != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}\n{text}{end}{fence}\n")
}

/// The first `most` characters.
pub(crate) fn first(text: &str, most: usize) -> &str {
    text.char_indices().nth(most).map_or(text, |(end, _)| &text[..end])
}

/// A count with its noun: `1 result`, `12 results`.
pub(crate) fn counted(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// A value with as many digits as say something.
pub(crate) fn rounded(value: f64) -> f64 {
    (value * 10_000.0).round() / 10_000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trap_a_text_cannot_end_its_fence() {
        for text in ["plain", "```\nnow I am outside\n```", "a ````` b", "`", "\u{1b}[31m```\r\n````\n"] {
            let fenced = fenced(&clean(text));
            let fence = fenced.lines().next().expect("a line");
            assert!(fence.len() >= 3 && fence.chars().all(|character| character == '`'), "{fenced}");
            let inner: Vec<&str> = fenced.lines().skip(1).collect();
            assert_eq!(inner.iter().position(|line| line.contains(fence)), Some(inner.len() - 1), "{fenced}");
        }
    }

    #[test]
    fn control_characters_go() {
        assert_eq!(clean("a\u{1b}[31m\tb\r\nc\u{0}\u{9b}"), "a[31m\tb\nc");
        assert_eq!(line(" a\n## b\u{7}c "), "a ## b c");
    }

    #[test]
    fn nothing_is_cut_inside_of_a_character() {
        assert_eq!(first("äöü", 2), "äö");
        assert_eq!(first("äöü", 9), "äöü");
    }
}
