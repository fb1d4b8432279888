//! A client of one endpoint: requests that are retried while the failure may pass, and a limit on their rate.

use std::time::Duration;

use serde::Serialize;

use super::request::{Failure, Http};
use super::timing::{Backoff, Limiter};
use crate::EmbedError;

/// The settings that all protocols share.
pub(super) struct ClientConfig<'a> {
    pub url: &'a str,
    pub api_key: Option<&'a str>,
    pub timeout: Duration,
    pub max_retries: u32,
    pub first_wait: Duration,
    pub max_wait: Duration,
    pub requests_per_minute: Option<u32>,
    pub seed: u64,
}

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
    pub(super) fn new(config: &ClientConfig<'_>) -> Self {
        Client {
            http: Http::new(config.url, config.api_key, config.timeout),
            limiter: Limiter::new(config.requests_per_minute),
            max_retries: config.max_retries,
            first_wait: config.first_wait,
            max_wait: config.max_wait,
            seed: config.seed,
        }
    }

    /// Sends one request, retries it while the failure may pass, and reads its answer.
    pub(super) fn send<T>(
        &self,
        body: &impl Serialize,
        read: impl Fn(&[u8]) -> Result<T, Rejected>,
    ) -> Result<T, EmbedError> {
        let body = serde_json::to_vec(body)
            .map_err(|error| EmbedError::Answer { url: self.http.url(), reason: error.to_string() })?;
        let mut backoff = Backoff::new(self.first_wait, self.max_wait, self.seed);
        let mut attempts = 0;
        loop {
            self.limiter.wait();
            attempts += 1;
            let failure = match self.http.post(&body) {
                Ok(answer) => match read(&answer) {
                    Ok(answer) => return Ok(answer),
                    Err(Rejected::Truncated(reason)) => Failure::transient(reason),
                    Err(Rejected::Wrong(reason)) => return Err(EmbedError::Answer { url: self.http.url(), reason }),
                },
                Err(failure) => failure,
            };
            if let Some(status) = failure.refused {
                return Err(EmbedError::Refused { url: self.http.url(), status, reason: failure.reason });
            }
            let wait = backoff.next(failure.retry_after);
            match wait.filter(|_| attempts <= self.max_retries) {
                Some(wait) => std::thread::sleep(wait),
                None => {
                    return Err(EmbedError::Unavailable { url: self.http.url(), reason: failure.reason, attempts });
                }
            }
        }
    }
}
