//! The result of reading one record.

use super::address::Repository;
use super::fields::Reason;
use crate::issues::{Issue, IssueComment, IssueKind, Verdict};

/// The content of one record.
#[derive(Default)]
pub(super) struct Found {
    pub(super) issue: Option<Issue>,
    /// Comments, each with the number of its issue.
    pub(super) comments: Vec<(u64, IssueComment)>,
    /// The kind of issue that the comments are on, if numbers alone do not tell.
    pub(super) comments_on: Option<IssueKind>,
    pub(super) repository: Option<Repository>,
    /// Unreadable parts: the place and the reason.
    pub(super) bad: Vec<(String, Reason)>,
}

impl Found {
    pub(super) fn issue(issue: Issue) -> Self {
        Self { issue: Some(issue), ..Self::default() }
    }

    /// The value, or `None` and a note of the reason.
    pub(super) fn check<T>(&mut self, place: impl Fn() -> String, read: Result<T, Reason>) -> Option<T> {
        read.map_err(|reason| self.bad.push((place(), reason))).ok()
    }

    /// Adds the value, or a note of the reason.
    pub(super) fn keep<T>(&mut self, all: &mut Vec<T>, place: impl Fn() -> String, read: Result<T, Reason>) {
        all.extend(self.check(place, read));
    }
}

/// Returns `true` if a review is empty: it only grouped its remarks, or was never sent.
pub(super) fn is_nothing(comment: &IssueComment) -> bool {
    comment.body.trim().is_empty() && matches!(comment.verdict, Some(Verdict::Commented | Verdict::Pending))
}
