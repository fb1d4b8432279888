//! Records of GitHub's REST API: issues, pull requests, comments, remarks on lines, reviews.

use super::address;
use super::fields::{Fields, Reason};
use super::record::{Found, is_nothing};
use crate::issues::{CommentKind, Issue, IssueComment, IssueKind, IssueState};

/// A record of `/issues` or `/pulls`.
pub(super) fn issue(fields: Fields<'_>) -> Result<Found, Reason> {
    let number = fields.number(&["number"])?;
    let url = fields.some_text(&["html_url"])?;
    let pull = fields.object(&["pull_request"])?;
    let is_pull = pull.is_some()
        || ["head", "base", "merged_at", "diff_url", "draft"].iter().any(|name| fields.value(&[*name]).is_some())
        || url.as_deref().is_some_and(address::is_pull);
    let merged_at = match (fields.time(&["merged_at"])?, pull) {
        (None, Some(pull)) => pull.time(&["merged_at"])?,
        (merged_at, _) => merged_at,
    };
    let state = fields.state(&["state"])?.unwrap_or(IssueState::Open);
    let merged = merged_at.is_some() || fields.flag(&["merged"])?;
    let author = fields.person(&["user", "author"])?;
    let issue = Issue {
        kind: if is_pull { IssueKind::PullRequest } else { IssueKind::Issue },
        body: fields.own_text(&["body"])?,
        state: if merged && state == IssueState::Closed { IssueState::Merged } else { state },
        state_reason: fields.some_text(&["state_reason"])?,
        author: author.name,
        bot: author.bot,
        labels: fields.labels(&["labels"])?,
        milestone: fields.milestone()?,
        locked: fields.flag(&["locked"])?,
        created_at: fields.time(&["created_at"])?,
        updated_at: fields.time(&["updated_at"])?,
        closed_at: fields.time(&["closed_at"])?,
        merged_at,
        ..Issue::new(number, fields.title()?)
    };
    let repository = [url.as_deref(), fields.text(&["repository_url"])?, fields.text(&["url"])?];
    let repository = address::repository_of(repository.into_iter().flatten());
    Ok(Found { repository, ..Found::issue(Issue { url, ..issue }) })
}

/// A record of `/issues/comments`, `/pulls/comments` or `/pulls/N/reviews`, which names its issue by address.
pub(super) fn comment(fields: Fields<'_>) -> Result<Found, Reason> {
    let names = ["issue_url", "pull_request_url", "html_url"];
    let mut addresses = Vec::with_capacity(names.len());
    for name in names {
        addresses.extend(fields.text(&[name])?);
    }
    let number = addresses.iter().find_map(|address| address::number(address));
    let number = number.ok_or_else(|| format!("none of `{}` says to which issue it belongs", names.join("`, `")))?;
    let author = fields.person(&["user", "author"])?;
    let is_review = fields.has("submitted_at") || fields.value(&["state"]).is_some();
    let is_remark = fields.has("pull_request_url") || fields.has("pull_request_review_id") || fields.has("diff_hunk");
    let created_at = fields.time(&["created_at", "submitted_at"])?;
    let comment = IssueComment {
        kind: if is_review || is_remark { CommentKind::Review } else { CommentKind::Comment },
        author: author.name,
        bot: author.bot,
        created_at,
        updated_at: fields.time(&["updated_at"])?.or(created_at),
        url: fields.some_text(&["html_url"])?,
        verdict: if is_review { fields.verdict(&["state"])? } else { None },
        file: fields.some_text(&["path"])?,
        line: fields.count(&["line", "original_line"])?,
        ..IssueComment::new(fields.own_text(&["body"])?)
    };
    let repository = address::repository_of(addresses.iter().copied());
    let comments = if is_nothing(&comment) { Vec::new() } else { vec![(number, comment)] };
    Ok(Found { repository, comments, ..Found::default() })
}
