//! The progress of an import, kept in the index between runs.

use super::IssueStates;
use super::resumption::Cursor;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of the stored progress. Progress of another version is not read: the import starts over, which does no harm to the
/// index.
const VERSION: u32 = 1;

/// A list of the API with entries of the whole repository, in the order of reading. An issue is imported before its comments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum List {
    /// Issues and pull requests.
    Issues,
    /// Comments in the conversations of issues and pull requests.
    Comments,
    /// Comments on lines in reviews of pull requests.
    ReviewComments,
}

impl List {
    /// Returns its path below the repository.
    pub(super) fn path(self) -> &'static str {
        match self {
            List::Issues => "issues",
            List::Comments => "issues/comments",
            List::ReviewComments => "pulls/comments",
        }
    }

    /// Returns its name for people.
    pub(super) fn name(self) -> &'static str {
        match self {
            List::Issues => "issues",
            List::Comments => "comments",
            List::ReviewComments => "remarks of reviews",
        }
    }
}

/// The scope of an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Scope {
    pub(super) state: IssueStates,
    pub(super) pulls: bool,
    /// Only issues updated since this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) since: Option<Timestamp>,
}

/// The details to request for a single issue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Details {
    /// Comments older than the issue's import, which the list has passed.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(super) comments: bool,
    /// Review comments, likewise.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(super) review_comments: bool,
    /// Reviews. GitHub has no list of them for the whole repository.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(super) reviews: bool,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

impl Details {
    pub(super) fn is_empty(self) -> bool {
        self == Details::default()
    }

    pub(super) fn add(&mut self, other: Details) {
        self.comments |= other.comments;
        self.review_comments |= other.review_comments;
        self.reviews |= other.reviews;
    }
}

/// The progress of an import.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Progress {
    version: u32,
    pub(super) scope: Scope,
    #[serde(default)]
    pub(super) lists: BTreeMap<List, Cursor>,
    /// The pending details by the number of the issue.
    #[serde(default)]
    pub(super) details: BTreeMap<u64, Details>,
}

impl Progress {
    /// Creates the progress of an import that has read nothing yet.
    pub(super) fn new(scope: Scope) -> Self {
        Progress { version: VERSION, scope, lists: BTreeMap::new(), details: BTreeMap::new() }
    }

    /// Returns the stored progress if it can be continued for a scope; otherwise the reason.
    pub(super) fn go_on(kept: &str, scope: Scope) -> Result<Self, &'static str> {
        let progress: Option<Progress> = serde_json::from_str(kept).ok();
        let Some(mut progress) = progress.filter(|progress| progress.version == VERSION) else {
            return Err("what the index knows of the last import cannot be read");
        };
        if (progress.scope.state, progress.scope.pulls) != (scope.state, scope.pulls) {
            return Err("the last import took others in");
        }
        match (progress.scope.since, scope.since) {
            (Some(_), None) => return Err("the last import left out what is older"),
            (Some(before), Some(now)) if now < before => return Err("the last import left out what is older"),
            _ => {}
        }
        // A later date would leave out changes between the end of the last import and that date.
        let later =
            |since: &Timestamp| Some(since) > progress.lists.get(&List::Issues).and_then(|place| place.cursor.as_ref());
        if scope.since.as_ref().is_some_and(later) {
            progress.scope.since = scope.since;
            for place in progress.lists.values_mut() {
                place.skip_to(scope.since);
            }
        }
        Ok(progress)
    }

    /// Returns the progress for storing.
    pub(super) fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }

    /// Adds details to request for an issue.
    pub(super) fn want(&mut self, number: u64, details: Details) {
        if !details.is_empty() {
            self.details.entry(number).or_default().add(details);
        }
    }

    /// Returns the time before which a list no longer brings comments of a newly imported issue. They were read before, or left
    /// out as older.
    pub(super) fn passed(&self, list: List) -> Option<Timestamp> {
        self.scope.since.max(self.lists.get(&list).and_then(|place| place.cursor))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Option<Timestamp> {
        Some(text.parse().expect("a time"))
    }

    fn scope(state: IssueStates, pulls: bool, since: Option<Timestamp>) -> Scope {
        Scope { state, pulls, since }
    }

    const ALL: Scope = Scope { state: IssueStates::All, pulls: true, since: None };

    #[test]
    fn progress_is_kept_for_its_scope() {
        let mut progress = Progress::new(ALL);
        progress.lists.entry(List::ReviewComments).or_default().cursor = at("2025-01-01T00:00:00Z");
        progress.want(7, Details { reviews: true, ..Details::default() });
        progress.want(7, Details { comments: true, ..Details::default() });
        progress.want(8, Details::default());
        assert_eq!(progress.details.len(), 1);
        assert_eq!(Progress::go_on(&progress.to_json().expect("written"), ALL), Ok(progress));

        let kept = |scope| Progress::new(scope).to_json().expect("written");
        assert!(Progress::go_on("{}", ALL).is_err());
        assert!(Progress::go_on(&kept(ALL).replace("\"version\":1", "\"version\":9"), ALL).is_err());
        assert!(Progress::go_on(&kept(ALL), scope(IssueStates::Closed, true, None)).is_err());
        assert!(Progress::go_on(&kept(ALL), scope(IssueStates::All, false, None)).is_err());
        let (early, late) = (at("2024-01-01T00:00:00Z"), at("2025-01-01T00:00:00Z"));
        let since = |since| scope(IssueStates::All, true, since);
        assert!(Progress::go_on(&kept(since(early)), ALL).is_err());
        assert!(Progress::go_on(&kept(since(late)), since(early)).is_err());
        assert_eq!(Progress::go_on(&kept(since(early)), since(late)).map(|progress| progress.scope.since), Ok(late));
        assert_eq!(Progress::go_on(&kept(ALL), since(late)).map(|progress| progress.scope.since), Ok(late));

        let mut progress = Progress::new(ALL);
        progress.lists.entry(List::Issues).or_default().cursor = at("2025-01-01T00:00:00Z");
        let since = scope(IssueStates::All, true, at("2024-01-01T00:00:00Z"));
        assert_eq!(Progress::go_on(&progress.to_json().expect("written"), since), Ok(progress));
    }
}
