//! An issue as it is stored, whatever its source format.

use std::mem;

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize};

use super::comments::{Comments, fill};
use crate::document::named;

named! {
    /// The subject of discussion: a report or a proposed change.
    #[derive(Default)]
    IssueKind is a "kind of issue" {
        /// A report, a question, a task.
        #[default]
        Issue = "issue",
        /// A pull request, or a merge request.
        PullRequest = "pull_request",
    }
}

named! {
    /// The state of an issue.
    #[derive(Default)]
    IssueState is a "state" {
        /// Nothing decided yet.
        #[default]
        Open = "open",
        /// Done with; a pull request in this state was not merged.
        Closed = "closed",
        /// A pull request that was merged.
        Merged = "merged",
    }
}

named! {
    /// The context of a comment.
    #[derive(Default)]
    CommentKind is a "kind of comment" {
        /// Said in the conversation under an issue or a pull request.
        #[default]
        Comment = "comment",
        /// Said in a review of a pull request, or about its lines.
        Review = "review",
    }
}

named! {
    /// The verdict of a review on the change as a whole.
    Verdict is a "verdict" {
        /// Can be merged.
        Approved = "approved",
        /// Must not be merged as it is.
        ChangesRequested = "changes_requested",
        /// Nothing for or against it.
        Commented = "commented",
        /// A verdict that was withdrawn.
        Dismissed = "dismissed",
        /// Not sent yet.
        Pending = "pending",
    }
}

/// An issue or a pull request with its comments.
///
/// Its JSON is the project's own format: one object a line in a file of JSON Lines, and the record that is kept with
/// the document. Names are `snake_case`, times RFC 3339; only `number` and `title` are required, and unknown fields are
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
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Issue {
    /// Its number in its tracker, from 1.
    pub number: u64,
    /// Issue or pull request.
    #[serde(default)]
    pub kind: IssueKind,
    /// Its title.
    pub title: String,
    /// The body in Markdown, as written.
    #[serde(default, deserialize_with = "null_is_default", skip_serializing_if = "String::is_empty")]
    pub body: String,
    /// Its state.
    #[serde(default)]
    pub state: IssueState,
    /// The reason it was closed, in the tracker's words: `completed`, `not_planned`, `duplicate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state_reason: Option<String>,
    /// Its author; `None` if the account is gone or the source does not name it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// True if a program wrote it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub bot: bool,
    /// Its labels, in the source's order.
    #[serde(default, deserialize_with = "null_is_default", skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    /// The milestone it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub milestone: Option<String>,
    /// True if its conversation is locked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub locked: bool,
    /// Time of its creation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Timestamp>,
    /// Time of its last change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<Timestamp>,
    /// Time of its closing; `None` while it is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub closed_at: Option<Timestamp>,
    /// Time of its merge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merged_at: Option<Timestamp>,
    /// Its address for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Its comments, in the order of time.
    #[serde(default, deserialize_with = "null_is_default", skip_serializing_if = "Vec::is_empty")]
    pub comments: Vec<IssueComment>,
}

/// A comment on an issue.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct IssueComment {
    /// Comment of the conversation or of a review.
    #[serde(default)]
    pub kind: CommentKind,
    /// Its author; `None` if the account is gone or the source does not name it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// True if a program wrote it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub bot: bool,
    /// The text in Markdown, as written.
    #[serde(default, deserialize_with = "null_is_default", skip_serializing_if = "String::is_empty")]
    pub body: String,
    /// Time of its creation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Timestamp>,
    /// Time of its last change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<Timestamp>,
    /// Its address for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The verdict of a review; `None` for a remark on lines and for other comments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// The file that a remark is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line of that file, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
}

/// The path of an issue's document before the number.
const PATH: &str = "issue:";

impl Issue {
    /// An open issue with only a number and a title.
    #[must_use]
    pub fn new(number: u64, title: impl Into<String>) -> Self {
        Self { number, title: title.into(), ..Self::default() }
    }

    /// The path of the document that an issue becomes: `issue:12`.
    #[must_use]
    pub fn path(number: u64) -> String {
        format!("{PATH}{number}")
    }

