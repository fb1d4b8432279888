//! One import from GitHub: the lists of the repository, then the details of single issues.

use std::collections::HashMap;
use std::time::Instant;

use jiff::Timestamp;
use serde_json::Value;
use tamis_text::Issue;

use super::gh::{Answer, Gh, Page, Stop};
use super::progress::{Details, List, Progress, Scope, Step};
use super::{GITHUB_HOST, GithubImport, GithubReport, IssueStates, Stopped};
use crate::Error;
use crate::collections::ISSUES;
use crate::error::GithubError;
use crate::handle::Index;
use crate::import::{ImportInput, Imports, IssueImport, namespace};
use crate::index::{RunOptions, import_state_property};
use crate::progress::{Observer, Stage};

/// Entries per page, the most that GitHub allows.
const PAGE: usize = 100;

/// The issues in the index by number, with the time of their last update in nanoseconds since 1970.
type Known = HashMap<u64, Option<i64>>;

impl Imports<'_> {
    /// Imports the issues and pull requests of a repository on GitHub, with their comments and reviews, then publishes and
    /// embeds. It runs `gh`, GitHub's own command line, which must be logged in. Nothing at GitHub is ever changed.
    ///
    /// The first import reads everything, each later one only the changes since. It can be stopped or killed at any time and
    /// continues from the last page. Deleted issues and comments stay in the index.
    ///
    /// # Errors
    /// There is no `gh`, or it is not logged in; the repository does not exist or is not visible; `gh` fails; and those of
    /// [`Imports::issues`]. Everything read before stays in the index and can be found.
    pub fn github(&self, request: &GithubImport, observer: &dyn Observer) -> Result<GithubReport, Error> {
        let started = Instant::now();
        let mut run = Run::new(self.index, request, observer)?;
        let ended = run.all();
        let (mut report, stored) = run.report();
        report.compare(&stored, &self.index.store.documents(&report.namespace)?);
        let ended = match ended {
            Ok(()) => Ok(()),
            Err(Stop::Failed(error)) => Err(error),
            Err(Stop::Early(stopped)) => {
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

struct Run<'a> {
    index: &'a Index,
    request: &'a GithubImport,
    observer: &'a dyn Observer,
    gh: Gh<'a>,
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
    fn new(index: &'a Index, request: &'a GithubImport, observer: &'a dyn Observer) -> Result<Self, Error> {
        let gh = Gh::new(request, observer)?;
        let namespace = namespace(index, request.namespace.as_deref())?;
        let origin = match request.host.as_str() {
            GITHUB_HOST => format!("github:{}", request.repository),
            host => format!("github:{host}/{}", request.repository),
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
        Ok(Run { index, request, observer, gh, property, progress, known, stored, before: Vec::new(), report })
    }

    /// Returns the report of the run, and the hash of each issue before it.
    fn report(mut self) -> (GithubReport, HashMap<String, [u8; 32]>) {
        let pending =
            self.progress.details.values().filter(|wanted| !self.allowed_details(**wanted).is_empty()).count();
        self.report.counts.pending = pending as u64;
        (GithubReport { requests: self.gh.requests, ..self.report }, self.stored)
    }

    fn all(&mut self) -> Result<(), Stop> {
        self.import_list(List::Issues)?;
        self.import_list(List::Comments)?;
        if self.progress.scope.pulls {
            self.import_list(List::ReviewComments)?;
        }
        self.details()
    }

    /// Reads a list from the point where the last run stopped to its end.
    fn import_list(&mut self, list: List) -> Result<(), Stop> {
        self.stage(list.name(), 0);
        let Scope { state, since, .. } = self.progress.scope;
        let cursor = self.progress.list(list);
        cursor.begin(since);
        // Until the list was read once, GitHub can filter by state. Later a change of state matters.
        let filtered = list == List::Issues && !cursor.whole && state != IssueStates::All;
        let state = if filtered { state } else { IssueStates::All };
        self.before.clear();
        while let Some(step) = self.progress.list(list).next {
            match self.gh.page(&self.path(list, step, state))? {
                Answer::Page(page) => self.take(list, step, page)?,
                Answer::Missing(404, said) => {
                    return Err(GithubError::NotFound { repository: self.report.repository.clone(), said }.into());
                }
                Answer::Missing(_, said) => {
                    return Err(GithubError::Failed { path: self.below(list.path()), said }.into());
                }
                Answer::TooFar => {
                    let moment = step.since.map_or_else(|| "one moment".to_owned(), |at| at.to_string());
                    return Err(GithubError::ListEnds { path: self.below(list.path()), moment }.into());
                }
            }
        }
        let cursor = self.progress.list(list);
        if filtered {
            cursor.was_filtered();
        }
        cursor.whole = true;
        Ok(self.save()?)
    }

    fn stage(&self, what: &str, total: usize) {
        self.observer.stage(Stage::Fetch(format!("{what} of {}", self.request.repository)), total as u64);
    }

    fn path(&self, list: List, step: Step, state: IssueStates) -> String {
        let mut query = format!("sort=updated&direction=asc&per_page={PAGE}");
        if list == List::Issues {
            query += &format!("&state={}", state.as_str());
        }
        if let Some(since) = step.since {
            query += &format!("&since={since}");
        }
        if step.page > 1 {
            query += &format!("&page={}", step.page);
        }
        format!("{}?{query}", self.below(list.path()))
    }

    /// Returns the path of something below the repository.
    fn below(&self, path: &str) -> String {
        format!("repos/{}/{path}", self.request.repository)
    }

    /// Imports a page, then stores the progress.
    fn take(&mut self, list: List, step: Step, page: Page) -> Result<(), Error> {
        self.observer.advance(page.entries.len() as u64);
        let times: Vec<Timestamp> = page.entries.iter().filter_map(|entry| time(entry, "updated_at")).collect();
        if let Some(name) = page.entries.first().and_then(repository)
            && !name.eq_ignore_ascii_case(&self.report.repository)
        {
            self.report.moved_to = Some(name);
        }
        let mut entries: Vec<Value> =
            page.entries.iter().filter(|entry| !self.before.contains(entry)).cloned().collect();
        if list == List::Issues {
            entries.retain(|entry| self.select(entry));
        }
        // The page and the progress are stored together, in one turn of writing.
        let _writing = self.index.wait_for_run(self.observer)?;
        self.import(list.path(), entries)?;
        self.progress.list(list).read(step, &times, page.more, page.date);
        self.save()?;
        self.before = page.entries;
        Ok(())
    }

    /// Returns `true` for an issue to import, and notes the details to request for it. An issue that is in the index is always
    /// imported: one that has been closed meanwhile must not stay open there.
    fn select(&mut self, entry: &Value) -> bool {
        // The reader of issues reports an entry without a number.
        let Some(number) = entry.get("number").and_then(Value::as_u64) else { return true };
        let updated = time(entry, "updated_at").and_then(|time| i64::try_from(time.as_nanosecond()).ok());
        let stored = self.known.get(&number).copied();
        if stored.is_none() && !asked_for(entry, self.progress.scope) {
            self.report.counts.left_out += 1;
            return false;
        }
        let pull = is_pull(entry);
        // The list has passed the comments of a late issue before it was imported.
        let created = time(entry, "created_at");
        let passed = |list| {
            let passed = self.progress.passed(list);
            stored.is_none() && passed.is_some_and(|passed| created.is_none_or(|created| created <= passed))
        };
        let details = Details {
            comments: passed(List::Comments) && entry.get("comments").and_then(Value::as_u64) != Some(0),
            review_comments: passed(List::ReviewComments) && pull,
            reviews: pull && stored.is_none_or(|stored| stored != updated || updated.is_none()),
        };
        self.progress.want(number, details);
        self.known.insert(number, updated);
        true
    }

    /// Imports entries of a list, which has this path below the repository.
    fn import(&mut self, path: &str, entries: Vec<Value>) -> Result<(), Error> {
        if entries.is_empty() {
            return Ok(());
        }
        let input = ImportInput { name: self.below(path), bytes: Value::Array(entries).to_string().into_bytes() };
        let mut import = IssueImport::from_inputs(&[input], Some(&self.report.origin))?;
        import.namespace = Some(self.report.namespace.clone());
        import.skip_bad = true;
        // Fetched entries are kept even if the caller wants to stop.
        let summary = self.index.imports().issues(&import, &())?;
        self.report.add(summary);
        Ok(())
    }

    /// Stores the progress of the import.
    fn save(&self) -> Result<(), Error> {
        let _writing = self.index.wait_for_run(self.observer)?;
        Ok(self.index.store.set_property(&self.property, &self.progress.to_json())?)
    }

    /// Returns the wanted details that the request allows.
    fn allowed_details(&self, wanted: Details) -> Details {
        Details { reviews: wanted.reviews && self.request.reviews, ..wanted }
    }

    /// Requests the details that the lists lack, the newest first, within the budget of requests.
    fn details(&mut self) -> Result<(), Stop> {
        let wanted =
            self.progress.details.iter().rev().map(|(number, wanted)| (*number, self.allowed_details(*wanted)));
        // Comments would be lost otherwise, so they are always read. Reviews alone have a budget.
        let (mut all, reviews): (Vec<_>, Vec<_>) = wanted
            .filter(|(_, wanted)| !wanted.is_empty())
            .partition(|(_, wanted)| wanted.comments || wanted.review_comments);
        all.extend(reviews.into_iter().take(self.request.most_reviews));
        if all.is_empty() {
            return Ok(());
        }
        self.stage("reviews", all.len());
        for (number, asked) in all {
            let lists = self.of_one(number, asked)?;
            let _writing = self.index.wait_for_run(self.observer)?;
            for (path, entries) in lists {
                self.import(&path, entries)?;
            }
            let left = self.progress.details.remove(&number).is_some_and(|left| left.reviews && !asked.reviews);
            self.progress.want(number, Details { reviews: left, ..Details::default() });
            self.save()?;
            self.report.counts.reviewed += u64::from(asked.reviews);
            self.observer.advance(1);
        }
        Ok(())
    }

    /// Requests the wanted details of one issue, one list of entries for each kind. An issue that was deleted or moved to another
    /// repository has none.
    fn of_one(&mut self, number: u64, wanted: Details) -> Result<Vec<(String, Vec<Value>)>, Stop> {
        let paths = [
            (wanted.comments, format!("issues/{number}/comments")),
            (wanted.review_comments, format!("pulls/{number}/comments")),
            (wanted.reviews, format!("pulls/{number}/reviews")),
        ];
        let mut lists = Vec::new();
        for (_, path) in paths.into_iter().filter(|(wanted, _)| *wanted) {
            let mut entries = Vec::new();
            for page in 1.. {
                match self.gh.page(&self.below(&format!("{path}?per_page={PAGE}&page={page}")))? {
                    Answer::Page(page) if page.entries.iter().all(|entry| is_of(entry, number)) => {
                        entries.extend(page.entries);
                        if !page.more {
                            break;
                        }
                    }
                    // GitHub leads on to another repository, where another issue may have this number.
                    Answer::Page(_) | Answer::Missing(..) => {
                        self.report.counts.gone += 1;
                        return Ok(Vec::new());
                    }
                    Answer::TooFar => break,
                }
            }
            lists.push((path, entries));
        }
        Ok(lists)
    }
}

fn time(entry: &Value, field: &str) -> Option<Timestamp> {
    entry.get(field)?.as_str()?.parse().ok()
}

fn is_pull(entry: &Value) -> bool {
    entry.get("pull_request").is_some_and(|pull| !pull.is_null())
}

/// Returns `true` for an issue in the scope of the import.
fn asked_for(entry: &Value, scope: Scope) -> bool {
    let state = entry.get("state").and_then(Value::as_str);
    let state_fits = scope.state == IssueStates::All || state == Some(scope.state.as_str());
    let late_enough = scope.since.is_none_or(|since| time(entry, "updated_at").is_none_or(|updated| updated >= since));
    state_fits && late_enough && (scope.pulls || !is_pull(entry))
}

/// Returns the `OWNER/NAME` in the address of an entry's repository or issue.
fn repository(entry: &Value) -> Option<String> {
    let mut parts = address(entry)?.split_once("/repos/")?.1.split('/');
    Some(format!("{}/{}", parts.next()?, parts.next()?))
}

/// Returns `true` if a comment or review is of the issue with this number.
fn is_of(entry: &Value, number: u64) -> bool {
    let named = address(entry).and_then(|address| address.rsplit('/').next());
    named.is_none_or(|named| named == number.to_string())
}

fn address(entry: &Value) -> Option<&str> {
    ["repository_url", "issue_url", "pull_request_url"].into_iter().find_map(|field| entry.get(field)?.as_str())
}
