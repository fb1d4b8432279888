//! Similarity thresholds by language, measured on the index itself.
//!
//! Two symbols of one file are mostly related, and two of different files mostly are not. The similarities of both kinds of pair under
//! a model show what a similarity is worth there. A calibration looks up the symbols of a language and draws pairs of both kinds
//! (`pairs`), takes a threshold from their similarities and stores it. `search::rule` decides which threshold holds.

mod pairs;

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Serialize, Serializer};
use tamis_embed::ModelInfo;
use tamis_eval::{auroc, percentile};

use crate::Error;
use crate::handle::Index;
use crate::search::{Context, thresholds};

pub use crate::search::{ThresholdSource, Thresholds};

/// Similarity thresholds by language: which one holds, and how it is measured. From [`Index::calibration`].
#[derive(Clone, Copy)]
pub struct Calibrator<'a> {
    pub(super) index: &'a Index,
}

impl Calibrator<'_> {
    /// The thresholds that hold under a model; `None`: those that hold under every model. Thresholds calibrated under another
    /// model do not hold, and the first call after a change of model says so in [`Thresholds::warning`].
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn thresholds(&self, model: Option<&ModelInfo>) -> Result<Thresholds, Error> {
        thresholds(&Context::unobserved(self.index), model)
    }
}

// The request and the report of a calibration.

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
    /// What the thresholds change in answers under the configured cut.
    pub effect: String,
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

// Derives a threshold from the similarities of two kinds of pairs. Pure.

/// The lowest threshold that a calibration gives.
const LOWEST: f64 = 0.30;

/// The highest threshold that a calibration gives.
const HIGHEST: f64 = 0.95;

/// The least separation at which a threshold is meaningful.
const SEPARATES: f64 = 0.6;

/// The method that derives a threshold from the similarities of pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CalibrateMethod {
    /// Half-way between the mean of same-file pairs and the mean of pairs of different files.
    #[default]
    Midpoint,
    /// The 10th percentile of same-file pairs, interpolated between neighbours (definition 7 of Hyndman and Fan, 1996): nine
    /// of ten same-file pairs reach it.
    P10,
}

impl fmt::Display for CalibrateMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CalibrateMethod::Midpoint => "midpoint",
            CalibrateMethod::P10 => "p10",
        })
    }
}

impl FromStr for CalibrateMethod {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        [CalibrateMethod::Midpoint, CalibrateMethod::P10]
            .into_iter()
            .find(|method| method.to_string() == text)
            .ok_or_else(|| "must be midpoint or p10".to_owned())
    }
}

/// The statistics of two kinds of pairs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Measurement {
    /// The threshold, 0.30 to 0.95, to four decimals.
    pub threshold: f64,
    /// Mean similarity of symbols of the same file.
    pub mean_same: f64,
    /// Mean similarity of symbols of different files.
    pub mean_different: f64,
    /// The separation of the two kinds (AUROC): the probability that a random same-file pair is more similar than a
    /// random pair of different files, ties counting half. 0.5 is chance, 1 is perfect.
    pub separation: f64,
}

impl Measurement {
    /// Measures same-file pairs and pairs of different files; `None` if either list is empty or holds a value that is
    /// not finite.
    pub(crate) fn new(same: &[f64], different: &[f64], method: CalibrateMethod) -> Option<Self> {
        if !same.iter().chain(different).all(|similarity| similarity.is_finite()) {
            return None;
        }
        let mean = |values: &[f64]| (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
        let (mean_same, mean_different) = (mean(same)?, mean(different)?);
        let threshold = match method {
            CalibrateMethod::Midpoint => (mean_same + mean_different) / 2.0,
            CalibrateMethod::P10 => {
                let mut ascending = same.to_vec();
                ascending.sort_by(f64::total_cmp);
                percentile(&ascending, 0.1)?
            }
        };
        Some(Measurement {
            threshold: (threshold.clamp(LOWEST, HIGHEST) * 1e4).round() / 1e4,
            mean_same,
            mean_different,
            separation: auroc(same, different)?,
        })
    }

    /// Returns `true` if the threshold is meaningful: the separation is at least 0.6.
    pub fn separates(&self) -> bool {
        self.separation >= SEPARATES
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use CalibrateMethod::{Midpoint, P10};
    use proptest::prelude::*;

    #[test]
    fn thresholds_by_hand() {
        let (same, different) = ([0.9, 0.7, 0.5], [0.5, 0.1]);
        let measured = Measurement::new(&same, &different, Midpoint).expect("both sides");
        assert!((measured.mean_same - 0.7).abs() < 1e-12 && (measured.mean_different - 0.3).abs() < 1e-12);
        assert_eq!(measured.threshold, 0.5);
        // Of six comparisons five are in order and one is tied.
        assert!((measured.separation - 5.5 / 6.0).abs() < 1e-12 && measured.separates());
        // A tenth of the way over the two gaps: a fifth of the first one.
        assert_eq!(Measurement::new(&same, &different, P10).expect("both sides").threshold, 0.54);

        for (similarity, expected) in [(0.1, 0.30), (1.0, 0.95), (-1.0, 0.30)] {
            for method in [Midpoint, P10] {
                let measured = Measurement::new(&[similarity], &[similarity], method).expect("both sides");
                assert_eq!(measured.threshold, expected);
                assert!(!measured.separates(), "equal sides are chance: {}", measured.separation);
            }
        }

        let cases = [(&[][..], &[0.5][..]), (&[0.5], &[]), (&[f64::NAN, 0.5], &[0.5]), (&[0.5], &[0.5, f64::INFINITY])];
        for (same, different) in cases {
            assert_eq!(Measurement::new(same, different, Midpoint), None);
        }

        for method in [Midpoint, P10] {
            assert_eq!(method.to_string().parse(), Ok(method));
        }
        assert!("median".parse::<CalibrateMethod>().is_err_and(|error| error.contains("midpoint or p10")));
    }

    proptest! {
        #[test]
        fn thresholds_are_in_range_and_the_order_of_pairs_is_nothing(
            same in prop::collection::vec(-1.0f64..=1.0, 1..50),
            different in prop::collection::vec(-1.0f64..=1.0, 1..50),
            p10: bool,
        ) {
            let method = if p10 { P10 } else { Midpoint };
            let measured = Measurement::new(&same, &different, method).expect("both sides");
            prop_assert!((LOWEST..=HIGHEST).contains(&measured.threshold));
            prop_assert!((0.0..=1.0).contains(&measured.separation));
            let reversed = |values: &[f64]| values.iter().rev().copied().collect::<Vec<_>>();
            let again = Measurement::new(&reversed(&same), &reversed(&different), method).expect("both sides");
            prop_assert!((again.threshold - measured.threshold).abs() <= 1e-4);
            prop_assert_eq!(again.separation, measured.separation);
            let swapped = Measurement::new(&different, &same, method).expect("both sides");
            prop_assert!((swapped.separation + measured.separation - 1.0).abs() < 1e-9);
        }
    }
}
