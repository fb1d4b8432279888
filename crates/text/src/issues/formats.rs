//! The formats of issues: the reader for a record by the names of its fields.

use csv::{ReaderBuilder, StringRecord};
use serde_json::{Map, Value};

use super::fields::{Fields, Reason, Repository};
use super::read::IssueFormat;
use super::{CommentKind, Issue, IssueComment, IssueKind, IssueState, Verdict, fields};
use crate::lines::has_word;

/// Reads a record.
pub type Reader = fn(Fields<'_>) -> Result<Found, Reason>;

/// The format that records with these fields are found in, and the reader for them; none unless it is an issue or a comment.
pub fn reader(fields: Fields<'_>) -> Option<(IssueFormat, Reader)> {
    use IssueFormat::{GhList, GithubPages, GitlabExport, GitlabPages, JsonLines};
    if fields.has("noteable_type") {
        return Some((GitlabPages, note_record));
    }
    if fields.has("individual_note") && fields.has("notes") {
        return Some((GitlabPages, discussion));
    }
    if fields.has("iid") {
        return Some((if fields.has("web_url") { GitlabPages } else { GitlabExport }, gitlab_issue));
    }
    if !fields.has("number title") {
        return fields.has("issue_url pull_request_url").then_some((GithubPages, github_comment));
    }
    // Milestones have a number, a title and a state as well.
    if fields.has("open_issues") || !fields.has("title body state labels comments author user") {
        return None;
    }
    if fields.has("user html_url repository_url node_id pull_request") {
        return Some((GithubPages, |fields| issue(fields, None)));
    }
    const CAMEL: &str = "createdAt updatedAt closedAt mergedAt authorAssociation isDraft stateReason reviews";
    let shouts = || matches!(fields.text("state"), Ok(Some("OPEN" | "CLOSED" | "MERGED")));
    let account = || fields.value("author").is_some_and(|(_, author)| author.is_object());
    let is_listed = fields.has(CAMEL) || shouts() || account();
    Some(if is_listed { (GhList, |fields| listed_issue(fields, None)) } else { (JsonLines, own_issue) })
}

// The result of reading one record.

/// The content of one record.
#[derive(Default)]
pub struct Found {
    pub issue: Option<Issue>,
    /// Comments, each with the number of its issue.
    pub comments: Vec<(u64, IssueComment)>,
    /// The kind of issue that the comments are on, if numbers alone do not tell.
    pub comments_on: Option<IssueKind>,
    pub repository: Option<Repository>,
    /// Unreadable parts: the place and the reason.
    pub bad: Vec<(String, Reason)>,
}

impl Found {
    /// The items that can be read; the others are bad.
    fn items<T>(&mut self, what: &str, items: &[Value], read: impl Fn(Fields<'_>) -> Result<T, Reason>) -> Vec<T> {
        let mut all = Vec::new();
        for (at, item) in items.iter().enumerate() {
            match Fields::new(item).and_then(&read) {
                Ok(one) => all.push(one),
                Err(reason) => self.bad.push((format!("{what} {}", at + 1), reason)),
            }
        }
        all
    }

    /// The issue with these comments.
    fn with(mut self, comments: impl IntoIterator<Item = IssueComment>) -> Self {
        if let Some(issue) = &mut self.issue {
            issue.comments.extend(comments);
        }
        self
    }
}

/// Returns `true` if a review is empty: it only grouped its remarks, or was never sent.
fn is_nothing(comment: &IssueComment) -> bool {
    comment.body.trim().is_empty() && matches!(comment.verdict, Some(Verdict::Commented | Verdict::Pending))
}

// Issues and comments, whatever their source: each of these names means the same in every source that has it.

/// Fields that only pull requests have, and those that only they fill in.
const OF_PULLS: &str = "additions autoMergeRequest baseRefName baseRefOid headRefName headRefOid isDraft mergeCommit \
                        mergeable mergedAt mergedBy reviewDecision reviewRequests reviews latestReviews source_branch \
                        target_branch merge_status";
const FILLED_BY_PULLS: &str = "pull_request head base merged_at diff_url draft";

/// An issue or a pull request without its comments. `kind` is that of the list that holds it, or what the record says.
fn issue(fields: Fields<'_>, kind: Option<IssueKind>) -> Result<Found, Reason> {
    let number = fields.number(if fields.has("iid") { "iid" } else { "number" })?;
    let url = fields.some_text("html_url web_url url")?;
    let mut merged_at = fields.time("merged_at mergedAt")?;
    for part in ["pull_request", "metrics"] {
        if let (None, Some(part)) = (merged_at, fields.object(part)?) {
            merged_at = part.time("merged_at")?;
        }
    }
    let state = state_of(fields, merged_at.is_some() || fields.flag("merged")?)?;
    let is_pull = state == IssueState::Merged
        || url.as_deref().is_some_and(fields::is_pull)
        || fields.has(OF_PULLS)
        || fields.value(FILLED_BY_PULLS).is_some();
    let guessed = if is_pull { IssueKind::PullRequest } else { IssueKind::Issue };
    let (author, bot) = fields.person("user author")?;
    let state_reason = match fields.some_text("state_reason")? {
        None => fields.some_text("stateReason")?.map(|reason| reason.to_lowercase()),
        reason => reason,
    };
    let issue = Issue {
        kind: kind.unwrap_or(guessed),
        body: fields.own_text("body description")?,
        state,
        state_reason,
        author,
        bot,
        labels: fields.labels("labels label_links")?,
        milestone: fields.milestone()?,
        locked: fields.flag("locked discussion_locked")?,
        created_at: fields.time("created_at createdAt")?,
        updated_at: fields.time("updated_at updatedAt")?,
        closed_at: fields.time("closed_at closedAt")?,
        merged_at,
        ..Issue::new(number, fields.title()?)
    };
    let addresses = [url.as_deref(), fields.text("repository_url")?, fields.text("url")?];
    let repository = fields::repository_of(addresses.into_iter().flatten());
    Ok(Found { repository, issue: Some(Issue { url, ..issue }), ..Found::default() })
}

/// By name; by number, as newer exports of GitLab write it; or by what else the record says.
fn state_of(fields: Fields<'_>, is_merged: bool) -> Result<IssueState, Reason> {
    let numbered = |value: &Value| match value.as_u64()? {
        1 | 4 => Some(IssueState::Open),
        2 => Some(IssueState::Closed),
        3 => Some(IssueState::Merged),
        _ => None,
    };
    let said = match fields.state("state")? {
        None => fields.typed("state_id", "1 to 4", numbered)?,
        state => state,
    };
    Ok(match said {
        None | Some(IssueState::Closed) if is_merged => IssueState::Merged,
        Some(state) => state,
        None if fields.flag("closed")? || fields.value("closed_at closedAt").is_some() => IssueState::Closed,
        None => IssueState::Open,
    })
}

fn comment(fields: Fields<'_>, kind: CommentKind) -> Result<IssueComment, Reason> {
    let (author, bot) = fields.person("user author")?;
    let created_at = fields.time("created_at createdAt submitted_at submittedAt")?;
    Ok(IssueComment {
        kind,
        author,
        bot,
        created_at,
        updated_at: fields.time("updated_at updatedAt")?.or(created_at),
        url: fields.some_text("html_url url")?,
        file: fields.some_text("path file")?,
        line: fields.count("line original_line originalLine")?,
        ..IssueComment::new(fields.own_text("note body")?)
    })
}

/// A review of a pull request, with its verdict.
fn review(fields: Fields<'_>) -> Result<IssueComment, Reason> {
    Ok(IssueComment { verdict: fields.verdict("state")?, ..comment(fields, CommentKind::Review)? })
}

/// A record of GitHub's `/issues/comments`, `/pulls/comments` or `/pulls/N/reviews`, which names its issue by address.
fn github_comment(fields: Fields<'_>) -> Result<Found, Reason> {
    let names = ["issue_url", "pull_request_url", "html_url"];
    let mut addresses = Vec::with_capacity(names.len());
    for name in names {
        addresses.extend(fields.text(name)?);
    }
    let number = addresses.iter().find_map(|address| fields::number(address));
    let number = number.ok_or_else(|| format!("none of `{}` says to which issue it belongs", names.join("`, `")))?;
    let is_remark = fields.has("pull_request_url pull_request_review_id diff_hunk");
    let comment = if fields.has("submitted_at") || fields.value("state").is_some() {
        review(fields)?
    } else {
        comment(fields, if is_remark { CommentKind::Review } else { CommentKind::Comment })?
    };
    let repository = fields::repository_of(addresses.iter().copied());
    let comments = if is_nothing(&comment) { Vec::new() } else { vec![(number, comment)] };
    Ok(Found { repository, comments, ..Found::default() })
}

/// An issue or a pull request with its comments and reviews in the terms of GitHub's GraphQL API, as written by
/// `gh issue list --json` and `gh pr list --json` and held by archives of whole repositories.
pub fn listed_issue(fields: Fields<'_>, kind: Option<IssueKind>) -> Result<Found, Reason> {
    let mut found = issue(fields, kind)?;
    let mut comments = found.items("comment", fields.list("comments")?, |fields| comment(fields, CommentKind::Comment));
    let names = if fields.has("reviews") { "reviews" } else { "latestReviews" };
    for (at, item) in fields.list(names)?.iter().enumerate() {
        let place = format!("review {}", at + 1);
        match Fields::new(item).and_then(|fields| Ok((review(fields)?, fields.list("comments")?))) {
            Ok((review, remarks)) => {
                comments.extend(found.items(&format!("{place}, comment"), remarks, |fields| remark(fields, &review)));
                comments.extend(Some(review).filter(|review| !is_nothing(review)));
            }
            Err(reason) => found.bad.push((place, reason)),
        }
    }
    Ok(found.with(comments))
}

/// A remark on lines. Without an author of its own it is the reviewer's.
fn remark(fields: Fields<'_>, review: &IssueComment) -> Result<IssueComment, Reason> {
    let mut remark = comment(fields, CommentKind::Review)?;
    if remark.author.is_none() {
        remark.author.clone_from(&review.author);
        remark.bot = review.bot;
    }
    Ok(remark)
}

/// An issue or a merge request of GitLab's export or API, with its notes if they come along.
fn gitlab_issue(fields: Fields<'_>) -> Result<Found, Reason> {
    let mut found = issue(fields, None)?;
    let notes = found.items("note", fields.list("notes")?, note);
    Ok(found.with(notes.into_iter().flatten()))
}

/// A record of `/issues/N/notes` or `/merge_requests/N/notes`.
fn note_record(fields: Fields<'_>) -> Result<Found, Reason> {
    let on = fields.text("noteable_type")?.unwrap_or_default();
    let kind = match on {
        "Issue" | "WorkItem" => IssueKind::Issue,
        "MergeRequest" => IssueKind::PullRequest,
        _ => return Err(format!("is a note on {on:?}, not on an issue or a merge request")),
    };
    let Some(note) = note(fields)? else {
        return Ok(Found::default());
    };
    let comments = vec![(fields.number("noteable_iid")?, note)];
    Ok(Found { comments, comments_on: Some(kind), ..Found::default() })
}

/// A record of `/issues/N/discussions`: several notes.
fn discussion(fields: Fields<'_>) -> Result<Found, Reason> {
    let mut found = Found::default();
    for note in found.items("note", fields.list("notes")?, note_record) {
        found.comments.extend(note.comments);
        found.comments_on = found.comments_on.or(note.comments_on);
    }
    Ok(found)
}

/// A comment by a person, unless the note is GitLab's own log of an action.
fn note(fields: Fields<'_>) -> Result<Option<IssueComment>, Reason> {
    if fields.flag("system")? {
        return Ok(None);
    }
    let on_lines = matches!(fields.text("type")?, Some("DiffNote" | "LegacyDiffNote"));
    let mut note = comment(fields, if on_lines { CommentKind::Review } else { CommentKind::Comment })?;
    if let Some((_, Value::Object(position))) = fields.value("position") {
        note.file = Fields(position).some_text("new_path old_path")?;
        note.line = Fields(position).count("new_line old_line")?;
    }
    Ok(Some(note))
}

/// An issue in the project's own format ([`Issue`] as JSON), which says nothing between the lines.
fn own_issue(fields: Fields<'_>) -> Result<Found, Reason> {
    let state = fields.state("state")?.unwrap_or(IssueState::Open);
    let of_state = if state == IssueState::Merged { IssueKind::PullRequest } else { IssueKind::Issue };
    let kind = kind(fields, IssueKind::NAMES)?.unwrap_or(of_state);
    let mut found = issue(fields, Some(kind))?;
    let comments = found.items("comment", fields.list("comments")?, own_comment);
    found.issue = found.issue.map(|issue| Issue { state, ..issue });
    Ok(found.with(comments))
}

fn own_comment(fields: Fields<'_>) -> Result<IssueComment, Reason> {
    let kind = kind(fields, CommentKind::NAMES)?.unwrap_or(CommentKind::Comment);
    let verdict = fields.verdict("verdict")?;
    Ok(IssueComment { verdict, updated_at: fields.time("updated_at")?, ..comment(fields, kind)? })
}

fn kind<T: std::str::FromStr>(fields: Fields<'_>, names: &[&str]) -> Result<Option<T>, Reason> {
    fields.typed("kind", &names.join(" or "), |value| value.as_str()?.parse().ok())
}

// GitLab's export as a table: one row an issue or merge request, named columns.

/// The columns that hold the number, and the kind that they number.
const NUMBERS: [(&str, IssueKind); 3] =
    [("issue id", IssueKind::Issue), ("mr iid", IssueKind::PullRequest), ("mr id", IssueKind::PullRequest)];

/// The other columns that are read, by the names of their fields.
const COLUMNS: &str = "title description url state author milestone created_at updated_at closed_at merged_at";

/// The rows of a table.
pub struct Table<'t> {
    reader: csv::Reader<&'t [u8]>,
    columns: Vec<String>,
    number: usize,
    kind: IssueKind,
}

impl<'t> Table<'t> {
    /// `None` unless the first line names the columns of such a table.
    pub fn new(text: &'t str) -> Option<Self> {
        let mut reader = ReaderBuilder::new().flexible(true).from_reader(text.as_bytes());
        let columns: Vec<String> = reader.headers().ok()?.iter().map(|name| name.trim().to_lowercase()).collect();
        let column = |wanted: &str| columns.iter().position(|name| name == wanted);
        let (number, kind) = NUMBERS.into_iter().find_map(|(name, kind)| Some((column(name)?, kind)))?;
        column("title")?;
        Some(Self { reader, columns, number, kind })
    }

    /// Every row with the line it begins on.
    pub fn each(mut self, mut row: impl FnMut(u64, Result<Found, Reason>)) {
        let mut record = StringRecord::new();
        loop {
            let line = self.reader.position().line();
            match self.reader.read_record(&mut record) {
                Ok(false) => return,
                Ok(true) => {
                    let line = record.position().map_or(line, csv::Position::line);
                    row(line, self.issue(&record));
                }
                Err(error) => row(line, Err(error.to_string())),
            }
        }
    }

    /// A row as a record of the API, whose names its columns have.
    fn issue(&self, record: &StringRecord) -> Result<Found, Reason> {
        if record.len() != self.columns.len() {
            return Err(format!("has {} fields, but there are {} columns", record.len(), self.columns.len()));
        }
        let mut row = Map::new();
        row.insert("title".into(), "".into());
        for (at, (column, cell)) in self.columns.iter().zip(record).enumerate() {
            let name = column.trim_end_matches(" (utc)").replace(' ', "_");
            let cell = cell.trim();
            let value = match name.as_str() {
                _ if at == self.number => {
                    let number = cell.trim_start_matches(['#', '!']).parse::<u64>();
                    row.insert("number".into(), number.map_or_else(|_| cell.into(), Value::from));
                    continue;
                }
                _ if cell.is_empty() => continue,
                "labels" => cell.split(',').map(str::trim).filter(|label| !label.is_empty()).collect(),
                "locked" => matches!(cell.to_lowercase().as_str(), "yes" | "true").into(),
                "author_username" => {
                    row.insert("user".into(), cell.into());
                    continue;
                }
                name if has_word(COLUMNS, name) => cell.into(),
                _ => continue,
            };
            row.insert(name, value);
        }
        issue(Fields(&row), Some(self.kind))
    }
}
