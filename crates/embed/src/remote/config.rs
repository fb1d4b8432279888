//! The settings of a remote model, and their ranges.

use super::endpoint::{EndpointConfig, check};
use crate::{EmbedError, ModelInfo, Provider};

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

    pub(super) fn validate(&self) -> Result<(), EmbedError> {
        self.endpoint.validate()?;
        check(self.batch_size > 0, "batch_size", "0", "it must be at least 1")?;
        check(self.dimension != Some(0), "dimension", "0", "it must be at least 1")?;
        let weight = self.fusion_weight;
        check((0.0..=1.0).contains(&weight), "fusion_weight", &weight.to_string(), "it must lie in 0..=1")
    }
}
