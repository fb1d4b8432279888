//! Vectors from any endpoint that speaks the OpenAI embeddings protocol: OpenAI, Voyage, Gemini's compatible endpoint,
//! Ollama, LM Studio, vLLM and others.
//!
//! Texts leave the process here, so nothing is sent before the caller decides to call [`Remote::connect`]. A failure that may
//! pass (no connection, a timeout, 429, 5xx, a truncated body) is retried with exponential backoff and jitter, or after the
//! time that `Retry-After` names. Any other failure is final.

mod answer;
mod config;
mod request;
mod timing;

use answer::Rejected;
pub use config::RemoteConfig;
use request::{Failure, Http};
use timing::{Backoff, Limiter};

use crate::{EmbedError, Embedder, ModelInfo};

/// A model behind an HTTP endpoint.
#[derive(Debug)]
pub struct Remote {
    config: RemoteConfig,
    info: ModelInfo,
    http: Http,
    limiter: Limiter,
}

impl Remote {
    /// Checks the settings. When no dimension is configured, embeds one word to learn it.
    ///
    /// # Errors
    /// A setting is out of range, or the first request fails.
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
        // Endpoints refuse empty texts. Their vector is zero, as with every other model.
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

    /// Sends one request and retries it while the failure may pass.
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
                    Err(Rejected::Truncated(reason)) => Failure::transient(reason),
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
