//! From normalized scores to probabilities of relevance.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::expectation::Scenario;
use crate::cut::figure;
use crate::pool::{Orientation, Pool};
use crate::rule::Want;

/// A model of where relevance ends.
///
/// A candidate's *normalized score* places it between the background (0) and the best candidate (1). In each query,
/// relevance ends at some normalized score θ: above it candidates are relevant with probability `ceiling`, below it they
/// are not, with a logistic step of width `softness` between. θ varies from query to query, normally distributed with mean
/// `level` and standard deviation `spread`. The level varies from collection to collection: near 0.5 where many passages
/// answer a query, near 0.95 where one does. Nothing in the lists of scores shows which, so the built-in prior is wide.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Relevance {
    /// Mean normalized score at which relevance ends, 0.1 to 1.
    pub level: f64,
    /// Standard deviation of that score from query to query, above 0.
    pub spread: f64,
    /// Width of the step, above 0. Less than 0.001 counts as 0.001.
    pub softness: f64,
    /// Probability that a candidate far above the step is relevant, 0 to 1.
    pub ceiling: f64,
    /// The source of the level.
    pub basis: Basis,
}

/// The source of a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// The built-in constants alone.
    BuiltIn,
    /// The asker's own word ([`Want`]).
    Asked,
}

impl fmt::Display for Basis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Basis::BuiltIn => f.write_str("built-in constants"),
            Basis::Asked => f.write_str("the amount asked for"),
        }
    }
}

impl Pool {
    /// The pool with the model of relevance of its collection, for [`Auto`](crate::Auto).
    pub fn with_relevance(self, relevance: Relevance) -> Self {
        self.with(relevance)
    }

    /// The model of relevance of the pool's collection.
    pub fn relevance(&self) -> Option<&Relevance> {
        self.get()
    }
}

impl Default for Relevance {
    /// The built-in prior. Its constants were fitted with whole families of public collections left out; see
    /// `docs/research/auto.md`.
    fn default() -> Self {
        Relevance { level: 0.66, spread: 0.3, softness: 0.038, ceiling: 0.865, basis: Basis::BuiltIn }
    }
}

/// Nodes of equal weight that represent a standard normal variable: its quantiles at (i + 1/2) / 11, stretched to unit
/// variance. They lie close, since the step is narrow: with few nodes their positions would decide.
const NODES: [f64; 11] = [
    -1.791717111, -1.162390020, -0.792578906, -0.501060878, -0.243630686, 0.0, 0.243630686, 0.501060878, 0.792578906,
    1.162390020, 1.791717111,
];

/// The middle of the scores at which relevance may end.
const MIDDLE: f64 = 0.55;

/// The least width of the step: the exponentials of a narrower one would overflow.
const NARROWEST: f64 = 1e-3;

impl Relevance {
    /// The model with the level that the asker's word stands for, and less spread, since the asker knows.
    pub fn wanted(self, want: Want) -> Relevance {
        match want.level() {
            Some(level) => Relevance { level, spread: 0.06, basis: Basis::Asked, ..self },
            None => self,
        }
    }

    /// The scores at which relevance may end, each with its weight. Those that the limits make equal are one.
    fn ends(&self) -> Vec<(f64, f64)> {
        let mut ends: Vec<(f64, f64)> = Vec::with_capacity(NODES.len());
        for node in NODES {
            let (end, weight) = ((self.level + self.spread * node).clamp(0.1, 1.0), 1.0 / NODES.len() as f64);
            match ends.last_mut().filter(|last| last.0 == end) {
                Some(last) => last.1 += weight,
                None => ends.push((end, weight)),
            }
        }
        ends
    }

    /// One scenario for each end of relevance. The normalized `scores` do not ascend.
    pub fn scenarios(&self, scores: &[f64]) -> Vec<Scenario> {
        // The step is ceiling / (1 + exp((end − score) / softness)). Its exponential is a product, and one factor is the same in
        // all scenarios. Neither is 0 or infinite for a score between the background and the best.
        let (softness, ceiling) = (self.softness.max(NARROWEST), self.ceiling.clamp(0.0, 1.0));
        let distances: Vec<f64> = scores.iter().map(|&score| ((MIDDLE - score) / softness).exp()).collect();
        let scenario = |(end, weight): (f64, f64)| {
            let end = ((end - MIDDLE) / softness).exp();
            let probabilities: Vec<f64> = distances.iter().map(|distance| ceiling / (1.0 + end * distance)).collect();
            Scenario { weight, outside: outside(&probabilities), probabilities }
        };
        self.ends().into_iter().map(scenario).collect()
    }

