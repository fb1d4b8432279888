//! Endpoints of models: vectors ([`Remote`]) by OpenAI's protocol from OpenAI, Voyage, Gemini's compatible endpoint, Ollama,
//! LM Studio, vLLM and others, and rerankers ([`RemoteReranker`]) in the `/rerank` form that Jina, Cohere, vLLM, Text Embeddings
//! Inference and llama.cpp share.
//!
//! Texts leave the process here, so nothing is sent before the caller decides to call [`Remote::connect`] or
//! [`RemoteReranker::score`](crate::Reranker::score). A failure that may pass (no connection, a timeout, 429, 5xx, a truncated
//! body) is retried with exponential backoff and jitter, or after the time that `Retry-After` names. Any other failure is final.
//! `client` does that for both.

mod answer;
mod client;
mod config;
mod endpoint;
mod request;
mod rerank;
mod rerank_answer;
mod timing;

use client::{Client, Deadline};
pub use config::RemoteConfig;
pub use endpoint::EndpointConfig;
pub use rerank::{RemoteReranker, RemoteRerankerConfig, RerankScores};
use serde::Serialize;

use crate::{EmbedError, Embedder, ModelInfo};

/// The largest answer that is read, in bytes: a batch of 2,048 vectors of 4,096 entries is about half of it.
const MAX_ANSWER: u64 = 256 << 20;

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
        let client = Client::new(&config.endpoint, MAX_ANSWER);
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
        let body = Body { model: &config.endpoint.model, input: inputs, encoding_format: "float", dimensions };
        self.client.send(Deadline::NONE, &body, |answer| answer::parse(answer, inputs.len(), dimension))
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
