//! An issue as one Markdown text, for people.

use std::fmt::Write as _;
use std::ops::Range;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::{CommentKind, Issue, IssueComment, IssueKind, Verdict};

/// The text, and the position of each part.
pub(super) struct Rendering {
    pub(super) text: String,
    /// The body and then each comment.
    pub(super) parts: Vec<Part>,
}

/// The text of one person.
pub(super) struct Part {
    /// Its first line, counted from 0.
    pub(super) first: usize,
    /// Its bytes in the text, without a line end after its last line.
    pub(super) range: Range<usize>,
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
        rendering(self).text
    }

    /// The title in one line.
    pub(super) fn title_line(&self) -> String {
        self.title.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

pub(super) fn rendering(issue: &Issue) -> Rendering {
    let mut all = Writer::default();
    let mut parts = Vec::with_capacity(issue.comments.len() + 1);
    all.line(&format!("# {}", issue.title_line()));
    all.line("");
    all.line(&about(issue));
    parts.push(all.part(&issue.body));
    for (at, comment) in issue.comments.iter().enumerate() {
        all.line("");
        all.line(&format!("## {}. {}", at + 1, said(comment)));
        parts.push(all.part(&comment.body));
    }
    Rendering { text: all.text, parts }
}

#[derive(Default)]
struct Writer {
    text: String,
    lines: usize,
}

impl Writer {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
        self.lines += 1;
    }

    /// Writes a text after an empty line, unless it is blank.
    fn part(&mut self, body: &str) -> Part {
        let unified =
            if body.contains('\r') { body.replace("\r\n", "\n").replace('\r', "\n") } else { body.to_owned() };
        let body = trim_blank_lines(&unified);
        if body.is_empty() {
            return Part { first: self.lines, range: self.text.len()..self.text.len() };
        }
        self.line("");
        let (first, start) = (self.lines, self.text.len());
        self.text.push_str(body);
        self.text.push('\n');
        self.lines += body.matches('\n').count() + 1;
        Part { first, range: start..start + body.len() }
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
fn said(comment: &IssueComment) -> String {
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
pub(super) fn place(comment: &IssueComment) -> Option<String> {
    let file = one_line(comment.file.as_deref()?);
    Some(comment.line.map_or_else(|| file.clone(), |line| format!("{file}:{line}")))
}

fn minute(at: Timestamp) -> String {
    at.to_zoned(TimeZone::UTC).strftime("%Y-%m-%d %H:%M UTC").to_string()
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::IssueState;

    #[test]
    fn the_whole_of_an_issue_is_shown() {
        let at = |text: &str| text.parse().ok();
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
                    author: Some("bob".into()),
                    created_at: at("2024-05-02T09:30:00Z"),
                    ..IssueComment::new("Fine.")
                },
                IssueComment {
                    kind: CommentKind::Review,
                    verdict: Some(Verdict::Approved),
                    author: Some("eve".into()),
                    ..IssueComment::new("")
                },
                IssueComment {
                    kind: CommentKind::Review,
                    file: Some("src/lib.rs".into()),
                    line: Some(4),
                    ..IssueComment::new("Why?")
                },
            ],
            ..Issue::new(9, "A\ntitle")
        };
        let expected = "# A title\n\nPull request #9 · merged · by ada · 2024-05-01 10:00 UTC · merged 2024-05-03 10:00 UTC \
                        · labels: bug, 良い\n\n    indented\ntext\n\n## 1. bob commented, 2024-05-02 09:30 UTC\n\nFine.\n\n\
                        ## 2. eve approved\n\n## 3. somebody remarked on src/lib.rs:4\n\nWhy?\n";
        let rendering = rendering(&issue);
        assert_eq!(rendering.text, expected);
        let lines: Vec<_> = rendering.text.lines().collect();
        let firsts: Vec<_> = rendering.parts.iter().map(|part| lines.get(part.first).copied()).collect();
        assert_eq!(firsts, [Some("    indented"), Some("Fine."), Some(""), Some("Why?")]);
    }
}
