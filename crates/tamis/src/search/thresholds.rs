//! Similarity thresholds by language: a manual one overrides a calibrated one, which overrides the built-in one.

use super::searcher::Searcher;
use crate::Error;
use crate::config::{CalibratedConfig, ThresholdConfig, threshold_language};
use std::collections::BTreeMap;
use std::fmt;
use tamis_cut::{Rule, Value};
use tamis_embed::{ModelInfo, Provider};
use tamis_store::Calibration;

/// The property that holds the last reported change of model.
const TOLD_PROPERTY: &str = "thresholds.told_change";

/// The source of a threshold.
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

impl fmt::Display for ThresholdSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ThresholdSource::Manual => "manual",
            ThresholdSource::Calibrated => "calibrated",
            ThresholdSource::BuiltIn => "built-in",
        })
    }
}

/// The thresholds of one search: cosine similarities, -1 to 1.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Thresholds {
    /// The thresholds with their sources, by canonical name of the language.
    pub by_language: BTreeMap<String, (f64, ThresholdSource)>,
    /// The threshold of every other language.
    pub default: f64,
    /// The source of the default: manual or built in.
    pub default_source: ThresholdSource,
    /// A warning for the user about the thresholds.
    pub warning: Option<String>,
}

impl Thresholds {
    /// Returns the minimum similarity of a passage in `language`. TSX, JSX and JavaScript count as TypeScript.
    pub fn threshold(&self, language: Option<&str>) -> f64 {
        self.own(language).unwrap_or(self.default)
    }

    /// Returns the threshold of a language that has its own.
    pub fn own(&self, language: Option<&str>) -> Option<f64> {
        let own = self.by_language.get(threshold_language(language?));
        own.map(|&(threshold, _)| threshold)
    }

    /// Returns the threshold of a language if somebody has set or measured it.
    pub(crate) fn measured(&self, language: Option<&str>) -> Option<f64> {
        let &(threshold, source) = self.by_language.get(threshold_language(language?))?;
        (source != ThresholdSource::BuiltIn).then_some(threshold)
    }

    /// Uses the default of a rule that has one, since a caller can give the cut a default other than the configuration's.
    pub(crate) fn with_default_of(mut self, rule: &dyn Rule) -> Self {
        let given = rule.settings().into_iter().find(|(name, _)| *name == "default");
        if let Some((_, Value::Number(default))) = given {
            self.default = default;
        }
        self
    }

    /// Returns the threshold of a language and its source.
    pub(crate) fn entry(&self, language: &str) -> (f64, ThresholdSource) {
        self.by_language.get(language).copied().unwrap_or((self.default, self.default_source))
    }
}

/// The model under which thresholds are measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Under {
    /// The provider of the model, as the configuration writes it.
    pub(crate) provider: &'static str,
    /// The model's identifier.
    pub(crate) model: String,
}

impl Under {
    pub(crate) fn new(model: &ModelInfo) -> Self {
        let provider = match model.provider {
            Provider::Static => "static",
            Provider::MiniLm => "mini-lm",
            Provider::Local => "local",
            _ => "remote",
        };
        Under { provider, model: model.id.clone() }
    }

    fn is(&self, provider: &str, model: &str) -> bool {
        self.provider == provider && self.model == model
    }
}

/// Thresholds that were calibrated at one time with one model, in the configuration or in the store.
struct Measured<'a> {
    provider: &'a str,
    model: &'a str,
    at_ms: Option<i64>,
    thresholds: Vec<(&'a str, f64)>,
}

impl<'a> From<&'a Calibration> for Measured<'a> {
    fn from(row: &'a Calibration) -> Self {
        let Calibration { language, threshold, provider, model, calibrated_at_ms, .. } = row;
        let thresholds = vec![(language.as_str(), *threshold)];
        Measured { provider, model, at_ms: Some(*calibrated_at_ms), thresholds }
    }
}

impl<'a> From<&'a CalibratedConfig> for Measured<'a> {
    fn from(config: &'a CalibratedConfig) -> Self {
        let thresholds = config.thresholds.iter().map(|(language, &threshold)| (language.as_str(), threshold));
        Measured {
            provider: &config.provider,
            model: &config.model,
            at_ms: config.calibrated_at.map(|time| time.as_millisecond()),
            thresholds: thresholds.collect(),
        }
    }
}

