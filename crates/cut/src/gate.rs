//! Is anything here at all? On absolute evidence, since the shape of a list says nothing about it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::cut::Cut;
use crate::method::{Parameter, Range};
use crate::parse::RuleError;
use crate::pool::{Background, Pool};
use crate::text::figure;
use crate::value::Value;

/// What is known of a query's best candidates in absolute terms. Whatever is unknown is `None` and does not count
/// against the query; a number that is not finite is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Evidence {
    /// Share of the query's IDF mass that the best lexical candidate matches, 0 to 1; 0 when there is no lexical match.
    pub coverage: f64,
    /// Best similarity to the query of any passage, −1 to 1; `None` when nothing was searched by vector.
    pub best_similarity: Option<f64>,
    /// The query's similarity to the whole corpus searched.
    pub background: Option<Background>,
    /// A similarity from which this model's answers are about the query whatever the corpus; `None` when the model has no such
    /// figure.
    pub reference: Option<f64>,
}

/// The rule that says that nothing is relevant.
///
/// A query is empty when neither leg has evidence:
///
/// 1. the best lexical match covers less than `min_coverage` of the query's IDF mass, and
/// 2. the best similarity s₁ does not stand out: z = (s₁ − μ) / σ stays below √(2 ln n) + `margin`, where √(2 ln n) bounds the
///    expected maximum of n independent normal values, so that a best of n unrelated passages is expected to be there, and
/// 3. s₁ is below the model's reference similarity, where there is one.
///
/// With a similarity but neither a background with a spread nor a reference to hold it against, nothing can be said and
/// the gate stays open: a wrong "nothing" hides answers. Without a similarity, the lexical evidence alone decides.
///
/// ```
/// use tamis_cut::{Background, Evidence, Gate};
///
/// let background = Some(Background { mean: 0.05, deviation: 0.06, count: 10_000 });
/// let off_topic = Evidence { coverage: 0.1, best_similarity: Some(0.21), background, reference: None };
/// assert!(Gate::default().judge(&off_topic).empty);
/// let on_topic = Evidence { best_similarity: Some(0.62), ..off_topic };
/// assert!(!Gate::default().judge(&on_topic).empty);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Gate {
    /// Share of the query's IDF mass, 0 to 1, from which a lexical match is evidence by itself.
    pub min_coverage: f64,
    /// Standard deviations, −10 to 10, that the best similarity must exceed √(2 ln n) by.
    pub margin: f64,
}

impl Default for Gate {
    fn default() -> Self {
        Gate { min_coverage: 0.3, margin: 0.0 }
    }
}

/// Whether anything is relevant, and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// Whether there is no evidence that anything is relevant.
    pub empty: bool,
    /// One plain sentence, with numbers, that says why.
    pub reason: String,
    /// The figures behind it: `coverage`, `best_similarity`, `z`, `z_needed`, `reference`, where known.
    pub diagnostics: BTreeMap<String, Value>,
}

impl Verdict {
    /// The cut that a verdict of emptiness is: method `gate`, nothing kept.
    pub fn into_cut(self, pool: &Pool) -> Cut {
        Cut { diagnostics: self.diagnostics, ..Cut::new("gate", pool, 0, self.reason) }
    }
}

