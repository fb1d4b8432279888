//! The formats of issues: the shape of a record by the names of its fields, and a reader for each.

use csv::{ReaderBuilder, StringRecord};
use serde_json::Value;

use super::comments::is_bot;
use super::fields::{Fields, Reason, Repository, shown, state, time};
use super::read::IssueFormat;
use super::{CommentKind, Issue, IssueComment, IssueKind, IssueState, Verdict, fields};

/// The shape of a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
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
    pub fn of(fields: Fields<'_>) -> Option<Self> {
        if fields.has("noteable_type") {
            return Some(Self::GitlabNote);
        }
        if fields.has("individual_note") && fields.has("notes") {
            return Some(Self::GitlabDiscussion);
        }
        if fields.has("iid") {
            return Some(Self::GitlabIssue { exported: !fields.has("web_url") });
        }
        if !fields.has("number title") {
            return fields.has("issue_url pull_request_url").then_some(Self::GithubComment);
        }
        // Milestones have a number, a title and a state as well.
        if fields.has("open_issues") || !fields.has("title body state labels comments author user") {
            return None;
        }
        if fields.has("user html_url repository_url node_id pull_request") {
            return Some(Self::GithubIssue);
        }
        const CAMEL: &str = "createdAt updatedAt closedAt mergedAt authorAssociation isDraft stateReason reviews";
        let shouts = || matches!(fields.text("state"), Ok(Some("OPEN" | "CLOSED" | "MERGED")));
        let account = || fields.value("author").is_some_and(|(_, author)| author.is_object());
        Some(if fields.has(CAMEL) || shouts() || account() { Self::Listed } else { Self::Own })
    }

    /// The format that records of this shape are found in.
    pub fn format(self) -> IssueFormat {
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

    pub fn read(self, fields: Fields<'_>) -> Result<Found, Reason> {
        match self {
            Self::GithubIssue => github_issue(fields),
            Self::GithubComment => github_comment(fields),
            Self::Listed => listed_issue(fields, None),
            Self::GitlabIssue { .. } => gitlab_issue(fields),
            Self::GitlabNote => note_record(fields),
            Self::GitlabDiscussion => discussion(fields),
            Self::Own => own_issue(fields),
        }
    }
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
    fn items<T>(&mut self, what: &str, items: &[Value], read: impl Fn(&Value) -> Result<T, Reason>) -> Vec<T> {
        let mut all = Vec::new();
        for (at, item) in items.iter().enumerate() {
            match read(item) {
                Ok(one) => all.push(one),
                Err(reason) => self.bad.push((format!("{what} {}", at + 1), reason)),
            }
        }
        all
    }
}

/// Returns `true` if a review is empty: it only grouped its remarks, or was never sent.
fn is_nothing(comment: &IssueComment) -> bool {
    comment.body.trim().is_empty() && matches!(comment.verdict, Some(Verdict::Commented | Verdict::Pending))
}

// Records of GitHub's REST API: issues, pull requests, comments, remarks on lines, reviews.

/// A record of `/issues` or `/pulls`.
fn github_issue(fields: Fields<'_>) -> Result<Found, Reason> {
    let number = fields.number("number")?;
    let url = fields.some_text("html_url")?;
    let pull = fields.object("pull_request")?;
    let is_pull = pull.is_some()
        || fields.value("head base merged_at diff_url draft").is_some()
        || url.as_deref().is_some_and(fields::is_pull);
    let merged_at = match (fields.time("merged_at")?, pull) {
        (None, Some(pull)) => pull.time("merged_at")?,
        (merged_at, _) => merged_at,
    };
    let state = fields.state("state")?.unwrap_or(IssueState::Open);
    let merged = merged_at.is_some() || fields.flag("merged")?;
    let author = fields.person("user author")?;
    let issue = Issue {
        kind: if is_pull { IssueKind::PullRequest } else { IssueKind::Issue },
        body: fields.own_text("body")?,
        state: if merged && state == IssueState::Closed { IssueState::Merged } else { state },
        state_reason: fields.some_text("state_reason")?,
        author: author.name,
        bot: author.bot,
        labels: fields.labels("labels")?,
        milestone: fields.milestone()?,
        locked: fields.flag("locked")?,
        created_at: fields.time("created_at")?,
        updated_at: fields.time("updated_at")?,
        closed_at: fields.time("closed_at")?,
        merged_at,
        ..Issue::new(number, fields.title()?)
    };
    let repository = [url.as_deref(), fields.text("repository_url")?, fields.text("url")?];
    let repository = fields::repository_of(repository.into_iter().flatten());
    Ok(Found { repository, issue: Some(Issue { url, ..issue }), ..Found::default() })
}

