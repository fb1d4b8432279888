//! One import from GitHub: the lists of the repository, then the details of single issues.

use super::api::{Address, Api};
use super::client::{Answer, Client, Missing, Page, Stop};
use super::progress::{Details, List, Progress, Scope};
use super::resumption::NextRequest;
use super::select::{self, Known};
use super::{GithubAccess, GithubImport, GithubReport, IssueStates, Stopped};
use crate::Error;
use crate::collections::ISSUES;
use crate::error::GithubError;
use crate::handle::Index;
use crate::import::Imports;
use crate::import::destination::namespace;
use crate::import::{ImportInput, IssueImport};
use crate::index::RunOptions;
use crate::index::import_state_property;
use crate::progress::Observer;
use jiff::Timestamp;
use serde_json::Value;
use std::collections::HashMap;
use std::time::{Duration, Instant};
use tamis_store::{StoreError, Writing};
use tamis_text::Issue;

/// Entries per page, the most that GitHub allows.
const PAGE: usize = 100;

/// Pull requests whose reviews are committed together.
const DETAILS_A_BATCH: usize = 20;

/// The longest time that a request to GitHub may take.
const TIMEOUT: Duration = Duration::from_secs(30);

impl Imports<'_> {
    /// Imports the issues and pull requests of a repository on GitHub, with their comments and reviews, then publishes and
    /// embeds. Nothing at GitHub is ever changed.
    ///
    /// The first import reads everything, each later one only the changes since. It can be stopped or killed at any time and
    /// continues from the last page. Deleted issues and comments stay in the index.
    ///
    /// # Errors
    /// The address of the API is not safe; the repository does not exist or is not visible; the token is not accepted; the server
    /// keeps failing, or points to another host; and those of [`Imports::issues`]. Everything read before stays in the index and
    /// can be found.
    pub fn github(
        &self,
        request: &GithubImport,
        access: &GithubAccess<'_>,
        observer: &dyn Observer,
    ) -> Result<GithubReport, Error> {
        let started = Instant::now();
        let mut run = Run::new(self.index, request, access, observer)?;
        let ended = run.all();
        let (mut report, stored) = run.report();
        report.compare(&stored, &self.index.store.documents(&report.namespace)?);
        let ended = match ended {
            Ok(()) => Ok(()),
            Err(Ended::Failed(error)) => Err(error),
            Err(Ended::Stopped(stopped)) => {
                report.stopped = Some(stopped);
                Ok(())
            }
        };
        // This runs even if nothing changed: an earlier import may have been killed before this step.
        let options = match request.wait {
            true => RunOptions::WHOLE,
            false => RunOptions::FIRST_MODEL,
        };
        report.run = match self.index.complete(options, observer) {
            Ok(run) => run,
            // The first failure is the one to report.
            Err(error) => return Err(ended.err().unwrap_or(error)),
        };
        if report.run.interrupted {
            report.stopped.get_or_insert(Stopped::Interrupted);
        }
        report.elapsed_ms = started.elapsed().as_secs_f64() * 1000.0;
        ended.map(|()| report)
    }
}

/// The reason why a run ended early.
enum Ended {
    Stopped(Stopped),
    Failed(Error),
}

impl From<Stop> for Ended {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Cancelled => Ended::Stopped(Stopped::Interrupted),
            Stop::Limited(until) => Ended::Stopped(Stopped::RateLimit { until }),
            Stop::Failed(error) => Ended::Failed(error.into()),
        }
    }
}

impl From<Error> for Ended {
    fn from(error: Error) -> Self {
        Ended::Failed(error)
    }
}

impl From<GithubError> for Ended {
    fn from(error: GithubError) -> Self {
        Ended::Failed(error.into())
    }
}

struct Run<'a> {
    index: &'a Index,
    request: &'a GithubImport,
    observer: &'a dyn Observer,
    client: Client<'a>,
    /// The root of the repository, as the server wants it.
    root: Address,
    property: String,
    progress: Progress,
    known: Known,
    /// The hash of each issue before the run, by its path.
    stored: HashMap<String, [u8; 32]>,
    /// The entries of the previous page, since pages by time overlap.
    before: Vec<Value>,
    report: GithubReport,
}

