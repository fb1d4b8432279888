//! The embedding models and rerankers of an index, loaded when they are first needed.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use tamis_embed::{
    EmbedError, Embedder, EndpointConfig, LocalModel, LocalOptions, LocalReranker, ModelInfo, Remote, RemoteConfig,
    RemoteReranker, RemoteRerankerConfig, Reranker, RerankerInfo, StaticModel,
};
use tamis_store::Background;

use crate::Error;
use crate::config::{Config, Endpoint, HubModel, ModelDefinition, Provider, RerankEndpoint};

/// The models of a configuration.
pub struct Models {
    definitions: BTreeMap<String, ModelDefinition>,
    /// Models that the program supplied.
    given: BTreeMap<String, Arc<dyn Embedder>>,
    /// By name and patience. Only remote models differ by that.
    loaded: Mutex<HashMap<(String, Patience), Arc<ModelSlot>>>,
    outages: Mutex<HashMap<String, Outage>>,
}

/// A remote model that did not answer.
struct Outage {
    since: Instant,
    reason: String,
}

/// The time during which a model that did not answer is not asked again, so that not every search waits for it.
const OUTAGE: Duration = Duration::from_secs(30);

/// The retries of a remote model while somebody waits for a search, whatever is configured for indexing.
pub(crate) const QUERY_RETRIES: u32 = 1;
const QUERY_TIMEOUT: Duration = Duration::from_secs(10);
const QUERY_WAIT: Duration = Duration::from_secs(2);

/// The place of a model. Loading one model does not block requests for another.
#[derive(Default)]
struct ModelSlot {
    model: OnceLock<Arc<dyn Embedder>>,
    loading: Mutex<()>,
}

/// The time that a remote model gets.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Patience {
    /// Somebody waits for a search.
    Hurried,
    /// What is configured.
    Configured,
}

impl Models {
    /// Creates the models of a configuration without loading any.
    pub fn new(config: &Config) -> Self {
        Models::with(config, Vec::new())
    }

    /// Creates the models of a configuration, and adds models that are loaded already.
    pub(crate) fn with(config: &Config, given: Vec<(String, Arc<dyn Embedder>)>) -> Self {
        Models {
            definitions: config.models.clone(),
            given: given.into_iter().collect(),
            loaded: Mutex::default(),
            outages: Mutex::default(),
        }
    }

    /// Returns the model called `name` for queries, loading it if needed. A remote model gets less time than for passages, since
    /// somebody waits.
    ///
    /// # Errors
    /// No model has that name ([`Error::Argument`]), or it cannot be used now ([`Error::Model`]): its files or settings are
    /// unusable, or its endpoint did not answer, in this call or within the last half minute.
    pub fn get(&self, name: &str) -> Result<Arc<dyn Embedder>, Error> {
        self.loaded(name, Patience::Hurried)
    }

    /// Returns the model called `name` for many passages, loading it if needed. It differs from [`Models::get`] only in the patience
    /// with a remote model.
    ///
    /// # Errors
    /// As [`Models::get`].
    pub fn get_for_passages(&self, name: &str) -> Result<Arc<dyn Embedder>, Error> {
        self.loaded(name, Patience::Configured)
    }

    /// Returns the vector of a query, with the model that made it.
    ///
    /// # Errors
    /// As [`Models::get`].
    pub fn embed_query(&self, name: &str, text: &str) -> Result<(Arc<dyn Embedder>, Vec<f32>), Error> {
        let model = self.get(name)?;
        let vector = self.attempt(name, || outside_pool(|| model.embed_query(text)))?;
        Ok((model, vector))
    }

    /// Returns the vectors of passages. `hurried`: somebody waits for the answer, so a remote model gets little time.
    ///
    /// # Errors
    /// As [`Models::get`].
    pub fn embed_passages(&self, name: &str, texts: &[&str], hurried: bool) -> Result<Vec<Vec<f32>>, Error> {
        let model = if hurried { self.get(name)? } else { self.get_for_passages(name)? };
        self.attempt(name, || model.embed_passages(texts))
    }

    /// Runs work that can fail for a while, unless it failed just now.
    fn attempt<T>(&self, name: &str, work: impl FnOnce() -> Result<T, EmbedError>) -> Result<T, Error> {
        let outages = || self.outages.lock().unwrap_or_else(PoisonError::into_inner);
        let unusable = |reason: String| Error::Model { model: name.to_owned(), reason };
        if let Some(outage) = outages().get(name).filter(|outage| outage.since.elapsed() < OUTAGE) {
            return Err(unusable(outage.reason.clone()));
        }
        work().map_err(|error| {
            let reason = error.to_string();
            if matches!(error, EmbedError::Unavailable { .. }) {
                outages().insert(name.to_owned(), Outage { since: Instant::now(), reason: reason.clone() });
            }
            unusable(reason)
        })
    }

    /// Returns `true` if embedding with the model called `name` sends text out of this process.
    pub fn is_remote(&self, name: &str) -> bool {
        self.definitions.get(name).is_some_and(|definition| matches!(definition.provider, Provider::Openai(_)))
    }

