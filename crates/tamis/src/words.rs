//! The words of a text, for comparing two texts, and a message without those that are paths.

/// Returns the words of a text in lower case, each once, ascending.
pub(crate) fn words_of(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let mut words: Vec<String> = words.map(str::to_lowercase).collect();
    words.sort_unstable();
    words.dedup();
    words
}

/// Returns a message without absolute paths, for a caller who may not know where things are on this machine. Only the last part of each
/// stays.
pub(crate) fn without_paths(message: &str) -> String {
    let is_path = |word: &str| word.starts_with('/') && word.len() > 1 || word.get(1..3) == Some(":\\");
    let shown = |word: &str| {
        let start = word.find(|first: char| first.is_alphanumeric() || first == '/').unwrap_or_default();
        let (before, word) = word.split_at(start);
        match is_path(word) {
            true => format!("{before}{}", word.rsplit(['/', '\\']).next().unwrap_or_default()),
            false => format!("{before}{word}"),
        }
    };
    message.split(' ').map(shown).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_without_paths_keeps_the_last_part_of_each() {
        for (message, expected) in [
            ("model e5 cannot be used: /srv/models/e5: no such file", "model e5 cannot be used: e5: no such file"),
            ("`/srv/a b/x.db` (/tmp/x) and C:\\data\\x", "`a b/x.db` (x) and x"),
            ("covers 1/2 of src/a.rs; run `tamis index`", "covers 1/2 of src/a.rs; run `tamis index`"),
        ] {
            assert_eq!(without_paths(message), expected);
        }
    }
}
