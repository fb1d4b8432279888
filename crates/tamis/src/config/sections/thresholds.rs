//! `[search.thresholds]`: similarity thresholds by language, a key for each language under any of its names.

use std::collections::BTreeMap;

use tamis_text::Language;

use crate::config::calibrated::{CalibratedConfig, nearest_language, threshold_language};
use crate::config::declare::{Section, Setting, Settings};
use crate::config::error::{ConfigError, Source};
use crate::config::value::{Allowed, Key, Value};

/// The part of a key's name before the language.
const TABLE: &str = "search.thresholds.";

/// The part of a variable's name before the language.
const VARIABLE: &str = "TAMIS_SEARCH_THRESHOLDS_";

/// The key for every language without a threshold, which is a parameter of the cut `language`.
pub(crate) const DEFAULT: &str = "search.thresholds.default";

/// The thresholds of languages that nobody has set or measured.
const BUILT_IN: [(&str, f64); 3] = [("rust", 0.70), ("typescript", 0.65), ("python", 0.60)];

/// The default of the cut's parameter, for languages without a key of their own.
const BUILT_IN_DEFAULT: f64 = 0.65;

/// The minimum similarity of a passage by its language, as far as it is configured.
#[derive(Clone, Debug, PartialEq)]
pub struct ThresholdConfig {
    /// Set by hand, by the name of the language, even where the value equals the built-in one.
    pub manual: BTreeMap<String, f64>,
    /// Built in, by the name of the language.
    pub built_in: BTreeMap<String, f64>,
    /// For every language without one.
    pub default: f64,
    /// True if the default was set by hand.
    pub default_is_manual: bool,
    /// Measured and written by `tamis calibrate`.
    pub calibrated: Option<CalibratedConfig>,
}

impl Section for ThresholdConfig {
    fn declared() -> Vec<Key> {
        BUILT_IN.into_iter().map(|(language, threshold)| threshold_key(language, threshold)).collect()
    }

    fn from_settings(settings: &Settings) -> Result<Self, ConfigError> {
        let is_manual = |setting: &Setting| setting.source != Source::BuiltIn;
        let number = |setting: &Setting| if let Value::Number(value) = setting.value { Some(value) } else { None };
        let languages = settings.values.iter().filter_map(|(name, setting)| Some((language_of(name)?, setting)));
        let manual = languages.filter(|(_, setting)| is_manual(setting));
        let default = settings.values.get(DEFAULT);
        Ok(ThresholdConfig {
            manual: manual.filter_map(|(name, setting)| Some((name.to_owned(), number(setting)?))).collect(),
            built_in: BUILT_IN.into_iter().map(|(language, threshold)| (language.to_owned(), threshold)).collect(),
            default: default.and_then(number).unwrap_or(BUILT_IN_DEFAULT),
            default_is_manual: default.is_some_and(is_manual),
            calibrated: settings.calibrated.clone(),
        })
    }
}

fn threshold_key(language: &str, default: f64) -> Key {
    let display = Language::from_name(language).map_or(language, |language| language.display);
    Key {
        name: format!("{TABLE}{language}"),
        allowed: Allowed::Number(-1.0, 1.0),
        default: Value::Number(default),
        doc: format!(
            "Similarity that a passage in {display} needs with the cut language, and with auto if only its meaning matches; overrides a calibrated one"
        ),
    }
}

/// Returns the language in the name of a threshold's key.
fn language_of(name: &str) -> Option<&str> {
    name.strip_prefix(TABLE).filter(|_| name != DEFAULT)
}

/// Returns the key of the language that `name` names, or the nearest name of a key; `None` for a key of another table.
pub(crate) fn find(name: &str) -> Option<Result<Key, Option<String>>> {
    let language = language_of(name)?;
    Some(resolve(language).ok_or_else(|| nearest_language(language).map(|near| format!("{TABLE}{near}"))))
}

/// Returns the key of the language that a variable names, or the nearest name of a variable; `None` for another variable.
pub(crate) fn find_variable(name: &str) -> Option<Result<Key, Option<String>>> {
    let language = name.strip_prefix(VARIABLE).filter(|language| *language != "DEFAULT")?.to_lowercase();
    let variable = |near: &str| format!("{VARIABLE}{}", near.to_uppercase().replace([' ', '-'], "_"));
    Some(resolve(&language).ok_or_else(|| nearest_language(&language).map(variable)))
}

fn resolve(language: &str) -> Option<Key> {
    let language = threshold_language(Language::resolve(language)?.name);
    let default = BUILT_IN.iter().find(|(name, _)| *name == language).map_or(BUILT_IN_DEFAULT, |(_, value)| *value);
    Some(threshold_key(language, default))
}

/// Returns the keys that are set for languages without a built-in threshold.
pub(crate) fn further(values: &BTreeMap<String, Setting>) -> Vec<Key> {
    let known = ThresholdConfig::declared();
    let further = values.keys().filter(|name| !known.iter().any(|key| key.name == **name));
    further.filter_map(|name| find(name)?.ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Origins};
    use tamis_text::LANGUAGES;

    #[test]
    fn every_name_of_every_language_is_a_key() {
        for language in LANGUAGES {
            for name in language.written_names() {
                let key = find(&format!("{TABLE}{name}")).expect("a language's key").expect("known");
                assert_eq!(key.name, format!("{TABLE}{}", threshold_language(language.name)), "{name}");
            }
            let variable = threshold_key(language.name, 0.5).variable();
            assert!(find_variable(&variable).expect("a language's variable").is_ok(), "{variable}");
        }
    }

    #[test]
    fn the_default_is_the_cuts_own() {
        let config = Config::built_in();
        assert_eq!(config.thresholds.default, BUILT_IN_DEFAULT);
        assert!(!config.thresholds.default_is_manual);
        assert_eq!(config.thresholds.manual, BTreeMap::new());
        let environment = vec![("TAMIS_SEARCH_THRESHOLDS_DEFAULT".to_owned(), "0.4".to_owned())];
        let config = Config::load(&Origins { environment, ..Origins::default() }, None).expect("valid");
        assert_eq!((config.thresholds.default, config.thresholds.default_is_manual), (0.4, true));
    }
}
