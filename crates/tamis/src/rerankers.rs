//! The reranker that a configuration names: a cross-encoder at an endpoint or in a directory.

use crate::config::{Config, HubModel, Provider, RerankEndpoint};
use crate::models::{QUERY_RETRIES, address, secret, set_patience};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tamis_embed::{EmbedError, LocalReranker, RemoteReranker, RemoteRerankerConfig, Reranker, RerankerInfo};

/// The largest log odds after calibration. Nothing that a model says is surer.
const MOST: f64 = 1000.0;

/// The reranker of a configuration. It is not loaded yet.
pub(crate) struct ConfiguredReranker {
    name: String,
    origin: Origin,
    calibration: Option<Calibration>,
}

/// The place where the model runs.
#[derive(Clone)]
enum Origin {
    /// Without the key, which is read when the model is first needed.
    Endpoint {
        config: Box<RemoteRerankerConfig>,
        api_key_env: Option<String>,
    },
    Directory(PathBuf),
    Hub(HubModel),
}

/// The line that turns a model's log odds into ours.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Calibration {
    slope: f64,
    offset: f64,
}

impl ConfiguredReranker {
    /// Returns the reranker that `rerank.model` names, if it names one. Nothing is read or sent.
    pub fn from_config(config: &Config) -> Option<Self> {
        let rerank = &config.rerank;
        let name = rerank.model.as_deref()?;
        let (id, origin) = match &config.models.get(name)?.provider {
            Provider::Rerank(endpoint) => {
                let config = remote(endpoint, Duration::from_millis(rerank.timeout_ms as u64));
                let api_key_env = endpoint.api_key_env.clone();
                (config.id(), Origin::Endpoint { config: Box::new(config), api_key_env })
            }
            Provider::CrossEncoder { path } => (format!("cross-encoder:{name}"), Origin::Directory(path.clone())),
            Provider::Hub(model) if model.reranker => (format!("hub:{}", model.model), Origin::Hub(model.clone())),
            Provider::Openai(_) | Provider::Directory { .. } | Provider::Hub(_) => return None,
        };
        let calibration = (rerank.slope.is_some() || rerank.offset.is_some())
            .then(|| Calibration { slope: rerank.slope.unwrap_or(1.0), offset: rerank.offset.unwrap_or(0.0) });
        let name = match calibration {
            Some(Calibration { slope, offset }) => format!("{id}#{slope},{offset}"),
            None => id,
        };
        Some(ConfiguredReranker { name, origin, calibration })
    }

    /// Returns its name for explanations and records. A calibration is part of it, because what was learned under other
    /// probabilities does not hold.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns `true` if its log odds were calibrated on this collection.
    pub fn is_calibrated(&self) -> bool {
        self.calibration.is_some()
    }

    /// Loads it.
    ///
    /// # Errors
    /// The key is not there, or the directory holds no cross-encoder. An endpoint is not asked yet.
    pub fn load(&self) -> Result<Arc<dyn Reranker>, EmbedError> {
        let model: Arc<dyn Reranker> = match &self.origin {
            Origin::Endpoint { config, api_key_env } => {
                let mut config = RemoteRerankerConfig::clone(config);
                let unset = |reason| EmbedError::Model { model: self.name.clone(), reason };
                config.endpoint.api_key = api_key_env.as_deref().map(secret).transpose().map_err(unset)?;
                Arc::new(RemoteReranker::new(config)?)
            }
            Origin::Directory(path) => Arc::new(LocalReranker::open(path)?),
            Origin::Hub(model) => {
                let unusable = |reason| EmbedError::Model { model: self.name.clone(), reason };
                Arc::new(LocalReranker::open(&model.directory().map_err(unusable)?)?)
            }
        };
        Ok(match self.calibration {
            Some(calibration) => Arc::new(Calibrated { model, calibration }),
            None => model,
        })
    }
}

/// Returns all of an endpoint's settings except its key. A search waits for `limit` at most.
fn remote(endpoint: &RerankEndpoint, limit: Duration) -> RemoteRerankerConfig {
    let mut config = RemoteRerankerConfig::new(&address(&endpoint.url, "/rerank"), &endpoint.model);
    let retries = endpoint.max_retries.unwrap_or(QUERY_RETRIES);
    set_patience(&mut config.endpoint, None, Some(retries), endpoint.requests_per_minute);
    config.batch_size = endpoint.batch_size.unwrap_or(config.batch_size);
    config.scores = endpoint.scores.unwrap_or_default();
    config.time_limit = Some(limit);
    config
}