impl<'a> Run<'a> {
    fn new(
        index: &'a Index,
        request: &'a GithubImport,
        access: &'a GithubAccess<'a>,
        observer: &'a dyn Observer,
    ) -> Result<Self, Error> {
        let api = Api::at(&access.api_url)?;
        let namespace = namespace(index, request.namespace.as_deref())?;
        let origin = match api.other_host() {
            Some(host) => format!("github:{host}/{}", request.repository),
            None => format!("github:{}", request.repository),
        };
        // The names of repositories ignore case.
        let (mut known, mut stored) = (Known::new(), HashMap::new());
        let mut stored_origin = None;
        for document in index.store.documents(&namespace)? {
            let same = document.origin.as_ref().filter(|stored| stored.eq_ignore_ascii_case(&origin));
            if let (Some(same), ISSUES) = (same, document.collection.as_str()) {
                let number = Issue::number_at(&document.path);
                known.extend(number.map(|number| (number, document.dated_ns)));
                stored_origin.get_or_insert_with(|| same.clone());
                stored.insert(document.path, document.content_hash);
            }
        }
        let origin = stored_origin.unwrap_or(origin);
        let property = import_state_property(&namespace, &origin);
        let scope = Scope { state: request.states, pulls: request.pulls, since: request.since };
        let mut report =
            GithubReport { repository: request.repository.to_string(), origin, namespace, ..GithubReport::default() };
        let kept = index.store.property(&property)?.filter(|kept| !kept.is_empty() && !request.full);
        let progress = match kept.map(|kept| Progress::go_on(&kept, scope)) {
            // The issues were removed, so the progress of their lists is worthless.
            Some(Ok(progress)) if known.is_empty() && !progress.lists.is_empty() => Progress::new(scope),
            Some(Ok(progress)) => progress,
            Some(Err(reason)) => {
                report.anew = Some(reason.to_owned());
                Progress::new(scope)
            }
            None => Progress::new(scope),
        };
        let client = Client::new(api, access.token.clone(), TIMEOUT, request.max_wait, access.clock, observer);
        let root = client.repository(&request.repository);
        Ok(Run {
            index,
            request,
            observer,
            client,
            root,
            property,
            progress,
            known,
            stored,
            before: Vec::new(),
            report,
        })
    }

    /// Returns the report of the run, and the hash of each issue before it.
    fn report(self) -> (GithubReport, HashMap<String, [u8; 32]>) {
        let tally = self.client.tally;
        let report = GithubReport {
            requests: tally.requests,
            not_modified: tally.not_modified,
            remaining_requests: tally.remaining,
            waited_seconds: tally.waited.as_secs_f64(),
            pending: self.progress.details.values().filter(|wanted| !self.allowed_details(**wanted).is_empty()).count()
                as u64,
            ..self.report
        };
        (report, self.stored)
    }

    fn all(&mut self) -> Result<(), Ended> {
        self.import_list(List::Issues)?;
        self.import_list(List::Comments)?;
        if self.progress.scope.pulls {
            self.import_list(List::ReviewComments)?;
        }
        self.details()
    }

    /// Reads a list from the point where the last run stopped to its end.
    fn import_list(&mut self, list: List) -> Result<(), Ended> {
        self.client.stage(format!("{} of {}", list.name(), self.request.repository), 0);
        let since = self.progress.scope.since;
        let place = self.progress.lists.entry(list).or_default();
        place.begin(since);
        // Until the list was read once, the server can filter by state. Later a change of state matters.
        let filtered = list == List::Issues && !place.whole && self.progress.scope.state != IssueStates::All;
        let states = if filtered { self.progress.scope.state } else { IssueStates::All };
        self.before.clear();
        while let Some(asked) = self.progress.lists.entry(list).or_default().next_request() {
            let address = self.address(list, &asked, states);
            let validators =
                self.progress.lists.get(&list).and_then(|place| place.validators(address.as_str())).cloned();
            match self.client.page(&address, validators.as_ref(), true)? {
                Answer::Page(page) => self.take(list, &address, page)?,
                Answer::Unchanged => self.progress.lists.entry(list).or_default().unchanged(address.as_str()),
                Answer::Missing(missing) => return Err(self.missing(&address, &missing).into()),
                Answer::TooFar => {
                    let place = self.progress.lists.entry(list).or_default();
                    if !place.too_far() {
                        let moment = place.reached().map_or_else(|| "one moment".to_owned(), |at| at.to_string());
                        return Err(GithubError::ListEnds { address: address.to_string(), moment }.into());
                    }
                }
            }
        }
        let place = self.progress.lists.entry(list).or_default();
        if filtered {
            place.was_filtered();
        }
        place.whole = true;
        self.save()?;
        Ok(())
    }

