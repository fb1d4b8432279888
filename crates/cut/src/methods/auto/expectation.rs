//! The worth of keeping the first k candidates, for every k, when relevance is known only by probability.

use super::Auto;
use super::counts::{Counter, Counts};
use crate::pool::Pool;

/// One way relevance may be: a probability per candidate, best first, independent given the scenario, and the expected
/// number of relevant passages outside the pool.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    pub weight: f64,
    pub probabilities: Vec<f64>,
    pub outside: f64,
}

/// The expectations of keeping the first k.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Expectation {
    /// Expected F_β. Where nothing is relevant, F is 1 for keeping nothing and 0 otherwise.
    pub f: f64,
    /// Expected share of the kept candidates that is relevant; 1 for keeping nothing.
    pub precision: f64,
    /// Expected share of the relevant passages that is kept, given that there are any.
    pub recall: f64,
}

/// The numbers of kept candidates whose expectations are needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needed {
    /// All.
    All,
    /// Those up to the one after the best F.
    UpToBest,
}

/// Expectations for k = 0 to the number of candidates, over all scenarios. The candidates are in the order of their
/// `probabilities`, which are those over all scenarios. What is not needed has its precision alone, and 0 for the others.
///
/// Let R of all candidates be relevant, and A of the first k. Then E F_β = Σ (1 + β²) · E[A; R] / (k + β² R), where E[A; R]
/// is the sum over the first k of the probability that the candidate is relevant and the count is R. R is Poisson binomial,
/// and taking a candidate out of the count gives the part it adds. All k together cost O(n · w) for any β, with w the width of
/// the count, which only undecided candidates widen; exact but for weights below 1e-10. Ye, Chai, Lee and Chieu, "Optimizing
/// F-measures: a tale of two approaches", ICML 2012, give a method of O(n²) for whole β².
pub fn expectations(scenarios: &[Scenario], probabilities: &[f64], beta: f64, needed: Needed) -> Vec<Expectation> {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: this processor has AVX2.
        return unsafe { computed_with_avx2(scenarios, probabilities, beta, needed) };
    }
    computed(scenarios, probabilities, beta, needed)
}

/// As [`computed`], four numbers at a time. Each is computed by the same operations in the same order, so the bits are the same.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn computed_with_avx2(scenarios: &[Scenario], probabilities: &[f64], beta: f64, needed: Needed) -> Vec<Expectation> {
    computed(scenarios, probabilities, beta, needed)
}

/// The arithmetic. All of it is inlined, so that each caller has it compiled for its own instructions.
#[inline(always)]
fn computed(scenarios: &[Scenario], probabilities: &[f64], beta: f64, needed: Needed) -> Vec<Expectation> {
    let beta2 = beta * beta;
    let candidates = probabilities.len();
    let (mut counter, mut counts) = (Counter::with_capacity(candidates), Vec::with_capacity(scenarios.len()));
    // The compiler does not inline a closure here, and would compile it without AVX2.
    for scenario in scenarios {
        counts.push(counter.count(&scenario.probabilities, scenario.outside, scenario.weight));
    }
    let zero: f64 = counts.iter().map(Counts::zero).sum();
    let mut table = vec![Expectation { f: zero, precision: 1.0, recall: 0.0 }];
    // The expected number of relevant ones among the first k.
    let mut expected = 0.0;
    for (kept, probability) in (1..).zip(probabilities) {
        expected += probability;
        table.push(Expectation { precision: expected / kept as f64, ..Expectation::default() });
    }
    let mut found = Found::new(&counts);
    let (mut kept, mut best) = (0, 0);
    while kept < candidates {
        // R is at least A, and A / (k + β² A) is concave in A, so F is at most this, which falls with k.
        let precision = table[kept + 1].precision;
        let most = (1.0 + beta2) * precision / (1.0 + beta2 * precision);
        if needed == Needed::UpToBest && kept > best && most < table[best].f - ROUNDING {
            break;
        }
        let next = (kept + LANES).min(candidates);
        for (scenario, counts) in scenarios.iter().zip(&counts) {
            found.add(&scenario.probabilities[kept..next], counts);
        }
        found.advance(kept, beta2, &mut table[kept + 1..=next]);
        best = (kept + 1..=next).fold(best, |best, kept| if table[kept].f > table[best].f { kept } else { best });
        kept = next;
    }
    let anything = 1.0 - zero;
    for expectation in &mut table {
        expectation.recall = if anything > 0.0 { expectation.recall / anything } else { 1.0 };
    }
    table
}

