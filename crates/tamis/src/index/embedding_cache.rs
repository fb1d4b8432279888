//! The cache of vectors that a user's indexes share. A run asks it before the model and adds the model's vectors.
//!
//! The cache never fails a run. An unusable one is skipped, with the reason in the report. A damaged one is moved aside, and the
//! next run starts a new one.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;
use tamis_embed::{ModelInfo, Provider};
use tamis_store::{EmbeddingCache, ModelKey, StoreError, TextHash};

use crate::Error;
use crate::config::EmbeddingCacheConfig;
use crate::handle::Index;

/// The property that holds the number of vectors that the last run took from the cache.
pub(super) const PROPERTY: &str = "embedding_cache";

/// The state of the user's cache of vectors.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
#[non_exhaustive]
pub struct EmbeddingCacheStatus {
    /// Its file.
    pub path: PathBuf,
    /// The number of vectors of all models and all indexes.
    pub vectors: u64,
    /// Their size in bytes.
    pub bytes: u64,
    /// Their maximum size in bytes.
    pub most_bytes: u64,
    /// The number of texts that the last embedding run of this index took from the cache, by model.
    pub last_run: BTreeMap<String, u64>,
}

/// The cache for one model in one run, opened when first needed. Without a usable cache it is empty and stores nothing.
pub(crate) struct RunCache {
    state: State,
    day: i64,
    /// The reason why it is not used, or no longer.
    pub remark: Option<String>,
}

enum State {
    Closed(EmbeddingCacheConfig),
    Open(EmbeddingCache),
    Unused,
}

impl RunCache {
    /// Creates the cache for a model if it pays. The static model makes a vector about as fast as the cache finds one.
    pub fn new(config: &EmbeddingCacheConfig, model: &ModelInfo) -> RunCache {
        let pays = model.provider != Provider::Static;
        let state = if pays { State::Closed(config.clone()) } else { State::Unused };
        RunCache { state, day: today(), remark: None }
    }

    /// Returns `true` if the cache was found and opened.
    pub fn is_open(&self) -> bool {
        matches!(self.state, State::Open(_))
    }

    /// Opens the cache if it is not open yet. Returns `true` if there is one.
    pub fn open(&mut self) -> bool {
        if let State::Closed(config) = &self.state {
            self.state = match open(config) {
                Ok(Some(cache)) => State::Open(cache),
                Ok(None) => State::Unused,
                Err(error) => {
                    self.remark = Some(error.to_string());
                    State::Unused
                }
            };
        }
        self.is_open()
    }

    /// Returns the vectors of those texts that the cache has.
    pub fn get(&mut self, model: &ModelKey, hashes: &[TextHash]) -> Vec<(TextHash, Vec<f32>)> {
        let found = self.ask(|cache, day| cache.get(model, hashes, day)).unwrap_or_default();
        hashes.iter().zip(found).filter_map(|(hash, vector)| vector.map(|vector| (*hash, vector))).collect()
    }

    /// Stores vectors that a model made.
    pub fn put(&mut self, model: &ModelKey, vectors: &[(TextHash, Vec<f32>)]) {
        self.ask(|cache, day| cache.put(model, vectors, day));
    }

    /// Removes old vectors if the cache was used and is too large.
    pub fn prune(&mut self) {
        if self.is_open() {
            self.ask(|cache, day| cache.prune(day));
        }
    }

    fn ask<T>(&mut self, work: impl FnOnce(&EmbeddingCache, i64) -> Result<T, StoreError>) -> Option<T> {
        self.open();
        let State::Open(cache) = &self.state else { return None };
        match work(cache, self.day) {
            Ok(answer) => Some(answer),
            Err(error) => {
                self.give_up(error);
                None
            }
        }
    }

    fn give_up(&mut self, error: StoreError) {
        let damaged = matches!(error, StoreError::Corrupt { .. });
        let aside = match std::mem::replace(&mut self.state, State::Unused) {
            State::Open(cache) if damaged => cache.begin_anew().ok().flatten(),
            _ => None,
        };
        self.remark = Some(match aside {
            Some(aside) => format!("{error}; it is now {}, and the next run begins a new one", aside.display()),
            None => error.to_string(),
        });
    }
}

/// Opens the cache if it is turned on.
pub(super) fn open(config: &EmbeddingCacheConfig) -> Result<Option<EmbeddingCache>, StoreError> {
    let Some(directory) = config.directory.as_ref().filter(|_| config.most_bytes > 0) else { return Ok(None) };
    let cache = EmbeddingCache::open(directory, config.most_bytes)?;
    Ok(Some(if config.makes_room { cache } else { cache.without_making_room() }))
}

/// Returns the days since 1970.
fn today() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| (since.as_secs() / 86_400) as i64)
}

/// Records the number of vectors that a run took from the cache.
pub(crate) fn remember(index: &Index, cached: &BTreeMap<String, u64>) -> Result<(), Error> {
    let text = serde_json::to_string(cached).unwrap_or_default();
    Ok(index.store.set_property(PROPERTY, &text)?)
}

/// The result of a check of the user's cache of vectors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmbeddingCacheCheck {
    /// The damage, if there is any.
    pub damage: Option<String>,
    /// Its file.
    pub path: PathBuf,
    /// The number of vectors in it; 0 if it is damaged.
    pub vectors: u64,
}

/// Looks for damage in the user's cache of vectors; `None` without a cache. Reads all of it and needs no index. `mend` moves a
/// damaged one aside, and the next run starts a new one.
///
/// # Errors
/// The cache cannot be read for a reason other than damage, or cannot be moved.
pub fn check_embedding_cache(config: &EmbeddingCacheConfig, mend: bool) -> Result<Option<EmbeddingCacheCheck>, Error> {
    if !config.directory.as_ref().is_some_and(|directory| directory.is_dir()) {
        return Ok(None);
    }
    let Some(cache) = open(config)? else { return Ok(None) };
    let path = cache.path().to_owned();
    let damage = cache.damage()?;
    let vectors = if damage.is_none() { cache.summary()?.vectors } else { 0 };
    if mend && damage.is_some() {
        cache.begin_anew()?;
    }
    Ok(Some(EmbeddingCacheCheck { damage, path, vectors }))
}
