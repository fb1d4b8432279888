//! Text laid out for the terminal that shows it: every line fits the columns, but for words that are longer.

use console::measure_text_width;
use std::borrow::Cow;
use std::io::{self, Write};
use textwrap::{Options, WordSplitter};

/// Fewer columns than this are treated as this many: nothing readable fits in less.
const FEWEST_COLUMNS: usize = 20;

/// A stream for people that knows how wide its terminal is.
pub trait Page: Write {
    /// Columns of the terminal; `None` if the text goes elsewhere, so that lines stay whole.
    fn columns(&self) -> Option<usize>;

    /// Makes a text a link to a line and column of a file, on a terminal where the user wants that. `path` is as printed.
    fn link(&mut self, namespace: &str, path: &str, at: (u32, u32), text: String) -> String {
        let _ = (namespace, path, at);
        text
    }

    /// Columns left after an indentation, or `otherwise` if lines stay whole.
    fn columns_after(&self, indentation: usize, otherwise: usize) -> usize {
        self.columns().map_or(otherwise, |columns| columns.saturating_sub(indentation).max(FEWEST_COLUMNS))
    }

    /// Writes one line, wrapped at words; the further lines are indented by so many spaces.
    ///
    /// # Errors
    /// The stream cannot be written.
    fn line(&mut self, text: &str, indentation: usize) -> io::Result<()> {
        match self.columns() {
            Some(columns) => writeln!(self, "{}", wrapped(text, columns, indentation)),
            None => writeln!(self, "{text}"),
        }
    }
}

impl Page for Vec<u8> {
    fn columns(&self) -> Option<usize> {
        None
    }
}

/// The text with every line in so many columns. Further lines of an indented line stand two columns to its right.
pub fn fitted(text: &str, columns: usize) -> Cow<'_, str> {
    if text.lines().all(|line| measure_text_width(line) <= columns) {
        return Cow::Borrowed(text);
    }
    let mut fitted = String::with_capacity(text.len() + text.len() / 8);
    for line in text.split_inclusive('\n') {
        let (content, end) = line.strip_suffix('\n').map_or((line, ""), |content| (content, "\n"));
        let spaces = content.len() - content.trim_start_matches(' ').len();
        let indentation = if spaces == 0 { 0 } else { spaces + 2 };
        fitted.push_str(&wrapped(content, columns, indentation));
        fitted.push_str(end);
    }
    Cow::Owned(fitted)
}

/// One line wrapped at words, without the end of the last line. Styles take no columns.
pub fn wrapped(line: &str, columns: usize, indentation: usize) -> Cow<'_, str> {
    if measure_text_width(line) <= columns {
        return Cow::Borrowed(line);
    }
    let columns = columns.max(FEWEST_COLUMNS);
    let indent = " ".repeat(indentation.min(columns / 2));
    // Paths and names would read as two words if they were divided at their hyphens.
    // A longer word goes beyond the columns, so that a path or an address can be copied whole.
    let options = Options::new(columns).subsequent_indent(&indent).word_splitter(WordSplitter::NoHyphenation);
    let options = options.break_words(false);
    Cow::Owned(textwrap::fill(line, options))
}

/// A text in at most so many columns, the end of a longer one replaced by `…`.
pub fn shortened(text: &str, columns: usize) -> Cow<'_, str> {
    console::truncate_str(text, columns, "…")
}

/// The same from the other side: the end of a path says more than its beginning.
pub fn shortened_start(text: &str, columns: usize) -> Cow<'_, str> {
    if measure_text_width(text) <= columns {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("…{}", end_of(text, columns.saturating_sub(1))))
}

/// The same from within: a title tells most at its ends.
pub fn shortened_middle(text: &str, columns: usize) -> Cow<'_, str> {
    if measure_text_width(text) <= columns {
        return Cow::Borrowed(text);
    }
    let room = columns.saturating_sub(1);
    let end = end_of(text, room / 2);
    let beginning = console::truncate_str(text, room - measure_text_width(end), "");
    Cow::Owned(format!("{beginning}…{end}"))
}

/// The longest end of a text in at most so many columns.
fn end_of(text: &str, columns: usize) -> &str {
    let starts = text.char_indices().rev().map(|(at, _)| at);
    let within = starts.take_while(|&at| measure_text_width(&text[at..]) <= columns);
    within.last().map_or("", |start| &text[start..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn long_lines_wrap_at_words_under_their_own_indentation() {
        let text = "short\n  index in /home/ada/project/.tamis: 14 MB\n";
        assert_eq!(fitted(text, 30), "short\n  index in\n    /home/ada/project/.tamis:\n    14 MB\n");
        assert_eq!(fitted(text, 80), text);
    }

    #[test]
    fn styles_take_no_columns() {
        let styled = "\u{1b}[1mKept\u{1b}[0m 4 of 150 passages";
        assert_eq!(fitted(styled, 22), styled);
        assert_eq!(fitted(styled, 21).matches('\n').count(), 1);
    }

    #[test]
    fn a_path_keeps_its_end_and_a_sentence_its_beginning() {
        assert_eq!(shortened("where are retries handled", 11), "where are …");
        assert_eq!(shortened_start("crates/cli/src/page.rs", 11), "…rc/page.rs");
        assert_eq!([shortened_start("page.rs", 11), shortened_start("漢字漢字", 5)], ["page.rs", "…漢字"]);
    }

    proptest! {
        #[test]
        fn every_line_fits_and_words_stay_whole(text in "[ a-zäß漢/\n-]{0,300}", columns in 20usize..60) {
            let fitted = fitted(&text, columns);
            let is_one_word = |line: &str| line.split_whitespace().count() <= 1;
            let fits = |line: &str| measure_text_width(line) <= columns || is_one_word(line);
            prop_assert!(fitted.lines().all(fits), "{:?}", fitted);
            prop_assert_eq!(fitted.split_whitespace().collect::<Vec<_>>(), text.split_whitespace().collect::<Vec<_>>());
        }
    }
}
