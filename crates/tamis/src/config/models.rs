//! `[models.NAME]`: models besides the built-in ones.

use super::error::{ConfigError, Source};
use crate::hub::{self, ModelsDirectory};
use crate::user_directories::UserDirectories;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tamis_embed::RerankScores;

/// Names of models that a configuration cannot define.
pub(super) const BUILT_IN: [&str; 3] = ["auto", "static", "minilm"];

/// A model defined in a configuration file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModelDefinition {
    /// Its provider.
    #[serde(flatten)]
    pub provider: Provider,
    /// The file that defines it.
    pub source: Source,
}

/// The provider of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "provider", rename_all = "snake_case", deny_unknown_fields)]
pub enum Provider {
    /// An endpoint that speaks OpenAI's protocol for vectors.
    Openai(Endpoint),
    /// A directory with `tokenizer.json` and `model.safetensors` or `model.onnx`.
    Directory {
        /// The directory, relative to the file that names it.
        path: PathBuf,
        /// Prefix of a query, in place of what the model's files say.
        #[serde(skip_serializing_if = "Option::is_none")]
        query_prefix: Option<String>,
        /// Prefix of a passage, in place of what the model's files say.
        #[serde(skip_serializing_if = "Option::is_none")]
        passage_prefix: Option<String>,
    },
    /// A model of a hub, which `tamis model add` put into the user's directory of models. Nothing is ever fetched for it otherwise.
    Hub(HubModel),
    /// An endpoint in the `/rerank` form, for `rerank.model`.
    Rerank(RerankEndpoint),
    /// A directory with a cross-encoder for `rerank.model`: `tokenizer.json` and `model.onnx`.
    #[serde(rename = "cross-encoder")]
    CrossEncoder {
        /// The directory, relative to the file that names it.
        path: PathBuf,
    },
}

impl Provider {
    /// Returns the address that the model sends text to; `None` if it runs here.
    pub fn url(&self) -> Option<&str> {
        match self {
            Provider::Openai(Endpoint { url, .. }) | Provider::Rerank(RerankEndpoint { url, .. }) => Some(url),
            Provider::Directory { .. } | Provider::CrossEncoder { .. } | Provider::Hub(_) => None,
        }
    }

    /// Returns `true` if the model reads a query and a passage together. It makes no vectors then.
    pub fn is_reranker(&self) -> bool {
        match self {
            Provider::Rerank(_) | Provider::CrossEncoder { .. } => true,
            Provider::Hub(model) => model.reranker,
            Provider::Openai(_) | Provider::Directory { .. } => false,
        }
    }
}

/// A model that `tamis model add` fetched from a hub.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HubModel {
    /// Its owner and name.
    pub model: String,
    /// A commit, the beginning of one, or the branch or tag it was added by; `None`: the newest that was added.
    pub revision: Option<String>,
    /// True for a reranker.
    #[serde(default)]
    pub reranker: bool,
    /// Prefix of a query, in place of what the model's files say.
    pub query_prefix: Option<String>,
    /// Prefix of a passage, in place of what the model's files say.
    pub passage_prefix: Option<String>,
    /// The user's directory of models.
    #[serde(skip)]
    pub(crate) models: Option<ModelsDirectory>,
}

impl HubModel {
    /// Returns the directory of its files.
    ///
    /// # Errors
    /// It is not on this machine. The message says how to add it.
    pub(crate) fn directory(&self) -> Result<PathBuf, String> {
        ModelsDirectory::directory_of(self.models.as_ref(), &self.model, self.revision.as_deref())
    }
}

/// An endpoint that speaks OpenAI's protocol for vectors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Endpoint {
    /// Base address. `/embeddings` is added unless it ends with that.
    pub url: String,
    /// The model's name at the endpoint.
    pub model: String,
    /// Length of its vectors; `None`: that of the first answer.
    pub dimension: Option<usize>,
    /// Environment variable that holds the key.
    pub api_key_env: Option<String>,
    /// Texts in one request, 1 to 2048.
    pub batch_size: Option<usize>,
    /// Seconds to wait for an answer, 1 to 600.
    pub timeout_seconds: Option<u64>,
    /// Tries after the first one, 0 to 20.
    pub max_retries: Option<u32>,
    /// Most requests a minute, 1 or more.
    pub requests_per_minute: Option<u32>,
    /// Prefix of a query.
    pub query_prefix: Option<String>,
    /// Prefix of a passage.
    pub passage_prefix: Option<String>,
}