/// A record of `/issues/comments`, `/pulls/comments` or `/pulls/N/reviews`, which names its issue by address.
fn github_comment(fields: Fields<'_>) -> Result<Found, Reason> {
    let names = ["issue_url", "pull_request_url", "html_url"];
    let mut addresses = Vec::with_capacity(names.len());
    for name in names {
        addresses.extend(fields.text(name)?);
    }
    let number = addresses.iter().find_map(|address| fields::number(address));
    let number = number.ok_or_else(|| format!("none of `{}` says to which issue it belongs", names.join("`, `")))?;
    let author = fields.person("user author")?;
    let is_review = fields.has("submitted_at") || fields.value("state").is_some();
    let is_remark = fields.has("pull_request_url pull_request_review_id diff_hunk");
    let created_at = fields.time("created_at submitted_at")?;
    let comment = IssueComment {
        kind: if is_review || is_remark { CommentKind::Review } else { CommentKind::Comment },
        author: author.name,
        bot: author.bot,
        created_at,
        updated_at: fields.time("updated_at")?.or(created_at),
        url: fields.some_text("html_url")?,
        verdict: if is_review { fields.verdict("state")? } else { None },
        file: fields.some_text("path")?,
        line: fields.count("line original_line")?,
        ..IssueComment::new(fields.own_text("body")?)
    };
    let repository = fields::repository_of(addresses.iter().copied());
    let comments = if is_nothing(&comment) { Vec::new() } else { vec![(number, comment)] };
    Ok(Found { repository, comments, ..Found::default() })
}

// Records in the terms of GitHub's GraphQL API, as written by `gh issue list --json` and `gh pr list --json` and held by
// archives of whole repositories.

/// Fields that only pull requests have.
const OF_PULLS: &str = "additions autoMergeRequest baseRefName baseRefOid headRefName headRefOid isDraft mergeCommit \
                        mergeable mergedAt mergedBy reviewDecision reviewRequests reviews latestReviews";

/// An issue or a pull request with its comments and reviews. `kind` is that of the list that holds it.
pub fn listed_issue(fields: Fields<'_>, kind: Option<IssueKind>) -> Result<Found, Reason> {
    let number = fields.number("number")?;
    let url = fields.some_text("url")?;
    let merged_at = fields.time("mergedAt")?;
    let state = fields.state("state")?;
    let state = match state {
        Some(IssueState::Closed) if merged_at.is_some() => IssueState::Merged,
        Some(state) => state,
        None if merged_at.is_some() => IssueState::Merged,
        None if fields.flag("closed")? || fields.value("closedAt").is_some() => IssueState::Closed,
        None => IssueState::Open,
    };
    let is_pull = state == IssueState::Merged || url.as_deref().is_some_and(fields::is_pull) || fields.has(OF_PULLS);
    let guessed = if is_pull { IssueKind::PullRequest } else { IssueKind::Issue };
    let author = fields.person("author")?;
    let mut found = Found { repository: url.as_deref().and_then(fields::repository), ..Found::default() };
    let mut comments = found.items("comment", fields.list("comments")?, listed_comment);
    let names = if fields.has("reviews") { "reviews" } else { "latestReviews" };
    for (at, item) in fields.list(names)?.iter().enumerate() {
        let place = format!("review {}", at + 1);
        match review(item) {
            Ok(review) => {
                let remarks = Fields::new(item)?.list("comments")?;
                comments.extend(found.items(&format!("{place}, comment"), remarks, |item| remark(item, &review)));
                comments.extend(Some(review).filter(|review| !is_nothing(review)));
            }
            Err(reason) => found.bad.push((place, reason)),
        }
    }
    found.issue = Some(Issue {
        kind: kind.unwrap_or(guessed),
        body: fields.own_text("body")?,
        state,
        state_reason: fields.some_text("stateReason")?.map(|reason| reason.to_lowercase()),
        author: author.name,
        bot: author.bot,
        labels: fields.labels("labels")?,
        milestone: fields.milestone()?,
        locked: fields.flag("locked")?,
        created_at: fields.time("createdAt")?,
        updated_at: fields.time("updatedAt")?,
        closed_at: fields.time("closedAt")?,
        merged_at,
        url,
        comments,
        ..Issue::new(number, fields.title()?)
    });
    Ok(found)
}

fn listed_comment(item: &Value) -> Result<IssueComment, Reason> {
    let fields = Fields::new(item)?;
    let author = fields.person("author")?;
    let created_at = fields.time("createdAt submittedAt")?;
    Ok(IssueComment {
        kind: CommentKind::Comment,
        author: author.name,
        bot: author.bot,
        created_at,
        updated_at: fields.time("updatedAt")?.or(created_at),
        url: fields.some_text("url")?,
        ..IssueComment::new(fields.own_text("body")?)
    })
}

