//! A client of one endpoint: requests that are retried while the failure may pass, and a limit on their rate.

use std::time::{Duration, Instant};

use serde::Serialize;

use super::endpoint::EndpointConfig;
use super::request::{Failure, Http, Outlook};
use super::timing::{Backoff, Limiter};
use crate::EmbedError;

/// The reason an answer is unusable.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Rejected {
    /// It ends too early. A retry may help.
    Truncated(String),
    /// It differs from the request.
    Wrong(String),
}

impl Rejected {
    /// The reason that a body does not parse as `expected`.
    pub(super) fn unparsed(body: &[u8], expected: &str, error: &serde_json::Error) -> Self {
        if error.is_eof() {
            Rejected::Truncated(format!("the answer ends after {} bytes: {error}", body.len()))
        } else {
            Rejected::Wrong(format!("it is not {expected}: {error}"))
        }
    }
}

/// The end of the time that a request may take with its retries and waits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deadline(Option<Instant>);

impl Deadline {
    pub(super) const NONE: Self = Self(None);

    /// The deadline of work that starts now and may take this long; `None` for any time.
    pub(super) fn after(limit: Option<Duration>) -> Self {
        Self(limit.and_then(|limit| Instant::now().checked_add(limit)))
    }

    /// Returns the time that is left; `None` without a deadline.
    fn left(self) -> Option<Duration> {
        self.0.map(|end| end.saturating_duration_since(Instant::now()))
    }

    fn leaves(self, time: Duration) -> bool {
        self.left().is_none_or(|left| time < left)
    }
}

/// A client of one endpoint. Threads can share it.
#[derive(Debug)]
pub(super) struct Client {
    http: Http,
    limiter: Limiter,
    max_retries: u32,
    first_wait: Duration,
    max_wait: Duration,
    seed: u64,
}

impl Client {
    /// Creates the client of an endpoint whose answers have at most `max_answer` bytes.
    pub(super) fn new(config: &EndpointConfig, max_answer: u64) -> Self {
        Client {
            http: Http::new(&config.url, config.api_key.as_deref(), config.timeout, max_answer),
            limiter: Limiter::new(config.requests_per_minute),
            max_retries: config.max_retries,
            first_wait: config.first_wait,
            max_wait: config.max_wait,
            seed: config.seed,
        }
    }

    /// Sends one request, retries it while the failure may pass and the deadline leaves time, and reads its answer.
    pub(super) fn send<T>(
        &self,
        deadline: Deadline,
        body: &impl Serialize,
        read: impl Fn(&[u8]) -> Result<T, Rejected>,
    ) -> Result<T, EmbedError> {
        let body = serde_json::to_vec(body)
            .map_err(|error| EmbedError::Answer { url: self.http.url(), reason: error.to_string() })?;
        let mut backoff = Backoff::new(self.first_wait, self.max_wait, self.seed);
        let unavailable = |reason, attempts| Err(EmbedError::Unavailable { url: self.http.url(), reason, attempts });
        let unusable = |reason| Err(EmbedError::Answer { url: self.http.url(), reason });
        let mut attempts = 0;
        loop {
            if !self.limiter.wait(deadline.left()) {
                return unavailable("the limit of requests a minute leaves no room in time".to_owned(), attempts);
            }
            attempts += 1;
            let failure = match self.http.post(&body, deadline.left()) {
                Ok(answer) => match read(&answer) {
                    Ok(answer) => return Ok(answer),
                    Err(Rejected::Truncated(reason)) => Failure::transient(reason),
                    Err(Rejected::Wrong(reason)) => return unusable(reason),
                },
                Err(failure) => failure,
            };
            let asked = match failure.outlook {
                Outlook::MayPass { retry_after } => retry_after,
                Outlook::Refused(status) => {
                    return Err(EmbedError::Refused { url: self.http.url(), status, reason: failure.reason });
                }
                Outlook::Unusable => return unusable(failure.reason),
            };
            match backoff.next(asked).filter(|&wait| attempts <= self.max_retries && deadline.leaves(wait)) {
                Some(wait) => std::thread::sleep(wait),
                None => return unavailable(failure.reason, attempts),
            }
        }
    }
}