    fn address(&self, list: List, asked: &NextRequest, states: IssueStates) -> Address {
        let since = match asked {
            // A stored address that is no longer at this host is useless: start from the beginning.
            NextRequest::Page(page) => match self.client.stored_address(page, &self.root) {
                Some(page) => return page,
                None => None,
            },
            NextRequest::Since(since) => *since,
        };
        let state = if list == List::Issues { format!("state={states}&") } else { String::new() };
        let since = since.map(|since| format!("&since={}", seconds(since))).unwrap_or_default();
        let query = format!("{state}sort=updated&direction=asc&per_page={PAGE}{since}");
        self.root.below(&format!("{}?{query}", list.path()))
    }

    /// Imports a page, then stores the progress.
    fn take(&mut self, list: List, address: &Address, page: Page) -> Result<(), Ended> {
        if let Some(moved) = &page.moved {
            self.moved(list, moved)?;
        }
        let times: Vec<Timestamp> = page.entries.iter().filter_map(select::updated).collect();
        self.client.advance(page.entries.len() as u64);
        let fresh: Vec<Value> = page.entries.iter().filter(|entry| !self.before.contains(entry)).cloned().collect();
        let selected = match list {
            List::Issues => select::issues(fresh, &self.known, &self.progress),
            List::Comments | List::ReviewComments => select::Selected { entries: fresh, ..Default::default() },
        };
        let taken: Vec<_> = selected.entries.iter().filter_map(select::identity).collect();
        let writing = self.wait_to_write()?;
        self.import(&[(address.to_string(), selected.entries)])?;
        self.report.left_out += selected.left_out;
        if list == List::Issues {
            self.known.extend(taken);
        }
        for (number, details) in selected.wanted {
            self.progress.want(number, details);
        }
        let next = page.next.map(|next| next.as_str().to_owned());
        let place = self.progress.lists.entry(list).or_default();
        place.read(address.as_str(), &times, next, page.validators, page.date);
        self.save()?;
        drop(writing);
        self.before = page.entries;
        Ok(())
    }

    /// Imports lists of entries together, each with a name for messages.
    fn import(&mut self, lists: &[(String, Vec<Value>)]) -> Result<(), Error> {
        let mut inputs = Vec::with_capacity(lists.len());
        for (name, entries) in lists.iter().filter(|(_, entries)| !entries.is_empty()) {
            let bytes = serde_json::to_vec(entries).map_err(|error| answer(name, &error))?;
            inputs.push(ImportInput { name: name.clone(), bytes });
        }
        if inputs.is_empty() {
            return Ok(());
        }
        let mut import = IssueImport::read(&inputs, Some(&self.report.origin))?;
        import.namespace = Some(self.report.namespace.clone());
        import.skip_bad = true;
        // Fetched entries are kept even if the caller wants to stop.
        let summary = self.index.imports().issues(&import, &())?;
        self.report.add(summary);
        Ok(())
    }

    /// Stores the progress of the import.
    fn save(&self) -> Result<(), Error> {
        let kept = self.progress.to_json().map_err(|error| answer(&self.property, &error))?;
        let _writing = self.wait_to_write()?;
        Ok(self.index.store.set_property(&self.property, &kept)?)
    }

