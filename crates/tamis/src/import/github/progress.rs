//! The progress of an import, kept in the index between runs.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::IssueStates;

/// The version of the stored progress. Progress of another version is not read: the import starts over, which does no harm to the
/// index.
const VERSION: u32 = 1;

/// The overlap with the last update that was read. Times are in whole seconds, and the last second may not have been over.
const OVERLAP: SignedDuration = SignedDuration::from_secs(1);

/// A list of the API with entries of the whole repository, in the order of reading. An issue is imported before its comments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum List {
    /// Issues and pull requests.
    Issues,
    /// Comments in the conversations of issues and pull requests.
    Comments,
    /// Comments on lines in reviews of pull requests.
    ReviewComments,
}

impl List {
    /// Returns its path below the repository.
    pub(crate) fn path(self) -> &'static str {
        match self {
            List::Issues => "issues",
            List::Comments => "issues/comments",
            List::ReviewComments => "pulls/comments",
        }
    }

    /// Returns its name for people.
    pub(crate) fn name(self) -> &'static str {
        match self {
            List::Issues => "issues",
            List::Comments => "comments",
            List::ReviewComments => "remarks of reviews",
        }
    }
}

/// The scope of an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Scope {
    pub(crate) state: IssueStates,
    pub(crate) pulls: bool,
    /// Only issues updated since this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) since: Option<Timestamp>,
}

/// The details to request for a single issue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Details {
    /// Comments older than the issue's import, which the list has passed.
    pub(crate) comments: bool,
    /// Review comments, likewise.
    pub(crate) review_comments: bool,
    /// Reviews. GitHub has no list of them for the whole repository.
    pub(crate) reviews: bool,
}

impl Details {
    pub(crate) fn is_empty(self) -> bool {
        self == Details::default()
    }
}

/// A page to request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    /// Only entries updated since this time.
    pub(crate) since: Option<Timestamp>,
    /// The number of the page, from 1.
    pub(crate) page: u32,
}

/// The position in a list, which is sorted by the time of the last update.
///
/// Paging by number misses entries: if an entry is updated while its page is read, it moves to the list's end, and the next
/// page's first entry moves to the page that was already read. So each page is requested by the time at which the last one ended.
/// The page number is used only while all entries of a page have the same second. (If a second has more entries than a page, one
/// that moves during reading can still hide another; reading everything again finds it.)
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Cursor {
    /// Everything updated before this time is read.
    pub(crate) read_until: Option<Timestamp>,
    /// The time of the answer to the list's first request.
    began: Option<Timestamp>,
    /// True once the list was read to its end.
    pub(crate) whole: bool,
    /// The next page of this run; `None` at the end of the list.
    #[serde(skip)]
    pub(crate) next: Option<Step>,
}

impl Cursor {
    /// Starts a run a little before the last update that was read, or at `since` if nothing was read yet.
    pub(crate) fn begin(&mut self, since: Option<Timestamp>) {
        let again = self.read_until.map(|until| until.saturating_sub(OVERLAP).unwrap_or(until));
        // The API takes whole seconds.
        let since = again.max(since).map(|since| Timestamp::from_second(since.as_second()).unwrap_or(since));
        self.next = Some(Step { since, page: 1 });
    }

    /// Notes that a page is read and imported, with the times of its entries in their order, and if there is another page. `date`
    /// is the time of the answer.
    pub(crate) fn read(&mut self, step: Step, times: &[Timestamp], more: bool, date: Timestamp) {
        self.began.get_or_insert(date);
        let sorted = times.is_sorted() && times.first().is_none_or(|first| Some(*first) >= step.since);
        let last = times.last().copied().filter(|_| sorted);
        self.read_until = self.read_until.max(last);
        let next = match last > step.since {
            true => Step { since: last, page: 1 },
            false => Step { page: step.page.saturating_add(1), ..step },
        };
        self.next = more.then_some(next);
    }

    /// Notes that GitHub filtered the list. Entries that left the filter during reading were missed, so the next run requests all
    /// changes since the first request.
    pub(crate) fn was_filtered(&mut self) {
        self.read_until = self.began.or(self.read_until);
    }
}

