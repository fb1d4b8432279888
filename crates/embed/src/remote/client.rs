//! A client of one endpoint: requests that are retried while the failure may pass, and a limit on their rate.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;
use ureq::Agent;

use super::endpoint::{EndpointConfig, without_secrets};
use crate::EmbedError;

/// The reason an answer is unusable.
#[derive(Debug, PartialEq, Eq)]
pub enum Rejected {
    /// It ends too early. A retry may help.
    Truncated(String),
    /// It differs from the request.
    Wrong(String),
}

impl Rejected {
    /// The reason that a body does not parse as `expected`.
    pub fn unparsed(body: &[u8], expected: &str, error: &serde_json::Error) -> Self {
        if error.is_eof() {
            Rejected::Truncated(format!("the answer ends after {} bytes: {error}", body.len()))
        } else {
            Rejected::Wrong(format!("it is not {expected}: {error}"))
        }
    }
}

/// Puts a value into the slot that an answer names.
pub fn fill<T>(slots: &mut [Option<T>], index: usize, value: T, what: &str) -> Result<(), Rejected> {
    let count = slots.len();
    match slots.get_mut(index) {
        Some(slot @ None) => *slot = Some(value),
        Some(Some(_)) => return Err(Rejected::Wrong(format!("index {index} came twice"))),
        None => return Err(Rejected::Wrong(format!("index {index} came for {count} {what}"))),
    }
    Ok(())
}

/// The end of the time that a request may take with its retries and waits.
#[derive(Debug, Clone, Copy)]
pub struct Deadline(Option<Instant>);

impl Deadline {
    pub const NONE: Self = Self(None);

