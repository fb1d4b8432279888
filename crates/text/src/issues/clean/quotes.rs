//! Quotations of earlier comments in the same conversation.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::{Draft, mail};
use crate::tokens::is_wide_script;

/// Number of consecutive words that identify a quotation.
const ROW: usize = 4;

/// Percentage of a quotation that must occur earlier, since mail programs wrap lines and lose marks.
const SAID_BEFORE: usize = 80;

/// The conversation so far.
#[derive(Default)]
pub(in crate::issues) struct Thread {
    said: HashSet<u64>,
}

impl Thread {
    /// Adds a comment.
    pub(in crate::issues) fn add(&mut self, text: &str) {
        self.said.extend(rows_of_words(text));
    }

    /// Returns `true` if a quotation repeats earlier text. A quotation too short to tell does not.
    fn has(&self, quotation: &str) -> bool {
        let rows = rows_of_words(quotation);
        let known = rows.iter().filter(|row| self.said.contains(row)).count();
        !rows.is_empty() && known * 100 >= rows.len() * SAID_BEFORE
    }
}

/// A hash of every [`ROW`] consecutive words, whatever separates them.
fn rows_of_words(text: &str) -> Vec<u64> {
    let mut words: Vec<String> = Vec::new();
    for run in text.split(|character: char| !character.is_alphanumeric()).filter(|run| !run.is_empty()) {
        // In scripts without spaces every character counts as a word.
        for word in run.split_inclusive(is_wide_script) {
            words.push(word.to_lowercase());
        }
    }
    let hash = |row: &[String]| {
        let mut hasher = DefaultHasher::new();
        row.hash(&mut hasher);
        hasher.finish()
    };
    words.windows(ROW).map(hash).collect()
}

/// Removes quotations of earlier comments with the line that attributes them, and marks of quotation with nothing
/// behind them. Other quotations stay: their words occur nowhere else.
pub(super) fn clean(draft: &mut Draft, thread: &Thread) {
    let mut row = 0;
    while row < draft.rows.len() {
        if !is_quoted(draft, row) {
            row += 1;
            continue;
        }
        let first = row;
        while row < draft.rows.len() && is_quoted(draft, row) {
            row += 1;
        }
        let said: Vec<&str> = (first..row).map(|row| mail::unquoted(draft.text(row))).collect();
        if said.iter().any(|line| !line.is_empty()) {
            let words: Vec<&str> = said.into_iter().filter(|line| !mail::says_who_wrote(line)).collect();
            if !thread.has(&words.join("\n")) {
                continue;
            }
        }
        let before = (first.saturating_sub(mail::ABOVE)..first).rev().find(|before| !draft.is_blank(*before));
        if let Some(last) = before
            && let Some(begin) = mail::attribution(draft, last)
        {
            (begin..=last).for_each(|row| draft.take_out(row));
        }
        (first..row).for_each(|row| draft.take_out(row));
    }
}

/// Mail is quoted line by line: a line without the mark is the answer, whatever Markdown makes of it.
fn is_quoted(draft: &Draft, row: usize) -> bool {
    let line = draft.text(row);
    let text = line.trim_start_matches(' ');
    !draft.is_code(row) && text.starts_with('>') && line.len() - text.len() <= 3
}

#[cfg(test)]
mod tests {
    use super::Thread;
    use crate::issues::clean::{Line, comment};

    fn left(text: &str, said: &str) -> String {
        let mut thread = Thread::default();
        thread.add(said);
        let clean = comment(text, &thread);
        assert_eq!(clean.text.split('\n').count(), text.split('\n').count(), "lines moved");
        clean.text.lines().filter(|line| !line.trim().is_empty()).collect::<Vec<_>>().join("\n")
    }

    const SAID: &str = "The Tür hangs at every start, and nothing is logged.\n\nAlso in version 2.";

    #[test]
    fn what_was_said_before_and_footers_of_mails_leave() {
        let mail = "On Tue, 4 Jun 2024 at 10:00, Ada <a@example.org>\nwrote:\n\n> The Tür hangs at every\n> start, and nothing is logged.\nTry again.";
        let footer = "Good idea.\n\n—\nYou are receiving this because you commented.\nReply to this email directly, view it on GitHub\n\
                      <https://github.com/ada/engine/issues/1>, or mute the thread.\nMore words.";
        for (text, said, expected) in [
            (mail, SAID, "Try again."),
            ("> 扉は毎回固まります\n\n同じです。", "この扉は毎回固まります。", "同じです。"),
            ("> hangs at every start, and nothing\n\nHere too.", SAID, "Here too."),
            (footer, SAID, "Good idea.\nMore words."),
        ] {
            assert_eq!(left(text, said), expected);
        }
    }

    #[test]
    fn other_quotations_code_and_a_quotation_alone_stay() {
        for (text, said) in [
            ("The manual says:\n> Doors must be opened before they are entered.\nSo it is right.", SAID),
            ("> Why?\nBecause.", "Why?"),
            ("> The Tür hangs at every start, and nothing is logged.", SAID),
            ("Reply to this email directly does nothing here", SAID),
            ("```\n> hangs at every start, and nothing is logged\n```\nYes.", SAID),
        ] {
            assert_eq!(left(text, said), text);
        }
    }

    #[test]
    fn instructions_alone_are_a_template() {
        let clean = comment("<!-- do not edit -->", &Thread::default());
        assert_eq!((clean.text.as_str(), clean.lines.as_slice()), ("<!-- do not edit -->", &[Line::Form][..]));
    }
}
