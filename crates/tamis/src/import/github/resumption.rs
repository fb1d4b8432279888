//! A cursor through one list, which is sorted by the time of the last update.
//!
//! Paging by number misses entries: if an entry is updated while its page is read, it moves to the list's end, and the next
//! page's first entry moves to the page that was already read. So each page is requested by the time at which the last one ended
//! (`since`). The page number is used only while all entries of a page have the same second. This also avoids the number of pages
//! at which GitHub ends a list. (If a second has more entries than a page, one that moves during reading can still hide another;
//! reading everything again finds it.) If a server ignores `since` or the order, the cursor follows its links, page by page.

use super::transport::Validators;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The overlap with the last update that was read. Times are in whole seconds, and the last second may not have been over.
const OVERLAP: SignedDuration = SignedDuration::from_secs(1);

/// The position in a list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Cursor {
    /// Everything updated before this time is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) cursor: Option<Timestamp>,
    /// The next page at a server whose links have to be followed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    next: Option<String>,
    /// The latest update seen on the pages of such a server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    newest: Option<Timestamp>,
    /// The time of the server's answer to the list's first request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    began: Option<Timestamp>,
    /// True once the list was read to its end.
    #[serde(default)]
    pub(super) whole: bool,
    /// The pages that the next run requests first if nothing changes, by address.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pages: BTreeMap<String, KnownPage>,
    /// The next step of this run.
    #[serde(skip)]
    step: Step,
}

/// A page from an earlier run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct KnownPage {
    #[serde(flatten)]
    validators: Validators,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

/// The next step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Step {
    /// Start a little before the cursor.
    #[default]
    Again,
    /// Start at a time.
    Since(Timestamp),
    /// Request a page that the server named, of entries since a time.
    Page(String, Option<Timestamp>),
    /// Stop: the list is at its end.
    End,
}

/// The next request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NextRequest {
    /// The list's first page of entries since a time.
    Since(Option<Timestamp>),
    /// A page that the server named.
    Page(String),
}

impl Cursor {
    /// Starts a run a little before the cursor, or at `since` if nothing was read yet.
    pub(super) fn begin(&mut self, since: Option<Timestamp>) {
        self.step = match self.next.clone() {
            Some(next) => Step::Page(next, self.again(since)),
            None => self.again(since).map_or(Step::Again, Step::Since),
        };
    }

    /// Returns the time at which a run starts.
    fn again(&self, since: Option<Timestamp>) -> Option<Timestamp> {
        self.cursor.map(|cursor| cursor.saturating_sub(OVERLAP).unwrap_or(cursor)).max(since)
    }

    /// Returns the next request; `None` at the end of the list.
    pub(super) fn next_request(&self) -> Option<NextRequest> {
        match &self.step {
            Step::Again => Some(NextRequest::Since(None)),
            Step::Since(since) => Some(NextRequest::Since(Some(*since))),
            Step::Page(page, _) => Some(NextRequest::Page(page.clone())),
            Step::End => None,
        }
    }

    /// Returns the validators of a page from an earlier run.
    pub(super) fn validators(&self, address: &str) -> Option<&Validators> {
        self.pages.get(address).map(|page| &page.validators)
    }

    /// Notes that a page is unchanged, so all of its entries are read.
    pub(super) fn unchanged(&mut self, address: &str) {
        let next = self.pages.get(address).and_then(|page| page.next.clone());
        let since = self.since();
        self.step = next.map_or(Step::End, |next| Step::Page(next, since));
        self.end_is_reached();
    }

    /// Notes that a page is read and imported, with the times of its entries in their order and the next page that the server
    /// names. `date` is the time of the answer.
    pub(super) fn read(
        &mut self,
        address: &str,
        times: &[Timestamp],
        next: Option<String>,
        validators: Option<Validators>,
        date: Timestamp,
    ) {
        self.began.get_or_insert(date);
        let since = self.since();
        let before = self.cursor;
        let sorted = times.is_sorted() && times.first().is_none_or(|first| Some(*first) >= since);
        let last = times.iter().max().copied();
        if self.next.is_some() || (!sorted && next.is_some()) {
            // The server has an order of its own, so nothing counts as read before everything is.
            self.newest = self.newest.max(last);
            self.next.clone_from(&next);
            self.step = next.clone().map_or(Step::End, |next| Step::Page(next, since));
        } else {
            self.cursor = self.cursor.max(last);
            self.step = match (next.clone(), last) {
                (None, _) => Step::End,
                (Some(_), Some(last)) if Some(last) > since => Step::Since(last),
                (Some(next), _) => Step::Page(next, since),
            };
        }
        if self.cursor != before {
            self.pages.clear();
        }
        if let Some(validators) = validators.filter(|_| self.next.is_none()) {
            self.pages.insert(address.to_owned(), KnownPage { validators, next });
        }
        self.end_is_reached();
    }

