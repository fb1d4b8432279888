//! The worth of keeping the first k candidates, for every k, when relevance is known only by probability.

use super::counts::Counts;

/// One way relevance may be: a probability per candidate, best first, independent given the scenario, and the expected
/// number of relevant passages outside the pool.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Scenario {
    pub weight: f64,
    pub probabilities: Vec<f64>,
    pub outside: f64,
}

/// The expectations of keeping the first k.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Expectation {
    /// Expected F_β. Where nothing is relevant, F is 1 for keeping nothing and 0 otherwise.
    pub f: f64,
    /// Expected share of the kept candidates that is relevant; 1 for keeping nothing.
    pub precision: f64,
    /// Expected share of the relevant passages that is kept, given that there are any.
    pub recall: f64,
}

/// Expectations for k = 0 to the number of candidates, over all scenarios.
///
/// Let R of all candidates be relevant, and A of the first k. Then E F_β = Σ (1 + β²) · E[A; R] / (k + β² R), where E[A; R]
/// is the sum over the first k of the probability that the candidate is relevant and the count is R. R is Poisson binomial,
/// and taking a candidate out of the count gives the part it adds. All k together cost O(n · w) for any β, with w the width of
/// the count, which only undecided candidates widen; exact but for weights below 1e-12. Ye, Chai, Lee and Chieu, "Optimizing
/// F-measures: a tale of two approaches", ICML 2012, give a method of O(n²) for whole β².
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

/// Candidates whose parts of the count are computed side by side.
const LANES: usize = 4;

/// Adds one scenario with its weight. Returns the weight of the case that anything is relevant.
fn add(scenario: &Scenario, beta2: f64, total: &mut [Expectation]) -> f64 {
    let Scenario { weight, ref probabilities, outside } = *scenario;
    let mut relevant = Counts::poisson(outside);
    probabilities.iter().for_each(|&probability| relevant.add(probability));
    let nothing = relevant.zero();
    total[0].f += weight * nothing;

    // By count: its part of the denominator, and the recall that one candidate of so many gives.
    let counts = (relevant.first()..).take(relevant.mass().len()).map(|count| count as f64);
    let missable: Vec<f64> = counts.clone().map(|count| beta2 * count).collect();
    let each: Vec<f64> = counts.map(|count| if count > 0.0 { 1.0 / count } else { 0.0 }).collect();
    // E[A; R] of the candidates so far, by R.
    let mut found = vec![0.0; missable.len()];
    let (mut recall, mut expected, mut kept) = (0.0, 0.0, 0);
    let one_side = |a: &f64, b: &f64| (*a > 0.5) == (*b > 0.5);
    for lanes in probabilities.chunk_by(one_side).flat_map(|run| run.chunks(LANES)) {
        let ranks: [f64; LANES] = std::array::from_fn(|lane| (kept + lane + 1) as f64);
        // With fewer candidates than lanes, the other lanes repeat the first one and count for nothing.
        let counts = ranks.map(|rank| f64::from(u8::from(rank <= (kept + lanes.len()) as f64)));
        let (mut f, mut recalls) = ([0.0; LANES], [0.0; LANES]);
        relevant.joint(
            std::array::from_fn(|lane| lanes.get(lane).copied().unwrap_or(lanes[0])),
            |at, joint: &[f64; LANES]| {
                let mut sum = found[at];
                for lane in 0..LANES {
                    let joint = counts[lane] * joint[lane];
                    sum += joint;
                    f[lane] += sum / (ranks[lane] + missable[at]);
                    recalls[lane] += joint * each[at];
                }
                found[at] = sum;
            },
        );
        for (lane, probability) in lanes.iter().enumerate() {
            kept += 1;
            expected += probability;
            recall += recalls[lane];
            total[kept].f += weight * (1.0 + beta2) * f[lane];
            total[kept].recall += weight * recall;
            total[kept].precision += weight * expected / kept as f64;
        }
    }
    weight * (1.0 - nothing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Enumerates every combination of relevant and not.
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

    /// Uses the counts before and after every candidate, which is slow and free of cancellation.
    fn direct(scenario: &Scenario, beta: f64) -> Vec<Expectation> {
        let counts = |probabilities: &[f64], counts: Counts| {
            probabilities.iter().fold(counts, |mut counts, &probability| {
                counts.add(probability);
                counts
            })
        };
        let of = |kept: usize| {
            let (before, after) = scenario.probabilities.split_at(kept);
            let (before, after) = (counts(before, Counts::none()), counts(after, Counts::poisson(scenario.outside)));
            let mut here = Expectation::default();
            for (found, weight) in (before.first()..).zip(before.mass()).filter(|(found, _)| *found > 0) {
                for (missed, other) in (after.first()..).zip(after.mass()) {
                    let (found, relevant) = (found as f64, (found + missed) as f64);
                    here.f += weight * other * (1.0 + beta * beta) * found / (kept as f64 + beta * beta * relevant);
                    here.recall += weight * other * found / relevant;
                }
            }
            if kept == 0 {
                here.f = after.zero();
            }
            here
        };
        (0..=scenario.probabilities.len()).map(of).collect()
    }

    proptest! {
        #[test]
        fn long_pools_are_what_they_are_the_long_way(
            mut probabilities in prop::collection::vec(prop_oneof![0.0..=1.0f64, Just(0.5), Just(1.0), Just(1e-9)], 0..150),
            sorted: bool,
            outside in 0.0..5.0f64,
            beta in 0.1..10.0f64,
        ) {
            if sorted {
                probabilities.sort_by(|a, b| b.total_cmp(a));
            }
            let scenario = Scenario { weight: 1.0, probabilities, outside };
            let (fast, slow) = (expectations(std::slice::from_ref(&scenario), beta), direct(&scenario, beta));
            let anything = 1.0 - slow[0].f;
            for (fast, slow) in fast.iter().zip(&slow) {
                prop_assert!((fast.f - slow.f).abs() < 1e-9, "{fast:?} {slow:?}");
                prop_assert!((anything * fast.recall - slow.recall).abs() < 1e-9, "{fast:?} {slow:?}");
            }
        }

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
