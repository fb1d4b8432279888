//! Records of GitLab: its export (`tree/project/issues.ndjson`, `merge_requests.ndjson`) and its API.

use serde_json::Value;

use super::address;
use super::fields::{Fields, Reason, shown};
use super::record::Found;
use crate::issues::{CommentKind, Issue, IssueComment, IssueKind, IssueState};

/// An issue or a merge request, with its notes if they come along.
pub(super) fn issue(fields: Fields<'_>) -> Result<Found, Reason> {
    let number = fields.number(&["iid"])?;
    let url = fields.some_text(&["web_url"])?;
    let is_merge_request = ["source_branch", "target_branch", "merge_status"].iter().any(|name| fields.has(name))
        || url.as_deref().is_some_and(address::is_pull);
    let merged_at = match (fields.time(&["merged_at"])?, fields.object(&["metrics"])?) {
        (None, Some(metrics)) => metrics.time(&["merged_at"])?,
        (merged_at, _) => merged_at,
    };
    let author = fields.person(&["author"])?;
    let mut found = Found { repository: url.as_deref().and_then(address::repository), ..Found::default() };
    let mut comments = Vec::new();
    for (at, item) in fields.list(&["notes"])?.iter().enumerate() {
        let read = Fields::of(item).and_then(note);
        if let Some(Some(note)) = found.check(|| format!("note {}", at + 1), read) {
            comments.push(note);
        }
    }
    found.issue = Some(Issue {
        kind: if is_merge_request { IssueKind::PullRequest } else { IssueKind::Issue },
        body: fields.own_text(&["description"])?,
        state: state(fields)?,
        author: author.name,
        bot: author.bot,
        labels: fields.labels(&["labels", "label_links"])?,
        milestone: fields.milestone()?,
        locked: fields.flag(&["discussion_locked"])?,
        created_at: fields.time(&["created_at"])?,
        updated_at: fields.time(&["updated_at"])?,
        closed_at: fields.time(&["closed_at"])?,
        merged_at,
        url,
        comments,
        ..Issue::new(number, fields.title()?)
    });
    Ok(found)
}

/// By name; by number, as newer exports write it; or by whether it was closed.
fn state(fields: Fields<'_>) -> Result<IssueState, Reason> {
    if let Some(state) = fields.state(&["state"])? {
        return Ok(state);
    }
    match fields.value(&["state_id"]) {
        Some((_, Value::Number(number))) => match number.as_u64() {
            Some(1 | 4) => Ok(IssueState::Open),
            Some(2) => Ok(IssueState::Closed),
            Some(3) => Ok(IssueState::Merged),
            _ => Err(format!("`state_id` is {number}, not 1 to 4")),
        },
        Some((_, other)) => Err(format!("`state_id` is {}, not 1 to 4", shown(other))),
        None if fields.value(&["closed_at"]).is_some() => Ok(IssueState::Closed),
        None => Ok(IssueState::Open),
    }
}

/// A record of `/issues/N/notes` or `/merge_requests/N/notes`.
pub(super) fn note_record(fields: Fields<'_>) -> Result<Found, Reason> {
    let on = fields.text(&["noteable_type"])?.unwrap_or_default();
    let kind = match on {
        "Issue" | "WorkItem" => IssueKind::Issue,
        "MergeRequest" => IssueKind::PullRequest,
        _ => return Err(format!("is a note on {on:?}, not on an issue or a merge request")),
    };
    let Some(note) = note(fields)? else {
        return Ok(Found::default());
    };
    let comments = vec![(fields.number(&["noteable_iid"])?, note)];
    Ok(Found { comments, comments_on: Some(kind), ..Found::default() })
}

/// A record of `/issues/N/discussions`: several notes.
pub(super) fn discussion(fields: Fields<'_>) -> Result<Found, Reason> {
    let mut found = Found::default();
    for (at, item) in fields.list(&["notes"])?.iter().enumerate() {
        let read = Fields::of(item).and_then(note_record);
        if let Some(note) = found.check(|| format!("note {}", at + 1), read) {
            found.comments.extend(note.comments);
            found.comments_on = found.comments_on.or(note.comments_on);
        }
    }
    Ok(found)
}

/// A comment by a person, unless the note is GitLab's own log of an action.
fn note(fields: Fields<'_>) -> Result<Option<IssueComment>, Reason> {
    if fields.flag(&["system"])? {
        return Ok(None);
    }
    let author = fields.person(&["author"])?;
    let place = match fields.value(&["position"]) {
        Some((_, Value::Object(position))) => Some(Fields(position)),
        _ => None,
    };
    let on_lines = matches!(fields.text(&["type"])?, Some("DiffNote" | "LegacyDiffNote"));
    let created_at = fields.time(&["created_at"])?;
    Ok(Some(IssueComment {
        kind: if on_lines { CommentKind::Review } else { CommentKind::Comment },
        author: author.name,
        bot: author.bot,
        created_at,
        updated_at: fields.time(&["updated_at"])?.or(created_at),
        file: place.map_or(Ok(None), |place| place.some_text(&["new_path", "old_path"]))?,
        line: place.map_or(Ok(None), |place| place.count(&["new_line", "old_line"]))?,
        ..IssueComment::new(fields.own_text(&["note", "body"])?)
    }))
}
