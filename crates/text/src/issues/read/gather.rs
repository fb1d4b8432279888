//! Gathers all records of one input.

use std::collections::BTreeMap;

use serde_json::Value;

use super::address::Repository;
use super::fields::{Fields, Reason, shown};
use super::record::Found;
use super::shape::Shape;
use super::{BadRecord, IssueArchive, IssueFormat, IssueFormatError, listed};
use crate::issues::comments::Comments;
use crate::issues::{Issue, IssueComment, IssueKind};

/// Number of field names that an error shows.
const KEYS_SHOWN: usize = 6;

/// The records read so far.
#[derive(Default)]
pub(super) struct Gathering {
    format: Option<IssueFormat>,
    repository: Option<Repository>,
    /// Each issue without its comments, and the comments.
    issues: BTreeMap<u64, (Issue, Comments)>,
    alone: BTreeMap<u64, Vec<Alone>>,
    bad: Vec<BadRecord>,
    /// The first value that is not a record.
    strange: Option<String>,
}

/// A comment that came without its issue.
struct Alone {
    place: String,
    on: Option<IssueKind>,
    comment: IssueComment,
}

impl Gathering {
    /// A single value: a page, a page of pages, an archive, a record.
    pub(super) fn value(&mut self, value: &Value, place: &str) {
        match value {
            Value::Array(items) => self.page(items, place),
            Value::Object(object) => self.object(Fields(object), place),
            other => self.not_a_record(other, place),
        }
    }

    fn page(&mut self, items: &[Value], place: &str) {
        if items.is_empty() {
            self.format.get_or_insert(IssueFormat::GithubPages);
        }
        for (at, item) in items.iter().enumerate() {
            match item {
                Value::Array(items) => self.page(items, &joined(place, &format!("page {}", at + 1))),
                Value::Object(object) => self.record(Fields(object), &joined(place, &format!("record {}", at + 1))),
                other => self.not_a_record(other, &joined(place, &format!("record {}", at + 1))),
            }
        }
    }

    fn object(&mut self, fields: Fields<'_>, place: &str) {
        let is_list = |name| fields.value(&[name]).is_some_and(|(_, value)| value.is_array());
        if !fields.has("number") && (is_list("issues") || is_list("pulls")) {
            return self.archive(fields, place);
        }
        if fields.has("total_count")
            && let Some((_, Value::Array(items))) = fields.value(&["items"])
        {
            return self.page(items, place);
        }
        let place = if place.is_empty() { "record 1" } else { place };
        if let Ok(Some(message)) = fields.text(&["message"])
            && (fields.has("documentation_url") || fields.0.len() == 1)
        {
            let seen = format!("an answer that refuses: {message:?}");
            self.strange.get_or_insert_with(|| seen.clone());
            return self.note(place, format!("is {seen}"));
        }
        self.record(fields, place);
    }

    /// Everything of a repository in one object.
    fn archive(&mut self, fields: Fields<'_>, place: &str) {
        self.format.get_or_insert(IssueFormat::Archive);
        let mut repository = None;
        match fields.some_text(&["repo", "repository"]) {
            Ok(name) => repository = name.map(Repository::named),
            Err(reason) => self.note(&joined(place, "the archive"), reason),
        }
        for (name, kind) in [("issues", IssueKind::Issue), ("pulls", IssueKind::PullRequest)] {
            let items = fields.list(&[name]).unwrap_or_default();
            for (at, item) in items.iter().enumerate() {
                let place = joined(place, &format!("{name}, record {}", at + 1));
                let read = Fields::of(item).and_then(|fields| listed::issue(fields, Some(kind)));
                let read =
                    read.map(|found| Found { repository: named(repository.as_ref(), found.repository), ..found });
                self.found(&place, read);
            }
        }
    }

    fn record(&mut self, fields: Fields<'_>, place: &str) {
        match Shape::of(fields) {
            Some(shape) => {
                self.format.get_or_insert(shape.format());
                self.found(place, shape.read(fields));
            }
            None => {
                let mut names: Vec<String> = fields.0.keys().take(KEYS_SHOWN).map(|name| format!("`{name}`")).collect();
                if fields.0.len() > KEYS_SHOWN {
                    names.push("…".to_owned());
                }
                let seen = match names.as_slice() {
                    [] => "an empty object".to_owned(),
                    names => format!("an object of {}", names.join(", ")),
                };
                self.strange.get_or_insert_with(|| seen.clone());
                self.note(place, format!("is {seen}: no issue and no comment"));
            }
        }
    }

    fn not_a_record(&mut self, value: &Value, place: &str) {
        self.strange.get_or_insert_with(|| shown(value));
        self.note(if place.is_empty() { "record 1" } else { place }, format!("is {}, not an object", shown(value)));
    }

