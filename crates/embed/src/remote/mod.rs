//! Vectors from any endpoint that speaks the OpenAI embeddings protocol: OpenAI, Voyage, Gemini's compatible endpoint,
//! Ollama, LM Studio, vLLM and others.
//!
//! Texts leave the process here, so nothing is sent until [`Remote::connect`] is called, and whether to call it is the
//! caller's decision. What fails for a moment (no connection, a timeout, 429, 5xx, a body cut short) is tried again with
//! exponential backoff and jitter, or after the time that `Retry-After` names; what would fail again is not.

mod answer;
mod pace;
mod request;

use std::fmt;
use std::time::Duration;

use answer::Rejected;
use pace::{Backoff, Limiter};
use request::{Failure, Http};

use crate::{EmbedError, Embedder, ModelInfo, Provider};

/// How to reach a remote model.
///
/// ```
/// use tamis_embed::RemoteConfig;
///
/// let mut config = RemoteConfig::new("http://localhost:11434/v1/embeddings", "nomic-embed-text");
/// config.passage_prefix = "search_document: ".to_owned();
/// config.query_prefix = "search_query: ".to_owned();
/// assert!(config.id().starts_with("openai:nomic-embed-text@localhost:11434"));
/// ```
#[derive(Clone, PartialEq)]
pub struct RemoteConfig {
    /// The whole address of the embeddings endpoint, such as `https://api.openai.com/v1/embeddings`.
    pub url: String,
    /// The model's name as the endpoint knows it.
    pub model: String,
    /// Sent as a bearer token. Never printed, not even by `Debug`.
    pub api_key: Option<String>,
    /// The length of the vectors; asked of the endpoint with a first request when it is not given.
    pub dimension: Option<usize>,
    /// Whether to ask the endpoint for vectors of that length, which only some models support.
    pub request_dimension: bool,
    /// Texts in a request, at least 1. 64 by default.
    pub batch_size: usize,
    /// Time for one request, from connecting to the last byte. 60 seconds by default.
    pub timeout: Duration,
    /// How often a request is repeated after its first failure. 5 by default.
    pub max_retries: u32,
    /// The wait before the first repetition; doubles with each, up to [`max_wait`](Self::max_wait). 500 ms by default.
    pub first_wait: Duration,
    /// The longest wait before a repetition; an endpoint that asks for more is given up. 60 seconds by default.
    pub max_wait: Duration,
    /// Requests that may start in a minute, over all threads; no limit when `None`. At least 1.
    pub requests_per_minute: Option<u32>,
    /// Put before every passage, as models that tell passages from queries ask for.
    pub passage_prefix: String,
    /// Put before every query.
    pub query_prefix: String,
    /// Weight of the similarity in fusion, in `0..=1`. 0.7 by default.
    pub fusion_weight: f32,
    /// Seed of the jitter of waits, so that a run can be repeated exactly.
    pub seed: u64,
}

impl RemoteConfig {
    /// An endpoint and a model, everything else as documented on the fields.
    #[must_use]
    pub fn new(url: &str, model: &str) -> Self {
        Self {
            url: url.to_owned(),
            model: model.to_owned(),
            api_key: None,
            dimension: None,
            request_dimension: false,
            batch_size: 64,
            timeout: Duration::from_secs(60),
            max_retries: 5,
            first_wait: Duration::from_millis(500),
            max_wait: Duration::from_secs(60),
            requests_per_minute: None,
            passage_prefix: String::new(),
            query_prefix: String::new(),
            fusion_weight: 0.7,
            seed: 0,
        }
    }

    /// The identifier under which the model's vectors are stored: `openai:MODEL@HOST`. The prefixes are part of it when
    /// there are any, since they change the vectors.
    #[must_use]
    pub fn id(&self) -> String {
        let after_scheme = self.url.split_once("://").map_or(self.url.as_str(), |(_, rest)| rest);
        let authority = after_scheme.split(['/', '?', '#']).next().unwrap_or_default();
        // A name and password before an @ are a secret.
        let host = authority.rsplit('@').next().unwrap_or_default();
        let mut id = format!("openai:{}@{host}", self.model);
        if !(self.passage_prefix.is_empty() && self.query_prefix.is_empty()) {
            let prefixes = format!("{}\0{}", self.passage_prefix, self.query_prefix);
            id.push('#');
            id.extend(blake3::hash(prefixes.as_bytes()).to_hex().chars().take(8));
        }
        id
    }

    /// What is known of the model before it is asked; the dimension is 0 where it is not configured.
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