/// More than the errors of an expectation by rounding and by weights that are left out.
const ROUNDING: f64 = 1e-8;

/// Candidates whose parts of the count are computed side by side.
const LANES: usize = 8;

/// E[A; R] over all scenarios, by R.
struct Found {
    /// Of the candidates so far.
    sums: Vec<f64>,
    /// The parts of the next candidates.
    next: Vec<[f64; LANES]>,
}

impl Found {
    fn new(counts: &[Counts]) -> Self {
        let most = counts.iter().map(|counts| counts.first() + counts.mass().len()).max().unwrap_or(0);
        Found { sums: vec![0.0; most], next: vec![[0.0; LANES]; most] }
    }

    /// Adds the parts of the next candidates in one scenario, at most [`LANES`].
    #[inline(always)]
    fn add(&mut self, probabilities: &[f64], counts: &Counts) {
        let lanes = std::array::from_fn(|lane| probabilities.get(lane).copied().unwrap_or(0.0));
        counts.joint(lanes, |count, joint: &[f64; LANES]| {
            self.next[count].iter_mut().zip(joint).for_each(|(next, joint)| *next += joint);
        });
    }

    /// Goes on to the next candidates, after this many, and fills their rows.
    #[inline(always)]
    fn advance(&mut self, kept: usize, beta2: f64, rows: &mut [Expectation]) {
        let ranks: [f64; LANES] = std::array::from_fn(|lane| (kept + lane + 1) as f64);
        let (mut f, mut recall) = ([0.0; LANES], [0.0; LANES]);
        for (count, (sum, next)) in self.sums.iter_mut().zip(&mut self.next).enumerate().skip(1) {
            let (missable, each, mut here) = (beta2 * count as f64, 1.0 / count as f64, *sum);
            for lane in 0..LANES {
                here += next[lane];
                f[lane] += here / (ranks[lane] + missable);
                recall[lane] += here * each;
            }
            (*sum, *next) = (here, [0.0; LANES]);
        }
        for (row, (f, recall)) in rows.iter_mut().zip(f.into_iter().zip(recall)) {
            (row.f, row.recall) = ((1.0 + beta2) * f, recall);
        }
    }
}

// The token budget: how many candidates it pays for.

/// The number of tokens of each candidate, in the order of the list as given.
struct Sizes(Vec<usize>);

impl Pool {
    /// The pool with the number of tokens of each candidate's text, in the order of the list as given.
    pub fn with_sizes(self, sizes: Vec<usize>) -> Self {
        self.with(Sizes(sizes))
    }

    /// The number of tokens of the candidate at `rank` (from 0), where the pool has it.
    pub fn size(&self, rank: usize) -> Option<usize> {
        self.get::<Sizes>()?.0.get(self.position(rank)?).copied()
    }
}

impl Auto {
    /// The number of first candidates that the budget pays for, at most `depth`.
    pub fn affordable(&self, pool: &Pool, depth: usize) -> usize {
        if self.budget_tokens == 0 {
            return depth;
        }
        let mut spent = 0_usize;
        let fits = |rank: &usize| {
            spent = spent.saturating_add(pool.size(*rank).unwrap_or(0));
            spent <= self.budget_tokens
        };
        (0..depth).take_while(fits).count()
    }

