//! The text taken from a document, written line by line.

use super::MAX_TEXT;
use crate::Skip;
use crate::document::Note;
use crate::prose::Heading;

/// Longest title and heading, in characters.
const HEADING_LENGTH: usize = 200;

/// Most headings of a document; later ones are lines of text.
const MAX_HEADINGS: usize = 20_000;

/// Text with its headings.
#[derive(Debug, Default)]
pub(super) struct Extracted {
    pub(super) title: Option<String>,
    pub(super) headings: Vec<Heading>,
    /// The first and the last line of each table.
    pub(super) tables: Vec<(usize, usize)>,
    pub(super) notes: Vec<Note>,
    /// The date that the document gives, in nanoseconds since 1970.
    pub(super) dated_ns: Option<i64>,
    /// True if the first heading can stand for a missing title; pages and cells cannot.
    pub(super) titled_by_headings: bool,
    text: String,
    rows: usize,
    /// The letters and digits in the names of parts.
    of_parts: usize,
    full: bool,
}

impl Extracted {
    /// A text whose first heading can be its title.
    pub(super) fn with_headings() -> Self {
        Self { titled_by_headings: true, ..Self::default() }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The number of lines so far.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Returns `true` if so many bytes of text still fit; otherwise the text is not complete.
    pub(super) fn has_room(&mut self, bytes: usize) -> bool {
        self.full |= self.text.len().saturating_add(bytes) >= MAX_TEXT;
        !self.full
    }

    /// Adds a line; one with line ends in it counts as several.
    pub(super) fn line(&mut self, line: &str) {
        for line in line.split('\n') {
            if !self.has_room(line.len()) {
                return;
            }
            self.text.push_str(line.trim_end());
            self.text.push('\n');
            self.rows += 1;
        }
    }

    /// Adds a row of a table as a line; `first` begins another table.
    pub(super) fn table_row(&mut self, row: &str, first: bool) {
        let start = self.rows;
        self.line(row);
        if let Some(last) = self.rows.checked_sub(1).filter(|last| *last >= start) {
            match self.tables.last_mut().filter(|_| !first) {
                Some(table) => table.1 = last,
                None => self.tables.push((start, last)),
            }
        }
    }

    /// Adds an empty line after one with text.
    pub(super) fn gap(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.line("");
        }
    }

    /// Adds empty lines up to a line of this number, from 0, if there are fewer so far.
    pub(super) fn reach(&mut self, row: usize) {
        while self.rows < row && !self.full {
            self.line("");
        }
    }

    /// Adds a heading as Markdown writes it. Levels count from 1.
    pub(super) fn heading(&mut self, level: usize, text: &str) {
        let text = one_line(text);
        if text.is_empty() {
            return;
        }
        let marks = "#".repeat(level.clamp(1, 6));
        self.mark(level, &text, &format!("{marks} {text}"));
    }

    /// Adds a line that begins a part of this name: `[page 12]`.
    pub(super) fn part(&mut self, level: usize, name: &str) {
        self.of_parts += letters(name);
        self.mark(level, name, &format!("[{name}]"));
    }

    fn mark(&mut self, level: usize, text: &str, line: &str) {
        let row = self.rows;
        self.line(line);
        if self.rows > row && self.headings.len() < MAX_HEADINGS {
            self.headings.push(Heading { first: row, last: row, level, text: text.to_owned() });
        }
    }

    /// Sets the title, if it says anything.
    pub(super) fn entitle(&mut self, title: &str) {
        let title = one_line(title);
        if self.title.is_none() && !title.is_empty() {
            self.title = Some(title);
        }
    }

    /// Returns `true` if there is more than names of parts and white space.
    pub(super) fn has_text(&self) -> bool {
        letters(&self.text) > self.of_parts
    }

    /// Fails if there was more text than fits.
    pub(super) fn complete(self) -> Result<Self, Skip> {
        if self.full { Err(Skip::TooLarge) } else { Ok(self) }
    }
}

fn letters(text: &str) -> usize {
    text.chars().filter(|character| character.is_alphanumeric()).count()
}

/// A text on one line, with single spaces, cut to the length of a heading.
pub(super) fn one_line(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    words.chars().filter(|character| !character.is_control()).take(HEADING_LENGTH).collect()
}