fn review(item: &Value) -> Result<IssueComment, Reason> {
    let verdict = Fields::new(item)?.verdict("state")?;
    Ok(IssueComment { kind: CommentKind::Review, verdict, ..listed_comment(item)? })
}

/// A remark on lines. Without an author of its own it is the reviewer's.
fn remark(item: &Value, review: &IssueComment) -> Result<IssueComment, Reason> {
    let fields = Fields::new(item)?;
    let mut remark = listed_comment(item)?;
    if remark.author.is_none() {
        remark.author.clone_from(&review.author);
        remark.bot = review.bot;
    }
    remark.kind = CommentKind::Review;
    remark.file = fields.some_text("path")?;
    remark.line = fields.count("line originalLine")?;
    Ok(remark)
}

// Records of GitLab: its export (`tree/project/issues.ndjson`, `merge_requests.ndjson`) and its API.

/// An issue or a merge request, with its notes if they come along.
fn gitlab_issue(fields: Fields<'_>) -> Result<Found, Reason> {
    let number = fields.number("iid")?;
    let url = fields.some_text("web_url")?;
    let is_merge_request =
        fields.has("source_branch target_branch merge_status") || url.as_deref().is_some_and(fields::is_pull);
    let merged_at = match (fields.time("merged_at")?, fields.object("metrics")?) {
        (None, Some(metrics)) => metrics.time("merged_at")?,
        (merged_at, _) => merged_at,
    };
    let author = fields.person("author")?;
    let mut found = Found { repository: url.as_deref().and_then(fields::repository), ..Found::default() };
    let comments = found.items("note", fields.list("notes")?, |item| note(Fields::new(item)?));
    found.issue = Some(Issue {
        kind: if is_merge_request { IssueKind::PullRequest } else { IssueKind::Issue },
        body: fields.own_text("description")?,
        state: gitlab_state(fields)?,
        author: author.name,
        bot: author.bot,
        labels: fields.labels("labels label_links")?,
        milestone: fields.milestone()?,
        locked: fields.flag("discussion_locked")?,
        created_at: fields.time("created_at")?,
        updated_at: fields.time("updated_at")?,
        closed_at: fields.time("closed_at")?,
        merged_at,
        url,
        comments: comments.into_iter().flatten().collect(),
        ..Issue::new(number, fields.title()?)
    });
    Ok(found)
}

/// By name; by number, as newer exports write it; or by whether it was closed.
fn gitlab_state(fields: Fields<'_>) -> Result<IssueState, Reason> {
    if let Some(state) = fields.state("state")? {
        return Ok(state);
    }
    match fields.value("state_id") {
        Some((_, Value::Number(number))) => match number.as_u64() {
            Some(1 | 4) => Ok(IssueState::Open),
            Some(2) => Ok(IssueState::Closed),
            Some(3) => Ok(IssueState::Merged),
            _ => Err(format!("`state_id` is {number}, not 1 to 4")),
        },
        Some((_, other)) => Err(format!("`state_id` is {}, not 1 to 4", shown(other))),
        None if fields.value("closed_at").is_some() => Ok(IssueState::Closed),
        None => Ok(IssueState::Open),
    }
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
    for note in found.items("note", fields.list("notes")?, |item| note_record(Fields::new(item)?)) {
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
    let author = fields.person("author")?;
    let place = match fields.value("position") {
        Some((_, Value::Object(position))) => Some(Fields(position)),
        _ => None,
    };
    let on_lines = matches!(fields.text("type")?, Some("DiffNote" | "LegacyDiffNote"));
    let created_at = fields.time("created_at")?;
    Ok(Some(IssueComment {
        kind: if on_lines { CommentKind::Review } else { CommentKind::Comment },
        author: author.name,
        bot: author.bot,
        created_at,
        updated_at: fields.time("updated_at")?.or(created_at),
        file: place.map_or(Ok(None), |place| place.some_text("new_path old_path"))?,
        line: place.map_or(Ok(None), |place| place.count("new_line old_line"))?,
        ..IssueComment::new(fields.own_text("note body")?)
    }))
}

// GitLab's export as a table: one row an issue or merge request, named columns.

/// The columns that hold the number, and the kind that they number.
const NUMBERS: [(&str, IssueKind); 3] =
    [("issue id", IssueKind::Issue), ("mr iid", IssueKind::PullRequest), ("mr id", IssueKind::PullRequest)];

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

    fn issue(&self, record: &StringRecord) -> Result<Found, Reason> {
        if record.len() != self.columns.len() {
            return Err(format!("has {} fields, but there are {} columns", record.len(), self.columns.len()));
        }
        let cell = |names: &[&str]| {
            let at = names.iter().find_map(|wanted| self.columns.iter().position(|name| name == wanted))?;
            record.get(at).map(str::trim).filter(|text| !text.is_empty())
        };
        let date = |name: &str| match cell(&[&format!("{name} (utc)"), name]) {
            Some(text) => time(text).map(Some).ok_or_else(|| format!("`{name}` is {text:?}, not a time")),
            None => Ok(None),
        };
        let number = record.get(self.number).unwrap_or_default().trim();
        let number = number.trim_start_matches(['#', '!']).parse().ok().filter(|number| *number > 0);
        let number: u64 = number.ok_or_else(|| {
            format!("its number is {:?}, not a whole number from 1", record.get(self.number).unwrap_or_default())
        })?;
        let author = cell(&["author username", "author"]).map(str::to_owned);
        let said = cell(&["state"]).unwrap_or("open");
        let labels = cell(&["labels"]).unwrap_or_default().split(',').map(str::trim);
        let url = cell(&["url"]).map(str::to_owned);
        let issue = Issue {
            kind: self.kind,
            body: cell(&["description"]).unwrap_or_default().to_owned(),
            state: state(said).ok_or_else(|| format!("`state` is {said:?}, not open, closed or merged"))?,
            bot: author.as_deref().is_some_and(is_bot),
            author,
            labels: labels.filter(|label| !label.is_empty()).map(str::to_owned).collect(),
            milestone: cell(&["milestone"]).map(str::to_owned),
            locked: cell(&["locked"]).is_some_and(|text| matches!(text.to_lowercase().as_str(), "yes" | "true")),
            created_at: date("created at")?,
            updated_at: date("updated at")?,
            closed_at: date("closed at")?,
            merged_at: date("merged at")?,
            url,
            ..Issue::new(number, cell(&["title"]).unwrap_or_default())
        };
        Ok(Found {
            repository: issue.url.as_deref().and_then(fields::repository),
            issue: Some(issue),
            ..Found::default()
        })
    }
}

