//! The gate: decides by absolute evidence if anything is relevant at all. The shape of a list cannot show it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::cut::{Cut, NOTHING_CLOSE, NOTHING_LIKELY, Value};
use crate::pool::{Background, Pool};
use crate::rule::Rule;

/// Absolute evidence on a query's best candidates. A retriever that did not run is `None`. A number that is not finite counts as
/// unknown, which never speaks against the query.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Evidence {
    /// Share of the query's IDF mass that the best lexical candidate matches, 0 to 1; 0 without a lexical match.
    pub coverage: Option<f64>,
    /// Best similarity to the query of any passage, −1 to 1.
    pub best_similarity: Option<f64>,
    /// The query's similarity to the whole corpus searched.
    pub background: Option<Background>,
    /// The similarity that a passage on the query's subject has under this model; `None` where it was not measured.
    pub reference: Option<f64>,
    /// Share of the words that an answer must have (identifiers, quoted phrases, numbers of the query) that the best candidate
    /// has, 0 to 1; `None` where the query has no such words.
    pub required: Option<f64>,
    /// True if a candidate is exactly what the query asks for: the definition of its name, the text of its message. Then something
    /// is relevant, whatever the other figures say.
    #[serde(default)]
    pub exact: bool,
}

impl Evidence {
    /// The sum of the coverage and the best similarity as a share of the reference; `None` unless both retrievers took part.
    pub fn sum(&self) -> Option<f64> {
        Some(finite(self.coverage)? + self.share()?.max(0.0))
    }

    /// The best similarity as a share of the reference.
    fn share(&self) -> Option<f64> {
        let known = finite(self.best_similarity).zip(self.reference());
        finite(known.map(|(similarity, reference)| similarity / reference))
    }

    /// The model's reference, or an estimate from the background.
    fn reference(&self) -> Option<f64> {
        finite(self.reference)
            .or_else(|| finite(self.background.map(|b| b.mean + REFERENCE_DEVIATIONS * b.deviation)))
            .filter(|&reference| reference > 0.0)
    }
}

fn finite(value: Option<f64>) -> Option<f64> {
    value.filter(|value| value.is_finite())
}

/// Number of passages from which `min_evidence` counts in full, and how much less is needed for each factor of e below it.
/// Coverage and similarity of the best passage are maxima: of few passages they are lower, for answered queries too.
const LARGE_CORPUS: f64 = 1000.0;
const LESS_BY_SIZE: f64 = 0.1;

/// The least that a small corpus needs.
const SMALL_CORPUS_NEEDS: f64 = 0.7;

/// How much less evidence is needed where the best candidate has all words that must be there, and how much more where it
/// has none.
const LESS_WITH_REQUIRED: f64 = 0.2;
const MORE_WITHOUT_REQUIRED: f64 = 0.3;

/// Decides whether anything is relevant.
///
/// The evidence is the sum of the coverage and the best similarity as a share of the model's reference. A query is empty
/// when that sum stays below `min_evidence`. Meaning alone opens the gate well above the reference, words alone when one
/// passage has all of the query's weight (a coverage of 0.95), and both together with less of each. The sum separates better
/// than either retriever, or than both in turn. The spread of the similarities says little (it was tried).
///
/// A retriever that ran alone is compared with its own bound. A model without a reference gets the mean of the background plus
/// 4.5 of its standard deviations. Without a background the gate stays open, since a wrong "nothing" hides answers.
///
/// A corpus of fewer than 1,000 passages needs less: 0.1 for each factor of e, at least 0.7. Words that an answer must have
/// ([`Evidence::required`]) lower the requirement where the best candidate has them all, and raise it where it lacks them;
/// then words alone do not open the gate. Past queries never move it. `docs/research/auto.md` says what was measured on public
/// collections.
///
/// A pool with [probabilities](Pool::with_probabilities) is judged by these alone: no candidate below `level` is kept.
///
/// ```
/// use tamis_cut::{Evidence, Gate};
///
/// let off_topic = Evidence {
///     coverage: Some(0.2),
///     best_similarity: Some(0.21),
///     background: None,
///     reference: Some(0.5),
///     required: None,
///     exact: false,
/// };
/// assert!(Gate::default().judge(&off_topic).empty);
/// let on_topic = Evidence { best_similarity: Some(0.62), ..off_topic };
/// assert!(!Gate::default().judge(&on_topic).empty);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gate {
    /// Least sum of coverage and share of the reference, 0 to 2.
    pub min_evidence: f64,
    /// Least coverage where only words were searched, 0 to 1.
    pub min_coverage: f64,
    /// Least share of the reference where only vectors were searched, 0 to 2.
    pub min_similarity: f64,
    /// Least probability of a candidate, where each one's is known, 0 to 1.
    pub level: f64,
}