/// An endpoint in the `/rerank` form that Jina, Cohere, Voyage, vLLM, llama.cpp and Text Embeddings Inference share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RerankEndpoint {
    /// Base address. `/rerank` is added unless it ends with that.
    pub url: String,
    /// The model's name at the endpoint.
    pub model: String,
    /// Environment variable that holds the key.
    pub api_key_env: Option<String>,
    /// Passages in one request, 1 to 1000.
    pub batch_size: Option<usize>,
    /// Tries after the first one, 0 to 20, as far as `rerank.timeout_ms` leaves time.
    pub max_retries: Option<u32>,
    /// Most requests a minute, 1 or more.
    pub requests_per_minute: Option<u32>,
    /// Meaning of its scores: auto, probabilities or log_odds.
    pub scores: Option<RerankScores>,
}

pub(super) fn read_models(
    value: toml::Value,
    path: &Path,
    source: &Source,
    directories: &UserDirectories,
) -> Result<BTreeMap<String, ModelDefinition>, ConfigError> {
    let wrong = |key: String, value: String, allowed: &str| ConfigError::in_file(path, key, value, allowed);
    let toml::Value::Table(table) = value else {
        return Err(wrong("models".into(), value.to_string(), "a table of models, [models.NAME]"));
    };
    let mut models = BTreeMap::new();
    for (name, value) in table {
        let key = format!("models.{name}");
        if BUILT_IN.contains(&name.as_str()) {
            return Err(wrong(key, "…".into(), "a name of its own: auto, static and minilm are taken"));
        }
        let malformed = |error: toml::de::Error| ConfigError::of_entry(path.display().to_string(), key.clone(), &error);
        let mut provider: Provider = value.try_into().map_err(malformed)?;
        check(&provider).map_err(|(field, value, allowed)| wrong(format!("{key}.{field}"), value, allowed))?;
        match &mut provider {
            Provider::Directory { path: directory, .. } | Provider::CrossEncoder { path: directory } => {
                if let Some(parent) = path.parent().filter(|_| directory.is_relative()) {
                    *directory = parent.join(&*directory);
                }
            }
            Provider::Hub(model) => model.models = ModelsDirectory::new(directories),
            Provider::Openai(_) | Provider::Rerank(_) => {}
        }
        models.insert(name, ModelDefinition { provider, source: source.clone() });
    }
    Ok(models)
}

fn check(provider: &Provider) -> Result<(), (&'static str, String, &'static str)> {
    if let Some(url) = provider.url().filter(|url| !url.starts_with("http://") && !url.starts_with("https://")) {
        return Err(("url", format!("{url:?}"), "an address that starts with http:// or https://"));
    }
    let range = |field, value: Option<u64>, low: u64, high: u64, allowed| match value {
        Some(value) if !(low..=high).contains(&value) => Err((field, value.to_string(), allowed)),
        _ => Ok(()),
    };
    let (max_retries, requests_per_minute) = match provider {
        Provider::Openai(endpoint) => {
            range("dimension", endpoint.dimension.map(|value| value as u64), 1, 8192, "1 to 8192")?;
            range("batch_size", endpoint.batch_size.map(|value| value as u64), 1, 2048, "1 to 2048")?;
            range("timeout_seconds", endpoint.timeout_seconds, 1, 600, "1 to 600")?;
            (endpoint.max_retries, endpoint.requests_per_minute)
        }
        Provider::Rerank(endpoint) => {
            range("batch_size", endpoint.batch_size.map(|value| value as u64), 1, 1000, "1 to 1000")?;
            (endpoint.max_retries, endpoint.requests_per_minute)
        }
        Provider::Hub(model) => {
            let text = |field| match field {
                "model" => format!("{:?}", model.model),
                _ => format!("{:?}", model.revision.as_deref().unwrap_or_default()),
            };
            return hub::check(&model.model, model.revision.as_deref())
                .map_err(|field| (field, text(field), "OWNER/NAME at a hub, and a commit, branch or tag of it"));
        }
        Provider::Directory { .. } | Provider::CrossEncoder { .. } => return Ok(()),
    };
    range("max_retries", max_retries.map(u64::from), 0, 20, "0 to 20")?;
    range("requests_per_minute", requests_per_minute.map(u64::from), 1, 1_000_000, "1 to 1000000")
}
