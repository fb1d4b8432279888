//! Similarity thresholds by language, measured on the index itself.
//!
//! Two symbols of one file are mostly related, and two of different files mostly are not. The similarities of both kinds of
//! pair under a model show what a similarity is worth there. A calibration looks up the symbols of a language (`symbols`),
//! draws pairs of both kinds (`pairs`), takes a threshold from their similarities (`statistics`) and stores it
//! (`measure_languages`). `search::rule` decides which threshold holds.

mod measure_languages;
mod pairs;
mod report;
mod statistics;
mod symbols;

use crate::search::{Context, thresholds};
pub use crate::search::{ThresholdSource, Thresholds};
pub use report::{CalibrateReport, CalibrateRequest, LanguageCalibration, Outcome};
pub use statistics::{CalibrateMethod, Measurement};

use crate::Error;
use crate::handle::Index;
use tamis_embed::ModelInfo;

/// Similarity thresholds by language: which one holds, and how it is measured. From [`Index::calibration`].
#[derive(Clone, Copy)]
pub struct Calibrator<'a> {
    index: &'a Index,
}

impl Index {
    /// Calibrates similarity thresholds and reports which ones hold.
    pub fn calibration(&self) -> Calibrator<'_> {
        Calibrator { index: self }
    }
}

impl Calibrator<'_> {
    /// The thresholds that hold under a model; `None`: those that hold under every model. Thresholds calibrated under another
    /// model do not hold, and the first call after a change of model says so in [`Thresholds::warning`].
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn thresholds(&self, model: Option<&ModelInfo>) -> Result<Thresholds, Error> {
        thresholds(&Context::of(self.index), model)
    }
}
