//! Separates the author's own text from that of forms and mail programs.
//!
//! Lines keep their positions, so that a line of the cleaned text is the same line of the text. Code is left
//! alone.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::templates::remove_form;
use crate::lines::{Lines, has_start};
use crate::tokens::is_wide_script;

/// A text reduced to its author's own words.
pub struct Clean {
    /// As many lines as the text has. Removed lines are empty.
    pub text: String,
    /// The fate of each line.
    pub lines: Vec<Line>,
}

/// The fate of a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Line {
    /// Its author's.
    Own,
    /// Part of a form, and kept since it may hold an answer.
    Form,
    /// Removed as a whole.
    Out,
}

impl Clean {
    /// Returns `true` if the text is empty.
    pub fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// Returns `true` if the lines `first..=last` hold nothing of the author's own.
    pub fn is_form(&self, lines: &Lines<'_>, first: usize, last: usize) -> bool {
        let mut said = (first..=last).filter(|row| !lines.is_blank(*row)).peekable();
        said.peek().is_some() && said.all(|row| self.lines.get(row) == Some(&Line::Form))
    }
}

/// The lines of a text while some are removed.
pub struct Draft {
    pub rows: Vec<String>,
    pub lines: Vec<Line>,
    /// By line: true if it belongs to code.
    code: Vec<bool>,
}

impl Draft {
    fn new(text: &str) -> Self {
        let markup = markup(text);
        let rows: Vec<String> = without(text, &markup.comments).split('\n').map(str::to_owned).collect();
        let emptied = |(before, after): (&str, &String)| {
            if after.trim().is_empty() && !before.trim().is_empty() { Line::Out } else { Line::Own }
        };
        let lines = text.split('\n').zip(&rows).map(emptied).collect();
        Self { rows, lines, code: markup.code }
    }

    pub fn is_blank(&self, row: usize) -> bool {
        self.rows.get(row).is_none_or(|text| text.trim().is_empty())
    }

    pub fn is_code(&self, row: usize) -> bool {
        self.code.get(row) == Some(&true)
    }

    pub fn text(&self, row: usize) -> &str {
        self.rows.get(row).map_or("", String::as_str)
    }

    pub fn take_out(&mut self, row: usize) {
        if !self.is_blank(row) {
            self.rows[row].clear();
            self.lines[row] = Line::Out;
        }
    }

    fn finish(self) -> Clean {
        Clean { text: self.rows.join("\n"), lines: self.lines }
    }
}

/// A text kept unchanged.
pub fn whole(text: &str, line: Line) -> Clean {
    Clean { text: text.to_owned(), lines: vec![line; text.split('\n').count()] }
}

/// The body of an issue, without the instructions of its form and its unanswered questions.
pub fn body(text: &str) -> Clean {
    let mut draft = Draft::new(text);
    remove_form(&mut draft);
    draft.finish()
}

/// A comment without instructions, without text that a mail program added, and without quotations of `thread`. If
/// nothing else remains, the comment stays whole.
pub fn comment(text: &str, thread: &Thread) -> Clean {
    let mut draft = Draft::new(text);
    remove_mail(&mut draft);
    remove_quotes(&mut draft, thread);
    let clean = draft.finish();
    if !clean.is_blank() {
        return clean;
    }
    let instructions_only = Draft::new(text).finish().is_blank();
    whole(text, if instructions_only { Line::Form } else { Line::Own })
}

// Quotations of earlier comments in the same conversation.

/// Number of consecutive words that identify a quotation.
const ROW: usize = 4;

/// Percentage of a quotation that must occur earlier, since mail programs wrap lines and lose marks.
const SAID_BEFORE: usize = 80;

/// The conversation so far.
#[derive(Default)]
pub struct Thread {
    said: HashSet<u64>,
}