impl Calibration {
    fn apply(self, log_odds: f32) -> f32 {
        (self.slope * f64::from(log_odds) + self.offset).clamp(-MOST, MOST) as f32
    }
}

/// A model whose log odds are calibrated.
#[derive(Debug)]
struct Calibrated {
    model: Arc<dyn Reranker>,
    calibration: Calibration,
}

impl Reranker for Calibrated {
    fn info(&self) -> &RerankerInfo {
        self.model.info()
    }

    fn score(&self, query: &str, passages: &[&str]) -> Result<Vec<f32>, EmbedError> {
        let odds = self.model.score(query, passages)?;
        Ok(odds.into_iter().map(|odds| self.calibration.apply(odds)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Origins;

    const MODELS: &str = "[models.reader]\nprovider = \"rerank\"\nurl = \"http://me:pass@localhost:1/v1/\"\nmodel = \"m\"\n\
        api_key_env = \"TAMIS_TEST_KEY_THAT_NOBODY_SETS\"\n\
        [models.house]\nprovider = \"cross-encoder\"\npath = \"house\"\n";

    fn configured(settings: &[(&str, &str)]) -> Option<ConfiguredReranker> {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let file = directory.path().join("config.toml");
        std::fs::write(&file, MODELS).expect("written");
        let flags = settings.iter().map(|&(key, value)| (key.to_owned(), value.to_owned(), "test".to_owned()));
        let origins = Origins { user: Some(file), flags: flags.collect(), ..Origins::default() };
        ConfiguredReranker::from_config(&Config::load(&origins, None).expect("valid"))
    }

    fn error(model: &ConfiguredReranker) -> String {
        model.load().expect_err("not there").to_string()
    }

    #[test]
    fn a_reranker_has_a_name_a_patience_and_calibrated_odds() {
        assert!(configured(&[]).is_none());
        let remote = configured(&[("rerank.model", "reader")]).expect("named");
        assert_eq!(remote.name(), "rerank:m@localhost:1");
        let local = configured(&[("rerank.model", "house"), ("rerank.slope", "0.5"), ("rerank.offset", "-1")]);
        let local = local.expect("named");
        assert_eq!(local.name(), "cross-encoder:house#0.5,-1");
        assert!(local.is_calibrated() && !remote.is_calibrated());
        // Log odds may need no change and be calibrated.
        let measured = configured(&[("rerank.model", "house"), ("rerank.slope", "1")]).expect("named");
        assert_eq!((measured.name(), measured.is_calibrated()), ("cross-encoder:house#1,0", true));

        let endpoint = RerankEndpoint {
            url: "http://localhost:1/v1/rerank".to_owned(),
            model: "m".to_owned(),
            api_key_env: None,
            batch_size: None,
            max_retries: None,
            requests_per_minute: Some(60),
            scores: None,
        };
        let config = self::remote(&endpoint, Duration::from_secs(2));
        assert_eq!((config.endpoint.url.as_str(), config.batch_size), ("http://localhost:1/v1/rerank", 32));
        assert_eq!((config.endpoint.max_retries, config.endpoint.requests_per_minute), (QUERY_RETRIES, Some(60)));
        assert_eq!(config.time_limit, Some(Duration::from_secs(2)));

        let calibration = Calibration { slope: 0.5, offset: -1.0 };
        assert_eq!([4.0, -2.0].map(|odds| calibration.apply(odds)), [1.0, -2.0]);
        let steep = Calibration { slope: 100.0, offset: 100.0 };
        assert_eq!([f32::MAX, f32::MIN].map(|odds| steep.apply(odds)), [1000.0, -1000.0]);

        let remote = configured(&[("rerank.model", "reader")]).expect("named");
        let message = error(&remote);
        assert!(message.contains("TAMIS_TEST_KEY_THAT_NOBODY_SETS") && !message.contains("pass"), "{message}");
        let local = configured(&[("rerank.model", "house")]).expect("named");
        assert!(error(&local).contains("house: it has no tokenizer.json"), "{}", error(&local));
    }
}