impl Gate {
    /// The gate's parameters with their ranges and defaults, as help and documentation show them.
    pub const PARAMETERS: &'static [Parameter] = &[
        Parameter {
            name: "min_coverage",
            doc: "Share of the query's IDF mass from which a lexical match is evidence by itself.",
            range: Range::Number { min: 0.0, max: 1.0 },
            default: || Value::Number(Gate::default().min_coverage),
        },
        Parameter {
            name: "margin",
            doc: "Standard deviations that the best similarity must exceed the expected maximum by.",
            range: Range::Number { min: -10.0, max: 10.0 },
            default: || Value::Number(Gate::default().margin),
        },
    ];

    /// Whether every parameter is within its range.
    ///
    /// # Errors
    /// [`RuleError::OutOfRange`] names the parameter, the value and the range.
    pub fn check(&self) -> Result<(), RuleError> {
        for (parameter, value) in Self::PARAMETERS.iter().zip([self.min_coverage, self.margin]) {
            if !parameter.range.contains(&Value::Number(value)) {
                return Err(RuleError::OutOfRange {
                    method: "gate",
                    parameter: parameter.name,
                    value: value.to_string(),
                    range: parameter.range,
                });
            }
        }
        Ok(())
    }

    /// Judges the evidence. O(1), and never panics.
    pub fn judge(&self, evidence: &Evidence) -> Verdict {
        let coverage = if evidence.coverage.is_finite() { evidence.coverage } else { 0.0 };
        let similarity = evidence.best_similarity.filter(|value| value.is_finite());
        let reference = evidence.reference.filter(|value| value.is_finite());
        let z =
            similarity.zip(evidence.background).and_then(|(similarity, background)| z_score(similarity, background));
        let z_needed = evidence.background.map(|background| expected_maximum(background.count) + self.margin);

        let mut verdict = self.verdict(coverage, similarity, z.zip(z_needed), reference);
        let figures = [
            ("coverage", Some(coverage)),
            ("best_similarity", similarity),
            ("z", z),
            ("z_needed", z.and(z_needed)),
            ("reference", reference),
        ];
        for (name, figure) in figures {
            if let Some(number) = figure.filter(|number| number.is_finite()) {
                verdict.diagnostics.insert(name.to_string(), Value::Number(number));
            }
        }
        verdict
    }

    fn verdict(
        &self,
        coverage: f64,
        similarity: Option<f64>,
        z: Option<(f64, f64)>,
        reference: Option<f64>,
    ) -> Verdict {
        let verdict = |empty, reason| Verdict { empty, reason, diagnostics: BTreeMap::new() };
        let share = format!("{}%", figure((1000.0 * coverage).round() / 10.0));
        if coverage >= self.min_coverage {
            return verdict(false, format!("the best match has {share} of the query's weight in its words"));
        }
        let Some(similarity) = similarity else {
            return verdict(true, format!("the best match has only {share} of the query's weight in its words"));
        };
        let best = figure(similarity);
        if let Some(reference) = reference.filter(|&reference| similarity >= reference) {
            return verdict(
                false,
                format!("the best similarity, {best}, reaches the model's reference, {}", figure(reference)),
            );
        }
        match z {
            Some((z, needed)) if z >= needed => verdict(
                false,
                format!(
                    "the best similarity, {best}, is {} deviations above the background, where chance reaches {}",
                    figure(z),
                    figure(needed)
                ),
            ),
            Some((z, needed)) => verdict(
                true,
                format!(
                    "the best match has only {share} of the query's weight in its words, and the best similarity, {best}, is {} \
                     deviations above the background, within the {} that chance reaches",
                    figure(z),
                    figure(needed)
                ),
            ),
            None => match reference {
                Some(reference) => verdict(
                    true,
                    format!(
                        "the best match has only {share} of the query's weight in its words, and the best similarity, {best}, \
                         stays below the model's reference, {}",
                        figure(reference)
                    ),
                ),
                None => verdict(false, format!("there is nothing to hold the best similarity, {best}, against")),
            },
        }
    }
}

/// How many deviations a similarity is above the background; `None` where the background has no spread to speak of.
fn z_score(similarity: f64, background: Background) -> Option<f64> {
    let Background { mean, deviation, count } = background;
    let usable = count >= 2 && mean.is_finite() && deviation.is_finite() && deviation > 0.0;
    let z = (similarity - mean) / deviation;
    (usable && z.is_finite()).then_some(z)
}