    fn validate(&self) -> Result<(), EmbedError> {
        let check = |ok, setting, value: String, allowed| {
            if ok { Ok(()) } else { Err(EmbedError::Setting { setting, value, allowed }) }
        };
        let scheme = self.url.starts_with("http://") || self.url.starts_with("https://");
        check(scheme, "url", answer::without_secrets(&self.url), "it has to begin with http:// or https://")?;
        check(!self.model.is_empty(), "model", "empty".to_owned(), "name the model to ask for")?;
        check(self.batch_size > 0, "batch_size", "0".to_owned(), "it has to be at least 1")?;
        check(self.dimension != Some(0), "dimension", "0".to_owned(), "it has to be at least 1")?;
        check(!self.timeout.is_zero(), "timeout", "0".to_owned(), "it has to be longer than nothing")?;
        let rate = self.requests_per_minute;
        check(
            rate != Some(0),
            "requests_per_minute",
            "0".to_owned(),
            "it has to be at least 1; leave it out for no limit",
        )?;
        let weight = self.fusion_weight;
        check((0.0..=1.0).contains(&weight), "fusion_weight", weight.to_string(), "it has to lie in 0..=1")
    }
}

impl fmt::Debug for RemoteConfig {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("RemoteConfig")
            .field("url", &answer::without_secrets(&self.url))
            .field("model", &self.model)
            .field("api_key", &self.api_key.as_ref().map(|_| "…"))
            .field("dimension", &self.dimension)
            .field("batch_size", &self.batch_size)
            .finish_non_exhaustive()
    }
}

/// A model behind an HTTP endpoint.
#[derive(Debug)]
pub struct Remote {
    config: RemoteConfig,
    info: ModelInfo,
    http: Http,
    limiter: Limiter,
}

impl Remote {
    /// Checks the settings and, when no dimension is configured, learns it by embedding one word.
    ///
    /// # Errors
    /// When a setting is out of range, or the first request fails.
    pub fn connect(config: RemoteConfig) -> Result<Self, EmbedError> {
        config.validate()?;
        let info = config.info();
        let (http, limiter) = (Http::new(&config), Limiter::new(config.requests_per_minute));
        let mut remote = Self { config, info, http, limiter };
        if remote.config.dimension.is_none() {
            let answer = remote.request(&["dimension".to_owned()])?;
            remote.info.dimension = answer.first().map_or(0, Vec::len);
        }
        Ok(remote)
    }

    fn embed(&self, prefix: &str, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        // Endpoints refuse empty texts; theirs is the zero vector here as with every other model.
        let full: Vec<usize> = (0..texts.len()).filter(|&at| !texts[at].trim().is_empty()).collect();
        let mut vectors = vec![vec![0.0; self.info.dimension]; texts.len()];
        for batch in full.chunks(self.config.batch_size) {
            let inputs: Vec<String> = batch.iter().map(|&at| format!("{prefix}{}", texts[at])).collect();
            for (&at, vector) in batch.iter().zip(self.request(&inputs)?) {
                vectors[at] = vector;
            }
        }
        Ok(vectors)
    }

    /// One request, repeated while it makes sense.
    fn request(&self, inputs: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let config = &self.config;
        let dimension = Some(self.info.dimension).filter(|&dimension| dimension > 0);
        let mut backoff = Backoff::new(config.first_wait, config.max_wait, config.seed);
        let mut attempts = 0;
        loop {
            self.limiter.wait();
            attempts += 1;
            let failure = match self.http.post(inputs, config.dimension.filter(|_| config.request_dimension)) {
                Ok(body) => match answer::parse(&body, inputs.len(), dimension) {
                    Ok(vectors) => return Ok(vectors),
                    Err(Rejected::CutShort(reason)) => Failure::passing(reason),
                    Err(Rejected::Wrong(reason)) => return Err(EmbedError::Answer { url: self.http.url(), reason }),
                },
                Err(failure) => failure,
            };
            if let Some(status) = failure.refused {
                return Err(EmbedError::Refused { url: self.http.url(), status, reason: failure.reason });
            }
            let wait = backoff.next(failure.retry_after);
            match wait.filter(|_| attempts <= config.max_retries) {
                Some(wait) => std::thread::sleep(wait),
                None => {
                    return Err(EmbedError::Unavailable { url: self.http.url(), reason: failure.reason, attempts });
                }
            }
        }
    }
}

impl Embedder for Remote {
    fn model(&self) -> &ModelInfo {
        &self.info
    }

    fn embed_passages(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.embed(&self.config.passage_prefix, texts)
    }

    fn embed_query(&self, text: &str) -> Result<Vec<f32>, EmbedError> {
        Ok(self.embed(&self.config.query_prefix, &[text])?.pop().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests;
