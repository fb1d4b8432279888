//! The rule that decides a search: a cut with the caller's aims and strictness, the fusion whose values it reads, and the similarity
//! thresholds by language. Every interface uses it, also for the results of other engines.
//!
//! A manual threshold overrides a calibrated one, which overrides the built-in one.

use std::collections::BTreeMap;
use std::fmt;

use tamis_cut::{Fixed, Guarantee, Rule, Scale, Value, Want};
use tamis_embed::{ModelInfo, Provider};
use tamis_rank::Fusion;
use tamis_store::Calibration;

use super::answer::CutReport;
use super::context::Context;
use super::request::{Aim, CutOptions, SearchRequest};
use crate::Error;
use crate::config::{CalibratedConfig, Config, ThresholdConfig, threshold_language};
use crate::error::AimError;

/// A rule adjusted to the caller's wishes.
///
/// ```
/// use tamis::search::TunedRule;
/// use tamis::search::Aim;
/// use tamis_cut::{Want, parse};
///
/// let asked = TunedRule::new(parse("background")?.as_ref(), Want::One, &Aim::default())?;
/// assert_eq!(asked.rule().to_string(), "background:lambda=0.95");
/// assert_eq!(asked.note("background").as_deref(), Some("wanted: one (lambda=0.95)"));
///
/// let recall = Aim { target_recall: Some(0.9), ..Aim::default() };
/// let refused = TunedRule::new(parse("otsu")?.as_ref(), Want::Auto, &recall).unwrap_err();
/// assert_eq!(refused.to_string(), "target_recall: not supported by the cut otsu; use the cut auto");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct TunedRule {
    rule: Box<dyn Rule>,
    want: Want,
    /// The parameter that `want` has set, if the rule has one.
    set: Option<String>,
}

impl TunedRule {
    /// Adjusts `rule` to the given aims, and to the strictness of `want` if it has one.
    ///
    /// # Errors
    /// The rule lacks an aim, or a value is out of range.
    pub fn new(rule: &dyn Rule, want: Want, aim: &Aim) -> Result<Self, AimError> {
        let rule = aim.set(rule)?;
        Ok(match rule.tuned(want) {
            Some((rule, set)) => TunedRule { rule, want, set: Some(set) },
            None => TunedRule { rule, want, set: None },
        })
    }

    /// Returns the rule that decides.
    pub fn rule(&self) -> &(dyn Rule + 'static) {
        self.rule.as_ref()
    }

    /// Returns the number of results wanted.
    pub fn want(&self) -> Want {
        self.want
    }

    /// Returns a remark on `want` for an answer that `method` decided: its effect, or the reason why it has none. `None` if
    /// `want` is automatic.
    pub fn note(&self, method: &str) -> Option<String> {
        let want = self.want.name();
        let rule = self.rule.name();
        Some(match &self.set {
            _ if self.want == Want::Auto => return None,
            None => format!("want={want} has no effect on the cut {rule}"),
            Some(_) if method != rule => format!("want={want} has no effect here"),
            Some(set) if set.starts_with("want=") => format!("wanted: {want}"),
            Some(set) => format!("wanted: {want} ({set})"),
        })
    }

    /// Adds the remark on `want` to a decided cut.
    pub(crate) fn explain(&self, cut: &mut CutReport) {
        if let Some(note) = self.note(&cut.method) {
            cut.reason = format!("{}; {note}", cut.reason.trim_end_matches('.'));
            cut.diagnostics.insert("want".into(), self.want.name().into());
        }
    }
}

/// The rule for a search without a cut.
pub(crate) const EVERYTHING: Fixed = Fixed { k: 1_000_000 };

/// The word for a search without a cut or without a guarantee.
const OFF: &str = "off";

/// What can be promised.
const PROMISES: &str = "off, or recall=0.9, precision=0.8 or precision=0.8,confidence=0.95, each above 0 and below 1";

