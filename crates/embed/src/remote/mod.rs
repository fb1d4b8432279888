//! Endpoints that speak OpenAI's protocols: vectors ([`Remote`]) from OpenAI, Voyage, Gemini's compatible endpoint, Ollama,
//! LM Studio, vLLM and others, and answers of a chat model ([`Chat`]) from the same.
//!
//! Texts leave the process here, so nothing is sent before the caller decides to call [`Remote::connect`] or [`Chat::ask`]. A
//! failure that may pass (no connection, a timeout, 429, 5xx, a truncated body) is retried with exponential backoff and jitter,
//! or after the time that `Retry-After` names. Any other failure is final. `client` does that for both.

mod answer;
mod chat;
mod client;
mod config;
mod request;
mod timing;

pub use chat::{Chat, ChatConfig, ChatReply};
use client::{Client, ClientConfig};
pub use config::RemoteConfig;
use serde::Serialize;

use crate::{EmbedError, Embedder, ModelInfo};

/// A model behind an HTTP endpoint.
#[derive(Debug)]
pub struct Remote {
    config: RemoteConfig,
    info: ModelInfo,
    client: Client,
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    input: &'a [String],
    encoding_format: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    dimensions: Option<usize>,
}

impl Remote {
    /// Checks the settings. When no dimension is configured, embeds one word to learn it.
    ///
    /// # Errors
    /// A setting is out of range, or the first request fails.
    pub fn connect(config: RemoteConfig) -> Result<Self, EmbedError> {
        config.validate()?;
        let info = config.info();
        let client = Client::new(&ClientConfig {
            url: &config.url,
            api_key: config.api_key.as_deref(),
            timeout: config.timeout,
            max_retries: config.max_retries,
            first_wait: config.first_wait,
            max_wait: config.max_wait,
            requests_per_minute: config.requests_per_minute,
            seed: config.seed,
        });
        let mut remote = Self { config, info, client };
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

    /// Sends one request.
    fn request(&self, inputs: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let config = &self.config;
        let dimension = Some(self.info.dimension).filter(|&dimension| dimension > 0);
        let dimensions = config.dimension.filter(|_| config.request_dimension);
        let body = Body { model: &config.model, input: inputs, encoding_format: "float", dimensions };
        self.client.send(&body, |answer| answer::parse(answer, inputs.len(), dimension))
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
