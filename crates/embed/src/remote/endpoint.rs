//! The settings that all protocols share, and their ranges.

use std::fmt;
use std::time::Duration;

use crate::EmbedError;

/// An endpoint, a model there, and the patience with both.
///
/// ```
/// use tamis_embed::EndpointConfig;
///
/// let endpoint = EndpointConfig::new("http://localhost:11434/v1/embeddings", "nomic-embed-text");
/// assert_eq!(endpoint.id("openai"), "openai:nomic-embed-text@localhost:11434");
/// assert!(endpoint.validate().is_ok());
/// ```
#[derive(Clone, PartialEq)]
pub struct EndpointConfig {
    /// The whole address of the endpoint, such as `https://api.openai.com/v1/embeddings`.
    pub url: String,
    /// The model's name as the endpoint knows it.
    pub model: String,
    /// Sent as a bearer token. Never printed, not even by `Debug`.
    pub api_key: Option<String>,
    /// Time for one request, from connecting to the last byte. 60 seconds by default.
    pub timeout: Duration,
    /// The number of retries after the first failure. 5 by default.
    pub max_retries: u32,
    /// The wait before the first retry. It doubles with each, up to [`max_wait`](Self::max_wait). 500 ms by default.
    pub first_wait: Duration,
    /// The longest wait before a retry. When an endpoint asks for more, the request fails. 60 seconds by default.
    pub max_wait: Duration,
    /// The number of requests that may start in a minute, over all threads, at least 1; `None` for any number.
    pub requests_per_minute: Option<u32>,
    /// The seed of the jitter of waits, so that a run can be repeated exactly.
    pub seed: u64,
}

impl EndpointConfig {
    /// Names an endpoint and a model. Everything else gets the defaults documented on the fields.
    #[must_use]
    pub fn new(url: &str, model: &str) -> Self {
        Self {
            url: url.to_owned(),
            model: model.to_owned(),
            api_key: None,
            timeout: Duration::from_secs(60),
            max_retries: 5,
            first_wait: Duration::from_millis(500),
            max_wait: Duration::from_secs(60),
            requests_per_minute: None,
            seed: 0,
        }
    }

    /// Returns the identifier of the model under a protocol: `PROTOCOL:MODEL@HOST`.
    #[must_use]
    pub fn id(&self, protocol: &str) -> String {
        format!("{protocol}:{}@{}", self.model, host(&self.url))
    }

    /// Returns the address without user name, password, query and fragment, any of which may be secret.
    pub(super) fn shown(&self) -> String {
        without_secrets(&self.url)
    }

    /// Checks the settings. Nothing is sent.
    ///
    /// # Errors
    /// A setting is out of range ([`EmbedError::Setting`]).
    pub fn validate(&self) -> Result<(), EmbedError> {
        check(is_http(&self.url), "url", &self.shown(), "it must begin with http:// or https://")?;
        check(!self.model.is_empty(), "model", "empty", "name the model to ask for")?;
        check(!self.timeout.is_zero(), "timeout", "0", "it must be longer than zero")?;
        let allowed = "it must be at least 1; leave it out to lift the limit";
        check(self.requests_per_minute != Some(0), "requests_per_minute", "0", allowed)
    }
}

impl fmt::Debug for EndpointConfig {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("EndpointConfig")
            .field("url", &self.shown())
            .field("model", &self.model)
            .field("api_key", &self.api_key.as_ref().map(|_| "…"))
            .finish_non_exhaustive()
    }
}

/// Returns the error of a setting that is not `ok`.
pub(super) fn check(ok: bool, setting: &'static str, value: &str, allowed: &'static str) -> Result<(), EmbedError> {
    if ok { Ok(()) } else { Err(EmbedError::Setting { setting, value: value.to_owned(), allowed }) }
}

/// Returns `true` if an address is one of HTTP.
fn is_http(url: &str) -> bool {
    url.starts_with("http://") || url.starts_with("https://")
}

/// Returns the host of an address with its port, without the secrets that may stand before it.
fn host(url: &str) -> &str {
    let after_scheme = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = after_scheme.split(['/', '?', '#']).next().unwrap_or_default();
    // A name and password before an @ are secret.
    authority.rsplit('@').next().unwrap_or_default()
}

/// Returns an address without user name, password, query and fragment, any of which may be secret.
pub(super) fn without_secrets(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    match url.split_once("://") {
        Some((scheme, rest)) => {
            let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            let host = authority.rsplit('@').next().unwrap_or_default();
            format!("{scheme}://{host}{path}")
        }
        None => url.rsplit('@').next().unwrap_or_default().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_lose_their_secrets() {
        assert_eq!(without_secrets("https://me:pass@host:1/v1/embeddings?key=abc#d"), "https://host:1/v1/embeddings");
        assert_eq!(without_secrets("me:pass@host"), "host");
    }
}