impl SearchRequest {
    /// Returns `true` if the search has neither a cut nor a gate.
    pub(crate) fn is_uncut(&self, config: &Config) -> bool {
        self.cut.lists_all() || self.cut.method.is_none() && self.configured(config).is_none()
    }

    /// Returns the promise of this search: the request's, or else the configuration's.
    ///
    /// # Errors
    /// The text names none.
    pub(crate) fn promise(&self, config: &Config) -> Result<Option<Guarantee>, Error> {
        match self.cut.guarantee.as_deref() {
            Some(OFF) => Ok(None),
            Some(text) => {
                text.parse().map(Some).map_err(|_| Error::argument("guarantee", format!("{text:?}"), PROMISES))
            }
            // A guarantee for searches does not cover memories, whose scores are different.
            None => Ok(config.search.guarantee.filter(|_| !self.memory && !self.is_uncut(config))),
        }
    }

    /// Returns the configuration's cut; `None` if it is off.
    fn configured<'c>(&self, config: &'c Config) -> Option<&'c dyn Rule> {
        if self.memory { config.memory.cut.as_deref() } else { config.search.cut.as_deref() }
    }

    /// Returns the rule that decides this search: the request's cut, or else the configuration's, with the request's aims and the
    /// strictness wanted.
    ///
    /// # Errors
    /// An unknown cut, one that lacks an aim, or a value out of range.
    pub fn tuned_rule(&self, config: &Config) -> Result<TunedRule, AimError> {
        let chosen = chosen_cut(config, self.cut.method.as_deref().filter(|cut| *cut != OFF))?;
        let configured = if self.cut.lists_all() { None } else { self.configured(config) };
        let rule: &dyn Rule = chosen.as_deref().or(configured).unwrap_or(&EVERYTHING);
        // Without a cut there is nothing that a configured strictness could set.
        let configured = if self.is_uncut(config) { Want::Auto } else { config.search.want };
        TunedRule::new(rule, self.cut.goal.want.unwrap_or(configured), &self.cut.goal.aim)
    }
}

impl CutOptions {
    /// Returns `true` if the first entries are listed, without a cut.
    pub(crate) fn lists_all(&self) -> bool {
        self.all || self.method.as_deref() == Some(OFF)
    }

    /// Returns `true` if it says where the list ends.
    pub(crate) fn is_given(&self) -> bool {
        let is_given = |text: &Option<String>| text.as_deref().is_some_and(|text| text != OFF);
        is_given(&self.method)
            || is_given(&self.guarantee)
            || self.goal.want.is_some()
            || self.goal.aim != Aim::default()
    }
}

/// The cut that a text names, with the parameters that it leaves open from the configuration.
pub(crate) fn chosen_cut(config: &Config, text: Option<&str>) -> Result<Option<Box<dyn Rule>>, AimError> {
    text.map(|cut| config.cut(cut)).transpose().map_err(AimError::NotAllowed)
}

/// The fusion that orders the pool under a rule, and the one whose values the rule reads. They differ only for reciprocal ranks,
/// which carry no evidence of relevance: those order, and the rule reads the convex values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fusions {
    pub order: Fusion,
    pub cut: Fusion,
}

impl Fusions {
    /// Returns the search's own fusion, or the one that the rule's scale requires. `weight` is the semantic retriever's share.
    pub fn new(rule: &dyn Rule, configured: Fusion, weight: f64) -> Self {
        let both = |fusion| Fusions { order: fusion, cut: fusion };
        match (rule.scale(), configured) {
            (Scale::Score, Fusion::Rrf { .. }) => Fusions { order: configured, cut: Fusion::Convex { weight } },
            (Scale::Score, _) => both(configured),
            (Scale::Similarity, _) => both(Fusion::Weighted { weight: 1.0 }),
            (Scale::Weighted, _) => both(Fusion::Weighted { weight: 0.7 }),
        }
    }
}