impl Default for Gate {
    fn default() -> Self {
        Gate { min_evidence: 1.15, min_coverage: 0.3, min_similarity: 0.75, level: 0.07 }
    }
}

/// Coverage at which the words decide alone.
const FULL_COVERAGE: f64 = 0.95;

/// Standard deviations above the background's mean that stand in for a missing reference.
const REFERENCE_DEVIATIONS: f64 = 4.5;

/// The gate's decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Verdict {
    /// True if nothing is relevant.
    pub empty: bool,
    /// A short clause in plain words.
    pub reason: String,
    /// The figures behind it: `coverage`, `best_similarity`, `reference`, `evidence`, `needed`, where known.
    pub diagnostics: BTreeMap<Cow<'static, str>, Value>,
}

impl Verdict {
    /// The cut with the figures of this verdict among its diagnostics, each with `gate_` before its name.
    pub fn note_in(self, mut cut: Cut) -> Cut {
        let figures = self.diagnostics.into_iter();
        cut.diagnostics.extend(figures.map(|(name, value)| (format!("gate_{name}").into(), value)));
        cut
    }

    /// The cut that keeps nothing for this reason, with method `gate`.
    pub fn into_cut(self, pool: &Pool) -> Cut {
        Cut { diagnostics: self.diagnostics, gated: true, ..Cut::new("gate", pool, 0, self.reason) }
    }
}

impl Gate {
    /// The gate's cut where nothing is relevant; otherwise the rule's, with the gate's figures added as `gate_…`. The rule
    /// explains an empty pool.
    pub fn cut(&self, evidence: &Evidence, rule: &dyn Rule, pool: &Pool) -> Cut {
        if pool.is_empty() {
            return rule.cut(pool);
        }
        let verdict = self.verdict(evidence, pool);
        if verdict.empty {
            return verdict.into_cut(pool);
        }
        match pool.probabilities() {
            Some(probabilities) => {
                let passing = probabilities.partition_point(|&probability| probability >= self.level);
                verdict.note_in(rule.cut(&pool.clone().with_passing(passing))).with("passing", passing)
            }
            None => verdict.note_in(rule.cut(pool)),
        }
    }

    /// Judges a pool: by the probability of its best candidate where that is known, and otherwise by the evidence. O(1).
    pub fn verdict(&self, evidence: &Evidence, pool: &Pool) -> Verdict {
        let Some(&best) = pool.probabilities().and_then(<[f64]>::first) else { return self.judge(evidence) };
        let empty = best < self.level;
        let reason = if empty { NOTHING_LIKELY } else { "the best match is likely enough" };
        let figures = [("probability", best), ("needed", self.level)];
        let diagnostics = figures.map(|(name, figure)| (name.into(), Value::Number(figure))).into();
        Verdict { empty, reason: reason.to_owned(), diagnostics }
    }

    /// The sum that both retrievers need together: less in a small corpus, and moved by the words that must be there.
    fn needed(&self, evidence: &Evidence) -> f64 {
        // A gate that requires nothing is off.
        if self.min_evidence <= 0.0 {
            return 0.0;
        }
        let passages = evidence.background.map_or(LARGE_CORPUS, |background| background.count as f64);
        let small = (LARGE_CORPUS / passages.max(1.0)).ln().max(0.0);
        let least = SMALL_CORPUS_NEEDS.min(self.min_evidence);
        let required = match finite(evidence.required).map(|share| share.clamp(0.0, 1.0)) {
            Some(1.0) => -LESS_WITH_REQUIRED,
            Some(share) => MORE_WITHOUT_REQUIRED * (1.0 - share),
            None => 0.0,
        };
        ((self.min_evidence - LESS_BY_SIZE * small).max(least) + required).max(0.0)
    }

