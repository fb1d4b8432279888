//! The shape of a record, by the names of its fields, and the reader for it.

use super::fields::{Fields, Reason};
use super::record::Found;
use super::{IssueFormat, github, gitlab, listed, own};

/// The shape of a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Shape {
    GithubIssue,
    GithubComment,
    Listed,
    GitlabIssue { exported: bool },
    GitlabNote,
    GitlabDiscussion,
    Own,
}

impl Shape {
    /// The shape of a record with these fields; none unless it is an issue or a comment.
    pub(super) fn of(fields: Fields<'_>) -> Option<Self> {
        let has = |name: &str| fields.has(name);
        let any = |names: &[&str]| names.iter().any(|name| fields.has(name));
        if has("noteable_type") {
            return Some(Self::GitlabNote);
        }
        if has("individual_note") && has("notes") {
            return Some(Self::GitlabDiscussion);
        }
        if has("iid") {
            return Some(Self::GitlabIssue { exported: !has("web_url") });
        }
        if !any(&["number", "title"]) {
            return any(&["issue_url", "pull_request_url"]).then_some(Self::GithubComment);
        }
        // Milestones have a number, a title and a state as well.
        if has("open_issues") || !any(&["title", "body", "state", "labels", "comments", "author", "user"]) {
            return None;
        }
        if any(&["user", "html_url", "repository_url", "node_id", "pull_request"]) {
            return Some(Self::GithubIssue);
        }
        let camel = [
            "createdAt", "updatedAt", "closedAt", "mergedAt", "authorAssociation", "isDraft", "stateReason", "reviews",
        ];
        let shouts = || matches!(fields.text(&["state"]), Ok(Some("OPEN" | "CLOSED" | "MERGED")));
        let account = || fields.value(&["author"]).is_some_and(|(_, author)| author.is_object());
        if any(&camel) || shouts() || account() {
            return Some(Self::Listed);
        }
        Some(Self::Own)
    }

    /// The format that records of this shape are found in.
    pub(super) fn format(self) -> IssueFormat {
        match self {
            Self::GithubIssue | Self::GithubComment => IssueFormat::GithubPages,
            Self::Listed => IssueFormat::GhList,
            Self::GitlabIssue { exported: true } => IssueFormat::GitlabExport,
            Self::GitlabIssue { exported: false } | Self::GitlabNote | Self::GitlabDiscussion => {
                IssueFormat::GitlabPages
            }
            Self::Own => IssueFormat::JsonLines,
        }
    }

    pub(super) fn read(self, fields: Fields<'_>) -> Result<Found, Reason> {
        match self {
            Self::GithubIssue => github::issue(fields),
            Self::GithubComment => github::comment(fields),
            Self::Listed => listed::issue(fields, None),
            Self::GitlabIssue { .. } => gitlab::issue(fields),
            Self::GitlabNote => gitlab::note_record(fields),
            Self::GitlabDiscussion => gitlab::discussion(fields),
            Self::Own => own::issue(fields),
        }
    }
}
