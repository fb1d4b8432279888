//! Embedding in the background: one process an index makes the vectors that the better models lack.

use super::RunReport;
use super::embed::{ALONE, BESIDE_CALLS, Pace, embed_missing};
use crate::Error;
use crate::handle::Index;
use crate::progress::Observer;
use std::time::Duration;
use tamis_store::{StoreError, Writing};

/// The property that says that a process of its own has embedded here.
const PROPERTY: &str = "background";

/// The wait for those that only look whether somebody embeds.
const GLANCE: Duration = Duration::from_millis(500);

/// Pause between two attempts to begin while another process embeds.
const RETRY: Duration = Duration::from_secs(1);

impl Index {
    /// Embeds passages without a vector, for each model of the configuration, in small steps. The observer follows each step and
    /// can wait in it; others can write in between. While another process embeds in the background, this waits for it.
    ///
    /// # Errors
    /// Another process keeps writing, the directory is not writable, or a model fails. Everything committed before stays.
    pub fn embed_missing(&self, observer: &dyn Observer) -> Result<RunReport, Error> {
        let _embedding = loop {
            match self.right_to_embed(Duration::ZERO) {
                Err(Error::Store(StoreError::Busy { .. })) if !observer.cancelled() => std::thread::sleep(RETRY),
                taken => break taken?,
            }
        };
        self.embed(self.config.index.models.iter(), &BESIDE_CALLS, observer)
    }

    /// [`Index::embed_missing`] in a process of its own, without remote models. Returns `None` at once if another process embeds
    /// in the background.
    ///
    /// # Errors
    /// As [`Index::embed_missing`].
    pub fn embed_alone(&self, observer: &dyn Observer) -> Result<Option<RunReport>, Error> {
        let _embedding = match self.right_to_embed(GLANCE) {
            Err(Error::Store(StoreError::Busy { .. })) => return Ok(None),
            taken => taken?,
        };
        if !self.has_embedded_alone()? {
            let _writing = self.wait_to_write(observer)?;
            self.store.set_property(PROPERTY, "embedded")?;
        }
        let models = self.config.index.models.iter().filter(|name| !self.models.is_remote(name));
        self.embed(models, &ALONE, observer).map(Some)
    }

    /// Returns `true` if [`Index::embed_alone`] has something to do after a run: a model of this machine lacks vectors, nobody makes
    /// them, and the configuration allows it. Workers do it for a database.
    pub fn wants_background(&self, report: &RunReport) -> bool {
        let is_lacking = |name: &String| !self.models.is_remote(name) && !report.unusable.contains_key(name);
        self.config.index.background
            && self.config.store.url.is_none()
            && self.is_writable()
            && report.pending.keys().any(is_lacking)
            && !self.store.is_embedding()
    }

    /// Returns `true` if [`Index::embed_alone`] was ever called for this index.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn has_embedded_alone(&self) -> Result<bool, Error> {
        Ok(self.store.property(PROPERTY)?.is_some())
    }

    fn right_to_embed(&self, patience: Duration) -> Result<Writing<'_>, Error> {
        Ok(self.store.wait_to_embed(patience)?)
    }

    fn embed<'a>(
        &self,
        models: impl Iterator<Item = &'a String>,
        pace: &Pace,
        observer: &dyn Observer,
    ) -> Result<RunReport, Error> {
        let mut report = RunReport::default();
        embed_missing(self, models, pace, observer, &mut report)?;
        Ok(report)
    }
}