    /// The deadline of work that starts now and may take this long; `None` for any time.
    pub fn after(limit: Option<Duration>) -> Self {
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
pub struct Client {
    http: Http,
    limiter: Limiter,
    max_retries: u32,
    first_wait: Duration,
    max_wait: Duration,
    seed: u64,
}

impl Client {
    /// Creates the client of an endpoint whose answers have at most `max_answer` bytes.
    pub fn new(config: &EndpointConfig, max_answer: u64) -> Self {
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
    pub fn send<T>(
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

// One request over HTTP, and the failures that deserve a retry.

/// The number of characters of an endpoint's own message that go into an error.
const MAX_MESSAGE: usize = 300;

/// A failed request.
#[derive(Debug)]
pub struct Failure {
    pub reason: String,
    pub outlook: Outlook,
}

/// What a retry of a failed request would bring.
#[derive(Debug)]
pub enum Outlook {
    /// The failure may pass.
    MayPass {
        /// The wait that `Retry-After` asks for.
        retry_after: Option<Duration>,
    },
    /// The endpoint would refuse it again, with this status.
    Refused(u16),
    /// The answer would be unusable again.
    Unusable,
}

impl Failure {
    /// A failure that may pass.
    pub fn transient(reason: String) -> Self {
        Self { reason, outlook: Outlook::MayPass { retry_after: None } }
    }
}

#[derive(Debug)]
pub struct Http {
    agent: Agent,
    url: String,
    authorization: Option<Secret>,
    timeout: Duration,
    /// The largest answer that is read, in bytes.
    max_answer: u64,
}

/// Keeps the key out of `Debug` output.
struct Secret(String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("…")
    }
}

impl Http {
    pub fn new(url: &str, api_key: Option<&str>, timeout: Duration, max_answer: u64) -> Self {
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            // A redirect would carry texts and key to an address that nobody configured.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .user_agent("tamis")
            .build()
            .new_agent();
        let authorization = api_key.map(|key| Secret(format!("Bearer {key}")));
        Self { agent, url: url.to_owned(), authorization, timeout, max_answer }
    }

    /// Returns the endpoint without secrets, for messages.
    pub fn url(&self) -> String {
        without_secrets(&self.url)
    }

    /// Sends a JSON body and returns the body of a successful answer. `left` is the time that is left, where that may be less
    /// than a request usually gets.
    pub fn post(&self, body: &[u8], left: Option<Duration>) -> Result<Vec<u8>, Failure> {
        let timeout = left.map_or(self.timeout, |left| left.min(self.timeout));
        if timeout.is_zero() {
            return Err(Failure::transient("no time was left for the request".to_owned()));
        }
        let request = self.agent.post(&self.url).config().timeout_global(Some(timeout)).build();
        let mut request = request.header("content-type", "application/json");
        if let Some(Secret(authorization)) = &self.authorization {
            request = request.header("authorization", authorization);
        }
        let mut response = request.send(body).map_err(|error| self.broken(&error))?;
        let status = response.status().as_u16();
        let retry_after = response
            .headers()
            .get("retry-after")
            .and_then(|value| value.to_str().ok()?.trim().parse::<f64>().ok())
            .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let body = response.body_mut().with_config().limit(self.max_answer).read_to_vec();
        if (200..300).contains(&status) {
            return body.map_err(|error| self.broken(&error));
        }
        let message = self.redact(&String::from_utf8_lossy(&body.unwrap_or_default()));
        let message = if message.is_empty() { String::new() } else { format!(": {message}") };
        if status == 429 || status == 408 || status >= 500 {
            let outlook = Outlook::MayPass { retry_after };
            return Err(Failure { reason: format!("status {status}{message}"), outlook });
        }
        let hint = match status {
            401 | 403 => "check the API key",
            404 => "check the address and the model's name",
            300..=399 => "it redirects elsewhere; configure the final address",
            _ => "check the model's name and the settings",
        };
        Err(Failure { reason: format!("{hint}{message}"), outlook: Outlook::Refused(status) })
    }

    fn broken(&self, error: &ureq::Error) -> Failure {
        Failure::transient(match error {
            ureq::Error::BodyExceedsLimit(limit) => {
                let reason = format!("it is longer than {limit} bytes");
                return Failure { reason, outlook: Outlook::Unusable };
            }
            ureq::Error::Timeout(phase) => format!("no answer in time ({phase})"),
            ureq::Error::Io(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => {
                "connection refused; is the server running?".to_owned()
            }
            ureq::Error::HostNotFound => "the host is not known; check the address".to_owned(),
            other => self.redact(&other.to_string()),
        })
    }

    /// Puts a message of the endpoint on one line, shortens it, and removes the key should the message repeat it.
    fn redact(&self, message: &str) -> String {
        let mut message = message.split_whitespace().collect::<Vec<_>>().join(" ");
        if let Some(Secret(authorization)) = &self.authorization {
            let key = authorization.trim_start_matches("Bearer ");
            if !key.is_empty() {
                message = message.replace(key, "…");
            }
        }
        if let Some((end, _)) = message.char_indices().nth(MAX_MESSAGE) {
            message.truncate(end);
            message.push('…');
        }
        message
    }
}

// The timing of requests: waits after failures, and a limit on the number that start in a minute.

/// Exponential backoff with jitter. Each wait is drawn from the upper half of a span that doubles.
#[derive(Debug)]
pub struct Backoff {
    span: Duration,
    longest: Duration,
    state: u64,
}

impl Backoff {
    pub fn new(first: Duration, longest: Duration, seed: u64) -> Self {
        Self { span: first.min(longest), longest, state: seed }
    }

    /// Returns the next wait: the one the endpoint asked for, else the next of the series. `None` when the endpoint asked for
    /// more than the longest wait.
    pub fn next(&mut self, asked: Option<Duration>) -> Option<Duration> {
        let span = self.span;
        self.span = span.saturating_mul(2).min(self.longest);
        match asked {
            Some(asked) => (asked <= self.longest).then_some(asked),
            None => Some(span.mul_f64(0.5 + self.random() / 2.0)),
        }
    }

    /// SplitMix64 (Steele, Lea and Flood, 2014), as a number in `0..1`.
    fn random(&mut self) -> f64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Spaces the starts of requests evenly.
#[derive(Debug)]
pub struct Limiter {
    gap: Duration,
    next: Mutex<Option<Instant>>,
}

impl Limiter {
    pub fn new(per_minute: Option<u32>) -> Self {
        let gap = per_minute.and_then(|rate| Duration::from_secs(60).checked_div(rate)).unwrap_or_default();
        Self { gap, next: Mutex::new(None) }
    }

    /// Sleeps until this request may start. Returns `false` at once if it may not start within `longest`.
    pub fn wait(&self, longest: Option<Duration>) -> bool {
        if self.gap.is_zero() {
            return true;
        }
        let wait = self.reserve(Instant::now(), longest);
        if let Some(wait) = wait {
            std::thread::sleep(wait);
        }
        wait.is_some()
    }

    /// Reserves the next free start and returns the time until then. Reserves nothing if that is longer than `longest`.
    fn reserve(&self, now: Instant, longest: Option<Duration>) -> Option<Duration> {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let start = next.map_or(now, |next| next.max(now));
        let wait = start - now;
        if longest.is_some_and(|longest| wait > longest) {
            return None;
        }
        *next = Some(start + self.gap);
        Some(wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn waits_double_with_jitter_up_to_the_longest() {
        let waits = |seed| {
            let mut backoff = Backoff::new(SECOND, SECOND * 5, seed);
            std::array::from_fn::<_, 6, _>(|_| backoff.next(None).unwrap())
        };
        for (wait, span) in waits(7).iter().zip([1, 2, 4, 5, 5, 5]) {
            assert!(*wait >= SECOND * span / 2 && *wait <= SECOND * span, "{wait:?} of {span} s");
        }
        assert_eq!(waits(7), waits(7));
        assert_ne!(waits(7), waits(8));
    }

    #[test]
    fn the_endpoint_may_ask_for_a_wait_but_not_for_any() {
        let mut backoff = Backoff::new(SECOND, SECOND * 5, 0);
        assert_eq!([backoff.next(Some(SECOND * 5)), backoff.next(Some(SECOND * 6))], [Some(SECOND * 5), None]);
    }

    #[test]
    fn starts_are_spaced_evenly() {
        let limiter = Limiter::new(Some(120));
        let now = Instant::now();
        let reserve = |limiter: &Limiter, now| limiter.reserve(now, None);
        assert_eq!([0, 1, 2].map(|_| reserve(&limiter, now)), [Duration::ZERO, SECOND / 2, SECOND].map(Some));
        assert_eq!(limiter.reserve(now, Some(SECOND)), None, "the next start is too late, and stays free");
        assert_eq!(reserve(&limiter, now), Some(SECOND * 3 / 2));
        assert_eq!(reserve(&limiter, now + SECOND * 10), Some(Duration::ZERO));
        let unlimited = Limiter::new(None);
        assert_eq!([0, 1].map(|_| reserve(&unlimited, now)), [Some(Duration::ZERO); 2]);
    }
}
