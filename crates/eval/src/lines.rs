//! Lines of columns, the form of judgements and runs.

/// The text without the mark that some programs begin a file with.
pub(crate) fn unmarked(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// The columns of a line: separated by tabs if that gives three or more, otherwise by any blanks.
pub(crate) fn columns(line: &str) -> Vec<&str> {
    let by_tabs: Vec<&str> = line.trim_end_matches(['\r', '\n']).split('\t').map(str::trim).collect();
    if by_tabs.len() >= 3 && by_tabs.iter().all(|column| !column.is_empty()) {
        return by_tabs;
    }
    line.split_whitespace().collect()
}

/// The text shortened for an error.
pub(crate) fn shortened(text: &str) -> String {
    const LENGTH: usize = 80;
    match text.char_indices().nth(LENGTH) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tabs_or_blanks() {
        assert_eq!(columns("q 1\td 1\t1\r"), ["q 1", "d 1", "1"]);
        assert_eq!(columns(" q1 0\td1  1 "), ["q1", "0", "d1", "1"]);
        assert_eq!(columns("a\tb"), ["a", "b"]);
    }

    #[test]
    fn long_text_is_cut_between_characters() {
        assert_eq!(shortened("kurz"), "kurz");
        assert_eq!(shortened(&"ä".repeat(100)), format!("{}…", "ä".repeat(80)));
    }
}