    fn loaded(&self, name: &str, patience: Patience) -> Result<Arc<dyn Embedder>, Error> {
        if let Some(model) = self.given.get(name) {
            return Ok(model.clone());
        }
        let patience = if self.is_remote(name) { patience } else { Patience::Configured };
        let place = {
            let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
            loaded.entry((name.to_owned(), patience)).or_default().clone()
        };
        let _loading = place.loading.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(model) = place.model.get() {
            return Ok(model.clone());
        }
        let model = outside_pool(|| self.load(name, patience))?;
        Ok(place.model.get_or_init(|| model).clone())
    }

    /// Returns the identifier under which the vectors of the model called `name` are stored. This loads no built-in model and
    /// asks no endpoint.
    ///
    /// # Errors
    /// As [`Models::get`].
    pub fn id(&self, name: &str) -> Result<String, Error> {
        Ok(self.described(name)?.id)
    }

    /// Returns the description of the model called `name`, without loading a built-in one or asking an endpoint. Its dimension is
    /// 0 if only its endpoint knows it.
    ///
    /// # Errors
    /// As [`Models::get`].
    pub fn described(&self, name: &str) -> Result<ModelInfo, Error> {
        if let Some(model) = self.given.get(name) {
            return Ok(model.model().clone());
        }
        Ok(match (name, self.definitions.get(name).map(|definition| &definition.provider)) {
            ("static", _) => StaticModel::built_in().model().clone(),
            ("minilm", _) => transformer::info()?,
            (_, Some(Provider::Openai(endpoint))) => remote(endpoint).info(),
            (name, _) => self.get(name)?.model().clone(),
        })
    }

    /// Returns the description of the model called `name`. Built-in models are not loaded for it.
    ///
    /// # Errors
    /// As [`Models::get`].
    pub fn info(&self, name: &str) -> Result<ModelInfo, Error> {
        let described = self.described(name)?;
        if described.dimension > 0 { Ok(described) } else { Ok(self.get(name)?.model().clone()) }
    }

    fn load(&self, name: &str, patience: Patience) -> Result<Arc<dyn Embedder>, Error> {
        match name {
            "static" => return Ok(Arc::new(StaticModel::built_in())),
            "minilm" => return transformer::load(self),
            _ => {}
        }
        let definition = self.definitions.get(name).ok_or_else(|| {
            let known: Vec<&str> =
                BUILT_IN.iter().copied().chain(self.definitions.keys().map(String::as_str)).collect();
            Error::argument("model", format!("{name:?}"), format!("one of {}", known.join(", ")))
        })?;
        match &definition.provider {
            Provider::Directory { path, query_prefix, passage_prefix } => {
                let [query_prefix, passage_prefix] = [query_prefix, passage_prefix].map(Clone::clone);
                let options = LocalOptions { name: None, query_prefix, passage_prefix };
                self.attempt(name, || Ok(Arc::new(LocalModel::open_with(path, &options)?) as Arc<dyn Embedder>))
            }
            Provider::Hub(model) if !model.reranker => {
                let unusable = |reason| Error::Model { model: name.to_owned(), reason };
                let path = model.directory().map_err(unusable)?;
                let options = LocalOptions {
                    name: Some(format!("hub:{}", model.model)),
                    query_prefix: model.query_prefix.clone(),
                    passage_prefix: model.passage_prefix.clone(),
                };
                self.attempt(name, || Ok(Arc::new(LocalModel::open_with(&path, &options)?) as Arc<dyn Embedder>))
            }
            Provider::Rerank(_) | Provider::CrossEncoder { .. } | Provider::Hub(_) => {
                Err(Error::argument("model", format!("{name:?}"), "a model that makes vectors; this one is a reranker"))
            }
            Provider::Openai(endpoint) => {
                let mut config = remote(endpoint);
                config.endpoint.api_key = key(name, endpoint.api_key_env.as_deref())?;
                if patience == Patience::Hurried {
                    let EndpointConfig { max_retries, timeout, max_wait, .. } = &mut config.endpoint;
                    *max_retries = (*max_retries).min(QUERY_RETRIES);
                    *timeout = (*timeout).min(QUERY_TIMEOUT);
                    *max_wait = (*max_wait).min(QUERY_WAIT);
                }
                self.attempt(name, || Ok(Arc::new(Remote::connect(config)?) as Arc<dyn Embedder>))
            }
        }
    }
}

/// The built-in models, the quick one first.
pub(crate) const BUILT_IN: &[&str] = if cfg!(feature = "minilm") { &["static", "minilm"] } else { &["static"] };

/// Returns the descriptions of the built-in models.
pub(crate) fn built_in() -> Vec<ModelInfo> {
    std::iter::once(StaticModel::built_in().model().clone()).chain(transformer::info()).collect()
}

/// The built-in transformer.
#[cfg(feature = "minilm")]
mod transformer {
    use super::{Arc, Embedder, Error, ModelInfo, Models};
    use tamis_embed::MiniLm;

    pub fn info() -> Result<ModelInfo, Error> {
        Ok(MiniLm::info())
    }

    pub fn load(models: &Models) -> Result<Arc<dyn Embedder>, Error> {
        models.attempt("minilm", || Ok(Arc::new(MiniLm::load()?) as Arc<dyn Embedder>))
    }
}