    /// The probability that each candidate is relevant, over all ends. The normalized `scores` do not ascend, so neither do
    /// the probabilities.
    pub fn probabilities(&self, scores: &[f64]) -> Vec<f64> {
        mixed(&self.scenarios(scores))
    }
}

/// The probability that each candidate is relevant, over all scenarios.
pub fn mixed(scenarios: &[Scenario]) -> Vec<f64> {
    let mut mixed = vec![0.0; scenarios.first().map_or(0, |scenario| scenario.probabilities.len())];
    for Scenario { weight, probabilities, .. } in scenarios {
        mixed.iter_mut().zip(probabilities).for_each(|(mixed, probability)| *mixed += weight * probability);
    }
    mixed.iter_mut().for_each(|mixed| *mixed = mixed.min(1.0));
    mixed
}

/// The number of relevant passages that the pool cut off, if its probabilities go on falling as they do in its second half.
fn outside(probabilities: &[f64]) -> f64 {
    let (count, Some(&last)) = (probabilities.len(), probabilities.last()) else { return 0.0 };
    let middle = probabilities[count / 2];
    // A short list was not cut off.
    if count < SHORTEST_CUT_POOL || last <= 0.0 || middle <= last {
        return 0.0;
    }
    let fall = (last / middle).powf(1.0 / (count - 1 - count / 2) as f64).min(0.98);
    last * fall / (1.0 - fall)
}

/// Pools with fewer candidates count as complete.
const SHORTEST_CUT_POOL: usize = 20;

// Probabilities that the caller gives, from more evidence than a list of scores.

/// The probability of relevance of each candidate, in the pool's order, which they do not ascend in.
#[derive(Debug, Clone, PartialEq)]
struct Given(Vec<f64>);

/// A candidate with no greater probability is never kept.
const IMPOSSIBLE: f64 = 1e-9;

/// The number of first candidates that passed the gate.
struct Passing(usize);

impl Pool {
    /// The pool with the probability of relevance of each of its candidates, best first. [`Auto`](crate::Auto) decides by these alone, and
    /// the [`Gate`](crate::Gate) refuses candidates below its least probability. Values outside 0 to 1 are limited to it, one that is
    /// not a number counts as 0, and one above that of the candidate before it is lowered to that.
    pub fn with_probabilities(self, probabilities: Vec<f64>) -> Self {
        let mut most = 1.0_f64;
        let limited = probabilities.into_iter().map(|probability| {
            most = if probability.is_nan() { 0.0 } else { probability.clamp(0.0, most) };
            most
        });
        let mut limited: Vec<f64> = limited.collect();
        limited.resize(self.len(), 0.0);
        self.with(Given(limited))
    }

    /// The pool in which this many candidates, the first ones, are likely enough to be kept.
    pub(crate) fn with_passing(self, passing: usize) -> Self {
        self.with(Passing(passing))
    }

    /// The number of first candidates that may be kept: those that passed the gate, or without one those that are possible at all.
    pub(crate) fn passing(&self) -> usize {
        let possible = self.possible();
        self.get::<Passing>().map_or(possible, |passing| passing.0.min(possible))
    }

    /// The number of first candidates that passed the gate; `None` without one.
    pub(crate) fn gated(&self) -> Option<usize> {
        self.get::<Passing>().map(|passing| passing.0.min(self.possible()))
    }

    /// The number of first candidates that are possible at all.
    pub(crate) fn possible(&self) -> usize {
        self.probabilities().map_or(self.len(), |all| all.partition_point(|&one| one > IMPOSSIBLE))
    }

    /// The probabilities that the caller gave.
    pub fn probabilities(&self) -> Option<&[f64]> {
        self.get::<Given>().map(|given| given.0.as_slice())
    }
}

/// The only scenario there is: each candidate is relevant by itself.
pub fn scenario(probabilities: &[f64]) -> Scenario {
    Scenario { weight: 1.0, outside: 0.0, probabilities: probabilities.to_vec() }
}

// The step at the end of what is kept, for lists on a scale that nothing measured.

/// The step from the last kept candidate to the next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// The value of the last kept candidate.
    pub last: f64,
    /// The value of the next one.
    pub next: f64,
    /// Its size in relation to the median of the list's other steps; `None` where that is 0 or there is no other.
    pub times: Option<f64>,
}

/// Times the median from which a step is clear, and below which it is none.
const CLEAR: f64 = 5.0;
const NONE: f64 = 2.0;

