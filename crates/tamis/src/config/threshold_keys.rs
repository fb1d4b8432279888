//! Similarity thresholds by language as configuration keys, `[search.thresholds]`: a key for each language, by any of its
//! names.

use super::calibrated::CalibratedConfig;
use super::keys::{Key, nearest};
use super::layers::{Setting, Source};
use super::value::{Allowed, Value};
use std::collections::BTreeMap;
use tamis_text::{LANGUAGES, Language};

/// What stands before a language in the name of its key.
const TABLE: &str = "search.thresholds.";

/// What stands before a language in the name of its variable.
const VARIABLE: &str = "TAMIS_SEARCH_THRESHOLDS_";

/// The key for every language without a threshold, which is the parameter of the cut.
const DEFAULT: &str = "search.thresholds.default";

/// What holds where nobody says or measured otherwise.
const BUILT_IN: [(&str, f64); 3] = [("rust", 0.70), ("typescript", 0.65), ("python", 0.60)];

/// The similarity that a passage must have by its language, as far as the configuration says it.
#[derive(Clone, Debug, PartialEq)]
pub struct ThresholdConfig {
    /// Set by hand, by the name of the language: also where the value is the built-in one.
    pub manual: BTreeMap<String, f64>,
    /// Built in, by the name of the language.
    pub built_in: BTreeMap<String, f64>,
    /// For every language without one.
    pub default: f64,
    /// Whether the default was set by hand.
    pub default_is_manual: bool,
    /// What `tamis calibrate` measured and wrote down.
    pub calibrated: Option<CalibratedConfig>,
}

/// The language whose threshold a language takes: TSX, JavaScript and JSX take that of TypeScript, every other dialect that
/// of the language it belongs to.
///
/// ```
/// use tamis::config::threshold_language;
/// assert_eq!(threshold_language("jsx"), "typescript");
/// assert_eq!(threshold_language("rust"), "rust");
/// ```
#[must_use]
pub fn threshold_language(language: &str) -> &str {
    let base = Language::named(language).map_or(language, |found| found.base_name());
    if base == "javascript" { "typescript" } else { base }
}

/// The keys that have a value of their own before anybody sets one.
pub(super) fn all() -> impl Iterator<Item = Key> {
    BUILT_IN.into_iter().map(|(language, threshold)| key(language, threshold))
}

fn key(language: &str, default: f64) -> Key {
    let display = Language::named(language).map_or(language, |language| language.display);
    Key {
        name: format!("{TABLE}{language}"),
        allowed: Allowed::Number(-1.0, 1.0),
        default: Value::Number(default),
        doc: format!(
            "similarity that a passage in {display} needs with the cut language; goes before what was calibrated"
        ),
    }
}

/// Whether a key's name is that of a language's threshold.
pub(super) fn is_language(name: &str) -> bool {
    name.strip_prefix(TABLE).is_some_and(|language| language != "default")
}

/// The key of the language that `name` stands for, or the nearest name of a key; `None` where it is no such key.
pub(super) fn find(name: &str) -> Option<Result<Key, Option<String>>> {
    let language = is_language(name).then(|| &name[TABLE.len()..])?;
    Some(resolve(language).ok_or_else(|| near(language).map(|near| format!("{TABLE}{near}"))))
}

/// The key of the language that a variable is named for, or the nearest name of a variable; `None` where it is no such
/// variable.
pub(super) fn find_variable(name: &str) -> Option<Result<Key, Option<String>>> {
    let language = name.strip_prefix(VARIABLE).filter(|language| *language != "DEFAULT")?.to_lowercase();
    let variable = |near: &str| format!("{VARIABLE}{}", near.to_uppercase().replace([' ', '-'], "_"));
    Some(resolve(&language).ok_or_else(|| near(&language).map(variable)))
}

fn resolve(language: &str) -> Option<Key> {
    let language = threshold_language(Language::resolve(language)?.name);
    let default = BUILT_IN.iter().find(|(name, _)| *name == language).map_or(BUILT_IN_DEFAULT, |(_, value)| *value);
    Some(key(language, default))
}

/// The default of the cut's parameter, for languages without a key of their own.
const BUILT_IN_DEFAULT: f64 = 0.65;

/// The name of a language that is nearest to a text.
pub(super) fn near(text: &str) -> Option<&'static str> {
    nearest(
        &text.to_lowercase(),
        LANGUAGES.iter().flat_map(|language| [language.name].into_iter().chain(language.aliases.iter().copied())),
    )
}

/// The keys of further languages that are set.
pub(super) fn further(settings: &BTreeMap<String, Setting>) -> Vec<Key> {
    let known: Vec<String> = all().map(|key| key.name).collect();
    settings.keys().filter(|name| !known.contains(name)).filter_map(|name| find(name)?.ok()).collect()
}

/// The thresholds that a configuration sets.
pub(super) fn thresholds(
    settings: &BTreeMap<String, Setting>,
    calibrated: Option<CalibratedConfig>,
) -> ThresholdConfig {
    let languages = settings.iter().filter(|(name, _)| is_language(name));
    let number = |setting: &Setting| if let Value::Number(value) = setting.value { Some(value) } else { None };
    let manual = languages
        .filter(|(_, setting)| setting.source != Source::BuiltIn)
        .filter_map(|(name, setting)| Some((name[TABLE.len()..].to_owned(), number(setting)?)));
    let default = settings.get(DEFAULT);
    ThresholdConfig {
        manual: manual.collect(),
        built_in: BUILT_IN.into_iter().map(|(language, threshold)| (language.to_owned(), threshold)).collect(),
        default: default.and_then(number).unwrap_or(BUILT_IN_DEFAULT),
        default_is_manual: default.is_some_and(|setting| setting.source != Source::BuiltIn),
        calibrated,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Origins};

    #[test]
    fn every_name_of_every_language_is_a_key() {
        for language in LANGUAGES {
            for name in language.written_names() {
                let key = find(&format!("{TABLE}{name}")).expect("a language's key").expect("known");
                assert_eq!(key.name, format!("{TABLE}{}", threshold_language(language.name)), "{name}");
            }
            let variable = key(language.name, 0.5).variable();
            assert!(find_variable(&variable).expect("a language's variable").is_ok(), "{variable}");
        }
    }

    #[test]
    fn dialects_and_javascript_take_the_threshold_of_typescript() {
        for (language, expected) in [
            ("tsx", "typescript"),
            ("jsx", "typescript"),
            ("javascript", "typescript"),
            ("typescript", "typescript"),
            ("rust", "rust"),
            ("klingon", "klingon"),
        ] {
            assert_eq!(threshold_language(language), expected);
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
