//! The beginning of a text, in one line.

/// The most characters given up to end a preview at a word.
const GIVEN_UP: usize = 30;

/// Returns the text in one line of at most `most` characters. A shortened text ends at a word if one ends nearby,
/// followed by `…`.
pub(crate) fn preview(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let Some((end, _)) = line.char_indices().nth(most) else { return line };
    let room = line[..end].char_indices().next_back().map_or(0, |(last, _)| last);
    let whole = line[..room].trim_end();
    let is_end_of_word = line[room..].starts_with(' ') || line[..room].ends_with(' ');
    let word = whole.rfind(' ').filter(|&space| !is_end_of_word && whole[space..].chars().count() <= GIVEN_UP);
    format!("{}…", &whole[..word.unwrap_or(whole.len())])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preview_ends_with_a_word_and_never_within_a_character() {
        assert_eq!(preview("short\n  text", 10), "short text");
        assert_eq!(preview("exactly ten", 11), "exactly ten");
        assert_eq!(preview("one two three", 9), "one two…");
        assert_eq!(preview("one two three", 8), "one two…");
        assert_eq!(preview("one two three", 7), "one…");
        assert_eq!(preview("ééééééééé", 5), "éééé…");
        let long = "x".repeat(500);
        assert_eq!(preview(&format!("a {long}"), 200).chars().count(), 200, "no word ends near");
        for most in 1..40 {
            let cut = preview("Ünder the harbour wall, 🦀 crabs are waiting", most);
            assert!(cut.chars().count() <= most, "{most}: {cut}");
        }
    }
}