    /// Handles a server that shows no page so far from the beginning. Returns `true` if there is another way on.
    pub(super) fn too_far(&mut self) -> bool {
        let reached = self.cursor.max(self.newest);
        match (&self.step, reached) {
            (Step::Page(_, since), Some(reached)) if reached.gt_option(*since) => {
                self.next = None;
                self.step = Step::Since(reached);
                true
            }
            _ => false,
        }
    }

    /// Returns the latest update seen.
    pub(super) fn reached(&self) -> Option<Timestamp> {
        self.cursor.max(self.newest)
    }

    /// Skips entries updated before `since`, if they are not read yet.
    pub(super) fn skip_to(&mut self, since: Option<Timestamp>) {
        self.cursor = self.cursor.max(since);
        self.next = None;
        self.newest = None;
    }

    /// Notes that the server filtered the list. Entries that left the filter during reading were missed, so the next run requests
    /// all changes since the first request.
    pub(super) fn was_filtered(&mut self) {
        if self.began.is_some() {
            self.cursor = self.began;
            self.pages.clear();
        }
    }

    fn since(&self) -> Option<Timestamp> {
        match &self.step {
            Step::Since(since) => Some(*since),
            Step::Page(_, since) => *since,
            Step::Again | Step::End => None,
        }
    }

    fn end_is_reached(&mut self) {
        if self.step == Step::End {
            self.cursor = self.cursor.max(self.newest.take());
            self.next = None;
        }
    }
}

trait GtOption {
    fn gt_option(self, other: Option<Timestamp>) -> bool;
}

