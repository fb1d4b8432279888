//! The settings that all protocols share, and their ranges.

use std::fmt;
use std::time::Duration;

use crate::{EmbedError, ModelInfo, Provider};

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
    pub(crate) fn shown(&self) -> String {
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
pub fn check(ok: bool, setting: &'static str, value: &str, allowed: &'static str) -> Result<(), EmbedError> {
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
pub fn without_secrets(url: &str) -> String {
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

// The settings of a remote model, and their ranges.

/// The settings of a remote model.
///
/// ```
/// use tamis_embed::RemoteConfig;
///
/// let mut config = RemoteConfig::new("http://localhost:11434/v1/embeddings", "nomic-embed-text");
/// config.passage_prefix = "search_document: ".to_owned();
/// config.query_prefix = "search_query: ".to_owned();
/// assert!(config.id().starts_with("openai:nomic-embed-text@localhost:11434"));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RemoteConfig {
    /// The embeddings endpoint and the model there.
    pub endpoint: EndpointConfig,
    /// The length of the vectors. When absent, a first request learns it.
    pub dimension: Option<usize>,
    /// Asks the endpoint for vectors of that length, which only some models support.
    pub request_dimension: bool,
    /// The number of texts in a request, at least 1. 64 by default.
    pub batch_size: usize,
    /// Prepended to every passage, for models that expect passages and queries to differ.
    pub passage_prefix: String,
    /// Prepended to every query.
    pub query_prefix: String,
    /// The weight of the similarity in fusion, in `0..=1`. 0.7 by default.
    pub fusion_weight: f32,
}

impl RemoteConfig {
    /// Names an endpoint and a model. Everything else gets the defaults documented on the fields.
    #[must_use]
    pub fn new(url: &str, model: &str) -> Self {
        Self {
            endpoint: EndpointConfig::new(url, model),
            dimension: None,
            request_dimension: false,
            batch_size: 64,
            passage_prefix: String::new(),
            query_prefix: String::new(),
            fusion_weight: 0.7,
        }
    }

    /// Returns the identifier that the model's vectors are stored under: `openai:MODEL@HOST`. Prefixes become part of it, since
    /// they change the vectors.
    #[must_use]
    pub fn id(&self) -> String {
        let mut id = self.endpoint.id("openai");
        if !(self.passage_prefix.is_empty() && self.query_prefix.is_empty()) {
            let prefixes = format!("{}\0{}", self.passage_prefix, self.query_prefix);
            id.push('#');
            id.extend(blake3::hash(prefixes.as_bytes()).to_hex().chars().take(8));
        }
        id
    }

    /// Describes the model from the settings alone. The dimension is 0 unless it is configured.
    #[must_use]
    pub fn info(&self) -> ModelInfo {
        ModelInfo {
            id: self.id(),
            dimension: self.dimension.unwrap_or(0),
            max_tokens: None,
            provider: Provider::Remote,
            fusion_weight: self.fusion_weight,
        }
    }

    pub(crate) fn validate(&self) -> Result<(), EmbedError> {
        self.endpoint.validate()?;
        check(self.batch_size > 0, "batch_size", "0", "it must be at least 1")?;
        check(self.dimension != Some(0), "dimension", "0", "it must be at least 1")?;
        let weight = self.fusion_weight;
        check((0.0..=1.0).contains(&weight), "fusion_weight", &weight.to_string(), "it must lie in 0..=1")
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