    /// The size of the best candidate, where it alone is the reason for keeping nothing.
    pub fn unaffordable(&self, pool: &Pool, table: &[Expectation], within: usize) -> Option<usize> {
        let gated = pool.probabilities().is_some();
        let only_for_the_budget = within == 0 && self.choose(table, table.len() - 1, gated).0 > 0;
        pool.size(0).filter(|_| only_for_the_budget)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::methods::auto::relevance::mixed;
    use proptest::prelude::*;

    fn expectations(scenarios: &[Scenario], beta: f64, needed: Needed) -> Vec<Expectation> {
        super::expectations(scenarios, &mixed(scenarios), beta, needed)
    }

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
        let of = |kept: usize| {
            let (before, after) = scenario.probabilities.split_at(kept);
            let mut counter = Counter::with_capacity(0);
            let (before, after) = (counter.count(before, 0.0, 1.0), counter.count(after, scenario.outside, 1.0));
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
            let (fast, slow) = (expectations(std::slice::from_ref(&scenario), beta, Needed::All), direct(&scenario, beta));
            let anything = 1.0 - slow[0].f;
            for (fast, slow) in fast.iter().zip(&slow) {
                prop_assert!((fast.f - slow.f).abs() < ROUNDING, "{fast:?} {slow:?}");
                prop_assert!((anything * fast.recall - slow.recall).abs() < ROUNDING, "{fast:?} {slow:?}");
            }
        }

        #[test]
        fn small_pools_are_exact(probabilities in prop::collection::vec(0.0..=1.0f64, 0..9), beta in 0.2..4.0f64) {
            let scenario = Scenario { weight: 1.0, probabilities, outside: 0.0 };
            let (fast, slow) = (expectations(std::slice::from_ref(&scenario), beta, Needed::All), brute(&scenario, beta));
            for (fast, slow) in fast.iter().zip(&slow) {
                prop_assert!((fast.f - slow.f).abs() < 1e-9, "{fast:?} {slow:?}");
                prop_assert!((fast.precision - slow.precision).abs() < 1e-9, "{fast:?} {slow:?}");
                prop_assert!((fast.recall - slow.recall).abs() < 1e-6, "{fast:?} {slow:?}");
            }
        }

        #[test]
        fn what_cannot_be_best_changes_nothing(
            mut a in prop::collection::vec(0.0..=1.0f64, 0..80),
            mut b in prop::collection::vec(0.0..=0.2f64, 80),
            share in 0.0..=1.0f64,
            beta in 0.1..10.0f64,
        ) {
            a.sort_by(|a, b| b.total_cmp(a));
            b.sort_by(|a, b| b.total_cmp(a));
            b.truncate(a.len());
            let scenario = |weight, probabilities| Scenario { weight, probabilities, outside: 0.5 };
            let scenarios = [scenario(share, a), scenario(1.0 - share, b)];
            let all = expectations(&scenarios, beta, Needed::All);
            let some = expectations(&scenarios, beta, Needed::UpToBest);
            let best = (0..all.len()).fold(0, |best, kept| if all[kept].f > all[best].f { kept } else { best });
            let up_to = all.len().min(best + 2);
            prop_assert_eq!(&all[..up_to], &some[..up_to]);
            prop_assert!(some.iter().all(|row| row.f <= all[best].f));
            prop_assert!(all.iter().zip(&some).all(|(all, some)| all.precision == some.precision));
        }

        #[test]
        fn every_processor_computes_the_same_bits(
            probabilities in prop::collection::vec(prop_oneof![0.0..=1.0f64, 0.0..0.01f64], 0..150),
            outside in 0.0..5.0f64,
            beta in 0.1..10.0f64,
        ) {
            let scenarios = [Scenario { weight: 1.0, probabilities, outside }];
            let plain = computed(&scenarios, &mixed(&scenarios), beta, Needed::All);
            prop_assert_eq!(plain, expectations(&scenarios, beta, Needed::All));
        }

        #[test]
        fn scenarios_mix_by_their_weights(a in prop::collection::vec(0.0..=1.0f64, 5), b in prop::collection::vec(0.0..=1.0f64, 5)) {
            let scenario = |weight, probabilities: &Vec<f64>| Scenario { weight, probabilities: probabilities.clone(), outside: 0.0 };
            let mixed = expectations(&[scenario(0.3, &a), scenario(0.7, &b)], 1.0, Needed::All);
            let (a, b) = (expectations(&[scenario(1.0, &a)], 1.0, Needed::All), expectations(&[scenario(1.0, &b)], 1.0, Needed::All));
            for at in 0..=5 {
                prop_assert!((mixed[at].f - 0.3 * a[at].f - 0.7 * b[at].f).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn relevant_passages_outside_the_pool_lower_recall() {
        let scenario = |outside| Scenario { weight: 1.0, probabilities: vec![0.9; 3], outside };
        let (none, many) =
            (expectations(&[scenario(0.0)], 1.0, Needed::All), expectations(&[scenario(6.0)], 1.0, Needed::All));
        assert!(many[3].recall < 0.5 && none[3].recall > 0.999, "{many:?}");
        assert_eq!(none[3].precision, many[3].precision);
    }
}