    /// Adds a record, or the reason it is unreadable.
    pub(super) fn found(&mut self, place: &str, read: Result<Found, Reason>) {
        let found = match read.and_then(|found| self.of_this_repository(found)) {
            Ok(found) => found,
            Err(reason) => return self.note(place, reason),
        };
        for (part, reason) in found.bad {
            self.note(&joined(place, &part), reason);
        }
        for (number, comment) in found.comments {
            let comment = Alone { place: place.to_owned(), on: found.comments_on, comment };
            self.alone.entry(number).or_default().push(comment);
        }
        if let Some(issue) = found.issue {
            self.issue(place, issue);
        }
    }

    fn issue(&mut self, place: &str, mut issue: Issue) {
        let number = issue.number;
        let given = std::mem::take(&mut issue.comments);
        let numbered_apart =
            matches!(self.format, Some(IssueFormat::GitlabExport | IssueFormat::GitlabPages | IssueFormat::GitlabCsv));
        if let Some((known, comments)) = self.issues.get_mut(&number) {
            if !numbered_apart || known.kind == issue.kind {
                known.merge(issue);
                comments.add(given);
                return;
            }
            let here = issue.kind == IssueKind::Issue;
            self.note(
                place,
                format!("has the number {number} of another, and one is an issue, one a merge request: {APART}"),
            );
            // The issue stays, whichever comes first.
            if !here {
                return;
            }
        }
        let mut comments = Comments::default();
        comments.add(given);
        self.issues.insert(number, (issue, comments));
    }

    /// Numbers mean nothing outside of their tracker.
    fn of_this_repository(&mut self, mut found: Found) -> Result<Found, Reason> {
        match (&mut self.repository, found.repository.take()) {
            (Some(first), Some(repository)) if !first.is(&repository) => {
                return Err(format!(
                    "belongs to {repository}, but what comes before it belongs to {first}: give them apart"
                ));
            }
            (Some(first), Some(repository)) => first.learn(repository),
            (first @ None, repository) => *first = repository,
            (Some(_), None) => {}
        }
        Ok(found)
    }

    /// Notes an unreadable record.
    pub(super) fn note(&mut self, place: &str, reason: impl Into<String>) {
        self.bad.push(BadRecord { position: place.to_owned(), reason: reason.into() });
    }

    /// Sets the format if the records do not tell it.
    pub(super) fn is(&mut self, format: IssueFormat) {
        self.format = Some(format);
    }

    pub(super) fn finish(mut self) -> Result<IssueArchive, IssueFormatError> {
        let Some(format) = self.format else {
            let seen = self.strange.unwrap_or_else(|| "nothing that can be read".to_owned());
            return Err(IssueFormatError::Unknown { seen });
        };
        let mut comments = Vec::new();
        for (number, given) in std::mem::take(&mut self.alone) {
            let Some((issue, known)) = self.issues.get_mut(&number) else {
                comments.extend(given.into_iter().map(|alone| (number, alone.comment)));
                continue;
            };
            let (fitting, others): (Vec<_>, Vec<_>) =
                given.into_iter().partition(|alone| alone.on.is_none_or(|kind| kind == issue.kind));
            known.add(fitting.into_iter().map(|alone| alone.comment));
            let reason = format!("is a note on another {number} than the {} that is here: {APART}", issue.kind);
            let bad = others.into_iter().map(|alone| BadRecord { position: alone.place, reason: reason.clone() });
            self.bad.extend(bad);
        }
        let whole = |(issue, comments): (Issue, Comments)| Issue { comments: comments.sorted(), ..issue };
        let is_gitlab = matches!(format, IssueFormat::GitlabExport | IssueFormat::GitlabPages | IssueFormat::GitlabCsv);
        Ok(IssueArchive {
            format,
            tracker: self.repository.as_ref().map(|repository| repository.tracker(is_gitlab)),
            repository: self.repository.map(|repository| repository.name),
            issues: self.issues.into_values().map(whole).collect(),
            comments,
            bad: self.bad,
        })
    }
}

/// The repository of a record in an archive that names one, or none.
fn named(archive: Option<&Repository>, found: Option<Repository>) -> Option<Repository> {
    match (archive.cloned(), found) {
        (Some(mut named), Some(found)) if named.is(&found) => {
            named.learn(found);
            Some(named)
        }
        (named, found) => named.or(found),
    }
}

/// The advice for trackers that number issues and merge requests separately.
const APART: &str = "import merge requests into a namespace of their own";

fn joined(outer: &str, inner: &str) -> String {
    if outer.is_empty() { inner.to_owned() } else { format!("{outer}, {inner}") }
}
