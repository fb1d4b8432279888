//! From normalized scores to probabilities of relevance.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::expectation::Scenario;
use super::text_kind::TextKind;
use crate::pool::Pool;
use crate::want::Want;

/// A model of where relevance ends.
///
/// A candidate's *normalized score* places it between the background (0) and the best candidate (1). In each query,
/// relevance ends at some normalized score θ: above it candidates are relevant with probability `ceiling`, below it they
/// are not, with a logistic step of width `softness` between. θ varies from query to query, normally distributed with mean
/// `level` and standard deviation `spread`. The level varies from collection to collection: near 0.5 where many passages
/// answer a query, near 0.95 where one does. Nothing in the lists of scores shows which, so the built-in prior is wide and
/// judgements move it ([`Relevance::fit`]).
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
    /// So many labelled queries: judged, or with opened results.
    Labelled(usize),
    /// The asker's own word ([`Want`]).
    Asked,
}

impl fmt::Display for Basis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let queries = |count: usize| if count == 1 { "query" } else { "queries" };
        match *self {
            Basis::BuiltIn => f.write_str("built-in constants"),
            Basis::Labelled(count) => write!(f, "{count} labelled {}", queries(count)),
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
    fn default() -> Self {
        Relevance::of(TextKind::Prose)
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
    /// The built-in prior for this kind of text. The constants were fitted with whole families of public collections left
    /// out; see `docs/research/auto.md`.
    pub fn of(kind: TextKind) -> Self {
        let (level, spread) = match kind {
            TextKind::Prose => (0.66, 0.3),
            TextKind::Code => (0.72, 0.3),
            TextKind::Functions => (0.85, 0.2),
        };
        Relevance { level, spread, softness: 0.038, ceiling: 0.865, basis: Basis::BuiltIn }
    }

    /// The model with the level that the asker's word stands for, and less spread, since the asker knows.
    pub(super) fn wanted(self, want: Want) -> Relevance {
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
    pub(super) fn scenarios(&self, scores: &[f64]) -> Vec<Scenario> {
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
pub(super) fn mixed(scenarios: &[Scenario]) -> Vec<f64> {
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
    fn a_list_that_still_falls_at_its_end_has_something_outside() {
        let falling: Vec<f64> = (0..40).map(|rank| 0.9_f64.powi(rank)).collect();
        let all: f64 = (0..400).map(|rank| 0.9_f64.powi(rank)).sum();
        let inside: f64 = falling.iter().sum();
        assert!((outside(&falling) - (all - inside)).abs() < 1e-6);
        assert_eq!(outside(&falling[..10]), 0.0);
        assert_eq!(outside(&[0.0; 40]), 0.0);
        assert_eq!(outside(&[]), 0.0);
    }
}
