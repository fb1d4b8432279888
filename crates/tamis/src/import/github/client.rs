//! Sends requests one after another. It waits at the limits, repeats failed requests, and follows redirects within the
//! host only.

use super::api::{Address, Api};
use super::limits::{self, Verdict};
use super::transport::{Response, Transport, Validators};
use super::{Clock, Repository, Token};
use crate::error::GithubError;
use crate::progress::{Observer, Stage};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use std::time::Duration;

/// The maximum number of repetitions of a failed request.
const REPETITIONS: u32 = 5;

/// The maximum number of limits that a request may meet in a row. Without it, a server whose limit never ends would be asked
/// forever.
const LIMITED: u32 = 8;

/// The maximum number of redirects followed in a row.
const REDIRECTS: u32 = 3;

/// The longest time until Ctrl-C takes effect during a wait.
const SLICE: Duration = Duration::from_millis(200);

/// The reason for a missing answer.
#[derive(Debug)]
pub(super) enum Stop {
    /// The caller wants to stop.
    Cancelled,
    /// The limit asks for a longer wait than the configuration allows.
    Limited(Timestamp),
    /// The request failed.
    Failed(GithubError),
}

impl From<GithubError> for Stop {
    fn from(error: GithubError) -> Self {
        Stop::Failed(error)
    }
}

/// The server's answer, as far as callers distinguish it.
#[derive(Debug)]
pub(super) enum Answer {
    /// A page of a list.
    Page(Page),
    /// The page has not changed.
    Unchanged,
    /// The server ends the list here, though there is more (422).
    TooFar,
    /// The object is missing: it never existed, was deleted, or moved (404, 410, 301).
    Missing(Missing),
}

/// The reason why an object is missing.
#[derive(Debug)]
pub(super) struct Missing {
    pub(super) status: u16,
    pub(super) said: String,
}

/// A page of a list.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) entries: Vec<Value>,
    pub(super) next: Option<Address>,
    pub(super) validators: Option<Validators>,
    /// The time of the server's answer.
    pub(super) date: Timestamp,
    /// The page's new address, if the server redirected.
    pub(super) moved: Option<Address>,
}

/// The counts of a run's requests.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    /// The number of answered requests.
    pub(super) requests: u64,
    /// The number of answers "not changed", which the primary limit does not count.
    pub(super) not_modified: u64,
    /// The time spent waiting at limits and after failures.
    pub(super) waited: Duration,
    /// The number of requests left in this hour.
    pub(super) remaining: Option<u64>,
}

/// Requests one page after another.
pub(super) struct Client<'a> {
    transport: Transport,
    api: Api,
    clock: &'a dyn Clock,
    observer: &'a dyn Observer,
    max_wait: Duration,
    /// The time before which the server wants no request.
    not_before: Option<Timestamp>,
    /// The present stage with its total and its progress, shown again after a wait.
    shown: Option<(String, u64, u64)>,
    pub(super) tally: Tally,
}

impl<'a> Client<'a> {
    pub(super) fn new(
        api: Api,
        token: Option<Token>,
        timeout: Duration,
        max_wait: Duration,
        clock: &'a dyn Clock,
        observer: &'a dyn Observer,
    ) -> Self {
        let transport = Transport::new(&api, token, timeout);
        Client { transport, api, clock, observer, max_wait, not_before: None, shown: None, tally: Tally::default() }
    }

    /// Starts a stage of `total` steps; 0 if the number is unknown.
    pub(super) fn stage(&mut self, what: String, total: u64) {
        self.observer.stage(Stage::Fetch(what.clone()), total);
        self.shown = Some((what, total, 0));
    }

    /// Advances the stage by so many steps.
    pub(super) fn advance(&mut self, steps: u64) {
        self.observer.advance(steps);
        if let Some((_, _, done)) = &mut self.shown {
            *done += steps;
        }
    }

    /// Returns the root of a repository.
    pub(super) fn repository(&self, repository: &Repository) -> Address {
        self.api.repository(repository)
    }