/// The progress of an import.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Progress {
    version: u32,
    pub(crate) scope: Scope,
    #[serde(default)]
    pub(crate) lists: BTreeMap<List, Cursor>,
    /// The pending details by the number of the issue.
    #[serde(default)]
    pub(crate) details: BTreeMap<u64, Details>,
}

impl Progress {
    /// Creates the progress of an import that has read nothing yet.
    pub(crate) fn new(scope: Scope) -> Self {
        Progress { version: VERSION, scope, lists: BTreeMap::new(), details: BTreeMap::new() }
    }

    /// Returns the stored progress if it can be continued for a scope; otherwise the reason.
    pub(crate) fn go_on(kept: &str, scope: Scope) -> Result<Self, &'static str> {
        let progress: Option<Progress> = serde_json::from_str(kept).ok();
        let Some(mut progress) = progress.filter(|progress| progress.version == VERSION) else {
            return Err("what the index knows of the last import cannot be read");
        };
        if (progress.scope.state, progress.scope.pulls) != (scope.state, scope.pulls) {
            return Err("the last import used other filters");
        }
        match (progress.scope.since, scope.since) {
            (Some(_), None) => return Err("the last import left out what is older"),
            (Some(before), Some(now)) if now < before => return Err("the last import left out what is older"),
            _ => {}
        }
        // A later date would leave out changes between the end of the last import and that date.
        if scope.since > progress.passed(List::Issues) {
            progress.scope.since = scope.since;
        }
        Ok(progress)
    }

    /// Returns the progress for storing.
    pub(crate) fn to_json(&self) -> String {
        // Progress has nothing that JSON lacks. Without it, the next import would start over.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Returns the position in a list.
    pub(crate) fn list(&mut self, list: List) -> &mut Cursor {
        self.lists.entry(list).or_default()
    }

    /// Adds details to request for an issue.
    pub(crate) fn want(&mut self, number: u64, details: Details) {
        if !details.is_empty() {
            let wanted = self.details.entry(number).or_default();
            wanted.comments |= details.comments;
            wanted.review_comments |= details.review_comments;
            wanted.reviews |= details.reviews;
        }
    }

    /// Returns the time before which a list no longer brings comments of a newly imported issue. They were read before, or left
    /// out as older.
    pub(crate) fn passed(&self, list: List) -> Option<Timestamp> {
        self.scope.since.max(self.lists.get(&list).and_then(|cursor| cursor.read_until))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    const ALL: Scope = Scope { state: IssueStates::All, pulls: true, since: None };

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).expect("a time")
    }

    #[test]
    fn progress_is_kept_for_its_scope() {
        let mut progress = Progress::new(ALL);
        progress.list(List::ReviewComments).read_until = Some(at(100));
        progress.want(7, Details { reviews: true, ..Details::default() });
        progress.want(7, Details { comments: true, ..Details::default() });
        progress.want(8, Details::default());
        assert_eq!(progress.details.len(), 1);
        assert_eq!(Progress::go_on(&progress.to_json(), ALL), Ok(progress));

        let go_on = |kept, scope| Progress::go_on(&Progress::new(kept).to_json(), scope);
        assert!(Progress::go_on("{}", ALL).is_err());
        assert!(Progress::go_on(&Progress::new(ALL).to_json().replace("\"version\":1", "\"version\":9"), ALL).is_err());
        assert!(go_on(ALL, Scope { state: IssueStates::Closed, ..ALL }).is_err());
        assert!(go_on(ALL, Scope { pulls: false, ..ALL }).is_err());
        let [early, late] = [100, 200].map(|second| Scope { since: Some(at(second)), ..ALL });
        assert!(go_on(early, ALL).is_err() && go_on(late, early).is_err());
        assert_eq!(go_on(early, late).map(|progress| progress.scope), Ok(late));
        assert_eq!(go_on(ALL, late).map(|progress| progress.scope), Ok(late));

        let mut progress = Progress::new(ALL);
        progress.list(List::Issues).read_until = Some(at(300));
        assert_eq!(Progress::go_on(&progress.to_json(), late), Ok(progress), "all before the date is read");
    }

    #[test]
    fn the_next_run_asks_a_second_before_the_last_update_or_from_the_date() {
        let mut cursor = Cursor::default();
        let first = |cursor: &mut Cursor, since| {
            cursor.begin(since);
            cursor.next.expect("a page")
        };
        let step = first(&mut cursor, None);
        assert_eq!(step, Step { since: None, page: 1 });
        cursor.read(step, &[at(100), at(200)], false, at(300));
        assert_eq!(cursor.next, None);
        assert_eq!(first(&mut cursor, None).since, Some(at(199)));
        let date: Timestamp = "1970-01-01T00:08:20.75Z".parse().expect("a time");
        assert_eq!(first(&mut cursor, Some(date)).since, Some(at(500)), "in whole seconds");
        cursor.was_filtered();
        assert_eq!(cursor.read_until, Some(at(300)));

        // Out of order, nothing counts as read, and pages follow by their number.
        let mut cursor = Cursor::default();
        let step = first(&mut cursor, None);
        cursor.read(step, &[at(200), at(100)], true, at(300));
        assert_eq!((cursor.read_until, cursor.next), (None, Some(Step { since: None, page: 2 })));
    }

    /// Reads a list of entries, each with the second of its last update, as GitHub shows it; for so many requests at most.
    /// `between` is called after each.
    fn read(
        cursor: &mut Cursor,
        entries: &mut Vec<(u32, i64)>,
        page: usize,
        seen: &mut BTreeSet<(u32, i64)>,
        most: usize,
        mut between: impl FnMut(&mut Vec<(u32, i64)>),
    ) {
        cursor.begin(None);
        for _ in 0..most {
            let Some(step) = cursor.next else { return };
            let mut list: Vec<(u32, i64)> =
                entries.iter().copied().filter(|(_, updated)| Some(at(*updated)) >= step.since).collect();
            list.sort_by_key(|(id, updated)| (*updated, *id));
            let start = (step.page as usize - 1) * page;
            let shown: Vec<(u32, i64)> = list.iter().skip(start).take(page).copied().collect();
            let times: Vec<Timestamp> = shown.iter().map(|(_, updated)| at(*updated)).collect();
            seen.extend(shown);
            cursor.read(step, &times, list.len() > start + page, at(0));
            between(entries);
        }
    }

    #[test]
    fn many_of_one_second_are_read_by_the_number_of_the_page() {
        let mut entries = (0..10).map(|id| (id, if id < 8 { 100 } else { 200 })).collect();
        let (mut cursor, mut seen) = (Cursor::default(), BTreeSet::new());
        read(&mut cursor, &mut entries, 3, &mut seen, 99, |_| ());
        assert_eq!(seen.len(), 10);
    }

    proptest! {
        /// Whatever changes meanwhile and wherever a run is stopped, in the end every entry is seen in its latest state.
        #[test]
        fn nothing_is_missed(
            updates in prop::collection::vec(0i64..12, 0..30),
            larger in 1usize..4,
            touched in prop::collection::vec((0usize..30, any::<bool>()), 0..20),
            stop in 1usize..12,
        ) {
            // Paging by number misses entries by design, so no second has so many entries here.
            let most_of_a_second = (0..12).map(|second| updates.iter().filter(|update| **update == second).count()).max();
            let page = most_of_a_second.unwrap_or(0) + larger;
            let mut entries: Vec<(u32, i64)> = (0u32..).zip(updates.iter().map(|update| 100 + update)).collect();
            let (mut cursor, mut seen) = (Cursor::default(), BTreeSet::new());
            let (mut touched, mut now) = (touched.into_iter(), 200);
            for (most, changes) in [(stop, true), (usize::MAX, true), (usize::MAX, false)] {
                read(&mut cursor, &mut entries, page, &mut seen, most, |entries| {
                    now += 1;
                    if changes
                        && let Some((entry, true)) = touched.next()
                        && let Some(entry) = entries.get_mut(entry)
                    {
                        entry.1 = now;
                    }
                });
                cursor = serde_json::from_str(&serde_json::to_string(&cursor).expect("written")).expect("read");
            }
            prop_assert!(entries.iter().all(|entry| seen.contains(entry)), "{:?} of {:?}", seen, entries);
        }
    }
}