    /// Judges the evidence. O(1), and never panics.
    pub fn judge(&self, evidence: &Evidence) -> Verdict {
        let coverage = finite(evidence.coverage);
        let similarity = finite(evidence.best_similarity);
        let share = evidence.share();
        let required = finite(evidence.required);
        let (found, needed) = match (coverage, share) {
            _ if evidence.exact => (Some(1.0), 0.0),
            // One passage has all of the query's words. A low similarity does not speak against it, since a model sees no
            // likeness in words or scripts that it does not know.
            (Some(coverage), Some(_)) if coverage >= FULL_COVERAGE && required.is_none_or(|share| share >= 1.0) => {
                (Some(coverage), self.min_coverage)
            }
            (Some(_), Some(_)) => (evidence.sum(), self.needed(evidence)),
            (Some(coverage), None) if similarity.is_none() => (Some(coverage), self.min_coverage),
            (None, Some(share)) => (Some(share), self.min_similarity),
            _ => (None, self.min_evidence),
        };
        let empty = found.is_some_and(|found| found < needed);
        let retrievers = match (coverage, share.filter(|_| found != coverage)) {
            (Some(_), Some(_)) => "in words or meaning",
            (Some(_), None) => "in words",
            _ => "in meaning",
        };
        let reason = match (found, empty) {
            _ if evidence.exact => "a match is exactly what was asked for".to_string(),
            (None, _) => "there is nothing to compare the best match with".to_string(),
            (Some(_), true) => format!("{NOTHING_CLOSE} {retrievers}"),
            (Some(_), false) => format!("the best match is close enough {retrievers}"),
        };
        let mut verdict = Verdict { empty, reason, diagnostics: BTreeMap::new() };
        let figures = [
            ("coverage", coverage),
            ("best_similarity", similarity),
            ("reference", similarity.and(evidence.reference())),
            ("evidence", found),
            ("needed", found.map(|_| needed)),
            ("required", required),
        ];
        for (name, figure) in figures {
            if let Some(number) = finite(figure) {
                verdict.diagnostics.insert(name.into(), Value::Number(number));
            }
        }
        verdict
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evidence(coverage: f64, similarity: f64) -> Evidence {
        let best_similarity = Some(similarity);
        Evidence { coverage: Some(coverage), best_similarity, reference: Some(0.5), ..Evidence::default() }
    }

    const BACKGROUND: Option<Background> = Some(Background { mean: 0.05, deviation: 0.1, count: 1000 });

    #[test]
    fn the_retrievers_add_up_and_each_alone_has_its_own_bound() {
        // Without a reference the background gives 0.05 + 4.5 · 0.1 = 0.5.
        let cases = [
            ("neither", Some(0.2), Some(0.2), None, Some(0.5), true),
            ("meaning alone", Some(0.0), Some(0.6), None, Some(0.5), false),
            ("words alone", Some(1.0), Some(-0.1), None, Some(0.5), false),
            ("most of the words", Some(0.9), Some(0.1), None, Some(0.5), true),
            ("a little of each", Some(0.5), Some(0.35), None, Some(0.5), false),
            ("too little of each", Some(0.5), Some(0.3), None, Some(0.5), true),
            ("the background's reference", Some(0.5), Some(0.3), BACKGROUND, None, true),
            ("above the background's reference", Some(0.0), Some(0.6), BACKGROUND, None, false),
            ("nothing to hold it against", Some(0.0), Some(0.3), None, None, false),
            ("only words, poor", Some(0.29), None, None, None, true),
            ("only words, good", Some(0.31), None, None, None, false),
            ("only vectors, poor", None, Some(0.37), None, Some(0.5), true),
            ("only vectors, good", None, Some(0.38), None, Some(0.5), false),
            ("nothing at all", None, None, None, None, false),
        ];
        for (name, coverage, best_similarity, background, reference, empty) in cases {
            let evidence = Evidence { coverage, best_similarity, background, reference, ..Evidence::default() };
            let verdict = Gate::default().judge(&evidence);
            assert_eq!(verdict.empty, empty, "{name}: {}", verdict.reason);
        }
    }

    #[test]
    fn small_corpora_need_less() {
        let of = |count: usize| {
            let background = Some(Background { mean: 0.05, deviation: 0.1, count });
            let verdict = Gate::default().judge(&Evidence { background, ..evidence(0.4, 0.25) });
            verdict.diagnostics["needed"].as_number().expect("a figure")
        };
        assert!((of(40) - 0.828).abs() < 0.001 && (of(200) - 0.989).abs() < 0.001, "{} {}", of(40), of(200));
        assert_eq!((of(5), of(1000), of(1_000_000)), (0.7, 1.15, 1.15));
    }

    #[test]
    fn words_that_must_be_there_open_the_gate_and_keep_it_shut() {
        let judge = |required, coverage, similarity| {
            Gate::default().judge(&Evidence { required, ..evidence(coverage, similarity) }).empty
        };
        // 0.4 + 0.3 / 0.5 = 1.0: too little, but for the words that must be there.
        let shut = [None, Some(0.0), Some(0.5), Some(1.0)].map(|required| judge(required, 0.4, 0.3));
        assert_eq!(shut, [true, true, true, false]);
        assert_eq!([None, Some(0.0), Some(1.0)].map(|required| judge(required, 1.0, 0.1)), [false, true, false]);
    }

    #[test]
    fn known_probabilities_decide_alone() {
        let cut = |probabilities: &[f64]| {
            let pool = Pool::scores([0.9, 0.5, 0.45]).unwrap().with_probabilities(probabilities.to_vec());
            Gate { level: 0.2, ..Gate::default() }.cut(&evidence(1.0, 0.9), &crate::Auto::default(), &pool)
        };
        let refused = cut(&[0.19, 0.1, 0.1]);
        assert!(refused.gated && refused.keep == 0);
        assert_eq!(refused.diagnostics["probability"].as_number(), Some(0.19));
        let kept = cut(&[0.3, 0.25, 0.19]);
        assert_eq!((kept.gated, kept.keep), (false, 2), "the third does not pass by itself");
    }

    #[test]
    fn the_reason_is_plain_and_the_figures_are_in_the_diagnostics() {
        let evidence =
            Evidence { coverage: Some(0.25), best_similarity: Some(0.2), reference: Some(0.5), ..Evidence::default() };
        let verdict = Gate::default().judge(&evidence);
        assert_eq!(verdict.reason, "nothing close enough in words or meaning");
        for (name, figure) in [("coverage", 0.25), ("evidence", 0.65), ("needed", 1.15), ("reference", 0.5)] {
            assert_eq!(verdict.diagnostics[name].as_number(), Some(figure), "{name}");
        }
        let words = Evidence { coverage: Some(0.25), ..Evidence::default() };
        assert_eq!(Gate::default().judge(&words).reason, "nothing close enough in words");
        let meaning = Evidence { coverage: None, ..evidence };
        assert_eq!(Gate::default().judge(&meaning).reason, "nothing close enough in meaning");
        let open = Evidence { coverage: Some(1.0), ..evidence };
        assert_eq!(Gate::default().judge(&open).reason, "the best match is close enough in words");
        let unknown = Gate::default().judge(&Evidence::default());
        assert_eq!(unknown.reason, "there is nothing to compare the best match with");
    }

    #[test]
    fn what_is_exactly_asked_for_opens_the_gate() {
        let poor = Evidence { required: Some(0.0), ..evidence(0.1, 0.05) };
        assert!(Gate::default().judge(&poor).empty);
        let verdict = Gate::default().judge(&Evidence { exact: true, ..poor });
        assert!(!verdict.empty && verdict.reason.contains("exactly what was asked for"), "{}", verdict.reason);
    }

    #[test]
    fn evidence_that_is_not_finite_is_unknown() {
        let broken = Some(Background { mean: f64::NAN, deviation: 0.1, count: 1000 });
        for background in [broken, None] {
            let nan = Some(f64::NAN);
            let known = Evidence { best_similarity: Some(0.9), background, ..Evidence::default() };
            let evidence = Evidence { coverage: nan, reference: nan, required: nan, ..known };
            let verdict = Gate::default().judge(&evidence);
            assert!(!verdict.empty, "{}", verdict.reason);
        }
    }

    #[test]
    fn a_verdict_becomes_a_cut_that_keeps_nothing() {
        let pool = Pool::scores([0.4, 0.3]).unwrap();
        let verdict = Gate::default().judge(&Evidence { coverage: Some(0.0), ..Evidence::default() });
        let cut = verdict.clone().into_cut(&pool);
        assert_eq!((cut.method.as_str(), cut.gated, cut.keep, cut.dropped), ("gate", true, 0, 2));
        assert_eq!((cut.reason, cut.diagnostics), (verdict.reason, verdict.diagnostics));
    }
}
