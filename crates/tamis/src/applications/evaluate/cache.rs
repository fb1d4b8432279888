//! The indexes of test collections, kept between evaluations. An index is keyed by its content: the corpus, the passage
//! settings and the models. An interrupted run resumes.

use super::{EvaluationError, TestCollection};
use crate::config::{Config, EmbeddingCacheConfig};
use crate::handle::Index;
use crate::index::{RunOptions, SPLITTER};
use crate::location::Location;
use crate::models::Models;
use crate::progress::{Observer, Stage};
use std::path::Path;
use tamis_text::Options;

/// Increased when the content of an index changes.
const LAYOUT: &str = "1";

/// The namespace of every corpus.
const NAMESPACE: &str = "corpus";

/// The property that records the progress of an index, and its values in order.
const STATE: &str = "evaluation";
const WRITTEN: &str = "written";
const COMPLETE: &str = "complete";

/// The number of documents stored at once.
const BATCH: usize = 512;

/// Opens the index of a test collection, creating or completing it first if needed.
pub(super) fn index(
    test: &TestCollection,
    config: &Config,
    cache: &Path,
    observer: &dyn Observer,
) -> Result<Index, EvaluationError> {
    // Texts of test collections are not in any other index.
    let mut config = config.clone();
    config.index.embedding_cache = EmbeddingCacheConfig::default();
    // Searches by words alone compare no vectors.
    if !config.search.mode.semantic() {
        config.index.models.clear();
    }
    let directory = cache.join(key(test, &config)?);
    let location = Location { namespace: NAMESPACE.into(), ..Location::at(&directory, Some(&directory)) };
    let index = Index::at(location, config)?;
    let state = index.store.property(STATE).map_err(crate::Error::from)?;
    if state.as_deref() == Some(COMPLETE) {
        return Ok(index);
    }
    if state.as_deref() != Some(WRITTEN) {
        write(test, &index, observer)?;
        index.store.set_property(STATE, WRITTEN).map_err(crate::Error::from)?;
    }
    let report = index.complete(RunOptions::WHOLE, observer)?;
    if report.interrupted || observer.cancelled() {
        return Err(EvaluationError::Interrupted);
    }
    if let Some((model, reason)) = report.unusable.into_iter().next() {
        return Err(crate::Error::Model { model, reason }.into());
    }
    index.store.set_property(STATE, COMPLETE).map_err(crate::Error::from)?;
    Ok(index)
}

fn write(test: &TestCollection, index: &Index, observer: &dyn Observer) -> Result<(), EvaluationError> {
    observer.stage(Stage::Read, test.documents.len() as u64);
    for batch in test.documents.chunks(BATCH) {
        if observer.cancelled() {
            return Err(EvaluationError::Interrupted);
        }
        index.put_documents(batch)?;
        observer.advance(batch.len() as u64);
    }
    Ok(())
}

/// The cache key of the content.
fn key(test: &TestCollection, config: &Config) -> Result<String, EvaluationError> {
    let models = Models::new(config);
    let mut hash = blake3::Hasher::new();
    let tokens = Options::default().max_tokens.to_string();
    let ids = config.index.models.iter().map(|name| models.id(name)).collect::<Result<Vec<_>, _>>()?;
    let parts = [LAYOUT, SPLITTER, test.digest.to_hex().as_str(), &tokens].map(str::to_owned);
    for part in parts.into_iter().chain(ids) {
        hash.update(part.as_bytes()).update(b"\0");
    }
    Ok(hash.finalize().to_hex()[..32].to_owned())
}
