//! Selects the entries of a page to import, and the details to request.

use super::progress::{Details, List, Progress};
use super::{IssueStates, progress::Scope};
use jiff::Timestamp;
use serde_json::Value;
use std::collections::HashMap;

/// The issues in the index by number, with the time of their last update in nanoseconds since 1970.
pub(super) type Known = HashMap<u64, Option<i64>>;

/// The selection from a page of issues.
#[derive(Debug, Default)]
pub(super) struct Selected {
    /// The entries to import.
    pub(super) entries: Vec<Value>,
    /// The details to request for them.
    pub(super) wanted: Vec<(u64, Details)>,
    /// The number of entries that the request excludes.
    pub(super) left_out: u64,
}

/// Returns the time of an entry's last update.
pub(super) fn updated(entry: &Value) -> Option<Timestamp> {
    time(entry, "updated_at")
}

fn time(entry: &Value, field: &str) -> Option<Timestamp> {
    entry.get(field)?.as_str()?.parse().ok()
}

/// Returns the number of an entry on a page of issues, and its last update in nanoseconds since 1970.
pub(super) fn identity(entry: &Value) -> Option<(u64, Option<i64>)> {
    let number = entry.get("number")?.as_u64()?;
    Some((number, updated(entry).and_then(|time| i64::try_from(time.as_nanosecond()).ok())))
}

/// Selects the requested entries and those already in the index: an issue that has been closed meanwhile must not stay open
/// there.
pub(super) fn issues(entries: Vec<Value>, known: &Known, progress: &Progress) -> Selected {
    let mut selected = Selected::default();
    let passed = [List::Comments, List::ReviewComments].map(|list| progress.passed(list));
    for entry in entries {
        let Some((number, updated)) = identity(&entry) else {
            // The reader of issues reports the fault.
            selected.entries.push(entry);
            continue;
        };
        let stored = known.get(&number);
        if stored.is_none() && !asked_for(&entry, progress.scope) {
            selected.left_out += 1;
            continue;
        }
        let pull = is_pull(&entry);
        let changed = stored.is_none_or(|stored| *stored != updated || updated.is_none());
        // The list has passed the comments of a late issue before it was imported.
        let created = time(&entry, "created_at");
        let [comments, review_comments] =
            passed.map(|passed| stored.is_none() && passed.is_some_and(|passed| created.is_none_or(|at| at <= passed)));
        let any_comments = entry.get("comments").and_then(Value::as_u64) != Some(0);
        let details = Details {
            comments: comments && any_comments,
            review_comments: review_comments && pull,
            reviews: changed && pull,
        };
        selected.wanted.push((number, details));
        selected.entries.push(entry);
    }
    selected
}

fn is_pull(entry: &Value) -> bool {
    entry.get("pull_request").is_some_and(|pull| !pull.is_null())
}

fn asked_for(entry: &Value, scope: Scope) -> bool {
    let state = entry.get("state").and_then(Value::as_str);
    let state_fits = match scope.state {
        IssueStates::All => true,
        IssueStates::Open => state == Some("open"),
        IssueStates::Closed => state == Some("closed"),
    };
    let late_enough = scope.since.is_none_or(|since| updated(entry).is_none_or(|updated| updated >= since));
    state_fits && late_enough && (scope.pulls || !is_pull(entry))
}

#[cfg(test)]
mod tests {
    use super::super::progress::Scope;
    use super::*;
    use serde_json::json;

    fn entry(number: u64, state: &str, pull: bool) -> Value {
        let mut entry = json!({
            "number": number, "state": state, "comments": 2,
            "created_at": "2025-01-01T00:00:00Z", "updated_at": "2025-03-01T00:00:00Z",
        });
        if pull {
            entry["pull_request"] = json!({ "merged_at": null });
        }
        entry
    }

    fn progress(state: IssueStates, pulls: bool, since: Option<&str>) -> Progress {
        Progress::new(Scope { state, pulls, since: since.map(|since| since.parse().expect("a time")) })
    }

    fn numbers(selected: &Selected) -> Vec<u64> {
        selected.entries.iter().filter_map(|entry| entry["number"].as_u64()).collect()
    }

    #[test]
    fn trap_known_issues_are_taken_whatever_their_state() {
        let page = || vec![entry(1, "open", false), entry(2, "closed", false), entry(3, "closed", true)];
        let taken = |progress: Progress| numbers(&issues(page(), &Known::new(), &progress));
        assert_eq!(taken(progress(IssueStates::All, true, None)), [1, 2, 3]);
        assert_eq!(taken(progress(IssueStates::Closed, false, None)), [2]);
        assert_eq!(taken(progress(IssueStates::Open, true, None)), [1]);
        assert!(taken(progress(IssueStates::All, true, Some("2025-03-02T00:00:00Z"))).is_empty());

        let known = Known::from([(2, None)]);
        let selected = issues(
            vec![entry(2, "closed", false), entry(3, "closed", false)],
            &known,
            &progress(IssueStates::Open, true, None),
        );
        assert_eq!((numbers(&selected), selected.left_out), (vec![2], 1));
    }

    #[test]
    fn reviews_are_asked_for_of_pull_requests_that_changed() {
        let updated = identity(&entry(1, "open", true)).expect("an entry").1;
        let wanted = |known: Known| {
            let selected = issues(
                vec![entry(1, "open", true), entry(2, "open", false)],
                &known,
                &progress(IssueStates::All, true, None),
            );
            selected.wanted.iter().filter(|(_, details)| details.reviews).map(|(number, _)| *number).collect::<Vec<_>>()
        };
        assert_eq!(wanted(Known::new()), [1]);
        assert_eq!(wanted(Known::from([(1, updated)])), [0; 0]);
        assert_eq!(wanted(Known::from([(1, Some(7))])), [1]);
    }

    #[test]
    fn trap_the_comments_of_an_issue_that_comes_late_are_not_lost() {
        let mut late = progress(IssueStates::Closed, true, None);
        late.lists.entry(List::Comments).or_default().cursor = Some("2025-02-01T00:00:00Z".parse().expect("a time"));
        let details =
            |progress: &Progress, known: &Known, entry: Value| issues(vec![entry], known, progress).wanted[0].1;
        assert!(details(&late, &Known::new(), entry(1, "closed", false)).comments);
        assert!(!details(&late, &Known::from([(1, None)]), entry(1, "closed", false)).comments);
        let mut silent = entry(1, "closed", false);
        silent["comments"] = json!(0);
        assert!(!details(&late, &Known::new(), silent).comments);
        let mut young = entry(1, "closed", false);
        young["created_at"] = json!("2025-02-02T00:00:00Z");
        assert!(!details(&late, &Known::new(), young).comments);
        let since = progress(IssueStates::All, true, Some("2025-02-01T00:00:00Z"));
        let of_pull = details(&since, &Known::new(), entry(1, "closed", true));
        assert!(of_pull.comments && of_pull.review_comments && of_pull.reviews);
    }
}
