//! How far a process is that embeds in the background, for [`Index::status`].

use crate::Error;
use crate::handle::{Index, now_ms};
use crate::progress::Observer;
use serde::{Deserialize, Serialize};

/// The property that holds the beginning of the last embedding in the background.
const PROPERTY: &str = "embedding";

/// The state of embedding in the background.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[non_exhaustive]
pub struct EmbeddingProgress {
    /// The model.
    pub model: String,
    /// The number of passages that it has embedded.
    pub embedded: u64,
    /// The number of all passages.
    pub passages: u64,
    /// About how many seconds the rest takes, once that can be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds_left: Option<u64>,
}

/// The beginning of an embedding.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Beginning {
    model: String,
    at_ms: i64,
    missing: u64,
}

/// Notes that a model begins to embed in the background.
pub(super) fn begin(index: &Index, model: &str, missing: u64, observer: &dyn Observer) -> Result<(), Error> {
    let beginning = Beginning { model: model.to_owned(), at_ms: now_ms(), missing };
    let text = serde_json::to_string(&beginning).unwrap_or_default();
    let _writing = index.wait_to_write(observer)?;
    Ok(index.store.set_property(PROPERTY, &text)?)
}

/// Returns the seconds that the rest takes at the speed so far.
fn seconds_left(beginning: &Beginning, missing: u64, now_ms: i64) -> Option<u64> {
    let done = beginning.missing.checked_sub(missing).filter(|done| *done > 0)?;
    let took = u64::try_from(now_ms - beginning.at_ms).ok()?;
    Some((took * missing).div_ceil(done * 1000))
}

impl Index {
    /// Returns how far the process is that embeds in the background; `None` if none does.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn embedding_progress(&self) -> Result<Option<EmbeddingProgress>, Error> {
        if !self.store.is_embedding() {
            return Ok(None);
        }
        let beginning = self.store.property(PROPERTY)?.and_then(|text| serde_json::from_str(&text).ok());
        let Some(beginning) = beginning.filter(|it: &Beginning| self.config.index.models.contains(&it.model)) else {
            return Ok(None);
        };
        let coverage = self.store.coverage(&self.models.id(&beginning.model)?, &self.embedded_here())?;
        Ok(Some(EmbeddingProgress {
            embedded: coverage.embedded,
            passages: coverage.passages,
            seconds_left: seconds_left(&beginning, coverage.passages.saturating_sub(coverage.embedded), now_ms()),
            model: beginning.model,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_follows_from_the_speed_so_far() {
        let beginning = Beginning { model: "minilm".into(), at_ms: 1000, missing: 300 };
        assert_eq!(seconds_left(&beginning, 200, 11_000), Some(20));
        assert_eq!(seconds_left(&beginning, 299, 1500), Some(150));
        assert_eq!(seconds_left(&beginning, 0, 11_000), Some(0));
        // Nothing is done yet, more passages came, the clock was set back.
        for (missing, now) in [(300, 11_000), (400, 11_000), (200, 0)] {
            assert_eq!(seconds_left(&beginning, missing, now), None, "{missing} at {now}");
        }
    }
}
