//! Records in the terms of GitHub's GraphQL API, as written by `gh issue list --json` and `gh pr list --json` and held by
//! archives of whole repositories.

use super::address;
use super::fields::{Fields, Reason};
use super::record::{Found, is_nothing};
use crate::issues::{CommentKind, Issue, IssueComment, IssueKind, IssueState};

/// Fields that only pull requests have.
const OF_PULLS: &[&str] = &[
    "additions", "autoMergeRequest", "baseRefName", "baseRefOid", "headRefName", "headRefOid", "isDraft",
    "mergeCommit", "mergeable", "mergedAt", "mergedBy", "reviewDecision", "reviewRequests", "reviews", "latestReviews",
];

/// An issue or a pull request with its comments and reviews. `kind` is that of the list that holds it.
pub(super) fn issue(fields: Fields<'_>, kind: Option<IssueKind>) -> Result<Found, Reason> {
    let number = fields.number(&["number"])?;
    let url = fields.some_text(&["url"])?;
    let merged_at = fields.time(&["mergedAt"])?;
    let state = fields.state(&["state"])?;
    let state = match state {
        Some(IssueState::Closed) if merged_at.is_some() => IssueState::Merged,
        Some(state) => state,
        None if merged_at.is_some() => IssueState::Merged,
        None if fields.flag(&["closed"])? || fields.value(&["closedAt"]).is_some() => IssueState::Closed,
        None => IssueState::Open,
    };
    let is_pull = state == IssueState::Merged
        || url.as_deref().is_some_and(address::is_pull)
        || OF_PULLS.iter().any(|name| fields.has(name));
    let guessed = if is_pull { IssueKind::PullRequest } else { IssueKind::Issue };
    let author = fields.person(&["author"])?;
    let mut found = Found { repository: url.as_deref().and_then(address::repository), ..Found::default() };
    let mut comments = Vec::new();
    for (at, item) in fields.list(&["comments"])?.iter().enumerate() {
        found.keep(&mut comments, || format!("comment {}", at + 1), comment(item));
    }
    let names: &[&str] = if fields.has("reviews") { &["reviews"] } else { &["latestReviews"] };
    for (at, item) in fields.list(names)?.iter().enumerate() {
        let place = || format!("review {}", at + 1);
        let Some(review) = found.check(place, review(item)) else {
            continue;
        };
        for (remark_at, item) in Fields::of(item)?.list(&["comments"])?.iter().enumerate() {
            let place = || format!("{}, comment {}", place(), remark_at + 1);
            found.keep(&mut comments, place, remark(item, &review));
        }
        if !is_nothing(&review) {
            comments.push(review);
        }
    }
    found.issue = Some(Issue {
        kind: kind.unwrap_or(guessed),
        body: fields.own_text(&["body"])?,
        state,
        state_reason: fields.some_text(&["stateReason"])?.map(|reason| reason.to_lowercase()),
        author: author.name,
        bot: author.bot,
        labels: fields.labels(&["labels"])?,
        milestone: fields.milestone()?,
        locked: fields.flag(&["locked"])?,
        created_at: fields.time(&["createdAt"])?,
        updated_at: fields.time(&["updatedAt"])?,
        closed_at: fields.time(&["closedAt"])?,
        merged_at,
        url,
        comments,
        ..Issue::new(number, fields.title()?)
    });
    Ok(found)
}

fn comment(item: &serde_json::Value) -> Result<IssueComment, Reason> {
    let fields = Fields::of(item)?;
    let author = fields.person(&["author"])?;
    let created_at = fields.time(&["createdAt", "submittedAt"])?;
    Ok(IssueComment {
        kind: CommentKind::Comment,
        author: author.name,
        bot: author.bot,
        created_at,
        updated_at: fields.time(&["updatedAt"])?.or(created_at),
        url: fields.some_text(&["url"])?,
        ..IssueComment::new(fields.own_text(&["body"])?)
    })
}

fn review(item: &serde_json::Value) -> Result<IssueComment, Reason> {
    let verdict = Fields::of(item)?.verdict(&["state"])?;
    Ok(IssueComment { kind: CommentKind::Review, verdict, ..comment(item)? })
}

/// A remark on lines. Without an author of its own it is the reviewer's.
fn remark(item: &serde_json::Value, review: &IssueComment) -> Result<IssueComment, Reason> {
    let fields = Fields::of(item)?;
    let mut remark = comment(item)?;
    if remark.author.is_none() {
        remark.author.clone_from(&review.author);
        remark.bot = review.bot;
    }
    remark.kind = CommentKind::Review;
    remark.file = fields.some_text(&["path"])?;
    remark.line = fields.count(&["line", "originalLine"])?;
    Ok(remark)
}