impl GtOption for Timestamp {
    fn gt_option(self, other: Option<Timestamp>) -> bool {
        Some(self) > other
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).expect("a time")
    }

    fn etag(text: &str) -> Option<Validators> {
        Some(Validators { etag: Some(text.to_owned()), last_modified: None })
    }

    /// A list as GitHub keeps it: entries with the second of their last update.
    struct Server {
        entries: Vec<(u32, i64)>,
        page: usize,
        /// True if it respects the order and `since`.
        sorts: bool,
        /// The number of pages that it shows from a start.
        pages: usize,
    }

    impl Server {
        /// Returns the page at one of the test's own addresses, which hold the time and the number of the page.
        fn page(&self, since: i64, number: usize) -> Option<(Vec<(u32, i64)>, bool)> {
            if number > self.pages {
                return None;
            }
            let mut entries = self.entries.clone();
            if self.sorts {
                entries.retain(|(_, updated)| *updated >= since);
                entries.sort_by_key(|(id, updated)| (*updated, *id));
            }
            let start = (number - 1) * self.page;
            let shown = entries.iter().skip(start).take(self.page).copied().collect();
            Some((shown, entries.len() > start + self.page))
        }
    }

    /// Reads a list to its end, or for so many requests. `between` is called after each.
    fn read(
        place: &mut Cursor,
        server: &mut Server,
        seen: &mut BTreeSet<(u32, i64)>,
        most: usize,
        mut between: impl FnMut(&mut Server),
    ) -> usize {
        place.begin(None);
        let mut requests = 0;
        while let Some(asked) = place.next_request() {
            if requests == most {
                break;
            }
            requests += 1;
            let (since, number) = match &asked {
                NextRequest::Since(since) => (since.map_or(0, |since| since.as_second()), 1),
                NextRequest::Page(page) => {
                    let (since, number) = page.split_once('/').expect("an address of the test's");
                    (since.parse().expect("a moment"), number.parse().expect("a number"))
                }
            };
            let Some((shown, more)) = server.page(since, number) else {
                assert!(place.too_far(), "another way on");
                continue;
            };
            let times: Vec<Timestamp> = shown.iter().map(|(_, updated)| at(*updated)).collect();
            seen.extend(shown);
            let next = more.then(|| format!("{since}/{}", number + 1));
            place.read(&format!("{since}/{number}"), &times, next, None, at(0));
            between(server);
        }
        requests
    }

    #[test]
    fn many_of_one_second_are_read_by_the_number_of_the_page() {
        let entries = (0..10).map(|id| (id, if id < 8 { 100 } else { 200 })).collect();
        let mut server = Server { entries, page: 3, sorts: true, pages: 99 };
        let (mut place, mut seen) = (Cursor::default(), BTreeSet::new());
        read(&mut place, &mut server, &mut seen, 99, |_| ());
        assert_eq!(seen.len(), 10);
        // One second has more entries than the server shows, so there is no way on.
        let mut place = Cursor::default();
        place.begin(Some(at(100)));
        place.read("100/1", &[at(100); 4], Some("100/2".into()), None, at(0));
        assert!(!place.too_far());
    }

    #[test]
    fn a_server_that_does_not_sort_or_know_since_is_read_to_its_end() {
        let entries = (0..10).map(|id| (id, 500 - i64::from(id))).collect();
        let mut server = Server { entries, page: 3, sorts: false, pages: 99 };
        let (mut place, mut seen) = (Cursor::default(), BTreeSet::new());
        assert_eq!(read(&mut place, &mut server, &mut seen, 2, |_| ()), 2);
        assert_eq!(place.cursor, None, "nothing is known to be read before all is");
        let mut place: Cursor = serde_json::from_str(&serde_json::to_string(&place).expect("written")).expect("read");
        assert_eq!(read(&mut place, &mut server, &mut seen, 99, |_| ()), 2, "it goes on with the third page");
        assert_eq!((seen.len(), place.cursor), (10, Some(at(500))));

        let entries = (0..10).map(|id| (id, 100 + i64::from(id))).collect::<Vec<_>>();
        let mut server = Server { entries, page: 3, sorts: false, pages: 99 };
        let (mut place, mut seen) = (Cursor::default(), BTreeSet::new());
        let requests = read(&mut place, &mut server, &mut seen, 99, |_| ());
        assert_eq!((seen.len(), requests), (10, 5), "one request finds out");
    }

    #[test]
    fn the_next_run_asks_a_second_before_the_last_update_or_from_the_date() {
        let mut place = Cursor::default();
        place.begin(None);
        assert_eq!(place.next_request(), Some(NextRequest::Since(None)));
        place.read("first", &[at(100), at(200)], None, etag("a"), at(300));
        assert_eq!(place.next_request(), None);
        place.begin(None);
        assert_eq!(place.next_request(), Some(NextRequest::Since(Some(at(199)))));
        place.read("second", &[at(200)], None, etag("b"), at(400));
        place.begin(None);
        assert_eq!(place.validators("second"), etag("b").as_ref());
        place.unchanged("second");
        assert_eq!((place.next_request(), place.cursor), (None, Some(at(200))));
        // After a change the old pages are never requested again.
        place.begin(None);
        place.read("third", &[at(200), at(900)], None, etag("c"), at(950));
        assert_eq!(place.validators("second"), None);

        let mut place = Cursor::default();
        place.begin(None);
        place.read("first", &[at(100)], Some("second".into()), None, at(300));
        place.read("second", &[at(200)], None, None, at(310));
        place.was_filtered();
        assert_eq!(place.cursor, Some(at(300)));

        let mut place = Cursor::default();
        place.begin(Some(at(50)));
        assert_eq!(place.next_request(), Some(NextRequest::Since(Some(at(50)))));
        place.cursor = Some(at(100));
        place.begin(Some(at(50)));
        assert_eq!(place.next_request(), Some(NextRequest::Since(Some(at(99)))));
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
            let entries: Vec<(u32, i64)> = (0u32..).zip(updates.iter().map(|update| 100 + update)).collect();
            let mut server = Server { entries, page, sorts: true, pages: usize::MAX };
            let (mut place, mut seen) = (Cursor::default(), BTreeSet::new());
            let (mut touched, mut now) = (touched.into_iter(), 200);
            for (most, changes) in [(stop, true), (usize::MAX, true), (usize::MAX, false)] {
                read(&mut place, &mut server, &mut seen, most, |server| {
                    now += 1;
                    if changes
                        && let Some((entry, true)) = touched.next()
                        && let Some(entry) = server.entries.get_mut(entry)
                    {
                        entry.1 = now;
                    }
                });
                place = serde_json::from_str(&serde_json::to_string(&place).expect("written")).expect("read");
            }
            prop_assert!(server.entries.iter().all(|entry| seen.contains(entry)), "{:?} of {:?}", seen, server.entries);
        }
    }
}