/// Returns the fusion that orders the candidates under a rule, and the one that the rule reads.
pub(crate) fn fusions(context: &Context<'_>, rule: &dyn Rule, model: Option<&ModelInfo>) -> Result<Fusions, Error> {
    let own = model.map_or(0.5, |model| f64::from(model.fusion_weight));
    let weight = context.index.config.search.fusion_weight.unwrap_or(own);
    let configured = Fusion::from_name(&context.index.config.search.fusion, weight)
        .map_err(|error| Error::argument("search.fusion", &context.index.config.search.fusion, error.to_string()))?;
    Ok(Fusions::new(rule, configured, weight))
}

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

/// Returns the thresholds in force under a model; `None`: those in force under every model. Thresholds calibrated under
/// another model are not in force, and the warning says so once for each change of model, or every time if the index cannot
/// be written.
///
/// # Errors
/// The store cannot be read.
pub(crate) fn thresholds(context: &Context<'_>, model: Option<&ModelInfo>) -> Result<Thresholds, Error> {
    let rows = context.index.store.calibrations()?;
    if rows.is_empty() && context.index.config.thresholds.calibrated.is_none() {
        return Ok(resolve(&context.index.config.thresholds, &[], None).0);
    }
    let current = model.map(Under::new);
    let (mut thresholds, change) = resolve(&context.index.config.thresholds, &rows, current.as_ref());
    if current.is_none() {
        return Ok(thresholds);
    }
    let change = change.map(|(from, to)| format!("from {from} to {to}")).unwrap_or_default();
    if context.index.store.property(TOLD_PROPERTY)?.unwrap_or_default() != change {
        // A read-only index cannot remember the warning, which does no harm.
        let _ = context.index.store.set_property(TOLD_PROPERTY, &change);
        thresholds.warning = (!change.is_empty()).then(|| {
            format!("embedding model changed {change}; calibrated thresholds are ignored until `tamis calibrate`")
        });
    }
    Ok(thresholds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Source;
    use ThresholdSource::{BuiltIn, Calibrated, Manual};
    use tamis_cut::{METHODS, parse};

    #[test]
    fn aims_take_the_place_of_the_rules_own_and_values_out_of_range_are_told_the_range() {
        let aim = Aim { min_precision: Some(0.8), budget_tokens: Some(500), ..Aim::default() };
        let rule = aim.set(parse("auto:strictness=2,min_precision=0.1").expect("a rule").as_ref()).expect("both");
        assert_eq!(rule.to_string(), "auto:want=auto,strictness=2,target_recall=0,min_precision=0.8,budget_tokens=500");
        for method in METHODS {
            let rule = parse(method.name).expect("a rule");
            let asked = TunedRule::new(rule.as_ref(), Want::Auto, &Aim::default()).expect("nothing is asked");
            assert_eq!(asked.rule().to_string(), rule.to_string());
            assert_eq!(asked.note(method.name), None);
        }
        let aim = Aim { target_recall: Some(2.0), ..Aim::default() };
        let error = aim.set(parse("auto").expect("a rule").as_ref()).expect_err("2 is no recall");
        assert_eq!(error.to_string(), "auto:target_recall must be a number from 0 to 0.999 and is 2");
    }

    #[test]
    fn the_note_says_what_was_set_or_why_nothing_was() {
        let note = |rule: &str, want, method: &str| {
            TunedRule::new(parse(rule).expect("a rule").as_ref(), want, &Aim::default()).expect("taken").note(method)
        };
        assert_eq!(note("auto", Want::All, "auto").as_deref(), Some("wanted: all"));
        assert_eq!(note("autocut", Want::Best, "autocut").as_deref(), Some("wanted: best (jumps=2)"));
        let otsu = "want=one has no effect on the cut otsu";
        assert_eq!(note("otsu", Want::One, "otsu").as_deref(), Some(otsu));
        let gate = "want=one has no effect here";
        assert_eq!(note("background", Want::One, "gate").as_deref(), Some(gate));
    }

    #[test]
    fn the_request_goes_before_the_configuration() {
        let mut config = Config::built_in();
        config.search.want = Want::All;
        let mut request = SearchRequest::new("x");
        assert!(request.tuned_rule(&config).expect("no aim").rule().to_string().starts_with("auto:want=all,"));
        request.cut.goal.want = Some(Want::Auto);
        let configured = config.search.cut.as_ref().expect("a rule").to_string();
        assert_eq!(request.tuned_rule(&config).expect("no aim").rule().to_string(), configured);
        request.cut.method = Some("auto".into());
        request.cut.goal.aim.strictness = Some(3.0);
        assert!(request.tuned_rule(&config).expect("auto has it").rule().to_string().contains("strictness=3"));
    }

    fn under(provider: &'static str, model: &str) -> Under {
        Under { provider, model: model.into() }
    }

    fn row(language: &str, threshold: f64, model: &str, calibrated_at_ms: i64) -> Calibration {
        let (language, provider, model) = (language.into(), "static".into(), model.into());
        Calibration { language, threshold, sample_size: 100, provider, model, calibrated_at_ms }
    }

    /// A model, a time and thresholds.
    type Written<'a> = (&'a str, Option<&'a str>, &'a [(&'a str, f64)]);

    fn config(manual: &[(&str, f64)], calibrated: Option<Written<'_>>) -> ThresholdConfig {
        let map = |all: &[(&str, f64)]| all.iter().map(|&(language, value)| (language.to_owned(), value)).collect();
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

    #[test]
    fn manual_goes_before_calibrated_before_built_in() {
        let rows = [row("rust", 0.5, "a", 1), row("python", 0.4, "a", 1), row("go", 0.45, "a", 1)];
        let (thresholds, change) = resolve(&config(&[("rust", 0.72)], None), &rows, Some(&under("static", "a")));
        assert_eq!(change, None);
        let calibrated = [("python", 0.4, Calibrated), ("go", 0.45, Calibrated)];
        let built_in = [("typescript", 0.65, BuiltIn), ("ruby", 0.65, BuiltIn)];
        let expected = [&[("rust", 0.72, Manual)], &calibrated[..], &built_in].concat();
        for (language, threshold, source) in expected {
            assert_eq!(thresholds.entry(language), (threshold, source), "{language}");
        }
        assert_eq!(thresholds.threshold(Some("tsx")), 0.65);
        let measured = ["rust", "python", "tsx", "ruby"].map(|language| thresholds.measured(Some(language)));
        assert_eq!(measured, [Some(0.72), Some(0.4), None, None]);
        assert_eq!((thresholds.own(Some("ruby")), thresholds.threshold(None)), (None, 0.65));
    }

    #[test]
    fn a_default_given_with_the_cut_is_the_default_and_a_value_equal_to_it_is_manual() {
        let (thresholds, _) = resolve(&config(&[], None), &[], None);
        let rule = tamis_cut::parse("language:default=0.4").expect("a cut");
        let thresholds = thresholds.with_default_of(&*rule);
        assert_eq!((thresholds.threshold(Some("kotlin")), thresholds.threshold(Some("rust"))), (0.4, 0.7));
        let rows = [row("rust", 0.5, "a", 1)];
        let (thresholds, _) = resolve(&config(&[("rust", 0.70)], None), &rows, Some(&under("static", "a")));
        assert_eq!(thresholds.entry("rust"), (0.70, Manual));
    }

    #[test]
    fn another_model_or_provider_leaves_the_built_in_ones_and_each_model_keeps_its_own() {
        let rows = [row("rust", 0.5, "a", 1)];
        let (thresholds, change) = resolve(&config(&[], None), &rows, Some(&under("static", "b")));
        assert_eq!(thresholds.entry("rust"), (0.70, BuiltIn));
        assert_eq!(change, Some(("a".into(), "b".into())));
        let (thresholds, change) = resolve(&config(&[], None), &rows, Some(&under("local", "a")));
        assert_eq!(thresholds.entry("rust"), (0.70, BuiltIn));
        assert_eq!(change, Some(("a (static)".into(), "a (local)".into())));
        assert_eq!(resolve(&config(&[], None), &rows, None).1, None, "words alone have no model that could change");
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
