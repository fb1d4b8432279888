//! What keeping the first k candidates is worth, for every k, when relevance is known only by probability.

use super::counts::Counts;

/// Relevance as far as it is known: one probability a candidate, best first, independent of each other given the
/// scenario, and how many relevant passages are expected outside the pool.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Scenario {
    pub weight: f64,
    pub probabilities: Vec<f64>,
    pub outside: f64,
}

/// The expectations of keeping the first k.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Expectation {
    /// Expected F_β; where nothing is relevant, F is 1 for keeping nothing and 0 otherwise.
    pub f: f64,
    /// Expected share of the kept that is relevant; 1 for keeping nothing.
    pub precision: f64,
    /// Expected share of the relevant that is kept, where anything is relevant at all.
    pub recall: f64,
}

/// Expectations for k = 0 to the number of candidates, over all scenarios.
///
/// For each k the count of relevant candidates among the first k and the count of the others are independent
/// Poisson-binomial variables A and B, and E F_β = Σ P(A) P(B) (1 + β²) A / (k + β² (A + B)): exact but for weights
/// below 1e-12. Ye, Chai, Lee and Chieu, "Optimizing F-measures: a tale of two approaches", ICML 2012, give the method
/// for whole β². O(n · w²) with w the width of those counts, which only undecided candidates widen.
pub(super) fn expectations(scenarios: &[Scenario], beta: f64) -> Vec<Expectation> {
    let candidates = scenarios.first().map_or(0, |scenario| scenario.probabilities.len());
    let mut total = vec![Expectation::default(); candidates + 1];
    let mut anything = 0.0;
    for scenario in scenarios {
        anything += add(scenario, beta * beta, &mut total);
    }
    for (kept, expectation) in total.iter_mut().enumerate() {
        expectation.recall = if anything > 0.0 { expectation.recall / anything } else { 1.0 };
        if kept == 0 {
            expectation.precision = 1.0;
        }
    }
    total
}

/// Adds one scenario with its weight. Returns the weight of there being anything relevant.
fn add(scenario: &Scenario, beta2: f64, total: &mut [Expectation]) -> f64 {
    let Scenario { weight, ref probabilities, outside } = *scenario;
    let mut after = vec![Counts::poisson(outside)];
    for &probability in probabilities.iter().rev() {
        let next = after[after.len() - 1].and(probability);
        after.push(next);
    }
    after.reverse();

    let nothing = after[0].zero();
    total[0].f += weight * nothing;
    let (mut before, mut expected) = (Counts::none(), 0.0);
    for (at, &probability) in probabilities.iter().enumerate() {
        before = before.and(probability);
        expected += probability;
        let kept = (at + 1) as f64;
        let (mut f, mut recall) = (0.0, 0.0);
        for (found, found_weight) in before.iter().filter(|&(found, _)| found > 0) {
            let found = found as f64;
            for (missed, missed_weight) in after[at + 1].iter() {
                let relevant = found + missed as f64;
                let both = found_weight * missed_weight * found;
                f += both / (kept + beta2 * relevant);
                recall += both / relevant;
            }
        }
        let here = &mut total[at + 1];
        here.f += weight * (1.0 + beta2) * f;
        here.recall += weight * recall;
        here.precision += weight * expected / kept;
    }
    weight * (1.0 - nothing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Over every combination of relevant and not.
    fn brute(scenario: &Scenario, beta: f64) -> Vec<Expectation> {
        let n = scenario.probabilities.len();
        let mut total = vec![Expectation::default(); n + 1];
        let mut anything = 0.0;
        for outcome in 0..1_u32 << n {
            let is = |at: usize| outcome >> at & 1 == 1;
            let odds = |at: usize| if is(at) { scenario.probabilities[at] } else { 1.0 - scenario.probabilities[at] };
            let weight: f64 = (0..n).map(odds).product();
            let relevant = f64::from(outcome.count_ones());
            anything += if relevant > 0.0 { weight } else { 0.0 };
            for (kept, expectation) in total.iter_mut().enumerate() {
                let found = (0..kept).filter(|&at| is(at)).count() as f64;
                let f = match (kept, relevant > 0.0) {
                    (0, false) => 1.0,
                    (_, false) => 0.0,
                    _ => (1.0 + beta * beta) * found / (kept as f64 + beta * beta * relevant),
                };
                expectation.f += weight * f;
                expectation.precision += weight * if kept == 0 { 1.0 } else { found / kept as f64 };
                expectation.recall += if relevant > 0.0 { weight * found / relevant } else { 0.0 };
            }
        }
        for expectation in &mut total {
            expectation.recall = if anything > 0.0 { expectation.recall / anything } else { 1.0 };
        }
        total
    }

    proptest! {
        #[test]
        fn small_pools_are_exact(probabilities in prop::collection::vec(0.0..=1.0f64, 0..9), beta in 0.2..4.0f64) {
            let scenario = Scenario { weight: 1.0, probabilities, outside: 0.0 };
            let (fast, slow) = (expectations(std::slice::from_ref(&scenario), beta), brute(&scenario, beta));
            for (fast, slow) in fast.iter().zip(&slow) {
                prop_assert!((fast.f - slow.f).abs() < 1e-9, "{fast:?} {slow:?}");
                prop_assert!((fast.precision - slow.precision).abs() < 1e-9, "{fast:?} {slow:?}");
                prop_assert!((fast.recall - slow.recall).abs() < 1e-6, "{fast:?} {slow:?}");
            }
        }

        #[test]
        fn scenarios_mix_by_their_weights(a in prop::collection::vec(0.0..=1.0f64, 5), b in prop::collection::vec(0.0..=1.0f64, 5)) {
            let scenario = |weight, probabilities: &Vec<f64>| Scenario { weight, probabilities: probabilities.clone(), outside: 0.0 };
            let mixed = expectations(&[scenario(0.3, &a), scenario(0.7, &b)], 1.0);
            let (a, b) = (expectations(&[scenario(1.0, &a)], 1.0), expectations(&[scenario(1.0, &b)], 1.0));
            for at in 0..=5 {
                prop_assert!((mixed[at].f - 0.3 * a[at].f - 0.7 * b[at].f).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn relevant_passages_outside_the_pool_lower_recall() {
        let scenario = |outside| Scenario { weight: 1.0, probabilities: vec![0.9; 3], outside };
        let (none, many) = (expectations(&[scenario(0.0)], 1.0), expectations(&[scenario(6.0)], 1.0));
        assert!(many[3].recall < 0.5 && none[3].recall > 0.999, "{many:?}");
        assert_eq!(none[3].precision, many[3].precision);
    }
}