/// Returns the thresholds in force. If a change of model disables calibrated ones, also returns the names of the old and the new
/// model.
///
/// The configuration's calibration overrides the store's, unless its date shows that it is older: a newer one may have failed to
/// reach the file.
pub(crate) fn resolve(
    config: &ThresholdConfig,
    rows: &[Calibration],
    current: Option<&Under>,
) -> (Thresholds, Option<(String, String)>) {
    let with = |source| move |(language, threshold): (&String, &f64)| (language.clone(), (*threshold, source));
    let mut by_language: BTreeMap<_, _> = config.built_in.iter().map(with(ThresholdSource::BuiltIn)).collect();

    let all: Vec<Measured<'_>> =
        rows.iter().map(Measured::from).chain(config.calibrated.iter().map(Measured::from)).collect();
    let mut held: BTreeMap<&str, i64> = BTreeMap::new();
    for measured in all.iter().filter(|measured| current.is_some_and(|now| now.is(measured.provider, measured.model))) {
        let at_ms = measured.at_ms.unwrap_or(i64::MAX);
        for &(language, threshold) in &measured.thresholds {
            if held.get(language).is_none_or(|&held| held <= at_ms) {
                held.insert(language, at_ms);
                by_language.insert(language.to_owned(), (threshold, ThresholdSource::Calibrated));
            }
        }
    }
    let latest = all.iter().filter(|measured| !measured.thresholds.is_empty()).max_by_key(|measured| measured.at_ms);
    let change = match (current, latest) {
        (Some(now), Some(then)) if held.is_empty() => Some(names(then, now)),
        _ => None,
    };
    by_language.extend(config.manual.iter().map(with(ThresholdSource::Manual)));
    let default_source = if config.default_is_manual { ThresholdSource::Manual } else { ThresholdSource::BuiltIn };
    (Thresholds { by_language, default: config.default, default_source, warning: None }, change)
}

/// Returns the identifiers of two models, with their providers if only those differ.
fn names(then: &Measured<'_>, now: &Under) -> (String, String) {
    if then.model != now.model {
        return (then.model.to_owned(), now.model.clone());
    }
    (format!("{} ({})", then.model, then.provider), format!("{} ({})", now.model, now.provider))
}