    /// Waits for the right to write, as long as it would wait for the server.
    fn wait_to_write(&self) -> Result<Writing<'a>, Error> {
        let started = Instant::now();
        loop {
            match self.index.wait_to_write(self.observer) {
                Err(Error::Store(StoreError::Busy { .. }))
                    if started.elapsed() < self.request.max_wait && !self.observer.cancelled() => {}
                writing => return writing,
            }
        }
    }

    /// Handles a redirect of the list: the repository was renamed or given to another owner. The origin stays.
    fn moved(&mut self, list: List, moved: &Address) -> Result<(), Ended> {
        let Some(root) = moved.before(&format!("/{}?", list.path())) else { return Ok(()) };
        if root == self.root {
            return Ok(());
        }
        self.root = root;
        let named = self.client.object(&self.root)?;
        let name = named.as_ref().and_then(|named| named.get("full_name")?.as_str().map(str::to_owned));
        self.report.moved_to = Some(name.unwrap_or_else(|| self.root.to_string()));
        Ok(())
    }

    fn missing(&self, address: &Address, missing: &Missing) -> GithubError {
        let address = address.to_string();
        if missing.status == 404 {
            let access = match self.client.token_variable() {
                Some(variable) => format!("the token of {variable} may not see it"),
                None => "it is private: set GITHUB_TOKEN to a token that may read it".to_owned(),
            };
            return GithubError::NotFound { repository: self.request.repository.to_string(), address, access };
        }
        let hint = "the repository's issues are switched off";
        GithubError::Refused { address, status: missing.status, said: missing.said.clone(), hint }
    }

    /// Returns the wanted details that the request allows.
    fn allowed_details(&self, wanted: Details) -> Details {
        Details { reviews: wanted.reviews && self.request.reviews, ..wanted }
    }

    /// Requests the details that the lists lack, the newest first, within the budget of requests.
    fn details(&mut self) -> Result<(), Ended> {
        let budget = self.request.most_reviews;
        let wanted: Vec<(u64, Details)> =
            self.progress.details.iter().rev().map(|(number, wanted)| (*number, *wanted)).collect();
        let wanted = wanted.into_iter().map(|(number, wanted)| (number, self.allowed_details(wanted)));
        // Comments would be lost otherwise, so they are always read. Reviews alone have a budget.
        let (first, later): (Vec<_>, Vec<_>) = wanted
            .filter(|(_, wanted)| !wanted.is_empty())
            .partition(|(_, wanted)| wanted.comments || wanted.review_comments);
        let all: Vec<_> = first.into_iter().chain(later.into_iter().take(budget)).collect();
        if all.is_empty() {
            return Ok(());
        }
        self.client.stage(format!("reviews of {}", self.request.repository), all.len() as u64);
        for batch in all.chunks(DETAILS_A_BATCH) {
            let mut lists = Vec::new();
            let mut done = Vec::new();
            let mut ended = Ok(());
            for &(number, wanted) in batch {
                match self.of_one(number, wanted) {
                    Ok(entries) => {
                        lists.extend(entries);
                        done.push((number, wanted));
                        self.client.advance(1);
                    }
                    Err(stop) => {
                        ended = Err(stop);
                        break;
                    }
                }
            }
            let _writing = self.wait_to_write()?;
            self.import(&lists)?;
            for (number, asked) in done {
                self.report.reviewed += u64::from(asked.reviews);
                let left = self.progress.details.get(&number).copied().unwrap_or_default();
                let left = Details { reviews: left.reviews && !asked.reviews, ..Details::default() };
                self.progress.details.remove(&number);
                self.progress.want(number, left);
            }
            self.save()?;
            ended?;
        }
        Ok(())
    }

    /// Requests the wanted details of one issue, one list of entries for each kind. A deleted issue has none.
    fn of_one(&mut self, number: u64, wanted: Details) -> Result<Vec<(String, Vec<Value>)>, Stop> {
        let paths = [
            (wanted.comments, format!("issues/{number}/comments")),
            (wanted.review_comments, format!("pulls/{number}/comments")),
            (wanted.reviews, format!("pulls/{number}/reviews")),
        ];
        let mut lists = Vec::new();
        for (_, path) in paths.into_iter().filter(|(wanted, _)| *wanted) {
            let first = self.root.below(&format!("{path}?per_page={PAGE}"));
            let name = first.to_string();
            let (mut entries, mut next) = (Vec::new(), Some(first));
            while let Some(address) = next.take() {
                match self.client.page(&address, None, false)? {
                    Answer::Page(page) => {
                        entries.extend(page.entries);
                        next = page.next;
                    }
                    Answer::Missing(_) => {
                        self.report.gone += 1;
                        return Ok(Vec::new());
                    }
                    // The server ends the list here, or says "not changed" without being asked.
                    Answer::TooFar | Answer::Unchanged => {}
                }
            }
            lists.push((name, entries));
        }
        Ok(lists)
    }
}

fn answer(address: &str, error: &serde_json::Error) -> Error {
    GithubError::Answer { address: address.to_owned(), reason: error.to_string() }.into()
}

/// Returns a moment in whole seconds, as the API takes it.
fn seconds(moment: Timestamp) -> Timestamp {
    Timestamp::from_second(moment.as_second()).unwrap_or(moment)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_asked_for_in_whole_seconds() {
        let moment: Timestamp = "2025-01-01T00:00:00.75Z".parse().expect("a time");
        assert_eq!(seconds(moment).to_string(), "2025-01-01T00:00:00Z");
    }
}
