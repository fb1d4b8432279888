//! The request and the report of a calibration.

use super::statistics::{CalibrateMethod, Measurement};
use crate::search::ThresholdSource;
use serde::{Serialize, Serializer};
use std::path::PathBuf;

/// The languages, model and method of a calibration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CalibrateRequest {
    /// The method that derives the threshold from the similarities.
    pub method: CalibrateMethod,
    /// Seed for drawing pairs: the same tree, model and seed give the same thresholds.
    pub seed: u64,
    /// Store thresholds even if the two kinds of pairs are hardly distinguishable.
    pub force: bool,
    /// Measure without storing anything.
    pub dry_run: bool,
    /// Languages, by any of their names. Empty: all languages with symbols in the index.
    pub languages: Vec<String>,
    /// The model by its name in the configuration; `None`: the one that a search uses.
    pub model: Option<String>,
}

/// The thresholds that a calibration found and stored.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CalibrateReport {
    /// The model's provider: `static`, `mini-lm`, `local` or `remote`.
    pub provider: String,
    /// The model's identifier.
    pub model: String,
    /// The method that derived the thresholds.
    #[serde(serialize_with = "as_text")]
    pub method: CalibrateMethod,
    /// The seed for drawing pairs.
    pub seed: u64,
    /// Time of the calibration, UTC.
    pub calibrated_at: String,
    /// One entry a language, sorted by name. Empty if the index has no symbols.
    pub languages: Vec<LanguageCalibration>,
    /// True if nothing was to be stored.
    pub dry_run: bool,
    /// True if the calibration was interrupted; nothing is stored then.
    pub interrupted: bool,
    /// The configuration file that now holds the thresholds.
    pub config_file: Option<PathBuf>,
    /// Warnings for the user.
    pub warnings: Vec<String>,
}

fn as_text<S: Serializer>(method: &CalibrateMethod, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(method)
}

/// The calibration of one language.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LanguageCalibration {
    /// The language's name. `typescript` includes TSX, JavaScript and JSX.
    pub language: String,
    /// The outcome for this language.
    pub outcome: Outcome,
    /// The measured similarities; `None` if there were too few symbols or pairs.
    pub measured: Option<Measurement>,
    /// The number of symbols with a vector of the model.
    pub symbols: u64,
    /// The number of symbols without a vector of the model.
    pub without_vector: u64,
    /// The number of same-file pairs.
    pub same_file_pairs: u64,
    /// The number of pairs of different files.
    pub different_file_pairs: u64,
    /// The threshold in force before.
    pub before: f64,
    /// The source of that threshold. A manual threshold stays in force.
    pub before_source: ThresholdSource,
    /// True if the new threshold was stored.
    pub written: bool,
}

/// The outcome of calibrating a language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// A threshold was found.
    Calibrated,
    /// A threshold was found, but same-file pairs are hardly more similar than others. It is stored only with
    /// [`CalibrateRequest::force`].
    DoesNotSeparate,
    /// The language has fewer symbols than [`LanguageCalibration::LEAST_SYMBOLS`].
    TooFewSymbols,
    /// All symbols are in one file, or every file has only one.
    OneSideEmpty,
    /// A similarity is not a number.
    NotFinite,
}

impl LanguageCalibration {
    /// The fewest symbols needed to calibrate a language.
    pub const LEAST_SYMBOLS: u64 = 20;
}
