//! One request over HTTP, and the failures that deserve a retry.

use std::time::Duration;

use ureq::Agent;

use super::endpoint::without_secrets;

/// The number of characters of an endpoint's own message that go into an error.
const MAX_MESSAGE: usize = 300;

/// A failed request.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) reason: String,
    pub(super) outlook: Outlook,
}

/// What a retry of a failed request would bring.
#[derive(Debug)]
pub(super) enum Outlook {
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
    pub(super) fn transient(reason: String) -> Self {
        Self { reason, outlook: Outlook::MayPass { retry_after: None } }
    }
}

#[derive(Debug)]
pub(super) struct Http {
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
    pub(super) fn new(url: &str, api_key: Option<&str>, timeout: Duration, max_answer: u64) -> Self {
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
    pub(super) fn url(&self) -> String {
        without_secrets(&self.url)
    }

    /// Sends a JSON body and returns the body of a successful answer. `left` is the time that is left, where that may be less
    /// than a request usually gets.
    pub(super) fn post(&self, body: &[u8], left: Option<Duration>) -> Result<Vec<u8>, Failure> {
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
