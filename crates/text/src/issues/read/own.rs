//! Records in the project's own format: [`Issue`] as JSON.

use serde_json::Value;

use super::address;
use super::fields::{Fields, Reason, shown};
use super::record::Found;
use crate::issues::bots::is_bot;
use crate::issues::{CommentKind, Issue, IssueComment, IssueKind, IssueState};

/// An issue with its comments.
pub(super) fn issue(fields: Fields<'_>) -> Result<Found, Reason> {
    let number = fields.number(&["number"])?;
    let state = fields.state(&["state"])?.unwrap_or(IssueState::Open);
    let url = fields.some_text(&["url"])?;
    let author = fields.person(&["author"])?;
    let mut found = Found { repository: url.as_deref().and_then(address::repository), ..Found::default() };
    let mut comments = Vec::new();
    for (at, item) in fields.list(&["comments"])?.iter().enumerate() {
        found.keep(&mut comments, || format!("comment {}", at + 1), comment(item));
    }
    found.issue = Some(Issue {
        kind: named(fields, IssueKind::NAMES)?.unwrap_or(match state {
            IssueState::Merged => IssueKind::PullRequest,
            IssueState::Open | IssueState::Closed => IssueKind::Issue,
        }),
        body: fields.own_text(&["body"])?,
        state,
        state_reason: fields.some_text(&["state_reason"])?,
        bot: bot(fields, author.name.as_deref())?,
        author: author.name,
        labels: fields.labels(&["labels"])?,
        milestone: fields.milestone()?,
        locked: fields.flag(&["locked"])?,
        created_at: fields.time(&["created_at"])?,
        updated_at: fields.time(&["updated_at"])?,
        closed_at: fields.time(&["closed_at"])?,
        merged_at: fields.time(&["merged_at"])?,
        url,
        comments,
        ..Issue::new(number, fields.title()?)
    });
    Ok(found)
}

fn comment(item: &Value) -> Result<IssueComment, Reason> {
    let fields = Fields::of(item)?;
    let author = fields.person(&["author"])?;
    Ok(IssueComment {
        kind: named(fields, CommentKind::NAMES)?.unwrap_or(CommentKind::Comment),
        bot: bot(fields, author.name.as_deref())?,
        author: author.name,
        body: fields.own_text(&["body"])?,
        created_at: fields.time(&["created_at"])?,
        updated_at: fields.time(&["updated_at"])?,
        url: fields.some_text(&["url"])?,
        verdict: fields.verdict(&["verdict"])?,
        file: fields.some_text(&["file"])?,
        line: fields.count(&["line"])?,
    })
}

/// The record's own field, or else a guess by the name.
fn bot(fields: Fields<'_>, author: Option<&str>) -> Result<bool, Reason> {
    match fields.value(&["bot"]) {
        Some(_) => fields.flag(&["bot"]),
        None => Ok(author.is_some_and(is_bot)),
    }
}

fn named<T: std::str::FromStr>(fields: Fields<'_>, names: &[&str]) -> Result<Option<T>, Reason> {
    let Some((name, value)) = fields.value(&["kind"]) else {
        return Ok(None);
    };
    let read = value.as_str().and_then(|text| text.parse().ok());
    read.map(Some).ok_or_else(|| format!("`{name}` is {}, not {}", shown(value), names.join(" or ")))
}