impl Searcher<'_> {
    /// Returns the thresholds in force under a model; `None`: those in force under every model. Thresholds calibrated under
    /// another model are not in force, and the warning says so once for each change of model, or every time if the index cannot
    /// be written.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(crate) fn thresholds(&self, model: Option<&ModelInfo>) -> Result<Thresholds, Error> {
        let rows = self.index.store.calibrations()?;
        if rows.is_empty() && self.index.config.thresholds.calibrated.is_none() {
            return Ok(resolve(&self.index.config.thresholds, &[], None).0);
        }
        let current = model.map(Under::new);
        let (mut thresholds, change) = resolve(&self.index.config.thresholds, &rows, current.as_ref());
        if current.is_none() {
            return Ok(thresholds);
        }
        let change = change.map(|(from, to)| format!("from {from} to {to}")).unwrap_or_default();
        if self.index.store.property(TOLD_PROPERTY)?.unwrap_or_default() != change {
            // A read-only index cannot remember the warning, which does no harm.
            let _ = self.index.store.set_property(TOLD_PROPERTY, &change);
            thresholds.warning = (!change.is_empty()).then(|| {
                format!("embedding model changed {change}; calibrated thresholds are ignored until `tamis calibrate`")
            });
        }
        Ok(thresholds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Source;

    fn under(provider: &'static str, model: &str) -> Under {
        Under { provider, model: model.into() }
    }

    fn row(language: &str, threshold: f64, model: &str, calibrated_at_ms: i64) -> Calibration {
        Calibration {
            language: language.into(),
            threshold,
            sample_size: 100,
            provider: "static".into(),
            model: model.into(),
            calibrated_at_ms,
        }
    }

    /// A model, a time and thresholds.
    type Written<'a> = (&'a str, Option<&'a str>, &'a [(&'a str, f64)]);

    fn config(manual: &[(&str, f64)], calibrated: Option<Written<'_>>) -> ThresholdConfig {
        let map =
            |values: &[(&str, f64)]| values.iter().map(|&(language, value)| (language.to_owned(), value)).collect();
        ThresholdConfig {
            manual: map(manual),
            built_in: map(&[("rust", 0.7), ("typescript", 0.65), ("python", 0.6)]),
            default: 0.65,
            default_is_manual: false,
            calibrated: calibrated.map(|(model, at, thresholds)| CalibratedConfig {
                provider: "static".into(),
                model: model.into(),
                calibrated_at: at.map(|at| at.parse().expect("a time")),
                thresholds: map(thresholds),
                source: Source::BuiltIn,
            }),
        }
    }

    use ThresholdSource::{BuiltIn, Calibrated, Manual};

    #[test]
    fn manual_goes_before_calibrated_before_built_in() {
        let rows = [row("rust", 0.5, "a", 1), row("python", 0.4, "a", 1), row("go", 0.45, "a", 1)];
        let (thresholds, change) = resolve(&config(&[("rust", 0.72)], None), &rows, Some(&under("static", "a")));
        assert_eq!(change, None);
        let expected = [
            ("rust", 0.72, Manual),
            ("python", 0.4, Calibrated),
            ("typescript", 0.65, BuiltIn),
            ("go", 0.45, Calibrated),
            ("ruby", 0.65, BuiltIn),
        ];
        for (language, threshold, source) in expected {
            assert_eq!(thresholds.entry(language), (threshold, source), "{language}");
        }
        assert_eq!(thresholds.threshold(Some("tsx")), 0.65);
        let measured = ["rust", "python", "tsx", "ruby"].map(|language| thresholds.measured(Some(language)));
        assert_eq!(measured, [Some(0.72), Some(0.4), None, None]);
        assert_eq!(thresholds.own(Some("ruby")), None);
        assert_eq!(thresholds.threshold(None), 0.65);
    }

    #[test]
    fn a_default_given_with_the_cut_is_the_default() {
        let (thresholds, _) = resolve(&config(&[], None), &[], None);
        let rule = tamis_cut::parse("language:default=0.4").expect("a cut");
        let thresholds = thresholds.with_default_of(&*rule);
        assert_eq!((thresholds.threshold(Some("kotlin")), thresholds.threshold(Some("rust"))), (0.4, 0.7));
    }

    #[test]
    fn a_manual_value_equal_to_the_built_in_one_is_manual() {
        let rows = [row("rust", 0.5, "a", 1)];
        let (thresholds, _) = resolve(&config(&[("rust", 0.70)], None), &rows, Some(&under("static", "a")));
        assert_eq!(thresholds.entry("rust"), (0.70, Manual));
    }

    #[test]
    fn another_model_or_provider_leaves_the_built_in_ones_and_says_from_what_to_what() {
        let rows = [row("rust", 0.5, "a", 1)];
        let (thresholds, change) = resolve(&config(&[], None), &rows, Some(&under("static", "b")));
        assert_eq!(thresholds.entry("rust"), (0.70, BuiltIn));
        assert_eq!(change, Some(("a".into(), "b".into())));
        let (thresholds, change) = resolve(&config(&[], None), &rows, Some(&under("local", "a")));
        assert_eq!(thresholds.entry("rust"), (0.70, BuiltIn));
        assert_eq!(change, Some(("a (static)".into(), "a (local)".into())));
        assert_eq!(resolve(&config(&[], None), &rows, None).1, None, "words alone have no model that could change");
    }

    #[test]
    fn each_model_keeps_its_own() {
        let rows = [row("rust", 0.5, "a", 1), row("rust", 0.3, "b", 2)];
        for (model, expected) in [("a", 0.5), ("b", 0.3)] {
            let (thresholds, change) = resolve(&config(&[], None), &rows, Some(&under("static", model)));
            assert_eq!((thresholds.threshold(Some("rust")), change), (expected, None));
        }
    }

    #[test]
    fn the_configuration_goes_before_the_store_unless_it_is_older() {
        let rows = [row("rust", 0.5, "a", 1_000)];
        for (at, expected) in [(None, 0.4), (Some("1970-01-01T00:00:01Z"), 0.4), (Some("1970-01-01T00:00:00Z"), 0.5)] {
            let config = config(&[], Some(("a", at, &[("rust", 0.4)])));
            let (thresholds, _) = resolve(&config, &rows, Some(&under("static", "a")));
            assert_eq!(thresholds.entry("rust"), (expected, Calibrated), "{at:?}");
        }
        let other = config(&[], Some(("b", None, &[("rust", 0.4)])));
        let (thresholds, change) = resolve(&other, &rows, Some(&under("static", "a")));
        assert_eq!((thresholds.threshold(Some("rust")), change), (0.5, None), "the store has them for this model");
    }
}