// Records in the project's own format: `Issue` as JSON.

/// An issue with its comments.
fn own_issue(fields: Fields<'_>) -> Result<Found, Reason> {
    let number = fields.number("number")?;
    let state = fields.state("state")?.unwrap_or(IssueState::Open);
    let url = fields.some_text("url")?;
    let author = fields.person("author")?;
    let mut found = Found { repository: url.as_deref().and_then(fields::repository), ..Found::default() };
    let comments = found.items("comment", fields.list("comments")?, own_comment);
    found.issue = Some(Issue {
        kind: kind(fields, IssueKind::NAMES)?.unwrap_or(match state {
            IssueState::Merged => IssueKind::PullRequest,
            IssueState::Open | IssueState::Closed => IssueKind::Issue,
        }),
        body: fields.own_text("body")?,
        state,
        state_reason: fields.some_text("state_reason")?,
        bot: is_program(fields, author.name.as_deref())?,
        author: author.name,
        labels: fields.labels("labels")?,
        milestone: fields.milestone()?,
        locked: fields.flag("locked")?,
        created_at: fields.time("created_at")?,
        updated_at: fields.time("updated_at")?,
        closed_at: fields.time("closed_at")?,
        merged_at: fields.time("merged_at")?,
        url,
        comments,
        ..Issue::new(number, fields.title()?)
    });
    Ok(found)
}

fn own_comment(item: &Value) -> Result<IssueComment, Reason> {
    let fields = Fields::new(item)?;
    let author = fields.person("author")?;
    Ok(IssueComment {
        kind: kind(fields, CommentKind::NAMES)?.unwrap_or(CommentKind::Comment),
        bot: is_program(fields, author.name.as_deref())?,
        author: author.name,
        body: fields.own_text("body")?,
        created_at: fields.time("created_at")?,
        updated_at: fields.time("updated_at")?,
        url: fields.some_text("url")?,
        verdict: fields.verdict("verdict")?,
        file: fields.some_text("file")?,
        line: fields.count("line")?,
    })
}

/// The record's own field, or else a guess by the name.
fn is_program(fields: Fields<'_>, author: Option<&str>) -> Result<bool, Reason> {
    match fields.value("bot") {
        Some(_) => fields.flag("bot"),
        None => Ok(author.is_some_and(is_bot)),
    }
}

fn kind<T: std::str::FromStr>(fields: Fields<'_>, names: &[&str]) -> Result<Option<T>, Reason> {
    fields.typed("kind", &names.join(" or "), |value| value.as_str()?.parse().ok())
}
