//! An issue as a document, its body and every comment as passages, and as one Markdown text for people.

use std::fmt::Write as _;
use std::ops::Range;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::clean::{Clean, Line, Thread};
use super::{CommentKind, Issue, IssueComment, IssueKind, IssueState, Verdict, clean};
use crate::dates::nanoseconds;
use crate::divide::Piece;
use crate::document::{Document, HEADING_LENGTH, Options, OwnProperties, Passage};
use crate::embedded_data::without_data;
use crate::languages::Category;
use crate::lines::{Lines, non_empty, number, one_line};
use crate::prose::{Prose, markdown_pieces};
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
        let (rendered, parts) = rendering(self);
        let heading: String = self.title_line().chars().take(HEADING_LENGTH).collect();
        let mut thread = Thread::default();
        thread.add(&heading);
        let heading = non_empty(heading);
        let mut passages = Vec::new();
        for (part, number_of_part) in parts.into_iter().zip(0..) {
            let text = without_data(rendered[part.range].into());
            let (mut clean, mut first) = (clean::comment(&text, &thread), part.first);
            if number_of_part == 0 {
                clean = clean::body(&text);
                if clean.is_blank() {
                    // The title is the only text to find it by.
                    let line = if text.trim().is_empty() { Line::Own } else { Line::Form };
                    let title = rendered.lines().next().filter(|_| heading.is_some()).unwrap_or_default();
                    (clean, first) = (clean::whole(title, line), 0);
                }
            }
            let lines = Lines::new(&clean.text);
            for (piece, headings) in markdown_pieces(&lines, options.limit()) {
                let role = match part.bot {
                    true => Role::Bot,
                    false if clean.is_form(&lines, piece.first, piece.last) => Role::Template,
                    false => Role::Main,
                };
                let context: Vec<String> = part.place.iter().cloned().chain(headings).collect();
                passages.push(Passage {
                    start_line: number(first + piece.first),
                    end_line: number(first + piece.last),
                    heading: heading.clone(),
                    context: non_empty(context.join("\n")),
                    text: own_text(&clean, &lines, &piece),
                    own: OwnProperties {
                        author: part.author.map(str::to_owned),
                        dated_ns: part.at.and_then(nanoseconds),
                        part: Some(number_of_part),
                        ..OwnProperties::default()
                    },
                    ..piece.passage(&lines, part.kind, role)
                });
            }
            thread.add(&text);
        }
        let role = if self.bot { Role::Bot } else { Role::Main };
        let dated_ns = self.updated_at.or(self.created_at).and_then(nanoseconds);
        let prose = Prose { title: non_empty(self.title_line()), dated_ns, passages, ..Prose::default() };
        Document {
            attributes: self.attributes(),
            ..prose.document(Some("markdown"), Category::Prose, role, Vec::new())
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

/// The text of a piece, without the empty lines that removed text leaves.
fn own_text(clean: &Clean, lines: &Lines<'_>, piece: &Piece) -> String {
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

// An issue as one Markdown text, for people.

/// The text of one person, with what its passages share.
struct Part<'i> {
    /// Its first line, counted from 0.
    first: usize,
    /// Its bytes in the text, without a line end after its last line.
    range: Range<usize>,
    kind: Kind,
    bot: bool,
    author: Option<&'i str>,
    at: Option<Timestamp>,
    place: Option<String>,
}

impl Issue {
    /// The issue as Markdown: its title, a line about it, its body, and each comment under a heading with its author
    /// and time. The lines of [`Issue::document`] are lines of this text.
    ///
    /// ```
    /// let issue = tamis_text::Issue { body: "It hangs.".into(), ..tamis_text::Issue::new(7, "Hang at start") };
    /// assert_eq!(issue.rendered(), "# Hang at start\n\nIssue #7 · open\n\nIt hangs.\n");
    /// ```
    #[must_use]
    pub fn rendered(&self) -> String {
        rendering(self).0
    }

    /// The title in one line.
    fn title_line(&self) -> String {
        one_line(&self.title)
    }
}

/// The text, and in it the body and then each comment.
fn rendering(issue: &Issue) -> (String, Vec<Part<'_>>) {
    let mut all = Writer::default();
    all.line(&format!("# {}\n", issue.title_line()));
    all.line(&about(issue));
    let (first, range) = all.part(&issue.body);
    let kind = match issue.kind {
        IssueKind::Issue => Kind::Issue,
        IssueKind::PullRequest => Kind::PullRequest,
    };
    let (bot, author, at) = (issue.bot, issue.author.as_deref(), issue.created_at);
    let mut parts = vec![Part { first, range, kind, bot, author, at, place: None }];
    for (index, comment) in issue.comments.iter().enumerate() {
        all.line(&format!("\n## {}. {}", index + 1, byline(comment)));
        let (first, range) = all.part(&comment.body);
        let kind = match comment.kind {
            CommentKind::Comment => Kind::Comment,
            CommentKind::Review => Kind::Review,
        };
        let (bot, author, at) = (comment.bot, comment.author.as_deref(), comment.created_at);
        parts.push(Part { first, range, kind, bot, author, at, place: place(comment) });
    }
    (all.text, parts)
}

#[derive(Default)]
struct Writer {
    text: String,
    lines: usize,
}

impl Writer {
    /// Writes lines.
    fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
        self.lines += text.matches('\n').count() + 1;
    }

    /// Writes a text after an empty line, unless it is blank. Returns its first line, and its bytes.
    fn part(&mut self, body: &str) -> (usize, Range<usize>) {
        let unified = body.replace("\r\n", "\n").replace('\r', "\n");
        let body = trim_blank_lines(&unified);
        if body.is_empty() {
            return (self.lines, self.text.len()..self.text.len());
        }
        self.line("");
        let (first, start) = (self.lines, self.text.len());
        self.line(body);
        (first, start..start + body.len())
    }
}