impl Step {
    /// The step after the first `keep` candidates; `None` at either end of the list. O(n log n).
    pub fn new(pool: &Pool, keep: usize) -> Option<Step> {
        let values = pool.values();
        let (&last, &next) = (values.get(keep.checked_sub(1)?)?, values.get(keep)?);
        let sizes = values.windows(2).map(|pair| (pair[0] - pair[1]).abs()).enumerate();
        let mut others: Vec<f64> = sizes.filter(|(at, _)| at + 1 != keep).map(|(_, size)| size).collect();
        others.sort_by(f64::total_cmp);
        let median = others.get(others.len() / 2).copied().filter(|&median| median > 0.0);
        Some(Step { last, next, times: median.map(|median| (last - next).abs() / median) })
    }

    /// What the step says, after "Kept 2 of 5: ".
    pub fn sentence(&self, pool: &Pool) -> String {
        let moves = if pool.orientation() == Orientation::Score { "drops" } else { "rises" };
        let from = format!("then the value {moves} from {} to {}", figure(self.last), figure(self.next));
        match self.times {
            Some(times) if times < NONE => format!("{from}, which is no clear step"),
            Some(times) if times < CLEAR => format!("{from}, {times:.1} times the median of the other steps"),
            Some(times) => format!("{from}, a clear step ({times:.0} times the median of the other steps)"),
            None => format!("{from}, a clear step"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nodes_are_symmetric_with_unit_variance() {
        let mean = |power: i32| NODES.iter().map(|node| node.powi(power)).sum::<f64>() / NODES.len() as f64;
        assert!(mean(1).abs() < 1e-9 && (mean(2) - 1.0).abs() < 1e-6 && mean(3).abs() < 1e-9);
    }

    #[test]
    fn probabilities_fall_with_the_score_and_rise_as_the_level_falls() {
        let scores = [1.0, 0.9, 0.7, 0.5, 0.2, -0.3];
        let strict = Relevance { level: 0.9, spread: 0.1, ..Relevance::default() }.probabilities(&scores);
        let lax = Relevance { level: 0.5, spread: 0.1, ..Relevance::default() }.probabilities(&scores);
        assert!(strict.windows(2).all(|pair| pair[0] >= pair[1]));
        assert!(strict.iter().zip(&lax).all(|(strict, lax)| strict <= lax));
        assert!(lax[3] > 0.3 && strict[3] < 0.05, "{lax:?} {strict:?}");
    }

    #[test]
    fn a_list_that_still_falls_at_its_end_has_something_outside_and_given_probabilities_never_ascend() {
        let falling: Vec<f64> = (0..40).map(|rank| 0.9_f64.powi(rank)).collect();
        let all: f64 = (0..400).map(|rank| 0.9_f64.powi(rank)).sum();
        let inside: f64 = falling.iter().sum();
        assert!((outside(&falling) - (all - inside)).abs() < 1e-6);
        assert_eq!([outside(&falling[..10]), outside(&[0.0; 40]), outside(&[])], [0.0, 0.0, 0.0]);
        let pool = Pool::scores([0.9, 0.8, 0.7, 0.6]).unwrap().with_probabilities(vec![1.5, 0.4, f64::NAN]);
        assert_eq!(pool.probabilities(), Some(&[1.0, 0.4, 0.0, 0.0][..]));
    }

    #[test]
    fn a_step_is_as_clear_as_it_is_larger_than_the_others() {
        let sentence = |values: &[f64], keep| {
            let pool = Pool::scores(values.iter().copied()).expect("sorted");
            Step::new(&pool, keep).map(|step| step.sentence(&pool))
        };
        let logits = [-6.0, -6.1, -6.2, -8.2, -8.3, -8.4];
        let clear = "then the value drops from -6.2 to -8.2, a clear step (20 times the median of the other steps)";
        assert_eq!(sentence(&logits, 3).as_deref(), Some(clear));
        let none = "then the value drops from -6 to -6.1, which is no clear step";
        assert_eq!(sentence(&logits, 1).as_deref(), Some(none));
        let drop = "then the value drops from 4.9 to 4.6, 3.0 times the median of the other steps";
        assert_eq!(sentence(&[5.0, 4.9, 4.6, 4.5], 2).as_deref(), Some(drop));
        assert_eq!(sentence(&[5.0, 1.0], 1).as_deref(), Some("then the value drops from 5 to 1, a clear step"));
        assert_eq!((sentence(&logits, 0), sentence(&logits, 6), sentence(&[], 0)), (None, None, None));
        let distances = Pool::distances([0.1, 0.2, 0.9]).expect("sorted");
        assert!(Step::new(&distances, 2).expect("a step").sentence(&distances).contains("rises from 0.2 to 0.9"));
    }
}
