//! What a calibration is asked and what it found.

use super::statistics::{CalibrateMethod, Measurement};
use crate::search::ThresholdSource;
use serde::{Serialize, Serializer};
use std::path::PathBuf;

/// What to calibrate and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CalibrateRequest {
    /// How the threshold is taken from the similarities.
    pub method: CalibrateMethod,
    /// Seed of the draw of pairs: the same tree, model and seed give the same thresholds.
    pub seed: u64,
    /// Write thresholds down also where the two kinds of pairs hardly come apart.
    pub force: bool,
    /// Write nothing.
    pub dry_run: bool,
    /// Languages, by any of their names; empty: all that have symbols in the index.
    pub languages: Vec<String>,
    /// The model by its name in the configuration; `None`: the one that a search uses.
    pub model: Option<String>,
}

/// What a calibration found and wrote.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CalibrateReport {
    /// What runs the model: `static`, `mini-lm`, `local` or `remote`.
    pub provider: String,
    /// The model's identifier.
    pub model: String,
    /// How thresholds were taken from the similarities.
    #[serde(serialize_with = "as_text")]
    pub method: CalibrateMethod,
    /// The seed of the draw.
    pub seed: u64,
    /// When, UTC.
    pub calibrated_at: String,
    /// By language, in the order of their names. Empty: there are no symbols.
    pub languages: Vec<LanguageCalibration>,
    /// True if nothing was to be written.
    pub dry_run: bool,
    /// True if it was stopped before its end; nothing is written then.
    pub interrupted: bool,
    /// The configuration file that holds the thresholds now.
    pub config_file: Option<PathBuf>,
    /// What the thresholds change in answers under the configured cut.
    pub effect: String,
    /// What the user should know.
    pub warnings: Vec<String>,
}

fn as_text<S: Serializer>(method: &CalibrateMethod, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(method)
}

/// What a calibration found of one language.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LanguageCalibration {
    /// The language by its name; TSX, JavaScript and JSX are in `typescript`.
    pub language: String,
    /// What came of it.
    pub outcome: Outcome,
    /// What the pairs said; `None` where there were too few symbols or pairs.
    pub measured: Option<Measurement>,
    /// Symbols with a vector of the model.
    pub symbols: u64,
    /// Symbols without one.
    pub without_vector: u64,
    /// Pairs of the same file.
    pub same_file_pairs: u64,
    /// Pairs of different files.
    pub different_file_pairs: u64,
    /// The threshold that held before.
    pub before: f64,
    /// Where that came from. A manual one goes on holding.
    pub before_source: ThresholdSource,
    /// True if the threshold was written down.
    pub written: bool,
}

/// What came of the calibration of a language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// There is a threshold.
    Calibrated,
    /// Same-file pairs are hardly more similar than others: there is a threshold, and it is written down on request alone.
    DoesNotSeparate,
    /// There are fewer symbols than [`LanguageCalibration::LEAST_SYMBOLS`].
    TooFewSymbols,
    /// All symbols are in one file, or no file has two.
    OneSideEmpty,
    /// A similarity is no number.
    NotFinite,
}

impl LanguageCalibration {
    /// Symbols that a language must have to be calibrated.
    pub const LEAST_SYMBOLS: u64 = 20;
}