/// Without the blank lines before and after; the indentation of the first line may be that of code.
fn trim_blank_lines(text: &str) -> &str {
    let text = text.trim_end();
    let lead = text.len() - text.trim_start().len();
    let start = text[..lead].rfind('\n').map_or(0, |end| end + 1);
    &text[start..]
}

/// The properties of an issue, in one line.
fn about(issue: &Issue) -> String {
    let kind = match issue.kind {
        IssueKind::Issue => "Issue",
        IssueKind::PullRequest => "Pull request",
    };
    let mut line = format!("{kind} #{} · {}", issue.number, issue.state);
    let reason = issue.state_reason.iter().filter(|reason| !matches!(reason.as_str(), "completed" | "reopened"));
    for reason in reason {
        let _ = write!(line, " ({})", one_line(&reason.replace('_', " ")));
    }
    if issue.locked {
        line.push_str(" · locked");
    }
    if let Some(author) = &issue.author {
        let _ = write!(line, " · by {}", one_line(author));
    }
    if let Some(at) = issue.created_at {
        let _ = write!(line, " · {}", minute(at));
    }
    for (what, at) in [("merged", issue.merged_at), ("closed", issue.closed_at.filter(|_| issue.merged_at.is_none()))] {
        if let Some(at) = at {
            let _ = write!(line, " · {what} {}", minute(at));
        }
    }
    if !issue.labels.is_empty() {
        let labels: Vec<_> = issue.labels.iter().map(|label| one_line(label)).collect();
        let _ = write!(line, " · labels: {}", labels.join(", "));
    }
    if let Some(milestone) = &issue.milestone {
        let _ = write!(line, " · milestone: {}", one_line(milestone));
    }
    if let Some(url) = &issue.url {
        let _ = write!(line, " · {}", one_line(url));
    }
    line
}

/// The author, kind and time of a comment.
fn byline(comment: &IssueComment) -> String {
    let author = comment.author.as_deref().map_or_else(|| "somebody".to_owned(), one_line);
    let what = match (comment.kind, comment.verdict) {
        (CommentKind::Comment, _) => "commented",
        (CommentKind::Review, None) => "remarked",
        (CommentKind::Review, Some(Verdict::Approved)) => "approved",
        (CommentKind::Review, Some(Verdict::ChangesRequested)) => "requested changes",
        (CommentKind::Review, Some(Verdict::Commented | Verdict::Dismissed | Verdict::Pending)) => "reviewed",
    };
    let mut line = format!("{author} {what}");
    if let Some(place) = place(comment) {
        let _ = write!(line, " on {place}");
    }
    if let Some(at) = comment.created_at {
        let _ = write!(line, ", {}", minute(at));
    }
    line
}

/// The file and line that a remark is about.
fn place(comment: &IssueComment) -> Option<String> {
    let file = one_line(comment.file.as_deref()?);
    Some(comment.line.map_or_else(|| file.clone(), |line| format!("{file}:{line}")))
}

fn minute(at: Timestamp) -> String {
    at.to_zoned(TimeZone::UTC).strftime("%Y-%m-%d %H:%M UTC").to_string()
}
#[cfg(test)]
mod tests {
    use super::*;
    use crate::IssueState;

    #[test]
    fn the_whole_of_an_issue_is_shown() {
        let at = |text: &str| text.parse().ok();
        let by = |name: &str| Some(name.to_owned());
        let review = |text: &str| IssueComment { kind: CommentKind::Review, ..IssueComment::new(text) };
        let issue = Issue {
            kind: IssueKind::PullRequest,
            state: IssueState::Merged,
            author: Some("ada".into()),
            labels: vec!["bug".into(), "良い".into()],
            created_at: at("2024-05-01T10:00:30Z"),
            closed_at: at("2024-05-03T10:00:00Z"),
            merged_at: at("2024-05-03T10:00:00Z"),
            body: "\r\n    indented\r\ntext\r\n\r\n".into(),
            comments: vec![
                IssueComment {
                    author: by("bob"),
                    created_at: at("2024-05-02T09:30:00Z"),
                    ..IssueComment::new("Fine.")
                },
                IssueComment { verdict: Some(Verdict::Approved), author: by("eve"), ..review("") },
                IssueComment { file: Some("src/lib.rs".into()), line: Some(4), ..review("Why?") },
            ],
            ..Issue::new(9, "A\ntitle")
        };
        let expected = "# A title\n\nPull request #9 · merged · by ada · 2024-05-01 10:00 UTC · merged 2024-05-03 10:00 UTC \
                        · labels: bug, 良い\n\n    indented\ntext\n\n## 1. bob commented, 2024-05-02 09:30 UTC\n\nFine.\n\n\
                        ## 2. eve approved\n\n## 3. somebody remarked on src/lib.rs:4\n\nWhy?\n";
        let (text, parts) = rendering(&issue);
        assert_eq!(text, expected);
        let lines: Vec<_> = text.lines().collect();
        let firsts: Vec<_> = parts.iter().map(|part| lines.get(part.first).copied()).collect();
        assert_eq!(firsts, [Some("    indented"), Some("Fine."), Some(""), Some("Why?")]);
    }
}