/// The replacement for the built-in transformer in a build without it.
#[cfg(not(feature = "minilm"))]
mod transformer {
    use super::{Arc, Embedder, Error, ModelInfo, Models};

    pub fn info() -> Result<ModelInfo, Error> {
        Err(missing())
    }

    pub fn load(_: &Models) -> Result<Arc<dyn Embedder>, Error> {
        Err(missing())
    }

    fn missing() -> Error {
        Error::Model { model: "minilm".to_owned(), reason: "this build lacks the feature minilm".to_owned() }
    }
}

/// Runs work with a thread pool of its own, such as the transformer, outside the shared pool. A shared thread would take up other
/// searches while it waits, each nested in the one before: with a lock held that deadlocks, and without one it overflows the
/// stack.
pub(crate) fn outside_pool<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    if rayon::current_thread_index().is_none() {
        return work();
    }
    let joined = std::thread::scope(|scope| scope.spawn(work).join());
    joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Returns the key of an endpoint that requires one, which this variable holds.
fn key(model: &str, variable: Option<&str>) -> Result<Option<String>, Error> {
    let unset = |reason| Error::Model { model: model.to_owned(), reason };
    variable.map(secret).transpose().map_err(unset)
}

/// Returns the key that an environment variable holds, or the reason why there is none.
pub(crate) fn secret(variable: &str) -> Result<String, String> {
    let unset = |_| format!("its key is not there: set the environment variable {variable}, which api_key_env names");
    std::env::var(variable).map_err(unset)
}

/// Returns the whole address of one of the services at a base address.
pub(crate) fn address(base: &str, service: &str) -> String {
    let base = base.trim_end_matches('/');
    if base.ends_with(service) { base.to_owned() } else { format!("{base}{service}") }
}

/// Sets what a configuration says of an endpoint's time, retries and rate. The rest keeps its default.
pub(crate) fn set_patience(config: &mut EndpointConfig, seconds: Option<u64>, retries: Option<u32>, rate: Option<u32>) {
    config.timeout = seconds.map_or(config.timeout, Duration::from_secs);
    config.max_retries = retries.unwrap_or(config.max_retries);
    config.requests_per_minute = rate;
}

/// Returns all of an endpoint's settings except its key.
fn remote(endpoint: &Endpoint) -> RemoteConfig {
    let mut config = RemoteConfig::new(&address(&endpoint.url, "/embeddings"), &endpoint.model);
    config.dimension = endpoint.dimension;
    config.batch_size = endpoint.batch_size.unwrap_or(config.batch_size);
    set_patience(&mut config.endpoint, endpoint.timeout_seconds, endpoint.max_retries, endpoint.requests_per_minute);
    config.passage_prefix = endpoint.passage_prefix.clone().unwrap_or_default();
    config.query_prefix = endpoint.query_prefix.clone().unwrap_or_default();
    config
}

/// The share of the reference below which an issue and a problem are on different subjects. On an archive of issues, problems
/// in words of their own had a similarity of 0.50 to 0.74 to the issue that solved them with `minilm`, and of 0.37 to 0.72
/// with `static`. Problems on other subjects had 0.19 to 0.36 to the nearest issue.
const LEAST_SHARE: f64 = 0.72;

/// The standard deviations above the mean of the background that replace the reference of a model that was not measured.
const REFERENCE_DEVIATIONS: f64 = 4.5;

/// Returns the similarity below which an issue and a problem are on different subjects under a model; 0 if nothing is known
/// of the model.
pub(crate) fn least_similarity(model: &ModelInfo, background: Option<&Background>) -> f64 {
    (LEAST_SHARE * typical_similarity(model, background).unwrap_or(0.0)).clamp(0.0, 1.0)
}

/// Returns the similarity of a passage on a query's subject under a model: the [`reference`], or else an estimate from the query's
/// background.
pub(crate) fn typical_similarity(model: &ModelInfo, background: Option<&Background>) -> Option<f64> {
    let spread =
        |background: &Background| f64::from(background.mean) + REFERENCE_DEVIATIONS * f64::from(background.deviation);
    reference(model).or(background.map(spread)).filter(|similarity| similarity.is_finite())
}

/// Returns the typical similarity of a passage on a query's subject under a model, if it was measured: on seven public test
/// collections, 19 of 20 answered questions reach 0.41 to 0.60 with `minilm` and 0.31 to 0.59 with `static`, and 19 of 20
/// questions from another collection stay below 0.56.
pub(crate) fn reference(model: &ModelInfo) -> Option<f64> {
    matches!(model.provider, tamis_embed::Provider::Static | tamis_embed::Provider::MiniLm).then_some(0.5)
}

// The reranker that a configuration names: a cross-encoder at an endpoint or in a directory.

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
                let config = remote_reranker(endpoint, Duration::from_millis(rerank.timeout_ms as u64));
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
fn remote_reranker(endpoint: &RerankEndpoint, limit: Duration) -> RemoteRerankerConfig {
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
        let config = self::remote_reranker(&endpoint, Duration::from_secs(2));
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
