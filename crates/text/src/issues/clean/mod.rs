//! Separates the author's own text from that of forms and mail programs.
//!
//! Lines keep their positions, so that a line of the cleaned text is the same line of the text. Code is left
//! alone.

mod form;
mod mail;
mod markup;
mod quotes;
mod words;

pub(super) use quotes::Thread;

use crate::lines::Lines;

/// A text reduced to its author's own words.
pub(super) struct Clean {
    /// As many lines as the text has. Removed lines are empty.
    pub(super) text: String,
    /// The fate of each line.
    pub(super) lines: Vec<Line>,
}

/// The fate of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Line {
    /// Its author's.
    Own,
    /// Part of a form, and kept since it may hold an answer.
    Form,
    /// Removed as a whole.
    Out,
}

impl Clean {
    /// Returns `true` if the text is empty.
    pub(super) fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// Returns `true` if the lines `first..=last` hold nothing of the author's own.
    pub(super) fn is_form(&self, lines: &Lines<'_>, first: usize, last: usize) -> bool {
        let mut said = (first..=last).filter(|row| !lines.is_blank(*row)).peekable();
        said.peek().is_some() && said.all(|row| self.lines.get(row) == Some(&Line::Form))
    }
}

/// The lines of a text while some are removed.
struct Draft {
    rows: Vec<String>,
    lines: Vec<Line>,
    /// By line: true if it belongs to code.
    code: Vec<bool>,
}

impl Draft {
    fn new(text: &str) -> Self {
        let markup = markup::read(text);
        let without = markup::without(text, &markup.comments);
        let rows: Vec<String> = without.split('\n').map(str::to_owned).collect();
        let emptied = |(before, after): (&str, &String)| {
            if after.trim().is_empty() && !before.trim().is_empty() { Line::Out } else { Line::Own }
        };
        let lines = text.split('\n').zip(&rows).map(emptied).collect();
        Self { rows, lines, code: markup.code }
    }

    fn is_blank(&self, row: usize) -> bool {
        self.rows.get(row).is_none_or(|text| text.trim().is_empty())
    }

    fn is_code(&self, row: usize) -> bool {
        self.code.get(row) == Some(&true)
    }

    fn text(&self, row: usize) -> &str {
        self.rows.get(row).map_or("", String::as_str)
    }

    fn take_out(&mut self, row: usize) {
        if let (Some(text), Some(line)) = (self.rows.get_mut(row), self.lines.get_mut(row))
            && !text.trim().is_empty()
        {
            text.clear();
            *line = Line::Out;
        }
    }

    fn finish(self) -> Clean {
        Clean { text: self.rows.join("\n"), lines: self.lines }
    }
}

/// A text kept unchanged.
pub(super) fn whole(text: &str, line: Line) -> Clean {
    Clean { text: text.to_owned(), lines: vec![line; text.split('\n').count()] }
}

/// The body of an issue, without the instructions of its form and its unanswered questions.
pub(super) fn body(text: &str) -> Clean {
    let mut draft = Draft::new(text);
    form::clean(&mut draft);
    draft.finish()
}

/// A comment without instructions, without text that a mail program added, and without quotations of `thread`. If
/// nothing else remains, the comment stays whole.
pub(super) fn comment(text: &str, thread: &Thread) -> Clean {
    let mut draft = Draft::new(text);
    mail::clean(&mut draft);
    quotes::clean(&mut draft, thread);
    let clean = draft.finish();
    if !clean.is_blank() {
        return clean;
    }
    let instructions_only = Draft::new(text).finish().is_blank();
    whole(text, if instructions_only { Line::Form } else { Line::Own })
}