/// √(2 ln n), which bounds the expected maximum of n independent standard normal values; 0 for n of 0 and 1.
fn expected_maximum(count: usize) -> f64 {
    (2.0 * (count.max(1) as f64).ln()).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BACKGROUND: Option<Background> = Some(Background { mean: 0.1, deviation: 0.1, count: 1000 });

    #[test]
    fn the_expected_maximum_grows_slowly() {
        for (count, expected) in [(0, 0.0), (1, 0.0), (1000, 3.717), (1_000_000, 5.257)] {
            assert!((expected_maximum(count) - expected).abs() < 5e-4, "{count}");
        }
    }

    #[test]
    fn either_leg_opens_the_gate_and_only_both_close_it() {
        // 1000 normal values reach 3.717 deviations: similarity 0.4717.
        let cases = [
            ("neither", 0.1, Some(0.47), BACKGROUND, None, true),
            ("similarity stands out", 0.1, Some(0.48), BACKGROUND, None, false),
            ("words cover the query", 0.5, Some(0.2), BACKGROUND, None, false),
            ("the reference is reached", 0.1, Some(0.47), BACKGROUND, Some(0.45), false),
            ("the reference is not reached", 0.1, Some(0.44), BACKGROUND, Some(0.45), true),
            ("stands out below the reference", 0.1, Some(0.6), BACKGROUND, Some(0.7), false),
            ("no background, below the reference", 0.1, Some(0.6), None, Some(0.7), true),
            ("nothing to hold it against", 0.1, Some(0.6), None, None, false),
            ("lexical only, poor", 0.29, None, BACKGROUND, None, true),
            ("lexical only, good", 0.31, None, None, None, false),
        ];
        for (name, coverage, best_similarity, background, reference, empty) in cases {
            let verdict = Gate::default().judge(&Evidence { coverage, best_similarity, background, reference });
            assert_eq!(verdict.empty, empty, "{name}: {}", verdict.reason);
        }
    }

    #[test]
    fn a_margin_asks_for_more() {
        let evidence = Evidence { best_similarity: Some(0.5), background: BACKGROUND, ..Evidence::default() };
        assert!(!Gate::default().judge(&evidence).empty);
        let strict = Gate { margin: 1.0, ..Gate::default() }.judge(&evidence);
        assert!(strict.empty);
        assert!((strict.diagnostics["z"].as_number().unwrap() - 4.0).abs() < 1e-12);
        assert!((strict.diagnostics["z_needed"].as_number().unwrap() - 4.717).abs() < 5e-4);
    }

    #[test]
    fn evidence_that_is_not_finite_is_unknown() {
        let flat = Some(Background { mean: 0.1, deviation: 0.0, count: 1000 });
        let broken = Some(Background { mean: f64::NAN, deviation: 0.1, count: 1000 });
        for background in [flat, broken, None] {
            let evidence =
                Evidence { coverage: f64::NAN, best_similarity: Some(0.9), background, reference: Some(f64::NAN) };
            let verdict = Gate::default().judge(&evidence);
            assert!(!verdict.empty, "{}", verdict.reason);
        }
        let nothing = Evidence { best_similarity: Some(f64::NAN), background: BACKGROUND, ..Evidence::default() };
        assert!(Gate::default().judge(&nothing).empty);
    }

    #[test]
    fn a_verdict_becomes_a_cut_that_keeps_nothing() {
        let pool = Pool::scores([0.4, 0.3]).unwrap();
        let verdict = Gate::default().judge(&Evidence::default());
        let cut = verdict.clone().into_cut(&pool);
        assert_eq!((cut.method.as_str(), cut.keep, cut.dropped), ("gate", 0, 2));
        assert_eq!((cut.reason, cut.diagnostics), (verdict.reason, verdict.diagnostics));
    }

    #[test]
    fn ranges_are_checked() {
        assert_eq!(Gate::default().check(), Ok(()));
        let error = Gate { min_coverage: 1.5, ..Gate::default() }.check().unwrap_err();
        assert_eq!(error.to_string(), "gate:min_coverage must be a number from 0 to 1 and is 1.5");
    }
}