    /// The number of the issue whose document is at this path; `None` for other paths.
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

    /// Returns `true` if its outcome can help others: a closed issue, a merged pull request.
    #[must_use]
    pub fn is_resolved(&self) -> bool {
        match self.kind {
            IssueKind::Issue => self.state != IssueState::Open,
            IssueKind::PullRequest => self.state == IssueState::Merged,
        }
    }
}

impl IssueComment {
    /// A comment of the conversation with only a text.
    #[must_use]
    pub fn new(body: impl Into<String>) -> Self {
        Self { body: body.into(), ..Self::default() }
    }
}

/// Trackers write `null` for a body that is empty.
fn null_is_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(deserializer: D) -> Result<T, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

// Two records of one issue become one.

impl Issue {
    /// Merges another record of the same issue. The later update wins, and the comments of both are kept. Gaps of the
    /// later record (an author, a date, an address) are filled from the earlier one. The order of the two makes no
    /// difference: of two records with the same time, the more complete one wins. Takes time linear in the number of
    /// comments, except for sorting them.
    pub fn merge(&mut self, mut other: Issue) {
        if standing(self) < standing(&other) {
            mem::swap(self, &mut other);
        }
        let same_time = self.updated_at == other.updated_at || other.updated_at.is_none();
        if same_time {
            if self.body.is_empty() {
                self.body = other.body;
            }
            if self.labels.is_empty() {
                self.labels = other.labels;
            }
            fill(&mut self.milestone, other.milestone);
        }
        if self.state == other.state {
            fill(&mut self.closed_at, other.closed_at);
            fill(&mut self.state_reason, other.state_reason);
        }
        if self.state == IssueState::Merged {
            fill(&mut self.merged_at, other.merged_at);
        }
        fill(&mut self.author, other.author);
        fill(&mut self.created_at, other.created_at);
        fill(&mut self.updated_at, other.updated_at);
        fill(&mut self.url, other.url);
        self.bot |= other.bot;
        self.add_comments(other.comments);
    }

    /// Returns why another record of the same number is not of this issue: GitLab numbers issues and merge requests
    /// separately.
    #[must_use]
    pub fn conflict(&self, other: &Issue) -> Option<String> {
        let reason = || format!("number {} is both an issue and a pull or merge request: {APART}", self.number);
        (self.kind != other.kind).then(reason)
    }

    /// Adds comments, sorts all by time and drops repetitions: a comment at the same address or, if one of the two has
    /// no address, one of the same kind by the same author at the same time. Of two versions of a comment the later one
    /// is kept.
    pub fn add_comments(&mut self, comments: impl IntoIterator<Item = IssueComment>) {
        let mut all = Comments::default();
        mem::take(&mut self.comments).into_iter().for_each(|comment| all.push(comment));
        all.add(comments);
        self.comments = all.sorted();
    }
}

/// The advice for trackers that number issues and merge requests separately.
pub(super) const APART: &str = "import merge requests into a namespace of their own";

/// The rank of a record: a later update first, then a more complete record.
fn standing(issue: &Issue) -> impl Ord + '_ {
    let given = [
        issue.author.is_some(),
        issue.created_at.is_some(),
        issue.closed_at.is_some(),
        issue.merged_at.is_some(),
        issue.url.is_some(),
    ];
    let known = given.iter().filter(|given| **given).count() + issue.labels.len();
    (issue.updated_at, issue.state, issue.body.len(), known, &issue.title, &issue.body, &issue.labels)
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

    #[test]
    fn an_issue_that_was_opened_again_is_not_closed_at_the_old_time() {
        let closed_at = "2024-01-01T00:00:00Z".parse().ok();
        let closed = Issue { state: IssueState::Closed, closed_at, updated_at: closed_at, ..Issue::new(1, "A") };
        let mut issue = Issue { updated_at: "2024-03-01T00:00:00Z".parse().ok(), ..Issue::new(1, "A") };
        issue.merge(closed);
        assert_eq!((issue.state, issue.closed_at), (IssueState::Open, None));
    }
}
