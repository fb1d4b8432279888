//! An issue as a document: its body and every comment as passages.

use jiff::Timestamp;

use super::clean::{self, Clean, Line, Thread};
use super::rendering::{Rendering, place, rendering};
use super::{CommentKind, Issue, IssueKind, IssueState};
use crate::document::{Document, HEADING_LENGTH, Options, Passage};
use crate::languages::Category;
use crate::lines::Lines;
use crate::pack::Piece;
use crate::pictures::without_data;
use crate::prose::markdown_pieces;
use crate::{Kind, Role};

impl Issue {
    /// The issue as a document in Markdown whose lines are those of [`Issue::rendered`].
    ///
    /// Part 0 is the body, each comment is a part of its own, and one that is long has several passages. All carry the
    /// title as their heading, their author and their date; a remark on lines names the lines in its context. An empty comment
    /// has no passage but keeps its number, and an empty body has the title as its passage. The text of a passage leaves out
    /// additions of forms and mail programs, and a comment's quotations of the conversation. The comment of a program is
    /// in the role [`Role::Bot`], a form that nobody filled in is in [`Role::Template`].
    ///
    /// The attributes are `type`, `state` (`open`, or `closed` and besides `merged`, `unmerged`, `resolved`), each `label`,
    /// `author` and `milestone`.
    #[must_use]
    pub fn document(&self, options: &Options) -> Document {
        let mut division = Division::new(self, options);
        division.body();
        for part in 1..=self.comments.len() {
            division.comment(part);
        }
        let title = self.title_line();
        Document {
            language: Some("markdown"),
            category: Category::Prose,
            role: if self.bot { Role::Bot } else { Role::Main },
            title: Some(title).filter(|title| !title.is_empty()),
            severity: None,
            dated_ns: self.updated_at.or(self.created_at).and_then(nanoseconds),
            attributes: self.attributes(),
            notes: Vec::new(),
            passages: division.passages,
        }
    }

    /// Attributes that filters can match.
    fn attributes(&self) -> Vec<(String, String)> {
        let states: &[&str] = match (self.kind, self.state) {
            (_, IssueState::Open) => &["open"],
            (IssueKind::Issue, _) => &["closed", "resolved"],
            (IssueKind::PullRequest, IssueState::Merged) => &["closed", "merged", "resolved"],
            (IssueKind::PullRequest, IssueState::Closed) => &["closed", "unmerged"],
        };
        let kind = std::iter::once(("type", self.kind.as_str()));
        let states = states.iter().map(|state| ("state", *state));
        let labels = self.labels.iter().map(|label| ("label", label.as_str()));
        let author = self.author.iter().map(|author| ("author", author.as_str()));
        let milestone = self.milestone.iter().map(|milestone| ("milestone", milestone.as_str()));
        let all = kind.chain(states).chain(labels).chain(author).chain(milestone);
        all.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }
}

/// `None` for times outside the range of a nanosecond count: before 1677 and after 2262.
fn nanoseconds(at: Timestamp) -> Option<i64> {
    i64::try_from(at.as_nanosecond()).ok()
}

/// The dividing of one issue.
struct Division<'i> {
    issue: &'i Issue,
    rendering: Rendering,
    heading: Option<String>,
    max_tokens: usize,
    thread: Thread,
    passages: Vec<Passage>,
}

/// Properties that all passages of a part share.
struct Common<'i> {
    part: u32,
    kind: Kind,
    bot: bool,
    author: Option<&'i str>,
    at: Option<Timestamp>,
    place: Option<String>,
}

impl<'i> Division<'i> {
    fn new(issue: &'i Issue, options: &Options) -> Self {
        let title: String = issue.title_line().chars().take(HEADING_LENGTH).collect();
        let mut thread = Thread::default();
        thread.add(&title);
        Self {
            issue,
            rendering: rendering(issue),
            heading: Some(title).filter(|title| !title.is_empty()),
            max_tokens: options.limit(),
            thread,
            passages: Vec::new(),
        }
    }

    /// The text of a part and its first line, counted from 0.
    fn part(&self, part: usize) -> (String, usize) {
        let Some(part) = self.rendering.parts.get(part) else {
            return (String::new(), 0);
        };
        let text = self.rendering.text.get(part.range.clone()).unwrap_or_default();
        (without_data(text.into()).into_owned(), part.first)
    }

    fn body(&mut self) {
        let (text, first) = self.part(0);
        let clean = clean::body(&text);
        let common = Common {
            part: 0,
            kind: match self.issue.kind {
                IssueKind::Issue => Kind::Issue,
                IssueKind::PullRequest => Kind::PullRequest,
            },
            bot: self.issue.bot,
            author: self.issue.author.as_deref(),
            at: self.issue.created_at,
            place: None,
        };
        if clean.is_blank() {
            // The title is the only text to find it by.
            let line = if text.trim().is_empty() { Line::Own } else { Line::Form };
            let title = self.rendering.text.lines().next().filter(|_| self.heading.is_some()).unwrap_or_default();
            self.divide(&clean::whole(title, line), 0, &common);
        } else {
            self.divide(&clean, first, &common);
        }
        self.thread.add(&text);
    }

    fn comment(&mut self, part: usize) {
        let Some(comment) = self.issue.comments.get(part - 1) else {
            return;
        };
        let (text, first) = self.part(part);
        let common = Common {
            part: u32::try_from(part).unwrap_or(u32::MAX),
            kind: match comment.kind {
                CommentKind::Comment => Kind::Comment,
                CommentKind::Review => Kind::Review,
            },
            bot: comment.bot,
            author: comment.author.as_deref(),
            at: comment.created_at,
            place: place(comment),
        };
        let clean = clean::comment(&text, &self.thread);
        self.divide(&clean, first, &common);
        self.thread.add(&text);
    }

    fn divide(&mut self, clean: &Clean, first: usize, common: &Common<'_>) {
        let lines = Lines::new(&clean.text);
        for (piece, headings) in markdown_pieces(&lines, self.max_tokens) {
            let number = |row: usize| u32::try_from(first + row + 1).unwrap_or(u32::MAX);
            let role = if common.bot {
                Role::Bot
            } else if clean.is_form(&lines, piece.first, piece.last) {
                Role::Template
            } else {
                Role::Main
            };
            let context: Vec<String> = common.place.iter().cloned().chain(headings).collect();
            self.passages.push(Passage {
                start_line: number(piece.first),
                end_line: number(piece.last),
                kind: common.kind,
                symbol: None,
                heading: self.heading.clone(),
                context: Some(context.join("\n")).filter(|context| !context.is_empty()),
                signature: None,
                text: text(clean, &lines, &piece),
                role,
                author: common.author.map(str::to_owned),
                dated_ns: common.at.and_then(nanoseconds),
                language: None,
                part: Some(common.part),
            });
        }
    }
}

/// The text of a piece, without the empty lines that removed text leaves.
fn text(clean: &Clean, lines: &Lines<'_>, piece: &Piece) -> String {
    let out = |row: usize| clean.lines.get(row) == Some(&Line::Out);
    if piece.part.is_some() || !(piece.first..=piece.last).any(out) {
        return piece.text(lines).to_owned();
    }
    let mut text = String::new();
    let (mut blank, mut taken_out) = (false, false);
    for row in piece.first..=piece.last {
        if out(row) {
            taken_out = true;
            continue;
        }
        // One of the empty lines before and after stays.
        let empty = lines.is_blank(row);
        if empty && blank && taken_out {
            continue;
        }
        taken_out &= empty;
        blank = empty;
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(lines.line(row));
    }
    text
}