    /// Returns a stored address from the answer to an earlier request.
    pub(super) fn stored_address(&self, address: &str, from: &Address) -> Option<Address> {
        self.api.named(address, from).ok()
    }

    /// Requests a page of a list. Redirects are followed if `follow` says so; otherwise a redirected page counts as missing.
    pub(super) fn page(
        &mut self,
        asked: &Address,
        validators: Option<&Validators>,
        follow: bool,
    ) -> Result<Answer, Stop> {
        let (mut address, mut moved) = (asked.clone(), None);
        for _ in 0..=REDIRECTS {
            let response = self.answer(&address, validators, |response| match response.status {
                200 => ends_early(&response.body),
                _ => None,
            })?;
            match response.status {
                301 | 302 | 307 | 308 if follow => {
                    address = self.target(&response, &address)?;
                    moved = Some(address.clone());
                }
                301 | 302 | 307 | 308 => return Ok(self.missing(&response)),
                _ => return self.read(&response, &address, moved),
            }
        }
        Err(GithubError::Redirects { address: asked.to_string(), limit: REDIRECTS }.into())
    }

    /// Requests one object; `None` if it is not available at once.
    pub(super) fn object(&mut self, address: &Address) -> Result<Option<Value>, Stop> {
        let response = self.answer(address, None, |_| None)?;
        Ok((response.status == 200).then(|| serde_json::from_slice(&response.body).ok()).flatten())
    }

    fn target(&self, response: &Response, from: &Address) -> Result<Address, GithubError> {
        let location = response.header("location").unwrap_or_default();
        // Old servers give the new address only in the body.
        let named = || serde_json::from_slice::<Value>(&response.body).ok()?.get("url")?.as_str().map(str::to_owned);
        if location.is_empty() {
            return self.api.named(&named().unwrap_or_default(), from);
        }
        self.api.named(location, from)
    }

    /// Interprets an answer.
    fn read(&mut self, response: &Response, address: &Address, moved: Option<Address>) -> Result<Answer, Stop> {
        let said = || self.transport.error_message(response);
        let refused =
            |hint| GithubError::Refused { address: address.to_string(), status: response.status, said: said(), hint };
        match response.status {
            200 => {
                let entries = serde_json::from_slice(&response.body).map_err(|error| GithubError::Answer {
                    address: address.to_string(),
                    reason: format!("no list of entries ({error})"),
                })?;
                let next = response.header("link").and_then(|header| super::link::target(header, "next"));
                Ok(Answer::Page(Page {
                    entries,
                    next: next.map(|next| self.api.named(next, address)).transpose()?,
                    validators: response.validators(),
                    date: limits::date(response).unwrap_or_else(|| self.clock.now()),
                    moved,
                }))
            }
            304 => {
                self.tally.not_modified += 1;
                Ok(Answer::Unchanged)
            }
            401 => Err(match self.transport.token_variable() {
                Some(variable) => {
                    GithubError::BadToken { address: address.to_string(), variable: variable.to_owned(), said: said() }
                }
                None => GithubError::NoToken { address: address.to_string(), said: said() },
            }
            .into()),
            403 if response.header("x-github-sso").is_some() => {
                Err(refused("the organization wants the token authorized for its single sign-on").into())
            }
            403 => {
                Err(refused("the token may not read this; give it the right to read issues and pull requests").into())
            }
            404 | 410 => Ok(self.missing(response)),
            422 => Ok(Answer::TooFar),
            451 => Err(refused("it is blocked for legal reasons").into()),
            201..=299 => Err(GithubError::Answer {
                address: address.to_string(),
                reason: format!("status {} with a list expected", response.status),
            }
            .into()),
            _ => Err(refused("see whether that is the address of an API").into()),
        }
    }

    fn missing(&self, response: &Response) -> Answer {
        Answer::Missing(Missing { status: response.status, said: self.transport.error_message(response) })
    }

    /// Returns the variable of the token, if there is one.
    pub(super) fn token_variable(&self) -> Option<&str> {
        self.transport.token_variable()
    }

