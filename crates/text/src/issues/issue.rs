//! An issue as it is kept, whatever form it came in.

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize};

use crate::names::named;

named! {
    /// What is discussed: a report, or a change that somebody proposes.
    IssueKind is a "kind of issue" {
        /// A report, a question, a task.
        Issue = "issue",
        /// A pull request, or a merge request.
        PullRequest = "pull_request",
    }
}

named! {
    /// How far an issue is.
    IssueState is a "state" {
        /// Nothing decided yet.
        Open = "open",
        /// Done with; a pull request in this state was not merged.
        Closed = "closed",
        /// A pull request that was taken.
        Merged = "merged",
    }
}

named! {
    /// What a comment is part of.
    CommentKind is a "kind of comment" {
        /// Said in the conversation under an issue or a pull request.
        Comment = "comment",
        /// Said in a review of a pull request, or about its lines.
        Review = "review",
    }
}

named! {
    /// What a review says of the change as a whole.
    Verdict is a "verdict" {
        /// Can be merged.
        Approved = "approved",
        /// Must not be merged as it is.
        ChangesRequested = "changes_requested",
        /// Nothing for or against it.
        Commented = "commented",
        /// Said something once; somebody withdrew it.
        Dismissed = "dismissed",
        /// Not sent yet.
        Pending = "pending",
    }
}

/// An issue or a pull request with all that was said under it.
///
/// Its JSON is the project's own format: one object a line in a file of JSON Lines, and the record that is kept with the
/// document. Names are `snake_case`, times RFC 3339; only `number` and `title` must be given, and what is not known is
/// ignored.
///
/// ```
/// use tamis_text::{Issue, IssueState};
///
/// let json = r#"{"number":12,"title":"Crash at start","state":"closed","closed_at":"2024-05-01T10:00:00Z"}"#;
/// let issue: Issue = serde_json::from_str(json)?;
/// assert_eq!((issue.number, issue.state), (12, IssueState::Closed));
/// assert_eq!(Issue::path(issue.number), "issue:12");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Issue {
    /// Its number in its tracker, from 1.
    pub number: u64,
    /// Whether it is an issue or a pull request.
    #[serde(default = "issue_kind")]
    pub kind: IssueKind,
    /// Its title.
    pub title: String,
    /// What was written first, in Markdown, as it was written.
    #[serde(default, deserialize_with = "null_is_default", skip_serializing_if = "String::is_empty")]
    pub body: String,
    /// How far it is.
    #[serde(default = "open")]
    pub state: IssueState,
    /// Why it was closed, in the tracker's words: `completed`, `not_planned`, `duplicate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state_reason: Option<String>,
    /// Who wrote it; `None` where the account is gone or the source does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// Whether a program wrote it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub bot: bool,
    /// Its labels, in the source's order.
    #[serde(default, deserialize_with = "null_is_default", skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    /// The milestone it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub milestone: Option<String>,
    /// Whether its conversation was ended.
    #[serde(default, skip_serializing_if = "is_false")]
    pub locked: bool,
    /// When it was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Timestamp>,
    /// When anything of it last changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<Timestamp>,
    /// When it was closed; `None` while it is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closed_at: Option<Timestamp>,
    /// When it was merged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged_at: Option<Timestamp>,
    /// Where people read it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// What was said under it, in the order of time.
    #[serde(default, deserialize_with = "null_is_default", skip_serializing_if = "Vec::is_empty")]
    pub comments: Vec<IssueComment>,
}

/// Something that was said under an issue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IssueComment {
    /// Whether it belongs to the conversation or to a review.
    #[serde(default = "comment_kind")]
    pub kind: CommentKind,
    /// Who said it; `None` where the account is gone or the source does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// Whether a program said it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub bot: bool,
    /// What was said, in Markdown, as it was written.
    #[serde(default, deserialize_with = "null_is_default", skip_serializing_if = "String::is_empty")]
    pub body: String,
    /// When it was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Timestamp>,
    /// When it last changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<Timestamp>,
    /// Where people read it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// What a review says of the change; `None` for a remark on lines and for whatever is no review.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// The file that a remark is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line of that file, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
}

/// What stands before the number in the path of an issue's document.
const PATH: &str = "issue:";

impl Issue {
    /// An open issue of which nothing but its number and title is known.
    #[must_use]
    pub fn new(number: u64, title: impl Into<String>) -> Self {
        Self {
            number,
            kind: IssueKind::Issue,
            title: title.into(),
            body: String::new(),
            state: IssueState::Open,
            state_reason: None,
            author: None,
            bot: false,
            labels: Vec::new(),
            milestone: None,
            locked: false,
            created_at: None,
            updated_at: None,
            closed_at: None,
            merged_at: None,
            url: None,
            comments: Vec::new(),
        }
    }

    /// The path of the document that an issue becomes: `issue:12`.
    #[must_use]
    pub fn path(number: u64) -> String {
        format!("{PATH}{number}")
    }

    /// The number of the issue whose document is at this path; `None` where that is no issue's.
    ///
    /// ```
    /// # use tamis_text::Issue;
    /// assert_eq!(Issue::number_at("issue:12"), Some(12));
    /// assert_eq!(Issue::number_at("src/issue:12"), None);
    /// ```
    #[must_use]
    pub fn number_at(path: &str) -> Option<u64> {
        path.strip_prefix(PATH)?.parse().ok()
    }

    /// Whether it was brought to an end that can help others: an issue that was closed, a pull request that was merged.
    #[must_use]
    pub fn is_resolved(&self) -> bool {
        match self.kind {
            IssueKind::Issue => self.state != IssueState::Open,
            IssueKind::PullRequest => self.state == IssueState::Merged,
        }
    }
}

impl IssueComment {
    /// A comment of the conversation of which nothing but its text is known.
    #[must_use]
    pub fn new(body: impl Into<String>) -> Self {
        Self {
            kind: CommentKind::Comment,
            author: None,
            bot: false,
            body: body.into(),
            created_at: None,
            updated_at: None,
            url: None,
            verdict: None,
            file: None,
            line: None,
        }
    }
}

fn issue_kind() -> IssueKind {
    IssueKind::Issue
}

fn comment_kind() -> CommentKind {
    CommentKind::Comment
}

fn open() -> IssueState {
    IssueState::Open
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// Trackers write `null` for a body that is empty.
fn null_is_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(deserializer: D) -> Result<T, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn little_must_be_given_and_null_is_nothing() {
        let json = r#"{"number":3,"title":"Tür klemmt","body":null,"labels":null,"comments":null,"colour":"red"}"#;
        assert_eq!(serde_json::from_str::<Issue>(json).ok(), Some(Issue::new(3, "Tür klemmt")));
        assert!(serde_json::from_str::<Issue>(r#"{"number":3}"#).is_err());
    }

    #[test]
    fn what_is_not_known_is_not_written() {
        let json = serde_json::to_string(&Issue::new(3, "A")).ok();
        assert_eq!(json.as_deref(), Some(r#"{"number":3,"kind":"issue","title":"A","state":"open"}"#));
    }

    #[test]
    fn a_pull_request_that_was_not_merged_resolved_nothing() {
        let resolved = |kind, state| Issue { kind, state, ..Issue::new(1, "A") }.is_resolved();
        assert!(resolved(IssueKind::Issue, IssueState::Closed) && resolved(IssueKind::PullRequest, IssueState::Merged));
        assert!(!resolved(IssueKind::PullRequest, IssueState::Closed) && !resolved(IssueKind::Issue, IssueState::Open));
    }
}