impl Thread {
    /// Adds a comment.
    pub fn add(&mut self, text: &str) {
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
    let runs = text.split(|character: char| !character.is_alphanumeric()).filter(|run| !run.is_empty());
    // In scripts without spaces every character counts as a word.
    let words: Vec<String> = runs.flat_map(|run| run.split_inclusive(is_wide_script)).map(str::to_lowercase).collect();
    let hash = |row: &[String]| {
        let mut hasher = DefaultHasher::new();
        row.hash(&mut hasher);
        hasher.finish()
    };
    words.windows(ROW).map(hash).collect()
}

/// Removes quotations of earlier comments with the line that attributes them, and marks of quotation with nothing
/// behind them. Other quotations stay: their words occur nowhere else.
fn remove_quotes(draft: &mut Draft, thread: &Thread) {
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
        let said: Vec<&str> = (first..row).map(|row| unquoted(draft.text(row))).collect();
        if said.iter().any(|line| !line.is_empty()) {
            let words: Vec<&str> = said.into_iter().filter(|line| !says_who_wrote(line)).collect();
            if !thread.has(&words.join("\n")) {
                continue;
            }
        }
        let before = (first.saturating_sub(ABOVE)..first).rev().find(|before| !draft.is_blank(*before));
        if let Some(last) = before
            && let Some(begin) = attribution(draft, last)
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

// Text that mail programs and the tracker's own mails add to an answer.

/// Beginnings of lines that trackers write under their mails, and telephones under everything.
const FOOTERS: &str = "\
You are receiving this because
You received this message because
Reply to this email directly
Reply to this message directly
Triage notifications on the go with GitHub Mobile
Sent from my iPhone
Sent from my iPad
Sent from my Android
Get Outlook for";

/// Most lines that one of these can be wrapped into.
const WRAPPED: usize = 5;

/// Number of lines above a line that are searched for its beginning.
const ABOVE: usize = 4;

/// Removes the footers of mails with the line that sets them off, even if an answer quotes them.
fn remove_mail(draft: &mut Draft) {
    for row in 0..draft.rows.len() {
        if draft.is_code(row) || !is_footer(unquoted(draft.text(row))) {
            continue;
        }
        take_out_separator(draft, row);
        let mut last = unquoted(draft.text(row)).to_owned();
        draft.take_out(row);
        for next in row + 1..(row + WRAPPED).min(draft.rows.len()) {
            let text = unquoted(draft.text(next)).to_owned();
            if draft.is_code(next) || last.ends_with('.') || !continues_footer(&text) {
                break;
            }
            draft.take_out(next);
            last = text;
        }
    }
}

fn is_footer(text: &str) -> bool {
    FOOTERS.lines().any(|start| text.starts_with(start)) || (text.starts_with("Message ID:") && text.contains('@'))
}

/// Continuations of a sentence after its line: an address, or the words between two.
fn continues_footer(text: &str) -> bool {
    let text_of_link = text.strip_prefix("or ").unwrap_or(text);
    has_start(text, "<http http thread")
        || text_of_link.starts_with("unsubscribe")
        || text_of_link.starts_with("mute the thread")
        || matches!(text, "." | ">." | "> .")
}

/// Without the marks of quotation.
fn unquoted(text: &str) -> &str {
    text.trim_start_matches([' ', '>']).trim_end()
}

fn take_out_separator(draft: &mut Draft, row: usize) {
    let before = (row.saturating_sub(ABOVE)..row).rev().find(|before| !unquoted(draft.text(*before)).is_empty());
    if let Some(before) = before
        && !draft.is_code(before)
        && matches!(unquoted(draft.text(before)), "—" | "--" | "---" | "___" | "________________________________")
    {
        draft.take_out(before);
    }
}

/// The first row of an attribution that ends at `row`, if there is one.
fn attribution(draft: &Draft, row: usize) -> Option<usize> {
    let text = draft.text(row).trim();
    if draft.is_code(row) || !says_who_wrote(text) {
        return None;
    }
    let begins =
        |row: usize| ["On ", "Am ", "Le ", "El "].iter().any(|start| draft.text(row).trim_start().starts_with(start));
    let wrapped = row.checked_sub(1).filter(|before| !draft.is_blank(*before) && begins(*before));
    if begins(row) { Some(row) } else { wrapped }
}

/// Returns `true` if a line attributes the words that follow.
fn says_who_wrote(text: &str) -> bool {
    let ends = ["wrote:", "a écrit :", "a écrit :", "escribió:"].iter().any(|end| text.ends_with(end));
    ends || (text.ends_with(':') && text.contains(" schrieb "))
}

// Finds the code of a Markdown text, and its HTML comments.

struct Markup {
    /// By line: true if it belongs to a block of code outside quotations.
    code: Vec<bool>,
    /// The closed HTML comments outside code, in bytes.
    comments: Vec<Range<usize>>,
}

fn markup(text: &str) -> Markup {
    let lines = Lines::new(text);
    let mut markup = Markup { code: vec![false; text.split('\n').count()], comments: Vec::new() };
    let mut quotations = 0_usize;
    for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        match event {
            Event::Start(Tag::BlockQuote(_)) => quotations += 1,
            Event::End(TagEnd::BlockQuote(_)) => quotations = quotations.saturating_sub(1),
            Event::Start(Tag::CodeBlock(_)) if quotations == 0 && !range.is_empty() => {
                let (first, last) = (lines.row_at(range.start), lines.row_at(range.end - 1));
                if let Some(rows) = markup.code.get_mut(first..=last) {
                    rows.fill(true);
                }
            }
            Event::Start(Tag::HtmlBlock) | Event::InlineHtml(_) => {
                let html = text.get(range.clone()).unwrap_or_default();
                markup.comments.extend(comments(html).map(|found| range.start + found.start..range.start + found.end));
            }
            _ => {}
        }
    }
    markup
}

/// `<!-- … -->`, each to its own end; one without an end is text.
fn comments(html: &str) -> impl Iterator<Item = Range<usize>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let start = from + html.get(from..)?.find("<!--")?;
        let end = start + 4 + html.get(start + 4..)?.find("-->")? + 3;
        from = end;
        Some(start..end)
    })
}

/// The text without these ranges, but with all its line ends.
fn without(text: &str, ranges: &[Range<usize>]) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut from = 0;
    for range in ranges {
        kept.push_str(text.get(from..range.start).unwrap_or_default());
        let lines = text.get(range.clone()).unwrap_or_default().matches('\n').count();
        kept.extend(std::iter::repeat_n('\n', lines));
        from = range.end;
    }
    kept.push_str(text.get(from..).unwrap_or_default());
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

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

    fn cleaned(text: &str) -> String {
        without(text, &markup(text).comments)
    }

    #[test]
    fn comments_leave_and_lines_stay() {
        assert_eq!(cleaned("a <!-- b --> c\n<!--\nd\n\ne\n-->\nf<!-- g"), "a  c\n\n\n\n\n\nf<!-- g");
        assert_eq!(cleaned("before <!-- one\ntwo --> after"), "before \n after");
        assert_eq!(cleaned("<!-- ü --> 語 <!-- é -->"), " 語 ");
    }

    #[test]
    fn code_is_left_alone() {
        for text in ["```html\n<!-- x -->\n```", "    <!-- x -->", "`<!-- x -->`", "~~~\n<!--\n~~~\n-->"] {
            assert_eq!(cleaned(text), text);
        }
        assert_eq!(markup("a\n```\nb\n```\nc").code, [false, true, true, true, false]);
        assert_eq!(markup("> ```\n> b\n> ```").code, [false, false, false]);
    }
}