    /// Requests an answer that is neither a limit nor a failure, whatever its status. `broken` returns the fault of an answer
    /// that only looks good.
    fn answer(
        &mut self,
        address: &Address,
        validators: Option<&Validators>,
        broken: impl Fn(&Response) -> Option<String>,
    ) -> Result<Response, Stop> {
        let (mut failures, mut limited) = (0, 0);
        loop {
            self.wait_for_turn()?;
            let reason = match self.transport.get(address, validators) {
                Err(reason) => reason,
                Ok(response) => {
                    let now = self.clock.now();
                    self.tally.requests += 1;
                    let remaining = response.number("x-ratelimit-remaining");
                    self.tally.remaining = remaining.and_then(|left| u64::try_from(left).ok()).or(self.tally.remaining);
                    let verdict = limits::judge(&response, now);
                    let held = match verdict {
                        Verdict::Primary(wait) => Some(wait),
                        Verdict::Secondary(asked) => Some(limits::secondary_wait(asked, limited, self.clock.random())),
                        Verdict::Answer | Verdict::Failed => None,
                    };
                    if let Some(wait) = held {
                        let until = self.hold(wait);
                        limited += 1;
                        if limited > LIMITED {
                            return Err(Stop::Limited(until));
                        }
                        continue;
                    }
                    match verdict {
                        Verdict::Failed => {
                            format!("status {}{}", response.status, self.transport.error_message(&response))
                        }
                        _ => match broken(&response) {
                            Some(reason) => reason,
                            None => {
                                if let Some(wait) = limits::used_up(&response, now) {
                                    self.hold(wait);
                                }
                                return Ok(response);
                            }
                        },
                    }
                }
            };
            failures += 1;
            if failures > REPETITIONS {
                let address = address.to_string();
                return Err(GithubError::Unavailable { address, reason, attempts: failures }.into());
            }
            let wait = limits::failure_wait(failures - 1, self.clock.random());
            self.sleep(wait)?;
        }
    }

    /// Sends no request for so long. The next request decides if the wait is too long.
    fn hold(&mut self, wait: Duration) -> Timestamp {
        let wait = SignedDuration::try_from(wait).unwrap_or(SignedDuration::MAX);
        let until = self.clock.now().checked_add(wait).unwrap_or(Timestamp::MAX);
        self.not_before = self.not_before.max(Some(until));
        until
    }

    /// Waits until the server accepts another request.
    fn wait_for_turn(&mut self) -> Result<(), Stop> {
        if self.observer.cancelled() {
            return Err(Stop::Cancelled);
        }
        let Some(until) = self.not_before else { return Ok(()) };
        let wait = Duration::try_from(until.duration_since(self.clock.now())).unwrap_or_default();
        if wait > self.max_wait {
            return Err(Stop::Limited(until));
        }
        if !wait.is_zero() {
            self.observer.stage(Stage::Wait(until), 0);
            self.sleep(wait)?;
            if let Some((what, total, done)) = self.shown.clone() {
                self.observer.stage(Stage::Fetch(what), total);
                self.observer.advance(done);
            }
        }
        self.not_before = None;
        Ok(())
    }

    /// Waits, and notices Ctrl-C meanwhile.
    fn sleep(&mut self, wait: Duration) -> Result<(), Stop> {
        let mut left = wait;
        while !left.is_zero() {
            if self.observer.cancelled() {
                return Err(Stop::Cancelled);
            }
            let slice = left.min(SLICE);
            self.clock.sleep(slice);
            self.tally.waited += slice;
            left -= slice;
        }
        Ok(())
    }
}

/// Returns the reason why a body of JSON ends early. A body that is not JSON at all is a lasting failure, so it gives none.
fn ends_early(body: &[u8]) -> Option<String> {
    match serde_json::from_slice::<serde::de::IgnoredAny>(body) {
        Err(error) if error.is_eof() => Some(format!("the answer ends after {} bytes", body.len())),
        _ => None,
    }
}
